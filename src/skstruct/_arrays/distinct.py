# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that occur several times."""

from __future__ import annotations

import numpy as np


def distinct(outputs) -> tuple[np.ndarray, np.ndarray]:
    """First row of each distinct output in order of appearance, and the number of each row's.

    >>> distinct([[3, 1], [0, 2], [3, 1]])
    (array([0, 1]), array([0, 1, 0]))
    """
    rows = np.asarray(outputs).reshape(len(outputs), -1)
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number.reshape(-1)]
