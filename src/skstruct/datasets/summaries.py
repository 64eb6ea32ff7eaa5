# SPDX-License-Identifier: BSD-3-Clause
"""What is to be known of columns and outputs, from one block of rows after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.datasets.dataset import TASKS
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.cells import ONE_NAME, write_cell
from skstruct.datasets.formats.columns import (
    MANY_TEXTS,
    Codes,
    NumberColumn,
    TextColumn,
    as_numbers,
    check_finite,
    is_missing,
    numbers_among_names,
    sorted_names,
)
from skstruct.datasets.formats.edges import check_path
from skstruct.datasets.formats.outputs import hierarchy_of, outputs_of, read_cells, whole_names
from skstruct.datasets.formats.targets import (
    KNOWN,
    MOST_CLASSES,
    count_gaps,
    first_task,
    first_without,
    guess_task,
    is_unlabelled,
    left_out,
    names_of_sets,
    placed,
    tasks_of_rows,
    unlabelled_message,
)
from skstruct.datasets.gaps import IN_CELLS, gaps_remark, names_in
from skstruct.encoding.statistics import ColumnFacts, RunningMedian
from skstruct.exceptions import DataFormatError

MOST_VALUES = 10_000  # names of a column, each of which is a feature


class NumberSummary:
    """Number, mean, squares and median of the numbers of a column, and whether all are 0 or 1.

    Blocks are merged by Chan, Golub and LeVeque's update: with counts :math:`n_a, n_b` and
    :math:`\\delta = m_b - m_a`, squares about the mean add up to
    :math:`S_a + S_b + \\delta^2 n_a n_b / (n_a + n_b)`.
    """

    def __init__(self, name: str) -> None:
        self.name, self.n, self.mean, self.squares, self.binary = name, 0, 0.0, 0.0, True
        self._median = RunningMedian()

    def add(self, column: NumberColumn, fail: Callable[..., Any]) -> None:
        """Further rows; infinite ones are refused."""
        check_finite(column, fail)
        known = column.numbers[~np.isnan(column.numbers)]
        if not len(known):
            return
        mean = float(known.mean())
        squares = float(((known - mean) ** 2).sum())
        total, step = self.n + len(known), mean - self.mean
        self.squares += squares + step**2 * self.n * len(known) / total
        self.mean += step * len(known) / total
        self.n = total
        self._median.add(known)
        self.binary = self.binary and bool(((known == 0) | (known == 1)).all())

    values = None

    counts = None

    @property
    def variance(self) -> float:
        return self.squares / max(1, self.n)

    @property
    def median(self) -> float:
        return self._median.value

    def remarks(
        self, n_rows: int, nominal: tuple[Any, ...], fail: Callable[..., Any]
    ) -> tuple[str, ...]:
        return ()


class TextSummary:
    """The texts of a column in the order of appearance, and in how many rows each is."""

    def __init__(self, name: str) -> None:
        self.name, self.known = name, Codes()
        self._counts: list[int] = []
        self.first: list[int] = []
        self._n_rows = 0

    def add(self, column: TextColumn, fail: Callable[..., Any]) -> None:
        """Further rows; too many different texts are refused."""
        counts = np.bincount(column.codes, minlength=len(column.texts)).tolist()
        for code, text in enumerate(column.texts):
            number = self.known[text]
            if number == len(self._counts):
                self._counts.append(0)
                self.first.append(self._n_rows + int(np.argmax(column.codes == code)))
            self._counts[number] += counts[code]
        self._n_rows += len(column.codes)
        if len(self.known) > MOST_VALUES:
            raise DataFormatError(
                f"the column {self.name!r} has more than {MOST_VALUES:,} different texts, each of "
                "which would be a feature; if it names the rows, give it as id_column (id_column), "
                "else leave it out of the file"
            )

    @property
    def values(self) -> tuple[str, ...]:
        """The names in their order, as :class:`~skstruct.datasets.dataset.Table` has them."""
        return tuple(sorted(text for text in self.known if not is_missing(text)))

    mean = variance = median = 0.0
    binary = True

    @property
    def counts(self) -> np.ndarray:
        """In how many rows each of ``values`` is."""
        return np.array([self._counts[self.known[text]] for text in self.values], dtype=np.int64)

    @property
    def n(self) -> int:
        """Rows where the column is not missing."""
        return int(self.counts.sum())

    def remarks(
        self, n_rows: int, nominal: tuple[Any, ...], fail: Callable[..., Any]
    ) -> tuple[str, ...]:
        """As :func:`~skstruct.datasets.formats.columns.as_table` makes them of all rows."""
        found = []
        if len(self.values) > max(MANY_TEXTS, n_rows // 2):
            found.append(
                f"The column {self.name!r} has {len(self.values)} different texts in {n_rows} "
                "rows; if it names the rows, give it as id_column."
            )
        if self.name not in nominal:
            texts = tuple(self.known)
            column = TextColumn(self.name, np.arange(len(texts)), texts)

            def fail_first(problem: str, row: int | None = None, column: str | None = None) -> Any:
                return fail(problem, None if row is None else self.first[row], column)

            found += numbers_among_names(column, fail_first)
        return tuple(found)


def column_facts(columns: list[Any], n_rows: int) -> ColumnFacts:
    """What an encoder has to know of summarized columns of so many rows."""
    mean, variance, median = (
        np.array([getattr(column, name) for column in columns], dtype=np.float64)
        for name in ("mean", "variance", "median")
    )
    binary = np.array([column.binary for column in columns], dtype=bool)
    n_missing = np.array([n_rows - column.n for column in columns], dtype=np.int64)
    counts = [column.counts for column in columns]
    return ColumnFacts(mean, variance, median, binary, n_missing, counts)


# What is to be known of outputs, from one block of rows after the other: their task and names.


class TaskGuess:
    """The task that :func:`~skstruct.datasets.formats.targets.guess_task` tells by all rows.

    Of a single column, texts that are alike in all that it looks at stand for each other, so
    that a column of millions of numbers is not kept; of one of label sets all names are.
    """

    def __init__(self, names: tuple[str, ...], options: ReadOptions) -> None:
        self.names, self.options = names, options
        self._kept: dict[tuple[Any, ...], list[str]] = {}
        self._known: set[str] = set()
        self._sets: set[str] = set()
        self._possible: set[str] | None = None

    @property
    def is_settled(self) -> bool:
        """Whether names tell the task, without a look at the rows."""
        return self.options.edges_file is not None or self._known_task == "sequence"

    @property
    def _known_task(self) -> str | None:
        return KNOWN.get(self.names[0].strip().lower()) if len(self.names) == 1 else None

    def add(self, columns: list[TextColumn]) -> None:
        if len(columns) > 1:
            found = tasks_of_rows(columns)
            self._possible = found if self._possible is None else self._possible & found
            return
        if self._known_task == "labels":
            self._sets |= names_of_sets(columns[0].texts)
            return
        for text in columns[0].texts:
            alike = self._kept.setdefault(_likeness(text), [])
            if text not in self._known and len(alike) <= MOST_CLASSES:
                alike.append(text)
                self._known.add(text)

    def task(self) -> tuple[str, str]:
        """The task, and why."""
        if self.options.edges_file is not None or self._possible is None:
            texts = tuple(text for alike in self._kept.values() for text in alike)
            texts += tuple(write_cell("labels", (name,)) for name in self._sets)
            column = TextColumn(self.names[0], np.arange(len(texts)), texts)
            return guess_task([column], self.options)
        return first_task(self._possible)


def _likeness(text: str) -> tuple[bool, ...]:
    numbers = as_numbers([text])
    whole = numbers is not None and bool((numbers == np.round(numbers)).all())
    marks = tuple(mark in text for mark in ">=;/")
    return (is_missing(text), numbers is not None, whole, *marks)


def _without(columns: list[TextColumn], missing: np.ndarray) -> list[TextColumn]:
    if not missing.any():
        return columns
    rows = np.flatnonzero(~missing)
    return [TextColumn.of(c.name, [c.texts[k] for k in c.codes[rows].tolist()]) for c in columns]


class OutputSummary:
    """Names of labels, classes, items or symbols of all blocks; then outputs of each block.

    Parameters
    ----------
    names : tuple of str
        Of the columns.
    task : str
    options : ReadOptions
    """

    def __init__(self, names: tuple[str, ...], task: str, options: ReadOptions) -> None:
        self.names, self.task, self.options = tuple(names), task, options
        self.n_missing, self._first_missing = 0, (0, "", "")
        self.n_gaps = self.n_cells = 0
        self._texts = Codes()
        self._names: set[str] = set()
        self._shown: dict[str, str] = {}
        self.labels: tuple[str, ...] = ()
        self.edges: tuple[Any, ...] | None = None

    def labelled(self, columns: list[TextColumn]) -> np.ndarray | None:
        """Rows of a block that have an output; None where all have."""
        if self.takes_gaps:
            return None
        missing = is_unlabelled(columns, self.task)
        return np.flatnonzero(~missing) if missing.any() else None

    @property
    def takes_gaps(self) -> bool:
        """Whether rows of which parts are missing are learned from."""
        return self.task in IN_CELLS and not self.options.skip_unlabelled

    def add(
        self, columns: list[TextColumn], start: int, fail: Callable[..., Any]
    ) -> np.ndarray | None:
        """Learn names from a block, whose first row is ``start``; gives ``labelled(columns)``."""
        kept = self.labelled(columns)
        if self.takes_gaps:
            self._count_gaps(columns, start)
        if kept is not None:
            missing = is_unlabelled(columns, self.task)
            if not self.n_missing:
                row, name, why = first_without(columns, self.task, missing)
                self._first_missing = start + row, name, why
            self.n_missing += int(missing.sum())
            columns, fail = _without(columns, missing), placed(fail, kept)
        if self.task in ONE_NAME:
            for text in columns[0].texts:
                if not is_missing(text):
                    self._texts[text]
        elif len(columns) == 1 and self.task in ("labels", "hierarchy"):
            of_paths = self.task == "hierarchy" and self.options.edges_file is None
            sets = read_cells("labels", columns[0], fail, check_path if of_paths else None)
            self._names.update(*map(names_in, sets))
        else:
            found = self.read(columns, fail)
            if len(columns) == 1:
                self._names.update(found["labels"])
        return kept

    def _count_gaps(self, columns: list[TextColumn], start: int) -> None:
        gaps, cells = count_gaps(columns, self.task)
        if gaps and not self.n_gaps:
            missing = is_unlabelled(columns, self.task)
            row, name, why = first_without(columns, self.task, missing)
            self._first_missing = start + row, name, why
        self.n_gaps, self.n_cells = self.n_gaps + gaps, self.n_cells + cells

    def finish(self, fail: Callable[..., Any], remarks: list[str]) -> None:
        """Settle names and edges when all blocks were seen."""
        if self.task in ONE_NAME:
            self._shown = whole_names(tuple(self._texts))
            self.labels = sorted_names(set(self._shown.values()))
            if self.task == "ordinal":
                remarks.append(f"The order of the levels is {', '.join(self.labels[:20])}.")
            return
        numbers = self.task in ("regression", "histogram")
        several = len(self.names) > 1 or numbers
        self.labels = self.names if several else sorted_names(self._names)
        if self.task == "hierarchy":
            found = hierarchy_of(self.labels, self.options, fail, remarks)
            self.labels, self.edges = found["labels"], found["edges"]

    def read(self, columns: list[TextColumn], fail: Callable[..., Any]) -> dict[str, Any]:
        """Outputs of a block and the names in them, as keyword arguments of a Dataset."""
        if self.task in ONE_NAME and self._shown:
            shown = [self._shown.get(text) for text in columns[0].texts]
            names = np.array(shown, dtype=object if None in shown else str)
            return {"outputs": names[columns[0].codes], "labels": self.labels}
        task = "labels" if self.task == "hierarchy" else self.task
        return outputs_of(task, columns, self.options, fail, [])

    def left_out(self, skip: bool, fail: Callable[..., Any]) -> list[str]:
        """What is said of rows without an output, which are errors if they are not skipped."""
        row, name, why = self._first_missing
        if self.n_gaps and self.n_gaps == self.n_cells:
            n = self.n_cells // len(self.names)
            raise fail(f"{why}; {unlabelled_message(n)}", row, name)
        if self.n_gaps:
            return [gaps_remark(self.n_gaps, self.n_cells, "skip_unlabelled")]
        if not self.n_missing:
            return []
        if not skip:
            raise fail(f"{why}; {unlabelled_message(self.n_missing)}", row, name)
        return [left_out(self.n_missing, fail("", row, name), row)]

    def guessed(self, reason: str, fail: Callable[..., Any]) -> list[str]:
        """What is said of a task that was guessed."""
        said = [f"The task is taken for {self.task!r} ({TASKS[self.task]}): {reason}."]
        if self.task == "classes":
            texts = tuple(self._texts)
            column = TextColumn(self.names[0], np.arange(len(texts)), texts)
            said += numbers_among_names(column, lambda *_: _NoLine)
        return said


class _NoLine:
    line = None
