# SPDX-License-Identifier: BSD-3-Clause
"""What a space of outputs promises; the base class of spaces, views of them, listed outputs."""

import copy
import math
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from skstruct._arrays.checks import check_costs
from skstruct._arrays.foreign import read_in_memory
from skstruct._arrays.memory import check_square_fits
from skstruct._arrays.methods import keep_in_step
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.saving import savable
from skstruct.spaces.common import listing
from skstruct.spaces.common.covariances import Covariance, DenseCovariance
from skstruct.spaces.common.description import DescribedOutputs
from skstruct.spaces.common.known_parts import KnownParts
from skstruct.spaces.common.narrowing import Narrowed
from skstruct.spaces.constraints import allowed_by, check_feasible, check_n_rows, constraints_of
from skstruct.spaces.contracts import EXACT, Array, Decoded, Enumerable
from skstruct.spaces.coordinates import Coordinates, CoordinatesOfList, CoordinatesOfListed
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings, EmbeddingsOfViews
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.k_best import k_min_cost, min_cost
from skstruct.spaces.solving import Solving, SolvingOfLists
from skstruct.tolerances import ROUNDING_GAP


@read_in_memory
class BaseSpace(
    Narrowed,
    DescribedOutputs,
    KnownParts,
    BaseEstimator,  # type: ignore[misc]  # scikit-learn has no types
):
    """What all spaces share: the same in every row, one embedding, learned from nothing."""

    embedding = "indicators"
    guarantee: Any = EXACT  # a Guarantee, which may depend on constraints
    default_loss: Any = "zero_one"
    constraints_: Any  # constraints, those of parameters included

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        keep_in_step(cls, BaseSpace, fit_validate=("fit", "validate"))
        read_in_memory(cls)

    def fit(self, Y: Any) -> Self:
        return self

    def fit_validate(self, Y: Any) -> Array:
        """Outputs in canonical form, once what was left open is learned from them.

        As ``fit(Y).validate(Y)``, which it is unless a space can do both while it reads Y once. A
        class that brings another ``fit`` or ``validate`` is read by these, unless it brings this
        method as well.
        """
        return self.fit(Y).validate(Y)

    def all_outputs(self, most: int) -> np.ndarray | None:
        """All outputs, where there are no more than ``most`` and these can be listed."""
        if not isinstance(self, Enumerable):
            return None
        try:
            listed: np.ndarray = self.enumerate(limit=most)
        except ValueError:  # there are more
            return None
        return listed

    @property
    def counted(self) -> Self:
        """The space that is counted in place of this one: itself, or one that contains it."""
        return self

    def relaxation(self) -> Any:
        """A larger space with the same embedding, whose moments are closed forms, or None.

        What the truth may be contrasted with where the outputs of this space are too alike, or
        too hard to count; constraints are left behind.
        """
        return None

    def sampled_moments(self) -> Any:
        """The draws that moments are means over, and their errors; None where moments are exact."""
        return None

    def covariance(self) -> Covariance:
        """Covariance of psi under the uniform distribution: a :class:`~.covariances.Covariance`."""
        mean = np.asarray(self.mean_embedding())
        check_square_fits(
            len(mean), f"The covariance over {type(self).__name__}", "Use a smaller embedding."
        )
        second = self.second_moment()
        second = second.toarray() if hasattr(second, "toarray") else np.array(second)
        second -= np.outer(mean, mean)
        return DenseCovariance(second)

    def _checked_scores(self, scores: Any, width: int | None = None) -> np.ndarray:
        """Finite scores (n, d), where d may be known; a single row may come without the axis."""
        checked = listing.check_scores(scores, self, width)
        self._check_rows(len(checked))
        return checked

    def _checked_costs(self, costs: np.ndarray, width: int) -> np.ndarray:
        """Finite costs (n, width) of as many rows as constraints are for."""
        costs = check_costs(costs, width, used_by=type(self).__name__)
        self._check_rows(len(costs))
        return costs

    def _check_outputs(self, Z: np.ndarray, width: int | None, what: str, kinds: str = "") -> None:
        """Raise unless ``contains`` can tell of these: outputs (n, width) in canonical form."""
        good = Z.ndim == 2 and width in (None, Z.shape[1])
        if not good or (kinds and Z.dtype.kind not in kinds):
            kind = f"an array of {Z.dtype} of " if kinds else ""
            raise ValueError(
                f"contains() takes outputs in canonical form, {what}; got {kind}shape {Z.shape}. "
                "validate() makes them."
            )
        self._check_rows(len(Z))


class CountedSpace(BaseSpace):
    """A space that knows how many outputs it has."""

    @abstractmethod
    def size(self) -> int:
        """Exact number of outputs."""

    def log_size(self) -> float:
        """Natural logarithm of the number of outputs; minus infinity when there is none."""
        size = self.size()
        return math.log(size) if size else -math.inf


def check_k(k: int, used_by: str) -> int:
    """How many best outputs are asked for: a whole number, at least 1."""
    if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or k < 1:
        raise ValueError(f"{used_by}: k is a whole number, at least 1; got {k!r}.")
    return int(k)


def decoded_or_infeasible(
    outputs: np.ndarray, values: np.ndarray, bounds: np.ndarray, space: Any
) -> Decoded:
    """A result, unless some row has no output at all (infinite value)."""
    check_feasible(np.isfinite(values), space)
    return Decoded(outputs, values, bounds)


def check_proven(values: np.ndarray, bounds: np.ndarray, used_by: str) -> None:
    """Raise where limits left a gap: of the second best it would not be known whether it is."""
    found = np.isfinite(values)
    values, bounds = values[found], bounds[found]
    if (values - bounds > ROUNDING_GAP * np.maximum(np.abs(values), 1.0)).any():
        raise UndecidableError(
            f"{used_by}: the k best need proven outputs, for which the limits were not enough; "
            "raise time_limit or node_limit."
        )


class EmbeddingView(BaseSpace):
    """Wraps a space: its outputs, names and constraints, with an embedding of the view's own."""

    def __init__(self, space: Any) -> None:
        self.space = space

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self.space.labels_

    @property
    def dag_(self) -> Any:
        return self.space.dag_

    @property
    def constraints_(self) -> Any:
        return constraints_of(self.space)

    def fit(self, Y: Any) -> Self:
        self.space.fit(Y)
        return self

    def validate(self, Y: Any) -> Array:
        return self.space.validate(Y)

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        return self.space.restore(Z, index)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        return self.space.contains(Z)

    def _check_rows(self, n: int) -> None:
        check_n_rows(self.constraints_, n, type(self.space).__name__)

    def all_outputs(self, most: int) -> np.ndarray | None:
        return self.space.all_outputs(most)

    def _over(self, space: Any) -> Self:
        """The same view of another space."""
        return type(self)(space)

    def rows(self, index: Any) -> Self:
        return self._over(self.space.rows(index))

    def restrict(self, **constraints: Any) -> Self:
        return self._over(self.space.restrict(**constraints))


class ListView(EmbeddingView):
    """Outputs of a space that are listed: the minimum-cost are found by comparing all.

    A child brings ``listed_`` (m, ...), and costs have a column for each of them.
    """

    listed_: np.ndarray
    other_ways: ClassVar = "a list of candidates may hold others"  # where all are excluded

    def all_outputs(self, most: int) -> np.ndarray:
        return self.listed_[self.allowed()[0]]

    def _over(self, space: Any) -> Self:
        view = copy.copy(self)
        view.space = space
        return view

    def allowed(self, part: slice = slice(None)) -> np.ndarray:
        """Which listed outputs, or some of them, may be predicted; shape (1 or n, m)."""
        return allowed_by(self.space, self.listed_[part])

    def _allowed_costs(self, costs: np.ndarray) -> np.ndarray:
        name = type(self).__name__
        costs = check_costs(costs, len(self.listed_), used_by=name)
        check_n_rows(self.constraints_, len(costs), name)
        return np.where(self.allowed(), costs, np.inf)

    def argmin(self, costs: np.ndarray) -> Decoded:
        best, values = min_cost(self._allowed_costs(costs))
        self._check_some(values)
        return Decoded(self.listed_[best], values, values)

    def _check_some(self, values: np.ndarray) -> None:
        """Raise where nothing listed may be predicted in a row; values of shape (n,).

        Constraints exclude it all, or it is partial: what may be learned from is more than what
        may be predicted.
        """
        lost = np.flatnonzero(~np.isfinite(values))
        if len(lost):
            raise InfeasibleError(
                f"{type(self.space).__name__}: none of the {len(self.listed_)} listed outputs, "
                f"such as those of training, may be predicted in row {lost[0]}: each breaks its "
                f"constraints or leaves something open; {self.other_ways}.", int(lost[0]),
            )  # fmt: skip

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        k = check_k(k, type(self).__name__)
        order, values = k_min_cost(self._allowed_costs(costs), k)
        self._check_some(values.min(axis=1))
        return Decoded(self.listed_[order], values, values)


@savable
class ListedOutputs(ListView):
    r"""Finitely many outputs of a space, :math:`\psi(z) = e_z` over the list.

    Any loss is bilinear here. Exact *over the candidates*: by default all that is listed.

    Parameters
    ----------
    space : a space with outputs as rows of an array
    outputs : array of shape (m, d)
        Outputs to know, such as those of training; repeated ones count once.
    candidates : array of shape (c, d), default=None
        Outputs that may be predicted; None for all that are known. Training outputs
        beyond them still count through their losses.
    """

    embedding = "outputs"
    _saved_arguments = ("space", "outputs", "candidates")

    def __init__(self, space: Any, outputs: Any, candidates: np.ndarray | None = None) -> None:
        self.space = space
        self.outputs = outputs
        self.candidates = candidates
        rows = np.asarray(outputs)
        rows = rows if candidates is None else np.vstack([candidates, rows]).astype(rows.dtype)
        first = np.sort(np.unique(_keys(rows), return_index=True)[1])
        self.listed_ = rows[first]
        n_first = len(rows) if candidates is None else len(candidates)
        self.n_candidates_ = int((first < n_first).sum())  # they come first in the list
        keys = _keys(self.listed_)
        self._order = np.argsort(keys)
        self._sorted = keys[self._order]

    def embed(self, Z: np.ndarray) -> Any:
        keys = _keys(np.asarray(Z, dtype=self.listed_.dtype))
        position = np.searchsorted(self._sorted, keys).clip(max=len(self._sorted) - 1)
        known = np.flatnonzero(self._sorted[position] == keys)
        at = known, self._order[position[known]]
        shape = (len(keys), len(self.listed_))
        return sparse.csr_array((np.ones(len(known)), at), shape=shape)

    def allowed(self, part: slice = slice(None)) -> np.ndarray:
        allowed = super().allowed()
        allowed[:, self.n_candidates_ :] = False
        return allowed[:, part]


def _keys(rows: np.ndarray) -> np.ndarray:
    """Rows as single comparable items, byte for byte."""
    rows = np.ascontiguousarray(rows)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


Solving.at(ListView, SolvingOfLists)
Coordinates.at(ListView, CoordinatesOfList)
Coordinates.at(ListedOutputs, CoordinatesOfListed)
Embeddings.at(EmbeddingView, EmbeddingsOfViews)
Known.at(EmbeddingView, "skstruct.spaces.known:KnownOfViews")
Description.at(EmbeddingView, "skstruct.spaces.description:DescriptionOfView")
Marginals.at(EmbeddingView, "skstruct.spaces.common.view_marginals:MarginalsOfViews")
Marginals.at(ListedOutputs, "skstruct.spaces.common.view_marginals:MarginalsOfListed")
