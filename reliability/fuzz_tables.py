# SPDX-License-Identifier: BSD-3-Clause
"""Readers of CSV, label ranking, letters, CoNLL, taxonomies and Parquet on broken files.

A file is read or refused by a DataFormatError, in one line and within a second; anything else
is a failure. What was read is written and read again, which has to give the same once more.

    python reliability/fuzz_tables.py --count 100000 --seed 0
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mutations import mutants, trial
from summary import finish

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.formats.edges import read_edges
from skstruct.datasets.reading import read_data
from skstruct.datasets.writing import write_data
from skstruct.exceptions import DataFormatError

_PIXELS = "\t".join("01" * 64)
_CSV = [
    b"warmth,sky,y\n21.5,cloudy,1.5\n,sunny,2\n NA ,?,-1e3\n",
    b'"a;b","c ""d""",labels\n1,"x\ny",b;a\n2,z,\n0.1,"p,q",a\\;c\n',
    b"x;n;ranking\n1;2;tea>milk=water\n3;4;milk>tea\n",
    b"id\tx\tclass\nr1\t1\ta\nr2\t1e-5\tb\n",
    b"x,tags\n1,B-NP I-NP\n2,O\n",
    b"a,b,y\n1,0,3\n0,1,2\n0,0,1\n",
    b"id,'=a,sky,labels\n'=r,-1,'+b,'=c;d\n''=r,2,-7,\\=e\n'x,3,@f,g\\>h\n",
]
_FORMAT_SEEDS: dict[str, list[bytes]] = {
    "csv": _CSV,
    "label-ranking": [b"2,2,3\n0.5,-1e2,3,1,2\n 7 ,0,1,2,3\n", b"1,1,1\n4,1\n"],
    "letters": [
        f"1\ta\t2\t1\t1\t3\t{_PIXELS}\n2\tt\t-1\t1\t2\t3\t{_PIXELS}\t\n".encode(),
        f"1\tz\t-1\t1\t1\t0\t{_PIXELS}\n".encode(),
    ],
    "conll": [
        b"-DOCSTART- -X- O\n\nHe PRP B-NP\nran VBD B-VP\n\nNo DT O\n",
        "one token\tDT\tB-NP\nthé\tNN\tI-NP\n\n.\t.\tO\n".encode(),
        b"# text = al mar\n1-2\tal\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\ta\tADP\t_\t_\t3\tcase\t_\t_\n"
        b"2\tel\tel\tDET\t_\t_\t3\tdet\t_\t_\n2.1\to\to\tX\t_\t_\t_\t_\t3:x\t_\n\n"
        b"1\tmar\tmar\tNOUN\t_\t_\t0\troot\t_\t_\n",
    ],
}
TOKENS = [b"a;b", b"a>b", b"a=b", b"\\;", b'""', b"NA", b"1.5", b"-DOCSTART-", b"\n\n", b"y,", b"x",
          b"'=", b"'", b"\\=", b"1-2", b"1.1", b"# "]  # fmt: skip


def _parquet() -> list[bytes]:
    """Small Parquet files; none where the libraries are missing."""
    data = Table(("x", "sky"), (None, ("a", "b")), np.array([[1.5, 0], [np.nan, 1]]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        try:
            write_data(Dataset("t", "csv", "labels", data, [("u", "v"), ()], ("u", "v")), path)
        except ImportError:
            return []
        return [path.read_bytes()]


def reads(path: Path, format: str | None) -> None:
    """Reads with and without outputs; writes what was read, and reads again."""
    try:
        data = read_data(path, format=format)
    except DataFormatError:
        read_data(path, format=format, targets=())
        raise
    if data.format not in _FORMAT_SEEDS:
        return  # another format by the first lines
    again = path.with_name(f"again{path.suffix}")
    try:
        write_data(data, again, format=data.format)
    except DataFormatError:
        return  # such as a name that is blank but for odd spaces
    targets = None
    if isinstance(data.inputs, Table) and data.format == "csv":
        names = read_data(again, format="csv", targets=()).inputs.names
        targets = names[len(data.inputs.names) :]
    found = read_data(again, format=data.format, targets=targets, task=data.task)
    problem = difference(data, found)
    if problem:
        raise AssertionError(f"written and read: {problem}")


def difference(one: Dataset, other: Dataset) -> str | None:
    """In what two data sets differ; None if in nothing."""
    if (one.task, len(one)) != (other.task, len(other)):
        return "task or rows"
    if isinstance(one.inputs, Table):
        a, b = one.inputs, other.inputs
        same = (a.names, a.values) == (b.names, b.values)
        same = same and np.array_equal(a.data, b.data, equal_nan=True)
    elif isinstance(one.inputs[0], np.ndarray):
        same = all(np.array_equal(a, b) for a, b in zip(one.inputs, other.inputs))
    else:
        same = one.inputs == other.inputs
    if not same:
        return "inputs"
    y, z = one.outputs, other.outputs
    same = np.array_equal(y, z) if isinstance(y, np.ndarray) else y == z
    return None if same else "outputs"


def reads_edges(path: Path, format: str | None) -> None:
    """Reads a taxonomy."""
    read_edges(path)


STAGES: dict[str, tuple[Callable, str | None, str, list[bytes]]] = {
    **{name: (reads, name, "mutant", seeds) for name, seeds in _FORMAT_SEEDS.items()},
    "any format": (reads, None, "mutant", [s for seeds in _FORMAT_SEEDS.values() for s in seeds]),
    "csv.gz": (reads, "csv", "mutant.csv.gz", [gzip.compress(s, mtime=0) for s in _CSV]),
    "csv.xz": (reads, "csv", "mutant.csv.xz", [lzma.compress(s) for s in _CSV]),
    "taxonomy": (reads_edges, None, "mutant", [b"all\ta\nall\tb\na\tc\n", b"# x\n1 1/1\n1 1/2\n"]),
    "parquet": (reads, "parquet", "mutant.parquet", _parquet()),
}


def fuzz(name: str, n: int, seed: int, read: Callable | None = None) -> dict:
    """Counts of what became of ``n`` mutants, and the first failures with their files."""
    usual, format, file_name, seeds = STAGES[name]
    counts = {"read": 0, "refused": 0, "failed": 0}
    failures: list[dict] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file_name
        for text in mutants(seeds, n, random.Random(seed), TOKENS) if seeds else ():
            how, why = trial(lambda file: (read or usual)(file, format), path, text)
            counts[how] += 1
            if how == "failed" and len(failures) < 10:
                failures.append({"why": why, "file": repr(text)})
    return {"name": name, "tried": sum(counts.values()), **counts, "failures": failures}


def planted(path: Path, format: str | None) -> None:
    """A reader with a bug: it takes for granted that a header has a second column."""
    reads(path, format)
    path.read_bytes().splitlines()[0].split(b",")[1]


def main() -> int:
    """A planted bug first, then every format."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="mutants of each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", nargs="*", default=list(STAGES), choices=list(STAGES))
    given = parser.parse_args()
    caught = fuzz("csv", 1000, given.seed, planted)["failed"]
    print(f"planted bug: caught in {caught} of 1000 files", flush=True)
    stages = []
    for name in given.formats:
        start = time.perf_counter()
        stages.append(fuzz(name, given.count, given.seed))
        seconds = time.perf_counter() - start
        counts = {key: value for key, value in stages[-1].items() if key != "failures"}
        print(f"{counts}, {seconds:.1f} s", flush=True)
    return finish(
        "fuzz_tables",
        {
            "tried": sum(stage["tried"] for stage in stages),
            "failed": sum(stage["failed"] for stage in stages),
            "planted_caught": caught,
            "seed": given.seed,
            "stages": stages,
        },
    )


if __name__ == "__main__":
    sys.exit(main())
