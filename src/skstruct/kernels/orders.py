# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between partial orders: pairs in common, signed pairs, and positions."""

from __future__ import annotations

import math

import numpy as np
from sklearn.base import BaseEstimator

from skstruct.kernels.relations import relation_pair


class EdgeKernel(BaseEstimator):
    r"""Number of ordered pairs that two partial orders have in common.

    .. math:: k(p, p') = |p \cap p'|

    An order is the set of its pairs (better, worse), transitively closed. Two orders that
    contradict each other are as similar as two that speak of different items;
    :class:`SignedEdgeKernel` tells them apart.

    The rows of ``A`` and ``B`` are partial rankings, shape (n, d): the rank of every item,
    smaller is better, equal ranks are ties and NaN is an item that was not ranked. Both leave
    items incomparable. Or they are relations, boolean of shape (n, d, d), where ``[i, p, q]`` says
    that p comes before q; these are closed here, and may have no cycle.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.1.

    Examples
    --------
    >>> EdgeKernel()([[1, 2, 3], [3, 2, 1]], [[1, 2, float("nan")]])
    array([[1.],
           [0.]])
    """

    def __call__(self, A, B=None) -> np.ndarray:
        return product_of(*relation_pair(A, B))


class SignedEdgeKernel(BaseEstimator):
    r"""Pairs that two partial orders see alike, minus those they see the other way round.

    .. math:: k(p, p') = |p \cap p'| - |\bar p \cap p'|

    with :math:`\bar p` the dual, all pairs turned round. It is the inner product of features
    +1, -1 or 0 per unordered pair; for rankings without ties it is Kendall's tau times
    :math:`d(d-1)/2`. Inputs are those of :class:`EdgeKernel`.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.1, where
       the second term is printed with both orders turned round, which is zero.

    Examples
    --------
    >>> SignedEdgeKernel()([[1, 2, 3], [3, 2, 1]], [[1, 2, float("nan")]])
    array([[ 1.],
           [-1.]])
    """

    def __call__(self, A, B=None) -> np.ndarray:
        A, B = relation_pair(A, B)
        signs = _signs(A)
        return product_of(signs, signs if B is A else _signs(B))


def _signs(R: np.ndarray) -> np.ndarray:
    p, q = np.triu_indices(R.shape[1], k=1)
    return R[:, p, q].astype(np.int8) - R[:, q, p]  # shape: (n, d(d-1)/2)


def product_of(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Inner products of features -1, 0 and 1; integers, and exactly so."""
    features = math.prod(A.shape[1:])
    # float32 holds every integer up to 2^24, and multiplies twice as fast.
    dtype: type = np.float32 if features <= 2**24 else np.float64
    left: np.ndarray = A.reshape(len(A), features).astype(dtype)
    right = left if B is A else B.reshape(len(B), features).astype(dtype)
    return (left @ right.T).astype(np.float64)


class PositionKernel(BaseEstimator):
    r"""Items compared by how many others stand before them.

    .. math:: k(p, p') = \sum_u \kappa(\#\{v : v \succ u\}, \#\{v : v \succ' u\})

    It tells all rankings without ties apart, but not all partial orders. Inputs are those of
    :class:`EdgeKernel`; nothing stands before an item that is not ranked.

    Parameters
    ----------
    kappa : "gaussian", "linear", "delta" or callable (a, b) -> array
        Kernel on the numbers 0, ..., d - 1: :math:`e^{-\gamma (a-b)^2}`, :math:`ab`, or
        :math:`1[a = b]`. A callable gets arrays of shapes (d, 1) and (1, d), and must be
        symmetric and positive semidefinite.
    gamma : float, default=None
        Of the Gaussian. None is 1 over the variance of the numbers 0, ..., d - 1, that is
        :math:`12 / (d^2 - 1)`.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.1.

    Examples
    --------
    >>> PositionKernel("delta")([[1, 2, 3], [3, 2, 1]], [[1, 2, 3], [1, 1, 2]])
    array([[3., 2.],
           [1., 0.]])
    """

    def __init__(self, kappa="gaussian", *, gamma=None):
        self.kappa = kappa
        self.gamma = gamma

    def __call__(self, A, B=None) -> np.ndarray:
        A, B = relation_pair(A, B)
        table = self._table(A.shape[1])
        before_A = A.sum(axis=1)  # shape: (n_a, d)
        before_B = before_A if B is A else B.sum(axis=1)
        K, one_item = np.zeros((len(A), len(B))), np.empty((len(A), len(B)))
        for a, b in zip(before_A.T, before_B.T):
            # Whole rows are copied; indices are in range, so "clip" only saves a check.
            K += np.take(table[:, b], a, axis=0, out=one_item, mode="clip")
        return K

    def _table(self, d: int) -> np.ndarray:
        """kappa(a, b) for a, b < d."""
        a = np.arange(d, dtype=np.float64)[:, None]
        if callable(self.kappa):
            return _checked(np.asarray(self.kappa(a, a.T), dtype=np.float64), d)
        if self.kappa == "gaussian":
            gamma = 12.0 / max(d**2 - 1.0, 3.0) if self.gamma is None else self.gamma
            if not (np.isfinite(gamma) and gamma > 0):
                raise ValueError(f"PositionKernel: gamma must be positive; got {gamma!r}.")
            return np.exp(-gamma * (a - a.T) ** 2)
        if self.kappa == "linear":
            return a * a.T
        if self.kappa == "delta":
            return np.eye(d)
        raise ValueError(
            'PositionKernel: kappa is "gaussian", "linear", "delta" or a callable; got '
            f"{self.kappa!r}."
        )


def _checked(table: np.ndarray, d: int) -> np.ndarray:
    """The table of a user's kappa, if it is one of a kernel."""
    if table.shape != (d, d) or not np.isfinite(table).all():
        raise ValueError(
            f"PositionKernel: kappa of shapes ({d}, 1) and (1, {d}) is a finite array of shape "
            f"({d}, {d}); got shape {table.shape}."
        )
    scale = np.abs(table).max()
    if np.abs(table - table.T).max() > 1e-10 * scale:
        raise ValueError(f"PositionKernel: kappa is not symmetric on 0, ..., {d - 1}.")
    lowest = np.linalg.eigvalsh(table)[0]
    if lowest < -1e-10 * d * scale:
        raise ValueError(
            f"PositionKernel: kappa is not positive semidefinite on 0, ..., {d - 1}; its lowest "
            f"eigenvalue is {lowest:.3g}."
        )
    return table
