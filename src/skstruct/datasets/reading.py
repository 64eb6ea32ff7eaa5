# SPDX-License-Identifier: BSD-3-Clause
"""One way to read and one to write data files, whatever their format."""

from __future__ import annotations

import contextlib
import gzip
import io
import lzma
from dataclasses import replace
from pathlib import Path

from skstruct._files.atomic import replacing
from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.datasets.formats.edges import path_edges, write_edges
from skstruct.datasets.formats.text import bare_name, first_lines, stem
from skstruct.exceptions import DataFormatError

_WITH_EDGES_BESIDE = ("csv", "parquet", "libsvm")


def read_data(
    path,
    *,
    format: str | None = None,
    task: str | None = None,
    targets=None,
    labels_file=None,
    edges_file=None,
    id_column: str | None = None,
    nominal=(),
) -> Dataset:
    """Read a data file.

    What is not told is guessed, from the name of the file, its first lines and its columns;
    ``remarks`` of the data set say what was guessed. Names that end by .gz or .xz are unpacked.

    Parameters
    ----------
    path : str or path
    format : str, default=None
        A name of ``skstruct.datasets.formats.FORMATS``.
    task : str, default=None
        What the outputs are: classes, labels, hierarchy, ranking, sequence, regression,
        histogram or ordinal.
    targets : str or sequence of str, default=None
        Names of the columns of outputs; the empty sequence says that there are none, as in a
        file to predict for.
    labels_file : path, default=None
        MULAN's list of labels.
    edges_file : path, default=None
        A taxonomy, a parent and a child on each line. Beside a table ``x.csv`` the file
        ``x.edges`` is used, if there is one; beside Parquet and LIBSVM files too.
    id_column : str, default=None
        The column that names the rows. When None it is the first column of a table if that is
        called ``id``, or ``row`` and no value of it comes twice; the empty text says that no
        column names the rows.
    nominal : str or sequence of str, default=()
        Names of columns of a table that hold names, such as codes "01" and "02", whatever they
        look like. ARFF files declare the types of their columns and do not ask.

    Returns
    -------
    Dataset

    Raises
    ------
    DataFormatError
        If the file cannot be read so; one line that tells file, line and column.
    FileNotFoundError
        If there is no such file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "films.csv"
    ...     _ = path.write_text("minutes,country,labels\\n90,FR,drama;war\\n107,,comedy\\n")
    ...     data = read_data(path)
    >>> data.task, data.outputs, data.labels
    ('labels', [('drama', 'war'), ('comedy',)], ('comedy', 'drama', 'war'))
    >>> data.inputs.names, data.inputs.values
    (('minutes', 'country'), (None, ('FR',)))
    >>> print(*data.remarks, sep="\\n")
    The format is taken for 'csv' (a table with a header line; cells separated by commas,
    semicolons or tabs).
    The column 'labels' is taken for the output (by its name).
    The task is taken for 'labels' (a set of labels per row): the column is called 'labels'.
    """
    path = Path(path)
    if task is not None and task not in TASKS:
        raise ValueError(f"task is one of {', '.join(TASKS)}; {task!r} came.")
    targets = (targets,) if isinstance(targets, str) else targets
    nominal = (nominal,) if isinstance(nominal, str) else tuple(nominal)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    if path.is_dir():
        raise DataFormatError("it is a folder; a file is needed", path=path)
    chosen, guessed = _format(path, format)
    if task is not None and task not in chosen.tasks:
        raise DataFormatError(
            f"files of the format {chosen.name!r} hold {', '.join(chosen.tasks)}, not {task!r}",
            path=path,
        )
    edges_file, noted = _edges_beside(path, chosen, task, edges_file)
    options = ReadOptions(
        task=task,
        targets=None if targets is None else tuple(targets),
        labels_file=None if labels_file is None else Path(labels_file),
        edges_file=edges_file,
        id_column=id_column,
        nominal=nominal,
    )
    data = chosen.read(path, options)
    remarks = (_remark(data.format),) if guessed else ()
    return replace(data, remarks=(*remarks, *noted, *data.remarks))


def _format(path, name) -> tuple[Format, bool]:
    """The format by its name, or the first one that knows the file; and whether it is a guess."""
    from skstruct.datasets.formats import FORMATS

    by_name = {format.name: format for format in FORMATS}
    if name is not None:
        if name not in by_name:
            raise ValueError(f"format is one of {', '.join(by_name)}; {name!r} came.")
        return by_name[name], False
    lines = first_lines(path)
    for format in FORMATS:
        if format.sniff(bare_name(path), lines):
            return format, True
    if not any(lines):
        raise DataFormatError("the file is empty", path=path)
    raise DataFormatError(
        f"the format cannot be told from the first lines; name it: {', '.join(by_name)}",
        path=path,
    )


def _remark(name) -> str:
    """What was guessed; a reader may find that a file is of a more special format."""
    from skstruct.datasets.formats import FORMATS

    about = next(format.about for format in FORMATS if format.name == name)
    return f"The format is taken for {name!r} ({about})."


def _edges_beside(path, chosen, task, edges_file):
    """The taxonomy given, or found beside a table whose task may be a hierarchy."""
    beside = path.with_name(stem(path) + ".edges")
    if edges_file is not None:
        return Path(edges_file), ()
    if chosen.name in _WITH_EDGES_BESIDE and task in (None, "hierarchy") and beside.is_file():
        return beside, (f"The taxonomy is that of {beside.name}.",)
    return None, ()


def write_data(dataset: Dataset, path, format: str | None = None) -> None:
    """Write a data file, whole or not at all; it is packed if its name ends by .gz or .xz.

    Parameters
    ----------
    dataset : Dataset
    path : str or path
        The edges of a hierarchy that a table cannot hold go to a file beside it, ``x.edges`` for
        ``x.csv`` or ``x.svm``.
    format : str, default=None
        By the ending of the path when None.

    Raises
    ------
    DataFormatError
        If the format cannot hold the data; says why.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from skstruct.datasets.table import Table
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
    chosen = _format_to_write(dataset, path, format)
    edges = io.StringIO()
    try:
        write_edges(_edges_to_write(dataset, chosen), edges)  # what is wrong with them, first
        with _packed(path) as file:
            chosen.write(dataset, file)
        if edges.getvalue():
            with _packed(path.with_name(stem(path) + ".edges")) as file:
                file.write(edges.getvalue())
    except UnicodeEncodeError as error:
        problem = f"{error.object[error.start : error.end]!r} cannot be written as UTF-8"
        raise DataFormatError(problem, path=path) from None
    except DataFormatError as error:
        raise error.at(path=path) from None


def _format_to_write(dataset, path, name):
    from skstruct.datasets.formats import FORMATS

    able = {format.name: format for format in FORMATS if format.write is not None}
    if name is not None:
        if name not in able:
            raise ValueError(f"format is one of {', '.join(able)}; {name!r} came.")
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


def _check_holds(formats, task, path) -> list[Format]:
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


def _edges_to_write(dataset, chosen):
    if dataset.edges is None or chosen.name not in _WITH_EDGES_BESIDE:
        return ()
    if chosen.name == "libsvm":  # whose labels are no hierarchy without a taxonomy
        return dataset.edges
    try:
        told = path_edges(label for labels in dataset.outputs or () for label in labels)[1]
    except DataFormatError:  # names that are no paths
        return dataset.edges
    return () if set(told) == set(dataset.edges) else dataset.edges


@contextlib.contextmanager
def _packed(path):
    """A text file to write, its line ends as given; ``file.buffer`` takes bytes."""
    with replacing(path, "wb") as raw, contextlib.ExitStack() as stack:
        target = raw
        if path.suffix == ".gz":  # no name and no time, so that the same data give the same bytes
            target = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        elif path.suffix == ".xz":
            target = stack.enter_context(lzma.LZMAFile(raw, "wb"))
        text = _PlainText(target, encoding="utf-8", newline="")
        try:
            yield text
        finally:
            text.detach()  # or it would close what has to be flushed to the disk


class _PlainText(io.TextIOWrapper):
    """Text that :func:`read_data` reads back the same."""

    _begun = False

    def write(self, text):
        if "\0" in text or "\r" in text:  # refused on reading, and taken for a line end
            raise DataFormatError("a zero or a carriage return cannot be written to a text file")
        if not self._begun and text:
            self._begun = True
            if text[0] == "\ufeff":  # the first one is taken for a mark of byte order
                text = "\ufeff" + text
        return super().write(text)
