# SPDX-License-Identifier: BSD-3-Clause
"""Predictions of any learner for more rows than fit into memory: batch after batch, into files."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct._arrays.rows import dense
from skstruct.config import get_config
from skstruct.exceptions import restated
from skstruct.fitted import Fitted, Staged
from skstruct.streaming.blocks import Source, count_rows
from skstruct.streaming.iterators import parts_of
from skstruct.streaming.marginals import MarginalColumns, MarginalStages
from skstruct.streaming.parquet import ParquetSource
from skstruct.streaming.pipeline import overlapped
from skstruct.streaming.sources import as_source, is_arrow
from skstruct.streaming.writing import predict_partitions

ROWS = 10_000  # of a block that is read from a source
OWN = ("row", "risk", "bound")  # columns beside those of outputs


def predict_batches(
    model: Any, batches: Any, *, marginals: bool = False, **choices: Any
) -> Iterator[Any]:
    """Predictions for one batch of rows after another; a generator, in order.

    While one batch is decided the next one is read and smoothed, so that a source of rows,
    matrix products and decoding work at the same time, and no more than some batches are
    in memory. An error says in which batch it is.

    Parameters
    ----------
    model : fitted learner
        Of this library, or any with ``predict``.
    batches : iterable of inputs as in ``predict``, a source of this module, or a path of Parquet
        files
    marginals : bool, default=False
        Whether to give probabilities of the parts of outputs, too.
    **choices
        Of ``predict``, such as ``restrict``.

    Yields
    ------
    outputs of each batch, in the format of ``predict``; with ``marginals``, pairs (outputs,
    marginals), the latter in the format of ``predict_marginals``

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> model = ConditionalRiskMinimizer(alpha=1.0).fit([[0.0], [1.0]], ["no", "yes"])
    >>> [batch.tolist() for batch in predict_batches(model, [[[0.1]], [[0.9], [0.8]]])]
    [['no'], ['yes', 'yes']]
    """
    stages = _stages_of(model, choices)
    stages = MarginalStages(stages, model, choices) if marginals else stages
    return (decided.outputs for decided in _decided(model, batches, stages))


def decode_batches(model: Any, batches: Any, **choices: Any) -> Iterator[Any]:
    """The same with estimated risks and bounds; yields :class:`~skstruct.spaces.Decoded`.

    Parameters
    ----------
    model : fitted learner with ``decode``
    batches, **choices : as in :func:`predict_batches`
    """
    if not Staged.of(model).in_stages:
        raise TypeError(
            f"{type(model).__name__} predicts without risks: it has no decode. Use predict_batches."
        )
    return _decided(model, batches, _stages_of(model, choices))


def predict_parquet(
    model: Any,
    X: Any,
    folder: Any,
    *,
    n_partitions: int | None = None,
    marginals: bool = False,
    **choices: Any,
) -> int:
    """Write predictions for a source of rows to a folder of Parquet files.

    Each partition of the source becomes one file, written whole by the process that predicts
    it: here, or on the workers of the engine that :func:`skstruct.set_config` names. Columns are
    ``row``, the output (one column a label, or ``prediction``) and, of a learner with ``decode``,
    ``risk`` and its lower ``bound``: their difference is the certificate.

    Parameters
    ----------
    model : fitted learner
        Of this library, or any with ``predict``.
    X : source of this module, path of Parquet files, memory-mapped array, array
    folder : str or path
        Made if it is not there; it must be empty.
    n_partitions : int, default=None
    marginals : bool, default=False
        Whether to write a column ``P(name)`` of probabilities for every label, class or level;
        outputs without such parts are an error.
    **choices
        Of ``predict``, such as ``restrict``.

    Returns
    -------
    int
        Number of rows.
    """
    columns = Staged.of(model).columns(choices) or PlainColumns(model, choices)
    columns = MarginalColumns(columns, model, choices) if marginals else columns
    return predict_partitions(
        columns, inputs_source(model, X), folder, get_config()["engine"],
        Fitted.of(model).verbose or 0, count=n_partitions,
    )  # fmt: skip


# What is read, and what a batch goes through.


def inputs_source(model: Any, X: Any) -> Source:
    """A source of rows to predict for; of files, the columns that the model was fitted to."""
    if isinstance(X, (str, os.PathLike)) or is_arrow(X):
        names = Fitted.of(model).names
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
    sequences = Fitted.of(model).tokens is not None  # then a list is one of inputs
    for number, batch in enumerate(batches):
        alone = sequences and isinstance(batch, list)
        yield batch if alone else parts_of(batch, number)[0]


class WholeStages:
    """Predictions of a learner that does not say how it comes to them."""

    def __init__(self, model: Any, choices: dict[str, Any]) -> None:
        self.model, self.choices = model, choices

    def begin(self, batch: Any) -> Any:
        return batch

    def finish(self, batch: Any) -> "Predicted":
        return Predicted(self.model.predict(batch, **self.choices) if count_rows(batch) else [])


class Predicted:
    """Outputs alone."""

    def __init__(self, outputs: Any) -> None:
        self.outputs = outputs


def _stages_of(model: Any, choices: dict[str, Any]) -> Any:
    return Staged.of(model).stages(choices) or WholeStages(model, choices)


def _decided(model: Any, batches: Any, stages: Any) -> Iterator[Any]:
    """Decisions of every batch: reading, smoothing and deciding work at the same time."""

    def begun(numbered: tuple[int, Any]) -> tuple[int, Any]:
        number, batch = numbered
        try:
            return number, stages.begin(batch)
        except (ValueError, TypeError) as error:
            raise restated(error, f"In batch {number}: {error}") from error

    for number, smoothed in overlapped(enumerate(inputs_of(model, batches)), begun):
        try:
            decided = stages.finish(smoothed)
        except (ValueError, TypeError) as error:
            raise restated(error, f"In batch {number}: {error}") from error
        yield decided


# Predictions as columns of tables.


class PlainColumns:
    """Called with a block of rows, gives the columns of its predictions; it can be pickled."""

    def __init__(self, model: Any, choices: dict[str, Any]) -> None:
        self.model, self.choices = model, choices

    def __call__(self, block: Any) -> dict[str, Any]:
        try:
            outputs = self.model.predict(block.X, **self.choices)
        except (ValueError, TypeError) as error:
            raise restated(error, f"In {block.where}: {error}") from error
        columns = output_columns(outputs, Fitted.of(self.model).space)
        return {"row": np.arange(block.start, block.start + len(block)), **columns}


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
        import pyarrow

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
        import pyarrow

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


def output_columns(outputs: Any, space: Any) -> dict[Any, Any]:
    """Columns of outputs: one a label where these are arrays, and else a single list.

    >>> output_columns(np.array(["a", "b"]), None)
    {'prediction': ['a', 'b']}
    >>> output_columns([["tea", "rum"], ["rum"]], None)
    {'prediction': [['tea', 'rum'], ['rum']]}
    """
    if is_pandas(outputs, "DataFrame"):
        columns = [outputs.iloc[:, j].to_numpy() for j in range(outputs.shape[1])]
        return dict(zip(column_names(outputs.columns), columns))
    outputs = outputs if isinstance(outputs, (list, tuple)) else dense(outputs)
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2 and outputs.dtype != object:
        names = getattr(space, "edge_labels_", getattr(space, "labels_", None))
        if names is None or len(names) != outputs.shape[1]:
            names = range(outputs.shape[1])
        return dict(zip(column_names(names), outputs.T))
    return {"prediction": [plain_output(output) for output in outputs]}


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


def plain_output(output: Any) -> Any:
    """Sets and tuples as lists, numbers of numpy as those of Python; also inside of these."""
    if isinstance(output, (set, frozenset)):
        values = [plain_output(value) for value in output]
        try:
            return sorted(values)
        except TypeError:  # of several types
            return sorted(values, key=str)
    if isinstance(output, (tuple, list)):
        return [plain_output(value) for value in output]
    if isinstance(output, np.ndarray):
        return (
            [plain_output(value) for value in output] if output.dtype == object else output.tolist()
        )
    return output.item() if isinstance(output, np.generic) else output
