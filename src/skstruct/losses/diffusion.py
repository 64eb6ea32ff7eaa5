# SPDX-License-Identifier: BSD-3-Clause
"""How differently heat spreads from two nodes of a graph, or from two points of a manifold."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.losses.base import BaseLoss
from skstruct.saving import savable
from skstruct.tolerances import EIGENSOLVER_ACCURACY, OMITTED_EIGENPAIRS, OMITTED_IN_SMALL

DENSE = 2500  # nodes up to which all eigenpairs are computed


@savable
class Diffusion(BaseLoss):
    r"""Squared diffusion distance between nodes of a graph [1]_.

    .. math:: \ell(z, y) = \sum_k e^{-2 t \lambda_k} (\phi_k(z) - \phi_k(y))^2
              = H_{2t}(z, z) - 2 H_{2t}(z, y) + H_{2t}(y, y)

    with eigenpairs :math:`(\lambda_k, \phi_k)` of the graph Laplacian :math:`L = D - A` and
    its heat kernel :math:`H_s = e^{-sL}`. Nodes are near if many short paths join them. It
    lies between 0 and 2; heat never leaves a connected piece, so that nodes of different
    pieces are as far apart as :math:`H_{2t}(z, z) + H_{2t}(y, y)`.

    Where nodes have masses, as those of ``GraphNodes.from_points``, the Laplacian is
    :math:`M^{-1} L`, and :math:`\phi_k` are of unit length in the measure of the masses: then this
    is the distance of the paper's Example 1 (6), between points of a manifold.

    Parameters
    ----------
    t : float, default=1.0
        Time of diffusion: small, and every other node is equally far (zero-one loss times
        two, as t goes to 0); large, and only distant regions differ.
    normalized : bool, default=False
        Whether to take :math:`D^{-1/2} L D^{-1/2}`, in which nodes of many edges do not
        pass heat on faster; its eigenvalues lie in [0, 2].
    candidates : nodes, default=None
        What may be predicted; None for all nodes of the graph.

    Notes
    -----
    Up to 2500 nodes all eigenpairs are computed. Beyond, those below some :math:`\Lambda`:
    the rest changes no loss by more than :math:`2 e^{-2t\Lambda}`, kept below 1e-10. Where
    that would take more than a tenth of all pairs (small ``t``), the heat kernel is applied
    by sparse matrix exponentials instead.

    References
    ----------
    .. [1] R. R. Coifman and S. Lafon, Diffusion maps, Applied and Computational Harmonic
       Analysis 21, 2006.

    Examples
    --------
    >>> from skstruct.spaces import GraphNodes
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> loss = Diffusion(t=0.5).bind(GraphNodes(path).fit([0]))
    >>> loss([0, 0, 0], [0, 1, 2]).round(3)
    array([0.   , 0.259, 0.736])
    """

    embedding = "outputs"

    def __init__(self, t: float = 1.0, *, normalized: bool = False, candidates: Any = None) -> None:
        self.t = t
        self.normalized = normalized
        self.candidates = candidates

    def bind(self, space: Any) -> Self:
        adjacency = getattr(space, "adjacency_", None)
        if adjacency is None:
            raise ValueError(
                "Diffusion measures distances between nodes of a graph; "
                f"{type(space).__name__} has no graph. Give space=GraphNodes(graph)."
            )
        if not (np.isfinite(self.t) and self.t > 0):
            raise ValueError(f"Diffusion: the time t must be positive; got {self.t!r}.")
        bound = copy.copy(self)
        masses = getattr(space, "masses_", None)
        L = laplacian(adjacency, self.normalized)
        if masses is None:
            bound.heat_ = heat_kernel(L, 2.0 * self.t)
            return bound
        if self.normalized:
            raise ValueError("Diffusion: nodes with masses have their scale; leave out normalized.")
        root = sparse.diags_array(masses**-0.5)
        heat = heat_kernel(sparse.csr_array(root @ L @ root), 2.0 * self.t)
        bound.heat_ = HeatPerMass(heat, np.sqrt(masses))
        return bound

    def _heat(self) -> "SpectralHeat | ExponentialHeat | HeatPerMass":
        if not hasattr(self, "heat_"):
            raise ValueError("Diffusion: call bind(space) first; the loss needs the graph.")
        return self.heat_

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        heat, z, y = self._heat(), np.asarray(Y_pred), np.asarray(Y_true)
        losses = heat.diagonal[z] + heat.diagonal[y] - 2.0 * heat.entries(z, y)
        return np.where(z == y, 0.0, np.maximum(losses, 0.0))

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        heat, z, y = self._heat(), np.asarray(Y_pred), np.asarray(Y_true)
        losses = heat.diagonal[z][:, None] + heat.diagonal[y] - 2.0 * heat.block(z, y)
        return np.where(z[:, None] == y, 0.0, np.maximum(losses, 0.0))

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        heat = self._heat()
        return total * heat.diagonal - 2.0 * heat.times(g)

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return g @ self._heat().diagonal


def laplacian(adjacency: Any, normalized: bool = False) -> sparse.csr_array:
    """D - A, or that between D^(-1/2) twice; nodes without edges have a row of zeros."""
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    L = sparse.csr_array(sparse.diags_array(degrees) - adjacency)
    if normalized:
        root = np.zeros(len(degrees))
        np.divide(1.0, np.sqrt(degrees), out=root, where=degrees > 0)
        L = sparse.csr_array(sparse.diags_array(root) @ L @ sparse.diags_array(root))
    return L


def heat_kernel(L: Any, s: float) -> "SpectralHeat | ExponentialHeat":
    """exp(-s L) in the form that suits its size and time."""
    n = L.shape[0]
    if n <= DENSE:
        values, vectors = np.linalg.eigh(L.toarray())
        kept = s * values < -np.log(OMITTED_EIGENPAIRS * OMITTED_IN_SMALL)
        return SpectralHeat(values[kept], vectors[:, kept], s)
    found = _low_eigenpairs(L, -np.log(OMITTED_EIGENPAIRS / 2.0) / s)
    if found is None:
        return ExponentialHeat(L, s)
    values, vectors = found
    return SpectralHeat(values, vectors, s)


def _low_eigenpairs(L: Any, cutoff: float) -> tuple[np.ndarray, np.ndarray] | None:
    """All eigenpairs up to the cutoff (and some more); None if more than a tenth of all."""
    from scipy.sparse.linalg import LinearOperator, eigsh, splu

    n, k = L.shape[0], 32
    shift = 1e-3 * cutoff  # L is singular; L + shift is not, and its inverse magnifies low pairs
    solve = splu(sparse.csc_array(L + shift * sparse.eye_array(n))).solve
    inverse = LinearOperator((n, n), matvec=solve, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(n)
    while k <= n // 10:
        inverses, vectors = eigsh(inverse, k=k, which="LA", v0=start)
        if 1.0 / inverses.min() - shift >= cutoff:
            break
        k *= 2
    else:
        return None
    # A Lanczos iteration may overlook copies of an eigenvalue: is one left beside those found?
    rest = LinearOperator(
        (n, n), matvec=lambda x: solve(x) - vectors @ (inverses * (vectors.T @ x)), dtype=np.float64
    )
    left = eigsh(
        rest, k=1, which="LA", v0=start, tol=EIGENSOLVER_ACCURACY, return_eigenvectors=False
    )[0]
    overlooked = 1.0 / left - shift < (1.0 - 1e-3) * cutoff
    return None if overlooked else (1.0 / inverses - shift, vectors)


@savable
class SpectralHeat:
    """A heat kernel from its eigenpairs: the inner products of n points in r dimensions."""

    def __init__(self, values: np.ndarray, vectors: np.ndarray, s: float) -> None:
        self.features = vectors * np.exp(-0.5 * s * np.maximum(values, 0.0))  # shape: (n, r)
        self.diagonal = np.einsum("ur,ur->u", self.features, self.features)

    def entries(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.einsum("ir,ir->i", self.features[u], self.features[v])

    def block(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.features[u] @ self.features[v].T

    def times(self, g: np.ndarray) -> np.ndarray:
        return np.asarray(g @ self.features) @ self.features.T


@savable
class ExponentialHeat:
    """A heat kernel applied by sparse matrix exponentials: short times, large graphs."""

    def __init__(self, L: Any, s: float, step: int = 256) -> None:
        self.L, self.s = L, s
        n = L.shape[0]
        blocks = (np.arange(start, min(start + step, n)) for start in range(0, n, step))
        # H_s(u, u) = |H_(s/2) e_u|^2 takes half the time.
        halves = (self._columns(nodes, 0.5 * s) for nodes in blocks)
        self.diagonal = np.concatenate([(columns**2).sum(axis=0) for columns in halves])

    def _columns(self, nodes: np.ndarray, s: float) -> Any:
        """Columns of H_s, shape (n, number of nodes)."""
        unit = np.zeros((self.L.shape[0], len(nodes)))
        unit[nodes, np.arange(len(nodes))] = 1.0
        return self._spread(unit, s)

    def _spread(self, columns: np.ndarray, s: float) -> Any:
        from scipy.sparse.linalg import expm_multiply

        return expm_multiply(-s * self.L, columns, traceA=-s * self.L.diagonal().sum())

    def entries(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        distinct, inverse = np.unique(v, return_inverse=True)
        return self._columns(distinct, self.s)[u, inverse]

    def block(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        distinct, inverse = np.unique(v, return_inverse=True)
        return self._columns(distinct, self.s)[np.asarray(u)][:, inverse]

    def times(self, g: np.ndarray) -> np.ndarray:
        return self._spread(np.ascontiguousarray(np.asarray(g).T), self.s).T


@savable
class HeatPerMass:
    """A heat kernel of M^(-1/2) L M^(-1/2), as one of M^(-1) L in the measure of the masses."""

    def __init__(self, heat: SpectralHeat | ExponentialHeat, roots: np.ndarray) -> None:
        self.heat, self.roots = heat, roots  # roots of the masses, shape: (n,)
        self.diagonal = heat.diagonal / roots**2

    def entries(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.heat.entries(u, v) / (self.roots[u] * self.roots[v])

    def block(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return self.heat.block(u, v) / np.outer(self.roots[u], self.roots[v])

    def times(self, g: np.ndarray) -> np.ndarray:
        return self.heat.times(np.asarray(g / self.roots)) / self.roots
