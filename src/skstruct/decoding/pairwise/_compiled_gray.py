# SPDX-License-Identifier: BSD-3-Clause
"""Compiled enumeration by Gray code: every next set of labels differs in one label."""

from __future__ import annotations

import numba as nb
import numpy as np

WIDTH = 16  # rows side by side: all of them go through the same sets


@nb.njit(cache=True, nogil=True)
def _lay_out(costs, first, last, edges, square):
    """Edge costs of rows first..last as symmetric matrices, side by side."""
    for e in range(edges.shape[0]):
        i, j = edges[e]
        for b in range(last - first):
            w = costs[first + b, e]
            square[i, j * WIDTH + b] = square[j, i * WIDTH + b] = w


@nb.njit(cache=True, nogil=True)
def _walk(gain, square, value, best, code):
    """All sets of labels in turn: the least values and which sets have them.

    `gain` holds, label by label, what each costs next to those that are in now; a step
    changes one label and so the gains of its neighbors. The last label needs no steps: it
    is in where its gain is below zero. Of sets of the same value the one of the smallest
    code wins, so that at the highest label in which two differ the one without it does.
    """
    n = square.shape[0]
    last = (n - 1) * WIDTH
    for b in range(WIDTH):
        value[b] = 0.0
        best[b] = min(gain[last + b], 0.0)
        code[b] = (gain[last + b] < 0.0) << (n - 1)
    for step in range(1, 1 << (n - 1)):
        i = 0
        while (step >> i) & 1 == 0:
            i += 1
        now = step ^ (step >> 1)
        sign = 1.0 if (now >> i) & 1 else -1.0
        for b in range(WIDTH):
            value[b] += sign * gain[i * WIDTH + b]
        for k in range(n * WIDTH):
            gain[k] += sign * square[i, k]
        for b in range(WIDTH):
            reached = value[b] + min(gain[last + b], 0.0)
            found = now | ((gain[last + b] < 0.0) << (n - 1))
            first = (reached < best[b]) | ((reached == best[b]) & (found < code[b]))
            code[b] = found if first else code[b]
            best[b] = min(reached, best[b])


@nb.njit(cache=True, nogil=True)
def best_sets(node_costs, edge_costs, edges):
    """Cheapest labels of every row, by trying all of them."""
    rows, n = node_costs.shape
    shared = edge_costs.shape[0] == 1
    outputs = np.empty((rows, n), np.int8)
    gain, square = np.zeros(n * WIDTH), np.zeros((n, n * WIDTH))
    value, best, code = np.empty(WIDTH), np.empty(WIDTH), np.empty(WIDTH, np.int64)
    if shared:
        for b in range(WIDTH):
            _lay_out(edge_costs, 0, 1, edges, square[:, b:])
    for first in range(0, rows, WIDTH):
        last = min(first + WIDTH, rows)
        if not shared:
            _lay_out(edge_costs, first, last, edges, square)
        for i in range(n):
            for b in range(last - first):
                gain[i * WIDTH + b] = node_costs[first + b, i]
        _walk(gain, square, value, best, code)
        for row in range(first, last):
            for i in range(n):
                outputs[row, i] = (code[row - first] >> i) & 1
    return outputs
