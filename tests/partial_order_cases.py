# SPDX-License-Identifier: BSD-3-Clause
"""All partial orders of a few items, by their definition."""

from functools import cache
from itertools import product

import numpy as np


@cache
def all_orders(n):
    """All sets of ordered pairs that are transitive and relate no two items both ways."""
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    rows = []
    for bits in product((0, 1), repeat=len(pairs)):
        before = {pair for pair, bit in zip(pairs, bits) if bit}
        if any((b, a) in before for a, b in before):
            continue
        if all((a, d) in before for a, b in before for c, d in before if b == c):
            rows.append(bits)
    return np.array(rows, dtype=np.int8)
