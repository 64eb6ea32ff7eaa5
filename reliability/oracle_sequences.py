# SPDX-License-Identifier: BSD-3-Clause
"""Oracles of sequences, strings and labels of several states, all listed."""

from itertools import pairwise, product

import numpy as np


def sequences(q, low, high):
    """All sequences of so many symbols 0, ..., q - 1."""
    return [z for length in range(low, high + 1) for z in product(range(q), repeat=length)]


def symbol_indicators(listed, q, longest):
    """1[z_t = a] at t q + a."""
    Z = np.zeros((len(listed), longest * q))
    for row, z in enumerate(listed):
        for t, a in enumerate(z):
            Z[row, t * q + a] = 1
    return Z


def bigram_indicators(listed, q, longest):
    """Those of symbols, then 1[z_t = a, z_t+1 = b] at T q + (t q + a) q + b."""
    Z = np.zeros((len(listed), (longest - 1) * q * q))
    for row, z in enumerate(listed):
        for t, (a, b) in enumerate(pairwise(z)):
            Z[row, (t * q + a) * q + b] = 1
    return np.hstack([symbol_indicators(listed, q, longest), Z])


def ngram_counts(listed, q, n):
    """How often each n-gram occurs, at the place of its symbols in base q."""
    Z = np.zeros((len(listed), q**n))
    for row, z in enumerate(listed):
        for t in range(len(z) - n + 1):
            Z[row, sum(a * q ** (n - 1 - i) for i, a in enumerate(z[t : t + n]))] += 1
    return Z


def knows(z, known):
    """Whether symbols are where they are known to be, which is then not beyond the end."""
    return all(t < len(z) and z[t] == a for t, a in known.items())


def avoids(z, forbidden):
    """Whether no forbidden pair occurs; None stands before the first and after the last."""
    steps = [*zip((None, *z), z), *([(z[-1], None)] if z else [])]
    return not any(step in forbidden for step in steps)


# A state for every label


def states(n, k):
    return list(product(range(k), repeat=n))


def state_indicators(listed, k, edges):
    """1[z_i = a] at i k + a, then 1[z_i = a, z_j = b] at n k + (e k + a) k + b."""
    n = len(listed[0])
    Z = np.zeros((len(listed), n * k + len(edges) * k * k))
    for row, z in enumerate(listed):
        for i, a in enumerate(z):
            Z[row, i * k + a] = 1
        for e, (i, j) in enumerate(edges):
            Z[row, n * k + (e * k + z[i]) * k + z[j]] = 1
    return Z
