# SPDX-License-Identifier: BSD-3-Clause
"""Readers with a bug each, which the search has to find before it is believed."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from all_formats import FORMATS
from file_format import FileFormat
from fuzz_engine import MEMORY_CAP, MOST_SECONDS, Fuzzer
from memory_files import held
from same_data import must_agree

MOST_TRIES = 20_000


def _unpaired(path: Path, turn: int) -> Any:
    """Takes for granted that quotes come in pairs."""
    if held(path).count(b'"') % 2:
        raise IndexError("planted")
    return FORMATS["arff"].read(path, turn)


def _slow(path: Path, turn: int) -> Any:
    """Hangs at a zero byte."""
    start = time.process_time()
    while b"\0" in held(path) and time.process_time() - start < 1.1 * MOST_SECONDS:
        pass
    return FORMATS["edges"].read(path, turn)


def _hungry(path: Path, turn: int) -> Any:
    """Believes the first index of a row, and makes room for all before it."""
    if b"999999999:" in held(path):
        del [bytearray(b"x") * (3 * MEMORY_CAP)][0]
    return FORMATS["libsvm"].read(path, turn)


def _other_way(path: Path, turn: int, found: Any) -> None:
    """A second reader of CSV that takes numbers in exponents for their digits."""
    other = FORMATS["csv"].read(path, turn)
    if b"e" in held(path) and getattr(other.inputs, "data", None) is not None:
        other.inputs.data[:] += 1
    must_agree(found, other, "planted")


def _deep(path: Path, turn: int) -> Any:
    """Breaks off only behind two conditions that have to be met one after the other."""
    found = FORMATS["conll"].read(path, turn)
    words = [word for sentence in found.inputs for token in sentence for word in token]
    if len(found.inputs) < 3:
        return found
    odd = [word for word in words if not word.isascii()]
    if not odd:
        return found
    raise KeyError("planted")


PLANTED: dict[str, FileFormat] = {
    "undeclared exception": replace(FORMATS["arff"], read=_unpaired),
    "slow": replace(FORMATS["edges"], read=_slow),
    "hungry": replace(FORMATS["libsvm"], read=_hungry),
    "two ways that disagree": replace(FORMATS["csv"], again=_other_way),
    "behind two conditions": replace(
        FORMATS["conll"], read=_deep, modules=(*FORMATS["conll"].modules, sys.modules[__name__])
    ),
}


def caught_of(name: str, seed: int) -> int | None:
    """After how many files a planted bug was caught; None if never."""
    with Fuzzer(PLANTED[name], seed) as fuzzer:
        for _ in fuzzer.batch(MOST_TRIES):
            return fuzzer.counts["tried"]
    return None
