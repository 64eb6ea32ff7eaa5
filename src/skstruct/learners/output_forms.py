# SPDX-License-Identifier: BSD-3-Clause
"""The space that outputs of an output kernel live in, when nobody names one."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from skstruct._arrays.optional import is_pandas
from skstruct.kernels.outputs.precomputed import PrecomputedKernel
from skstruct.spaces import Candidates, Classes
from skstruct.spaces.inference import infer_space


def output_space(y, space, candidates, kernel):
    """A fitted space, the outputs in canonical form, and the candidates or None.

    Without a space: labels are classes, rows of an array or frame what they look like
    (label sets, boxes), and anything else a list of objects.
    """
    if candidates is not None and len(candidates) == 0:
        raise ValueError("OutputKernelRegressor: the list of candidates is empty.")
    if len(y) == 0:
        raise ValueError("OutputKernelRegressor: y has no rows.")
    if isinstance(kernel, PrecomputedKernel):
        y = np.arange(len(y))
    if space is not None:
        space = clone(space).fit(y)
    elif _is_table(y):
        space = infer_space(y).fit(y)
    elif candidates is None and _are_labels(y):
        space = Classes().fit(y)
    else:
        listed = _objects(y) if candidates is None else _objects(candidates)
        space = Candidates(listed).fit(_objects(y))
    outputs = space.validate(y)
    return space, outputs, None if candidates is None else space.validate(candidates)


def _is_table(y) -> bool:
    return is_pandas(y, "DataFrame") or (isinstance(y, np.ndarray) and y.ndim == 2)


def _are_labels(y) -> bool:
    return all(isinstance(label, (str, bytes, int, float, bool, np.generic)) for label in y)


def _objects(y) -> list:
    return [y.iloc[i] for i in range(len(y))] if is_pandas(y, "Series") else list(y)
