# SPDX-License-Identifier: BSD-3-Clause
"""Predictions as rows of a table."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, replace
from functools import lru_cache
from inspect import signature

import click
import numpy as np

from skstruct.cli.printing import plain
from skstruct.datasets.dataset import Dataset
from skstruct.datasets.formats.cells import ranked_items, write_cell
from skstruct.datasets.formats.conll import write_conll
from skstruct.datasets.formats.formulas import harmless
from skstruct.exceptions import InfeasibleError

NUMBERS = ("regression", "histogram")
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
    inputs : list or None
        Words of the sentences, for a file of tokens and tags.
    separator, raw_cells : of a CSV file
    """

    task: str
    columns: tuple[str, ...]
    rows: list[tuple]
    named: bool
    n_inputs: int
    widest_gap: float
    widest_row: int
    tolerance: float
    inputs: list | None = None
    separator: str = ","
    raw_cells: bool = False

    def write_csv(self, file, header: bool = True):
        writer = csv.writer(file, lineterminator="\n", delimiter=self.separator)
        guard = str if self.raw_cells else harmless
        if header:
            writer.writerow(map(guard, self.columns))
        columns = [self.cells(name, column) for name, column in self.by_column()]
        for k, name in enumerate(self.columns):
            if name == "prediction" or (name == "row" and self.named):  # others are numbers
                columns[k] = [guard(cell) for cell in columns[k]]
        writer.writerows(zip(*columns))

    def write_tokens(self, file):
        """Words, each with its predicted tag, as CoNLL has them."""
        tags = [row[self.columns.index("prediction")] for row in self.rows]
        write_conll(Dataset("predictions", "conll", "sequence", self.inputs or [], tags), file)

    def by_column(self):
        """Names of the columns, each with its values."""
        return zip(self.columns, zip(*self.rows) if self.rows else [()] * len(self.columns))

    def write_json(self, file):
        """One JSON object on each line."""
        for row in self.rows:
            record = {name: plain(value) for name, value in zip(self.columns, row)}
            file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")

    def cells(self, column, values) -> list:
        """What a CSV file has in the cells of one column."""
        if column == "prediction":
            return [_written(self.task, _hashable(value)) for value in values]
        if column in ("for", "against"):
            return [";".join(f"{row}:{weight:.4g}" for row, weight in value) for value in values]
        if column in ("risk", "cost", "gap"):  # estimates: further digits say nothing
            return [f"{value:.6g}" for value in values]
        return [repr(value) if isinstance(value, float) else value for value in values]


@lru_cache(10_000)
def _written(task, output):
    """Text of an output; most come again and again."""
    return write_cell(task, output)


def _hashable(output):
    """The items of an output, tied ones together."""
    if not isinstance(output, list):
        return output
    return tuple(tuple(item) if isinstance(item, list) else item for item in output)


def predictions(task_model, X, index, options, kbest, risk, explain, start=0) -> Predictions:
    """What a model predicts for inputs X, with what was asked for beside it.

    Parameters
    ----------
    index : tuple or None
        Names of the rows; else they are counted from ``start + 1``.
    options : dict
        ``loss`` and ``restrict``.
    start : int, default=0
        Number of the rows that went before in the file.
    """
    learner, task = task_model.learner_, task_model.task_
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
    columns += ["risk" if hasattr(learner, "predict_risk") else "cost", "gap"] if risk else []
    columns += ["for", "against"] if explain is not None else []
    rows = []
    finite = np.isfinite(values).tolist()
    if hasattr(learner, "possible_risks"):  # for people: no risk below what the loss can be
        values = learner.possible_risks(values, loss=options.get("loss"))
    listed, distances = values.tolist(), gaps.tolist()
    for i in range(len(values)):
        name = start + i + 1 if index is None else index[i]
        for rank, outputs in enumerate(ranks):
            if not finite[i][rank]:
                continue
            cells = [name] if kbest is None else [name, rank + 1]
            cells += _cells(task_model, outputs[i])
            cells += [listed[i][rank], distances[i][rank]] if risk else []
            cells += [] if voices is None else voices[i]
            rows.append(tuple(cells))
    row = int(gaps.max(axis=1).argmax()) if len(gaps) else 0
    size = 1e-6 * max(1.0, float(np.abs(values[np.isfinite(values)]).max(initial=0.0)))
    gap = float(gaps.max(initial=0.0))
    named = index is not None
    return Predictions(task, tuple(columns), rows, named, len(values), gap, start + row, size)


def widest(one: Predictions | None, other: Predictions) -> Predictions:
    """Of two blocks the one with the wider gap, the first if they are alike; shared tolerance."""
    if one is None:
        return other
    wider = other if other.widest_gap > one.widest_gap else one
    return replace(wider, rows=[], tolerance=max(one.tolerance, other.tolerance))


def _decoded(learner, X, kbest, options):
    if kbest is None:
        return learner.decode(X, **options)
    if not hasattr(learner, "kbest"):
        raise click.UsageError(f"{type(learner).__name__} gives one prediction: no --kbest.")
    return learner.kbest(X, kbest, **options)


def _column(values):
    values = np.asarray(values, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def _output_columns(task_model):
    if task_model.task_ in NUMBERS:
        names = [str(name) for name in task_model.targets_ or ("prediction",)]
        return [f"predicted {name}" if name in OWN else name for name in names]
    return ["prediction"]


def _cells(task_model, output):
    """One output in the names of the data."""
    if task_model.task_ in NUMBERS:
        return [float(number) for number in np.ravel(output)]
    if task_model.task_ == "ranking":
        groups = ranked_items(output, task_model.targets_)
        return [[group[0] if len(group) == 1 else list(group) for group in groups]]
    if task_model.task_ in ("classes", "ordinal"):
        return [str(output)]
    return [[str(name) for name in output]]


def _voices(learner, X, n, options):
    """For every row the training rows, counted from 1, for and against it with their weights."""
    if not hasattr(learner, "explain"):
        raise click.UsageError(f"{type(learner).__name__} cannot tell training rows: no --explain.")
    explanation = learner.explain(X, **options)
    dense = explanation.weights
    dense = dense.toarray() if hasattr(dense, "toarray") else np.asarray(dense)
    sides = [explanation.supporters(n), explanation.opponents(n)]
    return [
        [[(int(j) + 1, float(dense[i, j])) for j in side[i] if j >= 0] for side in sides]
        for i in range(len(dense))
    ]
