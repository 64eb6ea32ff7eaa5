# SPDX-License-Identifier: BSD-3-Clause
"""One random stream per chain: what a chain does depends on no other chain, and no thread."""

from __future__ import annotations

import numpy as np


def new_streams(n: int, rng) -> np.ndarray:
    """States of ``n`` independent generators; uint64 of shape (n, 4).

    >>> new_streams(2, 0).shape
    (2, 4)
    """
    rng = np.random.default_rng(rng)
    return rng.integers(1, 2**64, size=(n, 4), dtype=np.uint64)
