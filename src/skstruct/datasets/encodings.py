# SPDX-License-Identifier: BSD-3-Clause
"""Texts that are not UTF-8: a path that knows its encoding, and bytes turned into UTF-8."""

import codecs
import os
from pathlib import Path
from typing import Any

from skstruct.exceptions import DataFormatError

UTF8 = "utf-8"
_SAME = ("utf-8", "utf-8-sig")  # a mark of byte order is taken off in any case


class EncodedPath(type(Path())):  # type: ignore[misc]
    """A path whose text is not UTF-8; paths made from it are of the same encoding."""

    encoding: str = UTF8

    def with_name(self, name: str) -> Any:
        return text_path(super().with_name(name), self.encoding)


def text_path(path: str | os.PathLike[str], encoding: str | None = None) -> Path:
    """A path that is read by this encoding; one that has an encoding keeps it.

    Examples
    --------
    >>> encoding_of(text_path("a.csv", "latin-1")), encoding_of(text_path("a.csv"))
    ('iso8859-1', 'utf-8')
    >>> text_path("a.csv", "klingon")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: encoding is the name of one, such as utf-8, latin-1, cp1252 or utf-16; got 'klin...
    """
    found = path if isinstance(path, Path) else Path(path)
    if encoding is None or (name := checked_encoding(encoding)) in _SAME:
        return found
    encoded = EncodedPath(found)
    encoded.encoding = name
    return encoded


def encoding_of(path: Any) -> str:
    """The encoding of the text of a file, UTF-8 unless its path says otherwise."""
    return str(getattr(path, "encoding", UTF8))


def checked_encoding(name: str) -> str:
    """The usual name of an encoding of text."""
    try:
        "a".encode(name)  # of texts, not of anything else
        codecs.getincrementaldecoder(name)
        return codecs.lookup(name).name
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"encoding is the name of one, such as utf-8, latin-1, cp1252 or utf-16; got {name!r}."
        ) from None


class Transcoder:
    """A file of bytes that is read as UTF-8, piece by piece: one piece is all that is copied.

    Parameters
    ----------
    file : opened for reading bytes
    path : path
        For messages, with the encoding.
    """

    def __init__(self, file: Any, path: Any) -> None:
        self.file, self.path, self.encoding = file, path, encoding_of(path)
        self._decoder = codecs.getincrementaldecoder(self.encoding)()
        self._lines = 1

    def read(self, size: int) -> tuple[bytes, int]:
        """The next piece, empty at the end, and how many bytes of the file it took."""
        taken = 0
        while True:
            raw = self.file.read(size)
            taken += len(raw)
            try:
                piece = self._decoder.decode(raw, not raw).encode(UTF8)
            except UnicodeError as error:
                raise self._failure(error, raw) from None
            if piece or not raw:
                self._lines += piece.count(b"\n")
                return piece, taken

    def _failure(self, error: UnicodeError, raw: bytes) -> DataFormatError:
        if not isinstance(error, UnicodeDecodeError):
            return DataFormatError(f"it is no text in {self.encoding}", path=self.path)
        before, wrong = error.object[: error.start], error.object[error.start : error.start + 1]
        said = f"the byte 0x{wrong.hex()}" if wrong else "the end of the file"
        return DataFormatError(
            f"{said} is no text in {self.encoding}: {error.reason}",
            path=self.path,
            line=self._lines + before.count(b"\n"),
        )


def utf8_problem(block: bytes, start: int) -> str:
    """What to say of a byte that is not UTF-8: where it is, and what the file may be instead.

    >>> print(utf8_problem(b"a\\ncaf\\xe9", 5))
    byte 4 of the line (0xe9) is not UTF-8 text; name the encoding of the file
    (encoding="latin-1")
    """
    value, byte = block[start], start - block.rfind(b"\n", 0, start)
    other = "cp1252" if 0x80 <= value < 0xA0 else "latin-1"
    if block[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        other = "utf-16"
    return (
        f"byte {byte} of the line (0x{value:02x}) is not UTF-8 text; name the encoding of the file "
        f'(encoding="{other}")'
    )
