# SPDX-License-Identifier: BSD-3-Clause
"""Prediction as a stream: the next batch is smoothed while this one is decided."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np

from skstruct.smoothing.onepass.reading import restated
from skstruct.spaces.base import Decoded
from skstruct.streaming import Block, ParquetSource, Source, as_source
from skstruct.streaming.choice import is_arrow
from skstruct.streaming.pipeline import overlapped
from skstruct.streaming.rows import count_rows

ROWS = 10_000  # of a block that is read from a source


def inputs_source(model, X) -> Source:
    """A source of rows to predict for; of files, the columns that the model was fitted to."""
    if isinstance(X, (str, os.PathLike)) or is_arrow(X):
        names = getattr(model, "feature_names_in_", None)
        return ParquetSource(X, inputs=None if names is None else list(names))
    return as_source(X)


def inputs_of(model, batches) -> Iterator:
    """Inputs, batch after batch."""
    if isinstance(batches, (str, os.PathLike, Source)) or is_arrow(batches):
        parts = inputs_source(model, batches).partitions()
        batches = (block for part in parts for block in part.blocks(ROWS))
    elif callable(batches):
        batches = batches()
    elif hasattr(batches, "shape"):
        raise TypeError("An array is one batch: give an iterable of arrays, or use predict.")
    for batch in batches:
        yield batch.X if isinstance(batch, Block) else batch


def decode_batches(model, batches, problem, smoother) -> Iterator[Decoded]:
    """Decisions of every batch: reading, smoothing and deciding work at the same time."""

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
