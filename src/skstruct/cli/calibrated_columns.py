# SPDX-License-Identifier: BSD-3-Clause
"""What a calibrated model adds to its predictions: what is certain and what is possible, sets,
intervals, and rows or parts that are withheld.
"""

from collections.abc import Iterable
from typing import Any

import click
import numpy as np

from skstruct.cli.beside import (
    Beside,
    Maker,
    choices_text,
    names_text,
    number_text,
    pairs_text,
    positions_text,
    yes_or_no,
)
from skstruct.cli.predictions import OWN, Predictions
from skstruct.conformal import PredictionSets, RiskControl
from skstruct.datasets.formats.cells import NUMBERS, ONE_NAME, write_cell
from skstruct.tasks import promises


def at_level(control: RiskControl | PredictionSets, level: float | None) -> Any:
    """As of :mod:`skstruct.tasks.promises`, in the words of the command line."""
    try:
        return promises.at_level(control, level)
    except ValueError as error:
        raise click.UsageError(f"--{error}") from None


def calibrated_columns(task_model: Any, control: RiskControl | PredictionSets) -> Maker:
    """A function that makes the columns of a block: certain and possible, a set, or intervals."""
    if isinstance(control, RiskControl):

        def nested(X: Any, found: Predictions) -> list[Beside]:
            told = control.predict(X)
            return [
                _parts(task_model, "certain", told.certain),
                _parts(task_model, "possible", told.possible),
            ]

        return nested

    if task_model.task_ not in NUMBERS:
        return lambda X, found: [_names("set", control.predict(X))]

    def ends(X: Any, found: Predictions) -> list[Beside]:
        return _intervals(*interval_ends(control, X), output_columns(found), found.columns)

    return ends


def withheld_columns(task_model: Any) -> Maker:
    """A function that takes away what is withheld: rows, or parts of outputs."""
    abstention = task_model.abstention_

    def rows(X: Any, found: Predictions) -> list[Beside]:
        kept = abstention.predict(X).kept
        columns = [
            Beside(name, [cell if keep else None for cell, keep in zip(cells, kept)],
                   *_written_as(found, name))
            for name, cells in found.by_column() if name in output_columns(found)
        ]  # fmt: skip
        name = "kept" if "kept" not in found.columns else "row is kept"
        return [*columns, Beside(name, kept.tolist(), yes_or_no, "bool_")]

    def parts(X: Any, found: Predictions) -> list[Beside]:
        told = abstention.predict(X)
        columns = [_parts(task_model, "prediction", told.outputs)]
        if task_model.task_ == "labels":  # labels that are neither there nor not there
            labels = task_model.learner_.space_.labels_
            columns.append(_names("open", [_where(~row, labels) for row in told.kept]))
        return columns

    return rows if abstention.of == "rows" else parts


def output_columns(found: Predictions) -> list[str]:
    """Which columns hold the predictions: one, or numbers by target."""
    return [name for name in found.columns if name not in OWN]


def _written_as(found: Predictions, name: str) -> tuple[Any, str, bool]:
    """Text, Parquet type and whether there are names, of a column of predictions."""
    if found.task in NUMBERS:
        return number_text, "float64", False
    return (lambda value: str(found.cells(name, [value])[0])), "string", True


def _where(mask: np.ndarray, names: Any) -> list[Any]:
    return [names[k] for k in np.flatnonzero(mask)]


def _names(column: str, sets: Iterable[Any]) -> Beside:
    cells = [[str(name) for name in names] for names in sets]
    return Beside(column, cells, names_text, names=True)


def _parts(task_model: Any, column: str, outputs: Any) -> Beside:
    """Parts of outputs, as conformal predictors give them, in the words of the task."""
    task = task_model.task_
    if task == "ranking":
        pairs = [[[str(first), str(second)] for first, second in row] for row in outputs]
        return Beside(column, pairs, pairs_text, names=True)
    if task == "sequence":
        return _of_positions(column, outputs, [str(s) for s in task_model.learner_.space_.symbols_])
    if task in ONE_NAME and column != "possible":
        found = [None if name is None else str(name) for name in outputs]
        return Beside(column, found, str, names=True)
    if task in ONE_NAME:
        return _names(column, outputs)
    cells = [[str(name) for name in row] for row in outputs]
    return Beside(column, cells, lambda row: write_cell(task, tuple(row)), names=True)


def _of_positions(column: str, rows: Any, symbols: list[str]) -> Beside:
    if column == "possible":
        choices = [[[str(name) for name in names] for names in row] for row in rows]
        return Beside(column, choices, lambda row: choices_text(row, symbols), names=True)
    sure = [[None if name is None else str(name) for name in row] for row in rows]
    return Beside(column, sure, lambda row: positions_text(row, symbols), names=True)


def interval_ends(control: PredictionSets, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends, each of shape (n, d)."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    told = control.predict(X)
    ends = (np.asarray(end, dtype=np.float64).reshape(n, -1) for end in (told.lower, told.upper))
    lower, upper = ends
    return lower, upper


def _intervals(
    lower: np.ndarray, upper: np.ndarray, targets: list[str], taken: tuple[str, ...]
) -> list[Beside]:
    """Two columns for every target; nothing where an interval is empty or has no end."""
    alone = len(targets) == 1 and not {"low", "high"} & {*taken}
    columns = []
    for j, target in enumerate(targets):
        for name, ends in (("low", lower[:, j]), ("high", upper[:, j])):
            cells = [end if np.isfinite(end) else None for end in ends.tolist()]
            called = name if alone else f"{name} {target}"
            columns.append(Beside(called, cells, number_text, "float64"))
    return columns
