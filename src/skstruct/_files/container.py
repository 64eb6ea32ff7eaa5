# SPDX-License-Identifier: BSD-3-Clause
"""A zip of one JSON text and arrays, sealed by a checksum: data only, nothing that can run.

Layout: an ordinary zip, members stored without compression (so that nothing unpacks to more
than the file holds), whose comment, the last 64 bytes of the file, is the SHA-256 in
hexadecimal of all bytes before it. Any change of any bit is noticed before anything is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import zipfile
from typing import Any

import numpy as np

from skstruct._files.atomic import replacing
from skstruct.exceptions import ModelFileError

LAYOUT = 1
MANIFEST = "manifest.json"
SEAL = 64  # hexadecimal digits of SHA-256
KINDS = "biufcUS"  # numpy's letters of the dtypes that hold data only
_MEMBER = re.compile(r"arrays/[A-Za-z0-9_.\-]{1,120}\.npy")
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same content gives the same bytes
_BLOCK = 2**20


def write_container(path, kind: str, manifest: dict, arrays: dict[str, np.ndarray]) -> None:
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
                with packed.open(info, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
            packed.comment = b"0" * SEAL
        sealed.finish()


def read_container(path, kind: str, *, max_bytes: int = 4 * 2**30) -> tuple[Any, dict]:
    """Manifest and arrays of a file, or a ModelFileError if it is not exactly as written."""
    with _opened(path, max_bytes) as file:
        try:
            with zipfile.ZipFile(file) as packed:
                head = _head(path, packed, os.fstat(file.fileno()).st_size)
                manifest = _manifest(path, head, kind)
                arrays = {
                    info.filename[len("arrays/") : -len(".npy")]: _array(path, packed, info)
                    for info in packed.infolist()[1:]
                }
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise _refused(path, f"it is damaged ({error})") from None
    return manifest, arrays


def read_manifest(path, kind: str, *, max_bytes: int = 4 * 2**30) -> tuple[Any, dict[str, int]]:
    """The manifest alone, and the bytes of every array."""
    with _opened(path, max_bytes) as file:
        try:
            with zipfile.ZipFile(file) as packed:
                head = _head(path, packed, os.fstat(file.fileno()).st_size)
                sizes = {info.filename: info.file_size for info in packed.infolist()[1:]}
                return _manifest(path, head, kind), sizes
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError) as error:
            raise _refused(path, f"it is damaged ({error})") from None


class _Hashing:
    """A binary file to write to; its end is replaced by the checksum of what went before."""

    def __init__(self, file):
        self.file, self.held, self.seal = file, b"", hashlib.sha256()

    def write(self, data):
        """Pass on all but the last bytes, which may be the place of the checksum."""
        data = bytes(data)
        together = self.held + data
        self.held = together[-SEAL:]
        self._pass(together[:-SEAL])
        return len(data)

    def _pass(self, data):
        self.seal.update(data)
        self.file.write(data)

    def finish(self):
        if self.held != b"0" * SEAL:
            raise AssertionError("a zip ends with its comment")
        self.file.write(self.seal.hexdigest().encode("ascii"))

    def flush(self):
        self.file.flush()


def _opened(path, max_bytes):
    """The file, if it is not too large and its checksum is right."""
    size = os.path.getsize(path)
    if size > max_bytes:
        raise _refused(path, f"it has {size:,} bytes; at most {max_bytes:,} are read (max_bytes)")
    file = open(path, "rb")  # noqa: SIM115  (closed by the caller, or below)
    try:
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


def _head(path, packed, size):
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
    try:
        return json.loads(packed.read(members[0]), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _refused(path, f"its manifest is not JSON as written here ({error})") from None


def _no_constant(name):
    raise ValueError(f"the number {name}")


def _manifest(path, head, kind):
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


def _array(path, packed, info):
    """One array, its size compared with its header before anything is made."""
    data = packed.read(info)
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, by_columns, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, by_columns, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise _refused(path, f"its member {info.filename!r} has an unknown version")
    if dtype.kind not in KINDS or dtype.hasobject:
        raise _refused(path, f"its member {info.filename!r} holds {dtype}, which is not data")
    start = stream.tell()
    if any(n < 0 for n in shape) or math.prod(shape) * dtype.itemsize != len(data) - start:
        raise _refused(path, f"the shape of {info.filename!r} does not fit its size")
    array = np.frombuffer(data, dtype, offset=start, count=math.prod(shape)).copy()
    return array.reshape(shape, order="F" if by_columns else "C")


def _member(name, array):
    member = f"arrays/{name}.npy"
    if not _MEMBER.fullmatch(member):
        raise ValueError(f"{name!r} is no name of an array.")
    if np.asarray(array).dtype.kind not in KINDS:
        raise ModelFileError(f"An array of {np.asarray(array).dtype} cannot be saved.")
    return member


def _refused(path, why):
    return ModelFileError(f"{path} is not read: {why}.")
