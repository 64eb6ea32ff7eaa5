# SPDX-License-Identifier: BSD-3-Clause
"""What a loss promises, and losses of quantities that add up over coordinates."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from skstruct._arrays.by_name import are_named, by_position
from skstruct._arrays.memory import row_blocks
from skstruct._arrays.methods import keep_in_step
from skstruct.spaces import Known

Array = Any
Weights: TypeAlias = ArrayLike | Mapping[Any, float]  # by position, or by name


class BilinearLoss(Protocol):
    """loss(z, y) = <V psi(y) + u, psi(z)> + <v, psi(y)> + constant."""

    embedding: str  # the psi that a space must offer

    def __call__(self, Y_pred: Array, Y_true: Array) -> Array: ...  # shape: (n,)
    def pairwise(self, Y_pred: Array, Y_true: Array) -> Array: ...  # shape: (n_pred, n_true)
    def embedding_on(self, space: Any) -> str: ...  # where it depends on the space
    def observation_space(self, space: Any, within: Any = None) -> Any: ...  # of truths
    def needs_weights(self, space: Any) -> bool: ...  # whether means do not do
    def observe(self, space: Any, outputs: Array) -> BilinearLoss: ...  # frequencies of training
    def bind(self, space: Any) -> BilinearLoss: ...  # reads names and arcs off a space
    def search_loss(self, space: Any) -> BilinearLoss: ...  # which compares penalties in its place
    def decision_seconds(self, space: Any) -> float: ...  # of one output
    def decides_from_means(self, space: Any) -> bool: ...  # whether minimize_means decides
    def range(self) -> tuple[float, float]: ...  # the least and the largest loss there may be
    def cost(self, g: Array, total: Array) -> Array: ...  # V g + total u, shape: (n, d)
    def offset(self, g: Array, total: Array) -> Array: ...  # <v, g> + constant total, shape: (n,)


class BilinearForm(NamedTuple):
    """The numbers of a bilinear loss: cost(g, total) = V g + total u, and
    offset(g, total) = <v, g> + constant total.
    """

    V: Any  # shape: (d, d), an array, a sparse one, or what has a ``tensor_product(backend)``
    u: np.ndarray  # shape: (d,)
    v: np.ndarray  # shape: (d,)
    constant: float


class BaseLoss(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What all losses share.

    A loss works on outputs in canonical form. ``g`` is an estimate of E[psi(Y) | x] and
    ``total`` the smoother's sum of weights, so that for weights w_i(x)

        sum_i w_i loss(z, y_i) = <cost(g, total), psi(z)> + offset(g, total).
    """

    embedding = "indicators"
    observes = "outputs"  # what truths are
    by_position = False  # whether it adds up over the positions of sequences, bigrams included

    @property
    def all_or_nothing(self) -> bool:
        """Whether it is either 0 or its largest value, the same for all outputs."""
        return False

    @property
    def prefers_most_probable(self) -> bool:
        """Whether the most probable of all outputs has the least risk."""
        return False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        twins = {"bilinear_form": ("cost", "offset"), "decides_from_means": ("cost", "offset")}
        keep_in_step(cls, BaseLoss, **twins)

    def embedding_on(self, space: Any) -> str:
        """The embedding in which this loss is bilinear over ``space``."""
        return self.embedding

    def observation_space(self, space: Any, within: Any = None) -> Any:
        """The space that truths are from: that of outputs, unless others are compared with them.

        Of a loss whose truths are no outputs, such as costs, it reads ``y`` (``fit_validate``,
        ``validate``, and ``Known`` what has gaps) and says what is regressed on (``targets``).

        Parameters
        ----------
        space : space of outputs
        within : space, default=None
            The narrower one that predictions are from, where these are restricted; outputs that
            are true need not be in it.
        """
        return space

    def check_same_truths(self, fitted: Any) -> None:
        """Raise where a model that was fitted under another loss knows truths of another kind."""
        if fitted.observes != self.observes:
            raise ValueError(
                f"{type(self).__name__} compares outputs with {self.observes}, and the model was "
                f"fitted to {fitted.observes}: fit it under such a loss."
            )

    def needs_weights(self, space: Any) -> bool:
        """Whether decisions need the weights of all training rows, and means do not do."""
        return self.embedding_on(space) == "weights"

    def observe(self, space: Any, outputs: np.ndarray) -> Self:
        """This loss with what it reads off the outputs of training; most need nothing of them.

        Comes before :meth:`bind`; costs that follow from how often a class occurs are found here.

        Parameters
        ----------
        outputs : array
            Outputs of training in canonical form; a sample of them where rows are read in blocks.
        """
        return self

    def bind(self, space: Any) -> Self:
        """This loss for the outputs of one space; most losses need nothing of it."""
        return self

    def search_loss(self, space: Any) -> Self:
        """The loss by which a search compares penalties: this one, unless deciding takes too long.

        A search decides every training row once for each penalty. A loss whose decisions are
        expensive over ``space`` may name one like it that is cheap to decide; its embedding is one
        that ``space.project`` can read off the embedding of this loss.
        """
        return self

    def decision_seconds(self, space: Any) -> float:
        """What one decision over ``space`` takes, nominally; 0 where that is next to nothing.

        A search of penalties by a loss of costly decisions has two stages, of which the first
        decides only some rows: see ``learners/judging.py``.
        """
        return 0.0

    def range(self) -> tuple[float, float]:
        """Numbers between which every loss lies, as close as is known: estimates may not.

        A loss that can be negative says so here: estimated risks are shown within it.
        """
        return 0.0, np.inf

    def bilinear_form(self, width: int) -> BilinearForm | None:
        """What :meth:`cost` and :meth:`offset` compute, as numbers that a device can multiply by.

        None where a loss does not write them down: it is then computed on the host. A class that
        brings another ``cost`` or ``offset`` has none, unless it brings its form as well.

        Parameters
        ----------
        width : int
            Columns d of the embedding.
        """
        return None

    def truth_costs(self, psi: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The loss of predictions as a function of the truth, <costs, psi(y)> + offsets.

        Parameters
        ----------
        psi : array of shape (n, d)
            Embedding of the predictions.

        Returns
        -------
        costs : array of shape (n, d)
        offsets : array of shape (n,), or None in place of both where that is not written down
        """
        form = self.bilinear_form(psi.shape[1])
        if form is None:
            return None
        return psi @ form.V + form.v, psi @ form.u + form.constant

    def completion_ends(
        self, space: Any, Y_pred: np.ndarray, partial: Any
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The least and the largest loss over all truths that agree with what is known.

        Parameters
        ----------
        space : fitted space of the truth
        Y_pred : outputs in canonical form
        partial : PartialOutputs

        Returns
        -------
        lower, upper : arrays of shape (n,)
            None in place of both where the loss has no way of its own.
        """
        from skstruct.losses.completions import decoded_ends

        agreeing = partial.allowed
        if agreeing is None:
            return None
        view = space.with_embedding(self.embedding_on(space), partial.outputs)
        return None if view.is_list else decoded_ends(self, view, Y_pred, agreeing)

    def decides_from_means(self, space: Any) -> bool:
        """Whether :meth:`minimize_means` decides over a space, in place of :meth:`cost`.

        For embeddings of which hardly any column is used, while costs have them all. A class that
        brings another ``cost`` or ``offset`` is decided by these.
        """
        return False

    def minimize_means(
        self, space: Any, g: np.ndarray, columns: np.ndarray, total: np.ndarray, scale: np.ndarray
    ) -> Any:
        """Outputs of least estimated risk, ``Decoded``, from the columns that are not zero.

        Parameters
        ----------
        space : view of a space with the embedding of this loss
        g : array of shape (n, q)
            Means of some columns of the embedding.
        columns : int array of shape (q,)
            Which ones these are.
        total : array of shape (n, 1)
        scale : array of shape (n,)
            Size of the terms that costs are differences of.
        """
        raise NotImplementedError(f"{type(self).__name__} decides by its costs.")

    def estimated_risks(
        self, weights: np.ndarray, Y_pred: ArrayLike, observed: np.ndarray
    ) -> np.ndarray:
        """Risks of outputs, each under its own weights (n, m) of what was observed in training;
        shape (n,).
        """
        return np.einsum("ij,ij->i", self.pairwise(Y_pred, observed), weights)

    def levels(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        """Every loss is a multiple of the first number, and zero or at least the second.

        Zero says nothing. The second has an entry for each of the true ``outputs``; shape (n,).
        """
        return 0.0, np.zeros(len(outputs))

    def largest_loss(self, space: Any) -> float | None:
        """The largest loss there may be between outputs of a space, or more; None if not known."""
        return None

    def target_bytes(self, space: Any, outputs: np.ndarray) -> int:
        """Roughly the bytes of what is regressed on for canonical outputs of a space."""
        return space.embedded_bytes(outputs, self.embedding_on(space))

    def for_partial(self, space: Any) -> Self:
        """The loss that is learned where outputs of ``space`` are known in part; mostly this one.

        A loss whose embedding needs outputs as a whole may name one like it that needs parts only.
        """
        return self

    def on_known(self, Y_pred: ArrayLike, Y_true: ArrayLike, known: np.ndarray) -> np.ndarray:
        """The loss on what is known of the truth; parts that are not are taken for right.

        Parameters
        ----------
        Y_pred, Y_true : outputs in canonical form
        known : bool array of shape (n, d)
            Parts of the truth that are known; one column for single names.

        Returns
        -------
        losses : array of shape (n,)
            NaN where nothing is known.
        """
        Y_pred, Y_true = same_width(Y_pred, Y_true)
        mask = known[:, 0] if Y_true.ndim == 1 else known
        if Y_true.ndim == 2 and mask.shape[1] < Y_true.shape[1]:  # sequences, padded
            more = Y_true.shape[1] - mask.shape[1]
            mask = np.hstack([mask, np.ones((len(mask), more), bool)])
        losses = np.array(self(np.where(mask, Y_pred, Y_true), Y_true), dtype=np.float64)
        if Y_true.ndim == 2 and Y_true.dtype.kind == "i":
            mask = mask & (Y_true >= 0)  # the padding of sequences says nothing
        losses[~mask.reshape(len(losses), -1).any(axis=1)] = np.nan
        return losses

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        """Losses of all predictions against all truths; shape (n_pred, n_true)."""
        Y_pred, Y_true = same_width(Y_pred, Y_true)
        columns = [self(Y_pred, np.broadcast_to(y, Y_pred.shape)) for y in Y_true]
        return np.column_stack(columns) if columns else np.zeros((len(Y_pred), 0))


def same_width(A: ArrayLike, B: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Outputs as arrays of one width: sequences are padded with -1 at their end.

    Those are numbers of symbols; costs, which decisions are compared with, stay as they are.
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] == B.shape[1] or "f" in A.dtype.kind + B.dtype.kind:
        return A, B
    width = max(A.shape[1], B.shape[1])
    A, B = (np.pad(Z, [(0, 0), (0, width - Z.shape[1])], constant_values=-1) for Z in (A, B))
    return A, B


def matched_rankings(Y_pred: ArrayLike, Y_true: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both as floats of shape (n, d)."""
    Y_pred, Y_true = np.asarray(Y_pred, dtype=np.float64), np.asarray(Y_true, dtype=np.float64)
    if Y_pred.ndim != 2 or Y_pred.shape != Y_true.shape:
        raise ValueError(
            f"Rankings of the same items are compared, row by row; got shapes {Y_pred.shape} and "
            f"{Y_true.shape}."
        )
    return Y_pred, Y_true


def quantity_rows(*outputs: ArrayLike) -> list[np.ndarray]:
    """Outputs as floats of shape (n, d), all of one width; single numbers may come as (n,)."""
    rows = [np.asarray(Y, dtype=np.float64) for Y in outputs]
    rows = [Y[:, None] if Y.ndim == 1 else Y for Y in rows]
    if any(Y.ndim != 2 or Y.shape[1] != rows[0].shape[1] for Y in rows):
        shapes = " and ".join(str(Y.shape) for Y in rows)
        raise ValueError(f"Outputs are rows of as many numbers each; got shapes {shapes}.")
    return rows


def matched_quantities(Y_pred: ArrayLike, Y_true: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both as floats of shape (n, d); one number per row may come as (n,)."""
    Y_pred, Y_true = quantity_rows(Y_pred, Y_true)
    if Y_pred.shape != Y_true.shape:
        raise ValueError(
            "Predictions and truths are compared row by row, number by number; got shapes "
            f"{Y_pred.shape} and {Y_true.shape}."
        )
    return Y_pred, Y_true


def plain_weights(loss: Any, d: int) -> np.ndarray:
    """Weights of d coordinates of a loss with ``weights``, bound to a space or not."""
    if hasattr(loss, "weights_"):
        return loss.weights_
    name = type(loss).__name__
    if are_named(loss.weights):
        raise ValueError(f"{name}: call bind(space) first; weights are by name.")
    if loss.weights is None:
        return np.ones(d)
    return checked_weights(loss.weights, tuple(range(d)), name)


def label_weights(weights: Any, space: Any, used_by: str) -> np.ndarray:
    """Weights of the labels of a space as an array: from None, a sequence or a mapping."""
    if weights is None:
        return np.ones(len(space.labels_))
    weights = by_position(weights, space.labels_, what="weights", used_by=used_by)
    return checked_weights(weights, space.labels_, used_by)


def checked_weights(weights: ArrayLike, labels: tuple[Any, ...], used_by: str) -> np.ndarray:
    """One finite weight of at least zero for each label."""
    d = len(labels)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (d,):
        raise ValueError(
            f"{used_by} expects {d} weights, one per label; got shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0]
        raise ValueError(f"{used_by}: the weight of label {labels[bad]!r} is {weights[bad]}.")
    return weights


def weight_levels(weights: np.ndarray, outputs: np.ndarray) -> tuple[float, np.ndarray]:
    """Levels, as of ``BaseLoss.levels``, of a sum of some of the ``weights`` (d,)."""
    nothing = np.zeros(len(outputs))
    weights = weights[weights > 0]
    least = weights.min(initial=np.inf)
    if not np.isfinite(least):  # nothing costs anything
        return 0.0, nothing
    alike = bool((weights == least).all())
    return (float(least) if alike else 0.0), nothing + least


# Losses of quantities that add up over coordinates.


class SeparableLoss(BaseLoss):
    r"""loss(z, y) = sum_j c_j rho(z_j, y_j), for outputs that are rows of numbers.

    Such a loss needs no finite embedding: the estimated risk of a row is
    :math:`\sum_j F_j(z_j)` with :math:`F_j(t) = c_j \sum_i w_i \rho(t, y_{ij})`, a curve
    per coordinate, which a space minimizes for weights of any sign.

    A child brings ``rho(t, y)``, ``slope(t, y)`` (its derivative in t), both elementwise
    with broadcasting, ``curves(weights, outputs)``, and perhaps ``_check_parameters()``.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights :math:`c_j \ge 0` of the coordinates; one each when None.
    """

    embedding = "weights"
    convex = True  # whether rho is convex in the prediction

    def __init__(self, *, weights: Weights | None = None) -> None:
        self.weights = weights

    @abstractmethod
    def rho(self, t: Any, y: Any) -> np.ndarray:
        """The loss of predicting t where y is true, elementwise."""

    @abstractmethod
    def slope(self, t: Any, y: Any) -> np.ndarray:
        """The derivative of rho in t, from the right where there are two."""

    @abstractmethod
    def curves(self, weights: Any, outputs: Any) -> Any:
        """The estimated risk as curves (see ``decoding.curves``), one per row and coordinate."""

    def _check_parameters(self) -> None:
        """Raise where a parameter has no meaning."""

    def bind(self, space: Any) -> Self:
        self._check_parameters()
        bound = copy.copy(self)
        if hasattr(space, "labels_"):
            bound.weights_ = label_weights(self.weights, space, type(self).__name__)
        return bound

    def minimize(self, weights: np.ndarray, outputs: np.ndarray, space: Any) -> Any:
        """The point of ``space`` of least estimated risk for every row of weights."""
        return space.minimize(self.curves(weights, outputs))

    def search(self, weights: np.ndarray, outputs: np.ndarray, space: Any) -> Any:
        """As :meth:`minimize`, without proofs that take long: for a search over parameters."""
        return getattr(space, "search", space.minimize)(self.curves(weights, outputs))

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        self._check_parameters()
        Y_pred, Y_true = matched_quantities(Y_pred, Y_true)
        return self.rho(Y_pred, Y_true) @ plain_weights(self, Y_pred.shape[1])

    def completion_ends(
        self, space: Any, Y_pred: np.ndarray, partial: Any
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """By coordinates: exact where these do not depend on each other, and else bounds."""
        from skstruct.losses.completions import limited_ends

        weights = plain_weights(self, Y_pred.shape[1])
        limits = Known.of(space).limits(partial)
        return limited_ends(lambda t, y: self.rho(t, y) * weights, Y_pred, *limits)

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        """Losses of all predictions against all truths; shape (n_pred, n_true)."""
        self._check_parameters()
        Y_pred, Y_true = quantity_rows(Y_pred, Y_true)
        losses = np.zeros((len(Y_pred), len(Y_true)))
        weights = plain_weights(self, Y_true.shape[1])
        for part in row_blocks(len(Y_pred), 32 * max(1, Y_true.size), "64MB"):
            losses[part] = self.rho(Y_pred[part, None], Y_true[None]) @ weights
        return losses

    def _training(self, weights: Any, outputs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Dense weights (n_rows, n), outputs (n, d) and the weights of the coordinates."""
        self._check_parameters()
        (outputs,) = quantity_rows(outputs)
        weights = weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights, float)
        return weights, outputs, plain_weights(self, outputs.shape[1])


class ScaledLoss(SeparableLoss):
    """One with a scale c > 0, in units of the outputs."""

    def __init__(self, c: float = 1.0, *, weights: Weights | None = None) -> None:
        self.c = c
        self.weights = weights

    def _check_parameters(self) -> None:
        check_positive(self, "c")


def check_positive(loss: Any, name: str) -> None:
    """Raise where a parameter of a loss is not a positive number."""
    value = getattr(loss, name)
    if not (is_real(value) and 0 < value < np.inf):
        raise ValueError(f"{type(loss).__name__}: {name} is a positive number; got {value!r}.")


def is_real(value: Any) -> bool:
    """Whether it is a single real number, so that it can be compared with others."""
    return bool(np.isscalar(value) and np.isreal(value))
