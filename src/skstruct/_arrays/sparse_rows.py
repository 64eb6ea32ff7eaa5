# SPDX-License-Identifier: BSD-3-Clause
"""Sparse matrices in the form that all compiled code takes."""

from __future__ import annotations

import numpy as np
from scipy import sparse

LARGEST = np.iinfo(np.int32).max


def narrow_indices(X):
    """The same compressed matrix with 32-bit indices where they fit; anything else as it is.

    Readers and stacking give 64-bit indices, which some of scikit-learn's compiled code
    refuses: the Laplacian kernel, trees. The entries are shared, not copied.

    >>> X = sparse.csr_array(np.eye(3))
    >>> X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    >>> narrow_indices(X).indices.dtype, narrow_indices(X).indptr.dtype
    (dtype('int32'), dtype('int32'))
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    wide = X.indices.dtype == np.int64 or X.indptr.dtype == np.int64
    if not wide or max(*X.shape, X.nnz) > LARGEST:
        return X
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)((X.data, indices, indptr), shape=X.shape)
