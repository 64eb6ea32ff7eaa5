# SPDX-License-Identifier: BSD-3-Clause
"""Lists that are read as saying nothing of items that they leave out, and look like beginnings."""

import warnings
from typing import Any

import numpy as np
from scipy import stats

LEVEL = 1e-3  # of the test that all items are listed equally often
FEWEST = 20  # rows that are tested


def warn_of_beginnings(Z: np.ndarray, used_by: str) -> None:
    """Warn where lists of one length name some items far more often, and these come first in them.

    In the first few of whole rankings, items that win are listed more often. Where items were
    shown to people, who ordered them, each is mostly shown as often as any other: then a test of
    that is not rejected, and nothing is said.

    Parameters
    ----------
    Z : array of shape (n, d)
        Ranks within the lists, NaN where an item is not listed.
    """
    listed = ~np.isnan(Z)
    length = listed.sum(axis=1)
    k, d = int(length[0]), Z.shape[1]
    if len(Z) < FEWEST or (length != k).any() or k == d:
        return
    if k > 1 and not _winners_are_listed(Z, listed, k):
        return
    said = "says nothing at all" if k == 1 else "forgets that these came before the others"
    warnings.warn(
        f'{used_by}: every list names {k} of {d} items, and unlisted="unknown" {said}. If lists '
        'are the beginnings of rankings, say unlisted="last", which is the default.',
        stacklevel=5,
    )


def _winners_are_listed(Z: np.ndarray, listed: np.ndarray, k: int) -> bool:
    times: Any = listed.sum(axis=0)
    seen = times > 0
    if stats.chisquare(times).pvalue >= LEVEL:
        return False
    behind = np.where(listed, k - Z, 0.0).sum(axis=0)  # how many listed items it came before
    found = stats.spearmanr(times[seen], behind[seen] / (times[seen] * (k - 1)))
    return bool(found.statistic > 0)
