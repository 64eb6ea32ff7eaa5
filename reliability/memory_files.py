# SPDX-License-Identifier: BSD-3-Clause
"""Files that readers open in memory: bytes under a path, without a disk in between.

Readers open files by ``open`` of their own module or by gzip and lzma, and by nothing else, so
that it is enough to put another one there. Of the file on the disk, which is empty, they only ask
whether it is there.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from unittest import mock

from skstruct.datasets import files

_HELD: dict[str, bytes] = {}


def put(path: Path, text: bytes) -> None:
    """From now on this is what the file holds."""
    name = os.fspath(path)
    if name not in _HELD:
        path.touch()
    _HELD[name] = text


def held(path: Path) -> bytes:
    return _HELD[os.fspath(path)]


def _opened(path, mode="r", *args, **kwargs):
    text = _HELD.get(os.fspath(path))
    if text is None or "b" not in mode:
        return open(path, mode, *args, **kwargs)
    return io.BytesIO(text)


_UNPACKED = {
    ".gz": lambda path, mode: gzip.GzipFile(fileobj=_opened(path, "rb"), mode=mode),
    ".xz": lambda path, mode: lzma.LZMAFile(_opened(path, "rb"), mode),  # noqa: SIM115
}


@contextlib.contextmanager
def in_memory(*modules: ModuleType) -> Iterator[Path]:
    """A folder whose files are opened in memory by the readers and by these modules."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for module in (files, *modules):
            stack.enter_context(mock.patch.object(module, "open", _opened, create=True))
        stack.enter_context(mock.patch.dict(files._OPENERS, _UNPACKED))
        try:
            yield folder
        finally:
            for name in [name for name in _HELD if name.startswith(str(folder))]:
                del _HELD[name]
