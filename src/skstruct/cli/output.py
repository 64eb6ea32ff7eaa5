# SPDX-License-Identifier: BSD-3-Clause
"""Where predictions go, a block after the other: a file that is whole or not there, or stdout."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import shutil
import sys
import tempfile
from pathlib import Path

import click

from skstruct._files.atomic import replacing
from skstruct.cli.exits import NobodyReads
from skstruct.cli.predictions import NUMBERS, Predictions
from skstruct.datasets.formats.parquet import need_pandas

PARQUET = (".parquet", ".pq")


@contextlib.contextmanager
def opened(path, *, as_json: bool, hold: bool = False):
    """A function that writes Predictions, to be called with one block after the other.

    Parameters
    ----------
    path : str or None
        Of a Parquet file by its ending, else of text, packed if it ends by .gz or .xz; None for
        stdout.
    as_json : bool
        JSON lines instead of CSV.
    hold : bool, default=False
        Whether stdout gets nothing before all is known to be well.
    """
    try:
        with _destination(path, as_json, hold) as writer:
            yield writer.write
    except BrokenPipeError:
        raise NobodyReads from None
    except OSError as error:  # a full disk, a quota, a folder that went away
        where = "stdout" if path is None else path
        untouched = "" if path is None else " What was there before is untouched."
        raise click.ClickException(
            f"{where} cannot be written: {error.strerror or error}.{untouched}"
        ) from error


@contextlib.contextmanager
def _held():
    """A file whose text goes to stdout when nothing went wrong."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as file:
        yield file
        file.seek(0)
        shutil.copyfileobj(file, sys.stdout)


@contextlib.contextmanager
def _destination(path, as_json, hold):
    if path is None:
        with _held() if hold else contextlib.nullcontext(sys.stdout) as file:
            yield _Text(file, as_json)
        sys.stdout.flush()
    else:
        with _file(Path(path), as_json) as writer:
            yield writer


@contextlib.contextmanager
def _file(path, as_json):
    if path.suffix.lower() in PARQUET:
        with replacing(path, "wb") as file, contextlib.closing(_Parquet(file)) as writer:
            yield writer
    elif path.suffix in (".gz", ".xz"):
        with replacing(path, "wb") as raw, _packing(path, raw) as packed:
            text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
            try:
                yield _Text(text, as_json)
            finally:
                text.detach()  # what it wrote to is closed below
    else:
        with replacing(path) as file:
            yield _Text(file, as_json)


def _packing(path, raw):
    if path.suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)  # the same rows give the same bytes


class _Text:
    """CSV with one header line, or JSON lines."""

    def __init__(self, file, as_json):
        self.file, self.as_json, self.begun = file, as_json, False

    def write(self, found: Predictions):
        if self.as_json:
            found.write_json(self.file)
        else:
            found.write_csv(self.file, header=not self.begun)
        self.begun = True


class _Parquet:
    """The cells of the CSV file, numbers as numbers; a group of rows for every block."""

    def __init__(self, file):
        need_pandas()
        self.file, self.writer = file, None

    def write(self, found: Predictions):
        import pyarrow
        from pyarrow import parquet

        schema = pyarrow.schema(
            [(name, getattr(pyarrow, _kind(found, name))()) for name in found.columns]
        )
        cells = [
            pyarrow.array(_cells(found, name, values), schema.field(name).type)
            for name, values in found.by_column()
        ]
        if self.writer is None:
            self.writer = parquet.ParquetWriter(self.file, schema)
        self.writer.write_table(pyarrow.Table.from_arrays(cells, schema=schema))

    def close(self):
        if self.writer is not None:
            self.writer.close()


def _kind(found, name) -> str:
    if name in ("rank", "row"):
        return "string" if name == "row" and found.named else "int64"
    numbers = name in ("risk", "cost", "gap") or found.task in NUMBERS
    return "float64" if numbers and name not in ("for", "against") else "string"


def _cells(found, name, values):
    return found.cells(name, values) if _kind(found, name) == "string" else values
