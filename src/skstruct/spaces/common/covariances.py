# SPDX-License-Identifier: BSD-3-Clause
"""Covariances of an embedding under the uniform distribution, by their distinct eigenvalues.

A space that looks the same from every label, pair or cell has a covariance of two to four
distinct eigenvalues, whose eigenspaces are known beforehand:

    S = sum over p of g_p Pi_p,    Pi_p projectors that add up to the identity,

so that no d x d matrix is needed, however large d is.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh

from skstruct.saving import savable
from skstruct.tolerances import SAME_EIGENVALUE

DENSE = 32  # nodes up to which products with a dense incidence matrix are faster


class Covariance(ABC):
    """A positive semidefinite matrix S, (d, d), through its eigenspaces."""

    d: int
    eigenvalues: np.ndarray  # one for each part, shape: (r,); parts may share one

    @abstractmethod
    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        """V Pi_p for every p: rows split into eigenspaces; r arrays of shape (m, d)."""

    def grams(self, V: np.ndarray) -> Iterator[np.ndarray]:
        """V Pi_p V' for every p, one at a time; shape (m, m)."""
        for part in self.parts(V):
            yield part @ V.T

    def filter(self, V: np.ndarray, H: np.ndarray) -> np.ndarray:
        """Row i of V, multiplied by H[i, p] in eigenspace p; (m, d) from (m, d) and (1 or m, r)."""
        filtered = np.zeros_like(V)
        for part, factor in zip(self.parts(V), H.T):
            filtered += factor[:, None] * part
        return filtered

    def apply(self, V: np.ndarray) -> np.ndarray:
        """V S; shape (m, d)."""
        return self.filter(V, self.eigenvalues[None])

    def dense(self) -> np.ndarray:
        """S itself, where d x d numbers fit."""
        from skstruct._arrays.memory import check_square_fits

        check_square_fits(self.d, "The covariance", "covariance().apply(V) needs no matrix.")
        return self.apply(np.eye(self.d))


@savable
class Scalar(Covariance):
    """g I: coordinates that are independent and alike.

    Examples
    --------
    >>> Scalar(0.25, 2).dense()
    array([[0.25, 0.  ],
           [0.  , 0.25]])
    """

    def __init__(self, value: float, d: int) -> None:
        self.d, self.eigenvalues = d, np.array([value], dtype=np.float64)

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        return [V]


@savable
class Exchangeable(Covariance):
    """a I + b 11': coordinates that may change places.

    Parameters
    ----------
    on_ones, on_rest : float
        Eigenvalues of the vector of ones, and of all that is orthogonal to it.
    """

    def __init__(self, on_ones: float, on_rest: float, d: int) -> None:
        self.d, self.eigenvalues = d, np.array([on_ones, on_rest], dtype=np.float64)

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        mean = np.repeat(V.mean(axis=1, keepdims=True), self.d, axis=1)
        return [mean, V - mean]

    def grams(self, V: np.ndarray) -> Iterator[np.ndarray]:
        mean = V.mean(axis=1, keepdims=True)
        yield self.d * (mean @ mean.T)
        V = V - mean
        yield V @ V.T


@savable
class PairScheme(Covariance):
    r"""Coordinates are the pairs u < v of n nodes, and nodes may change places.

    With signs (swapping u and v turns the sign), pairs split into cuts, the row space of the
    signed incidence matrix B with :math:`BB' = nI - 11'`, and cycles, which are orthogonal to
    it. Without, into ones, stars (differences between nodes: the row space of the unsigned
    incidence matrix, without ones) and the rest.

    Parameters
    ----------
    n_nodes : int
    values : (on cuts, on cycles), or (on ones, on stars, on the rest)
    signed : bool

    Examples
    --------
    >>> PairScheme(3, (0.0, 3.0), signed=True).dense().round(6)
    array([[ 1., -1.,  1.],
           [-1.,  1., -1.],
           [ 1., -1.,  1.]])
    """

    def __init__(self, n_nodes: int, values: tuple[Any, ...], signed: bool) -> None:
        self.n_nodes, self.signed = n_nodes, signed
        self.d = n_nodes * (n_nodes - 1) // 2
        self.eigenvalues = np.array(values, dtype=np.float64)

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        return np.triu_indices(self.n_nodes, 1)

    @cached_property
    def _incidence(self) -> sparse.csr_array | np.ndarray:
        """B or B+, one row per node; shape (n_nodes, d)."""
        ends = np.concatenate([np.ones(self.d), np.full(self.d, -1.0 if self.signed else 1.0)])
        at = np.concatenate(self._ends), np.tile(np.arange(self.d), 2)
        B = sparse.csr_array((ends, at), shape=(self.n_nodes, self.d))
        return B.toarray() if self.n_nodes <= DENSE else B

    def _nodes(self, V: np.ndarray) -> np.ndarray:
        """V B', without its mean where there are no signs; shape (m, n_nodes)."""
        nodes = np.ascontiguousarray((self._incidence @ V.T).T)
        return nodes if self.signed else nodes - nodes.mean(axis=1, keepdims=True)

    def _pairs(self, nodes: np.ndarray) -> Any:
        """nodes B; shape (m, d)."""
        if self.n_nodes <= DENSE:
            return nodes @ self._incidence
        u, v = self._ends
        pairs, other = np.take(nodes, u, axis=1), np.take(nodes, v, axis=1)  # both in C order
        return np.subtract(pairs, other, out=pairs) if self.signed else pairs + other

    @property
    def _square(self) -> int:
        """BB' on cuts, and B+B+' on stars; two nodes have one pair and no star."""
        return self.n_nodes if self.signed else max(self.n_nodes - 2, 1)

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        inner = self._pairs(self._nodes(V) / self._square)
        if self.signed:
            return [inner, V - inner]
        ones = np.repeat(V.mean(axis=1, keepdims=True), self.d, axis=1)
        return [ones, inner, V - ones - inner]

    def filter(self, V: np.ndarray, H: np.ndarray) -> np.ndarray:
        inner, rest = H[:, -2:-1], H[:, -1:]
        filtered: np.ndarray = self._pairs(((inner - rest) / self._square) * self._nodes(V))
        filtered += rest * V
        if not self.signed:
            filtered += (H[:, :1] - rest) * V.mean(axis=1, keepdims=True)
        return filtered

    def grams(self, V: np.ndarray) -> Iterator[np.ndarray]:
        if not self.signed:
            mean = V.mean(axis=1, keepdims=True)
            yield self.d * (mean @ mean.T)
            V = V - mean
        nodes = self._nodes(V) / np.sqrt(self._square)
        yield nodes @ nodes.T
        rest = V @ V.T
        rest -= nodes @ nodes.T
        yield rest


@savable
class GridScheme(Covariance):
    """Coordinates are the cells of a table whose rows may change places, and columns too.

    Parameters
    ----------
    n_rows, n_columns : int
    values : (on ones, on differences between rows, on those between columns, on the rest)
    """

    def __init__(self, n_rows: int, n_columns: int, values: tuple[Any, Any, Any, Any]) -> None:
        self.shape, self.d = (n_rows, n_columns), n_rows * n_columns
        self.eigenvalues = np.array(values, dtype=np.float64)

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        table = V.reshape(len(V), *self.shape)
        ones = np.broadcast_to(table.mean(axis=(1, 2), keepdims=True), table.shape)
        rows = np.broadcast_to(table.mean(axis=2, keepdims=True), table.shape) - ones
        columns = np.broadcast_to(table.mean(axis=1, keepdims=True), table.shape) - ones
        rest = table - ones - rows - columns
        return [part.reshape(V.shape) for part in (ones, rows, columns, rest)]


@savable
class DenseCovariance(Covariance):
    """Any covariance matrix, decomposed; equal eigenvalues are one part.

    Parameters
    ----------
    S : array of shape (d, d)
    """

    def __init__(self, S: np.ndarray) -> None:
        self.S, self.d = S, len(S)
        values, self.vectors = eigh(S)
        values = values.clip(min=0.0)
        tolerance = SAME_EIGENVALUE * values.max(initial=0.0)
        starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > tolerance)
        self.ends = np.append(starts, self.d)
        self.eigenvalues = np.array([values[a:b].mean() for a, b in pairwise(self.ends)])

    def parts(self, V: np.ndarray) -> list[np.ndarray]:
        columns = (self.vectors[:, a:b] for a, b in pairwise(self.ends))
        return [(V @ P) @ P.T for P in columns]

    def grams(self, V: np.ndarray) -> Iterator[np.ndarray]:
        V = V @ self.vectors
        for a, b in pairwise(self.ends):
            yield V[:, a:b] @ V[:, a:b].T

    def filter(self, V: np.ndarray, H: np.ndarray) -> np.ndarray:
        each = np.repeat(H, np.diff(self.ends), axis=1)  # a factor for every eigenvector
        return ((V @ self.vectors) * each) @ self.vectors.T

    def apply(self, V: np.ndarray) -> np.ndarray:
        return V @ self.S

    def dense(self) -> np.ndarray:
        return self.S
