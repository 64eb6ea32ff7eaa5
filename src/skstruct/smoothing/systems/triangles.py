# SPDX-License-Identifier: BSD-3-Clause
"""Columns of the inverse of a triangle, without the zeros above them."""

import numpy as np
from scipy.linalg import lapack

STEP = 256  # rows of a block


class InverseColumns:
    r"""Columns of :math:`L^{-1}` for a lower triangle L, block after block of rows.

    Column j is zero above row j, so that all n columns take :math:`n^3 / 3` operations, a third
    of what as many right-hand sides do; nothing of the size of L is copied.

    .. math:: H_p = L_{pp}^{-1} \bigl(E_p - \sum_{q < p} L_{pq} H_q\bigr)

    Parameters
    ----------
    L : array of shape (n, n), columns together
        Only what is on and below the diagonal counts.
    """

    def __init__(self, L: np.ndarray) -> None:
        self.L, trtri = L, lapack.strtri if L.dtype == np.float32 else lapack.dtrtri
        starts = range(0, len(L), STEP)
        corners = (np.tril(L[a : a + STEP, a : a + STEP]) for a in starts)
        self.corners = [trtri(np.asfortranarray(corner), lower=1)[0] for corner in corners]

    def of(self, rows: np.ndarray) -> tuple[int, np.ndarray]:
        """The columns of some rows; the first row that is not zero, and what is from there on."""
        n = len(self.L)
        first = int(rows.min()) // STEP * STEP
        H = np.zeros((n - first, len(rows)), dtype=self.L.dtype)
        H[rows - first, np.arange(len(rows))] = 1.0
        for start in range(first, n, STEP):
            here = slice(start - first, min(start + STEP, n) - first)
            if start > first:
                H[here] -= self.L[start : start + STEP, first:start] @ H[: here.start]
            H[here] = self.corners[start // STEP] @ H[here]
        return first, H
