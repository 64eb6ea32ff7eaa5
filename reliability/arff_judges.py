# SPDX-License-Identifier: BSD-3-Clause
"""What the library read of an ARFF file, against what the second reader read; and data sets as
plain lists.
"""

from __future__ import annotations

import re
from typing import Any

import oracle_lines
from formats_arff import SPLIT
from oracle_readers import Arff, read_arff
from scipy import sparse

_TASK = re.compile(r"% task: ([a-z]+)(, no outputs)?")
_TASKS = ("classes", "labels", "hierarchy", "ranking", "sequence", "regression", "histogram")
_MEKA = re.compile(r"-C\s+(-?\d{1,9})(?![\w.])")


def same(what: str, ours: Any, theirs: Any) -> None:
    if ours != theirs:
        raise AssertionError(f"{what}: {ours!r:.150} instead of {theirs!r:.150}")


def plain(table: Any) -> dict[str, list[Any]]:
    """Columns of a Table by name: floats or texts, None where missing."""
    data = table.data.toarray() if sparse.issparse(table.data) else table.data
    found = {}
    for name, values, cells in zip(table.names, table.values, data.T.tolist()):
        shown = cells if values is None else [x if x != x else values[int(x)] for x in cells]
        found[name] = [None if x != x else x for x in shown]
    return found


def plain_outputs(data: Any) -> list[Any]:
    """Outputs of every row: a name, names, numbers, or ranks by name; None where unknown."""
    outputs, labels = data.outputs, data.labels
    if data.task in ("classes", "ordinal"):
        return list(outputs) if outputs.dtype == object else outputs.tolist()
    if data.task == "ranking":
        return [{n: r for n, r in zip(labels, row) if r} for row in outputs.tolist()]
    if data.task in ("regression", "histogram"):
        return [[None if x != x else x for x in row] for row in outputs.tolist()]
    if data.task == "sequence":
        return [list(row) for row in outputs]
    return [row if row is None or isinstance(row, dict) else list(row) for row in outputs]


# ARFF and its dialects.


def judge_arff(raw: bytes, data: Any) -> None:
    table = read_arff(raw)
    _judge_inputs(table, data, _targets(table, data))


def judge_mulan(raw: bytes, data: Any) -> None:
    text, _, listed = raw.partition(SPLIT)
    table, (labels, edges) = read_arff(text), oracle_lines.read_label_list(listed)
    if data.task in ("labels", "hierarchy"):
        same("labels", set(data.labels), set(labels))
    same("edges", set(data.edges or ()), set(edges) if data.task == "hierarchy" else set())
    _judge_inputs(table, data, [name for name in table.names if name in set(labels)])


def _targets(table: Arff, data: Any) -> list[str]:
    """The output: of a hierarchical class, as -C says, or the last attribute that fits."""
    columns = [(n, k) for n, k in zip(table.names, table.kinds)
               if k != "key" and not isinstance(k, tuple)]  # fmt: skip
    names = [name for name, _ in columns]
    if isinstance(table.kinds[-1], tuple):
        return []
    told = [t for c in table.comments if (t := _TASK.fullmatch(c)) and t[1] in (*_TASKS, "ordinal")]
    if told and told[0][2]:
        return []
    if meka := _MEKA.search(table.relation):
        n = int(meka[1])
        return names[:n] if n > 0 else names[n:]
    task = told[0][1] if told else ""
    numeric = {"classes": False, "ordinal": False, "regression": True}.get(task)
    return [n for n, kind in columns if numeric is None or (kind == "numeric") == numeric][-1:]


def _judge_inputs(table: Arff, data: Any, targets: list[str]) -> None:
    columns = {name: [row[j] for row in table.rows] for j, name in enumerate(table.names)}
    kinds = dict(zip(table.names, table.kinds))
    outside = {n for n, k in kinds.items() if k in ("string", "key") or isinstance(k, tuple)}
    kept = [name for name in table.names if name not in targets and name not in outside]
    same("names", list(data.inputs.names), kept)
    same("inputs", plain(data.inputs), {name: columns[name] for name in kept})
    key = next((name for name, kind in kinds.items() if kind == "key"), None)
    same("index", None if data.index is None else list(data.index), columns.get(key))
    last = table.kinds[-1]
    if isinstance(last, tuple):
        _judge_tree(last[1], columns[table.names[-1]], data)
        return
    if data.outputs is None:
        if targets and any(x is not None for name in targets for x in columns[name]):
            raise AssertionError("outputs that were not read")
        return
    same("outputs", plain_outputs(data), _outputs(data.task, targets, columns, len(table.rows)))


def _outputs(task: str, targets: list[str], columns: dict[str, list[Any]], n: int) -> list[Any]:
    rows = [[columns[name][i] for name in targets] for i in range(n)]
    if task in ("classes", "ordinal"):
        return [_class(row[0]) for row in rows]
    if task in ("regression", "histogram"):
        return rows
    if task == "ranking":
        return [{n: int(r) for n, r in zip(targets, row) if r} for row in rows]
    return [_set(targets, row) for row in rows]


def _class(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return str(int(value)) if value == int(value) else repr(value)


def _set(names: list[str], row: list[Any]) -> Any:
    """Names of what is 1; what is known where something is missing."""
    ones = [name for name, cell in zip(names, row) if cell in ("1", 1.0)]
    if None not in row:
        return ones
    zeros = [name for name, cell in zip(names, row) if cell in ("0", 0.0)]
    if not ones and not zeros:
        return None
    return {"include": tuple(ones), "exclude": tuple(zeros)}


def _judge_tree(listed: list[str], cells: list[Any], data: Any) -> None:
    arcs = [tuple(entry.split("/")) for entry in listed]
    if any(arc[0] == "root" and len(arc) > 1 for arc in arcs):
        labels = {name for arc in arcs for name in arc} - {"root"}
        edges = {arc for arc in arcs if arc[0] != "root"}
    else:
        labels = {"/".join(arc[:k]) for arc in arcs for k in range(1, len(arc) + 1)}
        edges = {(name.rpartition("/")[0], name) for name in labels if "/" in name}
    same("labels", set(data.labels), labels)
    same("edges", set(data.edges or ()), edges if data.task == "hierarchy" else set())
    known = None if cells and not any(cells) else [list(cell) for cell in cells]
    same("outputs", None if data.outputs is None else plain_outputs(data), known)
