# SPDX-License-Identifier: BSD-3-Clause
"""What a restricted space may still predict, as arrays: labels in and out, sizes, groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_networkx, is_pandas
from skstruct.exceptions import InfeasibleError
from skstruct.saving import check_row_constraints, require, savable
from skstruct.spaces.common.formats import unknown_label
from skstruct.spaces.solvers.dags import Dag


@savable
@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints on 0/1 outputs, the same for all rows or one set per row.

    Immutable, so that copying a restricted space costs nothing.
    """

    low: np.ndarray  # bool, shape (1 or n, d): labels that must be in
    high: np.ndarray  # bool, shape (1 or n, d): labels that may be in
    smallest: int
    largest: int
    groups: tuple[np.ndarray, ...] = ()  # at most one label of each
    one_path: bool = False  # one leaf and all above it, nothing else

    @classmethod
    def none(cls, d: int) -> Constraints:
        return cls(np.zeros((1, d), bool), np.ones((1, d), bool), 0, d)

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        d = self.low.shape[1]
        parts = []
        if self.low.any() or not self.high.all():
            parts.append(f"{int(self.low.sum())} known in, {int((~self.high).sum())} known out")
        if self.is_sized:
            parts.append(f"{self.smallest} to {self.largest} of {d} labels")
        if self.groups:
            parts.append(f"{len(self.groups)} exclusive groups")
        if self.one_path:
            parts.append("one path")
        return f"Constraints({'; '.join(parts) or 'none'})"

    @property
    def is_sized(self) -> bool:
        return self.smallest > 0 or self.largest < self.low.shape[1]

    @property
    def is_masked(self) -> bool:
        return bool(self.low.any() or not self.high.all())

    @property
    def n_rows(self) -> int | None:
        """Number of rows these constraints are for; None when they are the same for all."""
        n = max(len(self.low), len(self.high))
        return None if n == 1 else n

    def rows(self, index: Any) -> Constraints:
        if self.n_rows is None:
            return self
        low = self.low if len(self.low) == 1 else self.low[index]
        high = self.high if len(self.high) == 1 else self.high[index]
        return replace(self, low=low, high=high)

    def closed(self, dag: Dag) -> tuple[np.ndarray, np.ndarray]:
        """Known labels with what follows in a graph: ancestors in, descendants and exclusive labels
        out; ``low`` and ``high``.
        """
        low, high = self.low, self.high
        if not self.is_masked:
            return low, high
        low = low.astype(float) @ dag.ancestors > 0
        out = np.array(np.broadcast_to(~high, (max(len(low), len(high)), low.shape[1])))
        for group in self.groups:
            out[:, group] |= low[:, group].sum(axis=1, keepdims=True) > low[:, group]
        return low, ~(out.astype(float) @ dag.ancestors.T > 0)

    def within(self, low: np.ndarray, high: np.ndarray) -> Constraints:
        """Narrowed further, coordinate by coordinate."""
        return replace(self, low=self.low | low, high=self.high & high)

    def narrow(
        self,
        *,
        low: np.ndarray,
        high: np.ndarray,
        min_size: int | None,
        max_size: int | None,
        groups: Any,
        one_path: bool,
    ) -> Constraints:
        smallest = self.smallest if min_size is None else max(self.smallest, min_size)
        largest = self.largest if max_size is None else min(self.largest, max_size)
        groups = self.groups + tuple(groups)
        counts = {len(mask) for mask in (self.low, self.high, low, high)} - {1}
        if len(counts) > 1:
            raise ValueError(
                f"Known labels are given for different numbers of rows: {sorted(counts)}."
            )
        return Constraints(
            self.low | low, self.high & high, smallest, largest, groups, self.one_path or one_path
        )

    def check_saved(self, d: int, n_labels: int) -> None:
        """Raise a ModelFileError unless these are constraints of sets of d columns, as from a
        file.
        """
        for mask in (self.low, self.high):
            check_row_constraints(mask, "b", (d,))
        for group in self.groups:
            check_row_constraints(np.asarray(group)[None], "i", (None,), 0, n_labels)
        whole = type(self.smallest) is int and type(self.largest) is int
        require(whole, "sizes of label sets that are no numbers")

    def allow(self, Z: np.ndarray) -> np.ndarray:
        """Which rows of ``Z`` meet the constraints (paths are the hierarchy's business); (n,)."""
        Z = np.asarray(Z).astype(bool)
        size = Z.sum(axis=1)
        good: np.ndarray = (size >= self.smallest) & (size <= self.largest)
        good &= (self.low <= Z).all(axis=1) & (self.high >= Z).all(axis=1)
        for group in self.groups:
            good &= Z[:, group].sum(axis=1) <= 1
        return good


def check_size(value: Any, name: str, used_by: str) -> int | None:
    """A size limit: None or a whole number of at least zero."""
    if value is None:
        return None
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not (whole or (isinstance(value, float) and value.is_integer())) or value < 0:
        raise ValueError(f"{used_by}: {name} is a whole number of at least 0; got {value!r}.")
    return int(value)


def keeps_value(a: Any, b: Any) -> bool:
    """Whether a parameter keeps its value."""
    if is_networkx(a) and is_networkx(b):
        a, b = ((list(graph.nodes), list(graph.edges)) for graph in (a, b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        a, b = list(a), list(b)
    try:
        return a is b or bool(a == b)
    except (TypeError, ValueError):  # arrays
        return np.array_equal(a, b)


class RowArrays:
    """Constraints that are arrays alone, each of one row for all or of as many as there are.

    For dataclasses whose fields are such arrays, and which do not change.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __deepcopy__(self, memo: dict[Any, Any]) -> Self:
        return self

    def _arrays(self) -> dict[str, np.ndarray]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @property
    def n_rows(self) -> int | None:
        """Number of rows these constraints are for; None when they are the same for all."""
        n = max(len(array) for array in self._arrays().values())
        return None if n == 1 else n

    def rows(self, index: Any) -> Self:
        """Those of some rows."""
        if self.n_rows is None:
            return self
        arrays = self._arrays().items()
        return type(self)(**{k: a if len(a) == 1 else a[index] for k, a in arrays})

    def _check_as_many(self, other: Self) -> None:
        """Raise where both are for different numbers of rows."""
        arrays = [*self._arrays().values(), *other._arrays().values()]
        counts = {len(array) for array in arrays} - {1}
        if len(counts) > 1:
            raise ValueError(
                f"Constraints are given for different numbers of rows: {sorted(counts)}."
            )


def constraints_of(space: Any) -> Any:
    """Constraints of a space, those of parameters included; None where it takes none."""
    return getattr(space, "constraints_", None)


def differs_by_row(space: Any) -> bool:
    """Whether the constraints of a space differ from row to row."""
    return getattr(constraints_of(space), "n_rows", None) is not None


def check_n_rows(constraints: Constraints | None, n: int, used_by: str) -> None:
    """Constraints that were given row by row are for just so many rows."""
    expected = None if constraints is None else constraints.n_rows
    if expected is not None and expected != n:
        raise ValueError(f"{used_by} is restricted row by row for {expected} rows; got {n}.")


def of_one_row(constraints: Any) -> Any:
    """Constraints, where they are the same for all rows."""
    if constraints is not None and constraints.n_rows is not None:
        raise ValueError("This space differs from row to row; take rows(i) of it first.")
    return constraints


def check_restricted(known: int, found: int, what: str, used_by: str) -> None:
    """Constraints that were made for so many labels are of no use for another number of them."""
    if known != found:
        raise ValueError(f"{used_by} was restricted for {known} {what}; Y has {found}.")


def allowed_by(space: Any, outputs: np.ndarray) -> np.ndarray:
    """Which outputs a space holds, where its rows may be restricted differently; (1 or n, m)."""
    constraints = constraints_of(space)
    if constraints is None or constraints.n_rows is None:
        return space.contains(outputs)[None]
    return np.array([space.rows([i]).contains(outputs) for i in range(constraints.n_rows)])


def label_mask(names: Any, labels: tuple[Any, ...], argument: str, used_by: str) -> np.ndarray:
    """Marks the named labels: shape (1, d), or (n, d) when given row by row.

    ``names`` is a collection of label names, a collection of such collections (one per
    row), or a bool / 0-1 array of shape (d,) or (n, d).
    """
    d = len(labels)
    if names is None:
        return np.zeros((1, d), bool)
    if isinstance(names, (str, bytes)) or not isinstance(names, Iterable):
        what = "the text " if isinstance(names, (str, bytes)) else ""
        raise ValueError(f"{used_by}: {argument} is a list of labels; got {what}{names!r}.")
    names = _mask_by_position(names, labels, argument, used_by)
    if _is_mask(names, d):
        return np.atleast_2d(names.astype(bool))
    known = {name: j for j, name in enumerate(labels)}
    items = list(names)
    by_row = bool(items) and all(
        isinstance(item, (list, tuple, set, frozenset, np.ndarray)) and not is_label(item, known)
        for item in items
    )
    rows = items if by_row else [items]
    mask = np.zeros((len(rows), d), bool)
    for i, row in enumerate(rows):
        for name in row:
            if not is_label(name, known):
                where = f"{argument}[{i}] holds" if by_row else f"{argument} holds"
                raise ValueError(unknown_label(where, name, labels, used_by))
            mask[i, known[name]] = True
    return mask


def _mask_by_position(names: Any, labels: tuple[Any, ...], argument: str, used_by: str) -> Any:
    """A mask that has names as an array in the order of the labels; lists of names as they are."""
    names = in_memory(names)
    is_series = is_pandas(names, "Series")
    if (
        is_pandas(names, "DataFrame")
        or isinstance(names, Mapping)
        or (is_series and names.dtype.kind == "b")
    ):
        given = by_position(names, labels, what=argument, used_by=used_by, default=False)
        mask = np.asarray(given)
        if not (mask.dtype.kind in "bui" and np.isin(mask, (0, 1)).all()):
            raise ValueError(f"{used_by}: {argument} by name is True or False; got {names!r:.80}.")
        return mask.astype(bool)
    return names.to_numpy() if is_series else names


def _is_mask(names: Any, d: int) -> bool:
    """Whether names is a 0/1 array with a column per label, rather than a list of names."""
    if not isinstance(names, np.ndarray) or names.dtype == object or names.shape[-1:] != (d,):
        return False
    return (names.ndim == 2 or names.dtype == bool) and bool(np.isin(names, (0, 1)).all())


def is_label(item: Any, known: dict[Any, Any]) -> bool:
    """Whether this is one of the known names; what cannot be hashed is none."""
    try:
        return item in known
    except TypeError:  # not hashable, so not a label
        return False


def label_groups(groups: Any, labels: tuple[Any, ...], used_by: str) -> list[np.ndarray]:
    """Exclusive groups of label names as index arrays."""
    if groups is None:
        return []
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise ValueError(f"{used_by}: exclusive is a list of groups of labels; got {groups!r}.")
    masks = label_mask(list(groups), labels, "exclusive", used_by)
    return [np.flatnonzero(mask) for mask in masks if mask.sum() > 1]


def check_feasible(possible: np.ndarray, space: Any) -> None:
    """Raise where a row has no output at all."""
    impossible = np.flatnonzero(~possible)
    if len(impossible):
        row = int(impossible[0])
        raise InfeasibleError(
            f"{type(space).__name__}: no output meets the constraints in row {row}.", row
        )
