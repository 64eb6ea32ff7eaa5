# SPDX-License-Identifier: BSD-3-Clause
"""Records that are just as training has them, read without a look at every cell."""

from operator import itemgetter
from typing import Any

import numpy as np

from skstruct.encoding.tables import Table


def quick_table(rows: Any, encoder: Any) -> Table | None:
    """The table of records whose cells are numbers, and names that training knows.

    Parameters
    ----------
    rows : list of dictionaries
    encoder : TableEncoder, fitted

    Returns
    -------
    table : Table or None
        What the encoder reads from these rows; None where they need a closer look: a column is
        left out, a name is new, a number is infinite. Then the encoder itself reads them,
        and says what is wrong.

    Examples
    --------
    >>> from skstruct.encoding import TableEncoder
    >>> rows = [{"size": 1.0, "sky": "sun"}, {"size": 3.0, "sky": "rain"}]
    >>> quick_table([{"sky": "rain", "size": None}], TableEncoder().fit(rows)).data
    array([[nan,  0.]])
    """
    if not isinstance(rows, list) or encoder.is_sparse_ or not encoder.names_:
        return None
    if not {"date", "duration", "empty"}.isdisjoint(encoder.others_.values()):
        return None
    data = np.empty((len(rows), len(encoder.names_)))
    numbers = [j for j, values in enumerate(encoder.values_) if values is None]
    try:
        if numbers:
            data[:, numbers] = _numbers(rows, [encoder.names_[j] for j in numbers])
        for j, (name, values) in enumerate(zip(encoder.names_, encoder.values_)):
            if values is not None:
                data[:, j] = _codes([row[name] for row in rows], values)
    except (KeyError, TypeError, ValueError, OverflowError, IndexError):
        return None
    if np.isinf(data).any():
        return None
    return Table(encoder.names_, encoder.values_, data)


def _numbers(rows: list[Any], names: list[str]) -> np.ndarray:
    """All columns of numbers at once; texts of numbers are read as Python reads them, too."""
    cells = list(map(itemgetter(*names), rows))
    found = np.array(cells, dtype=np.float64)
    if found.shape not in ((len(rows), len(names)), (len(rows),)):
        raise ValueError
    return found.reshape(len(rows), len(names))


def _codes(cells: Any, values: tuple[str, ...]) -> Any:
    known: dict[Any, float] = {text: float(j) for j, text in enumerate(values)}
    known[None] = np.nan
    return [known[cell] for cell in cells]
