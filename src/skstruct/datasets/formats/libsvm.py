# SPDX-License-Identifier: BSD-3-Clause
"""LIBSVM files: on each line labels, then ``index:value`` pairs that count from 1."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.rows import narrow_indices
from skstruct.datasets.dataset import TASKS, Dataset, Table
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import stem, text_blocks, text_lines
from skstruct.datasets.formats.arff.outputs import edges_of, with_edges
from skstruct.datasets.formats.arff.writing import write_number
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.exceptions import DataFormatError

COMPILED_FROM = 1 << 18  # characters of a block; fewer are read before a compiler is loaded
_PAIR = re.compile(r"([0-9]+):([0-9.+-][0-9.+eE-]*)")
_QUERY = re.compile(r" *qid:([0-9]+)(?= |$)")
_NUMBER_LIKE = re.compile(r"[0-9.+-][0-9.+eE-]*|[+-]?(nan|inf|infinity)", re.IGNORECASE)


def read_svm(
    path: Path, n_features: int | None = None, queries: list[str] | None = None
) -> tuple[Any, list[tuple[Any, ...]]]:
    """Read a LIBSVM file, of several labels per line, of one, or of none.

    Parameters
    ----------
    path : str or path
    n_features : int, default=None
        Least number of columns; a larger index adds columns.
    queries : list, default=None
        Gets the ``qid:`` of every row that has one; otherwise they are left out.

    Returns
    -------
    X : csr_array of shape (n_rows, n_columns)
        Column j holds the index j + 1.
    labels : list of tuples of str
        Whole numbers without sign "+", leading zeros or ".0"; other numbers by repr; names as
        they are.

    Raises
    ------
    DataFormatError
        Tells line and column, which counts the fields between spaces.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "few.svm"
    ...     _ = path.write_text("1,3 1:0.5 4:-2\\n 2:1  # no label\\n+1\\n")
    ...     X, labels = read_svm(path)
    >>> X.toarray()
    array([[ 0.5,  0. ,  0. , -2. ],
           [ 0. ,  1. ,  0. ,  0. ],
           [ 0. ,  0. ,  0. ,  0. ]])
    >>> labels
    [('1', '3'), (), ('1',)]
    """
    parts: tuple[list[Any], list[Any], list[Any]] = [], [], []  # indices, values, numbers of pairs
    labels: list[tuple[str, ...]] = []
    known: dict[str, tuple[str, ...]] = {"": ()}
    try:
        for start, lines in text_blocks(path):
            numbers, heads, tails = _split(start, lines)
            tails = _without_queries(tails, [] if queries is None else queries)
            labels += [_labels(head, known, number) for head, number in zip(heads, numbers)]
            for part, found in zip(parts, _pairs(tails, numbers, heads)):
                part.append(found)
    except DataFormatError as error:
        raise error.at(path=path) from None
    indices, values, counts = parts
    columns = np.concatenate([np.empty(0, dtype=np.int64), *indices]) - 1
    ends = np.cumsum(np.concatenate([[0], *counts]))
    shape = (len(labels), max(n_features or 0, int(columns.max(initial=-1)) + 1))
    data = (np.concatenate([np.empty(0), *values]), columns, ends)
    X = narrow_indices(sparse.csr_array(data, shape=shape))
    X.eliminate_zeros()
    return X, labels


def _split(start: int, lines: list[str]) -> tuple[list[int], list[str], list[str]]:
    """Numbers of the lines that hold something, their labels and their pairs."""
    numbers, heads, tails = [], [], []
    for number, line in enumerate(lines, start):
        if "#" in line:
            line = line.partition("#")[0]
        if "\t" in line:
            line = line.replace("\t", " ")
        line = line.rstrip(" ")
        if not line:
            continue
        head, _, tail = line.partition(" ")
        if ":" in head:  # no label, and no space that says so
            head, tail = "", line
        numbers.append(number)
        heads.append(head)
        tails.append(tail)
    return numbers, heads, tails


def _without_queries(tails: list[str], queries: list[Any]) -> list[str]:
    """The pairs without ``qid:7`` before them, the query that a row of a ranking belongs to.

    Where it is no number it stays, to be refused with its line.
    """
    found = [_QUERY.match(tail) if "qid:" in tail else None for tail in tails]
    queries += [match[1] for match in found if match]
    return [tail[match.end() :] if match else tail for tail, match in zip(tails, found)]


def _labels(head: str, known: dict[str, tuple[str, ...]], number: int) -> tuple[str, ...]:
    if head not in known:
        try:
            names = tuple(_label(name) for name in head.split(","))
            if len(set(names)) < len(names):
                raise ValueError(f"a label comes twice in {head[:40]!r}")
        except ValueError as error:
            raise DataFormatError(str(error), line=number, column=1) from None
        known[head] = names
    return known[head]


def _label(name: str) -> str:
    if not name:
        raise ValueError("a label between two commas is empty")
    if not _NUMBER_LIKE.fullmatch(name):
        return name
    try:
        value = float(name) + 0.0  # -0 is 0
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"the label {name[:40]!r} is not a number")
    return f"{value:.0f}" if value.is_integer() and abs(value) < 2**53 else repr(value)


def _pairs(
    tails: list[str], numbers: list[int], heads: list[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices and values of all rows in a row, and how many pairs each of them has."""
    n = len(tails)
    fine, counts = np.zeros(n, dtype=bool), np.zeros(n, dtype=np.int64)
    indices, values = np.empty(0, dtype=np.int64), np.empty(0)
    if sum(map(len, tails)) >= COMPILED_FROM:
        from skstruct.datasets.formats._numba import read_svm_rows

        text = ("\n".join(tails) + "\n").encode()
        size = text.count(b":")
        indices, values, last = np.empty(size, np.int64), np.empty(size), np.empty(n, np.int64)
        view = np.frombuffer(text, dtype=np.uint8)
        size = read_svm_rows(view, indices, values, last, fine)
        indices, values, counts = indices[:size], values[:size], np.diff(last, prepend=0)
    odd = {i: _read_pairs(tails[i], numbers[i], heads[i] != "") for i in np.flatnonzero(~fine)}
    if odd:
        starts = np.cumsum(counts)  # where the pairs of odd rows, of which none are there, belong
        at = np.concatenate([np.full(len(pairs), starts[i]) for i, pairs in odd.items()])
        more = [pair for pairs in odd.values() for pair in pairs]
        indices = np.insert(indices, at.astype(int), [index for index, _ in more])
        values = np.insert(values, at.astype(int), [value for _, value in more])
        counts[list(odd)] = [len(pairs) for pairs in odd.values()]
    return indices, values, counts


def _read_pairs(tail: str, number: int, has_label: bool) -> list[tuple[int, float]]:
    """Pairs of one row: the judge of what a row may hold."""
    pairs: list[tuple[int, float]] = []
    for column, field in enumerate(tail.split(" "), 1 + has_label):
        if not field:
            continue
        try:
            pairs.append(_pair(field, pairs[-1][0] if pairs else 0))
        except ValueError as error:
            raise DataFormatError(str(error), line=number, column=column) from None
    return pairs


def _pair(field: str, before: int) -> tuple[int, float]:
    if field.startswith("qid:"):
        raise ValueError(f"expected 'qid:number' once, after the label, got {field[:40]!r}")
    found = _PAIR.fullmatch(field)
    if found is None:
        raise ValueError(f"expected 'index:value', got {field[:40]!r}")
    if len(found[1]) > 9 or int(found[1]) == 0:
        raise ValueError(
            f"an index is from 1 to 999999999, got {found[1][:40]}; scikit-learn writes such files "
            "with zero_based=False"
        )
    if int(found[1]) <= before:
        raise ValueError(f"indices rise; got {found[1]} after {before}")
    try:
        value = float(found[2])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{found[2][:40]!r} is not a finite number")
    return int(found[1]), value


# LIBSVM files as data sets: label sets, classes, numbers, and labels of a taxonomy.


MOST_COLUMNS = 1 << 18
_LINE = re.compile(
    r"[^\s:#]*(\s+qid:[0-9]+)?(\s+[0-9]+:[^\s:]+)+\s*|[0-9]+:[^\s:]+(\s+[0-9]+:[^\s:]+)*\s*"
)
_WHOLE = re.compile(r"-?[0-9]+")


def read_libsvm(path: Path, options: ReadOptions) -> Dataset:
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
    path = text_path(path)
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


def _dataset(
    X: Any, given: list[Any], path: Path, options: ReadOptions, remarks: list[str]
) -> Dataset:
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


def _table(X: Any, remarks: list[str]) -> Table:
    """Columns named by their index; of very many, only those that occur."""
    if X.shape[1] <= MOST_COLUMNS:
        indices = np.arange(X.shape[1])
    else:
        indices, at = np.unique(X.indices, return_inverse=True)
        remarks.append(f"Of {X.shape[1]} columns the {len(indices)} that occur are kept.")
        shape = (X.shape[0], len(indices))
        X = sparse.csr_array((X.data, at.astype(X.indices.dtype), X.indptr), shape=shape)
    return Table(tuple(map(str, (indices + 1).tolist())), (None,) * len(indices), X)


def _guess_task(given: list[Any], edges: tuple[Any, ...]) -> tuple[str, str]:
    if edges:
        return "hierarchy", "a taxonomy is given"
    if any(len(labels) != 1 for labels in given):
        return "labels", "some rows have several labels or none"
    if all(_is_number(labels[0]) for labels in given) and any(
        not _WHOLE.fullmatch(labels[0]) for labels in given
    ):
        return "regression", "the labels are numbers, not all of them whole"
    return "classes", "every row has one label"


def _is_number(label: str) -> bool:
    return _NUMBER_LIKE.fullmatch(label) is not None  # others were refused when they were read


def _in_order(label: str) -> tuple[int, int, str]:
    """Whole numbers by value and before names."""
    return (0, int(label), "") if _WHOLE.fullmatch(label) and len(label) < 400 else (1, 0, label)


def _outputs(
    task: str, given: list[Any], names: tuple[Any, ...], edges: tuple[Any, ...]
) -> dict[str, Any]:
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


def _named(
    given: list[Any], path: Path, remarks: list[str]
) -> tuple[list[tuple[Any, ...]], list[str]]:
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


def write_libsvm(dataset: Dataset, file: Any) -> None:
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


def _heads(dataset: Dataset) -> list[str]:
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


def _check_name(name: str) -> None:
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
