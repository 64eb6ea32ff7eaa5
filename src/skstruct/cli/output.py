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
from dataclasses import dataclass, replace
from pathlib import Path

import click

from skstruct._files.atomic import replacing
from skstruct.cli.exits import writing
from skstruct.cli.predictions import NUMBERS, Predictions
from skstruct.datasets.formats.parquet import need_pandas
from skstruct.datasets.formats.text import bare_name

KINDS = {  # by the ending of a file name
    "parquet": (".parquet", ".pq"),
    "json": (".json", ".jsonl", ".ndjson"),
    "conll": (".conll", ".iob", ".bio"),
    "csv": (".csv", ".tsv"),
}
OTHERS = (  # formats of tables and texts that predictions are not written as
    ".arff", ".svm", ".libsvm", ".svmlight", ".data", ".conllu", ".xml", ".html", ".xls", ".xlsx",
    ".ods", ".feather", ".npy", ".npz", ".pkl", ".h5",
)  # fmt: skip


@dataclass(frozen=True)
class Style:
    """How predictions are written: csv, json, parquet or conll; cells as they are if raw."""

    kind: str
    separator: str = ","
    raw_cells: bool = False


def style_for(path, as_json: bool, raw_cells: bool, of_words: bool) -> Style:
    """By the ending of the file, .gz and .xz taken off; text of no known ending is CSV.

    Parameters
    ----------
    path : str or None
    of_words : bool
        Whether tags of words are predicted: these may be written as CoNLL, and are if the name
        ends by .txt, as ``data convert`` writes them.
    """
    ending = "" if path is None else Path(bare_name(path)).suffix.lower()
    kind = next((kind for kind, endings in KINDS.items() if ending in endings), None)
    if kind is None:
        kind = "conll" if of_words and ending == ".txt" and not as_json else "csv"
    if ending in OTHERS or (kind == "conll" and not of_words):
        tags = " Tags of words are written as .conll, too." if of_words else ""
        raise click.UsageError(
            f"{path}: a file with the ending {ending} does not hold these predictions. They are "
            f"written as CSV (.csv, .tsv), JSON lines (.jsonl) or Parquet (.parquet).{tags}"
        )
    if kind == "parquet" and path.endswith((".gz", ".xz")):
        raise click.UsageError(f"{path}: a Parquet file is packed within: leave .gz or .xz out.")
    if as_json and kind == "parquet":
        raise click.UsageError("A Parquet file holds columns: leave --json out.")
    if as_json and kind == "conll":
        raise click.UsageError("A CoNLL file holds tokens and tags: leave --json out.")
    kind = "json" if as_json else kind
    if raw_cells and kind != "csv":
        raise click.UsageError(f"--raw-cells is of CSV files: {kind} needs no care.")
    return Style(kind, "\t" if ending == ".tsv" else ",", raw_cells)


@contextlib.contextmanager
def opened(path, style: Style, hold: bool = False):
    """A function that writes Predictions, to be called with one block after the other.

    Parameters
    ----------
    path : str or None
        Packed if it ends by .gz or .xz; None for stdout.
    style : Style
    hold : bool, default=False
        Whether stdout gets nothing before all is known to be well.
    """
    with writing(path), _destination(path, style, hold) as writer:
        yield writer.write


@contextlib.contextmanager
def _held():
    """A file whose text goes to stdout when nothing went wrong."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as file:
        yield file
        file.seek(0)
        shutil.copyfileobj(file, sys.stdout)


@contextlib.contextmanager
def _destination(path, style, hold):
    if path is None:
        with _held() if hold else contextlib.nullcontext(sys.stdout) as file:
            yield _Text(file, style)
        sys.stdout.flush()
    else:
        with _file(Path(path), style) as writer:
            yield writer


@contextlib.contextmanager
def _file(path, style):
    if style.kind == "parquet":
        with replacing(path, "wb") as file, contextlib.closing(_Parquet(file)) as writer:
            yield writer
    elif path.suffix in (".gz", ".xz"):
        with replacing(path, "wb") as raw, _packing(path, raw) as packed:
            text = io.TextIOWrapper(packed, encoding="utf-8", newline="")
            try:
                yield _Text(text, style)
            finally:
                text.detach()  # what it wrote to is closed below
    else:
        with replacing(path) as file:
            yield _Text(file, style)


def _packing(path, raw):
    if path.suffix == ".xz":
        return lzma.LZMAFile(raw, "wb")
    return gzip.GzipFile("", "wb", fileobj=raw, mtime=0)  # the same rows give the same bytes


class _Text:
    """A table with one header line, JSON lines, or tokens with their tags."""

    def __init__(self, file, style):
        self.file, self.style, self.begun = file, style, False

    def write(self, found: Predictions):
        if self.style.kind == "json":
            found.write_json(self.file)
        elif self.style.kind == "conll":
            found.write_tokens(self.file)
        else:
            marks = {"separator": self.style.separator, "raw_cells": self.style.raw_cells}
            replace(found, **marks).write_csv(self.file, header=not self.begun)
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
