# SPDX-License-Identifier: BSD-3-Clause
"""Compiled passes over chains that share one matrix of transitions, and over sparse features."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.sequence_sets.chains._numba_forward_backward import FACTOR, LEAST, PRODUCTS

FARTHEST = -np.log(FACTOR)  # below the largest score of a position


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS, error_model="numpy")
def token_scores(bounds, columns, values, weights, scores):
    """scores[t, y] += sum over features j of x[t, j] weights[j, y], four features at a time."""
    q = scores.shape[1]
    for t in range(scores.shape[0]):
        here, last = scores[t], bounds[t + 1]
        for k in range(bounds[t], last - 3, 4):
            a, b, c, d = values[k], values[k + 1], values[k + 2], values[k + 3]
            of_a, of_b = weights[columns[k]], weights[columns[k + 1]]
            of_c, of_d = weights[columns[k + 2]], weights[columns[k + 3]]
            for y in range(q):
                here[y] += a * of_a[y] + b * of_b[y] + c * of_c[y] + d * of_d[y]
        for k in range(last - (last - bounds[t]) % 4, last):
            a, of_a = values[k], weights[columns[k]]
            for y in range(q):
                here[y] += a * of_a[y]


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS, error_model="numpy")
def pull_back(bounds, columns, values, residuals, gradient):
    """gradient[j, y] += sum over tokens t of x[t, j] residuals[t, y]."""
    q = gradient.shape[1]
    for t in range(residuals.shape[0]):
        here = residuals[t]
        for k in range(bounds[t], bounds[t + 1]):
            a, row = values[k], gradient[columns[k]]
            for y in range(q):
                row[y] += a * here[y]


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS, error_model="numpy")
def shift_rows(scores, tops, safe):
    """Subtract the largest of every row; whether no other is so far below that it may vanish."""
    q = scores.shape[1]
    for t in range(scores.shape[0]):
        here = scores[t]
        top = low = here[0]
        for y in range(1, q):
            top, low = max(top, here[y]), min(low, here[y])
        for y in range(q):
            here[y] -= top
        tops[t], safe[t] = top, top - low < FARTHEST


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS, error_model="numpy")
def _mixed(shares, matrix, out):
    """out[y] = sum over z of shares[z] matrix[z, y], four z at a time."""
    q = shares.shape[0]
    for y in range(q):
        out[y] = 0.0
    for z in range(0, q - 3, 4):
        a, b, c, d = shares[z], shares[z + 1], shares[z + 2], shares[z + 3]
        to_a, to_b, to_c, to_d = matrix[z], matrix[z + 1], matrix[z + 2], matrix[z + 3]
        for y in range(q):
            out[y] += a * to_a[y] + b * to_b[y] + c * to_c[y] + d * to_d[y]
    for z in range(q - q % 4, q):
        a, to_a = shares[z], matrix[z]
        for y in range(q):
            out[y] += a * to_a[y]


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS, error_model="numpy")
def forward(factors, starts, matrix, sums, totals, safe):
    """Sums over the beginnings of all chains, every position's divided by their total.

    Parameters
    ----------
    factors : array of shape (N, q)
        Exponential scores of symbols, relative to the largest of their position.
    starts : int array of shape (n + 1,)
    matrix : array of shape (q, q)
        Exponential scores of transitions, relative to the largest.
    sums, totals : arrays of shape (N, q) and (N,)
        Are filled; what a position's sums were divided by are its totals.
    safe : bool array of shape (N,)
        Becomes false where a sum is so small next to others that what follows may vanish.
    """
    q = factors.shape[1]
    for i in range(starts.shape[0] - 1):
        for t in range(starts[i], starts[i + 1]):
            here, factor = sums[t], factors[t]
            if t > starts[i]:
                _mixed(sums[t - 1], matrix, here)
            else:
                for y in range(q):
                    here[y] = 1.0
            total, low = 0.0, np.inf
            for y in range(q):
                here[y] *= factor[y]
                total += here[y]
                low = min(low, here[y])
            by = 1.0 / total
            for y in range(q):
                here[y] *= by
            totals[t] = total
            safe[t] &= low >= LEAST * total


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS, error_model="numpy")
def backward(factors, starts, symbols, weight, back, sums, totals, ahead):
    """weight * (marginals - truth) in the place of the factors, from ends of chains to beginnings.

    A step from z to y into position t has the probability sums[t - 1, z] matrix[z, y] ahead[t, y],
    but for the weight of the chain; ``ahead`` is zero at first positions.

    Parameters
    ----------
    symbols, weight : int array of shape (N,), the truth; array of shape (n,), of the chains
    back : array of shape (q, q), the matrix transposed
    ahead : array of shape (N, q), is filled
    """
    q = factors.shape[1]
    behind = np.empty(q)  # what comes behind a position, by its symbol: nothing behind the last
    for i in range(starts.shape[0] - 1):
        for y in range(q):
            behind[y] = weight[i]
        for t in range(starts[i + 1] - 1, starts[i] - 1, -1):
            here, into, before = factors[t], ahead[t], sums[t]
            by = 0.0 if t == starts[i] else 1.0 / totals[t]
            for y in range(q):
                into[y] = behind[y] * here[y] * by
                here[y] = before[y] * behind[y]
            here[symbols[t]] -= weight[i]
            if t > starts[i]:
                _mixed(into, back, behind)
