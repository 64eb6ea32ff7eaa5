# SPDX-License-Identifier: BSD-3-Clause
"""Compiled copies, maxima and orders of small arrays, for kernels.

``target[:] = source`` within a kernel compiles the text of its error message with it, shapes
spelled out: four CPU seconds where a kernel is the first to need that, and ``np.argsort`` and
``np.where`` take two more. A loop takes a tenth of one.
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def assign(target, source):
    """target[:] = source, for as many entries as the target has, its first axis alone."""
    for i in range(len(target)):
        target[i] = source[i]


@nb.njit(cache=True, nogil=True)
def assign_rows(target, source):
    """target[:n] = source, for a source of n rows."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@nb.njit(cache=True, nogil=True)
def largest(values):
    """The largest of some values, minus infinity of none."""
    top = -np.inf
    for value in values:
        top = max(top, value)
    return top


@nb.njit(cache=True, nogil=True)
def count_up(target):
    """target[:] = 0, 1, 2, ..."""
    for i in range(len(target)):
        target[i] = i


@nb.njit(cache=True, nogil=True)
def stable_order(values, order):
    """Write into ``order`` the indices of ``values`` in rising order, equal ones as they come.

    Insertion where the step is 1: quick to compile, and linear in the number of inversions.
    """
    for i in range(len(values)):
        k = i
        while k > 0 and values[order[k - 1]] > values[i]:
            order[k] = order[k - 1]
            k -= 1
        order[k] = i
