# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between partial orders: pairs in common, signed pairs, positions, and the rankings that
both allow.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from skstruct.saving import savable
from skstruct.spaces.solvers.linear_ordering import close_transitively
from skstruct.tolerances import TABLE_DEFINITENESS, TABLE_SYMMETRY


def relations(Y: Any, name: str = "Y") -> np.ndarray:
    """Which item comes before which in every row; boolean of shape (n, d, d).

    Parameters
    ----------
    Y : array of shape (n, d) or (n, d, d)
        Ranks, where smaller is better, equal ranks are incomparable and NaN is incomparable
        with all; or relations, 1 where the first item comes before the second, which are
        transitively closed.
    name : str
        What error messages call ``Y``.

    Examples
    --------
    >>> relations([[1, 2, 2]]).astype(int)
    array([[[0, 1, 1],
            [0, 0, 0],
            [0, 0, 0]]])
    """
    Y = np.asarray(Y)
    if Y.ndim not in (2, 3) or 0 in Y.shape[1:] or (Y.ndim == 3 and Y.shape[1] != Y.shape[2]):
        raise ValueError(
            f"{name} has a row per order, of shape (n, d) for ranks or (n, d, d) for relations, "
            f"with at least one item; got shape {Y.shape}."
        )
    if Y.ndim == 3:
        return closures(_as_booleans(Y, name), name)
    ranks = np.ascontiguousarray(_as_ranks(Y, name))
    return ranks[:, :, None] < ranks[:, None, :]  # False wherever a NaN takes part


def relation_pair(A: Any, B: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Both arguments of a kernel as relations of the same items; twice the first without B."""
    A = relations(A, "A")
    if B is None:
        return A, A
    B = relations(B, "B")
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A orders {A.shape[1]} items and B {B.shape[1]}.")
    return A, B


def closures(R: np.ndarray, name: str = "Y") -> np.ndarray:
    """Transitive closures, if there is no cycle."""
    R = close_transitively(R)
    cyclic = np.argwhere(np.einsum("npp->np", R))
    if len(cyclic):
        row, item = cyclic[0]
        raise ValueError(f"{name}[{row}] is not a partial order: item {item} is before itself.")
    return R


def _as_ranks(Y: np.ndarray, name: str) -> np.ndarray:
    if Y.dtype == bool:
        raise ValueError(f"{name} is boolean of shape {Y.shape}; relations are (n, d, d).")
    if Y.dtype.kind not in "iuf":  # integers stay what they are: float64 would tie large ones
        try:
            Y = Y.astype(np.float64)  # None becomes NaN
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} holds ranks, numbers or NaN; {error}.") from None
    infinite = np.argwhere(np.isinf(Y))
    if len(infinite):
        row, item = infinite[0]
        raise ValueError(f"{name} holds finite ranks or NaN; {name}[{row}, {item}] is infinite.")
    return Y


def _as_booleans(Y: np.ndarray, name: str) -> np.ndarray:
    if Y.dtype == bool:
        return Y
    bad = np.argwhere((Y != 0) & (Y != 1))
    if len(bad):
        row, p, q = bad[0]
        raise ValueError(f"{name} holds 0 or 1; {name}[{row}, {p}, {q}] is {Y[row, p, q]}.")
    return Y.astype(bool)


@savable
class EdgeKernel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
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

    def __call__(self, A: Any, B: Any = None) -> Any:
        return product_of(*relation_pair(A, B))


@savable
class SignedEdgeKernel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
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

    def __call__(self, A: Any, B: Any = None) -> Any:
        A, B = relation_pair(A, B)
        signs = _signs(A)
        return product_of(signs, signs if B is A else _signs(B))


def _signs(R: np.ndarray) -> Any:
    p, q = np.triu_indices(R.shape[1], k=1)
    return R[:, p, q].astype(np.int8) - R[:, q, p]  # shape: (n, d(d-1)/2)


def product_of(A: np.ndarray, B: np.ndarray) -> Any:
    """Inner products of features -1, 0 and 1; integers, and exactly so."""
    features = math.prod(A.shape[1:])
    # float32 holds every integer up to 2^24, and multiplies twice as fast.
    dtype: type = np.float32 if features <= 2**24 else np.float64
    left: np.ndarray = A.reshape(len(A), features).astype(dtype)
    right = left if B is A else B.reshape(len(B), features).astype(dtype)
    return (left @ right.T).astype(np.float64)


@savable
class PositionKernel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
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

    def __init__(self, kappa: Any = "gaussian", *, gamma: float | None = None) -> None:
        self.kappa = kappa
        self.gamma = gamma

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
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
    if np.abs(table - table.T).max() > TABLE_SYMMETRY * scale:
        raise ValueError(f"PositionKernel: kappa is not symmetric on 0, ..., {d - 1}.")
    lowest = np.linalg.eigvalsh(table)[0]
    if lowest < -TABLE_DEFINITENESS * d * scale:
        raise ValueError(
            f"PositionKernel: kappa is not positive semidefinite on 0, ..., {d - 1}; its lowest "
            f"eigenvalue is {lowest:.3g}."
        )
    return table


@savable
class ExtensionKernel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
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

    def __init__(
        self,
        *,
        normalize: bool = False,
        max_down_sets: int = 2**20,
        n_samples: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.normalize = normalize
        self.max_down_sets = max_down_sets
        self.n_samples = n_samples
        self.random_state = random_state

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
        return self.estimate(A, B)[0]

    def estimate(
        self, A: Any, B: Any = None, *, log: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
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

    def _settings(self) -> tuple[int, int, Any]:
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

    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(over="ignore", invalid="ignore"):
            scale = np.exp(self.r)
            values, errors = self.c * scale, self.error * scale
        if not (np.isfinite(values).all() and np.isfinite(errors).all()):
            raise ValueError(
                "ExtensionKernel: a count is beyond the largest float; set normalize=True, or call "
                "estimate with log=True."
            )
        return values, errors

    def logarithms(self) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(divide="ignore"):
            return np.log(self.c) + self.r, self.relative_errors()

    def relative_errors(self) -> Any:
        return np.divide(self.error, self.c, out=np.zeros_like(self.c), where=self.c > 0)


def _count(
    A: np.ndarray,
    B: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    settings: tuple[int, int, Any],
) -> Counts:
    from skstruct.kernels._numba_extensions import count_pairs

    return Counts(*count_pairs(A, B, rows, columns, *settings))


def _mirrored(half: np.ndarray, rows: np.ndarray, columns: np.ndarray, n: int) -> np.ndarray:
    """The symmetric matrix of its values on and above the diagonal."""
    full = np.empty((n, n))
    full[rows, columns] = full[columns, rows] = half
    return full


def _normalized(
    counts: Counts, A: np.ndarray, B: np.ndarray, settings: tuple[int, int, Any]
) -> Counts:
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


def _alone(A: np.ndarray, settings: tuple[int, int, Any]) -> tuple[np.ndarray, np.ndarray]:
    each = np.arange(len(A))
    return _count(A, A, each, each, settings).logarithms()


def _equal(A: np.ndarray, B: np.ndarray) -> Any:
    """Which orders are the same: all pairs of each are common to both."""
    common = product_of(A, B)
    return (common == A.sum(axis=(1, 2))[:, None]) & (common == B.sum(axis=(1, 2)))
