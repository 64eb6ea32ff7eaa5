# SPDX-License-Identifier: BSD-3-Clause
"""Predictions as rows of a table, and where they are written: a file that is whole or not
there, or stdout.
"""

import contextlib
import csv
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from inspect import signature
from pathlib import Path
from typing import Any

import click
import numpy as np

from skstruct._files.atomic import replacing
from skstruct.cli.exit_codes import writing
from skstruct.cli.terminal import plain
from skstruct.datasets import Dataset
from skstruct.datasets.files import bare_name, packing
from skstruct.datasets.formats.cells import NUMBERS, ONE_NAME, ranked_items, write_cell
from skstruct.datasets.formats.columns import harmless
from skstruct.datasets.formats.conll import write_conll
from skstruct.datasets.formats.conllu import write_conllu
from skstruct.datasets.formats.parquet import need_pandas
from skstruct.exceptions import InfeasibleError
from skstruct.fitted import Fitted
from skstruct.spaces import Decoded
from skstruct.tolerances import REPORTED_GAP

OWN = ("row", "rank", "risk", "cost", "gap", "for", "against")  # columns beside predictions


@dataclass
class Predictions:
    """Columns of the result, and how sure it is.

    Attributes
    ----------
    columns : tuple of str
    rows : list of tuples
        Cells as JSON would have them: names in lists, numbers.
    named : bool
        Whether rows have names, not numbers.
    n_inputs : int
        Rows that were predicted for; the k best are k rows.
    widest_gap, tolerance : float
        The largest distance to a bound, and what is no distance.
    widest_row : int
        Where the gap is, counted from 0 in the whole file.
    inputs, layout : list or None
        Words of the sentences, for a file of tokens and tags, and their lines as they came.
    separator, raw_cells : of a CSV file
    beside : dict
        How further columns are written, by name; see :class:`skstruct.cli.beside.Beside`.
    """

    task: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    named: bool
    n_inputs: int
    widest_gap: float
    widest_row: int
    tolerance: float
    inputs: list[Any] | None = None
    layout: list[Any] | None = None
    separator: str = ","
    raw_cells: bool = False
    beside: dict[str, Any] = field(default_factory=dict)

    def write_csv(self, file: Any, header: bool = True) -> None:
        writer = csv.writer(file, lineterminator="\n", delimiter=self.separator)
        guard = str if self.raw_cells else harmless
        if header:
            writer.writerow(map(guard, self.columns))
        columns = [self.cells(name, column) for name, column in self.by_column()]
        for k, name in enumerate(self.columns):
            if self._holds_names(name):  # others are numbers
                columns[k] = [guard(cell) for cell in columns[k]]
        writer.writerows(zip(*columns))

    def _holds_names(self, column: str) -> bool:
        if column in self.beside:
            return bool(self.beside[column].names)
        return column == "prediction" or (column == "row" and self.named)

    def write_tokens(self, file: Any, kind: str) -> None:
        """Words, each with its predicted tag, as CoNLL or CoNLL-U has them."""
        cells = dict(self.by_column())
        tags, sure = list(cells["prediction"]), cells.get("confidence")
        texts = (
            None if sure is None else [self.cells("confidence", [row])[0].split() for row in sure]
        )
        words = self.inputs or []
        data = Dataset("predictions", kind, "sequence", words, tags, layout=self.layout)
        (write_conllu if kind == "conllu" else write_conll)(data, file, texts)

    def by_column(self) -> Any:
        """Names of the columns, each with its values."""
        return zip(self.columns, zip(*self.rows) if self.rows else [()] * len(self.columns))

    def write_json(self, file: Any) -> None:
        """One JSON object on each line."""
        for row in self.rows:
            record = {name: plain(value) for name, value in zip(self.columns, row)}
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")

    def cells(self, column: Any, values: Any) -> list[Any]:
        """What a CSV file has in the cells of one column."""
        if column in self.beside:
            text = self.beside[column].text
            return ["" if value is None else text(value) for value in values]
        if column == "prediction":
            return [_written(self.task, _hashable(value)) for value in values]
        if column in ("for", "against"):
            return [
                ";".join(f"{row}:{weight:.4g}" for row, weight in value) or "none"
                for value in values
            ]
        if column in ("risk", "cost", "gap"):  # estimates: further digits say nothing
            return [f"{value:.6g}" for value in values]
        return [repr(value) if isinstance(value, float) else value for value in values]


@lru_cache(10_000)
def _written(task: str, output: Any) -> Any:
    """Text of an output; most come again and again."""
    return write_cell(task, output)


def _hashable(output: Any) -> Any:
    """The items of an output, tied ones together."""
    if not isinstance(output, list):
        return output
    return tuple(tuple(item) if isinstance(item, list) else item for item in output)


def predictions(
    task_model: Any,
    X: Any,
    index: Any,
    options: dict[Any, Any],
    kbest: int | None,
    risk: bool,
    explain: Any,
    start: int = 0,
) -> Predictions:
    """What a model predicts for inputs X, with what was asked for beside it.

    Parameters
    ----------
    index : tuple or None
        Names of the rows; else they are counted from ``start + 1``.
    options : dict
        ``loss``, ``restrict`` and ``threshold``.
    start : int, default=0
        Number of the rows that went before in the file.
    """
    fitted, task = Fitted.of(task_model), task_model.task_
    learner = fitted.learner
    known = signature(learner.predict).parameters
    options = {key: value for key, value in options.items() if value is not None}
    for key in options:
        if key not in known:
            raise click.UsageError(f"{type(learner).__name__} predicts without --{key}.")
    try:
        decoded = _decoded(learner, X, kbest, options)
    except InfeasibleError as error:
        raise error.shifted(start) from None
    ranks = decoded.outputs if kbest is not None else [decoded.outputs]
    values, bounds = _column(decoded.values), _column(decoded.bounds)
    gaps = np.where(np.isfinite(values), values - bounds, 0.0)
    voices = None if explain is None else _voices(learner, X, explain, options)
    columns = ["row"] + ([] if kbest is None else ["rank"]) + _output_columns(task_model)
    # Others than conditional risk minimization decide by scores, which are no risks.
    columns += [fitted.value_name, "gap"] if risk else []
    columns += ["for", "against"] if explain is not None else []
    rows = []
    finite = np.isfinite(values).tolist()
    if fitted.can("possible_risks"):  # for people: no risk below what the loss can be
        values = learner.possible_risks(values, loss=options.get("loss"))
    listed, distances = values.tolist(), gaps.tolist()
    for i in range(len(values)):
        name = start + i + 1 if index is None else index[i]
        for rank, outputs in enumerate(ranks):
            if not finite[i][rank]:
                continue
            cells = [name] if kbest is None else [name, rank + 1]
            cells += _output_cells(task_model, outputs[i])
            cells += [listed[i][rank], distances[i][rank]] if risk else []
            cells += [] if voices is None else voices[i]
            rows.append(tuple(cells))
    row = int(gaps.max(axis=1).argmax()) if len(gaps) else 0
    size = REPORTED_GAP * max(1.0, float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
    gap = float(gaps.max(initial=0.0))
    named = index is not None
    return Predictions(task, tuple(columns), rows, named, len(values), gap, start + row, size)


def widest(one: Predictions | None, other: Predictions) -> Predictions:
    """Of two blocks the one with the wider gap, the first if they are alike; shared tolerance."""
    if one is None:
        return other
    wider = other if other.widest_gap > one.widest_gap else one
    return replace(wider, rows=[], tolerance=max(one.tolerance, other.tolerance))


def _decoded(learner: Any, X: Any, kbest: int | None, options: dict[Any, Any]) -> Any:
    if "threshold" in options:  # decided by probabilities: no risk, no bound
        outputs = learner.predict(X, **options)
        return Decoded(outputs, np.zeros(len(outputs)), np.zeros(len(outputs)))
    if kbest is None:
        return learner.decode(X, **options)
    if not Fitted.of(learner).can("kbest"):
        raise click.UsageError(f"{type(learner).__name__} gives one prediction: no --kbest.")
    return learner.kbest(X, kbest, **options)


def _column(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def _output_columns(task_model: Any) -> list[str]:
    if task_model.task_ in NUMBERS:
        names = [str(name) for name in task_model.targets_ or ("prediction",)]
        return [f"predicted {name}" if name in OWN else name for name in names]
    return ["prediction"]


def _output_cells(task_model: Any, output: Any) -> list[Any]:
    """One output in the names of the data."""
    if task_model.task_ in NUMBERS:
        return [float(number) for number in np.ravel(output)]
    if task_model.task_ == "ranking":
        groups = ranked_items(output, task_model.targets_)
        return [[group[0] if len(group) == 1 else list(group) for group in groups]]
    if task_model.task_ in ONE_NAME:
        return [str(output)]
    return [[str(name) for name in output]]


def _voices(learner: Any, X: Any, n: int, options: Any) -> Any:
    """For every row the training rows, counted from 1, for and against it with their weights."""
    if not Fitted.of(learner).can("explain"):
        raise click.UsageError(f"{type(learner).__name__} cannot tell training rows: no --explain.")
    explanation = learner.explain(X, **options)
    dense = explanation.weights
    dense = dense.toarray() if hasattr(dense, "toarray") else np.asarray(dense)
    sides = [explanation.supporters(n), explanation.opponents(n)]
    return [
        [[(int(j) + 1, float(dense[i, j])) for j in side[i] if j >= 0] for side in sides]
        for i in range(len(dense))
    ]


# Where predictions go, a block after the other: a file that is whole or not there, or stdout.


SUFFIXES = {  # by the ending of a file name
    "parquet": (".parquet", ".pq"),
    "excel": (".xlsx",),
    "json": (".json", ".jsonl", ".ndjson"),
    "conll": (".conll", ".iob", ".bio"),
    "conllu": (".conllu",),
    "csv": (".csv", ".tsv"),
}
TOKENS = ("conll", "conllu")  # one line for every word
OTHERS = (  # formats of tables and texts that predictions are not written as
    ".arff", ".svm", ".libsvm", ".svmlight", ".data", ".xml", ".html", ".xls", ".xlsm",
    ".ods", ".feather", ".npy", ".npz", ".pkl", ".h5",
)  # fmt: skip


@dataclass(frozen=True)
class Style:
    """How predictions are written: one of SUFFIXES; cells as they are if raw."""

    kind: str
    separator: str = ","
    raw_cells: bool = False


def style_for(path: Any, as_json: bool, raw_cells: bool, of_words: bool) -> Style:
    """By the ending of the file, .gz and .xz taken off; text of no known ending is CSV.

    Parameters
    ----------
    path : str or None
    of_words : bool
        Whether tags of words are predicted: these may be written as CoNLL, and are if the name
        ends by .txt, as ``data convert`` writes them.
    """
    ending = "" if path is None else Path(bare_name(path)).suffix.lower()
    kind = next((kind for kind, endings in SUFFIXES.items() if ending in endings), None)
    if kind is None:
        kind = "conll" if of_words and ending == ".txt" and not as_json else "csv"
    if ending in OTHERS or (kind in TOKENS and not of_words):
        tags = " Tags of words are written as .conll or .conllu, too." if of_words else ""
        raise click.UsageError(
            f"{path}: a file with the ending {ending} does not hold these predictions. They are "
            "written as CSV (.csv, .tsv), JSON lines (.jsonl), Excel (.xlsx) or Parquet "
            f"(.parquet).{tags}"
        )
    binary = {"parquet": "A Parquet", "excel": "An Excel"}.get(kind)
    if binary is not None and path.endswith((".gz", ".xz")):
        raise click.UsageError(f"{path}: {binary} file is packed within: leave .gz or .xz out.")
    if as_json and binary is not None:
        raise click.UsageError(f"{binary} file holds columns: leave --json out.")
    if as_json and kind in TOKENS:
        raise click.UsageError("A CoNLL file holds tokens and tags: leave --json out.")
    kind = "json" if as_json else kind
    if raw_cells and kind != "csv":
        raise click.UsageError(f"--raw-cells is of CSV files: {kind} needs no care.")
    return Style(kind, "\t" if ending == ".tsv" else ",", raw_cells)


@contextlib.contextmanager
def opened(path: Any, style: Style, hold: bool = False) -> Iterator[Any]:
    """A function that writes Predictions, to be called with one block after the other.

    Parameters
    ----------
    path : str or None
        Packed if it ends by .gz or .xz; None for stdout.
    style : Style
    hold : bool, default=False
        Whether stdout gets nothing before all is known to be well.
    """
    with writing(path), _destination(path, style, hold) as writer:
        yield writer.write


@contextlib.contextmanager
def _held() -> Iterator[Any]:
    """A file whose text goes to stdout when nothing went wrong."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as file:
        yield file
        file.seek(0)
        shutil.copyfileobj(file, sys.stdout)


@contextlib.contextmanager
def _destination(path: Any, style: Any, hold: Any) -> Iterator[Any]:
    if path is None:
        with _held() if hold else contextlib.nullcontext(sys.stdout) as file:
            yield _Text(file, style)
        sys.stdout.flush()
    else:
        with _file(Path(path), style) as writer:
            yield writer


@contextlib.contextmanager
def _file(path: Any, style: Any) -> Iterator[Any]:
    if style.kind in BINARY:
        kind = BINARY[style.kind]
        with replacing(path, "wb") as file, contextlib.closing(kind(file)) as writer:
            yield writer
    else:
        with packing(path) as file:
            yield _Text(file, style)


class _Text:
    """A table with one header line, JSON lines, or tokens with their tags."""

    def __init__(self, file: Any, style: Any) -> None:
        self.file, self.style, self.begun = file, style, False

    def write(self, found: Predictions) -> None:
        if self.style.kind == "json":
            found.write_json(self.file)
        elif self.style.kind in TOKENS:
            found.write_tokens(self.file, self.style.kind)
        else:
            marks = {"separator": self.style.separator, "raw_cells": self.style.raw_cells}
            replace(found, **marks).write_csv(self.file, header=not self.begun)
        self.begun = True


class _Parquet:
    """The cells of the CSV file, numbers as numbers; a group of rows for every block."""

    writer: Any = None  # begun with the first block, which tells the columns

    def __init__(self, file: Any) -> None:
        need_pandas()
        self.file = file

    def write(self, found: Predictions) -> None:
        import pyarrow
        from pyarrow import parquet

        schema = pyarrow.schema(
            [(name, getattr(pyarrow, _parquet_type(found, name))()) for name in found.columns]
        )
        cells = [
            pyarrow.array(_parquet_cells(found, name, values), schema.field(name).type)
            for name, values in found.by_column()
        ]
        if self.writer is None:
            self.writer = parquet.ParquetWriter(self.file, schema)
        self.writer.write_table(pyarrow.Table.from_arrays(cells, schema=schema))

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _parquet_type(found: Any, name: str) -> str:
    if name in ("rank", "row"):
        return "string" if name == "row" and found.named else "int64"
    if name in found.beside:
        return str(found.beside[name].parquet)
    numbers = name in ("risk", "cost", "gap") or found.task in NUMBERS
    return "float64" if numbers and name not in ("for", "against") else "string"


def _parquet_cells(found: Any, name: str, values: Any) -> Any:
    if _parquet_type(found, name) != "string":
        return values
    return [None if v is None else cell for v, cell in zip(values, found.cells(name, values))]


class _Excel:
    """The cells of the CSV file in a sheet, numbers as numbers and names as text."""

    def __init__(self, file: Any) -> None:
        from skstruct.datasets.formats.excel_writing import Sheet

        self.sheet, self.begun = Sheet(file), False

    def write(self, found: Predictions) -> None:
        if not self.begun:
            self.sheet.append(found.columns)
            self.begun = True
        columns = [_parquet_cells(found, name, values) for name, values in found.by_column()]
        for row in zip(*columns):
            self.sheet.append(row)

    def close(self) -> None:
        self.sheet.close()


BINARY: dict[str, Any] = {"parquet": _Parquet, "excel": _Excel}
