# SPDX-License-Identifier: BSD-3-Clause
"""Tables to be broken: CSV, packed or not, Parquet, and files whose format is not stated."""

from __future__ import annotations

import gzip
import io
import lzma
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from file_format import FileFormat
from formats_arff import FORMATS as ARFF_FORMATS
from formats_lines import FORMATS as LINE_FORMATS
from memory_files import held, put
from same_data import difference, must_agree, written

from skstruct.datasets import files, reading
from skstruct.datasets.formats import (
    cells,
    columns,
    csv_arrow,
    csv_files,
    outputs,
    parquet,
    targets,
)
from skstruct.datasets.formats.base import ReadOptions
from skstruct.exceptions import DataFormatError

CSV = [
    b"warmth,sky,y\n21.5,cloudy,1.5\n,sunny,2\n NA ,?,-1e3\n",
    b'"a;b","c ""d""",labels\n1,"x\ny",b;a\n2,z,\n0.1,"p,q",a\\;c\n',
    b"x;n;ranking\n1;2;tea>milk=water\n3;4;milk>tea\n",
    b"id\tx\tclass\nr1\t1\ta\nr2\t1e-5\tb\n",
    b"x,tags\n1,B-NP I-NP\n2,O\n",
    b"a,b,y\n1,0,3\n0,1,2\n0,0,1\n",
    b"id,'=a,sky,labels\n'=r,-1,'+b,'=c;d\n''=r,2,-7,\\=e\n'x,3,@f,g\\>h\n",
    b"row,x,class\n1,a b,1.0\n2,c,2\n3,,1\n",
]
_TOKENS = (
    *(b"a;b", b"a>b", b"a=b", b"\\;", b'""', b"NA", b"1.5", b"\n\n", b"y,", b"x", b"'=", b"'"),
    *(b"\\=", b"True", b"1/2", b"1/1/2", b"id", b"labels", b"hierarchy", b"nan", b"\xc2\xa0"),
)
_MODULES = (cells, columns, csv_arrow, csv_files, outputs, targets, files)
SKIPPING = 8  # the turn in which rows without an output are left out
_TASKS = {9: "labels", 10: "ranking", 11: "sequence", 12: "regression", 13: "histogram"}
_TASKS |= {14: "ordinal", 15: "hierarchy"}


def _options(turn: int) -> ReadOptions:
    if turn in (7, SKIPPING):
        return ReadOptions(targets=() if turn == 7 else None, skip_unlabelled=turn == SKIPPING)
    return ReadOptions(task=_TASKS.get(turn))


@contextmanager
def only_by(way: str):
    """One of two readers: of any CSV file, or by pyarrow."""
    before = csv_arrow.suits
    csv_arrow.suits = lambda path: way == "pyarrow"
    try:
        yield
    finally:
        csv_arrow.suits = before


def read_csv(path: Path, turn: int) -> Any:
    with only_by("Python"):
        return csv_files.read_csv(path, _options(turn))


def _csv_again(path: Path, turn: int, found: Any) -> None:
    with only_by("pyarrow"):
        try:
            other = csv_files.read_csv(path, _options(turn))
        except DataFormatError as error:
            other = error
    must_agree(found, other, "pyarrow and Python")
    _written_again(csv_files.FORMAT, path, turn, found)


def _written_again(format: Any, path: Path, turn: int, found: Any) -> None:
    """What was read is written and read again, with the columns of outputs named."""
    packed = path.suffix in (".gz", ".xz")
    if isinstance(found, DataFormatError) or turn == SKIPPING:
        return  # of the rows that are left a column may be another
    if not written(format.write, found, path):
        return
    if packed:
        put(path, (gzip.compress if path.suffix == ".gz" else lzma.compress)(held(path)))
    with only_by("Python"):
        try:
            names = format.read(path, ReadOptions(targets=(), id_column="")).inputs.names
        except DataFormatError:
            return  # what is fine as a name may be no number
        last = names[len(found.inputs.names) + (found.index is not None or _numbered(found)) :]
        given = {"targets": last if found.outputs is not None else ()}
        again = format.read(path, ReadOptions(task=found.task, **given))
    problem = difference(found, again, ("task", "index") if found.index else ("task",))
    if problem:
        raise AssertionError(f"written and read: {problem}"[:400])


def _numbered(found: Any) -> bool:
    """Whether rows get numbers, since the first column would be taken for their names."""
    return bool(found.inputs.names) and targets.is_row_name(found.inputs.names[0])


def _parquet() -> list[bytes]:
    """Small Parquet files; none where the libraries are missing."""
    try:
        import pandas
    except ImportError:
        return []
    frames = [
        pandas.DataFrame({"x": [1.5, None], "sky": ["a", "b"], "labels": ["u;v", ""]}),
        pandas.DataFrame({"n": [1, 2, 3], "t": [True, False, None], "y": [0.5, 2.0, -1.0]}),
        pandas.DataFrame({"x": [1.0], "class": ["a"]}, index=pandas.Index(["r"], name="id")),
    ]
    found = []
    for frame, compression in zip(frames, (None, "snappy", None)):
        file = io.BytesIO()
        frame.to_parquet(file, engine="pyarrow", compression=compression)
        found.append(file.getvalue())
    return found


def _read_parquet(path: Path, turn: int) -> Any:
    return parquet.read_parquet(path, _options(turn))


def _parquet_again(path: Path, turn: int, found: Any) -> None:
    _written_again(parquet.FORMAT, path, turn, found)


def _read_any(path: Path, turn: int) -> Any:
    with only_by("Python"):
        return reading.read_data(path, targets=() if turn == 7 else None)


def _csv(name: str, seeds: list[bytes], file_name: str = "mutant.csv") -> FileFormat:
    return FileFormat(name, seeds, _TOKENS, read_csv, _MODULES, _csv_again, file_name)


_OTHERS = [
    seed
    for format in (*ARFF_FORMATS, *LINE_FORMATS)
    for seed in format.seeds
    if format.name not in ("mulan", "label list", "edges")
]
FORMATS = (
    _csv("csv", CSV),
    _csv("csv.gz", [gzip.compress(text, mtime=0) for text in CSV], "mutant.csv.gz"),
    _csv("csv.xz", [lzma.compress(text) for text in CSV], "mutant.csv.xz"),
    FileFormat(
        "parquet", _parquet(), (b"PAR1", b"pandas", b"\x00\x00\x00\x00"), _read_parquet,
        (parquet, columns, outputs, targets, files), _parquet_again, "mutant.parquet",
    ),
    FileFormat("any format", [*CSV, *_OTHERS], _TOKENS, _read_any, (reading, *_MODULES)),
)  # fmt: skip
