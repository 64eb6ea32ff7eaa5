# SPDX-License-Identifier: BSD-3-Clause
"""Prediction as a stream: the next batch is smoothed while this one is decided."""

from __future__ import annotations

import os
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np

from skstruct.smoothing.onepass.reading import restated
from skstruct.spaces.base import Decoded
from skstruct.spaces.limits import differs_by_row
from skstruct.streaming import ParquetSource, Source, as_source
from skstruct.streaming.checked_blocks import parts_of
from skstruct.streaming.choice import is_arrow
from skstruct.streaming.pipeline import overlapped
from skstruct.streaming.rows import count_rows

ROWS = 10_000  # of a block that is read from a source


def prepared(model, choices: dict) -> tuple[Any, Any]:
    """The problem and the smoother of some choices of ``predict``, all of them known."""
    known = [name for name in signature(model.decode).parameters if name != "X"]
    for name in choices:
        if name not in known:
            raise TypeError(
                f"{type(model).__name__} has no choice {name!r} of prediction; it has "
                f"{', '.join(known)}."
            )
    return model._prepared(**{**dict.fromkeys(known), **choices})


def check_same_limits(model, problem) -> None:
    """Raise where limits differ from row to row: nobody says which batch they belong to."""
    if differs_by_row(problem.space):
        raise ValueError(
            f"{type(model.space_).__name__}: limits that differ from row to row cannot be given "
            "for batches or files. Give limits that are the same for all rows, or give predict "
            "some rows with their own limits at a time."
        )


def inputs_source(model, X) -> Source:
    """A source of rows to predict for; of files, the columns that the model was fitted to."""
    if isinstance(X, (str, os.PathLike)) or is_arrow(X):
        names = getattr(model, "feature_names_in_", None)
        return ParquetSource(X, inputs=None if names is None else list(names))
    return as_source(X)


def inputs_of(model, batches) -> Iterator:
    """Inputs, batch after batch; data loaders give them with outputs, or in a list of one."""
    if isinstance(batches, (str, os.PathLike, Source)) or is_arrow(batches):
        parts = inputs_source(model, batches).partitions()
        batches = (block for part in parts for block in part.blocks(ROWS))
    elif callable(batches):
        batches = batches()
    elif hasattr(batches, "shape"):
        raise TypeError("An array is one batch: give an iterable of arrays, or use predict.")
    sequences = getattr(model, "tokens_", None) is not None  # then a list is one of inputs
    for number, batch in enumerate(batches):
        alone = sequences and isinstance(batch, list)
        yield batch if alone else parts_of(batch, number)[0]


def decode_batches(model, batches, problem, smoother) -> Iterator[Decoded]:
    """Decisions of every batch: reading, smoothing and deciding work at the same time."""
    check_same_limits(model, problem)
    return _decisions(model, batches, problem, smoother)


def _decisions(model, batches, problem, smoother) -> Iterator[Decoded]:
    def smoothed(numbered):
        number, batch = numbered
        try:
            if count_rows(batch) == 0:
                return number, getattr(batch, "index", None), None, 0
            X, index = model._checked(batch)
            model._check_limits(problem, X.shape[0])
            return number, index, problem.smooth(smoother, X), X.shape[0]
        except (ValueError, TypeError) as error:
            raise restated(error, f"In batch {number}: {error}") from error

    for number, index, means, n in overlapped(enumerate(batches), smoothed):
        try:
            decoded = problem.decode(means, slice(0, n)) if n else _nothing(model)
        except ValueError as error:
            error.args = (f"In batch {number}: {error}",)
            raise
        outputs = model.space_.restore(np.asarray(decoded.outputs), index)
        yield Decoded(outputs, decoded.values, decoded.bounds)


def _nothing(model) -> Decoded:
    """The decisions of a batch without rows."""
    return Decoded(np.asarray(model.outputs_)[:0], np.empty(0), np.empty(0))
