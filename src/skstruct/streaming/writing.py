# SPDX-License-Identifier: BSD-3-Clause
"""Predictions to files, a batch at a time: whole files or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from skstruct._arrays.progress import ticker, working
from skstruct._files.atomic import replacing
from skstruct.streaming.blocks import Block, Partition, Source
from skstruct.streaming.engines import itself, opened
from skstruct.streaming.table_files import CsvFile, GrowingTable, ParquetFile


def write_batches(batches: Iterable, path, *, verbose: int = 0, total: int | None = None) -> int:
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
                n_rows = table.add(batch, number)
                if stage is not None:
                    stage.advance(n_rows)
            if table.names is None:
                raise ValueError(f"{path}: there was no batch to write.")
        return table.n_rows


def predict_partitions(
    predict: Callable[[Block], Any],
    source: Source,
    folder,
    engine=None,
    verbose: int = 0,
    *,
    count: int | None = None,
    rows: int = 4096,
) -> int:
    """Write predictions for all rows of a source to part files, and return the number of rows.

    The partitions of the source become part-00000.parquet, part-00001.parquet, ..., each written
    whole by the worker that predicts it; where a worker is lost, another one begins that part
    again. The files come into the folder when all are there; after an error there are none.

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
        Number of partitions; the natural ones of the source when None.
    rows : int, default=4096
        Rows of a block at most.
    """
    if source.n_rows == 0:
        raise ValueError("There are no rows to predict for.")
    folder = Path(folder).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    there = sorted(os.listdir(folder))
    if there:
        raise FileExistsError(
            f"{folder} is not empty (it holds {there[0]!r}): predictions need a folder of their "
            "own."
        )
    unfinished = tempfile.mkdtemp(prefix=".unfinished-", dir=folder)
    os.chmod(unfinished, folder.stat().st_mode & 0o7777)  # workers may be other users
    try:
        parts = source.partitions(count)
        names = [f"part-{i:05d}.parquet" for i in range(len(parts))]
        with opened(engine) as workers, ticker(len(parts), "predicting", verbose) as tick:
            shared = workers.submit(itself, predict)  # sent once, and made again if it is lost
            tasks = [
                workers.submit(_predict_part, part, shared, os.path.join(unfinished, name), rows)
                for part, name in zip(parts, names)
            ]
            n_rows = 0
            for task in tasks:
                n_rows += workers.result(task)
                tick()
        for name in names:
            os.replace(os.path.join(unfinished, name), folder / name)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return n_rows


def _predict_part(part: Partition, predict, path: str, rows: int) -> int:
    return write_batches((predict(block) for block in part.blocks(rows)), path)
