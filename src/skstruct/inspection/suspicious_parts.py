# SPDX-License-Identifier: BSD-3-Clause
"""Parts of given outputs beside what is estimated of them: labels, positions, pairs, numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.inspection.left_out_rows import LeftOut
from skstruct.inspection.marginals import of_pairs
from skstruct.spaces import Description, Marginals, SklearnTarget
from skstruct.tolerances import SURE

FIELDS = [("row", np.int64), ("part", np.int64), ("given", np.float64),
          ("suggested", np.float64), ("score", np.float64)]  # fmt: skip
ALPHA = 0.8  # of the moving average over the parts of a row
NORMAL_MAD = 1.4826  # standard deviations to a median absolute deviation


@dataclass(frozen=True, eq=False)
class PartTable:
    """Parts of all rows, by number.

    Attributes
    ----------
    records : structured array with the fields row, part, given, suggested and score
    part_names : sequence
        Of parts by number; None where an output is one part.
    value_names : sequence or None
        Of what is given and suggested, by number; None where these are numbers themselves.
    """

    records: np.ndarray
    part_names: Sequence[Any] | None
    value_names: Sequence[Any] | None

    def named(self, records: np.ndarray) -> list[list[Any]]:
        """Columns part, given and suggested of some records, in the user's names."""
        if self.part_names is None:
            parts = [None] * len(records)
        else:
            parts = [self.part_names[j] for j in records["part"]]
        return [parts, *(self._values(records[name]) for name in ("given", "suggested"))]

    def _values(self, numbers: np.ndarray) -> list[Any]:
        if self.value_names is None:
            return [float(x) for x in numbers]
        return [self.value_names[int(x)] for x in numbers]


def parts_of_rows(left: list[LeftOut]) -> PartTable:
    """All parts of all rows that are known, the most suspicious first; of parts that are as
    suspicious, which many are where nothing is left of a probability, those of the row with the
    larger margin.

    The score of a part is one minus the estimated probability of what is given; of a quantity, its
    distance from the estimated mean in standard deviations of all rows left out.
    """
    tables = [_parts(one) for one in left]
    records = np.concatenate([table.records for table in tables])
    longest = max(tables, key=lambda table: len(table.part_names or ()))
    table = PartTable(records, longest.part_names, longest.value_names)
    if table.value_names is None:
        _standardise(records)
    margin = np.zeros(1 + max(one.rows.max(initial=0) for one in left))
    for one in left:
        margin[one.rows] = np.where(np.isnan(one.margins), one.losses, one.margins)
    by_row = -margin[records["row"]]
    order = np.lexsort((records["part"], records["row"], by_row, -records["score"]))
    return PartTable(records[order], table.part_names, table.value_names)


def averaged(records: np.ndarray, n: int) -> np.ndarray:
    r"""Scores of parts as one of each row, the highest counting most; shape (n,).

    The exponential moving average :math:`S_t = \alpha s_t + (1 - \alpha) S_{t-1}` from the lowest
    to the highest, with :math:`\alpha = 0.8`; zero for a row without parts.

    >>> records = _table([0, 0, 1], [0, 1, 0], 0, 1, [0.5, 1.0, 0.25])
    >>> averaged(records, 2)
    array([0.9 , 0.25])
    """
    order = np.lexsort((records["score"], records["row"]))
    row, score = records["row"][order], records["score"][order]
    counts = np.bincount(row, minlength=n)
    place = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    behind = np.repeat(counts, counts) - 1 - place
    weight = np.where(place == 0, 1.0, ALPHA) * (1.0 - ALPHA) ** behind
    return np.bincount(row, weight * score, minlength=n)


def _parts(left: LeftOut) -> PartTable:
    space, description = left.space, Description.of(left.space)
    kind = description.output_kind
    names: Any = description.part_names()
    if isinstance(left.predicted, list):  # sequences with features for every position
        return _positions(left.rows, left.happened, left.predicted, space.symbols_)
    happened, predicted = (np.asarray(part, float) for part in (left.happened, left.predicted))
    predicted = predicted.reshape(happened.shape)
    if kind == "sequence" and happened.ndim == 3:
        inside: Any = happened.any(axis=2)
        rows = [part[here] for part, here in zip(happened, inside)]
        total = np.maximum(predicted.sum(axis=2, keepdims=True), SURE)
        told = [part[here] for part, here in zip(predicted / total, inside)]
        return _positions(left.rows, rows, told, space.symbols_)
    if kind == "ranking" and happened.ndim == 3:
        pairs = of_pairs(happened)
        found = _pairs if pairs else _places
        return found(left.rows, happened, predicted, list(names))
    if kind in ("classes", "ordinal"):
        return _choices(left.rows, happened, predicted, names)
    names = Marginals.of(space).axes(happened.shape[-1], None)[0]
    flat = happened.reshape(len(happened), -1), predicted.reshape(len(happened), -1)
    numbers = flat[0][np.isfinite(flat[0])]  # parts that are missing have none
    regressed = SklearnTarget.of(space).estimator_type == "regressor"
    if regressed or not np.isin(numbers, (0.0, 0.5, 1.0)).all():
        return _numbers(left.rows, *flat, names)
    return _yes_or_no(left.rows, *flat, names, ("absent", "present"))


def _table(rows: Any, part: Any, given: Any, suggested: Any, score: Any) -> np.ndarray:
    records = np.empty(len(score), dtype=FIELDS)
    for name, column in zip(records.dtype.names or (), (rows, part, given, suggested, score)):
        records[name] = column
    return records


def _yes_or_no(
    rows: np.ndarray, happened: np.ndarray, p: np.ndarray, names: Any, values: tuple[str, str]
) -> PartTable:
    """Every column is there or not; where neither is known, there is no part."""
    i, j = np.nonzero((happened == 0) | (happened == 1))
    given, p = happened[i, j], p[i, j]
    score = np.where(given == 1, 1.0 - p, p)
    return PartTable(_table(rows[i], j, given, p >= 0.5, score), list(names), values)


def _choices(rows: np.ndarray, happened: np.ndarray, p: np.ndarray, names: Any) -> PartTable:
    """One of several names for each row that has one."""
    said = np.isfinite(happened).all(axis=1)
    rows, happened, p = rows[said], happened[said], p[said]
    given = happened.argmax(axis=1)
    score = 1.0 - p[np.arange(len(p)), given]
    return PartTable(_table(rows, 0, given, p.argmax(axis=1), score), None, list(names))


def _positions(rows: np.ndarray, happened: Any, p: Any, symbols: Any) -> PartTable:
    """One of several symbols at every position, which are counted from 1."""
    lengths = [len(part) for part in happened]
    row, names = np.repeat(rows, lengths), range(1, max(lengths, default=0) + 1)
    part = np.concatenate([np.arange(length) for length in lengths])
    happened = np.concatenate(happened)
    flat = _choices(row, happened, np.concatenate(p), symbols)
    flat.records["part"] = part[np.isfinite(happened).all(axis=1)]
    return PartTable(flat.records, names, flat.value_names)


def _pairs(rows: np.ndarray, happened: np.ndarray, p: np.ndarray, items: Any) -> PartTable:
    """The order of every pair of items that is known."""
    i, j = np.triu_indices(len(items), 1)
    names = [(items[a], items[b]) for a, b in zip(i, j)]
    return _yes_or_no(rows, happened[:, i, j], p[:, i, j], names, ("after", "before"))


def _places(rows: np.ndarray, happened: np.ndarray, p: np.ndarray, items: Any) -> PartTable:
    """The position of every item that is known, counted from 1."""
    i, j = np.nonzero((happened == 1).any(axis=2))
    flat = _choices(rows[i], happened[i, j], p[i, j], range(1, len(items) + 1))
    flat.records["part"] = j
    return PartTable(flat.records, items, flat.value_names)


def _numbers(rows: np.ndarray, given: np.ndarray, mean: np.ndarray, names: Any) -> PartTable:
    """Quantities; scores are distances as long as not all rows are known."""
    i, j = np.nonzero(np.isfinite(given))
    distance = np.abs(given[i, j] - mean[i, j])
    return PartTable(_table(rows[i], j, given[i, j], mean[i, j], distance), list(names), None)


def _standardise(records: np.ndarray) -> None:
    """Divide distances by the deviation of their column: of the median, which a few wrong numbers
    do not move; of the mean square where more than half of all distances are zero.
    """
    for part in np.unique(records["part"]):
        here = records["part"] == part
        distance = records["score"][here]
        scale = NORMAL_MAD * np.median(distance) or np.sqrt(np.mean(distance**2)) or 1.0
        records["score"][here] = distance / scale
