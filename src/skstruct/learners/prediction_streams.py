# SPDX-License-Identifier: BSD-3-Clause
"""Prediction for more rows than fit into memory: batch after batch, into files."""

import os
from collections.abc import Iterable, Iterator
from inspect import signature
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas, require
from skstruct._arrays.rows import dense
from skstruct.smoothing.nystroem.reading import restated
from skstruct.spaces.common.formats import LabelSetFormat
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.contracts import Decoded
from skstruct.streaming import ParquetSource, Source, as_source
from skstruct.streaming.blocks import count_rows
from skstruct.streaming.iterators import parts_of
from skstruct.streaming.pipeline import overlapped
from skstruct.streaming.sources import is_arrow

ROWS = 10_000  # of a block that is read from a source


def prepared(model: Any, choices: dict[Any, Any]) -> tuple[Any, Any]:
    """The problem and the smoother of some choices of ``predict``, all of them known."""
    known = [name for name in signature(model.decode).parameters if name != "X"]
    for name in choices:
        if name not in known:
            raise TypeError(
                f"{type(model).__name__} has no choice {name!r} of prediction; it has "
                f"{', '.join(known)}."
            )
    return model._prepared(**{**dict.fromkeys(known), **choices})


def check_same_constraints(model: Any, problem: Any) -> None:
    """Raise where constraints differ from row to row: nobody says which batch they belong to."""
    if differs_by_row(problem.space):
        raise ValueError(
            f"{type(model.space_).__name__}: constraints that differ from row to row cannot be "
            "given for batches or files. Give constraints that are the same for all rows, or give "
            "predict some rows with their own constraints at a time."
        )


def inputs_source(model: Any, X: Any) -> Source:
    """A source of rows to predict for; of files, the columns that the model was fitted to."""
    if isinstance(X, (str, os.PathLike)) or is_arrow(X):
        names = getattr(model, "feature_names_in_", None)
        return ParquetSource(X, inputs=None if names is None else list(names))
    return as_source(X)


def inputs_of(model: Any, batches: Any) -> Iterator[Any]:
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


def decode_batches(
    model: Any, batches: Iterable[Any], problem: Any, smoother: Any
) -> Iterator[Decoded]:
    """Decisions of every batch: reading, smoothing and deciding work at the same time."""
    check_same_constraints(model, problem)
    return _decisions(model, batches, problem, smoother)


def _decisions(
    model: Any, batches: Iterable[Any], problem: Any, smoother: Any
) -> Iterator[Decoded]:
    def smoothed(numbered: tuple[int, Any]) -> tuple[int, Any, Any, int]:
        number, batch = numbered
        try:
            if count_rows(batch) == 0:
                return number, getattr(batch, "index", None), None, 0
            X, index = model._checked(batch)
            model._check_constraints(problem, X.shape[0])
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


def _nothing(model: Any) -> Decoded:
    """The decisions of a batch without rows."""
    return Decoded(np.asarray(model.outputs_)[:0], np.empty(0), np.empty(0))


# Predictions for more rows than fit into memory, as files.


OWN = ("row", "risk", "bound")
_EXAMPLES = 1000  # outputs of training that the type of a column is taken from


class PredictedColumns:
    """Called with a block of rows, gives the columns of its predictions; it can be pickled.

    Parameters
    ----------
    model : fitted learner
    choices : dict
        Arguments of its ``decode``. Constraints must be the same for all rows.
    """

    def __init__(self, model: Any, choices: dict[str, Any]) -> None:
        self.model, self.choices = model, choices
        # Constraints do not depend on the loss, and another loss may take long to prepare.
        constraints = {name: choices[name] if name == "restrict" else None for name in choices}
        problem, _ = prepared(model, constraints)
        check_same_constraints(model, problem)
        self.typed = TypedColumn(example_outputs(model))

    def __call__(self, block: Any) -> dict[Any, Any]:
        try:
            decoded = self.model.decode(block.X, **self.choices)
        except (ValueError, TypeError) as error:
            raise restated(error, f"In {block.where}: {error}") from error
        row = np.arange(block.start, block.start + len(block))
        columns = output_columns(decoded.outputs, self.model.space_)
        if isinstance(columns.get("prediction"), list):
            columns["prediction"] = self.typed(columns["prediction"])
        return {"row": row, **columns, "risk": decoded.values, "bound": decoded.bounds}


class TypedColumn:
    """Makes Arrow columns of one type, whichever outputs a block happens to have.

    Tuples of values of several types, such as ("a", 1), become structs with the fields "0", "1".

    Parameters
    ----------
    examples : list
        Outputs that tell the type; without any, each column has a type of its own.
    """

    def __init__(self, examples: list[Any]) -> None:
        self.as_struct, self.kind = False, None
        if not examples:
            return
        pyarrow = require("pyarrow", used_by="A Parquet file", extra="parquet")
        try:
            self.kind = pyarrow.array(examples).type
        except pyarrow.ArrowException as error:
            if not all(isinstance(e, list) and len(e) == len(examples[0]) for e in examples):
                raise _not_a_column(examples[0], error) from error
            self.as_struct = True
            try:
                self.kind = pyarrow.array([_fields(e) for e in examples]).type
            except pyarrow.ArrowException as again:
                raise _not_a_column(examples[0], again) from again

    def __call__(self, outputs: list[Any]) -> Any:
        pyarrow = require("pyarrow", used_by="A Parquet file", extra="parquet")
        outputs = [_fields(output) for output in outputs] if self.as_struct else outputs
        try:
            return pyarrow.array(outputs, type=self.kind)
        except pyarrow.ArrowException:
            pass  # the examples were not like these outputs
        try:
            return pyarrow.array(outputs)
        except pyarrow.ArrowException as error:
            raise _not_a_column(outputs[0], error) from error


def _fields(output: list[Any]) -> dict[Any, Any]:
    return {str(i): value for i, value in enumerate(output)}


def _not_a_column(example: list[int | str], error: Any) -> ValueError:
    return ValueError(
        f"Outputs such as {example!r} cannot be held by one column of a Parquet file ({error}): "
        "use predict_batches, and write them in a form of your own."
    )


def example_outputs(model: Any) -> list[Any]:
    """Outputs, as entries of a column, that tell which values may come; none for tables."""
    space = model.space_
    outputs = space.examples(np.asarray(model.outputs_)[:_EXAMPLES])
    columns = output_columns(outputs, space)
    examples = columns.get("prediction")
    if not isinstance(examples, list):
        return []
    # Sets of names may all be empty.
    if isinstance(getattr(space, "_format", None), LabelSetFormat):
        examples = [[_plain(label) for label in space.labels_], []]
    return examples


def output_columns(outputs: Any, space: Any) -> dict[Any, Any]:
    """Columns of outputs: one a label where these are arrays, and else a single list.

    >>> output_columns(np.array(["a", "b"]), None)
    {'prediction': ['a', 'b']}
    """
    if is_pandas(outputs, "DataFrame"):
        columns = [outputs.iloc[:, j].to_numpy() for j in range(outputs.shape[1])]
        return dict(zip(column_names(outputs.columns), columns))
    outputs = dense(outputs)
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype != object:
        names = getattr(space, "edge_labels_", getattr(space, "labels_", None))
        if names is None or len(names) != outputs.shape[1]:
            names = range(outputs.shape[1])
        return dict(zip(column_names(names), outputs.T))
    return {"prediction": [_plain(output) for output in outputs]}


def column_names(labels: Any) -> list[str]:
    """Labels as text, no two alike and none that of another column.

    >>> column_names(["risk", "risk_prediction", 1, "1"])
    ['risk_prediction_2', 'risk_prediction', '1', '1_prediction']
    """
    texts = [str(label) for label in labels]
    taken, names = {*OWN, *texts}, []
    for j, text in enumerate(texts):
        name, number = text, 1
        if text in OWN or text in texts[:j]:
            name = f"{text}_prediction"
            while name in taken:
                number += 1
                name = f"{text}_prediction_{number}"
        taken.add(name)
        names.append(name)
    return names


def _plain(output: Any) -> Any:
    """Sets and tuples as lists, numbers of numpy as those of Python; also inside of these."""
    if isinstance(output, (set, frozenset)):
        values = [_plain(value) for value in output]
        try:
            return sorted(values)
        except TypeError:  # of several types
            return sorted(values, key=str)
    if isinstance(output, (tuple, list)):
        return [_plain(value) for value in output]
    if isinstance(output, np.ndarray):
        return [_plain(value) for value in output] if output.dtype == object else output.tolist()
    return output.item() if isinstance(output, np.generic) else output
