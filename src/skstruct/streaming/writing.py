# SPDX-License-Identifier: BSD-3-Clause
"""Tables that grow by batches, as Parquet and as CSV."""

import contextlib
import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np

from skstruct._arrays.progress import ticker, working
from skstruct._arrays.stopping import check_cancelled
from skstruct._files.atomic import replacing, sync_folder
from skstruct.config import carried
from skstruct.streaming.blocks import Block, Partition, Source, count_rows
from skstruct.streaming.engines import itself, opened

_GROUP = 1 << 16  # rows; smaller row groups would make the footer grow
_GROUP_BYTES = 1 << 26


class GrowingTable:
    """Columns of the first batch, which all others must have."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.names: list[str] | None = None
        self.n_rows = 0

    def add(self, batch: Any, number: int) -> int:
        """Write a batch, maybe later, and return its number of rows."""
        raise NotImplementedError

    def finish(self) -> None:
        """Write what is left."""

    def abandon(self) -> None:
        """Write no more: something has failed."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[Any] | None, *_: Any) -> None:
        if kind is None:
            self.finish()
        else:
            self.abandon()

    def _check(self, names: list[str], columns: list[Any], number: int) -> int:
        """The number of rows of a batch whose columns are right."""
        if self.names is None:
            self.names = names
        elif names != self.names:
            odd = sorted({*names} ^ {*self.names})
            what = f"has not the columns of the first one ({', '.join(odd) or 'another order'})"
            raise ValueError(f"batch {number} {what}.")
        lengths = {name: count_rows(column) for name, column in zip(names, columns)}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"batch {number} has columns of different lengths: {lengths}.")
        return next(iter(lengths.values()), 0)


class ParquetFile(GrowingTable):
    """Row groups of moderate size, whatever the size of the batches."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self._waiting: list[Any] = []
        self._writer: Any = None

    def add(self, batch: Any, number: int) -> int:
        import pyarrow

        if not isinstance(batch, pyarrow.Table):
            self._check(list(batch), list(batch.values()), number)
            batch = pyarrow.table(dict(batch))
        n = self._check(batch.column_names, batch.columns, number)
        self._waiting.append(self._like_the_first(batch, number))
        self.n_rows += n
        waiting = sum(len(b) for b in self._waiting), sum(b.nbytes for b in self._waiting)
        if waiting[0] >= _GROUP or waiting[1] >= _GROUP_BYTES:
            self._write()
        return n

    def _like_the_first(self, batch: Any, number: int) -> Any:
        import pyarrow

        if self._writer is None:
            from pyarrow import parquet

            self._writer = parquet.ParquetWriter(self.file, batch.schema)
        known = self._writer.schema
        for name, kind, expected in zip(known.names, batch.schema.types, known.types):
            try:
                batch.column(name).cast(expected)
            except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
                raise ValueError(
                    f"batch {number}: column {name!r} holds {kind}, and {expected} in the first."
                ) from None
        return batch.cast(known)

    def _write(self) -> None:
        import pyarrow

        self._writer.write_table(pyarrow.concat_tables(self._waiting), row_group_size=_GROUP)
        self._waiting.clear()

    def finish(self) -> None:
        """Write what is left, and the footer."""
        if self._waiting:
            self._write()
        self._writer.close()

    def abandon(self) -> None:
        """Close the writer while its file is open; it would do so by itself later, and fail."""
        with contextlib.suppress(Exception):
            self._writer.close()


class CsvFile(GrowingTable):
    """Numbers by repr, so that they are read back the same; missing values are empty."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self._rows = csv.writer(file, lineterminator="\n")

    def add(self, batch: Any, number: int) -> int:
        if hasattr(batch, "column_names"):
            names, columns = batch.column_names, [column.to_pylist() for column in batch.columns]
        else:
            names, columns = list(batch), list(batch.values())
        fresh = self.names is None
        n = self._check(names, columns, number)
        if fresh:
            self._rows.writerow(names)
        self._rows.writerows(zip(*(_cells(*c, number) for c in zip(names, columns))))
        self.n_rows += n
        return n


def _cells(name: str, column: Any, number: int) -> list[Any]:
    values = np.asarray(column) if hasattr(column, "dtype") else None
    if values is not None and values.dtype.kind == "f":
        return [str(value) if value == value else "" for value in values]  # shortest that is right
    cells = column if values is None else values.tolist()
    for cell in cells:
        if isinstance(cell, (list, tuple, set, frozenset, dict, np.ndarray)):
            raise ValueError(
                f"batch {number}: column {name!r} holds {type(cell).__name__}; CSV holds numbers "
                "and text: write Parquet, or make text of them."
            )
    return ["" if cell is None or cell != cell else cell for cell in cells]


# Predictions to files, a batch at a time: whole files or none.


def write_batches(
    batches: Iterable[Any], path: Any, *, verbose: int = 0, total: int | None = None
) -> int:
    """Write tables that come one after another to a single file, and return its number of rows.

    What is written goes to a temporary file beside, which takes the place of ``path`` in the end:
    whatever fails, a full disk or an error of the batches, leaves the old file and no other. No
    more than some batches are held at a time.

    Parameters
    ----------
    batches : iterable of pyarrow.Table, or of dict of columns
        All with the same columns. Types are those of the first one.
    path : str or path
        Ends in .parquet, .pq or .csv. CSV needs no pyarrow, unless batches are its tables.
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.
    total : int, default=None
        Number of rows that will come, for the bar.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "predictions.csv"
    ...     n = write_batches(({"class": ["a", "b"], "risk": [0.5, i]} for i in range(2)), path)
    ...     print(n, path.read_text().split())
    4 ['class,risk', 'a,0.5', 'b,0', 'a,0.5', 'b,1']
    """
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    kinds: dict[str, type[GrowingTable]] = {
        ".parquet": ParquetFile,
        ".pq": ParquetFile,
        ".csv": CsvFile,
    }
    if suffix not in kinds:
        raise ValueError(f"{path}: files end in .parquet, .pq or .csv.")
    mode = "w" if suffix == ".csv" else "wb"
    with working("writing", total, verbose, " rows") as stage, replacing(path, mode) as file:
        with kinds[suffix](file) as table:
            for number, batch in enumerate(batches):
                check_cancelled()
                n_rows = table.add(batch, number)
                if stage is not None:
                    stage.advance(n_rows)
            if table.names is None:
                raise ValueError(f"{path}: there was no batch to write.")
        return table.n_rows


def predict_partitions(
    predict: Callable[[Block], Any],
    source: Source,
    folder: Path,
    engine: Any = None,
    verbose: int = 0,
    *,
    count: int | None = None,
    rows: int = 4096,
) -> int:
    """Write predictions for all rows of a source to part files, and return the number of rows.

    The partitions of the source become part-00000.parquet, part-00001.parquet, ..., each written
    whole by the worker that predicts it; where a worker is lost, another one begins that part
    again. The files come into the folder when all are there, in one step; after an error or a kill
    there are none. Of two who write to one folder, the second gets an error in the end.

    Parameters
    ----------
    predict : callable (Block) -> dict of columns or pyarrow.Table
    source : Source
    folder : str or path
        Made if it is not there; it must be empty. All workers see it under this name.
    engine : None, "serial", "dask", distributed.Client or an engine, default=None
    verbose : int, default=0
        Progress on stderr, of what takes longer than two seconds.
    count : int, default=None
        Number of partitions; the natural ones of the source when None, or four for every worker
        where one of these would be much of all.
    rows : int, default=4096
        Rows of a block at most.
    """
    if source.n_rows == 0:
        raise ValueError("There are no rows to predict for.")
    folder = Path(os.path.realpath(folder))  # a link stays a link
    folder.mkdir(parents=True, exist_ok=True)
    _check_empty(folder)
    unfinished = _unfinished(folder)
    try:
        os.chmod(unfinished, folder.stat().st_mode & 0o7777)  # workers may be other users
        with opened(engine) as workers:
            parts = _even_parts(source, count, getattr(workers, "n_workers", 1))
            names = [f"part-{i:05d}.parquet" for i in range(len(parts))]
            with ticker(len(parts), "predicting", verbose) as tick:
                shared = workers.submit(itself, predict)  # sent once, and made again if it is lost
                job, tasks = carried(_predict_part), {}
                # The largest first: what is left to the end is short.
                for i in sorted(range(len(parts)), key=lambda i: -(parts[i].n_rows or 0)):
                    path = os.path.join(unfinished, names[i])
                    tasks[i] = workers.submit(job, parts[i], shared, path, rows)
                n_rows = 0
                for i in range(len(parts)):
                    n_rows += workers.result(tasks[i])
                    tick()
        _finish(unfinished, folder, names)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return n_rows


def _check_empty(folder: Path) -> None:
    there = sorted(os.listdir(folder))
    if there:
        raise FileExistsError(
            f"{folder} is not empty (it holds {there[0]!r}): predictions need a folder of their "
            "own."
        )


def _unfinished(folder: Path) -> str:
    """Where parts wait for the others: beside the folder, in whose place it is put in the end."""
    if os.name != "nt" and os.access(folder.parent, os.W_OK) and not os.path.ismount(folder):
        return tempfile.mkdtemp(prefix=f".{folder.name[:100]}.unfinished-", dir=folder.parent)
    return tempfile.mkdtemp(prefix=".unfinished-", dir=folder)


def _finish(unfinished: str, folder: Path, names: list[str]) -> None:
    """Put the parts where they belong, in one step where the system can do so."""
    for name in set(os.listdir(unfinished)) - set(names):  # of workers that were killed
        os.remove(os.path.join(unfinished, name))
    if Path(unfinished).parent == folder:
        for name in names:
            os.replace(os.path.join(unfinished, name), folder / name)
        sync_folder(folder)
        return
    _check_empty(folder)  # somebody else was quicker: said with a name
    try:
        os.replace(unfinished, folder)
    except OSError:
        _check_empty(folder)  # he was so right now
        raise
    sync_folder(folder.parent)


PARTS_A_WORKER = 4  # at least, so that none waits long for another's hard rows


def _even_parts(source: Source, count: int | None, n_workers: int) -> list[Partition]:
    """As many parts as asked for; the natural ones where no worker would have much of all."""
    parts = source.partitions(count)
    if count is not None or n_workers == 1 or source.n_rows is None:
        return parts
    largest = max((part.n_rows or source.n_rows for part in parts), default=0)
    if largest * PARTS_A_WORKER * n_workers <= 2 * source.n_rows:
        return parts
    return source.partitions(PARTS_A_WORKER * n_workers)


def _predict_part(part: Partition, predict: Any, path: str, rows: int) -> int:
    return write_batches((predict(block) for block in part.blocks(rows)), path)
