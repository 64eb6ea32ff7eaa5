# SPDX-License-Identifier: BSD-3-Clause
"""ARFF files as data sets, in the dialects of Weka, MEKA, MULAN and CLUS."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.dataset import TASKS, Dataset, Table
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import stem
from skstruct.datasets.formats.arff.label_list import read_label_list
from skstruct.datasets.formats.arff.outputs import are_bits, edges_of, guess_task, outputs_of
from skstruct.datasets.formats.arff.reading import ArffTable, read_arff
from skstruct.datasets.formats.arff.writing import stated_task, write_arff_data
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.targets import is_target, last_columns, left_out
from skstruct.datasets.gaps import gaps_remark
from skstruct.exceptions import DataFormatError

_MEKA_OPTION = re.compile(r"-C\s+(-?\d{1,9})(?![\w.])")  # Weka's filters follow: -C 6-weka


def read_arff_data(path: Path, options: ReadOptions) -> Dataset:
    """Read an ARFF file.

    What is to be predicted is named by ``options.targets``, or by their number,
    ``options.n_labels``; else it is the hierarchical class of CLUS, the labels of MULAN's list
    (given, or found beside the file), the attributes that MEKA's ``-C n`` in the name of the
    relation tells, or the last attribute. Several last attributes of 0 and 1 may be labels whose
    list is not there: these are not read before somebody says which they are. A comment
    ``% task: ranking`` in the header, as ``write_data`` makes it, tells the task.

    Raises
    ------
    DataFormatError
        Tells line and column.
    """
    path = text_path(path)
    table = read_arff(path)
    try:
        return _dataset(table, path, options)
    except DataFormatError as error:
        raise error.at(path=path) from None


def _dataset(table: ArffTable, path: Path, options: ReadOptions) -> Dataset:
    index, table, remarks = _row_names(table, options)
    options = _stated(table, options, remarks)
    if table.hierarchy is not None and options.targets is None:
        return _of_hierarchy(table, path, options, index, remarks)
    format_name, targets, edges = _targets(table, path, options, remarks)
    chosen = [table.names.index(name) for name in targets]
    if chosen and options.skip_unlabelled:
        index, table = _labelled(table, chosen, index, remarks)
    inputs = _inputs(table, chosen, remarks)
    edges = edges_of(options) or edges
    if not chosen:
        remarks.append("The file is read without outputs.")
        task, found = options.task or "classes", {}
    else:
        given = _plain(table.take(chosen))
        task, reason = (options.task, "") if options.task else guess_task(given, edges)
        if reason:
            remarks.append(f"The task is taken for {task!r} ({TASKS[task]}): {reason}.")
        found = outputs_of(task, given, edges)
        gaps = int(np.isnan(given.data.data if sparse.issparse(given.data) else given.data).sum())
        if gaps and found["outputs"] is not None:
            remarks.append(gaps_remark(gaps, len(given) * len(given.names), "skip_unlabelled"))
    return Dataset(
        stem(path), format_name, task, inputs, index=index, remarks=tuple(remarks), **found
    )


def _stated(table: ArffTable, options: ReadOptions, remarks: list[str]) -> ReadOptions:
    """The options, and what a comment of the header says of the outputs if they do not."""
    task, with_outputs = stated_task(table.comments)
    if task is None or options.targets is not None:
        return options
    if options.task is None:
        remarks.append(f"The task is {task!r} ({TASKS[task]}), as a comment of the file says.")
        options = replace(options, task=task)
    return options if with_outputs else replace(options, targets=())


def _row_names(
    table: ArffTable, options: ReadOptions
) -> tuple[tuple[Any, ...] | None, ArffTable, list[str]]:
    """Names of the rows, the table without their column, and remarks to be continued."""
    remarks = list(table.remarks)
    keys = table.keys or {}
    wanted = next(iter(keys), None) if options.id_column is None else options.id_column
    if wanted == "":
        return None, table, remarks
    if wanted is None or wanted in keys:
        if len(keys) > 1:
            remarks.append(f"Of {len(keys)} key attributes, {wanted!r} names the rows.")
        return None if wanted is None else keys[wanted], table, remarks
    if wanted not in table.names:
        raise DataFormatError(f"no attribute is called {wanted!r} (id_column)")
    if wanted in (options.targets or ()):
        raise DataFormatError(f"{wanted!r} is both id_column and one of the targets")
    j = table.names.index(wanted)
    column, values = _plain(table.take([j])).data, table.values[j]
    column = (column.toarray() if sparse.issparse(column) else column)[:, 0]
    shown = [
        "" if np.isnan(v) else f"{v:.15g}" if values is None else values[int(v)] for v in column
    ]
    rest = [k for k in range(len(table.names)) if k != j]
    return tuple(shown), table.take(rest), remarks


def _labelled(
    table: ArffTable, chosen: list[int], index: Any, remarks: list[Any]
) -> tuple[tuple[Any, ...] | None, ArffTable]:
    """Names of the rows and the table without those that have no output."""
    found = _plain(table.take(chosen)).data
    found = found.toarray() if sparse.issparse(found) else found
    missing = np.isnan(found).any(axis=1)
    if not missing.any():
        return index, table
    if missing.all():
        raise DataFormatError("no row has an output, and those without one are to be left out")
    first, rows = int(missing.argmax()), np.flatnonzero(~missing)
    remarks.append(left_out(int(missing.sum()), DataFormatError(""), first))
    return None if index is None else tuple(index[i] for i in rows), table.rows(rows)


def _of_hierarchy(
    table: ArffTable,
    path: Path,
    options: ReadOptions,
    index: tuple[Any, ...] | None,
    remarks: list[Any],
) -> Dataset:
    if options.task not in (None, "hierarchy", "labels"):
        raise DataFormatError(f"the class is hierarchical; the task {options.task!r} is another")
    if options.skip_unlabelled:
        return _with_classes(table, path, options, index, remarks)
    classes = table.classes or []
    n_bare = sum(not labels for labels in classes)
    if n_bare == len(classes) and n_bare:
        remarks.append("The file is read without outputs: all are '?'.")
    elif n_bare:
        remarks.append(f"{n_bare} rows have no label ('?').")
    graph: Any = table.hierarchy
    names, dag = graph.names, graph.dag
    edges = tuple((names[p], names[c]) for p, c in zip(dag.parents, dag.children))
    return Dataset(
        *(stem(path), "clus", "hierarchy" if options.task is None else options.task),
        _inputs(table, [], remarks),
        outputs=None if n_bare == len(classes) and n_bare else classes,
        labels=names,
        edges=None if options.task == "labels" else edges,
        index=index,
        remarks=tuple(remarks),
    )


def _with_classes(
    table: ArffTable,
    path: Path,
    options: ReadOptions,
    index: tuple[Any, ...] | None,
    remarks: list[Any],
) -> Dataset:
    """The same without the rows whose class is '?'."""
    classes = table.classes or []
    rows = np.array([i for i, labels in enumerate(classes) if labels], dtype=np.int64)
    n = len(classes) - len(rows)
    if n and not len(rows):
        raise DataFormatError("no row has an output, and those without one are to be left out")
    if n:
        first = next(i for i, labels in enumerate(classes) if not labels)
        remarks.append(left_out(n, DataFormatError(""), first))
        index = None if index is None else tuple(index[i] for i in rows)
        table = replace(table.rows(rows), classes=[classes[i] for i in rows])
    options = replace(options, skip_unlabelled=False)
    return _of_hierarchy(table, path, options, index, remarks)


def _targets(
    table: ArffTable, path: Path, options: ReadOptions, remarks: list[str]
) -> tuple[str, tuple[Any, ...], tuple[Any, ...]]:
    """Format, names of the attributes to predict, and edges between them."""
    names = table.names
    if options.targets is not None:
        for name in options.targets:
            if name not in names:
                some = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
                raise DataFormatError(
                    f"no attribute is called {name!r} (targets); there are {some}"
                )
        if len(set(options.targets)) < len(options.targets):
            raise DataFormatError("an attribute comes twice in targets")
        return "arff", tuple(options.targets), ()
    if options.n_labels is not None:
        return "mulan", last_columns(names, options.n_labels), ()
    found = label_list_for(path, options, names, remarks)
    if found is not None:
        listed = set(found[0])
        return "mulan", tuple(name for name in names if name in listed), found[1]
    meka = _MEKA_OPTION.search(table.relation)
    if meka:
        n = int(meka[1])
        if not 0 < abs(n) <= len(names):
            raise DataFormatError(
                f"the relation says -C {n}, and there are {len(names)} attributes"
            )
        remarks.append(f"The relation says {meka[0]!r}: {abs(n)} attributes are the output.")
        told = names[:n] if n > 0 else names[n:]
        if options.task is None:
            _check_kind(table, told, meka[0])
        return "mulan", told, ()
    return "arff", _last(table, options, remarks), ()


def _check_kind(table: ArffTable, told: tuple[str, ...], option: str) -> None:
    """Raise where the relation tells outputs that may be labels as well as numbers."""
    outputs = table.take([table.names.index(name) for name in told])
    data = outputs.data.data if sparse.issparse(outputs.data) else outputs.data
    numeric = all(values is None for values in outputs.values)
    if numeric and len(outputs) and np.isin(data, (0, 1)).all():
        raise DataFormatError(
            f"the relation says {option!r}, and these {len(told)} attributes are numeric, all 0 or "
            "1: say whether they are labels (task='labels') or numbers (task='regression')"
        )


def _last(table: ArffTable, options: ReadOptions, remarks: list[str]) -> tuple[str]:
    """The last attribute that fits the task; refused where it may be one label of many."""
    fits = {"classes": True, "ordinal": True, "regression": False}.get(options.task or "")
    last = next(
        (
            name
            for name, values in zip(table.names[::-1], table.values[::-1])
            if fits is None or (values is not None) == fits
        ),
        None,
    )
    if last is None:
        raise DataFormatError("no attribute is left to predict")
    n = _n_binary(table)
    if n > 1 and options.task in (None, "labels", "hierarchy") and not is_target(last):
        ignored = f" {remarks[-1]}" if remarks else ""  # a list of other labels
        raise DataFormatError(
            f"nothing tells the labels, and the last {n} attributes are all 0 or 1, or all false "
            "or true: say how many are labels, counted from the last (n_labels), put MULAN's list, "
            "an XML file of the same name, beside the file or give it (labels_file), or name what "
            f"is predicted (targets).{ignored}"
        )
    remarks.append(f"The attribute {last!r} is taken for the output (the last one).")
    return (last,)


def _n_binary(table: ArffTable) -> int:
    """How many attributes at the end are nominal, with the values 0 and 1, or false and true."""
    given = [values or () for values in table.values[::-1]]
    others = [len(values) != 2 or not are_bits(values) for values in given]
    return [*others, True].index(True)


def _inputs(table: ArffTable, chosen: list[int], remarks: list[str]) -> Table:
    """All columns but those chosen; strings are left out."""
    outside, strings = set(chosen), set(table.strings)
    left_out = [n for j, n in enumerate(table.names) if n in strings and j not in outside]
    if left_out:
        remarks.append(
            f"{len(left_out)} string attributes are left out of the inputs: "
            f"{', '.join(map(repr, left_out[:5]))}."
        )
    kept = [j for j, n in enumerate(table.names) if j not in outside and n not in left_out]
    return _plain(table.take(kept))


def _plain(table: ArffTable) -> Table:
    return Table(table.names, table.values, table.data)


def declares(lines: list[str], pattern: str) -> bool:
    """Whether a line of an ARFF header is like this, and nothing speaks against ARFF."""
    words = [line.strip().lstrip("\ufeff").lower() for line in lines]
    words = [line for line in words if line and not line.startswith("%")]
    if not words or not words[0].startswith(("@relation", "@attribute")):
        return False
    return any(re.match(pattern, line) for line in islice(words, 10_000))


def _sniff_arff(file_name: str, lines: list[str]) -> bool:
    return declares(lines, "@(relation|attribute)") or (
        file_name.lower().endswith(".arff") and all(_is_comment(line) for line in lines)
    )


def _is_comment(line: Any) -> Any:
    return not line.strip() or line.lstrip("\ufeff \t").startswith("%")


ARFF = Format(
    name="arff",
    suffixes=(".arff",),
    tasks=("classes", "regression", "ordinal", "labels", "hierarchy", "ranking", "histogram"),
    about="ARFF of Weka, dense or sparse; the last attribute is the output",
    sniff=_sniff_arff,
    read=read_arff_data,
    write=write_arff_data,
)


# The ARFF dialect of CLUS, with a hierarchical class.


def _reader(name: str, problem: str) -> Callable[..., Any]:
    """Reads ARFF files that are of this dialect, unless ``options.targets`` is given."""

    def read(path: Path, options: ReadOptions) -> Dataset:
        data = read_arff_data(path, options)
        if options.targets is None and data.format != name:
            raise DataFormatError(problem, path=path)
        return data

    return read


def _sniff_clus(file_name: str, lines: list[str]) -> bool:
    return declares(lines, r"@attribute\s.*\shierarchical\s")


CLUS = Format(
    name="clus",
    suffixes=(".arff",),
    tasks=("hierarchy", "labels"),
    about="ARFF of CLUS, with a hierarchical class and key attributes",
    sniff=_sniff_clus,
    read=_reader("clus", "no attribute is hierarchical"),
    write=write_arff_data,
)


# MULAN's label sets: ARFF files with a list of labels in XML, or MEKA's ``-C`` instead.


_PART = re.compile(r"[-_.](train|test|valid|validation|dev)(?=$|[-_.])", re.IGNORECASE)


def label_list_for(
    path: Path, options: ReadOptions, names: tuple[Any, ...], remarks: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]] | None:
    """Labels and edges of the list that was given or lies beside the file, or None."""
    if options.labels_file is not None:
        labels, edges = read_label_list(options.labels_file)
        unknown = next((label for label in labels if label not in set(names)), None)
        if unknown is not None:
            raise DataFormatError(
                f"the list of labels names {unknown[:60]!r}, which is no attribute of this file"
            )
        return labels, edges
    beside = _label_list_beside(text_path(path))
    if beside is None:
        return None
    labels, edges = read_label_list(beside)
    if not set(labels) <= set(names):
        remarks.append(f"{beside.name} lists labels of other names, and is not used.")
        return None
    remarks.append(f"The labels are those listed in {beside.name}.")
    return labels, edges


def _label_list_beside(path: Path) -> Path | None:
    """The list x.xml of x.arff, x-train.arff or x-test.arff, packed or not."""
    name = stem(path)
    for candidate in dict.fromkeys((name, _PART.sub("", name))):
        for ending in (".xml", ".xml.xz", ".xml.gz"):
            file = path.with_name(candidate + ending)
            if candidate and file.is_file():
                return file
    return None


def _sniff_mulan(file_name: str, lines: list[str]) -> bool:
    return declares(lines, r"@relation\s.*-c\s+-?\d")


MULAN = Format(
    name="mulan",
    suffixes=(".arff",),
    tasks=("labels", "hierarchy", "regression", "ranking", "histogram", "classes", "ordinal"),
    about="label sets of MULAN (ARFF and a list of labels in XML) or MEKA (-C in the relation)",
    sniff=_sniff_mulan,
    read=_reader(
        "mulan",
        "nothing tells the labels; give MULAN's list (labels_file), put it beside the file, or "
        "say how many of the last attributes they are (n_labels), or which (targets)",
    ),
    write=write_arff_data,
)
