# SPDX-License-Identifier: BSD-3-Clause
"""Files of lines to be broken: LIBSVM, CoNLL, CoNLL-U, taxonomies, letters and label rankings."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from file_format import FileFormat
from same_data import difference, must_agree, written

from skstruct.datasets import files
from skstruct.datasets.formats import conll, conllu, edges, label_ranking, letters, libsvm
from skstruct.datasets.formats import token_lines as lines
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.exceptions import DataFormatError

_PIXELS = "\t".join("01" * 64)
_SVM = [
    b"1,3 1:0.5 4:-2e3\n 2:1  # none\n3 7:.125\n2,1\n",
    b"+1 1:0.5 2:2\n-1 1:1e-3\n+1 3:4\n",
    b"1.5 1:0.5\n-2.25 1:1 2:2\n",
    b"2 qid:1 1:0.5\n1 qid:1 2:3\n0 qid:2 1:1\n",
]
_CONLL = [
    b"-DOCSTART- -X- O\n\nHe PRP B-NP\nran VBD B-VP\n\nNo DT O\n",
    "one token\tDT\tB-NP\nthé\tNN\tI-NP\n\n.\t.\t?\n".encode(),
    b"a \\?\nb  O\n\n\nc B-x\n",
]
_CONLLU = [
    b"# text = al mar\n1-2\tal\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\ta\tADP\t_\t_\t3\tcase\t_\t_\n"
    b"2\tel\tel\tDET\t_\t_\t3\tdet\t_\t_\n2.1\to\to\tX\t_\t_\t_\t_\t3:x\t_\n\n"
    b"1\tmar\tmar\tNOUN\t_\t_\t0\troot\t_\tConf=0.5\n",
    b"1\tGo\tgo\t_\tV\t_\t0\troot\t_\tSpaceAfter=No\n2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_\n",
]
_LETTERS = [
    f"1\ta\t2\t1\t1\t3\t{_PIXELS}\n2\tt\t-1\t1\t2\t3\t{_PIXELS}\t\n".encode(),
    f"1\tz\t-1\t1\t1\t0\t{_PIXELS}\n".encode(),
]
_TOKENS_OF_LINES = (b"-DOCSTART-", b"\n\n", b"\t", b"  ", b"1-2", b"1.1", b"# ", b"_", b"\\?", b"O")


def _options(turn: int) -> ReadOptions:
    return {14: ReadOptions(targets=()), 15: ReadOptions(targets=("4",))}.get(turn, ReadOptions())


def _read(format: Format, path: Path, turn: int) -> Any:
    return format.read(path, _options(turn))


def _again(format: Format, path: Path, turn: int, found: Any) -> None:
    """What was read is written and read again."""
    if isinstance(found, DataFormatError) or turn >= 14 or not written(format.write, found, path):
        return
    problem = difference(found, format.read(path, ReadOptions(task=found.task)))
    if problem:
        raise AssertionError(f"written and read: {problem}"[:400])


@contextmanager
def _compiled_from(size):
    before, libsvm.COMPILED_FROM = libsvm.COMPILED_FROM, size
    try:
        yield
    finally:
        libsvm.COMPILED_FROM = before


def _svm_options(turn: int) -> ReadOptions:
    tasks = {12: "classes", 13: "labels", 14: "regression", 15: "hierarchy"}
    return ReadOptions(task=tasks.get(turn), targets=() if turn == 11 else None)


def _read_svm(path: Path, turn: int) -> Any:
    return libsvm.FORMAT.read(path, _svm_options(turn))


def _svm_again(path: Path, turn: int, found: Any) -> None:
    with _compiled_from(0):
        try:
            other = libsvm.FORMAT.read(path, _svm_options(turn))
        except DataFormatError as error:
            other = error
    must_agree(found, other, "compiled and Python")
    if isinstance(found, DataFormatError) or found.outputs is None:
        return
    if not written(libsvm.FORMAT.write, found, path):
        return
    again = libsvm.FORMAT.read(path, ReadOptions(task=found.task))
    if len(again) != len(found):
        raise AssertionError(f"written and read: {len(again)} rows instead of {len(found)}")


def _read_edges(path: Path, turn: int) -> Any:
    return edges.read_edges(path)


def _edges_again(path: Path, turn: int, found: Any) -> None:
    if not isinstance(found, DataFormatError) and written(edges.write_edges, found, path):
        again = edges.read_edges(path)
        if again != found:
            raise AssertionError(f"written and read: {again} instead of {found}"[:400])


def _tokens(name: str, format: Format, seeds: list[bytes], *modules: Any) -> FileFormat:
    given = (seeds, _TOKENS_OF_LINES, partial(_read, format), (*modules, files))
    return FileFormat(name, *given, partial(_again, format))


FORMATS = (
    FileFormat(
        "libsvm",
        _SVM,
        (b"1:1", b"0:1", b"999999999:1", b"qid:3", b":", b"1,2", b" 3:", b"# "),
        _read_svm,
        (libsvm, files),
        _svm_again,
    ),
    _tokens("conll", conll.FORMAT, _CONLL, conll, lines),
    _tokens("conllu", conllu.FORMAT, _CONLLU, conllu, lines),
    FileFormat(
        "edges",
        [b"all\ta\nall\tb\na\tc\n", b"# x\n1 1/1\n1 1/2\n", b"a,b\nb, c\n\nc,d\n"],
        (b"\t", b"a\tb\n", b"b a\n", b"# ", b", "),
        _read_edges,
        (edges, files),
        _edges_again,
    ),
    _tokens(
        "label-ranking",
        label_ranking.FORMAT,
        [b"2,2,3\n0.5,-1e2,3,1,2\n 7 ,0,1,2,3\n", b"1,1,1\n4,1\n"],
        label_ranking,
    ),
    _tokens("letters", letters.FORMAT, _LETTERS, letters),
)
