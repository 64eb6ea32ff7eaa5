# SPDX-License-Identifier: BSD-3-Clause
"""Files that are written whole or not at all."""

import contextlib
import errno
import os
import secrets
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def replacing(path: Any, mode: str = "w", encoding: str | None = "utf-8") -> Iterator[Any]:
    """A file to write in place of ``path``, which changes only when all has been written.

    What is written goes to a temporary file in the same folder. When the block ends it is
    flushed to the disk and renamed, which is one step: whoever reads ``path``, kills the process
    or cuts the power finds the old file or the new one, and the new one once the block has ended.
    When the block raises, the old one stays. Of two who write at the same time the last one wins.

    Parameters
    ----------
    path : str or path
    mode : {"w", "wb"}
    encoding : str, default="utf-8"
        Of text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answer.txt"
    ...     with replacing(path) as file:
    ...         _ = file.write("42")
    ...     print(path.read_text(), os.listdir(folder))
    42 ['answer.txt']
    """
    if mode not in ("w", "wb"):
        raise ValueError(f"mode is 'w' or 'wb'; got {mode!r}.")
    encoding = None if "b" in mode else encoding
    newline = None if "b" in mode else ""  # as it is written, on every system
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device stays one
        with open(path, mode, encoding=encoding, newline=newline) as file:
            yield file
        return
    path = Path(os.path.realpath(path))  # a link stays a link
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: there is no folder {path.parent}.")
    # Its name is known before it is made: Ctrl-C in between leaves nothing.
    temporary = path.parent / f".{path.name[:100]}.{secrets.token_hex(4)}"
    mode = mode.replace("w", "x")
    try:
        with open(temporary, mode, encoding=encoding, newline=newline, opener=_private) as file:
            yield file
            file.flush()
            os.chmod(temporary, _permissions(path))  # flushed with the rest
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def _private(path: str, flags: int) -> int:
    """Others may not read what is not finished."""
    return os.open(path, flags, 0o600)


def sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk: a rename alone may be lost with the power."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows; a folder that may be written to and not read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some file systems have no such thing
            said = f"Files in {folder} are written, but may be lost with the power: {error}"
            warnings.warn(said, stacklevel=2)
    finally:
        os.close(handle)


def _permissions(path: Path) -> int:
    """Those of the file that is there, else those that a new file gets."""
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_mode & 0o7777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
