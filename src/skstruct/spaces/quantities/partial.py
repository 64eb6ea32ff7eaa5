# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of which some are missing, or known only to lie between two limits."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.choices import OneOf
from skstruct.spaces.common.reading_choices import has_choices, read_choices
from skstruct.spaces.partial import PartialOutputs, split_table


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


def read_partial_quantities(space: Any, Y: Any, known: Any) -> PartialOutputs:
    """What is known of rows of numbers; the space learns its names, form and scale."""
    if are_intervals(Y):
        return _censored(space, Y if isinstance(Y, Censored) else Censored.of_intervals(Y))
    if has_choices(Y):
        return _mixed(space, Y, known)
    given = space._given_labels()
    filled, seen = split_table(
        Y, known, 0.0, type(space).__name__, lambda d: range(d) if given is None else given
    )
    # Means of what is known stand in for the rest: names, form and scale follow.
    Z, labels, _ = space._read(filled, space._given_labels())
    if is_pandas(Y, "DataFrame"):
        position = {name: j for j, name in enumerate(Y.columns)}
        seen = seen[:, [position[name] for name in labels]]
    Z = _with_means(Z, seen)
    space.fit(_like(Y, filled, Z, labels))
    whole = seen.all(axis=1)
    if whole.any():
        space._check_inside(Z[whole])
    low, high = np.where(seen, Z, -np.inf), np.where(seen, Z, np.inf)
    return PartialOutputs(Z, seen, seen, space.narrowed_to(low, high))


def _mixed(space: Any, Y: Any, known: Any) -> PartialOutputs:
    """Rows among which some are ``OneOf`` or have limits: {"low": ..., "high": ...}."""
    rows = list(Y)
    if known is None and all(not isinstance(row, OneOf) for row in rows):
        return _censored(space, _limits(rows, type(space).__name__))
    return read_choices(space, Y, lambda some: read_partial_quantities(space, some, None), known)


def _limits(rows: list[Any], used_by: str) -> Censored:
    """Numbers and dictionaries of limits as intervals."""
    sides = []
    for i, row in enumerate(rows):
        low = high = np.nan if row is None else row
        if isinstance(row, Mapping):
            if not set(row) <= {"low", "high"}:
                raise ValueError(f'{used_by}: limits are "low" and "high"; Y[{i}] is {row!r}.')
            low, high = row.get("low", -np.inf), row.get("high", np.inf)
        sides.append((np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)))
    d = max(max(low.size, high.size) for low, high in sides)
    low, high = (np.array([np.broadcast_to(s[k], d) for s in sides]) for k in (0, 1))
    return Censored(low, high) if d > 1 else Censored(low[:, 0], high[:, 0])


def _censored(space: Any, Y: Censored) -> PartialOutputs:
    names = space._given_labels() or Y.columns
    low, high, seen = Y.by(names)
    # A limit that is there stands for the number until something better is known.
    Z = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
    both = np.isfinite(low) & np.isfinite(high)
    Z = np.where(both, (np.where(both, low, 0.0) + np.where(both, high, 0.0)) / 2.0, Z)
    Z = np.where(np.isfinite(low) | np.isfinite(high), Z, _means(Z, seen))
    Z = np.where(seen, Z, space.standing_in(Z, low, high))
    space.fit(Z[:, 0] if Y.low.ndim == 1 else Z if Y.columns is None else _frame(Z, names))
    space.open_up(np.isinf(low).any(axis=0), np.isinf(high).any(axis=0))
    open_there = ~seen & (np.isfinite(low) | np.isfinite(high))
    return PartialOutputs(Z, seen, seen, space.narrowed_to(low, high), not open_there.any())


def _frame(Z: np.ndarray, names: Any) -> Any:
    """Rows of numbers with their names, for a space to learn these."""
    import pandas

    return pandas.DataFrame(Z, columns=list(names))


def _means(Z: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Means of the numbers that are known, by column; zero where none is."""
    total: np.ndarray = np.where(known, Z, 0.0).sum(axis=0)
    return np.asarray(total / np.maximum(known.sum(axis=0), 1))


def _with_means(Z: np.ndarray, known: np.ndarray) -> np.ndarray:
    return np.where(known, Z, _means(Z, known))


def _like(Y: Any, filled: Any, Z: np.ndarray, labels: Any) -> Any:
    """Rows of numbers in the format of Y."""
    if is_pandas(Y, "DataFrame"):
        import pandas

        return pandas.DataFrame(Z, index=Y.index, columns=list(labels))[list(Y.columns)]
    if is_pandas(Y, "Series"):
        import pandas

        return pandas.Series(Z[:, 0], index=Y.index, name=Y.name)
    return Z[:, 0] if np.ndim(filled) == 1 else Z
