# SPDX-License-Identifier: BSD-3-Clause
"""Tables of any length to learn from: read once to know their columns, then in blocks."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from skstruct.datasets.blocks import ROWS, Blocks, has_blocks, open_source
from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.encodings import text_path
from skstruct.datasets.files import stem
from skstruct.datasets.formats.base import ReadOptions
from skstruct.datasets.formats.columns import TextColumn
from skstruct.datasets.formats.csv_files import CsvBlocks
from skstruct.datasets.formats.targets import choose_targets, find_row_names, placed, taken
from skstruct.datasets.reading import edges_beside, find_format, format_remark
from skstruct.datasets.summaries import (
    NumberSummary,
    OutputSummary,
    TaskGuess,
    TextSummary,
    column_facts,
)
from skstruct.exceptions import DataFormatError

Watch: TypeAlias = Callable[[Iterator[Any], str, Any], Iterator[Any]]


def _unwatched(blocks: Iterator[Any], what: str, source: Any) -> Iterator[Any]:
    return blocks


class TrainingBlocks:
    """A CSV or Parquet file, or a folder of Parquet files, with outputs, read in blocks of rows.

    Types of columns, values of names, labels and moments are those of all rows, as
    :func:`~skstruct.datasets.read_data` would find them, and take one pass over the file, or two
    if the task is guessed.

    Parameters
    ----------
    path : str or path
    options : ReadOptions
    format : str, default=None
    rows : int, default=10_000
        Of a block.
    first : int, default=None
        Stop after so many rows.
    watch : callable, default=None
        Called with the iterator of blocks of a pass, what the pass is for, and the file; gives an
        iterator of the same blocks. For those who wait.

    Attributes
    ----------
    name, format, task, labels, edges, remarks : as of a Dataset
    inputs : Table without rows, with names and values of the columns
    facts : ColumnFacts of the columns of ``inputs``
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        options: ReadOptions,
        *,
        format: str | None = None,
        rows: int = ROWS,
        first: int | None = None,
        watch: Watch | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self.path, self.rows, self.first = text_path(path, encoding), rows, first
        self._watch = watch or _unwatched
        if not has_blocks(self.path, format):
            raise DataFormatError("only CSV and Parquet files are read in blocks", path=path)
        chosen, guessed = find_format(self.path, format)
        edges_file, noted = edges_beside(self.path, chosen, options.task, options.edges_file)
        self._options = replace(options, edges_file=edges_file)
        self._source = open_source(self.path, format)
        self.name = stem(path)
        self.format = "csv" if isinstance(self._source, CsvBlocks) else "parquet"
        remarks = [format_remark(self.format)] if guessed else []
        try:
            self._read([*remarks, *noted])
        except DataFormatError as error:
            raise error.at(path=self.path) from None

    def _read(self, remarks: list[str]) -> None:
        source, options = self._source, self._options
        if source.index is not None and options.id_column is None:
            options = self._options = replace(options, id_column=source.index)
            remarks.append(
                f"The index of the table, {source.index!r}, is taken for names of the rows."
            )
        targets, said = choose_targets(source.names, options)
        if not targets:
            raise DataFormatError("there are no outputs to learn from (targets)")
        remarks += said
        self._index = find_row_names(source, targets, options)
        if self._index is not None and options.id_column is None:
            remarks.append(
                f"The first column, {self._index!r}, is taken for names of the rows; to have it "
                "as an input, rename it or give the empty text as id_column."
            )
        task, reason = options.task, ""
        if task is None:
            task, reason = self._guess(targets)
        self.task = task
        self._summarize(targets, reason, remarks)

    def _guess(self, targets: tuple[str, ...]) -> tuple[str, str]:
        guess = TaskGuess(targets, self._options)
        if not guess.is_settled:
            for _, columns in self._pass("the task", dict.fromkeys(targets, True)):
                guess.add(columns)
        return guess.task()

    def _pass(self, what: str, wanted: dict[str, Any]) -> Iterator[tuple[int, list[Any]]]:
        """Blocks of some columns, no more than the first rows if so many are asked for."""
        left = self.first
        size = self.rows if left is None else min(self.rows, left)
        for n, columns in self._watch(self._source.blocks(size, wanted), what, self._source):
            if left is None or left > n:
                yield n, columns
                left = None if left is None else left - n
                continue
            kept = np.arange(left)
            yield left, [taken(column, kept) for column in columns] if left < n else columns
            return

    def _summarize(self, targets: tuple[str, ...], reason: str, remarks: list[str]) -> None:
        """Learn what there is to know of all columns."""
        outside = {*targets, self._index}
        names = [name for name in self._source.names if name not in outside]
        texts, late = set(self._options.nominal), {""}
        while late:  # numbers in the first blocks, and text below: once more, as text
            summary = OutputSummary(targets, self.task, self._options)
            wanted = {name: name in texts for name in names} | dict.fromkeys(targets, True)
            columns, self._n_rows, late = self._one_pass(summary, wanted, names)
            texts |= late
        self._settle(summary, reason, columns, remarks)

    def _one_pass(
        self, summary: OutputSummary, wanted: dict[str, Any], names: list[str]
    ) -> tuple[list[Any], int, set[Any]]:
        found: dict[str, Any] = {}
        late: set[str] = set()
        start = n_rows = 0
        for n, columns in self._pass("columns, values and labels", wanted):
            fail = placed(self._source.fail, None, start)
            kept = summary.add(columns[len(names) :], start, fail)
            for column in columns[: len(names)]:
                part = column if kept is None else taken(column, kept)
                is_text = isinstance(column, TextColumn)
                fresh = column.name not in found
                if fresh:
                    made = TextSummary if is_text else NumberSummary
                    found[column.name] = made(column.name)
                if is_text != isinstance(found[column.name], TextSummary):
                    late.add(column.name)
                elif column.name not in late:
                    found[column.name].add(part, placed(self._source.fail, kept, start))
            start += n
            n_rows += n if kept is None else len(kept)
        return [found[name] for name in names if name in found], n_rows, late

    def _settle(
        self, summary: OutputSummary, reason: str, columns: list[Any], remarks: list[str]
    ) -> None:
        fail = self._source.fail
        left_out = summary.left_out(self._options.skip_unlabelled, fail)
        if not self._n_rows:
            none = summary.n_missing > 0
            raise DataFormatError("no row has an output" if none else "there are no rows")
        more: list[str] = []
        summary.finish(fail, more)
        remarks += summary.guessed(reason, fail) if reason else []
        remarks += [*left_out, *more]
        for column in columns:
            remarks += column.remarks(self._n_rows, self._options.nominal, fail)
        self.labels, self.edges, self.remarks = summary.labels, summary.edges, tuple(remarks)
        names = tuple(column.name for column in columns)
        values = tuple(column.values for column in columns)
        self.inputs = Table(names, values, np.empty((0, len(names))))
        self.facts = column_facts(columns, self._n_rows)
        self._summary = summary

    def __len__(self) -> int:
        return self._n_rows

    def datasets(self, what: str, rows: int | None = None) -> Iterator[Dataset]:
        """Data sets of blocks, with outputs; ``what`` is what progress reports."""
        size = self.rows if rows is None else min(rows, self.rows)
        blocks = Blocks(self._source, self.inputs, None, self.task, size, self.first, self._summary)
        return self._watch(iter(blocks), what, self._source)
