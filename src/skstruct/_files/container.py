# SPDX-License-Identifier: BSD-3-Clause
"""A zip of one JSON text and arrays, sealed by a checksum: data only, nothing that can run.

Layout: an ordinary zip, members stored without compression (so that nothing unpacks to more
than the file holds), whose comment, the last 64 bytes of the file, is the SHA-256 in
hexadecimal of all bytes before it. Any change of any bit is noticed before anything is read.
The data of every array begin at a multiple of 64 bytes, so that they can be mapped.
"""

import contextlib
import hashlib
import json
import math
import os
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct._files.atomic import replacing
from skstruct._files.mapping import Mapping, mapped, padding
from skstruct.exceptions import ModelFileError

LAYOUT = 1
MANIFEST = "manifest.json"
SEAL = 64  # hexadecimal digits of SHA-256
KINDS = "biufcUS"  # numpy's letters of the dtypes that hold data only
_MEMBER = re.compile(r"arrays/[A-Za-z0-9_.\-]{1,120}\.npy")
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
_BLOCK = 2**20
_JSON_SHARE = 32  # of max_bytes: JSON takes up to 25 times its length once it is read
_HEADER = re.compile(
    rb"\{'descr': '([<>|=][a-zA-Z][0-9]{0,9})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:[0-9]{1,18}, ?)*(?:[0-9]{1,18})?)\), \} *\n"
)


def write_container(
    path: Any, kind: str, manifest: dict[Any, Any], arrays: dict[str, np.ndarray]
) -> None:
    """Write a file that :func:`read_container` reads, whole or not at all.

    Parameters
    ----------
    kind : str
        What the file is for, such as ``"model"``; asked for again on reading.
    manifest : dict
        Anything that JSON can hold; no NaN.
    arrays : dict of arrays
        Numbers, booleans and fixed-width text, by names of letters, digits, ``_ . -``.
    """
    head = {"kind": kind, "layout": LAYOUT, "manifest": manifest}
    text = json.dumps(head, allow_nan=False, ensure_ascii=True).encode("ascii")
    with replacing(path, "wb") as file:
        sealed = _Hashing(file)
        with zipfile.ZipFile(sealed, "w", zipfile.ZIP_STORED) as packed:  # type: ignore[call-overload]
            packed.writestr(zipfile.ZipInfo(MANIFEST, _EARLIEST), text)
            for name, array in arrays.items():
                info = zipfile.ZipInfo(_member(name, array), _EARLIEST)
                info.extra = padding(sealed.n_bytes, info.filename)
                with packed.open(info, "w", force_zip64=True) as member:
                    info.extra = b""  # the list of members at the end needs no padding
                    np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            packed.comment = b"0" * SEAL
        sealed.finish()


def read_container(
    path: Any, kind: str, *, max_bytes: int = 4 * 2**30, mmap: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """Manifest and arrays of a file, or a ModelFileError if it is not exactly as written.

    With ``mmap`` arrays are mapped where they are aligned: pages of the file, shared with other
    processes until somebody writes to them, and private to this one from then on.
    """
    with _members(path, kind, max_bytes) as (packed, manifest):
        members = packed.infolist()[1:]
        pages = mapped(packed, os.fstat(packed.fp.fileno()).st_size - SEAL) if mmap else None
        return manifest, {_name(info): _array(path, packed, info, pages) for info in members}


def read_manifest(
    path: Any, kind: str, *, max_bytes: int = 4 * 2**30
) -> tuple[Any, dict[str, int]]:
    """The manifest alone, and the bytes of every array."""
    with _members(path, kind, max_bytes) as (packed, manifest):
        return manifest, {info.filename: info.file_size for info in packed.infolist()[1:]}


@contextlib.contextmanager
def _members(path: Any, kind: str, max_bytes: int) -> Iterator[tuple[Any, dict[str, Any]]]:
    """The zip and its manifest; whatever goes wrong in it is a ModelFileError."""
    with _opened(path, max_bytes) as file:
        try:
            with zipfile.ZipFile(file) as packed:
                size = os.fstat(file.fileno()).st_size
                head = _head(path, packed, size, max(_BLOCK, max_bytes // _JSON_SHARE))
                yield packed, _manifest(path, head, kind)
        except ModelFileError:
            raise
        except Exception as error:  # a zip made by hand can make zipfile raise nearly anything
            raise _refused(path, f"it is damaged ({' '.join(str(error).split())[:100]})") from None


class _Hashing:
    """A binary file to write to; its end is replaced by the checksum of what went before."""

    def __init__(self, file: Any) -> None:
        self.file, self.held, self.seal = file, b"", hashlib.sha256()
        self.n_bytes = 0  # that were written, also those that are still held

    def write(self, data: bytes) -> int:
        """Pass on all but the last bytes, which may be the place of the checksum."""
        data = bytes(data)
        together = self.held + data
        self.held = together[-SEAL:]
        self._pass(together[:-SEAL])
        self.n_bytes += len(data)
        return len(data)

    def _pass(self, data: bytes) -> None:
        self.seal.update(data)
        self.file.write(data)

    def finish(self) -> None:
        if self.held != b"0" * SEAL:
            raise AssertionError("a zip ends with its comment")
        self.file.write(self.seal.hexdigest().encode("ascii"))

    def flush(self) -> None:
        self.file.flush()


def _opened(path: Any, max_bytes: int) -> Any:
    """The file, if it is not too large and its checksum is right."""
    file = open(path, "rb")  # noqa: SIM115  (closed by the caller, or below)
    try:
        size = os.fstat(file.fileno()).st_size  # of this file: the path may become another's now
        if size > max_bytes:
            most = f"at most {max_bytes:,} are read (max_bytes)"
            raise _refused(path, f"it has {size:,} bytes; {most}")
        seal, left = hashlib.sha256(), size - SEAL
        while left > 0:
            block = file.read(min(_BLOCK, left))
            if not block:
                break
            seal.update(block)
            left -= len(block)
        if left != 0 or file.read() != seal.hexdigest().encode("ascii"):
            raise _refused(path, "its checksum does not fit: it is no such file, or is damaged")
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


def _head(path: Any, packed: Any, size: int, longest: int) -> Any:
    """The JSON text, when the members are as they are written here."""
    members = packed.infolist()
    names = [info.filename for info in members]
    if not names or names[0] != MANIFEST or len(set(names)) < len(names):
        raise _refused(path, "its members are not those of a model file")
    for info in members:
        if info is not members[0] and not _MEMBER.fullmatch(info.filename):
            raise _refused(path, f"it holds a member {info.filename[:60]!r}")
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise _refused(path, f"its member {info.filename!r} is compressed")
        if info.flag_bits & 0x1:
            raise _refused(path, f"its member {info.filename!r} is encrypted")
    if sum(info.file_size for info in members) > size:
        raise _refused(path, "its members overlap")
    if members[0].file_size > longest:
        raise _refused(path, f"its manifest has more than {longest:,} bytes (see max_bytes)")
    try:
        return json.loads(packed.read(members[0]), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"its manifest is not JSON as written here ({error})") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"the number {name}")


def _manifest(path: Any, head: dict[str, Any], kind: str) -> Any:
    if not isinstance(head, dict) or set(head) != {"kind", "layout", "manifest"}:
        raise _refused(path, "its manifest is not that of a file of this library")
    if head["kind"] != kind:
        raise _refused(
            path, f"it is a {str(head['kind'])[:30]!r} file, and a {kind!r} was asked for"
        )
    if head["layout"] != LAYOUT:
        raise _refused(
            path, f"it has layout {head['layout']!r}, and {LAYOUT} is known: update skstruct"
        )
    return head["manifest"]


def _array(path: Any, packed: Any, info: Any, pages: Mapping | None) -> np.ndarray:
    """One array, its size compared with its header before anything is made."""
    with packed.open(info) as member:
        start = member.read(8)
        if start not in (b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00"):
            raise _refused(path, f"its member {info.filename!r} is no array of a known version")
        width = 2 if start[6] == 1 else 4
        text = member.read(min(int.from_bytes(member.read(width), "little"), _BLOCK))
        dtype, by_columns, shape = _header(path, info, text)
        left = info.file_size - len(start) - width - len(text)
        # An empty text takes no place in a file, and a letter's in an array.
        if math.prod(shape) * max(1, dtype.itemsize) != left:
            raise _refused(path, f"the shape of {info.filename!r} does not fit its size")
        order: Any = "F" if by_columns else "C"
        if pages is not None:
            there = pages.array(info, info.file_size - left, dtype, math.prod(shape))
            if there is not None:
                return np.reshape(there, shape, order=order)
        flat = np.empty(math.prod(shape), dtype)
        view = flat.view(np.uint8).data.cast("B") if left else memoryview(b"")
        for at in range(0, left, _BLOCK):  # never a second copy of a large array
            part = view[at : at + _BLOCK]
            part[:] = member.read(len(part))
        if member.read(1):  # the end, where zipfile compares its checksum
            raise _refused(path, f"{info.filename!r} is longer than it says")
    return flat.reshape(shape, order=order)


def _header(path: Any, info: Any, text: bytes) -> tuple[Any, bool, tuple[Any, ...]]:
    """dtype, order and shape of an array; read by a pattern, since NumPy's reader compiles it."""
    found = _HEADER.fullmatch(text)
    if found is None:
        raise _refused(path, f"the header of {info.filename!r} is not as written here")
    dtype = np.dtype(found[1].decode("ascii"))
    if (
        dtype.kind not in KINDS
        or dtype.hasobject
        or (dtype.kind not in "US" and not dtype.itemsize)
    ):
        raise _refused(path, f"its member {info.filename!r} holds {dtype}, which is not data")
    shape = tuple(int(n) for n in found[3].split(b",") if n.strip())
    return dtype, found[2] == b"True", shape


def _name(info: Any) -> str:
    return str(info.filename)[len("arrays/") : -len(".npy")]


def _member(name: str, array: np.ndarray) -> str:
    member = f"arrays/{name}.npy"
    if not _MEMBER.fullmatch(member):
        raise ValueError(f"{name!r} is no name of an array.")
    if np.asarray(array).dtype.kind not in KINDS:
        raise ModelFileError(f"An array of {np.asarray(array).dtype} cannot be saved.")
    return member


def _refused(path: Any, why: str) -> ModelFileError:
    return ModelFileError(f"{path} is not read: {why}.")
