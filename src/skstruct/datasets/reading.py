# SPDX-License-Identifier: BSD-3-Clause
"""One way to read data files, whatever their format."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from skstruct.datasets.dataset import TASKS, Dataset
from skstruct.datasets.encodings import encoding_of, text_path
from skstruct.datasets.files import bare_name, first_lines, stem
from skstruct.datasets.formats.base import Format, ReadOptions
from skstruct.exceptions import DataFormatError

WITH_COLUMNS = ("csv", "excel", "parquet", "arff", "mulan")
WITH_EDGES_BESIDE = ("csv", "excel", "parquet", "libsvm")


def read_data(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    task: str | None = None,
    targets: Iterable[str] | None = None,
    n_labels: int | None = None,
    labels_file: str | os.PathLike[str] | None = None,
    edges_file: str | os.PathLike[str] | None = None,
    id_column: str | None = None,
    nominal: Iterable[str] = (),
    skip_unlabelled: bool = False,
    encoding: str = "utf-8",
    sheet: str | None = None,
) -> Dataset:
    """Read a data file.

    What is not stated is guessed, from the name of the file, its first lines and its columns;
    ``remarks`` of the data set say what was guessed. Names that end by .gz or .xz are unpacked.

    Parameters
    ----------
    path : str or path
        Of a file, or of a folder of Parquet files.
    format : str, default=None
        A name of ``skstruct.datasets.formats.FORMATS``.
    task : str, default=None
        What the outputs are: classes, labels, hierarchy, ranking, sequence, regression,
        histogram or ordinal.
    targets : str or sequence of str, default=None
        Names of the columns of outputs; the empty sequence says that there are none, as in a
        file to predict for.
    n_labels : int, default=None
        So many columns at the end of a table or an ARFF file are labels, as in a file of MULAN
        whose list of labels is not there.
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
    skip_unlabelled : bool, default=False
        Whether rows of tables of whose outputs something is missing are left out, which a remark
        says. Otherwise classes, labels and numbers may be missing in part, and missing rankings,
        histograms, levels and sequences are errors. An empty cell of labels, a ranking or a
        sequence is the empty one.
    encoding : str, default="utf-8"
        Of text files, such as "latin-1", "cp1252" or "utf-16"; of ``labels_file`` and
        ``edges_file``, too. A mark of byte order is taken off.
    sheet : str, default=None
        Of an Excel file; the first one when None.

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
    path = text_path(path, encoding)
    if task is not None and task not in TASKS:
        raise ValueError(f"task is one of {', '.join(TASKS)}; got {task!r}.")
    targets = (targets,) if isinstance(targets, str) else targets
    nominal = (nominal,) if isinstance(nominal, str) else tuple(nominal)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {str(path)!r}.")
    chosen, guessed = find_format(path, format)
    if task is not None and task not in chosen.tasks:
        raise DataFormatError(
            f"files of the format {chosen.name!r} hold {', '.join(chosen.tasks)}, not {task!r}",
            path=path,
        )
    if sheet is not None and chosen.name != "excel":
        raise DataFormatError(f"it has no sheets, such as {sheet[:60]!r} (sheet)", path=path)
    if n_labels is not None:
        if chosen.name not in WITH_COLUMNS:
            raise DataFormatError(f"{chosen.name!r} has no columns to count (n_labels)", path=path)
        task = "labels" if task is None and edges_file is None else task
    taxonomy, noted = edges_beside(path, chosen, task, edges_file)
    options = ReadOptions(
        task=task,
        targets=None if targets is None else tuple(targets),
        n_labels=n_labels,
        labels_file=None if labels_file is None else text_path(labels_file, encoding),
        edges_file=taxonomy,
        id_column=id_column,
        nominal=tuple(nominal),
        skip_unlabelled=skip_unlabelled,
        sheet=sheet,
    )
    data = chosen.read(path, options)
    remarks = (format_remark(data.format),) if guessed else ()
    return replace(data, remarks=(*remarks, *noted, *data.remarks))


def find_format(path: Path, name: str | None) -> tuple[Format, bool]:
    """The format by its name, or the first one that knows the file; and whether it is a guess."""
    from skstruct.datasets.formats import FORMATS

    by_name = {format.name: format for format in FORMATS}
    if name is not None:
        if name not in by_name:
            raise ValueError(f"format is one of {', '.join(by_name)}; got {name!r}.")
        if path.is_dir() and name != "parquet":
            raise DataFormatError("it is a folder; a file is needed", path=path)
        return by_name[name], False
    found = recognized(path)
    if found is not None:
        return found, True
    if not any(first_lines(path)):
        raise DataFormatError("the file is empty", path=path)
    raise DataFormatError(
        f"the format cannot be recognized from the first lines; name it: {', '.join(by_name)}",
        path=path,
    )


def recognized(path: Path) -> Format | None:
    """The first format that knows the file by its name and first lines."""
    from skstruct.datasets.formats import FORMATS

    if path.is_dir():  # of Parquet files, or refused by its reader
        return next(format for format in FORMATS if format.name == "parquet")
    refuse_other_tables(path)
    lines = first_lines(path)
    return next((format for format in FORMATS if format.sniff(bare_name(path), lines)), None)


OTHER_TABLES = {
    ".xls": "an old Excel file",
    ".xlsb": "a binary Excel file",
    ".ods": "a table of OpenDocument",
    ".numbers": "a table of Numbers",
}


def refuse_other_tables(path: Path) -> None:
    """Spreadsheets that are not read are known by their endings."""
    kind = OTHER_TABLES.get(path.suffix.lower())
    if kind is not None:
        raise DataFormatError(
            f"{kind}, which is not read: save it as .xlsx or .csv in a spreadsheet program, as "
            "`libreoffice --headless --convert-to xlsx FILE` does",
            path=path,
        )


def format_remark(name: str) -> str:
    """What was guessed; a reader may find that a file is of a more special format."""
    from skstruct.datasets.formats import FORMATS

    about = next(format.about for format in FORMATS if format.name == name)
    return f"The format is taken for {name!r} ({about})."


def edges_beside(
    path: Path, chosen: Format, task: str | None, edges_file: str | os.PathLike[str] | None
) -> tuple[Path | None, tuple[str, ...]]:
    """The taxonomy given, or found beside a table whose task may be a hierarchy."""
    beside = path.with_name(stem(path) + ".edges")
    if edges_file is not None:
        return text_path(edges_file, encoding_of(path)), ()
    if chosen.name in WITH_EDGES_BESIDE and task in (None, "hierarchy") and beside.is_file():
        return beside, (f"The taxonomy is that of {beside.name}.",)
    return None, ()
