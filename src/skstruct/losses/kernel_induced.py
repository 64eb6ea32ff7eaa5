# SPDX-License-Identifier: BSD-3-Clause
"""The search for outputs whose features are nearest to a weighted sum of features."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct.losses.base import BaseLoss, matched_quantities
from skstruct.losses.deciding import Effort
from skstruct.losses.preimages import (
    GaussianCells,
    climb_gaussians,
    descend,
    feature_bounds,
    gaussian_sums,
)
from skstruct.losses.squared import Squared
from skstruct.saving import savable
from skstruct.spaces import Coordinates, Decoded, Embeddings, Solving, whole_of
from skstruct.spaces.constraints import allowed_by, constraints_of
from skstruct.tolerances import BOUND_ROUNDING

UNIT = ("rbf", "laplacian")  # h(z, z) = 1 and h >= 0
BLOCK = 1024  # columns of the kernel of all pairs that are held at a time


@savable
class PreImages:
    """Outputs of least risk under a kernel loss, for rows of weights of any sign.

    Parameters
    ----------
    loss : KernelLoss
        Its kernel, ``matrix(A, B)``, ``diagonal(A)``, ``width`` and ``n_starts``.
    W : array of shape (B, n)
    Y : array of shape (n, d)
    space : space of quantities
    """

    def __init__(self, loss: Any, W: np.ndarray, Y: Any, space: Any) -> None:
        self.loss, self.W, self.Y, self.space = loss, W, Y, space
        self.diagonal = loss.diagonal(Y)
        self.totals, self.constants = W.sum(axis=1), W @ self.diagonal
        # <m, phi(y_i)>, m = sum_i w_i phi(y_i); columns in blocks, for the kernel of all pairs
        # may not fit.
        blocks = [slice(start, start + BLOCK) for start in range(0, len(Y), BLOCK)]
        self.inner = np.hstack([W @ loss.matrix(Y, Y[block]) for block in blocks])

    def values(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The risk of one point for each of some rows, less a constant of the row."""
        terms = self.W[rows] * self.loss.matrix(points, self.Y)
        return self.totals[rows] * self.loss.diagonal(points) - 2.0 * terms.sum(axis=1)

    def project(self, points: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The nearest points of the space."""
        view = Embeddings.of(self.space.rows(rows)).view("squares")
        costs = Squared().cost(view.embed(points), np.ones((len(points), 1)))
        return view.argmin(costs).outputs

    def best(self, certify: bool = True) -> Decoded:
        """The best points found; with bounds from a search of all cells only if asked for."""
        at_outputs = self.totals[:, None] * self.diagonal - 2.0 * self.inner
        allowed = np.where(allowed_by(self.space, self.Y), at_outputs, np.inf)
        first = allowed.argmin(axis=1)
        every = np.arange(len(self.W))
        points, values = self.Y[first].copy(), allowed[every, first]
        n_starts = max(self.loss.n_starts, 0 if np.isfinite(values).all() else 1)
        starts = [
            self.project(self.Y[start], every) for start in self._starts(at_outputs, n_starts)
        ]
        if self.loss.n_starts and (self.W < 0).any():
            starts += self._extremes()
        for start in starts:
            new = self._improved(start)
            new_values = self.values(new, every)
            better = new_values < values
            points[better], values[better] = new[better], new_values[better]
        bounds = self._bounds()
        if certify and self.loss.kernel == "rbf" and self.Y.shape[1] <= 3:
            points, values, bounds = self._certified(points, values, bounds)
        bounds = np.minimum(bounds, values)
        return Decoded(points, values + self.constants, bounds + self.constants)

    def _starts(self, at_outputs: np.ndarray, n_starts: int) -> Iterator[np.ndarray]:
        """Numbers of good training outputs that are not all near each other; each (B,)."""
        left = at_outputs.copy()
        for _ in range(min(n_starts, len(self.Y))):
            start = left.argmin(axis=1)
            yield start
            near = self.loss.matrix(self.Y[start], self.Y)
            near -= 0.5 * np.sqrt(self.diagonal[start][:, None] * self.diagonal)
            left[near >= 0] = np.inf
            left[np.arange(len(left)), start] = np.inf
            if not np.isfinite(left).any():
                return

    def _extremes(self) -> list[np.ndarray]:
        """A vertex in the way that the weights pull: negative ones make outputs the worst."""
        pull = self.W @ (self.Y - self.Y.mean(axis=0))
        view = Embeddings.of(self.space).view("coordinates")
        try:
            return [view.argmin(-pull).outputs]
        except ValueError:  # no constraints that way
            return []

    def _improved(self, starts: np.ndarray) -> np.ndarray:
        if self.loss.kernel == "rbf":
            return climb_gaussians(self.W, self.Y, starts, self.loss.width, self.project)[0]
        size = np.sqrt(self.Y.var(axis=0).sum()) or 1.0
        return descend(self.values, starts, self.project, size=size)[0]

    def _certified(
        self, points: np.ndarray, values: np.ndarray, bounds: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Few dimensions are searched in full, as far as the budget goes."""
        low, high = self._box()
        cells = GaussianCells(self.W, self.Y, self.loss.width, self.project, low, high)
        points, sums, most = cells.run(points, 0.5 * (self.totals - values))
        rounding = BOUND_ROUNDING * np.abs(self.W).sum(axis=1)
        lower = self.totals - 2.0 * most - rounding
        return points, self.totals - 2.0 * sums, np.maximum(bounds, lower)

    def _box(self) -> tuple[np.ndarray, np.ndarray]:
        """A box around the space, over all rows; infinite where the space is."""
        d, n = self.Y.shape[1], len(self.W)
        view = Embeddings.of(self.space).view("coordinates")
        sides = np.full((2, d), np.inf)
        for sign in (0, 1):
            for j in range(d):
                costs = np.zeros((n, d))
                costs[:, j] = 1.0 - 2.0 * sign
                with contextlib.suppress(ValueError):  # no limit on this side
                    sides[sign, j] = -view.argmin(costs).bounds.min(initial=np.inf)
        return -sides[0], sides[1]

    def _bounds(self) -> np.ndarray:
        """Lower bounds from |m|, and for h >= 0 from the positive weights alone."""
        squares = np.einsum("bi,bi->b", self.W, self.inner)
        sizes = np.abs(self.W).sum(axis=1) * np.sqrt(np.abs(self.diagonal).max())
        lengths = np.sqrt(
            np.maximum(squares, 0.0) + BOUND_ROUNDING * sizes**2
        )  # safe from rounding
        if self.loss.kernel in UNIT:
            most = np.minimum(lengths, np.maximum(self.W, 0.0).sum(axis=1))
            return feature_bounds(self.totals, most, 1.0, 1.0)
        low, high = 0.0, 1.0 if self.loss.kernel == "cosine" else self._longest()
        return feature_bounds(self.totals, lengths, low, high)

    def _longest(self) -> Any:
        """Largest length of features in the space: known for polynomials, else infinite."""
        if callable(self.loss.kernel) or (self.totals > 0).all():
            return np.inf
        view, d = Embeddings.of(self.space).view("squares"), self.Y.shape[1]
        origin = view.embed(np.zeros((1, d)))[0, :d]  # minus the centre c of the embedding
        # |z|^2 = |z - c|^2 + 2 <c, z - c> + |c|^2
        costs = np.hstack([2.0 * origin, -np.ones(d)])
        try:
            farthest = view.argmin(np.tile(costs, (len(self.W), 1))).bounds
        except ValueError:  # no constraints
            return np.inf
        norms = np.maximum(origin @ origin - farthest, 0.0)
        base = self.loss.width * norms + self.loss.coef0
        return np.sqrt(base**self.loss.degree)


# Distances in the feature space of a kernel between outputs.


KERNELS = ("rbf", "laplacian", "linear", "poly", "polynomial", "cosine")
SCALED = ("rbf", "laplacian", "poly", "polynomial")  # those with a gamma


@savable
class KernelLoss(BaseLoss):
    r"""Squared distance between the features of a kernel h [1]_.

    .. math:: \ell(z, y) = h(z, z) - 2 h(z, y) + h(y, y)

    With a Gaussian kernel this is :math:`2 (1 - e^{-\gamma |z - y|^2})`: what is far off
    costs 2, however far. Minimizing the estimated risk is then kernel dependency
    estimation, and the search for its minimum the pre-image problem [2]_:

    - one coordinate between constraints, Gaussian kernel: global search with certificate;
    - linear kernel: the squared loss, decided as by :class:`Squared`;
    - otherwise the best training output, improved by steps within the space from several
      such outputs, and so never worse than it. With a Gaussian kernel and up to three
      coordinates the space is then searched in cells, which mostly leaves a small gap;
      in all other cases the bound comes from distances in feature space and may be loose
      (of a callable, and of total weights below zero, there is none: minus infinity).

    ``Listed(KernelLoss(...))`` predicts training outputs or given candidates only, exactly.

    Parameters
    ----------
    kernel : str or callable (A, B) -> array of shape (n_a, n_b), default="rbf"
        "rbf", "laplacian", "linear", "polynomial" or "cosine" as in scikit-learn, or any
        positive definite kernel of rows of numbers (which is also asked for points just
        outside the space, to find its slopes).
    gamma : float, default=None
        Width; None is one over the mean squared distance of the training outputs from
        their mean.
    degree, coef0 : of the polynomial kernel
    n_starts : int, default=5
        Training outputs that the search starts from; 0 stays with the best of all.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, Eq. 2.
    .. [2] J. Weston, O. Chapelle, A. Elisseeff, B. Schölkopf, V. Vapnik, "Kernel dependency
       estimation", 2002.

    Examples
    --------
    >>> KernelLoss(gamma=1.0)([[0.0], [0.0]], [[1.0], [100.0]]).round(3)
    array([1.264, 2.   ])
    """

    embedding = "weights"

    def __init__(
        self,
        kernel: str | Callable[..., ArrayLike] = "rbf",
        gamma: float | None = None,
        *,
        degree: float = 3,
        coef0: float = 1,
        n_starts: int = 5,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_starts = n_starts

    def embedding_on(self, space: Any) -> str:
        if not Solving.of(space).takes_curves:
            raise ValueError(
                f"KernelLoss has no way to search {type(space).__name__}; give "
                "loss=Listed(KernelLoss(...)), which predicts training outputs or candidates."
            )
        return self.embedding

    def bind(self, space: Any) -> Self:
        self._check()
        if Coordinates.of(space).one_class:
            raise ValueError(
                f"KernelLoss compares rows of numbers; {type(space).__name__} has none."
            )
        bound = copy.copy(self)
        bound.gamma_ = self.gamma
        if self.gamma is None and self.kernel in SCALED:
            bound.gamma_ = 1.0 / _spread(space)
        return bound

    def _check(self) -> None:
        if isinstance(self.kernel, str) and self.kernel not in KERNELS:
            raise ValueError(
                f"KernelLoss: the kernel {self.kernel!r} is not one of {', '.join(KERNELS)}; "
                "any other that is positive definite may be given as a callable (A, B)."
            )
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            raise ValueError(f"A kernel is a name or a callable; got {self.kernel!r}.")
        if self.gamma is not None and not (np.isfinite(self.gamma) and self.gamma > 0):
            raise ValueError(f"KernelLoss: gamma must be positive; got {self.gamma!r}.")
        if self.kernel in ("poly", "polynomial") and not (
            self.coef0 >= 0 and self.degree >= 1 and self.degree == int(self.degree)
        ):
            raise ValueError(
                "KernelLoss: a polynomial kernel has a whole degree from 1 on and coef0 >= 0; got "
                f"degree {self.degree!r} and coef0 {self.coef0!r}."
            )

    @property
    def width(self) -> Any:
        """The gamma in use: given, or learned by ``bind``."""
        gamma = getattr(self, "gamma_", self.gamma)
        if gamma is None and self.kernel in SCALED:
            raise ValueError("KernelLoss: give gamma, or call bind(space) to learn it.")
        return gamma

    # ------------------------------------------------------------- the kernel
    def matrix(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """h of all pairs; shape (n_a, n_b)."""
        if self.kernel == "rbf":
            centre = B.mean(axis=0)
            return gaussian_sums(1.0, B - centre, A - centre, self.width)
        if callable(self.kernel):
            K = np.asarray(self.kernel(A, B), dtype=np.float64)
            if K.shape != (len(A), len(B)) or not np.isfinite(K).all():
                raise ValueError(
                    f"The kernel of {len(A)} and {len(B)} rows is an array of that shape of finite "
                    f"numbers; got shape {K.shape}."
                )
            return K
        from sklearn.metrics.pairwise import pairwise_kernels

        settings = {"gamma": self.width, "degree": self.degree, "coef0": self.coef0}
        return pairwise_kernels(A, B, metric=self.kernel, filter_params=True, **settings)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> Any:
        """h of rows with rows; shape (n,)."""
        if self.kernel == "rbf":
            return np.exp(-self.width * ((A - B) ** 2).sum(axis=1))
        if self.kernel == "laplacian":
            return np.exp(-self.width * np.abs(A - B).sum(axis=1))
        if isinstance(self.kernel, str):
            inner = (A * B).sum(axis=1)
            if self.kernel == "cosine":
                lengths = np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1)
                return np.divide(inner, lengths, out=np.zeros(len(A)), where=lengths > 0)
            linear = self.kernel == "linear"
            return inner if linear else (self.width * inner + self.coef0) ** self.degree
        step = 32  # squares of this size are computed for their diagonals
        blocks = [slice(start, start + step) for start in range(0, len(A), step)]
        diagonals = [self.matrix(A[i], B[i]).diagonal() for i in blocks]
        return np.concatenate(diagonals or [np.zeros(0)])

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        """h(z, z) of rows; shape (n,)."""
        return np.ones(len(A)) if self.kernel in UNIT else self._paired(A, A)

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        self._check()
        Y_pred, Y_true = matched_quantities(Y_pred, Y_true)
        squares = self.diagonal(Y_pred) + self.diagonal(Y_true)
        return np.maximum(squares - 2.0 * self._paired(Y_pred, Y_true), 0.0)

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        self._check()
        P, Q = np.asarray(Y_pred, dtype=np.float64), np.asarray(Y_true, dtype=np.float64)
        P, Q = P.reshape(len(P), -1), Q.reshape(len(Q), -1)
        squares = self.diagonal(P)[:, None] + self.diagonal(Q)
        return np.maximum(squares - 2.0 * self.matrix(P, Q), 0.0)

    # ------------------------------------------------------------- decisions
    def minimize(
        self, weights: np.ndarray, outputs: np.ndarray, space: Any, certify: bool = True
    ) -> Decoded:
        """Outputs of least risk sum_i w_i loss(z, y_i); weights (B, n) of any sign.

        The effort for good bounds may take most of the time: ``certify`` says whether to make it.
        """
        W, Y = np.asarray(weights, dtype=np.float64), np.asarray(outputs, dtype=np.float64)
        if self.kernel == "linear":
            return _as_squared(W, Y, space)
        if self.kernel == "rbf" and Y.shape[1] == 1 and _has_constraints(space):
            return space.minimize(self.curves(W, Y))
        return PreImages(self, W, Y, space).best(certify)

    def curves(self, weights: np.ndarray, outputs: np.ndarray) -> Any:
        """The risk as a function of one number, for a Gaussian kernel."""
        from skstruct.spaces.solvers.curves.global_search import SmoothCurves

        gamma = self.width

        def rho(t: np.ndarray, y: Any) -> Any:
            return -2.0 * np.expm1(-gamma * (t - y) ** 2)

        def slope(t: np.ndarray, y: Any) -> Any:
            return 4.0 * gamma * (t - y) * np.exp(-gamma * (t - y) ** 2)

        def curvature_range(
            low: np.ndarray, high: np.ndarray, y: Any
        ) -> tuple[np.ndarray, np.ndarray]:
            # 4 gamma (1 - 2 v) exp(-v), v = gamma r^2: down to v = 3/2, then up towards zero.
            ends = [gamma * (low - y) ** 2, gamma * (high - y) ** 2]
            first = np.where((low <= y) & (y <= high), 0.0, np.minimum(*ends))
            last = np.maximum(*ends)
            lowest = np.where(
                (first <= 1.5) & (last >= 1.5), 1.5, np.where(last < 1.5, last, first)
            )
            at = [4.0 * gamma * (1.0 - 2.0 * v) * np.exp(-v) for v in (first, last, lowest)]
            return at[2], np.maximum(at[0], at[1])

        def region(y: Any) -> tuple[float, float, float]:
            return y.min(), y.max(), gamma**-0.5

        return SmoothCurves(weights, outputs, rho, slope, curvature_range, region=region)


class _EffortOfKernelLoss(Effort):
    __slots__ = ()

    def decide(self, weights: np.ndarray, outputs: np.ndarray, space: Any) -> Decoded:
        return self.loss.minimize(weights, outputs, space, certify=False)


Effort.at(KernelLoss, _EffortOfKernelLoss)


def _spread(space: Any) -> float:
    """Mean squared distance of the training outputs from their mean; 1 if they are all one."""
    variances = [Coordinates.of(part).variances() for part in (whole_of(space), space)]
    variance = next((found for found in variances if found is not None), None)
    if variance is None:
        raise ValueError(
            f"KernelLoss: {type(whole_of(space)).__name__} knows no spread of its outputs; "
            "give gamma."
        )
    total = float(np.sum(variance))
    return total if total > 0 else 1.0


def _has_constraints(space: Any) -> bool:
    """Whether sums over coordinates are minimized over the space, and it is bounded."""
    constraints = constraints_of(space)
    ends = [getattr(constraints, side, 0.0) for side in ("low", "high")]
    return Solving.of(space).separable and all(np.isfinite(end).all() for end in ends)


def _as_squared(W: np.ndarray, Y: Any, space: Any) -> Decoded:
    """h(z, y) = <z, y>: the squared distance."""
    view = Embeddings.of(space).view("squares")
    g, total, squared = W @ view.embed(Y), W.sum(axis=1, keepdims=True), Squared()
    decoded, offset = view.argmin(squared.cost(g, total)), squared.offset(g, total)
    return Decoded(decoded.outputs, decoded.values + offset, decoded.bounds + offset)
