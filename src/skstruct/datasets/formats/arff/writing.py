# SPDX-License-Identifier: BSD-3-Clause
"""ARFF files written so that they read back as they were, from tables and from data sets."""

import math
import re
from collections.abc import Callable
from itertools import chain, count
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.dataset import TASKS, Dataset, Table
from skstruct.datasets.formats.arff.reading import ArffTable
from skstruct.datasets.gaps import count_parts, indicators
from skstruct.exceptions import DataFormatError
from skstruct.spaces.common.label_graph import LabelGraph

_PLAIN = re.compile(r"[A-Za-z0-9_.+*/=<>:;|()\[\]#$&!~^-]+")
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile(r"[\\'\n\r\t]")


def write_arff(table: Table, file: Any, relation: str | None = None) -> None:
    r"""Write a table, sparse if its data are.

    Keys come first and a hierarchical class last. Labels of a hierarchy are declared with
    parents first, which is how they come back.

    Parameters
    ----------
    table : ArffTable or Table
    file : text file open for writing
    relation : str, default=None
        By default that of the table.

    Raises
    ------
    DataFormatError
        For what ARFF cannot hold: infinite numbers, and labels whose names mean something else
        in a hierarchical class.

    Examples
    --------
    >>> import io
    >>> file = io.StringIO()
    >>> data = np.array([[0.1, 1.0], [np.nan, 0.0]])
    >>> write_arff(Table(("x", "the class"), (None, ("no", "it's")), data), file, "small")
    >>> print(file.getvalue())
    @relation small
    <BLANKLINE>
    @attribute x numeric
    @attribute 'the class' {no,'it\'s'}
    <BLANKLINE>
    @data
    0.1,'it\'s'
    ?,no
    <BLANKLINE>
    """
    keys = getattr(table, "keys", None) or {}
    classes = getattr(table, "classes", None)
    for comment in getattr(table, "comments", ()):
        file.write(f"{comment}\n")
    file.write(f"@relation {quote(relation or getattr(table, 'relation', '') or 'data')}\n\n")
    for name in keys:
        file.write(f"@attribute {quote(name)} key\n")
    for name, values in zip(table.names, table.values):
        listed = "numeric" if values is None else "{" + ",".join(map(quote, values)) + "}"
        file.write(f"@attribute {quote(name)} {listed}\n")
    if classes is not None:
        graph: Any = getattr(table, "hierarchy", None)
        file.write(f"@attribute {class_name(table)} hierarchical {declared_hierarchy(graph)}\n")
    file.write("\n@data\n")
    write_rows: Callable[..., None] = _write_dense
    if sparse.issparse(table.data):
        write_rows = _write_sparse
    write_rows(table, list(keys.values()), classes, file)


def quote(name: str) -> str:
    """A name as ARFF reads it back, in quotes if it needs them."""
    if _PLAIN.fullmatch(name):
        return name
    if "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
        raise DataFormatError(f"the name {name[:40]!r} holds a character no text file holds")
    return "'" + _ESCAPED.sub(lambda found: _ESCAPES[found[0]], name) + "'"


def class_name(table: ArffTable | Table) -> str:
    """A name for the class that no column has."""
    taken = {*table.names, *(getattr(table, "keys", None) or {})}
    names = chain(["class"], map("class{}".format, count(2)))
    return next(name for name in names if name not in taken)


def declared_hierarchy(graph: LabelGraph) -> str:
    """Labels as paths if their names are paths, else as arcs below ``root``."""
    names, dag = graph.names, graph.dag
    above: dict[int, list[int]] = {j: [] for j in range(len(names))}
    for parent, child in zip(dag.parents.tolist(), dag.children.tolist()):
        above[child].append(parent)
    for name in names:
        _check_label(name)
    order = _parents_first(above)
    if not len(dag.parents) and not any("/" in name or name == "root" for name in names):
        return ",".join(quote(name) for name in names)
    if any("/" in name for name in names):
        for j, name in enumerate(names):
            parent = name.rpartition("/")[0]
            if [names[k] for k in above[j]] != ([parent] if parent else []):
                raise DataFormatError(
                    f"the label {name[:40]!r} has a '/' and is not the path from its ancestors"
                )
            if name.startswith("root/"):
                raise DataFormatError(f"the label {name[:40]!r} begins like an arc of CLUS")
        return ",".join(quote(names[j]) for j in order)
    if "root" in names:
        raise DataFormatError("a label of the name 'root', which CLUS keeps for itself")
    arcs = [(["root"] if not above[j] else [names[k] for k in above[j]], names[j]) for j in order]
    return ",".join(quote(f"{parent}/{name}") for parents, name in arcs for parent in parents)


def _check_label(name: str) -> None:
    if not isinstance(name, str) or "@" in name or not all(name.split("/")):
        raise DataFormatError(
            f"the label {str(name)[:40]!r} cannot be in a hierarchical class: it is empty, has an "
            "empty step or an '@'"
        )


def _parents_first(above: dict[Any, Any]) -> list[int]:
    """Positions in their order, but for those that wait for a parent."""
    order, done = [], set()

    def add(j: int) -> None:
        waiting = [j]
        while waiting:
            missing = [k for k in above[waiting[-1]] if k not in done]
            if missing:
                waiting += missing[::-1]
            else:
                k = waiting.pop()
                if k not in done:
                    done.add(k)
                    order.append(k)

    for j in above:
        add(j)
    return order


def _write_dense(
    table: Any, keys: list[Any], classes: list[tuple[Any, ...]] | None, file: Any
) -> None:
    writers = [_writer(values) for values in table.values]
    for i, row in enumerate(np.asarray(table.data, dtype=np.float64).tolist()):
        cells = [quote(key[i]) for key in keys]
        cells += [write(value) for write, value in zip(writers, row)]
        if classes is not None:
            cells.append(_labels(classes[i]))
        file.write(",".join(cells) + "\n")


def _write_sparse(table: ArffTable, keys: list[Any], classes: Any, file: Any) -> None:
    writers = [_writer(values) for values in table.values]
    data = sparse.csr_array(table.data)
    data.sum_duplicates()
    for i in range(data.shape[0]):
        cells = [f"{k} {quote(key[i])}" for k, key in enumerate(keys)]
        part = slice(data.indptr[i], data.indptr[i + 1])
        pairs = zip(data.indices[part].tolist(), data.data[part].tolist())
        cells += [f"{len(keys) + j} {writers[j](value)}" for j, value in pairs if value]
        if classes is not None:
            cells.append(f"{len(keys) + len(writers)} {_labels(classes[i])}")
        file.write("{" + ",".join(cells) + "}\n")


def _writer(values: tuple[Any, ...] | None) -> Callable[..., Any]:
    if values is None:
        return write_number
    words = [quote(value) if value != "?" else "'?'" for value in values]
    return lambda code: "?" if math.isnan(code) else words[int(code)]


def write_number(value: float) -> str:
    """The shortest text that reads back as the same number."""
    if math.isnan(value):
        return "?"
    if math.isinf(value):
        raise DataFormatError("an infinite number, which ARFF does not know")
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else repr(value)


def _labels(labels: tuple[Any, ...]) -> str:
    text = "@".join(labels)
    return "?" if not labels else "'?'" if text == "?" else quote(text)


# Data sets as ARFF files of Weka, MEKA or CLUS, whichever can hold them.


def write_arff_data(dataset: Dataset, file: Any) -> None:
    """Write a data set as ARFF: a hierarchical class of CLUS, labels behind MEKA's ``-C``, or
    the output in the last attributes.

    A comment ``% task: ranking`` tells what the attributes do not, and others pass over it.
    """
    if not isinstance(dataset.inputs, Table) or dataset.task == "sequence":
        raise DataFormatError("sequences cannot be written as ARFF")
    inputs = dataset.inputs
    keys = _key(dataset, inputs)
    if dataset.task == "hierarchy":
        try:
            graph = LabelGraph.read(dataset.edges or (), dataset.labels)
        except ValueError as error:
            raise DataFormatError(str(error)) from None
        if count_parts(dataset.task, dataset.outputs, len(dataset.labels or ()))[0]:
            raise DataFormatError(
                "a hierarchical class is known as a whole: write what is known in part as csv"
            )
        classes = [()] * len(dataset) if dataset.outputs is None else list(dataset.outputs)
        table = ArffTable(inputs.names, inputs.values, inputs.data, graph, classes, keys)
        write_arff(table, file, dataset.name)
        return
    outputs = _output_columns(dataset, inputs, keys)
    names, values, data = _stack_columns(inputs, outputs)
    relation = dataset.name
    if len(outputs.names) > 1 or (dataset.task == "labels" and outputs.names):
        relation = f"{relation.replace('-C', '_C')}: -C -{len(outputs.names)}"
    comments: tuple[str, ...] = ()
    if dataset.task in _UNTOLD or not outputs.names:
        comments = (task_comment(dataset.task, bool(outputs.names)),)
    write_arff(ArffTable(names, values, data, keys=keys, comments=comments), file, relation)


_UNTOLD = ("ranking", "histogram", "ordinal")  # read as numbers or classes but for a comment
_COMMENT = re.compile(r"% task: ([a-z]+)(, no outputs)?")


def task_comment(task: str, with_outputs: bool) -> str:
    """The comment of a header that tells the task.

    Examples
    --------
    >>> task_comment("ranking", True), stated_task([task_comment("labels", False)])
    ('% task: ranking', ('labels', False))
    """
    return f"% task: {task}" + ("" if with_outputs else ", no outputs")


def stated_task(comments: Any) -> tuple[str | None, bool]:
    """The task that a comment tells, or None; and whether there are outputs."""
    for comment in comments:
        found = _COMMENT.fullmatch(comment)
        if found and found[1] in TASKS:
            return found[1], found[2] is None
    return None, True


def _key(dataset: Dataset, inputs: Table) -> dict[str, Any]:
    if dataset.index is None:
        return {}
    taken = {*inputs.names, *(dataset.labels or ())}
    name = next(n for n in chain(["id", "key"], map("key{}".format, count(1))) if n not in taken)
    return {name: tuple(map(str, dataset.index))}


def _output_columns(dataset: Dataset, inputs: Table, keys: dict[str, Any]) -> Table:
    n, labels = len(dataset), dataset.labels or ()
    if dataset.outputs is None and not labels:
        return Table((), (), np.empty((n, 0)))
    if not labels:
        raise DataFormatError("outputs without names of labels cannot be written as ARFF")
    if dataset.task in ("classes", "ordinal"):
        number = {label: code for code, label in enumerate(labels)}
        given = [None] * n if dataset.outputs is None else dataset.outputs
        codes = [np.nan if y is None else number[y] for y in given]
        name = class_name(ArffTable(inputs.names, inputs.values, inputs.data, keys=keys))
        return Table((name,), (tuple(labels),), np.array(codes, dtype=np.float64)[:, None])
    taken = next((name for name in labels if name in {*inputs.names, *keys}), None)
    if taken is not None:
        raise DataFormatError(f"{taken[:60]!r} is the name of an input and of an output")
    values = (("0", "1") if dataset.task == "labels" else None,) * len(labels)
    if dataset.outputs is None:
        return Table(labels, values, np.full((n, len(labels)), np.nan))
    if dataset.task != "labels":
        return Table(labels, values, np.asarray(dataset.outputs, dtype=np.float64))
    return Table(labels, values, indicators(dataset.outputs, labels))


def _stack_columns(inputs: Table, outputs: Table) -> tuple[tuple[Any, ...], tuple[Any, ...], Any]:
    names, values = inputs.names + outputs.names, inputs.values + outputs.values
    if sparse.issparse(inputs.data):
        return names, values, sparse.hstack([inputs.data, sparse.csr_array(outputs.data)], "csr")
    return names, values, np.hstack([inputs.data, outputs.data])
