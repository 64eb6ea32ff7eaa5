# SPDX-License-Identifier: BSD-3-Clause
"""One way to write data files, whatever their format."""

import io
import os
from functools import partial
from pathlib import Path
from typing import Any

from skstruct.datasets.dataset import Dataset
from skstruct.datasets.files import bare_name, packing, stem
from skstruct.datasets.formats.base import Format
from skstruct.datasets.formats.csv_writing import write_csv
from skstruct.datasets.formats.edges import path_edges, write_edges
from skstruct.datasets.gaps import names_in
from skstruct.datasets.reading import WITH_EDGES_BESIDE
from skstruct.exceptions import DataFormatError


def write_data(
    dataset: Dataset,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    raw_cells: bool = False,
) -> None:
    """Write a data file, whole or not at all; it is packed if its name ends by .gz or .xz.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        The edges of a hierarchy that a table cannot hold go to a file beside it, ``x.edges`` for
        ``x.csv`` or ``x.svm``.
    format : str, default=None
        By the ending of the path when None.
    raw_cells : bool, default=False
        Whether a CSV file gets names as they are, also those that a spreadsheet would run:
        otherwise one that begins by ``=``, ``+``, ``-``, ``@`` or a tab and is no number has an
        apostrophe before it, which :func:`~skstruct.datasets.read_data` takes off.

    Raises
    ------
    DataFormatError
        If the format cannot hold the data; says why.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from skstruct.datasets.dataset import Table
    >>> inputs = Table(("size",), (None,), np.array([[1.5], [np.nan]]))
    >>> data = Dataset("d", "csv", "ranking", inputs, np.array([[1, 2], [2, 1]]), ("a", "b"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_data(data, Path(folder) / "d.csv")
    ...     print((Path(folder) / "d.csv").read_text())
    size,ranking
    1.5,a>b
    ,b>a
    """
    path = Path(path)
    chosen = format_to_write(dataset, path, format)
    if raw_cells and chosen.name != "csv":
        raise ValueError(f"raw_cells is for CSV files; the format {chosen.name!r} needs no care.")
    write: Any = partial(write_csv, raw=True) if raw_cells else chosen.write
    edges = io.StringIO()
    try:
        write_edges(_edges_to_write(dataset, chosen), edges)  # what is wrong with them, first
        with packing(path, _PlainText) as file:
            write(dataset, file)
        if edges.getvalue():
            with packing(path.with_name(stem(path) + ".edges"), _PlainText) as file:
                file.write(edges.getvalue())
    except UnicodeEncodeError as error:
        problem = f"{error.object[error.start : error.end]!r} cannot be written as UTF-8"
        raise DataFormatError(problem, path=path) from None
    except DataFormatError as error:
        raise error.at(path=path) from None


def format_to_write(dataset: Dataset, path: Path, name: str | None = None) -> Format:
    """The format of this name, or by the ending of a path, if it can hold the data."""
    from skstruct.datasets.formats import FORMATS

    able = {format.name: format for format in FORMATS if format.write is not None}
    if name is not None:
        if name not in able:
            raise ValueError(f"format is one of {', '.join(able)}; got {name!r}.")
        _check_holds([able[name]], dataset.task, path)
        return able[name]
    ending = Path(bare_name(path)).suffix.lower()
    fitting = [format for format in able.values() if ending in format.suffixes]
    if not fitting:
        raise DataFormatError(
            f"no format has the ending {ending!r}; name one of {', '.join(able)}", path=path
        )
    # Of several formats with this ending the one that the data came from, else the plainest.
    order = {"csv": 1, "arff": 1, dataset.format: 0}
    holding = _check_holds(fitting, dataset.task, path)
    return min(holding, key=lambda format: order.get(format.name, 2))


def _check_holds(formats: list[Format], task: str, path: Path) -> list[Format]:
    """Those formats that can hold outputs of this task; an error if there are none."""
    holding = [format for format in formats if task in format.tasks]
    if not holding:
        tasks = dict.fromkeys(task for format in formats for task in format.tasks)
        raise DataFormatError(
            f"files of the format {' or '.join(repr(format.name) for format in formats)} hold "
            f"{', '.join(tasks)}, not {task!r}; csv holds everything",
            path=path,
        )
    return holding


def _edges_to_write(dataset: Dataset, chosen: Format) -> tuple[Any, ...]:
    if dataset.edges is None or chosen.name not in WITH_EDGES_BESIDE:
        return ()
    if chosen.name == "libsvm":  # whose labels are no hierarchy without a taxonomy
        return dataset.edges
    try:
        implied = path_edges(label for row in dataset.outputs or () for label in names_in(row))[1]
    except DataFormatError:  # names that are no paths
        return dataset.edges
    return () if set(implied) == set(dataset.edges) else dataset.edges


class _PlainText(io.TextIOWrapper):
    """Text that :func:`~skstruct.datasets.read_data` reads back the same."""

    _begun = False

    def write(self, text: str) -> int:
        if "\0" in text or "\r" in text:  # refused on reading, and taken for a line end
            raise DataFormatError("a zero or a carriage return cannot be written to a text file")
        if not self._begun and text:
            self._begun = True
            if text[0] == "\ufeff":  # the first one is taken for a mark of byte order
                text = "\ufeff" + text
        return super().write(text)
