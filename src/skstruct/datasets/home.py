# SPDX-License-Identifier: BSD-3-Clause
"""Where data sets lie on this machine, and how their files are opened."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path

from skstruct.exceptions import MissingDataError

_OPENERS = {".xz": lzma.open, ".gz": gzip.open}


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


def open_text(path):
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
    path = Path(path)
    return _OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8")


def open_binary(path):
    """A file opened for reading bytes, unpacked if its name ends in .xz or .gz."""
    path = Path(path)
    return _OPENERS.get(path.suffix, open)(path, "rb")
