# SPDX-License-Identifier: BSD-3-Clause
"""Which columns of a table are outputs, and what kind of outputs they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from skstruct.datasets.formats.columns import TextColumn, as_numbers, is_missing
from skstruct.exceptions import DataFormatError

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


def choose_targets(names, options) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the output columns, and remarks.

    ``options.targets`` settles it, the empty tuple says that there are none. Else the one
    column whose name is in :data:`KNOWN`.
    """
    if options.id_column and options.id_column not in names:
        raise DataFormatError(f"no column is called {options.id_column!r} (id_column)")
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


def choose_row_names(names, targets, options) -> str | None:
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


def _guess(names, options):
    found = [name for name in names if name.strip().lower() in KNOWN and name != options.id_column]
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


def guess_task(columns: list[TextColumn], options) -> tuple[str, str]:
    """Task of output columns, and why."""
    if options.edges_file is not None:
        return "hierarchy", "a taxonomy is given"
    if len(columns) > 1:
        return _task_of_many(columns)
    (column,) = columns
    texts = [text for text in column.texts if not is_missing(text)]
    known = KNOWN.get(column.name.strip().lower())
    orders = any(mark in text for mark in ">=" for text in texts)
    if known and (known != "ranking" or orders or not texts):
        return known, f"the column is called {column.name!r}"
    numbers = as_numbers(texts)
    if numbers is not None and texts:
        if (numbers == np.round(numbers)).all() and len(texts) <= MOST_CLASSES:
            return "classes", f"{column.name!r} holds few whole numbers"
        return "regression", f"{column.name!r} holds numbers"
    if texts and all(">" in text for text in texts):
        return "ranking", f"every text of {column.name!r} has a '>'"
    if any(";" in text for text in texts):
        return "labels", f"texts of {column.name!r} have a ';'"
    return "classes", f"{column.name!r} holds names"


_MANY = {  # in this order
    "labels": "all outputs are 0 or 1",
    "ranking": "every row of outputs is an order of 1, 2, ...",
    "histogram": "every row of outputs adds up to one",
    "regression": "the outputs are numbers",
}


def _task_of_many(columns):
    return first_task(tasks_of_many(columns))


def first_task(possible) -> tuple[str, str]:
    """Of the tasks that several columns of outputs may be of, the most special; and why."""
    task = next((task for task in _MANY if task in possible), None)
    if task is None:
        raise DataFormatError(
            "several columns of outputs, truth values in some rows and other numbers in others: "
            "name the task, or one column"
        )
    return task, _MANY[task]


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
        "histogram": (table >= 0).all() and np.allclose(table.sum(axis=1), 1, atol=1e-6),
    }
    return {"regression", *(t for t, may in may_be.items() if may and (len(table) or is_labels))}
