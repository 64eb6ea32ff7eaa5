# SPDX-License-Identifier: BSD-3-Clause
"""Quantities that are known only to lie between two limits."""

from typing import Any

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas


class Censored:
    """Numbers that are known to lie between two limits, such as times until nobody looked.

    A number that is known has two equal limits; one of which nothing is known has infinite ones.

    Parameters
    ----------
    low, high : arrays of shape (n,) or (n, d), or frames
        With -inf and inf where there is no limit; NaN stands for no limit, too. Columns of frames
        are found by name.

    Examples
    --------
    >>> times = Censored([3.0, 5.0], [3.0, np.inf])  # 3, and something from 5 on
    >>> len(times), times.known.ravel()
    (2, array([ True, False]))
    """

    def __init__(self, low: Any, high: Any) -> None:
        low, high = in_memory(low), in_memory(high)
        frames = [side for side in (low, high) if is_pandas(side, "DataFrame")]
        self.columns = tuple(frames[0].columns) if frames else None
        low, high = (
            by_position(side, self.columns, what=what, used_by="Censored")
            if is_pandas(side, "DataFrame")
            else side
            for side, what in ((low, "low"), (high, "high"))
        )
        low, high = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
        if low.shape != high.shape or low.ndim not in (1, 2):
            raise ValueError(
                "Censored: low and high are arrays of one shape, (n,) or (n, d); got "
                f"{low.shape} and {high.shape}."
            )
        self.low = np.where(np.isnan(low), -np.inf, low)
        self.high = np.where(np.isnan(high), np.inf, high)
        wrong = np.argwhere(~(self.low <= self.high))
        if len(wrong):
            at = tuple(wrong[0])
            raise ValueError(
                f"Censored: in row {at[0]} low is {self.low[at]:g} and high {self.high[at]:g}."
            )

    def __len__(self) -> int:
        return len(self.low)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.low.shape

    @property
    def known(self) -> np.ndarray:
        """Which numbers are known; of the shape of the limits."""
        return (self.low == self.high) & np.isfinite(self.low)

    def by(self, names: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Lower and upper limits, and which are known, by column; shapes (n, d)."""
        tables = [side.reshape(len(self), -1) for side in (self.low, self.high, self.known)]
        if self.columns is not None:
            place = dict(zip(self.columns, range(len(self.columns))))
            order = by_position(place, names, what="Y", used_by="Censored")
            tables = [table[:, order] for table in tables]
        return tables[0], tables[1], tables[2]

    @classmethod
    def of_intervals(cls, Y: Any) -> "Censored":
        """From an array or series of pandas intervals."""
        return cls(Y.array.left, Y.array.right) if hasattr(Y, "array") else cls(Y.left, Y.right)


def are_intervals(Y: Any) -> bool:
    """Whether these are numbers between limits."""
    if isinstance(Y, Censored):
        return True
    if is_pandas(Y, "Series") or is_pandas(Y, "IntervalIndex"):
        return type(Y.dtype).__name__ == "IntervalDtype"
    return type(Y).__name__ == "IntervalArray"
