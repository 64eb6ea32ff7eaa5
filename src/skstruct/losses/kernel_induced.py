# SPDX-License-Identifier: BSD-3-Clause
"""Distances in the feature space of a kernel between outputs."""

from __future__ import annotations

import copy

import numpy as np

from skstruct.decoding.preimages.climbing import gaussian_sums
from skstruct.losses.base import BaseLoss, matched_quantities
from skstruct.losses.preimage_search import UNIT, PreImages
from skstruct.losses.squared import Squared
from skstruct.spaces.base import Decoded

KERNELS = ("rbf", "laplacian", "linear", "poly", "polynomial", "cosine")
SCALED = ("rbf", "laplacian", "poly", "polynomial")  # those with a gamma


class KernelLoss(BaseLoss):
    r"""Squared distance between the features of a kernel h [1]_.

    .. math:: \ell(z, y) = h(z, z) - 2 h(z, y) + h(y, y)

    With a Gaussian kernel this is :math:`2 (1 - e^{-\gamma |z - y|^2})`: what is far off
    costs 2, however far. Minimizing the estimated risk is then kernel dependency
    estimation, and the search for its minimum the pre-image problem [2]_:

    - one coordinate between limits, Gaussian kernel: global search with certificate;
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

    def __init__(self, kernel="rbf", gamma=None, *, degree=3, coef0=1, n_starts=5):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_starts = n_starts

    def embedding_on(self, space):
        if not hasattr(space, "minimize"):
            raise ValueError(
                f"KernelLoss has no way to search {type(space).__name__}; give "
                "loss=Listed(KernelLoss(...)), which predicts training outputs or candidates."
            )
        return self.embedding

    def bind(self, space):
        self._check()
        if np.ndim(getattr(space, "listed_", [[0.0]])) == 1:
            raise ValueError(
                f"KernelLoss compares rows of numbers; {type(space).__name__} has none."
            )
        bound = copy.copy(self)
        bound.gamma_ = self.gamma
        if self.gamma is None and self.kernel in SCALED:
            bound.gamma_ = 1.0 / _spread(space)
        return bound

    def _check(self):
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
    def width(self):
        """The gamma in use: given, or learned by ``bind``."""
        gamma = getattr(self, "gamma_", self.gamma)
        if gamma is None and self.kernel in SCALED:
            raise ValueError("KernelLoss: give gamma, or call bind(space) to learn it.")
        return gamma

    # ------------------------------------------------------------- the kernel
    def matrix(self, A, B):
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

    def _paired(self, A, B):
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
        return np.concatenate([self.matrix(A[i], B[i]).diagonal() for i in blocks] or [[]])

    def diagonal(self, A):
        """h(z, z) of rows; shape (n,)."""
        return np.ones(len(A)) if self.kernel in UNIT else self._paired(A, A)

    def __call__(self, Y_pred, Y_true):
        self._check()
        Y_pred, Y_true = matched_quantities(Y_pred, Y_true)
        squares = self.diagonal(Y_pred) + self.diagonal(Y_true)
        return np.maximum(squares - 2.0 * self._paired(Y_pred, Y_true), 0.0)

    def pairwise(self, Y_pred, Y_true):
        self._check()
        P, Q = np.asarray(Y_pred, dtype=np.float64), np.asarray(Y_true, dtype=np.float64)
        P, Q = P.reshape(len(P), -1), Q.reshape(len(Q), -1)
        squares = self.diagonal(P)[:, None] + self.diagonal(Q)
        return np.maximum(squares - 2.0 * self.matrix(P, Q), 0.0)

    # ------------------------------------------------------------- decisions
    def minimize(self, weights, outputs, space) -> Decoded:
        """Outputs of least risk sum_i w_i loss(z, y_i); weights (B, n) of any sign."""
        return self.search(weights, outputs, space, certify=True)

    def search(self, weights, outputs, space, certify=False) -> Decoded:
        """The same without the effort for good bounds, which may take most of the time."""
        W, Y = np.asarray(weights, dtype=np.float64), np.asarray(outputs, dtype=np.float64)
        if self.kernel == "linear":
            return _as_squared(W, Y, space)
        if self.kernel == "rbf" and Y.shape[1] == 1 and _has_limits(space):
            return space.minimize(self.curves(W, Y))
        return PreImages(self, W, Y, space).best(certify)

    def curves(self, weights, outputs):
        """The risk as a function of one number, for a Gaussian kernel."""
        from skstruct.decoding.curves.global_search import SmoothCurves

        gamma = self.width

        def rho(t, y):
            return -2.0 * np.expm1(-gamma * (t - y) ** 2)

        def slope(t, y):
            return 4.0 * gamma * (t - y) * np.exp(-gamma * (t - y) ** 2)

        def curvature_range(low, high, y):
            # 4 gamma (1 - 2 v) exp(-v), v = gamma r^2: down to v = 3/2, then up towards zero.
            ends = [gamma * (low - y) ** 2, gamma * (high - y) ** 2]
            first = np.where((low <= y) & (y <= high), 0.0, np.minimum(*ends))
            last = np.maximum(*ends)
            lowest = np.where(
                (first <= 1.5) & (last >= 1.5), 1.5, np.where(last < 1.5, last, first)
            )
            at = [4.0 * gamma * (1.0 - 2.0 * v) * np.exp(-v) for v in (first, last, lowest)]
            return at[2], np.maximum(at[0], at[1])

        def region(y):
            return y.min(), y.max(), gamma**-0.5

        return SmoothCurves(weights, outputs, rho, slope, curvature_range, region=region)


def _spread(space) -> float:
    """Mean squared distance of the training outputs from their mean; 1 if they are all one."""
    whole = getattr(space, "space", space)  # what a view is a view of
    variance = getattr(whole, "variance_", None)
    if variance is None:
        listed = np.asarray(getattr(space, "listed_", np.zeros(0)), dtype=np.float64)
        if listed.ndim != 2:
            raise ValueError(
                f"KernelLoss: {type(whole).__name__} knows no spread of its outputs; give gamma."
            )
        variance = listed.var(axis=0)
    total = float(np.sum(variance))
    return total if total > 0 else 1.0


def _has_limits(space) -> bool:
    """Whether sums over coordinates are minimized over the space, and it is bounded."""
    limits = getattr(space, "limits_", None)
    ends = [getattr(limits, side, 0.0) for side in ("low", "high")]
    return getattr(space, "separable", True) and all(np.isfinite(end).all() for end in ends)


def _as_squared(W, Y, space):
    """h(z, y) = <z, y>: the squared distance."""
    view = space.with_embedding("squares")
    g, total, squared = W @ view.embed(Y), W.sum(axis=1, keepdims=True), Squared()
    decoded, offset = view.argmin(squared.cost(g, total)), squared.offset(g, total)
    return Decoded(decoded.outputs, decoded.values + offset, decoded.bounds + offset)
