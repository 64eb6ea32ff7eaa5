# SPDX-License-Identifier: BSD-3-Clause
"""Forests of edges for a network, and its weights on them."""

from __future__ import annotations

import heapq

import numpy as np

from skstruct.learners.margins.spanning import Pieces, n_nodes, spanning_forest


def train_on(dual, oracle, mask, *, tol=0.01, max_iter=1000, rng=None):
    """Train with the edges of a mask free and all others at zero; means stay where they were."""
    dual.penalise(l1=np.where(mask, 0.0, np.inf), shift=0.0)
    return dual.solve(oracle, tol, range(max_iter), rng)
