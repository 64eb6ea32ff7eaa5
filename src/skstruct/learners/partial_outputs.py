# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of training of which parts are missing, as a learner reads them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, Known
from skstruct.spaces.partial import PartialOutputs

REMEDY = (
    "StructuredSVM, ExponentialFamily and ConditionalRiskMinimizer learn from such rows; or leave "
    "them out."
)


def read_outputs(
    learner: Any, space: Any, y: Any, known: Any = None
) -> tuple[np.ndarray, PartialOutputs | None]:
    """Outputs in canonical form, and what is known of them where that is not all.

    The space learns what was left open. Where parts are missing, outputs hold placeholders: the
    same ones, whatever stands there in y.

    Parameters
    ----------
    learner : ScoreLearner
        Says by ``learns_partial`` whether parts may be missing.
    space : space
    y : outputs in any format that the space reads
    known : bool array, default=None
        Which parts of y are known, where y does not say so itself.
    """
    if known is None and not Known.of(space).has_gaps(y):
        return space.fit_validate(y), None
    partial = Known.of(space).read(y, known)
    if partial.complete.all():
        return partial.outputs, None
    name, row = type(learner).__name__, int(np.flatnonzero(~partial.complete)[0])
    if not learner.learns_partial:
        raise ValueError(
            f"{name} learns from outputs that are known as a whole; parts of y[{row}] are missing "
            f"({(~partial.complete).sum()} such rows). {REMEDY}"
        )
    if partial.allowed is None:
        raise ValueError(
            f"{name}: {type(space).__name__} cannot tell which outputs agree with what is known "
            f"of y[{row}]; leave out the rows of which parts are missing."
        )
    return partial.outputs, partial


def open_rows(partial: PartialOutputs) -> np.ndarray:
    """Numbers of the rows of which something is missing."""
    return np.flatnonzero(~partial.complete)


@contextmanager
def some_agreeing(space: Any, rows: np.ndarray) -> Iterator[None]:
    """Say of which of some rows no output agrees with what is known."""
    try:
        yield
    except InfeasibleError as error:
        row = int(rows[error.row or 0])
        raise InfeasibleError(
            f"y[{row}]: no output of {type(space).__name__} within its constraints agrees with "
            "what is known. Give constraints at prediction, restrict={...}.", row,
        ) from None  # fmt: skip


def told_apart(partial: PartialOutputs) -> np.ndarray:
    """A table in which rows that know the same are the same; shape (n, m)."""
    n = len(partial)
    outputs = np.where(partial.known, np.reshape(partial.outputs, (n, -1)), -2)
    if partial.by_parts:
        return outputs
    width = partial.allowed.embed(partial.outputs[:1]).shape[1]
    candidates = Inference.of(partial.allowed).exact(np.zeros((n, width))).marginals()
    return np.hstack([outputs, candidates])


def check_not_masked(known: Any, used_by: str) -> None:
    """Raise where rows that come in blocks have a mask of their own."""
    if known is not None:
        raise ValueError(
            f"{used_by}: known goes with outputs in memory; blocks of rows have None where a part "
            "is missing."
        )
