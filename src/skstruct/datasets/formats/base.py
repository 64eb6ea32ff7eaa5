# SPDX-License-Identifier: BSD-3-Clause
"""What every file format says of itself."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skstruct.datasets.dataset import Dataset


@dataclass(frozen=True)
class ReadOptions:
    """What is stated to a reader; None leaves it to the reader.

    Attributes
    ----------
    task : str
    targets : tuple of str
        Names of the columns to predict; none at all where the file has no outputs.
    n_labels : int
        So many columns at the end are labels.
    labels_file : path
        A list of labels beside the data, such as MULAN's XML.
    edges_file : path
        A taxonomy: on each line a parent and a child, separated by a tab, comma or space.
    id_column : str
        The column that names the rows; the empty text says that none does.
    nominal : tuple of str
        Names of columns of inputs that hold names, whatever they look like. ARFF declares its
        own types and does not ask.
    skip_unlabelled : bool
        Whether rows without an output are left out; else they are errors.
    sheet : str
        Of an Excel file.
    """

    task: str | None = None
    targets: tuple[str, ...] | None = None
    n_labels: int | None = None
    labels_file: Path | None = None
    edges_file: Path | None = None
    id_column: str | None = None
    nominal: tuple[str, ...] = ()
    skip_unlabelled: bool = False
    sheet: str | None = None


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    name : str
    suffixes : tuple of str
        Endings of file names, ``.gz`` and ``.xz`` taken off.
    tasks : tuple of str
    about : str
        One line for people.
    sniff : callable of a file name and its first lines
        Whether this is the format.
    read : callable of a path and ReadOptions
    write : callable of a Dataset and a text file, or None
    """

    name: str
    suffixes: tuple[str, ...]
    tasks: tuple[str, ...]
    about: str
    sniff: Callable[[str, list[str]], bool]
    read: Callable[[Path, ReadOptions], Dataset]
    write: Callable[..., Any] | None = None
