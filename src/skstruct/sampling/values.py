# SPDX-License-Identifier: BSD-3-Clause
"""Scores of outputs, and the range that they can have."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.blocks import row_blocks


def values_of(space, outputs, scores, row) -> np.ndarray:
    """<scores[row(i)], psi(outputs[i])>; shape (len(outputs),)."""
    values = np.empty(len(outputs))
    for part in row_blocks(len(outputs), 24 * scores.shape[1], "100MB"):
        psi = space.embed(outputs[part])
        if len(scores) == 1:
            values[part] = np.asarray(psi @ scores[0]).ravel()
        elif sparse.issparse(psi):
            values[part] = np.asarray(psi.multiply(scores[row[part]]).sum(axis=1)).ravel()
        else:
            values[part] = np.einsum("nd,nd->n", psi, scores[row[part]])
    return values


def value_range(space, scores) -> tuple[np.ndarray, np.ndarray]:
    """Bounds low <= <u, psi(y)> <= high of all outputs y, by the space's decoder; (n,) each."""
    return space.argmin(scores).bounds, -space.argmin(-scores).bounds


def mean_of(embed, outputs) -> np.ndarray:
    """Mean of what ``embed`` makes of outputs (m, ...); shape (d,)."""
    sums = [
        np.asarray(embed(outputs[part]).sum(axis=0)).ravel()
        for part in row_blocks(len(outputs), 10**5, "100MB")
    ]
    return np.sum(sums, axis=0) / len(outputs)
