# SPDX-License-Identifier: BSD-3-Clause
"""Compiled enumeration by Gray code, cores that roof duality leaves open, local improvement."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import TIE

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
    """Minimum-cost labels of every row, by trying all of them."""
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


@nb.njit(cache=True, nogil=True)
def core_costs(node_costs, edge_costs, halves, k, start, other, edge):
    """Costs of the k labels that are one half in every row, the others being as they are.

    Returns which labels they are (rows, k), their costs (rows, k), and those of all their
    pairs (rows, k (k - 1) / 2), in the order (0, 1), (0, 2), ..., (1, 2), ...
    """
    rows, n = node_costs.shape
    shared = edge_costs.shape[0] == 1
    core = np.empty((rows, k), np.int64)
    nodes, pairs = np.empty((rows, k)), np.zeros((rows, k * (k - 1) // 2))
    position = np.empty(n, np.int64)
    for row in range(rows):
        count = 0
        for i in range(n):
            if halves[row, i] == 0.5:
                core[row, count], position[i] = i, count
                count += 1
        for c in range(k):
            i = core[row, c]
            nodes[row, c] = node_costs[row, i]
            for p in range(start[i], start[i + 1]):
                j, w = other[p], edge_costs[0 if shared else row, edge[p]]
                if halves[row, j] == 1.0:
                    nodes[row, c] += w
                elif halves[row, j] == 0.5 and position[j] > c:
                    pairs[row, c * k - c * (c + 1) // 2 + position[j] - c - 1] = w
    return core, nodes, pairs


@nb.njit(cache=True, nogil=True)
def _flip(i, w, start, other, edge, output, change):
    """Turn label i over, and correct what turning its neighbors would change."""
    turned = 1.0 - 2.0 * output[i]
    for p in range(start[i], start[i + 1]):
        j = other[p]
        change[j] += turned * (1.0 - 2.0 * output[j]) * w[edge[p]]
    change[i] = -change[i]
    output[i] = 1 - output[i]


@nb.njit(cache=True, nogil=True)
def _best_single(change, open_, least):
    best = -1
    for i in range(change.shape[0]):
        if open_[i] and change[i] < least:
            best, least = i, change[i]
    return best


@nb.njit(cache=True, nogil=True)
def _best_pair(change, open_, w, edges, output, least):
    best = -1
    for e in range(edges.shape[0]):
        i, j = edges[e]
        if open_[i] and open_[j]:
            joint = w[e] * (1.0 - 2.0 * output[i]) * (1.0 - 2.0 * output[j])
            if change[i] + change[j] + joint < least:
                best, least = e, change[i] + change[j] + joint
    return best


@nb.njit(cache=True, nogil=True)
def descend(node_costs, edge_costs, edges, start, other, edge, open_, outputs):
    """Turn open labels over, one or two neighbors at a time, while that helps; in place."""
    rows, n = node_costs.shape
    shared = edge_costs.shape[0] == 1
    change = np.empty(n)
    for row in range(rows):
        w, output = edge_costs[0 if shared else row], outputs[row]
        size = 0.0
        for i in range(n):
            change[i] = node_costs[row, i]
            for p in range(start[i], start[i + 1]):
                change[i] += w[edge[p]] * output[other[p]]
                size = max(size, abs(w[edge[p]]))
            size = max(size, abs(node_costs[row, i]))
            if output[i]:
                change[i] = -change[i]
        least = -TIE * size  # rounding alone is no reason to turn: it could go on forever
        while True:
            i = _best_single(change, open_[row], least)
            if i >= 0:
                _flip(i, w, start, other, edge, output, change)
                continue
            e = _best_pair(change, open_[row], w, edges, output, least)
            if e < 0:
                break
            _flip(edges[e, 0], w, start, other, edge, output, change)
            _flip(edges[e, 1], w, start, other, edge, output, change)
