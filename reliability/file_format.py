# SPDX-License-Identifier: BSD-3-Clause
"""What a reader has to tell to be tried with broken files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from memory_files import put

from skstruct.exceptions import DataFormatError

TURNS = 16  # ways to ask; most of them are the usual one


def nothing_more(path: Path, turn: int, found: Any) -> None:
    """A reader that has one way only."""


@dataclass(frozen=True)
class FileFormat:
    """A reader and files to break.

    Attributes
    ----------
    name : str
    seeds : sequence of bytes
        Sound files.
    tokens : sequence of bytes
        Words of the format.
    read : callable of a path and a turn
        What the file holds. The turn, from 0 to TURNS - 1, tells options.
    modules : tuple of modules
        Whose lines tell new kinds of files from old ones.
    again : callable of a path, a turn, and what was read or the refusal
        Further ways to read, which have to find the same; an AssertionError says that they do not.
        Of refused files, only some are tried so.
    file_name : str
    place : callable of a path and bytes
        Puts the bytes where the reader finds them.
    refusals : tuple of exceptions
        By which a file may be refused.
    opened_by : tuple of modules
        That open files themselves.
    """

    name: str
    seeds: Sequence[bytes]
    tokens: Sequence[bytes]
    read: Callable[[Path, int], Any]
    modules: tuple[ModuleType, ...]
    again: Callable[[Path, int, Any], None] = nothing_more
    file_name: str = "mutant"
    place: Callable[[Path, bytes], None] = put
    refusals: tuple[type[Exception], ...] = (DataFormatError,)
    opened_by: tuple[ModuleType, ...] = ()
