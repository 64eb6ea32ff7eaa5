# SPDX-License-Identifier: BSD-3-Clause
"""Which columns of a table are outputs or names of rows, what kind of outputs they are, and
which rows have none.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from skstruct.datasets.formats.cells import read_cell
from skstruct.datasets.formats.columns import NumberColumn, TextColumn, as_numbers, is_missing
from skstruct.datasets.gaps import IN_CELLS, gaps_remark
from skstruct.exceptions import DataFormatError
from skstruct.tolerances import OUTPUT_FEASIBLE

# Names by which a column of outputs is known, and the task that some of them tell.
KNOWN = {
    **dict.fromkeys(("y", "target", "targets", "label", "class", "classes", "output"), None),
    **dict.fromkeys(("labels", "label_set"), "labels"),
    **dict.fromkeys(("ranking", "rankings", "ranks"), "ranking"),
    **dict.fromkeys(("tags", "sequence"), "sequence"),
}
ROW_NAMES = ("id", "row")  # what the first column is called if it names the rows
MOST_CLASSES = 20  # whole numbers of more values than that are quantities
INDICATORS = {
    **dict.fromkeys(("0", "0.0", "False", "FALSE", "false"), 0),
    **dict.fromkeys(("1", "1.0", "True", "TRUE", "true"), 1),
}


def choose_targets(names: list[str], options: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the output columns, and remarks.

    ``options.targets`` settles it, the empty tuple says that there are none; or
    ``options.n_labels``. Else it is the one column whose name is in :data:`KNOWN`.
    """
    if options.id_column and options.id_column not in names:
        raise DataFormatError(f"no column is called {options.id_column!r} (id_column)")
    if options.targets is None and options.n_labels is not None:
        return last_columns(names, options.n_labels), ()
    if options.targets is None:
        return _guess(names, options)
    targets = tuple(options.targets)
    for target in targets:
        if target not in names:
            some = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
            raise DataFormatError(f"no column is called {target!r} (targets); there are {some}")
    if len(set(targets)) < len(targets):
        raise DataFormatError("a column comes twice in targets")
    if options.id_column and options.id_column in targets:
        raise DataFormatError(f"{options.id_column!r} is both id_column and one of the targets")
    return targets, ()


def last_columns(names: Sequence[str], n: int) -> tuple[str, ...]:
    """So many columns at the end of a table."""
    if not 0 < n <= len(names):
        raise DataFormatError(f"{n} columns at the end are asked for (n_labels) of {len(names)}")
    return tuple(names[-n:])


def is_target(name: str) -> bool:
    """Whether a column of this name is known for an output."""
    return name.strip().lower() in KNOWN


def choose_row_names(names: Any, targets: tuple[Any, ...], options: Any) -> str | None:
    """The column that names the rows, or None.

    ``options.id_column`` settles it, the empty text says that there is none. Else it is the
    first column if that is called ``id``, or ``row`` and no value of it comes twice, which the
    caller has to see.
    """
    if options.id_column is not None:
        return options.id_column or None
    first = next(iter(names), "")
    known = is_row_name(first) and first not in (*targets, *options.nominal)
    return first if known else None


def is_row_name(name: str) -> bool:
    """Whether a first column of this name is taken for names of the rows.

    Examples
    --------
    >>> is_row_name("ID"), is_row_name("row_"), is_row_name("width")
    (True, True, False)
    """
    return name.strip().rstrip("_").lower() in ROW_NAMES


def _guess(names: list[str], options: Any) -> tuple[tuple[str], tuple[str]]:
    found = [name for name in names if is_target(name) and name != options.id_column]
    if len(found) == 1:
        return (found[0],), (f"The column {found[0]!r} is taken for the output (by its name).",)
    what = (
        f"the columns {', '.join(map(repr, found[:5]))} could all be the output"
        if found
        else "no column has a name that tells the output, such as y, class, labels or ranking"
    )
    raise DataFormatError(
        f"{what}; name the columns to predict (targets), or none if there are none to read"
    )


def guess_task(columns: list[TextColumn], options: Any) -> tuple[str, str]:
    """Task of output columns, and why."""
    if options.edges_file is not None:
        return "hierarchy", "a taxonomy is given"
    if len(columns) > 1:
        return _task_of_many(columns)
    (column,) = columns
    texts = [text for text in column.texts if not is_missing(text)]
    known = KNOWN.get(column.name.strip().lower())
    orders = any(mark in text for mark in ">=" for text in texts)
    if known == "labels":
        return _task_of_sets(column.name, texts)
    if known and (known != "ranking" or orders or not texts):
        return known, f"the column is called {column.name!r}"
    numbers = as_numbers(texts)
    if numbers is not None and texts:
        whole = (np.isfinite(numbers) & (numbers == np.round(numbers))).all()
        if whole and len(texts) <= MOST_CLASSES:
            return "classes", f"{column.name!r} holds few whole numbers"
        return "regression", f"{column.name!r} holds numbers"
    if texts and all(">" in text for text in texts):
        return "ranking", f"every text of {column.name!r} has a '>'"
    if any(";" in text for text in texts):
        return "labels", f"texts of {column.name!r} have a ';'{_not_paths(texts)}"
    return "classes", f"{column.name!r} holds names{_not_paths(texts)}"


def _not_paths(texts: list[str]) -> str:
    """What is said of texts with a slash, or with '>' in its place, that is taken for a letter."""
    marks = {
        "/": "if these are paths of a taxonomy, the task is 'hierarchy'",
        ">": "steps of a path are read where '/' is between them",
    }
    for mark, advice in marks.items():
        marked = next((text for text in texts if mark in text.strip(">")), None)
        if marked is not None:
            return f", such as {marked[:60]!r} ({advice})"
    return ""


def _task_of_sets(name: str, texts: list[str]) -> tuple[str, str]:
    """Label sets, or a hierarchy where the names are paths of one."""
    names = sorted(names_of_sets(texts))
    if any("/" in label for label in names) and are_paths(set(names)):
        path = next(label for label in names if "/" in label)
        return "hierarchy", f"labels in {name!r} are paths that begin alike, such as {path[:60]!r}"
    return "labels", f"the column is called {name!r}{_not_paths(names)}"


def names_of_sets(texts: Iterable[str]) -> set[str]:
    """Names in cells of label sets; none of a cell that reading will refuse.

    >>> sorted(names_of_sets(["drama;war", "war"]))
    ['drama', 'war']
    """
    names: set[str] = set()
    for text in texts:
        with contextlib.suppress(DataFormatError):
            names.update(read_cell("labels", text))
    return names


def are_paths(names: set[str]) -> bool:
    """Whether names tell a taxonomy: each is a path or the first step of one, and some begin alike.

    >>> are_paths({"Home/Kitchen", "Home/Bath", "Home"}), are_paths({"AC/DC", "TCP/IP"})
    (True, False)
    """
    steps = [name.split("/") for name in names]
    first = {path[0] for path in steps if len(path) > 1}
    within = all(path[0] in first and "" not in path for path in steps)
    return within and len(first) < len(names)


_MANY = {  # in this order
    "labels": "all outputs are 0 or 1",
    "ranking": "every row of outputs is an order of 1, 2, ...",
    "histogram": "every row of outputs adds up to one",
    "regression": "the outputs are numbers",
}


def _task_of_many(columns: list[TextColumn]) -> tuple[str, str]:
    return first_task(tasks_of_rows(columns))


def first_task(possible: set[Any]) -> tuple[str, str]:
    """Of the tasks that several columns of outputs may be of, the most special; and why."""
    task = next((task for task in _MANY if task in possible), None)
    if task is None:
        raise DataFormatError(
            "several columns of outputs, truth values in some rows and other numbers in others: "
            "name the task, or one column"
        )
    return task, _MANY[task]


def tasks_of_rows(columns: list[TextColumn]) -> set[str]:
    """The same by the rows that have all outputs; what others have must be of that kind, too."""
    missing = is_unlabelled(columns, "")
    if not missing.any():
        return tasks_of_many(columns)
    texts = {text for column in columns for text in column.texts if not is_missing(text)}
    rows = np.flatnonzero(~missing)
    possible = {"labels", "regression"}
    if len(rows):
        possible = tasks_of_many([taken(column, rows) for column in columns])
    return possible if texts <= set(INDICATORS) else possible - {"labels"}


def tasks_of_many(columns: list[TextColumn]) -> set[str]:
    """What several columns of outputs may be; of blocks of rows, what all of them may be."""
    is_labels = all(text in INDICATORS for column in columns for text in column.texts)
    numbers: list[Any] = [as_numbers(column.texts) for column in columns]
    if any(found is None for found in numbers):
        if is_labels:  # truth values
            return {"labels"}
        wrong = next(c.name for c, found in zip(columns, numbers) if found is None)
        raise DataFormatError(
            f"several columns of outputs, and {wrong!r} holds text: name the task, or one column"
        )
    table = np.column_stack([found[c.codes] for c, found in zip(columns, numbers)])
    may_be = {
        "labels": is_labels,
        "ranking": (np.sort(table, axis=1) == np.arange(1, len(columns) + 1)).all(),
        "histogram": (table >= 0).all() and np.allclose(table.sum(axis=1), 1, atol=OUTPUT_FEASIBLE),
    }
    return {"regression", *(t for t, may in may_be.items() if may and (len(table) or is_labels))}


# Which column of a file that is read in blocks names the rows.


_ROWS_COMPARED = 10_000  # read at once
_DIGITS = 18  # of numbers that are compared


def find_row_names(source: Any, targets: tuple[Any, ...], options: Any) -> str | None:
    """The column that names the rows, or None, as for a file that is read as a whole.

    A first column called ``row`` does so if no value comes twice, which takes a look at all of
    them. Whole numbers that increase are seen to differ without being remembered.

    Parameters
    ----------
    source : CsvBlocks or ParquetBlocks
    targets : names of the columns of outputs
    options : ReadOptions
    """
    name = choose_row_names(source.names, targets, options)
    if name is None or options.id_column is not None:
        return name
    if not name.strip().lower().startswith("row"):
        return name
    return name if _increase(source, name) or _all_differ(source, name) else None


def _texts(source: Any, name: str) -> Iterator[str]:
    for _, (column,) in source.blocks(_ROWS_COMPARED, {name: True}):
        yield from column.cells()


def _increase(source: Any, name: str) -> bool:
    """Whether a column holds whole numbers, plainly written, each above the one before."""
    last = -1
    for text in _texts(source, name):
        plain = len(text) <= _DIGITS and text.isascii() and text.isdecimal()
        if not plain or int(text) <= last:
            return False
        last = int(text)
    return True


def _all_differ(source: Any, name: str) -> bool:
    seen: set[str] = set()
    for text in _texts(source, name):
        if text in seen:
            return False
        seen.add(text)
    return True


# Rows without an output: counted and refused, or left out.


MAY_BE_EMPTY = ("labels", "hierarchy", "ranking", "sequence")  # where one cell holds all names


def is_unlabelled(columns: list[TextColumn], task: str) -> np.ndarray:
    """Whether a row has no output: one of its cells says so; shape (n,).

    An empty cell that may hold several names is the empty set, ranking or sequence.
    """
    empty = len(columns) > 1 or task not in MAY_BE_EMPTY
    missing = np.zeros(len(columns[0].codes), dtype=bool)
    for column in columns:
        says = [is_missing(text) and (empty or bool(text.strip())) for text in column.texts]
        missing |= np.array(says, dtype=bool)[column.codes]
    return missing


def count_gaps(columns: list[TextColumn], task: str) -> tuple[int, int]:
    """How many cells of outputs are missing, and how many there are."""
    gaps = sum(int(is_unlabelled([column], task).sum()) for column in columns)
    if len(columns) > 1:
        gaps = sum(int(is_unlabelled([column], "").sum()) for column in columns)
    return gaps, sum(len(column.codes) for column in columns)


def labelled_rows(
    columns: list[TextColumn], task: str, skip: bool, fail: Callable[..., Any], remarks: list[str]
) -> np.ndarray | None:
    """Numbers of the rows that have outputs, None where all have.

    Parameters
    ----------
    columns : list of TextColumn
        The outputs.
    skip : bool
        Whether rows without an output are left out; else the first of them is an error, unless
        outputs of the task may be known in part, and some cell is.
    fail : as in :func:`~skstruct.datasets.formats.outputs.assemble`
    """
    missing = is_unlabelled(columns, task)
    if not missing.any():
        return None
    gaps, cells = count_gaps(columns, task)
    if not skip and task in IN_CELLS and gaps < cells:
        remarks.append(gaps_remark(gaps, cells, "skip_unlabelled"))
        return None
    n = int(missing.sum())
    first, column, why = first_without(columns, task, missing)
    if not skip:
        raise fail(f"{why}; {unlabelled_message(n)}", first, column)
    if n == len(missing):
        raise fail("no row has an output, and those without one are to be left out")
    remarks.append(left_out(n, fail("", first, column), first))
    return np.flatnonzero(~missing)


def first_without(
    columns: list[TextColumn], task: str, missing: np.ndarray
) -> tuple[int, str, str]:
    """The first row without an output, the column that says so, and what is wrong with it."""
    first = int(missing.argmax())
    column = next(
        c for c in columns if len(columns) == 1 or is_missing(c.texts[int(c.codes[first])])
    )
    return first, column.name, _problem(column.texts[int(column.codes[first])], task, len(columns))


def unlabelled_message(n: int) -> str:
    """How many rows have no output, and what can be done."""
    some = "1 row has no output" if n == 1 else f"{n:,} rows have no output, this is the first"
    return f"{some}: fill the cells, or leave the rows out (skip_unlabelled)"


def left_out(n: int, error: DataFormatError, row: int) -> str:
    """The remark on rows that are left out."""
    where = f"row {row + 1}" if error.line is None else f"line {error.line}"
    some = "1 row without an output is" if n == 1 else f"{n:,} rows without an output are"
    return f"{some} left out; the first is {where}."


def _problem(text: str, task: str, n_columns: int) -> str:
    if n_columns == 1 and task in MAY_BE_EMPTY:
        try:
            read_cell(task, text)
        except DataFormatError as error:
            return error.problem
    what = "the class" if task in ("classes", "ordinal") else "a value"
    return f"{what} is missing ({text[:60]!r} says so)"


def taken(column: Any, rows: np.ndarray) -> Any:
    """Some rows of a column; texts that none of them has are forgotten."""
    if isinstance(column, NumberColumn):
        return NumberColumn(column.name, column.numbers[rows])
    return TextColumn.of(column.name, [column.texts[code] for code in column.codes[rows].tolist()])


def placed(fail: Callable[..., Any], rows: np.ndarray | None, start: int = 0) -> Callable[..., Any]:
    """What makes errors of a file, for rows that were taken of a block that begins at ``start``."""

    def fail_there(problem: str, row: int | None = None, column: str | None = None) -> Any:
        inside = row if rows is None or row is None else int(rows[row])
        return fail(problem, None if inside is None else start + inside, column)

    return fail_there
