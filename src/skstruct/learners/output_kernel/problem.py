# SPDX-License-Identifier: BSD-3-Clause
"""The pre-image problem: the space of the outputs, candidates in it, and the one nearest in
the feature space of an output kernel.
"""

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import eigh
from sklearn.base import clone

from skstruct._arrays.checks import snap
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.memory import parse_memory, row_blocks
from skstruct._arrays.rows import distinct
from skstruct.kernels import resolve_output_kernel
from skstruct.kernels.outputs.precomputed import PrecomputedKernel
from skstruct.kernels.outputs.vectors import RowKernel
from skstruct.learners.problem import RiskProblem
from skstruct.losses import BaseLoss, pair, resolve_loss
from skstruct.saving import savable
from skstruct.spaces import (
    Box,
    Candidates,
    Classes,
    Decoded,
    Embeddings,
    Interval,
    KBest,
    Solving,
    Targets,
)
from skstruct.spaces.base import ListView
from skstruct.spaces.constraints import check_n_rows
from skstruct.spaces.infer_space import infer_space
from skstruct.spaces.solvers.k_best import k_min_cost


def output_space(y: Any, space: Any, kernel: Any) -> tuple[Any, np.ndarray, Any]:
    """A fitted space, the outputs in canonical form, and the candidates or None.

    Without a space: labels are classes, rows of an array or frame what they look like
    (label sets, boxes), numbers under a kernel of numbers are quantities, and anything else
    a list of objects. With a list of candidates the same, and no other may be predicted.
    """
    candidates = None
    if isinstance(space, Candidates):
        candidates, space = space.outputs, None
    _check_candidates(candidates)
    n_rows = y.shape[0] if hasattr(y, "shape") else len(y)
    if n_rows == 0:
        raise ValueError("OutputKernelRegressor: y has no rows.")
    if isinstance(kernel, PrecomputedKernel):
        y, space = np.arange(n_rows), Classes(np.arange(n_rows))
    if space is not None:
        space = clone(space).fit(y)
    elif _is_table(y):
        space = _reaching(candidates, infer_space(y).fit(y), y)
    elif _are_numbers(y) and reads_numbers(kernel):
        space = _reaching(candidates, infer_space(np.asarray(y), quantities=True).fit(y), y)
    elif candidates is None and _are_labels(y):
        space = Classes().fit(y)
    else:
        listed = _objects(y) if candidates is None else _objects(candidates)
        space = Candidates(listed).fit(y if is_pandas(y, "Series") else _objects(y))
    outputs = space.validate(y)
    if candidates is None:
        return space, outputs, None
    listed = space.validate(candidates)
    outside = np.flatnonzero(~space.contains(listed))
    if len(outside):
        raise ValueError(
            f"OutputKernelRegressor: candidates[{outside[0]}] is {candidates[outside[0]]!r}, which "
            f"{type(space).__name__} does not hold."
        )
    return space, outputs, listed


def _check_candidates(candidates: list[Any] | None) -> None:
    if candidates is None:
        return
    if isinstance(candidates, str) or not hasattr(candidates, "__len__"):
        raise ValueError(f"OutputKernelRegressor: candidates is a list; got {candidates!r}.")
    if len(candidates) == 0:
        raise ValueError("OutputKernelRegressor: the list of candidates is empty.")


def _reaching(candidates: Any, space: Any, y: Any) -> Any:
    """A space whose range is that of outputs and candidates."""
    if candidates is None or not isinstance(space, (Box, Interval)):
        return space
    both = np.concatenate([np.asarray(y), np.asarray(candidates)])
    return type(space)(both.min(axis=0), both.max(axis=0)).fit(y)


def _is_table(y: Any) -> bool:
    if sparse.issparse(y) or is_pandas(y, "DataFrame"):
        return True
    return isinstance(y, np.ndarray) and y.ndim == 2


def reads_numbers(kernel: Any) -> bool:
    """Whether a kernel, or one of those it is made of, compares rows of numbers."""
    return isinstance(kernel, RowKernel) or any(
        reads_numbers(resolve_output_kernel(part)) for part in getattr(kernel, "kernels", ())
    )


def _are_numbers(y: Any) -> bool:
    try:
        return np.asarray(y).dtype.kind in "iuf"
    except ValueError:  # rows of different lengths
        return False


def _are_labels(y: Any) -> bool:
    return all(isinstance(label, (str, bytes, int, float, bool, np.generic)) for label in y)


def _objects(y: Any) -> list[Any]:
    return [y.iloc[i] for i in range(len(y))] if is_pandas(y, "Series") else list(y)


@savable
class KernelCandidates(ListView):
    """Listed outputs of a space, with kernel values against them as targets.

    Where the table of kernel values would take more than half of ``memory`` it is not kept:
    ``search`` then computes it block by block.

    Parameters
    ----------
    space : fitted space
    outputs : array
        Training outputs in canonical form.
    candidates : array
        What may be predicted, in canonical form; repeated ones count once.
    kernel : fitted output kernel
    memory : str or int
    """

    embedding = "kernel values"
    other_ways = f'{ListView.other_ways}, and output_kernel="linear" mostly needs no list'
    values_: Any  # the table, or None where it is not kept

    @classmethod
    def _bytes_when_used(cls, state: dict[str, Any]) -> int:
        """Outputs of training and candidates are compared, in blocks."""
        table = 8 * len(state["distinct_"]) * len(state["listed_"])
        return min(table, abs(int(state["budget_"])))

    def __init__(
        self,
        space: Any,
        outputs: np.ndarray,
        candidates: np.ndarray,
        kernel: Any,
        memory: Any = "1GB",
    ) -> None:
        self.space = space
        self.kernel = kernel
        self.listed_ = candidates[distinct(candidates)[0]]
        first, self.number_ = distinct(outputs)
        self.distinct_ = space.restore(outputs[first])
        self.squares_ = kernel.diagonal(space.restore(self.listed_))
        self.budget_ = max(1, parse_memory(memory) // 2)
        self.values_ = None
        if self.kept:
            self.values_ = kernel(self.distinct_, space.restore(self.listed_))  # (u, c)

    @property
    def kept(self) -> bool:
        """Whether the table of kernel values is in memory."""
        return 8 * self._n_distinct * len(self.listed_) <= self.budget_

    @property
    def _n_distinct(self) -> int:
        return int(self.number_.max()) + 1

    def gathered(self, weights: np.ndarray) -> Any:
        """Weights of training rows summed over rows of the same output; shape (n, u)."""
        m = len(self.number_)
        at = np.arange(m), self.number_
        return weights @ sparse.csr_array((np.ones(m), at), (m, self._n_distinct))

    def allowed(self, part: slice = slice(None)) -> np.ndarray:
        if self.constraints_ is None:
            return np.ones((1, 1), bool)
        return super().allowed(part)

    def search(self, weights: np.ndarray, k: int = 1) -> Decoded:
        """The k nearest candidates by the weights of training rows, block by block.

        Outputs (n, k, ...), values (n, k): k(z, z) - 2 sum_i b_i k(z, y_i).
        """
        b = self.gathered(weights)
        check_n_rows(self.constraints_, len(b), type(self.space).__name__)
        numbers = np.zeros((len(b), 0), np.int64)
        values: np.ndarray = np.zeros((len(b), 0))
        for part in row_blocks(len(self.listed_), 8 * (b.shape[1] + 3 * len(b)), self.budget_):
            K = self.kernel(self.distinct_, self.space.restore(self.listed_[part]))
            costs = np.where(self.allowed(part), self.squares_[part] - 2.0 * b @ K, np.inf)
            # Those found so far come first, so that the first of equal ones stays.
            numbers = np.hstack(
                [numbers, np.broadcast_to(np.arange(part.start, part.stop), costs.shape)]
            )
            order, values = k_min_cost(np.hstack([values, costs]), k)
            numbers = np.take_along_axis(numbers, order, axis=1)
        self._check_some(values.min(axis=1, initial=np.inf))
        return Decoded(self.listed_[numbers], values, values)


# The nearest output in the feature space of an output kernel: the pre-image problem.


@savable
class InducedLoss(BaseLoss):
    """Half the squared distance of outputs in a kernel's feature space, or another loss."""

    def __init__(self, kernel: Any, space: Any, loss: Any = None) -> None:
        self.kernel = kernel
        self.space = space
        self.loss = loss

    def __call__(self, Y_pred: np.ndarray, Y_true: np.ndarray) -> Any:
        if self.loss is not None:
            return self.loss(Y_pred, Y_true)
        return self.kernel.loss(self.space.restore(Y_pred), self.space.restore(Y_true))

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> Any:
        if self.loss is not None:
            return self.loss.pairwise(Y_pred, Y_true)
        P, Y = self.space.restore(Y_pred), self.space.restore(Y_true)
        norms = self.kernel.diagonal(P)[:, None] + self.kernel.diagonal(Y)
        return 0.5 * norms - self.kernel(P, Y)


@savable
class KernelProblem(RiskProblem):
    r"""Decides :math:`\arg\min_z k(z, z) - 2 \sum_i b_i(x) k(z, y_i)`.

    Parameters
    ----------
    space : fitted space
    kernel : output kernel
    outputs : array
        Training outputs in canonical form.
    y : the same in the user's format
    loss : loss, name or None
        What decisions on left-out rows are judged by; the kernel's own loss when None.
    candidates : array or None
        What may be predicted, in canonical form. None is all that the space holds, where the
        kernel is bilinear in one of its embeddings, and else the training outputs.
    whole : bool
        Whether the space holds more than the candidates, so that bounds are over it.
    memory : str or int
        Budget of the table of kernel values.
    """

    def __init__(
        self,
        space: Any,
        kernel: Any,
        outputs: np.ndarray,
        y: Any,
        *,
        loss: Any = None,
        candidates: np.ndarray | None = None,
        whole: bool = False,
        memory: str | int = "1GB",
    ) -> None:
        self._gram: tuple[np.ndarray, np.ndarray] | None = None
        name = kernel.embedding_on(space)
        self.by_embedding = name is not None and (candidates is None or name == "outputs")
        if self.by_embedding:
            view = Embeddings.of(space).view(name, outputs, candidates)
            self.kernel = kernel.bind(view).fit(y)
        else:
            self.kernel = kernel.bind(space).fit(y)
            if candidates is not None:
                self.kernel.admit(space.restore(candidates))
            elif space.embedding == "outputs":  # a list itself
                candidates, whole = space.enumerate(), False
            else:
                # Sorted: of equally near ones the first is taken, in whatever order rows came.
                rows = np.unique(outputs.reshape(len(outputs), -1), axis=0)
                candidates = rows.reshape(-1, *outputs.shape[1:])
            view = KernelCandidates(space, outputs, candidates, self.kernel, memory)
        bound = None if loss is None else pair(resolve_loss(loss), space, outputs)[1]
        loss = InducedLoss(self.kernel, space, bound)
        self.whole = whole and not self.by_embedding
        self.streamed = not self.by_embedding and (self.whole or not view.kept)
        if not self.streamed:
            super().__init__(view, loss, outputs, by_weights=True)
            return
        self.space, self.loss, self.outputs = view, loss, outputs
        self.joint, self.by_weights, self.key = False, True, ("weights",)
        self.width = len(view.number_)

    components: Any = None  # OutputComponents that answers are projected on; None for all

    def projected(self, components: Any) -> "KernelProblem":
        """The same problem where answers are projected on principal components of outputs."""
        other = copy.copy(self)
        other.components = components
        return other

    def targets(self) -> np.ndarray:
        found = super().targets()
        if self.components is None or self.by_weights:
            return found
        return self.components.targets(found)

    def answer_weights(self, weights: Any) -> Any:
        """Weights of training outputs in the answers, from those of a smoother."""
        return weights if self.components is None else self.components.projected(weights)

    def smooth(self, smoother: Any, X: Any) -> Any:
        found = super().smooth(smoother, X)
        return self.answer_weights(found) if self.by_weights else found

    def _measure(self, psi: Any) -> None:
        """Ties are settled on mean embeddings, whose scale is their own."""

    def judged_by(self, loss: str) -> "KernelProblem":
        """The same decisions, measured by another loss."""
        space = self.loss.space
        judged = copy.copy(self)
        bound = pair(resolve_loss(loss), space, self.outputs)[1]
        judged.loss = InducedLoss(self.kernel, space, bound)
        return judged

    def output_gram(self) -> tuple[np.ndarray, np.ndarray]:
        """The kernel between the distinct training outputs (u, u), and which each row has."""
        if self._gram is None:
            first, number = distinct(self.outputs)
            shown = self.loss.space.restore(self.outputs[first])
            self._gram = self.kernel(shown), number
        return self._gram

    def tie_targets(self) -> Any:
        """Features of the training outputs whose inner products are the kernel; (m, u).

        The squared error of their left-out means is that in the kernel's space, whatever is
        regressed on and decided from.
        """
        gram, number = self.output_gram()
        squares, directions = eigh(gram)
        return (directions * np.sqrt(squares.clip(min=0.0)))[number]

    def predictable(self) -> Any:
        """Which training outputs may be predicted; shape (m,)."""
        if not self.by_embedding:
            both = np.concatenate([self.space.listed_, self.outputs])
            first, number = distinct(both)
            listed = first[number[len(self.space.listed_) :]] < len(self.space.listed_)
            return listed & self.loss.space.contains(self.outputs)
        allowed = getattr(self.space, "allowed_", None)  # of a list that was narrowed
        inside = self.space.contains(self.outputs)
        return inside if allowed is None else inside & _allows(allowed, self.outputs)

    def _means(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        g, total = self.mean_embedding(means)
        scale = np.maximum(np.abs(g).max(axis=1, initial=0.0), np.abs(total).max(axis=1))
        if not Solving.of(self.space).discrete:
            return g, total
        return snap(np.array(g, order="C"), scale), snap(total.copy(), scale)

    def decode(self, means: Any, rows: Any = slice(None)) -> Any:
        space = self.space.rows(rows)
        if self.streamed:
            best = space.search(self._settled(means))
            values = best.values[:, 0]
            bounds = self._bounds(means, values) if self.whole else values
            return Decoded(best.outputs[:, 0], values, bounds)
        g, total = self._means(means)
        if self.by_embedding:
            return self.kernel.nearest(space, g, total)
        return space.argmin(self.space.squares_ - 2.0 * g)

    def decide(self, means: np.ndarray, rows: Any = slice(None)) -> Any:
        """Outputs alone, without bounds over a space that holds more than the candidates."""
        if not self.streamed:
            return super().decide(means, rows)
        return self.space.rows(rows).search(self._settled(means)).outputs[:, 0]

    @staticmethod
    def _settled(weights: np.ndarray) -> np.ndarray:
        """Weights on a grid of their own, so that ties do not depend on rounding."""
        return snap(np.array(weights, order="C"), np.abs(weights).max(axis=1, initial=0.0))

    def _bounds(self, weights: np.ndarray, values: np.ndarray) -> Any:
        """|Y(z) - h|^2 - |h|^2 >= -|h|^2 for h = sum_i b_i Y(y_i): no output is nearer than h."""
        gram, _ = self.output_gram()
        b = self.space.gathered(weights)
        return np.minimum(-((b @ gram) * b).sum(axis=1), values)

    def kbest(self, means: np.ndarray, k: int, rows: slice = slice(None)) -> Any:
        space = self.space.rows(rows)
        if self.streamed:
            return space.search(self._settled(means), k)
        g, total = self._means(means)
        if not isinstance(space, KBest):
            raise ValueError(
                f"{type(space).__name__} lists only the best output: it needs a method "
                "kbest(costs, k) (protocol KBest); space=None compares outputs of training."
            )
        if not self.by_embedding:
            return space.kbest(self.space.squares_ - 2.0 * g, k)
        best = space.kbest(self.kernel.cost(g, total), k)
        offset = self.kernel.offset(g, total)[:, None]
        return Decoded(best.outputs, best.values + offset, best.bounds + offset)


def _allows(allowed: np.ndarray, numbers: np.ndarray) -> Any:
    """Whether outputs by number are among those allowed; those beyond the list are not."""
    inside = numbers < len(allowed)
    return inside & np.asarray(allowed)[np.where(inside, numbers, 0)]


class TargetsOfCandidates(Targets):
    """Values of the kernel."""

    __slots__ = ()

    def targets(self, Y: Any) -> Any:
        """k(y_i, z) for every training output and candidate; shape (m, c)."""
        return self.space.values_[self.space.number_]


Targets.at(KernelCandidates, TargetsOfCandidates)
