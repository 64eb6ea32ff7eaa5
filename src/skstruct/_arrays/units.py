# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as unit vectors."""

from __future__ import annotations

import numpy as np


def unit_vectors(numbers, d: int) -> np.ndarray:
    """The unit vector of each number, shape (..., d); no table of d x d is made.

    >>> unit_vectors([2, 0], 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    numbers = np.asarray(numbers)
    vectors = np.zeros((*numbers.shape, d))
    np.put_along_axis(vectors, numbers[..., None], 1.0, axis=-1)
    return vectors
