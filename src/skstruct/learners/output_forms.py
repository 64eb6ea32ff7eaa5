# SPDX-License-Identifier: BSD-3-Clause
"""The space that outputs of an output kernel live in, when nobody names one."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skstruct._arrays.optional import is_pandas
from skstruct.kernels.outputs.base import resolve_output_kernel
from skstruct.kernels.outputs.precomputed import PrecomputedKernel
from skstruct.kernels.outputs.rows import RowKernel
from skstruct.spaces import Candidates, Classes
from skstruct.spaces.inference import infer_space


def output_space(y, space, candidates, kernel):
    """A fitted space, the outputs in canonical form, and the candidates or None.

    Without a space: labels are classes, rows of an array or frame what they look like
    (label sets, boxes), numbers under a kernel of numbers are quantities, and anything else
    a list of objects.
    """
    _check_candidates(candidates)
    n_rows = y.shape[0] if hasattr(y, "shape") else len(y)
    if n_rows == 0:
        raise ValueError("OutputKernelRegressor: y has no rows.")
    if isinstance(kernel, PrecomputedKernel):
        y, space = np.arange(n_rows), Classes(np.arange(n_rows))
    if space is not None:
        space = clone(space).fit(y)
    elif _is_table(y):
        space = infer_space(y).fit(y)
    elif _are_numbers(y) and reads_numbers(kernel):
        space = infer_space(np.asarray(y), quantities=True).fit(y)
        if candidates is not None:  # the range is that of both
            both = np.concatenate([np.asarray(y), np.asarray(candidates)])
            space = type(space)(both.min(axis=0), both.max(axis=0)).fit(y)
    elif candidates is None and _are_labels(y):
        space = Classes().fit(y)
    else:
        listed = _objects(y) if candidates is None else _objects(candidates)
        space = Candidates(listed).fit(y if is_pandas(y, "Series") else _objects(y))
    outputs = space.validate(y)
    if candidates is None:
        return space, outputs, None
    listed = space.validate(candidates)
    outside = np.flatnonzero(~space.contains(listed))
    if len(outside):
        raise ValueError(
            f"OutputKernelRegressor: candidates[{outside[0]}] is {candidates[outside[0]]!r}, which "
            f"{type(space).__name__} does not hold."
        )
    return space, outputs, listed


def _check_candidates(candidates):
    if candidates is None:
        return
    if isinstance(candidates, str) or not hasattr(candidates, "__len__"):
        raise ValueError(f"OutputKernelRegressor: candidates is a list; got {candidates!r}.")
    if len(candidates) == 0:
        raise ValueError("OutputKernelRegressor: the list of candidates is empty.")


def _is_table(y) -> bool:
    if sparse.issparse(y) or is_pandas(y, "DataFrame"):
        return True
    return isinstance(y, np.ndarray) and y.ndim == 2


def reads_numbers(kernel) -> bool:
    """Whether a kernel, or one of those it is made of, compares rows of numbers."""
    return isinstance(kernel, RowKernel) or any(
        reads_numbers(resolve_output_kernel(part)) for part in getattr(kernel, "kernels", ())
    )


def _are_numbers(y) -> bool:
    try:
        return np.asarray(y).dtype.kind in "iuf"
    except ValueError:  # rows of different lengths
        return False


def _are_labels(y) -> bool:
    return all(isinstance(label, (str, bytes, int, float, bool, np.generic)) for label in y)


def _objects(y) -> list:
    return [y.iloc[i] for i in range(len(y))] if is_pandas(y, "Series") else list(y)
