# SPDX-License-Identifier: BSD-3-Clause
"""Laws of spaces that are small enough to be listed."""

from __future__ import annotations

import math

import numpy as np

from skstruct._arrays.checks import LARGEST_SUM
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.summing.base import Law, StackedLaws
from skstruct.summing.listed import ListedLaw

FEW = 20_000  # outputs that are listed


def listed_law(space, scores) -> Law | None:
    """The law by a list of all outputs; None where there is no list, or too long a one."""
    if getattr(getattr(space, "limits_", None), "n_rows", None) is not None:
        laws = [space.rows([i]).law(scores[i : i + 1]) for i in range(len(scores))]
        return StackedLaws(laws) if laws and all(law is not None for law in laws) else None
    if not hasattr(space, "enumerate"):
        return None
    try:
        if hasattr(space, "log_size") and space.log_size() > math.log(FEW):
            return None
        outputs = space.enumerate(FEW)
    except UndecidableError:
        return None
    if not len(outputs):
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.")
    psi = space.embed(outputs)
    check_width(scores, psi.shape[1], space)
    return ListedLaw(outputs, psi, scores)


def check_scores(scores, space, width: int | None = None) -> np.ndarray:
    """Finite scores of shape (n, d), C-contiguous; one row may come as (d,)."""
    name = type(space).__name__
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    if scores.ndim == 1:
        scores = scores[None]
    if scores.ndim != 2:
        raise ValueError(f"{name} expects scores of shape (n, d); got shape {scores.shape}.")
    limit = LARGEST_SUM / max(scores.shape[1], 1)
    largest = np.maximum(scores.max(initial=0.0), -scores.min(initial=0.0))
    if not largest <= limit:
        row, column = np.argwhere(~(np.abs(scores) <= limit))[0]
        raise ValueError(
            f"{name}: exp(scores) cannot be normalised: scores are finite, at most {limit:.3g}; "
            f"scores[{row}, {column}] is {scores[row, column]}."
        )
    if width is not None:
        check_width(scores, width, space)
    return scores


def check_width(scores, width: int, space) -> None:
    """Raise where there is not one score for every coordinate."""
    if scores.shape[1] != width:
        raise ValueError(
            f"{type(space).__name__} expects scores of shape (n, {width}), one for every "
            f"coordinate of {space.embedding}; got shape {scores.shape}."
        )
