# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of a data set from columns of texts, by task, and the data set of all columns."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.formats.cells import read_cell
from skstruct.datasets.formats.columns import (
    as_numbers,
    as_table,
    is_missing,
    number,
    numbers_among_names,
    plain,
    sorted_names,
)
from skstruct.datasets.formats.edges import check_path, path_edges, read_edges
from skstruct.datasets.formats.targets import (
    INDICATORS,
    choose_row_names,
    choose_targets,
    guess_task,
    is_unlabelled,
    labelled_rows,
    placed,
    taken,
)
from skstruct.datasets.gaps import IN_CELLS, names_in, partial_sets
from skstruct.exceptions import DataFormatError
from skstruct.tolerances import OUTPUT_FEASIBLE


def assemble(
    columns: list[Any],
    n_rows: int,
    options: Any,
    *,
    name: str,
    format_name: str,
    fail: Callable[..., Any],
    remarks: tuple[Any, ...] = (),
) -> Dataset:
    """A data set of columns.

    Parameters
    ----------
    columns : list of NumberColumn and TextColumn
        Those of :func:`choose_targets` and the one of :func:`choose_row_names` are TextColumns.
    fail : callable
        ``fail(problem, row=None, column=None)`` gives the error, with its line and column in
        the file; ``column`` is a name.
    """
    by_name = {column.name: column for column in columns}
    targets, guessed = choose_targets(list(by_name), options)
    said = [*remarks, *guessed]
    if targets:
        given = [by_name[target] for target in targets]
        by_name, n_rows, fail = _labelled(by_name, given, n_rows, options, fail, said)
    index = _row_names(by_name, n_rows, targets, options, said)
    given = [by_name[target] for target in targets]
    task = options.task
    if not given:
        task, found = task or "classes", {}
        said.append("The file is read without outputs.")
    else:
        if task is None:
            task, reason = guess_task(given, options)
            said.append(f"The task is taken for {task!r} ({TASKS[task]}): {reason}.")
            if task == "classes":
                said += numbers_among_names(given[0], fail)
        found = outputs_of(task, given, options, fail, said)
    if index is not None:
        found["index"] = tuple(by_name[index].cells())
    outside = {*targets, index}
    kept = [column for name, column in by_name.items() if name not in outside]
    inputs, noted = as_table(kept, n_rows, options.nominal, fail)
    said += noted
    return Dataset(name, format_name, task, inputs, remarks=tuple(said), **found)


def _labelled(
    by_name: dict[str, Any],
    given: list[Any],
    n_rows: int,
    options: Any,
    fail: Callable[..., Any],
    remarks: list[str],
) -> tuple[dict[str, Any], int, Callable[..., Any]]:
    """Columns without the rows that have no output, how many rows are left, and how to fail."""
    task = options.task or _task_with_gaps(given, options)
    rows = labelled_rows(given, task, options.skip_unlabelled, fail, remarks)
    if rows is None:
        return by_name, n_rows, fail

    kept = {name: taken(column, rows) for name, column in by_name.items()}
    return kept, len(rows), placed(fail, rows)


def _task_with_gaps(given: list[Any], options: Any) -> str:
    """The task that is guessed of columns in which cells may be missing; none where none is."""
    if len(given) > 1 and not is_unlabelled(given, "").any():
        return ""
    try:
        return guess_task(given, options)[0]
    except DataFormatError:
        if len(given) == 1:
            raise
        return ""


def _row_names(
    by_name: dict[str, Any], n_rows: int, targets: tuple[Any, ...], options: Any, remarks: list[str]
) -> str | None:
    """Name of the column that names the rows, or None; then it is as other inputs."""
    name = choose_row_names(by_name, targets, options)
    if name is None or options.id_column is not None:
        return name
    column = by_name[name]
    if name.strip().lower().startswith("row") and len(column.texts) < n_rows:
        by_name[name] = plain(column)
        return None
    remarks.append(
        f"The first column, {name!r}, is taken for names of the rows; to have it as an input, "
        "rename it or give the empty text as id_column."
    )
    return name


def outputs_of(
    task: str, columns: list[Any], options: Any, fail: Callable[..., Any], remarks: list[str]
) -> dict[str, Any]:
    """Outputs, labels and edges of columns of texts, as keyword arguments of a Dataset."""
    if len(columns) > 1 and task in ("classes", "ordinal", "sequence"):
        raise fail(f"{task!r} has one column of outputs; got {len(columns)}")
    if task in ("classes", "ordinal"):
        return _classes(task, columns[0], fail, remarks)
    if task == "sequence":
        read = read_cells(task, columns[0], fail)
        return {"outputs": read, "labels": sorted_names({s for row in read for s in names_in(row)})}
    if task == "ranking":
        return _rankings(columns, fail)
    if task in ("labels", "hierarchy"):
        return _label_sets(task, columns, options, fail, remarks)
    return _numbers(task, columns, fail)


def read_cells(
    task: str, column: Any, fail: Callable[..., Any], check: Callable[..., Any] | None = None
) -> list[Any]:
    """Outputs of all cells of a column; ``check`` looks at every name."""

    def read(text: str) -> Any:
        if task in IN_CELLS and text.strip() and is_missing(text):
            return None
        output = read_cell(task, text)
        if check is not None:
            for name in output:
                check(name)
        return output

    return column.parsed(read, lambda problem, row: fail(problem, row, column.name))


def _classes(
    task: str, column: Any, fail: Callable[..., Any], remarks: list[str]
) -> dict[str, Any]:
    def read(text: str) -> str | None:
        if is_missing(text) and task not in IN_CELLS:
            raise DataFormatError(f"the class is missing ({text[:60]!r} says so)")
        return None if is_missing(text) else shown[text]

    shown = whole_names(tuple(text for text in column.texts if not is_missing(text)))
    names = column.parsed(read, lambda problem, row: fail(problem, row, column.name))
    labels = sorted_names(set(shown.values()))
    if task == "ordinal":
        remarks.append(f"The order of the levels is {', '.join(labels[:20])}.")
    return {"outputs": np.array(names, dtype=object if None in names else str), "labels": labels}


def whole_names(texts: tuple[Any, ...]) -> dict[str, Any]:
    """What every class is called: 1.0 is called 1 where all classes are whole numbers."""
    numbers = as_numbers(texts)
    if numbers is None or not np.isfinite(numbers).all() or (numbers != np.round(numbers)).any():
        return {text: text for text in texts}
    return {text: re.sub(r"^(\s*[+-]?[0-9]+)\.0*(\s*)$", r"\1\2", text) for text in texts}


def _label_sets(
    task: str, columns: list[Any], options: Any, fail: Callable[..., Any], remarks: list[str]
) -> dict[str, Any]:
    if len(columns) == 1:
        of_paths = task == "hierarchy" and options.edges_file is None
        sets = read_cells(task, columns[0], fail, check_path if of_paths else None)
        labels = sorted_names({label for row in sets for label in names_in(row)})
    else:
        labels = tuple(column.name for column in columns)
        inside = _indicators(columns, fail)
        sets = partial_sets(inside, labels)
    if task == "labels":
        return {"outputs": sets, "labels": labels}
    return {"outputs": sets, **hierarchy_of(labels, options, fail, remarks)}


def hierarchy_of(
    labels: tuple[Any, ...], options: Any, fail: Callable[..., Any], remarks: list[str]
) -> dict[str, Any]:
    """Labels and edges of the taxonomy that was given, or of names such as 1/1/2."""
    if options.edges_file is None:
        return _paths(labels, fail)
    edges = read_edges(options.edges_file)
    named = dict.fromkeys(name for pair in edges for name in pair)
    loose = [label for label in labels if label not in named]
    if loose:
        remarks.append(
            f"{len(loose)} labels are not in the taxonomy and stand alone: {loose[0]!r}, ..."
        )
    return {"labels": (*named, *loose), "edges": edges}


def _paths(labels: tuple[Any, ...], fail: Callable[..., Any]) -> dict[str, Any]:
    """Labels and edges of names such as 1/1/2."""
    if not any("/" in label for label in labels):
        raise fail(
            "a hierarchy needs a taxonomy (edges_file), or names of labels such as 1/1/2; "
            "without either the task is 'labels'"
        )
    try:
        named, edges = path_edges(labels)
    except DataFormatError as error:
        raise fail(error.problem) from None
    return {"labels": named, "edges": edges}


def _indicators(columns: list[Any], fail: Callable[..., Any]) -> np.ndarray:
    def read(text: str) -> float:
        if is_missing(text):
            return np.nan
        if text.strip() not in INDICATORS:
            raise DataFormatError(f"a label is 0 or 1, got {text[:60]!r}")
        return INDICATORS[text.strip()]

    return _table(columns, read, fail)


def _table(columns: list[Any], read: Callable[..., Any], fail: Callable[..., Any]) -> np.ndarray:
    """``read`` of all cells; shape (n_rows, n_columns)."""
    read_columns = [
        column.parsed(read, lambda problem, row, name=column.name: fail(problem, row, name))
        for column in columns
    ]
    return np.array(read_columns, dtype=np.float64).T.reshape(-1, len(columns))


def _rankings(columns: list[Any], fail: Callable[..., Any]) -> dict[str, Any]:
    if len(columns) == 1:
        groups = read_cells("ranking", columns[0], fail)
        items = sorted_names({name for row in groups for group in row for name in group})
        return {"outputs": _rank_table(groups, items, fail), "labels": items}
    d = len(columns)

    def read(text: str) -> float:
        rank = number(text)
        if not (0 <= rank <= d and rank == round(rank)):
            raise DataFormatError(f"expected a rank from 0 (not ranked) to {d}, got {text[:60]!r}")
        return rank

    ranks = _table(columns, read, fail).astype(np.int64)
    return {"outputs": ranks, "labels": tuple(column.name for column in columns)}


def _rank_table(groups: list[Any], items: tuple[str, ...], fail: Callable[..., Any]) -> np.ndarray:
    """Rank of every item in every row, 0 where it has none; only what is ranked is touched."""
    number = {item: j for j, item in enumerate(items)}
    ranked = [
        (i, number[name], rank)
        for i, row in enumerate(groups)
        for rank, group in enumerate(row, 1)
        for name in group
    ]
    try:
        ranks = np.zeros((len(groups), len(items)), dtype=np.int64)
    except MemoryError:
        size = f"{len(groups):,} rankings of {len(items):,} items"
        raise fail(f"{size} in all are too many for a table in memory") from None
    if ranked:
        rows, columns, values = zip(*ranked)
        ranks[list(rows), list(columns)] = values
    return ranks


def _numbers(task: str, columns: list[Any], fail: Callable[..., Any]) -> dict[str, Any]:
    def read(text: str) -> float:
        if task in IN_CELLS and is_missing(text):
            return np.nan
        value = number(text)
        if not np.isfinite(value) or (task == "histogram" and value < 0):
            what = "a finite number" if task == "regression" else "a share from 0 to 1"
            raise DataFormatError(f"expected {what}, got {text[:60]!r}")
        return value

    Y = _table(columns, read, fail)
    if task == "histogram":
        wrong = np.abs(Y.sum(axis=1) - 1) > OUTPUT_FEASIBLE
        if wrong.any():
            row = int(wrong.argmax())
            raise fail(f"the shares of a row add up to 1, these to {Y[row].sum():.6g}", row)
    return {"outputs": Y, "labels": tuple(column.name for column in columns)}
