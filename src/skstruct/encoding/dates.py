# SPDX-License-Identifier: BSD-3-Clause
"""Dates as numbers: days since the first one, and the parts of a calendar that vary."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.encoding.tables import Table
from skstruct.saving import savable

PARTS = ("year", "month", "weekday", "hour")
_DAY, _HOUR = 86_400_000_000, 3_600_000_000  # microseconds


@savable
@dataclass(frozen=True)
class DateColumn:
    """How a column of dates becomes numbers.

    Attributes
    ----------
    origin : float
        The first date of training, in days since 1970.
    parts : tuple of str
        Those of year, month (1 to 12), weekday (Monday is 0) and hour that vary in training.
    """

    origin: float
    parts: tuple[str, ...]

    @classmethod
    def of(cls, days: np.ndarray) -> "DateColumn":
        """From the dates of training, in days since 1970; NaN where missing."""
        known = days[~np.isnan(days)]
        if not len(known):
            return cls(0.0, ())
        parts = date_parts(known)
        varying = tuple(part for part in PARTS if np.ptp(parts[part]) > 0)
        return cls(float(known.min()), varying)

    def numbers(self, days: np.ndarray) -> np.ndarray:
        """Days since the first date and the parts; shape (n, 1 + n_parts), NaN where missing."""
        known = ~np.isnan(days)
        table = np.full((len(days), 1 + len(self.parts)), np.nan)
        table[:, 0] = days - self.origin
        parts = date_parts(days[known])
        for k, part in enumerate(self.parts, 1):
            table[known, k] = parts[part]
        return table


def date_parts(days: np.ndarray) -> dict[str, np.ndarray]:
    """Year, month, weekday and hour of dates in days since 1970.

    >>> {part: number.tolist() for part, number in date_parts(np.array([19787.75])).items()}
    {'year': [2024], 'month': [3], 'weekday': [1], 'hour': [18]}
    """
    # Microseconds are whole numbers again: days as floats would lose some full hours.
    moments = np.rint(days * _DAY).astype(np.int64)
    whole = moments // _DAY
    months = whole.astype("M8[D]").astype("M8[M]").astype(np.int64)
    return {
        "year": months // 12 + 1970,
        "month": months % 12 + 1,
        "weekday": (whole + 3) % 7,  # 1970 began on a Thursday
        "hour": moments % _DAY // _HOUR,
    }


def expanded(table: Table, dates: dict[str, Any]) -> Table:
    """The table with the columns of dates replaced by their numbers."""
    if not dates:
        return table
    names: list[str] = []
    values: list[Any] = []
    blocks = []
    for j, name in enumerate(table.names):
        if name in dates:
            names += [f"{name}.days", *(f"{name}.{part}" for part in dates[name].parts)]
            blocks.append(dates[name].numbers(table.data[:, j]))
        else:
            names.append(name)
            blocks.append(table.data[:, [j]])
        values += [table.values[j]] * blocks[-1].shape[1]
    return Table(tuple(names), tuple(values), np.hstack(blocks))
