# SPDX-License-Identifier: BSD-3-Clause
"""What a restricted ranking must obey, as arrays."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct.exceptions import InfeasibleError
from skstruct.saving import check_row_constraints, require, savable
from skstruct.spaces.common.formats import unknown_label
from skstruct.spaces.constraints import check_size
from skstruct.spaces.solvers.linear_ordering import close_transitively

NUMBERS = (int, float, np.number)


@savable
@dataclass(frozen=True, eq=False)
class RankConstraints:
    """Known positions, known precedences and a length, the same for all rows or per row."""

    fixed: np.ndarray  # int, shape (1 or n, d): known rank of each item, 0 where free
    before: np.ndarray  # bool, shape (1 or n, d, d): p must come before q; transitive
    top: int | None = None  # only so many positions are predicted

    def check_saved(self, d: int) -> None:
        """Raise a ModelFileError unless these are constraints of rankings of d items."""
        check_row_constraints(self.fixed, "i", (d,), 0, d + 1)
        check_row_constraints(self.before, "b", (d, d))
        top = d if self.top is None else self.top
        within = isinstance(top, (int, np.integer)) and 0 <= int(top) <= d
        require(within, "the top of a ranking that has not so many places")

    @classmethod
    def none(cls, d: int) -> RankConstraints:
        return cls(np.zeros((1, d), np.int64), np.zeros((1, d, d), bool))

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        parts = []
        if self.has_fixed:
            parts.append(f"{int((self.fixed > 0).sum())} known positions")
        if self.has_before:
            parts.append(f"{int(self.before.sum())} known precedences")
        if self.top is not None:
            parts.append(f"top {self.top}")
        return f"RankConstraints({'; '.join(parts) or 'none'})"

    @property
    def has_fixed(self) -> bool:
        return bool((self.fixed > 0).any())

    @property
    def has_before(self) -> bool:
        return bool(self.before.any())

    @property
    def is_free(self) -> bool:
        return not self.has_fixed and not self.has_before and self.top is None

    @property
    def n_rows(self) -> int | None:
        """Number of rows these constraints are for; None when they are the same for all."""
        n = max(len(self.fixed), len(self.before))
        return None if n == 1 else n

    def rows(self, index: np.ndarray) -> RankConstraints:
        if self.n_rows is None:
            return self
        fixed = self.fixed if len(self.fixed) == 1 else self.fixed[index]
        before = self.before if len(self.before) == 1 else self.before[index]
        return replace(self, fixed=fixed, before=before)

    def kinds(self, n: int) -> list[np.ndarray]:
        """Numbers of the n rows that have the same kinds of constraints: at most four lists.

        Decoders differ by kind. A row must not be decoded otherwise for what others are under.
        """
        fixed, before = (self.fixed > 0).any(axis=1), self.before.any(axis=(1, 2))
        kind = np.broadcast_to(fixed + 2 * before, n)
        return [np.flatnonzero(kind == one) for one in np.unique(kind)]

    def allowed(self) -> np.ndarray:
        """Whether an item may be at a position; shape (1 or n, d items, d positions)."""
        d = self.fixed.shape[1]
        position = np.arange(1, d + 1)
        taken = (self.fixed[:, :, None] == position).any(axis=1)[:, None, :]
        here = self.fixed[:, :, None] == position
        return here | ((self.fixed == 0)[:, :, None] & ~taken)

    def by_position(self, first: np.ndarray) -> np.ndarray:
        """Which items may be at each position, (n, d, d), if the first few are fixed to
        ``first`` (n, length, d) besides."""
        n, length, d = first.shape
        may = np.array(np.broadcast_to(self.allowed().swapaxes(1, 2), (n, d, d)))
        may[:, :length] &= first
        return may

    def narrow(self, fixed: np.ndarray, before: np.ndarray, top: int | None) -> RankConstraints:
        counts = {len(part) for part in (self.fixed, self.before, fixed, before)} - {1}
        if len(counts) > 1:
            raise ValueError(
                f"Constraints are given for different numbers of rows: {sorted(counts)}."
            )
        clash = (self.fixed > 0) & (fixed > 0) & (self.fixed != fixed)
        fixed = np.maximum(self.fixed, fixed)
        before = close_transitively(self.before | before)
        top = self.top if top is None else top if self.top is None else min(top, self.top)
        rank = np.arange(1, fixed.shape[1] + 1)
        _check_possible(
            {
                "item number {j} is given two different positions": clash,
                "two items are given position {rank}": (fixed[:, :, None] == rank).sum(axis=1) > 1,
                f"a known position is beyond the top {top}": fixed > (top or rank[-1]),
                "the precedences go round in a circle": before.diagonal(axis1=1, axis2=2),
            }
        )
        return RankConstraints(fixed, before, top)

    def allow(self, ranks: np.ndarray) -> np.ndarray:
        """Which rows of ranks meet the known positions and precedences; shape (n,)."""
        good: np.ndarray = ((self.fixed == 0) | (self.fixed == ranks)).all(axis=1)
        if self.has_before:
            turned = ranks[:, :, None] > ranks[:, None, :]
            good &= ~(self.before & turned).any(axis=(1, 2))
        return good


def _check_possible(faults: dict[str, np.ndarray]) -> None:
    """Raise where a row has a fault, by masks (1 or n, d); the first such row is named."""
    found = [
        (*np.argwhere(mask)[0].tolist(), fault) for fault, mask in faults.items() if mask.any()
    ]
    if found:
        row, j, fault = min(found)
        said = fault.format(j=j, rank=j + 1)
        raise InfeasibleError(f"Rankings: {said} in row {row}.", row)


def read_fixed(positions: Any, items: tuple[Any, ...], used_by: str) -> np.ndarray:
    """Known ranks from {item: rank}, one such mapping per row, or an array with NaN or 0."""
    d = len(items)
    if positions is None:
        return np.zeros((1, d), np.int64)
    if isinstance(positions, Mapping):
        positions = [positions]
    positions = by_position(positions, items, what="positions", used_by=used_by, default=np.nan)
    rows = list(positions)
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _named_positions(rows, items, used_by)
    try:
        fixed = np.nan_to_num(np.atleast_2d(np.array(rows, dtype=np.float64)))
    except (TypeError, ValueError):
        raise ValueError(
            f"{used_by}: positions maps items to ranks, one mapping for all rows or one per row, "
            f"or is an array of ranks, NaN where free; got {positions!r}."
        ) from None
    if fixed.ndim != 2 or fixed.shape[1] != d:
        raise ValueError(
            f"{used_by}: positions as an array has one column for each of {d} items; got "
            f"shape {fixed.shape}."
        )
    bad = np.argwhere(~((fixed >= 0) & (fixed <= d) & (fixed == np.rint(fixed))))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"{used_by}: positions are ranks from 1 to {d}; positions[{row}, {column}] is "
            f"{fixed[row, column]:g}."
        )
    return fixed.astype(np.int64)


def _named_positions(rows: list[Any], items: tuple[Any, ...], used_by: str) -> np.ndarray:
    number, ranks = {name: j for j, name in enumerate(items)}, range(1, len(items) + 1)
    fixed = np.zeros((len(rows), len(items)), np.int64)
    for i, row in enumerate(rows):
        for name, rank in row.items():
            if name not in number:
                raise ValueError(unknown_label(f"positions[{i}] holds", name, items, used_by))
            if not isinstance(rank, NUMBERS) or rank not in ranks:
                raise ValueError(
                    f"{used_by}: positions are ranks from 1 to {len(items)}; "
                    f"positions[{i}][{name!r}] is {rank!r}."
                )
            fixed[i, number[name]] = rank
    return fixed


def read_before(before: Any, items: tuple[Any, ...], used_by: str) -> np.ndarray:
    """Precedences from pairs (first, second) of items, or a list of such pairs per row."""
    d = len(items)
    if before is None:
        return np.zeros((1, d, d), bool)
    number = {name: j for j, name in enumerate(items)}
    pairs = list(before)
    by_row = bool(pairs) and all(not _is_pair(pair, number) for pair in pairs)
    rows = pairs if by_row else [pairs]
    demanded = np.zeros((len(rows), d, d), bool)
    for i, row in enumerate(rows):
        for pair in row:
            if not hasattr(pair, "__len__") or isinstance(pair, str) or len(pair) != 2:
                raise ValueError(f"{used_by}: before lists pairs (first, second); got {pair!r}.")
            for name in pair:
                if not isinstance(name, Hashable) or name not in number:
                    raise ValueError(unknown_label(f"before[{i}] holds", name, items, used_by))
            demanded[i, number[pair[0]], number[pair[1]]] = True
    return demanded


def _is_pair(pair: Any, number: dict[Any, Any]) -> bool:
    """Whether this is (first, second), and not already a list of such pairs."""
    if not hasattr(pair, "__len__") or isinstance(pair, str) or len(pair) != 2:
        return isinstance(pair, str) or not hasattr(pair, "__len__")
    return not all(isinstance(part, (list, tuple)) and len(part) == 2 for part in pair) or all(
        isinstance(part, tuple) and part in number for part in pair
    )


def read_top(top: int | None, d: int, used_by: str) -> int | None:
    """How many positions are predicted; None for all of them."""
    top = check_size(top, "top", used_by)
    if top is not None and top < 1:
        raise ValueError(f"{used_by}: top is at least 1; got {top}.")
    return None if top is None or top >= d else top
