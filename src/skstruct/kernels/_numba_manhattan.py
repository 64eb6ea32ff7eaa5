# SPDX-License-Identifier: BSD-3-Clause
"""Compiled Manhattan distances between sparse rows, by the features that both rows have."""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def distances(values, features, row_starts, columns, owners, column_starts, n_columns):
    """|a - b|_1 for rows a of a CSR matrix and b, whose matrix comes by features (CSC).

    Where one of both is zero, |a_j - b_j| = |a_j| + |b_j|: so distances are the sum of both norms,
    corrected at common features. Sums run in the order of features, so that equal rows have the
    distance zero exactly, and d(a, b) = d(b, a).
    """
    n_rows = len(row_starts) - 1
    found, norms = np.zeros((n_rows, n_columns)), np.zeros(n_columns)
    for j in range(len(column_starts) - 1):
        for k in range(column_starts[j], column_starts[j + 1]):
            norms[owners[k]] += abs(columns[k])
    for i in range(n_rows):
        norm = 0.0
        for k in range(row_starts[i], row_starts[i + 1]):
            a, j = values[k], features[k]
            norm += abs(a)
            for at in range(column_starts[j], column_starts[j + 1]):
                b = columns[at]
                found[i, owners[at]] += abs(a - b) - (abs(a) + abs(b))
        for b in range(n_columns):
            found[i, b] = max(0.0, found[i, b] + (norm + norms[b]))
    return found
