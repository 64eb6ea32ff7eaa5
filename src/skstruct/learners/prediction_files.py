# SPDX-License-Identifier: BSD-3-Clause
"""Predictions for more rows than fit into memory, as files."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_pandas, require
from skstruct.learners.batch_streams import check_same_limits, prepared
from skstruct.smoothing.onepass.reading import restated
from skstruct.spaces.forms import LabelSetForm

OWN = ("row", "risk", "bound")
_EXAMPLES = 1000  # outputs of training that the type of a column is taken from


class PredictedColumns:
    """Called with a block of rows, gives the columns of its predictions; it can be pickled.

    Parameters
    ----------
    model : fitted learner
    choices : dict
        Arguments of its ``decode``. Limits must be the same for all rows.
    """

    def __init__(self, model, choices):
        self.model, self.choices = model, choices
        # Limits do not depend on the loss, and another loss may take long to prepare.
        limits = {name: choices[name] if name == "restrict" else None for name in choices}
        problem, _ = prepared(model, limits)
        check_same_limits(model, problem)
        self.typed = TypedColumn(example_outputs(model))

    def __call__(self, block) -> dict:
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

    def __init__(self, examples: list):
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

    def __call__(self, outputs: list) -> Any:
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


def _fields(output: list) -> dict:
    return {str(i): value for i, value in enumerate(output)}


def _not_a_column(example, error) -> ValueError:
    return ValueError(
        f"Outputs such as {example!r} cannot be held by one column of a Parquet file ({error}): "
        "use predict_batches, and write them in a form of your own."
    )


def example_outputs(model) -> list:
    """Outputs, as entries of a column, that tell which values may come; none for tables."""
    space = model.space_
    if hasattr(space, "known_"):  # all that can be predicted
        outputs = space.known_.array()
    else:
        outputs = space.restore(np.asarray(model.outputs_)[:_EXAMPLES])
    columns = output_columns(outputs, space)
    examples = columns.get("prediction")
    if not isinstance(examples, list):
        return []
    if isinstance(getattr(space, "_form", None), LabelSetForm):  # sets of names may all be empty
        examples = [[_plain(label) for label in space.labels_], []]
    return examples


def output_columns(outputs, space) -> dict:
    """Columns of outputs: one a label where these are arrays, and else a single list.

    >>> output_columns(np.array(["a", "b"]), None)
    {'prediction': ['a', 'b']}
    """
    if is_pandas(outputs, "DataFrame"):
        columns = [outputs.iloc[:, j].to_numpy() for j in range(outputs.shape[1])]
        return dict(zip(column_names(outputs.columns), columns))
    outputs = outputs.toarray() if sparse.issparse(outputs) else outputs
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype != object:
        names = getattr(space, "edge_labels_", getattr(space, "labels_", None))
        if names is None or len(names) != outputs.shape[1]:
            names = range(outputs.shape[1])
        return dict(zip(column_names(names), outputs.T))
    return {"prediction": [_plain(output) for output in outputs]}


def column_names(labels) -> list[str]:
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


def _plain(output):
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
