# SPDX-License-Identifier: BSD-3-Clause
"""Few random combinations of many targets, by which choices cost less."""

import numpy as np

MANY, FEW = 60, 40  # more targets than these are looked at by so many combinations


def few_targets(targets: np.ndarray) -> np.ndarray:
    r"""Targets of shape (n, q) as they are, or :math:`T G / \sqrt{m}`, of shape (n, m), if q > 60.

    G is (q, m), standard normal, and m = 40. Squared distances of rows are the same on average
    over G (Johnson and Lindenstrauss), so penalties and splits of trees are chosen alike.

    >>> few_targets(np.eye(3)).shape, few_targets(np.eye(500)).shape
    ((3, 3), (500, 40))
    """
    if targets.ndim == 1 or targets.shape[1] <= MANY:
        return targets
    directions = np.random.default_rng(0).standard_normal((targets.shape[1], FEW))
    return targets @ directions / np.sqrt(FEW)
