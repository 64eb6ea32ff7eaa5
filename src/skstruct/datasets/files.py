# SPDX-License-Identifier: BSD-3-Clause
"""Data files: where they lie on this machine, how they are opened, and their lines, whatever
their bytes are.
"""

import codecs
import contextlib
import gzip
import io
import lzma
import os
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from skstruct._arrays.progress import working
from skstruct._files.atomic import replacing
from skstruct.datasets.encodings import UTF8, Transcoder, encoding_of, utf8_problem
from skstruct.exceptions import DataFormatError, MissingDataError

_OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}


def data_home() -> Path:
    """Folder of the data sets: ``$SKSTRUCT_DATA`` if set, else ``~/.skstruct/data``.

    Examples
    --------
    >>> import os
    >>> from unittest import mock
    >>> with mock.patch.dict(os.environ, SKSTRUCT_DATA="my_data"):
    ...     print(data_home())
    my_data
    """
    folder = os.environ.get("SKSTRUCT_DATA")
    return Path(folder).expanduser() if folder else Path.home() / ".skstruct" / "data"


def data_file(*parts: str, source: str) -> Path:
    """Path of a file of a data set, as it is or compressed by xz.

    Parameters
    ----------
    *parts : str
        Folder and file name below :func:`data_home`.
    source : str
        Where the data set can be had; ends the message when it is not there.

    Raises
    ------
    MissingDataError
        If neither the file nor its ``.xz`` is there.

    Examples
    --------
    >>> data_file("no_such_set", "train.arff", source="its authors")
    Traceback (most recent call last):
        ...
    skstruct.exceptions.MissingDataError: No file 'no_such_set/train.arff', nor ...
    """
    home = data_home()
    path = home.joinpath(*parts)
    for candidate in (path, path.with_name(path.name + ".xz")):
        if candidate.is_file():
            return candidate
    raise MissingDataError(
        f"No file {'/'.join(parts)!r}, nor the same with '.xz', in the folder {str(home)!r}. "
        f"The environment variable SKSTRUCT_DATA sets this folder. "
        f"skstruct ships no data; get them from {source}."
    )


def open_text(path: str | os.PathLike[str]) -> Any:
    """Open a text file for reading as UTF-8, unpacked if its name ends in .xz or .gz.

    Parameters
    ----------
    path : str or path

    Examples
    --------
    >>> import lzma, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "greeting.txt.xz"
    ...     _ = path.write_bytes(lzma.compress(b"hello"))
    ...     with open_text(path) as file:
    ...         print(file.read())
    hello
    """
    opener: Callable[..., Any] = _OPENERS.get(_ending(path), open)
    return opener(path, "rt", encoding="utf-8")


def open_binary(path: str | os.PathLike[str]) -> Any:
    """A file opened for reading bytes, unpacked if its name ends in .xz or .gz."""
    opener: Callable[..., Any] = _OPENERS.get(_ending(path), open)
    return opener(path, "rb")


def _ending(path: str | os.PathLike[str]) -> str:
    return os.path.splitext(path)[1]


@contextlib.contextmanager
def packing(path: Path, text_type: type[Any] = io.TextIOWrapper) -> Iterator[Any]:
    """A text file to write, whole or not at all, packed if its name ends in .xz or .gz.

    Line ends are written as given, and ``file.buffer`` takes bytes. The same text gives the same
    bytes: no name and no time.
    """
    with replacing(path, "wb") as raw, contextlib.ExitStack() as stack:
        target = raw
        if path.suffix == ".gz":
            target = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        elif path.suffix == ".xz":
            target = stack.enter_context(lzma.LZMAFile(raw, "wb"))
        text = text_type(target, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # or it would close what has to be flushed to the disk


# Lines of a text file, whatever its bytes: sound, or refused in one line that says where.


BLOCK_BYTES = 1 << 19
MAX_LINE_BYTES = 100_000_000
_BROKEN_ARCHIVE = (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, MemoryError)


def text_blocks(
    path: str | os.PathLike[str],
    max_line: int = MAX_LINE_BYTES,
    *,
    seen: Callable[[int], None] | None = None,
) -> Iterator[tuple[int, list[str]]]:
    r"""Blocks of whole lines of a text file, each with the number of its first line.

    The text is UTF-8, or of the encoding of its path (``text_path``). Lines end in LF, CRLF or CR,
    which are taken off, as is a byte order mark. A file whose name ends in .gz or .xz is unpacked.

    Parameters
    ----------
    path : str or path
    max_line : int
        Longest line in bytes.
    seen : callable, default=None
        Called with the number of bytes of every piece that is read, unpacked.

    Raises
    ------
    DataFormatError
        For bytes that are not UTF-8, NUL bytes, a line that is too long, and an archive that
        is cut off or damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "some.txt"
    ...     _ = path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\nthree")
    ...     list(text_blocks(path))
    [(1, ['one', 'two']), (3, ['three'])]
    """
    number = 1
    for block in byte_blocks(path, max_line, seen):
        lines = _decoded(block, path, number).split("\n")
        if lines[-1] == "":
            lines.pop()  # what follows the last line end is no line
        yield number, lines
        number += len(lines)


def text_lines(
    path: str | os.PathLike[str],
    max_line: int = MAX_LINE_BYTES,
    *,
    seen: Callable[[int], None] | None = None,
) -> Iterator[str]:
    """The lines of :func:`text_blocks`, one by one."""
    for _, lines in text_blocks(path, max_line, seen=seen):
        yield from lines


def byte_blocks(
    path: str | os.PathLike[str],
    max_line: int = MAX_LINE_BYTES,
    seen: Callable[..., Any] | None = None,
) -> Iterator[bytes]:
    """Blocks of whole lines, of at least BLOCK_BYTES except for the last, with LF ends."""
    rest, number = b"", 1
    pieces = _unpacked(path, seen)
    piece = next(pieces)
    while piece:
        block, held = rest + piece, False
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
            held = block[-1:] == b"\r"  # perhaps the first half of a CRLF
            block = (block[:-1] if held else block).replace(b"\r", b"\n")
        whole, end, rest = block.rpartition(b"\n")
        rest += b"\r" if held else b""
        if len(block) > max_line:
            for line, text in enumerate([*whole.split(b"\n"), rest] if end else [rest], number):
                if len(text) > max_line:
                    problem = f"the line is longer than {max_line} bytes"
                    raise DataFormatError(problem, path=path, line=line)
        if end:
            number += whole.count(b"\n") + 1
            yield whole + end
        # As much as is left over, so that a very long line is copied a few times, not thousands.
        piece = pieces.send(max(BLOCK_BYTES, len(rest)))
    if rest:
        yield rest.replace(b"\r", b"\n")


def _unpacked(
    path: str | os.PathLike[str], seen: Callable[..., Any] | None
) -> Generator[bytes, int, None]:
    """Pieces of the file, of the length that is sent; empty at the end."""
    size, is_utf8 = BLOCK_BYTES, encoding_of(path) == UTF8
    with open_binary(path) as file, working("text", _megabytes(path), unit=" MB") as stage:
        other = None if is_utf8 else Transcoder(file, path)
        while True:
            try:
                piece, n_read = (file.read(size), None) if other is None else other.read(size)
            except _BROKEN_ARCHIVE as error:
                kind = f"a damaged or incomplete {_ending(path)} file"
                raise DataFormatError(f"{kind} ({error or 'out of memory'})", path=path) from None
            n_bytes = len(piece) if n_read is None else n_read
            if seen is not None:
                seen(n_bytes)
            if stage is not None:
                stage.advance(n_bytes / 1e6)
            size = yield piece


def _megabytes(path: str | os.PathLike[str]) -> float | None:
    """Size of what will be read; None of a packed file."""
    return None if _ending(path) in (".gz", ".xz") else os.path.getsize(path) / 1e6


def _decoded(block: bytes, path: str | os.PathLike[str], number: int) -> str:
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError as error:
        line = number + block.count(b"\n", 0, error.start)
        problem = utf8_problem(block, error.start)
        raise DataFormatError(problem, path=path, line=line) from None
    if "\x00" in text:
        line = number + text.count("\n", 0, text.index("\x00"))
        problem = "a NUL byte, which no text file holds"
        if text.count("\x00") * 4 > len(text):  # every second byte of letters
            problem += '; name the encoding of the file (encoding="utf-16")'
        raise DataFormatError(problem, path=path, line=line)
    return text.removeprefix("\ufeff") if number == 1 else text


# Names, first lines and all lines of files that may hold any bytes.


_FIRST = 2**16  # bytes that tell a format
_PACKED = (".gz", ".xz")


def bare_name(path: Any) -> str:
    """Name of a file without the endings ``.gz`` and ``.xz``.

    Examples
    --------
    >>> bare_name("data/iris.csv.xz")
    'iris.csv'
    """
    name = Path(path).name
    while name.endswith(_PACKED) and len(name) > 3:
        name = name[:-3]
    return name


def stem(path: Any) -> str:
    """Name of a file without its ending, packed or not.

    Examples
    --------
    >>> stem("data/iris.csv.xz")
    'iris'
    """
    return Path(bare_name(path)).stem


def read_lines(path: Path) -> list[str]:
    """All lines without their ends; a file that is no text, or empty, is refused."""
    lines = list(text_lines(path))
    if not lines:
        raise DataFormatError("the file is empty", path=path)
    return lines


def first_lines(path: Path, n_lines: int = 30) -> list[str]:
    """Some lines from the beginning, without their ends, to tell a format by."""
    with unpacking(path), open_binary(path) as file:
        start = file.read(_FIRST)
    lines = re.split("\r\n|\r|\n", _beginning(start, path))
    if len(lines) > 1 and (not lines[-1] or len(start) == _FIRST):  # empty, or may be cut off
        lines.pop()
    return lines[:n_lines]


def _beginning(start: bytes, path: Path) -> str:
    """Text of the first bytes, of which the last ones may be cut off."""
    name = encoding_of(path)
    text = codecs.decode(start, "utf-8-sig" if name == UTF8 else name, "replace")
    return text.removeprefix("\ufeff")


@contextlib.contextmanager
def unpacking(path: Path) -> Iterator[None]:
    """While a file is opened and unpacked: what goes wrong is an error of the data."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise DataFormatError(f"it cannot be unpacked ({error})", path=path) from None
