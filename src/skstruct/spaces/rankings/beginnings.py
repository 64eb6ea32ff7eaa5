# SPDX-License-Identifier: BSD-3-Clause
"""Lists that are read as saying nothing of items that they leave out, and may be beginnings."""

import warnings
from typing import Any

import numpy as np
from scipy import stats

LEVEL = 1e-3  # of the tests that all items, and all pairs of them, are listed equally often
FEWEST = 20  # rows that are tested
FEWEST_PAIRS = 5.0  # lists that name a pair, in the mean; of fewer, squares are no chi-squared


def warn_of_beginnings(Z: np.ndarray, used_by: str) -> None:
    """Warn where short lists do not name items as if these had been shown at random.

    Where items were drawn at random for people, who ordered them, all items and all pairs are
    listed equally often, whatever people prefer: then the tests of that are not rejected, and
    nothing is said. In the first few of whole rankings, items that win are listed more often, or,
    where who wins depends on the inputs, those that win together. Items may have been chosen in
    other ways, which lists alone do not tell apart from that: the warning says what to do in
    either case. Lists of two are mostly comparisons, whose pairs somebody chose: nothing is said
    of them unless items that are listed more often come first, too.

    Parameters
    ----------
    Z : array of shape (n, d)
        Ranks within the lists, NaN where an item is not listed.
    """
    listed = ~np.isnan(Z)
    lengths = listed.sum(axis=1)
    longest, d = int(lengths.max(initial=0)), Z.shape[1]
    if len(Z) < FEWEST or longest == d or longest == 0:
        return
    if longest == 1:
        said = "says nothing at all"
    elif _look_like_beginnings(Z, listed, longest):
        said = "forgets that these came before the others"
    else:
        return
    named = f"{longest}" if (lengths == longest).all() else f"at most {longest}"
    warnings.warn(
        f'{used_by}: every list names {named} of {d} items, and unlisted="unknown" {said}. If '
        'lists are the beginnings of rankings, say unlisted="last", which is the default. It is '
        "right where items were chosen before anybody ordered them, though not all equally often.",
        stacklevel=5,
    )


def _look_like_beginnings(Z: np.ndarray, listed: np.ndarray, longest: int) -> bool:
    if longest == 2:
        return _some_are_listed_more(listed) and _winners_are_listed(Z, listed)
    return _some_are_listed_more(listed) or _some_are_listed_together(listed)


def _some_are_listed_more(listed: np.ndarray) -> bool:
    """Whether some items are listed more often than sets drawn at random explain."""
    times, lengths = listed.sum(axis=0), listed.sum(axis=1)
    d = listed.shape[1]
    variance = (lengths * (d - lengths)).sum() / (d * (d - 1))
    return _too_large(((times - times.mean()) ** 2).sum(), variance, d - 1)


def _winners_are_listed(Z: np.ndarray, listed: np.ndarray) -> bool:
    """Whether items that are listed more often come before the others in lists."""
    lengths: Any = listed.sum(axis=1)
    behind = np.where(listed, lengths[:, None] - Z, 0.0).sum(axis=0)  # listed items it came before
    others = (listed * (lengths[:, None] - 1)).sum(axis=0)
    seen = others > 0
    found = stats.spearmanr(listed.sum(axis=0)[seen], behind[seen] / others[seen])
    return bool(found.statistic > 0)


def _some_are_listed_together(listed: np.ndarray) -> bool:
    """Whether some pairs are listed more often than the frequencies of their items explain.

    Of sets drawn uniformly among those of their sizes, deviations of the numbers of lists of each
    pair have one variance in all directions that no sum over the pairs of an item sees.
    """
    lengths: Any = listed.sum(axis=1).astype(np.float64)
    d = listed.shape[1]
    drawn = lengths * (lengths - 1) / (d * (d - 1))
    if d < 4 or drawn.sum() < FEWEST_PAIRS:
        return False
    X = listed.astype(np.float64)
    more = X.T @ X - drawn.sum()
    np.fill_diagonal(more, 0.0)
    of_items = more.sum(axis=1)
    of_items -= of_items.sum() / (2 * (d - 1))
    pairs = np.triu_indices(d, 1)
    left = (more - (of_items[:, None] + of_items) / (d - 2))[pairs]
    variance = (drawn * (d - lengths) * (d - lengths - 1)).sum() / ((d - 2) * (d - 3))
    return _too_large((left**2).sum(), variance, d * (d - 3) / 2)


def _too_large(squares: float, variance: float, degrees: float) -> bool:
    """Whether a sum of squares is larger than random sets explain."""
    return variance > 0 and bool(stats.chi2.sf(squares / variance, degrees) < LEVEL)
