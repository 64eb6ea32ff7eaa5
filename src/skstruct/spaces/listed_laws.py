# SPDX-License-Identifier: BSD-3-Clause
"""Laws of spaces that are small enough to be listed."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.checks import LARGEST_SUM
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces.limits import check_n_rows
from skstruct.summing.base import Law, StackedLaws
from skstruct.summing.listed import ListedLaw

FEW = 20_000  # outputs that are listed


def listed_law(space, scores) -> Law | None:
    """The law by a list of all outputs; None where there is no list, or too long a one.

    Outputs are not counted first, which can take far longer than to list the first of them.
    """
    limits = getattr(space, "limits_", None)
    if getattr(limits, "n_rows", None) is not None:
        check_n_rows(limits, len(scores), type(space).__name__)
        return _row_by_row(space, scores)
    if not hasattr(space, "enumerate"):
        return None
    try:
        outputs = space.enumerate(FEW)
    except UndecidableError:
        return None
    if len(outputs) > FEW:
        return None
    if not len(outputs):
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.")
    psi = space.embed(outputs)
    check_width(scores, psi.shape[1], space)
    return ListedLaw(outputs, psi, scores)


def _row_by_row(space, scores) -> Law | None:
    """The laws of spaces that differ; None as soon as one of them has none."""
    laws = []
    for i in range(len(scores)):
        laws.append(space.rows([i]).law(scores[i : i + 1]))
        if laws[-1] is None:
            return None
    return StackedLaws(laws) if laws else None


def check_scores(scores, space, width: int | None = None) -> np.ndarray:
    """Finite scores of shape (n, d), C-contiguous; one row may come as (d,).

    A law computes from them later too: they are its own, whatever happens to the argument.
    """
    name = type(space).__name__
    scores = np.array(scores, dtype=np.float64, order="C", ndmin=1)
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
