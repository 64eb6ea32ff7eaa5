# SPDX-License-Identifier: BSD-3-Clause
"""Readers of ARFF, MULAN, CLUS and LIBSVM files on broken ones.

A file is read or refused by a DataFormatError, in one line and within a second; anything else
is a failure. Rows are read twice, compiled and in Python, and both have to find the same. What
was read is written and read again; of ARFF files without a hierarchy it has to be the same once
more, of the others it has to be readable.

    python reliability/fuzz_arff.py --count 200000 --seed 0

With --atheris, where that is installed, the files come from its fuzzer instead.
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import json
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy
from arff_seeds import SEEDS, TOKENS
from mutations import mutants, trial
from scipy import sparse

import skstruct
from skstruct.datasets.formats import libsvm as svm_rows
from skstruct.datasets.formats.arff import reading as arff_rows
from skstruct.datasets.formats.arff.dialects import ARFF
from skstruct.datasets.formats.arff.label_list import read_label_list, write_label_list
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.libsvm import FORMAT as LIBSVM
from skstruct.exceptions import DataFormatError

HANGING_SECONDS = 600.0  # for a thousand files; then the process ends


def read_both_ways(format: Format, path: Path):
    """The data set, read compiled and in Python, which have to agree."""
    outcomes = [outcome(format, path, size) for size in (0, 1 << 60)]
    problem = difference(*outcomes)
    if problem:
        raise AssertionError(f"compiled and Python: {problem}")
    if isinstance(outcomes[0], DataFormatError):
        raise outcomes[0]
    return outcomes[0]


def outcome(format, path, compiled_from):
    with _compiled_from(compiled_from):
        try:
            return format.read(path, ReadOptions())
        except DataFormatError as error:
            return error


@contextmanager
def _compiled_from(size):
    before = arff_rows.COMPILED_FROM, svm_rows.COMPILED_FROM
    arff_rows.COMPILED_FROM = svm_rows.COMPILED_FROM = size
    try:
        yield
    finally:
        arff_rows.COMPILED_FROM, svm_rows.COMPILED_FROM = before


def difference(one, other) -> str | None:
    """In what two outcomes differ; None if in nothing. Of two errors, only that both are."""
    if isinstance(one, DataFormatError) or isinstance(other, DataFormatError):
        return None if type(one) is type(other) else f"{one!r} against {other!r}"[:300]
    for part in ("task", "labels", "edges", "index"):
        if getattr(one, part) != getattr(other, part):
            return f"{part}: {getattr(one, part)} against {getattr(other, part)}"[:300]
    if (one.inputs.names, one.inputs.values) != (other.inputs.names, other.inputs.values):
        return "columns"
    return _same_arrays(one, other)


def _same_arrays(one, other):
    a, b = (d.toarray() if sparse.issparse(d) else d for d in (one.inputs.data, other.inputs.data))
    if a.shape != b.shape or not np.array_equal(a, b, equal_nan=True):
        return "inputs"
    y, z = one.outputs, other.outputs
    same = np.array_equal(y, z) if isinstance(y, np.ndarray) else y == z
    return None if same else "outputs"


def read_and_write(format: Format) -> Callable[[Path], None]:
    """Reads both ways, writes, and reads again."""

    def run(path):
        data = read_both_ways(format, path)
        if data.outputs is None or not len(data) or not data.inputs.names:
            return
        file = io.StringIO()
        try:
            format.write(data, file)
        except DataFormatError:
            return  # refused to write, such as missing values to LIBSVM
        path.write_text(file.getvalue(), encoding="utf-8", newline="")
        again = format.read(path, ReadOptions(task=data.task))
        problem = None if format.name == "libsvm" else difference(data, again)
        if problem and data.task != "hierarchy":  # of which labels come back parents first
            raise AssertionError(f"written and read: {problem}")

    return run


def read_list(path: Path) -> None:
    """Reads a list of labels, writes it, and reads again."""
    labels, edges = read_label_list(path)
    try:
        text = write_label_list(labels, edges)
    except DataFormatError:
        return
    path.write_text(text, encoding="utf-8", newline="")
    again = read_label_list(path)
    if (set(again[0]), set(again[1])) != (set(labels), set(edges)):
        raise AssertionError("written and read: other labels")


READERS: dict[str, Callable[[Path], None]] = {
    "arff": read_and_write(ARFF),
    "libsvm": read_and_write(LIBSVM),
    "label list": read_list,
}


def fuzz(name: str, n: int, seed: int, read: Callable[[Path], None] | None = None) -> dict:
    """Counts of what became of ``n`` mutants, and the first failures with their files."""
    counts = {"read": 0, "refused": 0, "failed": 0}
    failures: list[dict] = []
    read = read or READERS[name]
    in_memory = "/dev/shm" if Path("/dev/shm").is_dir() else None  # disks are slow to truncate
    with tempfile.TemporaryDirectory(dir=in_memory) as folder:
        path = Path(folder) / "mutant"
        for text in SEEDS[name] * 2:  # at first it compiles
            how, why = trial(read, path, text)
        if how != "read" and read is READERS[name]:
            raise RuntimeError(f"A sound file was not read: {why}")
        for number, text in enumerate(mutants(SEEDS[name], n, random.Random(seed), TOKENS[name])):
            if number % 1000 == 0:
                faulthandler.dump_traceback_later(HANGING_SECONDS, exit=True)
            how, why = trial(read, path, text)
            counts[how] += 1
            if how == "failed" and len(failures) < 10:
                failures.append({"why": why, "file": repr(text)})
    faulthandler.cancel_dump_traceback_later()
    return {"name": name, "tried": n, **counts, "seed": seed, "failures": failures}


def planted(path: Path) -> None:
    """A reader with a bug: it takes for granted that quotes come in pairs."""
    if path.read_bytes().count(b'"') % 2:
        raise IndexError("planted")
    READERS["arff"](path)


def _with_atheris(name: str, n: int) -> None:
    import atheris

    folder = tempfile.mkdtemp()
    path = Path(folder) / "mutant"

    def one(text):
        how, why = trial(READERS[name], path, text)
        if how == "failed":
            raise RuntimeError(why)

    for number, text in enumerate(SEEDS[name]):
        (Path(folder) / f"seed{number}").write_bytes(text)
    atheris.Setup([sys.argv[0], f"-runs={n}", folder], one)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=200_000, help="mutants of each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", nargs="*", default=list(READERS), choices=list(READERS))
    parser.add_argument("--atheris", action="store_true")
    given = parser.parse_args()
    if fuzz("arff", 2000, given.seed, planted)["failed"] == 0:
        print("The planted bug was not found.")
        return 1
    print("the planted bug was found", flush=True)
    stages = []
    for name in given.formats:
        if given.atheris:
            _with_atheris(name, given.count)
            continue
        start = time.perf_counter()
        stage = fuzz(name, given.count, given.seed)
        stages.append({**stage, "seconds": round(time.perf_counter() - start, 1)})
        print({k: v for k, v in stages[-1].items() if k != "failures"}, flush=True)
    versions = {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "skstruct": skstruct.__version__,
    }
    failed = sum(stage["failed"] for stage in stages)
    tried = sum(stage["tried"] for stage in stages)
    summary = {"tried": tried, "failed": failed, "seed": given.seed, "versions": versions}
    print(json.dumps({**summary, "stages": stages}, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
