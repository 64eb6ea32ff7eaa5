# SPDX-License-Identifier: BSD-3-Clause
"""Distances between rankings, and how they correlate, row by row."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.by_name import are_named, by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct.losses import Footrule, Kendall, Spearman
from skstruct.spaces.rankings.partial import average_ranks, is_total
from skstruct.spaces.solvers.linear_ordering import pair_blocks, pair_signs


def distance(A: ArrayLike, B: ArrayLike, metric: str = "kendall") -> Any:
    r"""Distance between rankings, row by row.

    Parameters
    ----------
    A, B : arrays of shape (d,) or (n, d)
        Ranks or any numbers where smaller is better; equal numbers are ties, NaN is an
        item that was not ranked. One row is compared with all.
    metric : str
        ``"kendall"`` pairs in the wrong order (a tie costs one half), ``"footrule"`` the
        sum of displacements, ``"spearman"`` the sum of their squares; of total orders
        also ``"hamming"`` items at a wrong position, ``"cayley"`` transpositions needed,
        and ``"ulam"`` moves of one item needed.

    Returns
    -------
    float or array of shape (n,)

    Examples
    --------
    >>> distance([1, 2, 3, 4], [2, 3, 4, 1], "kendall")
    3.0
    >>> distance([1, 2, 3, 4], [[2, 3, 4, 1], [1, 2, 4, 3]], "ulam")
    array([1., 1.])
    """
    A, B, single = _matched(A, B)
    partial = {"kendall": Kendall(), "footrule": Footrule(), "spearman": Spearman()}
    total = {"hamming": _hamming, "cayley": _cayley, "ulam": _ulam}
    if metric in partial:
        distances = partial[metric](average_ranks(A), average_ranks(B))
    elif metric in total:
        A, B = average_ranks(A), average_ranks(B)
        bad = np.flatnonzero(~(is_total(A) & is_total(B)))
        if len(bad):
            raise ValueError(
                f"The {metric} distance is one of total orders; row {bad[0]} is partial."
            )
        distances = total[metric](A.astype(int) - 1, B.astype(int) - 1)
    else:
        known = ", ".join([*partial, *total])
        raise ValueError(f"Unknown distance {metric!r}; known are {known}.")
    return float(distances[0]) if single else distances


def kendall_tau(A: ArrayLike, B: ArrayLike, variant: str = "b") -> Any:
    r"""Kendall's rank correlation, row by row, over pairs that both rank.

    .. math:: \tau_a = \frac{C - D}{n_0}, \quad
              \tau_b = \frac{C - D}{\sqrt{(n_0 - t_A)(n_0 - t_B)}}, \quad
              \gamma = \frac{C - D}{C + D}

    with C and D the numbers of concordant and discordant pairs, :math:`n_0` all pairs of
    items that both rows rank and :math:`t` those tied in one. NaN where the denominator is
    zero. Without ties all three agree.

    Parameters
    ----------
    A, B : arrays of shape (d,) or (n, d), as for :func:`distance`
    variant : "a", "b" or "gamma"

    Examples
    --------
    >>> kendall_tau([1, 2, 3, 4], [1, 2, 4, 3])
    0.6666666666666666
    """
    A, B, single = _matched(A, B)
    if variant not in ("a", "b", "gamma"):
        raise ValueError(f'variant is "a", "b" or "gamma"; got {variant!r}.')
    missing = np.isnan(A) | np.isnan(B)
    difference, size = np.empty(len(A)), np.empty(len(A))
    for rows in pair_blocks(*A.shape):
        a, b = (pair_signs(np.where(missing[rows], np.nan, Y[rows])) for Y in (A, B))
        difference[rows] = (a * b).sum(axis=1)
        if variant == "a":
            n = (~missing[rows]).sum(axis=1)
            size[rows] = n * (n - 1) / 2
        elif variant == "b":
            size[rows] = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
        else:
            size[rows] = np.abs(a * b).sum(axis=1)
    tau = np.divide(difference, size, out=np.full(len(A), np.nan), where=size > 0)
    return float(tau[0]) if single else tau


def spearman_rho(A: ArrayLike, B: ArrayLike) -> Any:
    """Spearman's rank correlation, row by row, over items that both rank; mean ranks for ties.

    NaN where all items are tied in one of the two.

    Examples
    --------
    >>> spearman_rho([1, 2, 3, 4], [1, 2, 4, 3])
    0.8
    """
    A, B, single = _matched(A, B)
    missing = np.isnan(A) | np.isnan(B)
    a, b = (average_ranks(np.where(missing, np.nan, Y)) for Y in (A, B))
    middle = ((~missing).sum(axis=1, keepdims=True) + 1) / 2
    a, b = np.nan_to_num(a - middle), np.nan_to_num(b - middle)
    size = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    rho = np.divide((a * b).sum(axis=1), size, out=np.full(len(a), np.nan), where=size > 0)
    return float(rho[0]) if single else rho


def _matched(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray, bool]:
    """Both as arrays (n, d), and whether both were a single row.

    Where both have names of items, in columns of frames or as a Series, B is matched by name.
    """
    A, B = in_memory(A), in_memory(B)
    if are_named(A) and are_named(B):
        items = list(A.columns if is_pandas(A, "DataFrame") else A.keys())
        A, B = (by_position(rows, items, what="a ranking", used_by="Rankings") for rows in (A, B))
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    single = A.ndim == B.ndim == 1
    A, B = np.atleast_2d(A), np.atleast_2d(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] != B.shape[1] or A.shape[1] == 0:
        raise ValueError(f"Rankings of the same items are compared; shapes {A.shape}, {B.shape}.")
    if len(A) != len(B) and 1 not in (len(A), len(B)):
        raise ValueError(f"{len(A)} rankings cannot be compared with {len(B)}, row by row.")
    A, B = np.broadcast_arrays(A, B)
    return A, B, single


def _hamming(A: np.ndarray, B: np.ndarray) -> Any:
    return (A != B).sum(axis=1).astype(np.float64)


def _cayley(A: np.ndarray, B: np.ndarray) -> Any:
    """d minus the number of cycles of the permutation that leads from one to the other."""
    step = np.take_along_axis(B, np.argsort(A, axis=1), axis=1)
    # The least element of the cycle of each position, by repeated doubling of the step.
    least = np.broadcast_to(np.arange(step.shape[1]), step.shape).copy()
    for _ in range(max(1, int(step.shape[1]).bit_length())):
        least = np.minimum(least, np.take_along_axis(least, step, axis=1))
        step = np.take_along_axis(step, step, axis=1)
    cycles = (least == np.arange(step.shape[1])).sum(axis=1)
    return (step.shape[1] - cycles).astype(np.float64)


def _ulam(A: np.ndarray, B: np.ndarray) -> Any:
    """d minus the longest common subsequence: patience sorting, all rows at once."""
    sequence = np.take_along_axis(B, np.argsort(A, axis=1), axis=1)
    n, d = sequence.shape
    tops = np.full((n, d), d)
    for t in range(d):
        card = sequence[:, t]
        pile = (tops < card[:, None]).sum(axis=1)
        tops[np.arange(n), pile] = card
    return (tops == d).sum(axis=1).astype(np.float64)
