# SPDX-License-Identifier: BSD-3-Clause
"""Oracles of rankings, partial orders and tournaments, all listed."""

from itertools import permutations, product

import numpy as np
from oracle_edges import pairs


def orders(d):
    """All orders of d items, best first."""
    return list(permutations(range(d)))


def ranks(order):
    """The rank of every item, from 1."""
    return np.argsort(order) + 1.0


def rank_rows(listed):
    return np.array([ranks(order) for order in listed])


def position_indicators(listed):
    """1 where item j is k-th, at j d + k."""
    d = len(listed[0])
    Z = np.zeros((len(listed), d, d))
    for row, order in enumerate(listed):
        Z[row, order, range(d)] = 1
    return Z.reshape(len(listed), -1)


def pair_signs(listed):
    """+1 where p comes before q, -1 where it comes after, for p < q."""
    R = rank_rows(listed)
    return np.column_stack([np.sign(R[:, q] - R[:, p]) for p, q in pairs(R.shape[1])])


def with_open_end(listed, top, psi):
    """Beginnings of ``top`` items, and the mean of psi over the orders that begin so."""
    beginnings = sorted({order[:top] for order in listed})
    means = [psi[[order[:top] == first for order in listed]].mean(axis=0) for first in beginnings]
    return beginnings, np.array(means)


# Partial orders: relations without cycles in which what follows is there, too


def partial_orders(n):
    """Every strict partial order of n items: 0/1 over pairs (a, b), 1 where a is before b."""
    arcs = pairs(n, directed=True)
    found = []
    for states in product((0, 1, 2), repeat=n * (n - 1) // 2):
        before = np.zeros((n, n), bool)
        for (a, b), state in zip(pairs(n), states):
            before[a, b], before[b, a] = state == 1, state == 2
        if not ((before.astype(int) @ before.astype(int) > 0) & ~before).any():
            found.append([float(before[a, b]) for a, b in arcs])
    return np.array(found)


# Tournaments


def outcomes(n, partial):
    """A sign for each pair; 0 where it is open."""
    signs = (-1.0, 0.0, 1.0) if partial else (-1.0, 1.0)
    return np.array(list(product(signs, repeat=n * (n - 1) // 2)))


def sign_indicators(signs, order):
    """1[pair j has the k-th sign] at j S + k, for S signs in some order."""
    return (signs[:, :, None] == list(order)).reshape(len(signs), -1).astype(float)
