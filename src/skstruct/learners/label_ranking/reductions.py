# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking reduced to simpler problems: accepts, apply, invert."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from skstruct._arrays.checks import snap
from skstruct.saving import savable
from skstruct.spaces import Embeddings, Rankings
from skstruct.spaces.solvers.linear_ordering import pair_numbers, pair_signs

Array = Any


@runtime_checkable
class Reduction(Protocol):
    """Label ranking as something simpler, and the way back.

    Outputs ``Z`` are canonical, floats (n, d): smaller is better, equal numbers are ties,
    NaN is an item that was not ranked. What is learned from ``apply`` gives answers for new
    inputs, which ``invert`` turns into ranks (n, d) from 1, the best.
    """

    def accepts(self, Z: Array) -> bool: ...  # whether there is something to learn from
    def apply(self, X: Array, Z: Array) -> Any: ...  # the simpler problem, or several
    def invert(self, answers: Array) -> Array: ...  # shape: (n, d)


@dataclass(frozen=True)
class Preferences:
    """All pairs that the rows order: ``rows[e]`` puts ``better[e]`` before ``worse[e]``."""

    X: Any  # inputs, shape: (n, p)
    rows: np.ndarray  # in ascending order
    better: np.ndarray
    worse: np.ndarray
    n_items: int

    @property
    def starts(self) -> np.ndarray:
        """The pairs of row i are ``starts[i]`` to ``starts[i + 1]``; shape (n + 1,)."""
        return np.searchsorted(self.rows, np.arange(self.X.shape[0] + 1))

    @cached_property
    def indices(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the better and the worse items stand in a flat array of scores."""
        return self.rows * self.n_items + self.better, self.rows * self.n_items + self.worse

    def margins(self, scores: np.ndarray) -> Any:
        """By how much the better item of each pair has the larger score (n, d)."""
        better, worse = self.indices
        return scores.ravel()[better] - scores.ravel()[worse]


def ordered_pairs(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, better and worse item of every pair that some row orders, row by row.

    >>> rows, better, worse = ordered_pairs(np.array([[1.0, 2.5, 2.5], [2.0, np.nan, 1.0]]))
    >>> rows.tolist(), better.tolist(), worse.tolist()
    ([0, 0, 1], [0, 0, 2], [1, 2, 0])
    """
    signs = pair_signs(Z)
    rows, pairs = np.nonzero(signs)
    p, q = pair_numbers(Z.shape[1])
    first = signs[rows, pairs] > 0
    return rows, np.where(first, p[pairs], q[pairs]), np.where(first, q[pairs], p[pairs])


@savable
@dataclass(frozen=True)
class PreferenceReduction:
    """Every ordered pair of a row is a preference; scores that respect them are sorted.

    Ties and items that were not ranked order nothing and are passed over. The items are
    sorted within what the space allows: its constraints hold here, too.
    """

    space: Rankings

    def accepts(self, Z: np.ndarray) -> bool:
        """Whether some pair is ordered; a single item leaves nothing to order."""
        return Z.shape[1] == 1 or bool((np.nanmin(Z, axis=1) < np.nanmax(Z, axis=1)).any())

    def apply(self, X: Any, Z: np.ndarray) -> Any:
        return Preferences(X, *ordered_pairs(Z), Z.shape[1])

    def invert(self, answers: np.ndarray) -> Any:
        """Items by falling score (n, d); the one listed first wins a tie."""
        scores = np.array(answers, dtype=np.float64)
        # Least sum of score * rank: the largest score gets rank 1 (rearrangement).
        costs = snap(scores, np.abs(scores).max(axis=1))
        return Embeddings.of(self.space).view("ranks").argmin(costs).outputs


@savable
@dataclass(frozen=True)
class KeslerReduction(PreferenceReduction):
    r"""One binary problem in :math:`\mathbb{R}^{d p}` (Kesler's construction).

    A preference of p over q in x is the example :math:`x \otimes (e_p - e_q)` of class +1
    and its negative of class -1. What a linear classifier says of an item is its chunk of
    the weights: chunk j scores item j.

    Parameters
    ----------
    max_pairs : int or None
        Of more preferences than that, so many are drawn without replacement.
    """

    max_pairs: int | None = None
    random_state: Any = None

    def apply(self, X: Any, Z: np.ndarray) -> Any:
        """Examples, CSR (2 m, d p) with 2 p numbers in a row at most, and classes (2 m,)."""
        return self.apply_with_rows(X, Z)[:2]

    def apply_with_rows(self, X: Any, Z: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        """The same, and the row that each example is from; shape (2 m,)."""
        rows, better, worse = ordered_pairs(Z)
        if self.max_pairs is not None and len(rows) > self.max_pairs:
            rng = check_random_state(self.random_state)
            drawn = np.sort(rng.choice(len(rows), self.max_pairs, replace=False))
            rows, better, worse = rows[drawn], better[drawn], worse[drawn]
        inputs, m, p = sparse.coo_array(X[rows]), len(rows), X.shape[1]
        e, column = inputs.coords
        columns = np.concatenate([better[e] * p + column, worse[e] * p + column])
        values = np.concatenate([inputs.data, -inputs.data])
        shape = m, Z.shape[1] * p
        # Many linear classifiers read 32-bit indices only.
        fits = max(2 * len(values), *shape) < 2**31
        indices = np.stack([np.concatenate([e, e]), columns]).astype(np.int32 if fits else np.int64)
        examples = sparse.csr_array((values, tuple(indices)), shape=shape)
        both = sparse.vstack([examples, -examples], format="csr")
        return both, np.repeat([1, -1], m), np.concatenate([rows, rows])


@dataclass(frozen=True)
class PairExamples:
    """The binary problem of items p < q: which rows put p before q."""

    X: Any
    rows: np.ndarray  # those that order the pair
    before: np.ndarray  # 1 where p comes before q, else 0

    @property
    def inputs(self) -> Any:
        return self.X if len(self.rows) == self.X.shape[0] else self.X[self.rows]


@savable
@dataclass(frozen=True)
class PairwiseReduction(PreferenceReduction):
    r"""One binary problem for every pair of items p < q.

    Answers are probabilities :math:`R_{pq}` that p comes before q, shape (n, d, d). By "votes"
    items are sorted by :math:`\sum_{q \ne p} R_{pq}`, which minimizes the expected squared
    difference of ranks; "kendall" takes the order with the fewest expected pairs in the
    wrong order.
    """

    aggregate: str = "votes"

    def apply(self, X: Any, Z: np.ndarray) -> Any:
        """A list of :class:`PairExamples`, in the order of pairs p < q."""
        signs = pair_signs(Z)
        kept = [np.flatnonzero(column) for column in signs.T]
        return [PairExamples(X, k, (signs[k, j] > 0).astype(int)) for j, k in enumerate(kept)]

    def invert(self, answers: np.ndarray) -> Any:
        R = np.asarray(answers, dtype=np.float64)
        if self.aggregate == "votes":
            return super().invert(votes(R))
        p, q = pair_numbers(R.shape[1])
        # The expected loss of a pair is 1/2 - psi (R - 1/2), psi = +1 where p comes first.
        costs = snap(0.5 - R[:, p, q], np.ones(len(R)))
        return Embeddings.of(self.space).view("pairs").argmin(costs).outputs


def votes(R: np.ndarray) -> Any:
    """How many items each one is expected to beat; (n, d) from probabilities (n, d, d)."""
    return R.sum(axis=2) - np.einsum("npp->np", R)


def with_constant(X: Any) -> Any:
    """X and a column of ones: its weight is the intercept."""
    ones = np.ones((X.shape[0], 1))
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])
