# SPDX-License-Identifier: BSD-3-Clause
"""Cycles listed the slow, obvious way."""

from itertools import combinations, permutations, product

import numpy as np

KINDS = [(True, "signed pairs"), (True, "indicators"), (False, "indicators")]


def all_tours(n, directed):
    """Every cycle once, as places from the smallest on."""
    return [
        (places[0], *rest)
        for i in range(3, n + 1)
        for places in combinations(range(n), i)
        for rest in permutations(places[1:])
        if directed or rest[0] < rest[-1]
    ]


def steps(tour):
    return list(zip(tour, tour[1:] + tour[:1]))


def columns(n, directed):
    pairs = [(u, v) for u, v in product(range(n), repeat=2) if (u != v if directed else u < v)]
    number = {pair: j for j, pair in enumerate(pairs)}
    return number if directed else number | {(v, u): j for (u, v), j in number.items()}


def indicators(tours, n, directed):
    number = columns(n, directed)
    Z = np.zeros((len(tours), max(number.values()) + 1), np.int8)
    for i, tour in enumerate(tours):
        Z[i, [number[step] for step in steps(tour)]] = 1
    return Z
