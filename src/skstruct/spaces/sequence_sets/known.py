# SPDX-License-Identifier: BSD-3-Clause
"""Sequences of which symbols are known at some positions only."""

from itertools import chain
from typing import Any

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.formats import is_missing_name
from skstruct.spaces.common.narrowing import within
from skstruct.spaces.common.reading_choices import has_choices, read_choices
from skstruct.spaces.known import Known
from skstruct.spaces.partial import PartialOutputs
from skstruct.spaces.sequence_sets.constraints import FREE, SequenceConstraints
from skstruct.spaces.sequence_sets.formats import sequence_lengths, widened


class KnownOfSequenceSets(Known):
    """Sequences of which symbols are missing; their lengths are known."""

    __slots__ = ()

    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """Sequences with None, NaN or NA at positions that are not known; their lengths are.

        Parameters
        ----------
        Y : as in ``fit``, with gaps
        known : rows of True and False, as long as the sequences, default=None
            Or an array (n, T), of which what is behind the end of a sequence is not looked at.
        """
        space, used_by = self.space, type(self.space).__name__
        if has_choices(Y):
            return read_choices(space, Y, self.read, known)
        rows = _rows(Y, used_by)
        seen = [[not _is_gap(symbol) for symbol in row] for row in rows]
        if known is not None:
            seen = _both(seen, known, used_by)
        marked = chain.from_iterable(zip(row, here) for row, here in zip(rows, seen))
        known_symbol = next((symbol for symbol, is_seen in marked if is_seen), None)
        if known_symbol is None:  # a block of rows may say nothing
            known_symbol = next(iter(() if space.alphabet is None else space.alphabet), None)
        if known_symbol is None:
            raise ValueError(f"{used_by}: no row of Y says anything.")
        filled = [_filled(row, here, known_symbol) for row, here in zip(rows, seen)]
        Z = space.fit_validate(_same_form(Y, filled))
        mask = np.ones(Z.shape, bool)
        for i, here in enumerate(seen):
            mask[i, : len(here)] = here
        Z = np.where(mask, Z, 0)
        return PartialOutputs(Z, mask, mask, allowed_sequences(space, Z, mask))


def allowed_sequences(space: Any, Z: np.ndarray, known: np.ndarray) -> Any:
    """The space, narrowed row by row to sequences of these lengths with these symbols."""
    lengths, none = sequence_lengths(Z), SequenceConstraints.none(len(space.symbols_))
    fixed = widened(np.where(known & (Z >= 0), Z, FREE), space.length_)
    return within(
        space,
        SequenceConstraints(lengths, lengths, fixed, none.forbidden)
        if space.constraints is None
        else space.constraints.narrow(lengths, lengths, fixed, none.forbidden),
    )


def _rows(Y: Any, used_by: str) -> list[Any]:
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in Y]
    for i, row in enumerate(rows):
        if not hasattr(row, "__len__"):
            raise ValueError(
                f"{used_by}: Y[{i}] is {row!r}. Where nothing of a sequence is known, give None "
                "for each of its positions: its length is known."
            )
    return rows


def _is_gap(symbol: Any) -> bool:
    return not isinstance(symbol, (str, int)) and is_missing_name(symbol)


def _both(seen: list[list[bool]], known: Any, used_by: str) -> list[list[bool]]:
    known = by_position(known, range(max(map(len, seen))), what="known", used_by=used_by)
    if len(known) != len(seen):
        raise ValueError(f"{used_by}: known has {len(known)} rows; Y has {len(seen)}.")
    found = []
    for i, (here, row) in enumerate(zip(seen, known)):
        marks = [bool(mark) for mark in row]
        if len(marks) < len(here):
            raise ValueError(
                f"{used_by}: known[{i}] has {len(marks)} entries for {len(here)} positions."
            )
        found.append([a and b for a, b in zip(here, marks)])
    return found


def _filled(row: Any, seen: list[bool], symbol: Any) -> Any:
    filled = [x if here else symbol for x, here in zip(row, seen)]
    if isinstance(row, str):
        return "".join(filled)
    return tuple(filled) if isinstance(row, tuple) else filled


def _same_form(Y: Any, rows: list[Any]) -> Any:
    """Rows without gaps in the format of Y."""
    if is_pandas(Y, "Series"):
        import pandas

        return pandas.Series(rows, index=Y.index, name=Y.name)
    if isinstance(Y, np.ndarray) and Y.ndim == 2:
        return np.array(rows)
    if isinstance(Y, np.ndarray) or (len(Y) and isinstance(Y[0], np.ndarray)):
        array = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            array[i] = np.array(row) if isinstance(Y[i], np.ndarray) else row
        return array
    return rows
