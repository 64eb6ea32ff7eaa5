# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of rows as arrays or tensors, and where in them something is wrong."""

import re
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.backends import is_tensor, on_host
from skstruct.exceptions import restated


def as_given(block: Any) -> tuple[Any, np.ndarray, Any]:
    """Rows, targets of shape (n, q) and weights of a block that has them."""
    X = block.X if is_tensor(block.X) or sparse.issparse(block.X) else np.asarray(block.X)
    kept = is_tensor(block.y) or sparse.issparse(block.y)
    y = block.y if kept else np.asarray(block.y)
    if not kept and y.dtype.kind != "f":  # single precision need not become double here
        y = y.astype(np.float64)
    return X, y if y.ndim == 2 else y[:, None], on_host(block.weight)


def checked(block: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The same of blocks that nobody has looked at."""
    if block.y is None:
        raise ValueError("The blocks have no targets: give pairs (X, y).")
    X, y, weight = as_given(block)
    if X.ndim != 2:
        raise ValueError(f"In {block.where}: X has {X.ndim} dimensions; rows of features expected.")
    for name, rows in (("X", X), ("y", y)):
        row = first_not_finite(rows)
        if row is not None:
            where = block.row_text(row)
            raise ValueError(
                f"In {block.where}: {name} has a number that is not finite in {where}."
            )
    if weight is not None and not (np.isfinite(weight) & (np.asarray(weight) >= 0)).all():
        raise ValueError(f"In {block.where}: weights must be finite and not negative.")
    return X, y, weight


class Counted:
    """The same reader, which tells a stage how many rows were done before those in hand."""

    def __init__(self, read: Any, stage: Any) -> None:
        self.read, self.stage, self.in_hand = read, stage, 0

    def __call__(self, block: Any) -> Any:
        self.finish()
        self.in_hand = len(block)
        return self.read(block)

    def finish(self) -> None:
        """The rows in hand are done too."""
        self.stage.advance(self.in_hand)
        self.in_hand = 0


def first_not_finite(X: Any) -> int | None:
    """The first row that has a number which is not finite, or None; also None for no numbers.

    >>> first_not_finite([[0.0, 1.0], [2.0, np.nan]])
    1
    """
    if is_tensor(X):  # where it is: only a block with something wrong comes to the host
        if bool(X.sum().isfinite()):
            return None
        X = X.detach().cpu().numpy()
    if sparse.issparse(X):
        X = X.tocsr()
        bad = np.flatnonzero(~np.isfinite(X.data))
        return int(np.searchsorted(X.indptr, bad[0], side="right")) - 1 if len(bad) else None
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(X.sum(dtype=np.float64)):  # one pass, and no copy
                return None
    try:
        X = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if not X.size:
        return None
    bad = np.flatnonzero(~np.isfinite(X.reshape(len(X), -1)).all(axis=1))
    return int(bad[0]) if len(bad) else None


def placed(error: Any, block: Any) -> Any:
    """The same error with the block, and the row if it is known, at which it was raised."""
    said = str(error)
    if not block.where or block.where in said:
        return error
    named = re.search(r"\bY\[(\d+)", said)
    row = int(named[1]) if named else first_not_finite(block.X)
    if row is not None:
        said = said.split("\n", maxsplit=1)[0]  # more would be advice on other estimators
    where = f"In {block.where}"
    if row is not None and not where.startswith("In a sample"):
        where += f" ({block.row_text(row)})"
    return restated(error, f"{where}: {said}")


# Tensors of torch as inputs and targets.


def read_tensors(model: Any, X: Any, y: Any = None, *, reset: bool) -> tuple[Any, Any]:
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


def like(rows: Any, others: Any) -> Any:
    """The same rows as a tensor, CSR or array, whatever the others are."""
    if is_tensor(others):
        import torch

        return torch.as_tensor(rows, dtype=others.dtype, device=others.device)
    rows = rows.detach().cpu().numpy() if is_tensor(rows) else rows
    if sparse.issparse(others):
        return sparse.csr_array(rows)
    return rows.toarray() if sparse.issparse(rows) else rows
