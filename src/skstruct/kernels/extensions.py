# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders compared by the rankings that both allow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from skstruct.kernels.orders import product_of
from skstruct.kernels.relations import relation_pair


class ExtensionKernel(BaseEstimator):
    r"""Number of rankings that extend both of two partial orders.

    .. math:: k(p, p') = |\ell(p) \cap \ell(p')| = |\ell(\overline{p \cup p'})|

    with :math:`\ell(p)` the linear extensions of p and the bar for the transitive closure;
    zero when the union has a cycle, even one through several pairs none of which contradict
    each other. Inputs are those of :class:`EdgeKernel`.

    Counting is hard in general (#P-complete). The items are first split into parts with no
    relation between them, and into parts of which one stands before the other; a ranking with
    ties and with items not ranked falls apart completely. What cannot be split, as in the
    union of two rankings, is counted by a dynamic program over its down-sets, the sets that
    hold with an item all those before it. With up to 62 items, counts below :math:`2^{53}` are
    exact; others are correct to about twelve digits.

    A part with too many down-sets is sampled: items are drawn one by one among those that may
    come next, and the product of the inverse probabilities is an unbiased estimate.
    :meth:`estimate` states its standard error, itself an estimate, and too small where it is
    not small against the value: few samples then carry most of the weight. A matrix with
    estimated entries need not be positive semidefinite.

    Parameters
    ----------
    normalize : bool, default=False
        Divide by :math:`\sqrt{k(p, p) k(p', p')}`.
    max_down_sets : int, default=2**20
        Parts with more down-sets, or with more than 63 items, are sampled. No order of 20 items
        has more than the default, which takes up to 60 MB, and a second for a pair that reaches it.
    n_samples : int, default=1000
        For each pair that is sampled.
    random_state : int or RandomState, default=None
        With an integer the kernel is a function: equal pairs of orders get equal estimates in
        every matrix.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", 2010, section 3.1.

    Examples
    --------
    >>> kernel = ExtensionKernel()
    >>> kernel([[1, 2, 2], [float("nan"), 2, 1]], [[1, 2, 3], [1, 1, 1]])
    array([[1., 2.],
           [0., 3.]])

    No pair contradicts another here, but the four make a cycle:

    >>> import numpy as np
    >>> A, B = np.zeros((2, 1, 4, 4), dtype=bool)
    >>> A[0, [1, 2], [0, 3]] = B[0, [0, 3], [2, 1]] = True
    >>> kernel(A, B)
    array([[0.]])
    """

    def __init__(self, *, normalize=False, max_down_sets=2**20, n_samples=1000, random_state=None):
        self.normalize = normalize
        self.max_down_sets = max_down_sets
        self.n_samples = n_samples
        self.random_state = random_state

    def __call__(self, A, B=None) -> np.ndarray:
        return self.estimate(A, B)[0]

    def estimate(self, A, B=None, *, log=False) -> tuple[np.ndarray, np.ndarray]:
        """Values and their standard errors, which are zero where the value is exact.

        With ``log`` logarithms of the values (minus infinity for zero) and errors relative to
        the values. The errors of normalized values take the three counts as independent.
        """
        A, B = relation_pair(A, B)
        settings = self._settings()
        if B is A:
            rows, columns = np.triu_indices(len(A))
            counts = _count(A, A, rows, columns, settings)
            counts = Counts(*(_mirrored(half, rows, columns, len(A)) for half in counts))
        else:
            rows, columns = np.indices((len(A), len(B))).reshape(2, -1)
            counts = _count(A, B, rows, columns, settings)
            counts = Counts(*(flat.reshape(len(A), len(B)) for flat in counts))
        if self.normalize:
            counts = _normalized(counts, A, B, settings)
        return counts.logarithms() if log else counts.numbers()

    def _settings(self):
        for name, least in [("max_down_sets", 1), ("n_samples", 2)]:
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < least:
                raise ValueError(
                    f"ExtensionKernel: {name} is an integer of at least {least}; got {value!r}."
                )
        seed = check_random_state(self.random_state).randint(2**63 - 1, dtype=np.int64)
        return int(self.max_down_sets), int(self.n_samples), np.uint64(seed)


class Counts(NamedTuple):
    """Numbers c e^r: c, the standard error of c, and r."""

    c: np.ndarray
    error: np.ndarray
    r: np.ndarray

    def numbers(self):
        with np.errstate(over="ignore", invalid="ignore"):
            scale = np.exp(self.r)
            values, errors = self.c * scale, self.error * scale
        if not (np.isfinite(values).all() and np.isfinite(errors).all()):
            raise ValueError(
                "ExtensionKernel: a count is beyond the largest float; set normalize=True, or call "
                "estimate with log=True."
            )
        return values, errors

    def logarithms(self):
        with np.errstate(divide="ignore"):
            return np.log(self.c) + self.r, self.relative_errors()

    def relative_errors(self):
        return np.divide(self.error, self.c, out=np.zeros_like(self.c), where=self.c > 0)


def _count(A, B, rows, columns, settings) -> Counts:
    from skstruct.kernels._compiled_extensions import count_pairs

    return Counts(*count_pairs(A, B, rows, columns, *settings))


def _mirrored(half: np.ndarray, rows, columns, n: int) -> np.ndarray:
    """The symmetric matrix of its values on and above the diagonal."""
    full = np.empty((n, n))
    full[rows, columns] = full[columns, rows] = half
    return full


def _normalized(counts: Counts, A, B, settings) -> Counts:
    """k(a, b) / sqrt(k(a, a) k(b, b)), and exactly one where a = b."""
    log_A, error_A = _alone(A, settings)
    log_B, error_B = (log_A, error_A) if B is A else _alone(B, settings)
    # The variance of a logarithm is about the squared relative error.
    spread = counts.relative_errors() ** 2 + (error_A[:, None] ** 2 + error_B**2) / 4
    same = _equal(A, B)
    return Counts(
        np.where(same, 1.0, counts.c),
        np.where(same, 0.0, counts.c * np.sqrt(spread)),
        np.where(same, 0.0, counts.r - (log_A[:, None] + log_B) / 2),
    )


def _alone(A: np.ndarray, settings):
    each = np.arange(len(A))
    return _count(A, A, each, each, settings).logarithms()


def _equal(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Which orders are the same: all pairs of each are common to both."""
    common = product_of(A, B)
    return (common == A.sum(axis=(1, 2))[:, None]) & (common == B.sum(axis=(1, 2)))
