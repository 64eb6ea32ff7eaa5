# SPDX-License-Identifier: BSD-3-Clause
"""Rows that are read again and again: a sample to begin with, and sums over all of them."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import repeatable
from skstruct.encoding.frames import is_frame
from skstruct.streaming import is_source
from skstruct.streaming.engines import itself, merge_tree

SAMPLE_ROWS = 2000  # by which names, landmarks and alpha are settled
PARTS = 16  # of a source
NEEDS_FEATURES = (
    'Rows that come in blocks are learned from by features: give n_landmarks, or kernel="linear".'
)


def is_streamed(X: Any, y: Any) -> bool:
    """Whether ``X`` is read in blocks: not a mapped array, nor a table whose outputs are apart."""
    if not is_source(X) or isinstance(X, np.memmap):
        return False
    return not is_frame(X) or names_columns(X, y)


def names_columns(X: Any, y: Any) -> bool:
    """Whether outputs are given by the names of their columns in a table of pyarrow."""
    several = isinstance(y, (list, tuple)) and all(isinstance(name, str) for name in y)
    return y is None or isinstance(y, str) or (several and set(y) <= set(X.column_names))


def first_sample(model: Any, source: Any, otherwise: str = "") -> Any:
    """Some rows of a source that can be read again; ``otherwise`` is what else a caller can do."""
    name = type(model).__name__
    if not source.again:
        raise ValueError(
            f"{name} reads rows several times, and an iterator can be read once: give a function "
            f"that makes one, files or arrays{otherwise}."
        )
    sample = source.sample(SAMPLE_ROWS, repeatable(model.random_state))
    if sample.y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the blocks of the source have no outputs: give "
            "pairs (X, y), or name the columns of outputs."
        )
    return sample


def added(parts: list[list[Any]]) -> list[Any]:
    """Sums of several partitions together; the parts stay as they are."""
    return [sum(terms[1:], terms[0]) for terms in zip(*parts)]


class Passes:
    """Sums over all rows of a source, by the engine that there is."""

    def __init__(self, source: Any, read: Any, workers: Any) -> None:
        self.parts, self.workers = source.partitions(PARTS), workers
        self.read = workers.submit(itself, read)

    def __call__(self, accumulate: Any, *args: Any) -> Any:
        return merge_tree(self.parts, self.workers, accumulate, added, 2, args=(self.read, *args))
