# SPDX-License-Identifier: BSD-3-Clause
"""LIBSVM files as data sets: label sets, classes, numbers, and labels of a taxonomy."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.arff_writing import write_number
from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.formats.arff_outputs import edges_of, with_edges
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.text import stem
from skstruct.datasets.svm_rows import read_svm
from skstruct.datasets.table import Table
from skstruct.datasets.text_lines import text_lines
from skstruct.exceptions import DataFormatError

MOST_COLUMNS = 1 << 18
_LINE = re.compile(
    r"[^\s:#]*(\s+qid:[0-9]+)?(\s+[0-9]+:[^\s:]+)+\s*|[0-9]+:[^\s:]+(\s+[0-9]+:[^\s:]+)*\s*"
)
_WHOLE = re.compile(r"-?[0-9]+")


def read_libsvm(path, options: ReadOptions) -> Dataset:
    """Read a LIBSVM file.

    Lines of several labels, or of none, make label sets, or a hierarchy if a taxonomy is given;
    else whole numbers and names are classes, and other numbers are regression.
    ``options.labels_file`` names the labels: on each line a number and a name, or a name alone,
    for the labels 0, 1, ... or, if no row has the label 0, for 1, 2, ... Queries, ``qid:7`` behind
    the label, are left out, which a remark says.

    Raises
    ------
    DataFormatError
        Tells line and column.
    """
    path = Path(path)
    queries: list[str] = []
    X, given = read_svm(path, queries=queries)
    remarks = []
    if queries:
        remarks.append(
            f"The queries (qid) of {len(queries):,} rows are left out: every row counts by itself."
        )
    try:
        return _dataset(X, given, path, options, remarks)
    except DataFormatError as error:
        raise error.at(path=path) from None


def _dataset(X, given, path, options, remarks):
    if options.targets or options.id_column:
        raise DataFormatError("the columns of this format have no names; targets, id_column?")
    if not given:
        raise DataFormatError("the file has no rows")
    inputs = _table(X, remarks)
    edges = edges_of(options)
    task, reason = (options.task, "") if options.task else _guess_task(given, edges)
    if options.targets is not None or (given and not any(given) and options.task is None):
        remarks.append("The file is read without outputs.")
        task = options.task or "classes"
        return Dataset(stem(path), "libsvm", task, inputs, remarks=tuple(remarks))
    if reason:
        remarks.append(f"The task is taken for {task!r} ({TASKS[task]}): {reason}.")
    if options.labels_file is not None and task != "regression":
        given, names = _named(given, options.labels_file, remarks)
    else:
        names = sorted({label for labels in given for label in labels}, key=_in_order)
    found = _outputs(task, given, tuple(names), edges)
    return Dataset(stem(path), "libsvm", task, inputs, remarks=tuple(remarks), **found)


def _table(X, remarks) -> Table:
    """Columns named by their index; of very many, only those that occur."""
    if X.shape[1] <= MOST_COLUMNS:
        indices = np.arange(X.shape[1])
    else:
        indices, at = np.unique(X.indices, return_inverse=True)
        remarks.append(f"Of {X.shape[1]} columns the {len(indices)} that occur are kept.")
        shape = (X.shape[0], len(indices))
        X = sparse.csr_array((X.data, at.astype(X.indices.dtype), X.indptr), shape=shape)
    return Table(tuple(map(str, (indices + 1).tolist())), (None,) * len(indices), X)


def _guess_task(given, edges):
    if edges:
        return "hierarchy", "a taxonomy is given"
    if any(len(labels) != 1 for labels in given):
        return "labels", "some rows have several labels or none"
    if all(_is_number(labels[0]) for labels in given) and any(
        not _WHOLE.fullmatch(labels[0]) for labels in given
    ):
        return "regression", "the labels are numbers, not all of them whole"
    return "classes", "every row has one label"


def _is_number(label):
    try:
        float(label)
    except ValueError:
        return False
    return label[0] in "-0123456789."


def _in_order(label):
    """Whole numbers by value and before names."""
    return (0, int(label), "") if _WHOLE.fullmatch(label) and len(label) < 400 else (1, 0, label)


def _outputs(task, given, names, edges) -> dict[str, Any]:
    if task in ("labels", "hierarchy"):
        found = {"labels": names} if task == "labels" else with_edges(names, edges)
        return {"outputs": given, **found}
    wrong = next((i for i, labels in enumerate(given) if len(labels) != 1), None)
    if wrong is not None:
        raise DataFormatError(f"{task!r} has one label per row; row {wrong + 1} has another number")
    labels = [labels[0] for labels in given]
    if task == "regression":
        name = next((label for label in labels if not _is_number(label)), None)
        if name is not None:
            raise DataFormatError(f"the label {name[:40]!r} is not a number")
        return {"outputs": np.array(labels, dtype=np.float64).reshape(-1, 1), "labels": ("y",)}
    return {"outputs": np.array(labels, dtype=str), "labels": names}


def _named(given, path, remarks):
    """The labels by their names, and all names in the order of the file."""
    lines = [line.strip() for line in text_lines(path)]
    lines = [line for line in lines if line and not line.startswith("#")]
    pairs = [re.split(r"[\s,]+", line, maxsplit=1) for line in lines]
    if lines and all(len(pair) == 2 and _WHOLE.fullmatch(pair[0]) for pair in pairs):
        name_of = {str(int(number)): name for number, name in pairs}
    else:
        first = 0 if any("0" in labels for labels in given) else 1
        name_of = {str(k): name for k, name in enumerate(lines, first)}
        remarks.append(f"The first name of {Path(path).name} is that of the label {first}.")
    if len(set(name_of.values())) < len(lines):
        raise DataFormatError("a number or a name comes twice in the list of labels", path=path)
    unknown = next((label for row in given for label in row if label not in name_of), None)
    if unknown is not None:
        raise DataFormatError(f"{Path(path).name} has no name for the label {unknown[:40]!r}")
    return [tuple(name_of[label] for label in labels) for labels in given], list(name_of.values())


def write_libsvm(dataset: Dataset, file) -> None:
    """Write label sets, classes or numbers; nominal columns one-hot, and no names of columns.

    Raises
    ------
    DataFormatError
        For missing values, and names of labels that would read back as something else.
    """
    if not isinstance(dataset.inputs, Table):
        raise DataFormatError("sequences cannot be written in this format")
    X = sparse.csr_array(dataset.inputs.one_hot()[0])
    X.sum_duplicates()
    if not np.isfinite(X.data).all():
        raise DataFormatError("a missing or infinite value, which LIBSVM files cannot hold")
    heads = _heads(dataset)
    for i, head in enumerate(heads):
        part = slice(X.indptr[i], X.indptr[i + 1])
        pairs = zip(X.indices[part].tolist(), X.data[part].tolist())
        fields = [f"{j + 1}:{write_number(value)}" for j, value in pairs if value]
        if not fields and not head:
            fields = ["1:0"]  # an empty line would be no row
        file.write(" ".join([head, *fields]) + "\n")


def _heads(dataset) -> list[str]:
    if dataset.outputs is None:
        return [""] * len(dataset)
    if dataset.task == "regression":
        if np.shape(dataset.outputs)[1:] != (1,):
            raise DataFormatError("several numbers per row, of which LIBSVM files hold one")
        return [write_number(float(value)) for value in dataset.outputs[:, 0]]
    if dataset.task not in ("classes", "labels", "hierarchy"):
        raise DataFormatError(f"the outputs of {dataset.task!r} cannot be written in this format")
    rows = [(y,) for y in dataset.outputs] if dataset.task == "classes" else dataset.outputs
    for name in dict.fromkeys(name for row in rows for name in row):
        _check_name(str(name))
    return [",".join(row) for row in rows]


def _check_name(name):
    from skstruct.datasets.svm_rows import _label

    try:
        sound = _label(name) == name and not re.search(r"[\s,:#\x00]", name) and name[0] != "\ufeff"
    except ValueError:
        sound = False
    if not sound:
        raise DataFormatError(f"the label {name[:40]!r} would read back as something else")


def _sniff(file_name: str, lines: list[str]) -> bool:
    plain = [line.partition("#")[0] for line in lines]
    plain = [line for line in plain if line.strip()][:20]
    fitting = [line for line in plain if _LINE.fullmatch(line.replace("\t", " ").rstrip())]
    ending = file_name.lower().endswith(FORMAT.suffixes)
    return bool(plain) and (len(fitting) == len(plain) or (ending and len(fitting) > 0))


FORMAT = Format(
    name="libsvm",
    suffixes=(".svm", ".libsvm", ".svmlight"),
    tasks=("labels", "classes", "regression", "hierarchy"),
    about="LIBSVM lines 'label,label index:value index:value', indices from 1",
    sniff=_sniff,
    read=read_libsvm,
    write=write_libsvm,
)
