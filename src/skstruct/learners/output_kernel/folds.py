# SPDX-License-Identifier: BSD-3-Clause
"""Folds by which what has no closed form is chosen, and the losses on their held-out rows."""

from typing import Any

import numpy as np

from skstruct._arrays.memory import row_blocks
from skstruct.kernels.inputs import kernel_name


def fold_losses(problem: Any, means: np.ndarray, rows: np.ndarray, memory: str) -> np.ndarray:
    """Losses of the decisions for some training rows."""
    losses = np.empty(len(rows))
    for part in row_blocks(len(rows), problem.bytes_per_row(), memory):
        decided = problem.decide(means[part], rows[part])
        losses[part] = problem.loss(decided, problem.outputs[rows[part]])
    return losses


def splitter(cv: int, groups: Any, m: int, random_state: Any) -> Any:
    """Folds at random, or whole groups of rows."""
    from sklearn.model_selection import GroupKFold, KFold

    if not isinstance(cv, (int, np.integer)) or cv < 2:
        raise ValueError(f"cv is a whole number of folds, at least 2; got {cv!r}.")
    if groups is not None and len(np.unique(groups)) < 2:
        raise ValueError("All rows are in one group: leaving it out leaves nothing to learn from.")
    if groups is not None:
        return GroupKFold(min(cv, len(np.unique(groups))))
    return KFold(min(cv, m), shuffle=True, random_state=random_state)


def fold_part(X: Any, rows: np.ndarray, columns: np.ndarray, smoother: Any) -> Any:
    """Rows of inputs; of a precomputed kernel their values with the rows in ``columns``."""
    return X[rows][:, columns] if kernel_name(smoother.kernel) == "precomputed" else X[rows]
