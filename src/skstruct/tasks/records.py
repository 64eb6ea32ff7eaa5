# SPDX-License-Identifier: BSD-3-Clause
"""Frames, records and sequences in memory, read as a file of them would be."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.datasets import Dataset
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.columns import TextColumn
from skstruct.datasets.formats.outputs import assemble
from skstruct.datasets.formats.targets import choose_targets
from skstruct.encoding.columns import fail, text_of
from skstruct.encoding.frames import source_of
from skstruct.exceptions import DataFormatError

NAME = "X"  # of data that have no file


def labelled(X: Any, task: str, targets: tuple[str, ...]) -> Dataset:
    """The outputs of a frame or of records, in the columns ``targets``, or in a guessed one."""
    source = source_of(X)
    try:
        targets, _ = choose_targets(source.names, ReadOptions(targets=targets or None))
    except DataFormatError as error:
        raise DataFormatError(f"{error.problem}; or give y") from None
    columns = [TextColumn.of(name, map(_text, source.cells(name))) for name in targets]
    task = "labels" if task == "hierarchy" else task  # the model knows the edges
    options = ReadOptions(task=task, targets=targets, id_column="")
    return assemble(columns, len(source), options, name=NAME, format_name="memory", fail=fail)


def _text(value: Any) -> str:
    """A value as a file has it."""
    return "" if value is None or (isinstance(value, float) and value != value) else text_of(value)


def sequences_of(X: Any, n_columns: int | None, targets: Any) -> list[Any]:
    """Sentences as files have them: lists of tuples of words, or arrays of numbers.

    Parameters
    ----------
    X : list of sequences
        Of words; of tuples, lists or dictionaries of words, by columns as in the file; or arrays
        of shape (T, n_features).
    n_columns : int or None
        Of a word; None for numbers.
    targets : sequence of str
        Columns of the file that were outputs: dictionaries name all columns from ``"1"`` on.
    """
    if isinstance(X, (str, bytes, Mapping)) or not hasattr(X, "__len__"):
        raise DataFormatError(f"a list of sequences is wanted, got {type(X).__name__}")
    if n_columns is None:
        return [np.asarray(sequence, dtype=np.float64) for sequence in X]
    names = [str(j) for j in range(1, n_columns + len(targets) + 1) if str(j) not in targets]
    return [
        [_word(token, names[:n_columns], f"sequence {i + 1}, position {t + 1}")
         for t, token in enumerate(_sentence(sequence, i))]
        for i, sequence in enumerate(X)
    ]  # fmt: skip


def _sentence(sequence: Any, i: int) -> Any:
    if isinstance(sequence, str):
        raise DataFormatError(f"sequence {i + 1} is a text: give the list of its words")
    return sequence


def _word(token: Any, names: Any, where: str) -> Any:
    """The columns of one position."""
    if isinstance(token, Mapping):
        known = {str(name): value for name, value in token.items()}
        missing = [name for name in names if name not in known]
        if missing:
            raise DataFormatError(f"{where} has no column {missing[0]!r}")
        return tuple(str(known[name]) for name in names)
    fields = (token,) if isinstance(token, str) else tuple(map(str, token))
    if len(fields) < len(names):
        raise DataFormatError(f"{where} has {len(fields)} columns; the model reads {len(names)}")
    return fields


# ---------------------------------------------------------------------- answers
def with_index(
    outputs: np.ndarray, X: Any, names: tuple[Any, ...] | None, target: str | None
) -> Any:
    """Outputs for a frame, as a series or a frame with its index; others as they are."""
    if not is_pandas(X, "DataFrame"):
        return outputs
    import pandas

    if isinstance(outputs, np.ndarray) and outputs.ndim == 2:
        columns = list(names or ())
        fits = len(columns) == outputs.shape[1]
        return pandas.DataFrame(outputs, index=X.index, columns=columns if fits else None)
    return pandas.Series(list(outputs), index=X.index, name=target)
