# SPDX-License-Identifier: BSD-3-Clause
"""What a space of outputs promises."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.base import BaseEstimator

from skstruct._arrays.memory import check_square_fits
from skstruct._arrays.optional import is_networkx
from skstruct.exceptions import InfeasibleError

Array = Any  # a NumPy array or a SciPy sparse array


@dataclass(frozen=True)
class Guarantee:
    """What argmin promises: worst - value >= ratio * (worst - best).

    Measured between the worst and the best output, so that adding a constant to
    all costs leaves the ratio as it is.
    """

    kind: Literal["exact", "ratio", "bound only"]
    ratio: float = 1.0
    reference: str = ""


EXACT = Guarantee("exact")


@dataclass(frozen=True)
class Decoded:
    """Outputs with their values and lower bounds: ``values - bounds`` is the certificate."""

    outputs: Array  # shape: (n_samples, ...)
    values: Array  # shape: (n_samples,)
    bounds: Array  # shape: (n_samples,); no output costs less


class OutputSpace(Protocol):
    """A set of outputs together with one embedding psi into R^d."""

    embedding: str  # what psi lists: "indicators", "outputs", "positions", ...
    guarantee: Guarantee
    default_loss: Any  # name of the loss used when the user gives none

    def fit(self, Y: Any) -> Self: ...  # learns names and sizes left open
    def validate(self, Y: Any) -> Array: ...
    def restore(self, Z: Array, index: Any = None) -> Any: ...
    def embed(self, Z: Array) -> Array: ...  # shape: (n_samples, d), dense or CSR
    def argmin(self, costs: Array) -> Decoded: ...
    def contains(self, Z: Array) -> Array: ...  # shape: (n_samples,)


@runtime_checkable
class Countable(Protocol):
    """Knows its size and the moments of psi under the uniform distribution."""

    def log_size(self) -> float: ...  # log |Y|
    def size(self) -> int: ...  # |Y|, exact
    def mean_embedding(self) -> Array: ...  # Psi / |Y|, shape: (d,)
    def second_moment(self) -> Array: ...  # C / |Y|, shape: (d, d)


@runtime_checkable
class Samplable(Protocol):
    """Draws outputs exactly uniformly."""

    def sample(self, n: int, rng: Any) -> Array: ...


@runtime_checkable
class Summable(Protocol):
    """Knows the laws p(y) ~ exp<scores, psi(y)> exactly; None where it does not after all."""

    def law(self, scores: Array) -> Any: ...


@runtime_checkable
class Walkable(Protocol):
    """Has local moves, the steps of Markov chains; None where it has not after all."""

    def moves(self) -> Any: ...


@runtime_checkable
class Enumerable(Protocol):
    """Lists all its outputs in canonical form."""

    def enumerate(self, limit: int = ...) -> Array: ...


@runtime_checkable
class Restrictable(Protocol):
    """Can be narrowed at prediction time; ``restrict`` returns the same space, narrowed."""

    def restrict(self, **limits: Any) -> Any: ...


@runtime_checkable
class KBest(Protocol):
    """Lists the k best outputs of every row: outputs (n, k, ...) and values (n, k)."""

    def kbest(self, costs: Array, k: int) -> Decoded: ...


class BaseSpace(BaseEstimator):
    """What all spaces share: the same in every row, one embedding, learned from nothing."""

    embedding = "indicators"
    guarantee = EXACT
    default_loss: Any = "zero_one"
    usual_losses: ClassVar[tuple[str, ...]] = ()  # others by which predictions are judged
    limits: Any = (
        None  # what narrows the space, row by row too: knows ``n_rows`` and ``rows(index)``
    )
    discrete = True  # outputs can tie: costs are rounded to a grid on which ties are ties
    # Limits are positions among names: the parameters that bring these and may be learned, each
    # with what it becomes in ``fit``, and all other parameters that limits depend on.
    _named_by: ClassVar[dict[str, str]] = {}
    _limits_rest_on: ClassVar[tuple[str, ...]] = ()

    def fit(self, Y):
        return self

    def targets(self, Y):
        """What is regressed on for training outputs: psi, where these are like predictions."""
        return self.embed(Y)

    def rows(self, index):
        """The space as it is for some rows, where rows may be restricted differently."""
        if getattr(self.limits, "n_rows", None) is None:
            return self
        return self._limited(self.limits.rows(one_or_more(index)))

    def _limited(self, limits):
        """The same space within other limits, which keeps the names that it has learned."""
        narrowed = copy.copy(self)
        narrowed.limits = limits
        narrowed._keep_names()
        return narrowed

    def _keep_names(self):
        """Make parameters of learned names: a later ``fit`` cannot give limits other names."""
        for parameter, learned in self._named_by.items():
            if getattr(self, parameter) is None:
                setattr(self, parameter, getattr(self, learned))

    def set_params(self, **params):
        self._check_unlimited(params)
        return super().set_params(**params)

    def _check_unlimited(self, params):
        """Refuse to change what limits rest on, as long as there are limits."""
        if self.limits is None or "limits" in params:
            return
        for name in (*self._named_by, *self._limits_rest_on):
            if name in params and not _same(params[name], getattr(self, name)):
                raise ValueError(
                    f"{type(self).__name__}: {name} cannot change after restrict(), whose limits "
                    f"are those of {name}={getattr(self, name)!r}; set limits=None with it, or "
                    "restrict later."
                )

    def with_embedding(self, name, outputs=None, candidates=None):
        """This set of outputs with the embedding that a loss asks for.

        Parameters
        ----------
        name : str
        outputs : array
            Outputs in canonical form that a view must know, such as those of training.
        candidates : array
            Those that a listing view may predict; None for all it knows.
        """
        if name == self.embedding:
            return self
        if name == "outputs" and np.ndim(outputs) == 2:
            from skstruct.spaces.listed import ListedOutputs

            return ListedOutputs(self, outputs, candidates)
        if name in ("weights", "squares"):
            raise ValueError(f"This is a loss of quantities, which {type(self).__name__} has not.")
        raise ValueError(
            f"{type(self).__name__} embeds its outputs by {self.embedding}; "
            f"the loss asks for {name}."
        )

    @property
    def counted(self):
        """The space that is counted in place of this one: itself, or one that contains it."""
        return self

    def relaxation(self):
        """A larger space with the same embedding, whose moments are closed forms, or None.

        What the truth may be contrasted with where the outputs of this space are too alike, or
        too hard to count; limits are left behind.
        """
        return None

    def covariance(self):
        """Covariance of psi under the uniform law: a :class:`~.covariances.Covariance`."""
        from skstruct.spaces.covariances import DenseCovariance

        mean = np.asarray(self.mean_embedding())
        check_square_fits(
            len(mean), f"The covariance over {type(self).__name__}", "Use a smaller embedding."
        )
        second = self.second_moment()
        second = second.toarray() if hasattr(second, "toarray") else np.array(second)
        second -= np.outer(mean, mean)
        return DenseCovariance(second)

    def law(self, scores):
        r"""The laws :math:`p(y) \propto \exp \langle u, \psi(y) \rangle`, where known exactly.

        Parameters
        ----------
        scores : array u of shape (n, d)

        Returns
        -------
        law : :class:`~skstruct.summing.base.Law` or None
            Here for outputs that are few enough to be listed.
        """
        from skstruct.spaces.listed_laws import listed_law

        return listed_law(self, self._checked_scores(scores))

    def moves(self):
        """Local moves of Markov chains, :class:`~skstruct.walking.base.Moves`, or None."""
        return None

    def _checked_scores(self, scores, width=None) -> np.ndarray:
        """Finite scores (n, d), where d may be known; a single row may come without the axis."""
        from skstruct.spaces.listed_laws import check_scores

        return check_scores(scores, self, width)

    def approximate_enumeration(self, costs, nu):
        r"""Outputs that cost at most :math:`(1 - \nu) \min + \nu \max`, one by one.

        Parameters
        ----------
        costs : array of shape (d,) or (1, d)
        nu : float from 0 to 1
            0 for the best alone, 1 for all outputs.

        Yields
        ------
        output, value
            In canonical form, with its cost; see :mod:`skstruct.spaces.approximate`.
        """
        from skstruct.spaces.approximate import approximate_enumeration

        return approximate_enumeration(self, costs, nu)

    def lift(self, costs, embedding):
        r"""Costs of another embedding's coordinates as costs of the coordinates of this one.

        Every output has the same price under both: for all z in the space,
        :math:`\langle \mathrm{lift}(c), \psi(z) \rangle = \langle c, \psi'(z) \rangle`. A loss that
        is bilinear in a small embedding is so charged in a larger one.

        Parameters
        ----------
        costs : array of shape (n, d')
        embedding : str
            What these are costs of; every space takes its own.

        Returns
        -------
        costs : array of shape (n, d)
        """
        if embedding == self.embedding:
            return costs
        raise ValueError(
            f"{type(self).__name__} embeds its outputs by {self.embedding}; got costs of "
            f"{embedding}, which cannot be written in these."
        )

    def project(self, means, embedding):
        r"""Mean embeddings of another kind, read off those of this space.

        The other way round from :meth:`lift`: a column of :math:`\psi'` that is also one of
        :math:`\psi` has the same mean in both.

        Parameters
        ----------
        means : array or sparse array of shape (n, d)
        embedding : str
            What is asked for; every space gives its own.

        Returns
        -------
        means : array of shape (n, d')
        """
        if embedding == self.embedding:
            return means
        raise ValueError(
            f"{type(self).__name__} embeds its outputs by {self.embedding}; means of {embedding} "
            "cannot be read off these."
        )


def _same(a, b) -> bool:
    """Whether a parameter keeps its value."""
    if is_networkx(a) and is_networkx(b):
        a, b = ((list(graph.nodes), list(graph.edges)) for graph in (a, b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        a, b = list(a), list(b)
    try:
        return a is b or bool(a == b)
    except (TypeError, ValueError):  # arrays
        return np.array_equal(a, b)


def one_or_more(index):
    """An index that keeps rows: that of a single row is a list of one."""
    return [index] if isinstance(index, (int, np.integer)) else index


def check_k(k, used_by: str) -> int:
    """How many best outputs are asked for: a whole number, at least 1."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ValueError(f"{used_by}: k is a whole number, at least 1; got {k!r}.")
    return int(k)


def decoded_or_infeasible(outputs, values, bounds, space) -> Decoded:
    """A result, unless some row has no output at all (infinite value)."""
    check_feasible(np.isfinite(values), space)
    return Decoded(outputs, values, bounds)


def check_feasible(possible: np.ndarray, space) -> None:
    """Raise where a row has no output at all."""
    impossible = np.flatnonzero(~possible)
    if len(impossible):
        row = int(impossible[0])
        raise InfeasibleError(
            f"{type(space).__name__}: no output meets the constraints in row {row}.", row
        )
