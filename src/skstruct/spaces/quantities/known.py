# SPDX-License-Identifier: BSD-3-Clause
"""Quantities of which some are missing, or known only to lie between two limits."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.choices import OneOf
from skstruct.spaces.common.reading_choices import has_choices, read_choices
from skstruct.spaces.description import Description
from skstruct.spaces.known import Known
from skstruct.spaces.partial import PartialOutputs, split_table
from skstruct.spaces.quantities.boxes import Range
from skstruct.spaces.quantities.censored import Censored, are_intervals
from skstruct.tolerances import OUTPUT_RANGE


class KnownOfQuantities(Known):
    """Rows of numbers of which some are missing, or lie between two limits."""

    __slots__ = ()

    # ------------------------------------------------------------- reading
    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """What is known of rows of numbers; the space learns its names, form and scale.

        Parameters
        ----------
        Y : numbers with NaN, None or NA where one is not known, or
            :class:`~skstruct.spaces.Censored`
        known : bool array of the shape of Y, default=None
        """
        if are_intervals(Y):
            return self._censored(Y if isinstance(Y, Censored) else Censored.of_intervals(Y))
        if has_choices(Y):
            return self._mixed(Y, known)
        space, given = self.space, self._given_labels()
        filled, seen = split_table(
            Y, known, 0.0, type(space).__name__, lambda d: range(d) if given is None else given
        )
        # Means of what is known stand in for the rest: names, form and scale follow.
        Z, labels, _ = space._read(filled, given)
        if is_pandas(Y, "DataFrame"):
            position = {name: j for j, name in enumerate(Y.columns)}
            seen = seen[:, [position[name] for name in labels]]
        Z = _with_means(Z, seen)
        space.fit(_like(Y, filled, Z, labels))
        whole = seen.all(axis=1)
        if whole.any():
            space._check_inside(Z[whole])
        low, high = np.where(seen, Z, -np.inf), np.where(seen, Z, np.inf)
        return PartialOutputs(Z, seen, seen, self.narrowed_to(low, high))

    def has_gaps(self, Y: Any) -> bool:
        return are_intervals(Y) or super().has_gaps(Y)

    def _given_labels(self) -> tuple[Any, ...] | None:
        return self.space._given_labels()

    def _mixed(self, Y: Any, known: Any) -> PartialOutputs:
        """Rows among which some are ``OneOf`` or have limits: {"low": ..., "high": ...}."""
        rows = list(Y)
        if known is None and all(not isinstance(row, OneOf) for row in rows):
            return self._censored(_limits(rows, type(self.space).__name__))
        return read_choices(self.space, Y, self.read, known)

    def _censored(self, Y: Censored) -> PartialOutputs:
        names = self._given_labels() or Y.columns
        low, high, seen = Y.by(names)
        # A limit that is there stands for the number until something better is known.
        Z = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
        both = np.isfinite(low) & np.isfinite(high)
        Z = np.where(both, (np.where(both, low, 0.0) + np.where(both, high, 0.0)) / 2.0, Z)
        Z = np.where(np.isfinite(low) | np.isfinite(high), Z, _means(Z, seen))
        Z = np.where(seen, Z, self.standing_in(Z, low, high))
        self.space.fit(Z[:, 0] if Y.low.ndim == 1 else Z if Y.columns is None else _frame(Z, names))
        self.open_up(np.isinf(low).any(axis=0), np.isinf(high).any(axis=0))
        open_there = ~seen & (np.isfinite(low) | np.isfinite(high))
        return PartialOutputs(Z, seen, seen, self.narrowed_to(low, high), not open_there.any())

    # ------------------------------------------------------------- limits
    def standing_in(self, Z: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Numbers that stand for those between low and high, moved to where the space may be."""
        return Z

    def open_up(self, below: np.ndarray, above: np.ndarray) -> None:
        """Drop limits of coordinates (d,) that were learned from outputs known to exceed them."""

    def narrowed_to(self, low: np.ndarray, high: np.ndarray) -> Any:
        """The space with limits (n, d) of each row; None where that is not offered."""
        return None

    def limits_of_rows(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Limits (n, d) of the coordinates of each row, where a space has such."""
        return None

    def limits(self, partial: PartialOutputs) -> tuple[np.ndarray, np.ndarray]:
        outputs, known = partial.outputs, partial.known
        given = Description.of(self.space).given_range
        ranges = np.array([given(j) for j in range(outputs.shape[1])])
        low, high = (np.where(known, outputs, end) for end in ranges.T)
        if partial.allowed is None:
            return low, high
        limits = KnownOfQuantities.of(partial.allowed).limits_of_rows()
        if limits is not None:
            low, high = np.maximum(low, limits[0]), np.minimum(high, limits[1])
        return low, high

    # ------------------------------------------------------------- what is known of psi
    def targets(self, known: np.ndarray) -> np.ndarray | None:
        """A number and its square are known together."""
        return np.hstack([known, known]) if self.space.embedding == "squares" else known


class KnownOfBoxes(KnownOfQuantities):
    """Numbers between limits, which may be those of each row."""

    __slots__ = ()

    def standing_in(self, Z: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        sides, names = [], self._given_labels() or range(Z.shape[1])
        for side, default in ((self.space.low, -np.inf), (self.space.high, np.inf)):
            given = side
            if hasattr(side, "keys"):  # one that has none is told of by fit
                given = [side.get(name, default) for name in names]
            numbers = np.asarray(default if given is None else given, dtype=np.float64)
            sides.append(np.broadcast_to(numbers, Z.shape))
        over = np.stack([low - sides[1], sides[0] - high])
        size = np.stack([np.maximum(np.abs(low), 1.0), np.maximum(np.abs(high), 1.0)])
        outside = np.argwhere((over > OUTPUT_RANGE * size).any(axis=0))
        if len(outside):
            at = tuple(outside[0])
            raise ValueError(
                f"{type(self.space).__name__}: Y[{at[0]}] lies between {low[at]:g} and "
                f"{high[at]:g}, and the space from {sides[0][at]:g} to {sides[1][at]:g}."
            )
        return np.clip(Z, *sides)

    def open_up(self, below: np.ndarray, above: np.ndarray) -> None:
        box = self.space
        if box.low is None:
            box.low_ = np.where(below, -np.inf, box.low_)
        if box.high is None:
            box.high_ = np.where(above, np.inf, box.high_)
        box.constraints_ = Range(box.low_[None], box.high_[None])

    def narrowed_to(self, low: np.ndarray, high: np.ndarray) -> Any:
        """Limits of rows alone: those that were learned from other rows do not bind them."""
        return self.space._within(Range(low, high))

    def limits_of_rows(self) -> tuple[np.ndarray, np.ndarray] | None:
        return self.space.constraints_.low, self.space.constraints_.high

    def within_range(self, outputs: np.ndarray) -> Any:
        low, high = self.space.constraints_.low, self.space.constraints_.high
        least, most = (np.asarray(end(outputs, axis=0)) for end in (np.min, np.max))
        # A limit beyond all outputs is the end of the range itself.
        first = np.minimum(least, np.where(np.isfinite(high), high, np.inf))
        last = np.maximum(most, np.where(np.isfinite(low), low, -np.inf))
        return self.narrowed_to(
            np.where(np.isneginf(low), first, low), np.where(np.isposinf(high), last, high)
        )


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
