# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking data sets: one file each, features and then the rank of every label."""

from __future__ import annotations

import numpy as np

from skstruct.datasets.base import LabelRankingData
from skstruct.datasets.home import data_file, open_text

_NAMES = (
    *("authorship", "bodyfat", "calhousing", "cold", "cpu", "diau", "dtt", "elevators"),
    *("fried", "glass", "heat", "housing", "iris", "pendigits", "segment", "spo", "stock"),
    *("vehicle", "vowel", "wine", "wisconsin"),
)
_SOURCE = "commit 4ac4e5a of the GitHub repository alfaro96/scikit-lr"


def load_label_ranking(name: str) -> LabelRankingData:
    """Load a label ranking benchmark: every row ranks all labels, without ties.

    ``"cold"``, ``"diau"``, ``"dtt"``, ``"heat"`` and ``"spo"`` are measurements of yeast
    genes; the others are made from data of classification (labels by the probability that
    naive Bayes gives them) or regression (some features, by their values, as labels) [1]_.
    No split is in use; papers cross-validate.

    Parameters
    ----------
    name : {"authorship", "bodyfat", "calhousing", "cold", "cpu", "diau", "dtt", "elevators", \
            "fried", "glass", "heat", "housing", "iris", "pendigits", "segment", "spo", \
            "stock", "vehicle", "vowel", "wine", "wisconsin"}

    Returns
    -------
    LabelRankingData

    Raises
    ------
    MissingDataError
        If the file is not on this machine; the message says where to get it.
    ValueError
        If the file is not as expected; tells file, line and column.

    References
    ----------
    .. [1] W. Cheng, J. Huehn, E. Huellermeier, "Decision tree and instance-based learning
       for label ranking", ICML 2009.

    Examples
    --------
    >>> data = load_label_ranking("iris")  # doctest: +SKIP
    >>> data.X.shape, data.Y.shape  # doctest: +SKIP
    ((150, 4), (150, 3))
    >>> data.Y[0]  # the first label is best  # doctest: +SKIP
    array([1, 2, 3])
    """
    if name not in _NAMES:
        raise ValueError(f"load_label_ranking knows {', '.join(_NAMES)}; got {name!r}.")
    X, Y = read_rankings(data_file("label_ranking", f"{name}.csv", source=_SOURCE))
    labels = tuple(f"L{k + 1}" for k in range(Y.shape[1]))
    return LabelRankingData(name, X, Y, labels)


def read_rankings(path):
    """Features (n, f) and ranks (n, d) of a file that begins with the line ``n,f,d``."""
    with open_text(path) as file:
        first, *lines = [line.rstrip("\n").split(",") for line in file] or [[""]]
    n_rows, n_features, n_labels = _sizes(path, first)
    for row, cells in enumerate(lines):
        if len(cells) != n_features + n_labels:
            expected = f"{n_features} features and {n_labels} ranks"
            raise _error(path, row, None, f"expected {expected}, got {len(cells)} fields")
    if len(lines) != n_rows:
        raise _error(path, -1, 0, f"the file has {len(lines)} rows, not {n_rows}")
    table = _numbers(path, lines)
    ranks = table[:, n_features:]
    wrong = (np.sort(ranks, axis=1) != np.arange(1, n_labels + 1)).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        column, problem = _first_wrong(ranks[row].tolist())
        raise _error(path, row, n_features + column, problem)
    return table[:, :n_features].copy(), ranks.astype(np.int64)


def _sizes(path, cells):
    """Rows, features and labels, as the first line says."""
    problem = "expected the numbers of rows, features and labels"
    if len(cells) != 3:
        raise _error(path, -1, None, f"{problem}, got {len(cells)} fields")
    for column, cell in enumerate(cells):
        if not (cell.strip().isdecimal() and int(cell) > 0):
            raise _error(path, -1, column, f"{problem}, got {cell.strip()!r}")
    return tuple(int(cell) for cell in cells)


def _numbers(path, lines):
    """All cells as finite numbers; shape (n_rows, n_columns)."""
    # Row by row, so that the first bad cell of the file is the one that is named.
    table = np.empty((len(lines), len(lines[0])))
    for row, cells in enumerate(lines):
        try:
            table[row] = cells
        except ValueError:
            table[row] = np.nan  # located below
        if "_" in "".join(cells) or not np.isfinite(table[row]).all():  # float reads 1_0 as 10
            column = next(j for j, cell in enumerate(cells) if not _is_finite(cell))
            raise _error(path, row, column, f"{cells[column].strip()!r} is not a finite number")
    return table


def _is_finite(cell):
    try:
        return bool(np.isfinite(float(cell.replace("_", "?"))))
    except ValueError:
        return False


def _first_wrong(ranks):
    """Position of the first rank that is not in 1..d or was there before, and what it is."""
    for column, rank in enumerate(ranks):
        if rank not in range(1, len(ranks) + 1):
            return column, f"expected a rank from 1 to {len(ranks)}, got {rank:g}"
        if rank in ranks[:column]:
            return column, f"the rank {rank:g} comes twice; every row ranks without ties"
    raise AssertionError("these ranks are a permutation")


def _error(path, row, column, problem):
    """A ValueError for a cell of the table; row -1 is the first line of the file."""
    where = f"line {row + 2}" + ("" if column is None else f", column {column + 1}")
    return ValueError(f"{path}, {where}: {problem}.")
