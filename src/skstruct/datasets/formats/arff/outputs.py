# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of a data set from columns of an ARFF file, by task."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.dataset import Table
from skstruct.datasets.formats.edges import path_edges, read_edges
from skstruct.datasets.gaps import IN_CELLS, partial_sets
from skstruct.exceptions import DataFormatError
from skstruct.spaces.common.label_graph import LabelGraph
from skstruct.tolerances import OUTPUT_FEASIBLE

_BITS = ({"0", "1"}, {"false", "true"})
_IN_ORDER = (("0", "1"), ("0",), ("false", "true"), ("false",))  # what sparse rows omit comes first


def are_bits(values: tuple[str, ...]) -> bool:
    """Whether the values of a nominal attribute say in or out: 0 and 1, or false and true."""
    said = [value.lower() for value in values]
    return len(set(said)) == len(said) and any(set(said) <= bits for bits in _BITS)


def _place_of_one(values: tuple[str, ...]) -> int:
    """The position of what says in; -1 where nothing does."""
    return next((j for j, value in enumerate(values) if value.lower() in ("1", "true")), -1)


def guess_task(table: Table, edges: tuple[Any, ...]) -> tuple[str, str]:
    """Task of output columns, and why."""
    if edges:
        return "hierarchy", "a taxonomy is given"
    kinds = {values is not None for values in table.values}
    if kinds == {False}:
        return "regression", "the outputs are numeric"
    if len(table.names) == 1:
        return "classes", f"{table.names[0]!r} is nominal"
    if all(values is not None and are_bits(values) for values in table.values):
        return "labels", "all outputs are 0 or 1"
    raise DataFormatError("several columns of outputs, some nominal: name the task, or one column")


def outputs_of(task: str, table: Table, edges: tuple[Any, ...]) -> dict[str, Any]:
    """Outputs, labels and edges of a data set, as keyword arguments."""
    if task in ("labels", "hierarchy") and (sets := _sets_of_sparse(table)) is not None:
        return _with_labels(task, table, sets, edges)
    data = table.data.toarray() if sparse.issparse(table.data) else table.data
    missing = np.isnan(data)
    if missing.all() and len(data):
        known = {"labels": _names(task, table), "edges": edges or None}
        return {"outputs": None, **known}
    if missing.any() and task not in IN_CELLS:
        row, j = np.argwhere(missing)[0]
        raise DataFormatError(
            f"{missing.any(axis=1).sum()} rows have no value of the output; the first is row "
            f"{row + 1}, attribute {table.names[j][:60]!r}: fill them, or leave the rows out "
            "(skip_unlabelled)"
        )
    if task in ("classes", "ordinal"):
        return _classes(task, table, data)
    if task in ("labels", "hierarchy"):
        return _with_labels(task, table, label_sets(table, data), edges)
    if any(values is not None for values in table.values):
        name = next(n for n, values in zip(table.names, table.values) if values is not None)
        raise DataFormatError(f"{task!r} needs numbers, and the attribute {name[:60]!r} is nominal")
    return {"outputs": _numbers(task, data), "labels": table.names}


def _with_labels(
    task: str, table: Table, sets: list[Any], edges: tuple[Any, ...]
) -> dict[str, Any]:
    if task == "labels":
        return {"outputs": sets, "labels": table.names}
    return {"outputs": sets, **with_edges(table.names, edges, "nested labels in MULAN's list")}


def _sets_of_sparse(table: Table) -> list[Any] | None:
    """Label sets of sparse rows whose entries are all 1, without a table of all labels.

    None of any other table, such as one where something is missing.
    """
    usual = all(values is None or values in _IN_ORDER for values in table.values)
    if not (usual and sparse.issparse(table.data) and (table.data.data == 1).all()):
        return None
    rows = table.data.tocsr().sorted_indices()
    names = np.array(table.names, dtype=object)
    parts = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist())
    return [tuple(names[rows.indices[start:end]].tolist()) for start, end in parts]


def _names(task: str, table: Table) -> tuple[str, ...] | None:
    if task in ("classes", "ordinal"):
        return table.values[0]
    return table.names


def _classes(task: str, table: Table, data: np.ndarray) -> dict[str, Any]:
    if len(table.names) != 1:
        raise DataFormatError(f"{task!r} has one column of outputs; got {len(table.names)}")
    column, labels = data[:, 0], table.values[0]
    if labels is None:
        distinct = np.unique(column[~np.isnan(column)])
        labels = tuple(f"{v:.0f}" if v == round(v) else repr(v) for v in distinct.tolist())
        column = np.where(np.isnan(column), np.nan, np.searchsorted(distinct, column))
    missing = np.isnan(column)
    if missing.any():
        shown = np.array([*labels, None], dtype=object)
        return {"outputs": shown[np.where(missing, -1, column).astype(np.int64)], "labels": labels}
    names = np.array(labels, dtype=str) if labels else np.empty(0, dtype=str)
    return {"outputs": names[column.astype(np.int64)], "labels": labels}


def label_sets(table: Table, data: np.ndarray) -> list[Any]:
    """Names of the columns that are 1, for every row; what is known of them where some are NaN."""
    inside = np.empty(data.shape)
    for j, (name, values) in enumerate(zip(table.names, table.values)):
        ones = 1.0 if values is None else _place_of_one(values)
        missing = np.isnan(data[:, j])
        inside[:, j] = np.where(missing, np.nan, data[:, j] == ones)
        if values is None and not (missing | np.isin(data[:, j], (0, 1))).all():
            raise DataFormatError(f"the label {name[:60]!r} should be 0 or 1 in every row")
        if values is not None and not are_bits(values):
            listed = ", ".join(values[:5])
            raise DataFormatError(
                f"the label {name[:60]!r} should be 0 or 1; it is one of {listed}"
            )
    return partial_sets(inside, table.names)


def with_edges(
    labels: tuple[Any, ...], edges: tuple[Any, ...], other_way: str = "x.edges beside x.svm"
) -> dict[str, Any]:
    """Labels, those of the taxonomy that are not columns behind them; and the edges."""
    if not edges and any("/" in name for name in labels):
        edges = path_edges(labels)[1]
    if not edges:
        raise DataFormatError(
            f"a hierarchy needs a taxonomy (edges_file), {other_way}, or names of labels such as "
            "1/1/2; without them the task is 'labels'"
        )
    named = dict.fromkeys((*labels, *(name for pair in edges for name in pair)))
    try:
        LabelGraph.read(edges, list(named))
    except ValueError as error:
        raise DataFormatError(str(error)) from None
    return {"labels": tuple(named), "edges": tuple(edges)}


def edges_of(options: Any) -> tuple[Any, ...]:
    """The taxonomy that was given, or none."""
    return () if options.edges_file is None else read_edges(options.edges_file)


def _numbers(task: str, data: np.ndarray) -> np.ndarray:
    if task == "ranking":
        sound = (data >= 0) & (data <= data.shape[1]) & (data == np.round(data))
        if not sound.all():
            row, j = np.argwhere(~sound)[0]
            raise DataFormatError(
                f"a rank is a number from 0 (not ranked) to {data.shape[1]}; row {row + 1} has "
                f"{data[row, j]:g}"
            )
        return data.astype(np.int64)
    if task == "histogram":
        wrong = (np.abs(data.sum(axis=1) - 1) > OUTPUT_FEASIBLE) | (data < 0).any(axis=1)
        if wrong.any():
            raise DataFormatError(f"the shares of row {wrong.argmax() + 1} are not a histogram")
    return np.array(data, dtype=np.float64)
