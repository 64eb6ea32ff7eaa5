# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of torch as inputs and targets."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.backends import is_tensor


def read_tensors(model, X, y=None, *, reset):
    """Checked tensors of rows, and their targets."""
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a tensor of shape {tuple(X.shape)} instead.")
    if reset:
        model.n_features_in_ = X.shape[1]
    elif X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    if not bool(X.isfinite().all()):
        row, column = X.isfinite().logical_not().nonzero()[0].tolist()
        raise ValueError(f"X[{row}, {column}] is {float(X[row, column])}: not finite.")
    if y is None:
        return X, None
    y = y if is_tensor(y) else np.asarray(y, dtype=np.float64)
    if len(y) != len(X):
        raise ValueError(f"X has {len(X)} rows and y {len(y)}.")
    return X, y


def like(rows, others):
    """The same rows as a tensor, CSR or array, whatever the others are."""
    if is_tensor(others):
        import torch

        return torch.as_tensor(rows, dtype=others.dtype, device=others.device)
    rows = rows.detach().cpu().numpy() if is_tensor(rows) else rows
    if sparse.issparse(others):
        return sparse.csr_array(rows)
    return rows.toarray() if sparse.issparse(rows) else rows
