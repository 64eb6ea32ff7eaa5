# SPDX-License-Identifier: BSD-3-Clause
"""Where a model errs: by part of the output, by depth or position, and by column of the input."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct.drawings.parts import label_text
from skstruct.explorer.state import Explored, Judged, name_of
from skstruct.inspection.risks import mean_interval
from skstruct.serving.abilities import QUANTITIES
from skstruct.spaces import Description

N_BINS = 5  # of a column of numbers
MOST_VALUES = 12  # of a column of names; others are one bin
MOST_COLUMNS = 30  # those in which the loss differs most
STOPS = {"tour": "node"}  # parts of an output that are read as others than its columns
DEPTH = "depth"  # what slices by depth, position or rank are asked by
MOST_PLACES = 25  # positions or ranks; what is behind them is one bin


class Slices:
    """Errors of an Explored in parts of the data, computed once for each loss."""

    def __init__(self, explored: Explored) -> None:
        self.explored = explored
        self._found: dict[str, dict[str, Any]] = {}
        self._rows: dict[str, dict[tuple[str, str], np.ndarray]] = {}  # by loss, then by slice
        self._lock = threading.Lock()

    def of(self, loss: str) -> dict[str, Any]:
        """The answer as JSON has it; raises where there are no true outputs."""
        judged = self.explored.judged(loss)
        if judged.losses is None:
            raise ValueError("Slices are of losses: the explored data have no true outputs.")
        with self._lock:
            if loss not in self._found:
                self._found[loss] = self._computed(loss, judged, judged.losses)
            return self._found[loss]

    def rows_in(self, loss: str, kind: str, name: str) -> np.ndarray:
        """Rows of a slice: of a bin of the column ``kind``, or that go wrong at a ``"depth"``."""
        self.of(loss)
        if (kind, name) not in self._rows[loss]:
            raise ValueError(f"There is no slice {name!r:.80} of {kind!r:.80}.")
        return self._rows[loss][kind, name]

    def _computed(self, loss: str, judged: Judged, losses: np.ndarray) -> dict[str, Any]:
        said = np.isfinite(losses)
        if not said.any():
            raise ValueError("Slices are of losses: nothing is known of any true output.")
        errors = PartErrors(self.explored, judged)
        description = self.explored.description
        limits = self.explored.loss_range(loss)
        whole = summed("all rows", losses[said], *limits)
        columns, inside = by_column(self.explored, losses, said, limits)
        self._rows[loss] = inside | {(DEPTH, n): rows for n, rows in errors.rows_by_place()}
        return {
            "loss": loss,
            **{key: whole[key] for key in ("n", "mean", "low", "high")},
            "by_part": errors.by_name(),
            "part_word": STOPS.get(description.output_kind, description.part_words[0]),
            "by_depth": errors.by_place(),
            "place_word": errors.word,
            "by_column": columns,
        }


def summed(name: str, losses: Any, least: float = 0.0, largest: float = np.inf) -> dict[str, Any]:
    """A mean loss with its interval: of Wilson where losses are zero or one, else of Student.

    Ends of the interval are within what the loss can be.
    """
    losses = np.asarray(losses, dtype=np.float64)
    low, high = np.clip(mean_interval(losses), least, largest).tolist()
    return {"name": name, "n": len(losses), "mean": float(losses.mean()), "low": low, "high": high}


# Parts of outputs.


class PartErrors:
    """Parts that are true and missed, or predicted and not true, by name and by place.

    What is not known of a truth is left out.
    """

    def __init__(self, explored: Explored, judged: Judged) -> None:
        self.explored, self.judged = explored, judged
        self.word, self._place = _places(explored.description)
        self.names: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])  # true, missed, false
        self.places: dict[int, list[float]] = defaultdict(list)
        self.wrong_at: dict[int, list[int]] = defaultdict(list)  # rows in which a part is missed
        self._sizes: dict[str, list[float]] = defaultdict(list)
        if explored.description.output_kind in QUANTITIES:
            self._measure()
        else:
            for row, true, predicted in self._pairs():
                self._count(row, true, predicted)

    def _measure(self) -> None:
        """Outputs of numbers: how far each is off."""
        parts = self.explored.description.part_names() or ()
        names = [label_text(name) for name in parts]
        for i, z in enumerate(self.judged.outputs):
            y, known = self.explored.drawn_truth(i, z), self.explored.known_parts(i)
            if y is None:
                continue
            for j, off in enumerate((np.ravel(z) - np.ravel(y)).tolist()):
                if known is None or known[j]:
                    self._sizes[names[j]].append(off)

    def _pairs(self) -> Iterator[tuple[int, list[Any], list[Any]]]:
        """Rows that say something, with the parts of their truths and of their predictions."""
        explored = self.explored
        for i, z in enumerate(self.judged.outputs):
            y = explored.drawn_truth(i, z)
            if y is not None:
                known = explored.known_parts(i)
                both = [explored.description.parts_of(output).parts for output in (y, z)]
                true, predicted = ([p for p in parts if _is_known(p, known)] for parts in both)
                yield i, true, predicted

    def _count(self, row: int, true: list[Any], predicted: list[Any]) -> None:
        right, found = {part.key for part in true}, {part.key for part in predicted}
        for part in true:
            missed = part.key not in found
            counts = self.names[name_of(part)]
            counts[0] += 1
            counts[1] += missed
            if self._place is not None:
                place = min(self._place(part.key), MOST_PLACES)
                self.places[place].append(float(missed))
                if missed:
                    self.wrong_at[place].append(row)
        for part in predicted:
            self.names[name_of(part)][2] += part.key not in right

    def by_name(self) -> list[dict[str, Any]]:
        """Parts with most mistakes first."""
        if self._sizes:
            return self._by_size()
        rows = [
            {"name": name, "n": n, "missed": missed, "too_many": false}
            for name, (n, missed, false) in self.names.items()
        ]
        return sorted(rows, key=lambda row: (-row["missed"] - row["too_many"], row["name"]))

    def _by_size(self) -> list[dict[str, Any]]:
        """Targets that are numbers, those farthest off first."""
        rows = [
            {"name": name, "n": len(off), "missed": None, "too_many": None,
             "mean_error": float(np.mean(off)), "mean_absolute": float(np.mean(np.abs(off)))}
            for name, off in self._sizes.items()
        ]  # fmt: skip
        return sorted(rows, key=lambda row: -float(row["mean_absolute"]))

    def by_place(self) -> list[dict[str, Any]]:
        """Share of true parts that are missed, by depth, position or rank."""
        return [summed(self._called(p), missed) for p, missed in sorted(self.places.items())]

    def rows_by_place(self) -> Iterator[tuple[str, np.ndarray]]:
        """Rows that go wrong at each place, by its name."""
        for place in self.places:
            yield self._called(place), np.unique(np.array(self.wrong_at[place], dtype=int))

    def _called(self, place: int) -> str:
        return f"{self.word} {place}{' or more' if place == MOST_PLACES else ''}"


def _places(description: Description) -> tuple[str | None, Any]:
    """What the place of a part is called, and how it follows from the key of the part."""
    if description.output_kind == "hierarchy":
        depth = description.output_dag().depth
        return "depth", lambda key: int(depth[key]) + 1
    if description.output_kind == "sequence":
        return "position", lambda key: key[0] + 1
    if description.output_kind == "ranking":
        return "rank", lambda key: int(key[1])
    return None, None


def _is_known(part: Any, known: np.ndarray | None) -> bool:
    if known is None or part.key is None:
        return True
    column = part.key[0] if isinstance(part.key, tuple) else part.key
    return not isinstance(column, int) or column >= len(known) or bool(known[column])


# Columns of inputs.


def by_column(
    explored: Explored, losses: np.ndarray, said: np.ndarray, limits: tuple[float, float]
) -> tuple[list[dict[str, Any]], dict[tuple[str, str], np.ndarray]]:
    """Mean losses in bins of every column, and the rows of each bin.

    Columns in which losses differ most come first.
    """
    rows = np.flatnonzero(said)
    found: list[dict[str, Any]] = []
    inside: dict[tuple[str, str], np.ndarray] = {}
    for name, kind, cells in explored.inputs.columns_of(rows):
        bins = numeric_bins(cells) if kind == "number" else name_bins(cells)
        shown = [summed(text, losses[rows[some]], *limits) for text, some in bins]
        if len(shown) > 1:
            found.append({"column": name, "bins": shown, "spread": _spread(shown)})
            inside |= {(name, text): rows[some] for text, some in bins}
    found.sort(key=lambda column: -column["spread"])
    return found[:MOST_COLUMNS], inside


def _spread(bins: list[dict[str, Any]]) -> float:
    """Standard deviation of the mean losses of bins, by their rows."""
    n, means = (np.array([one[key] for one in bins], dtype=float) for key in ("n", "mean"))
    middle = np.average(means, weights=n)
    return float(np.sqrt(np.average((means - middle) ** 2, weights=n)))


def numeric_bins(cells: list[Any]) -> list[tuple[str, np.ndarray]]:
    """Bins of about as many rows each, between quantiles; single values where there are few.

    >>> [(name, len(rows)) for name, rows in numeric_bins([1.0, 2.0, 2.0, None])]
    [('1', 1), ('2', 2), ('missing', 1)]
    """
    values = np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    there = np.flatnonzero(np.isfinite(values))
    bins: list[tuple[str, np.ndarray]] = []
    distinct = np.unique(values[there])
    if len(distinct) <= N_BINS + 1:
        bins += [(f"{value:.4g}", np.flatnonzero(values == value)) for value in distinct]
    else:
        ends = np.unique(np.quantile(values[there], np.linspace(0, 1, N_BINS + 1)))
        place = np.clip(np.searchsorted(ends, values[there], side="right") - 1, 0, len(ends) - 2)
        for b in range(len(ends) - 1):
            inside = there[place == b]
            if len(inside):
                bins.append((f"{ends[b]:.4g} to {ends[b + 1]:.4g}", inside))
    missing = np.flatnonzero(~np.isfinite(values))
    return [*bins, ("missing", missing)] if len(missing) else bins


def name_bins(cells: list[Any]) -> list[tuple[str, np.ndarray]]:
    """A bin for each of the most frequent names, one for all others, one for missing cells."""
    rows: dict[Any, list[int]] = defaultdict(list)
    for i, cell in enumerate(cells):
        rows[cell].append(i)
    missing = rows.pop(None, [])
    order = sorted(rows, key=lambda name: (-len(rows[name]), str(name)))
    bins = [(str(name), rows[name]) for name in order[:MOST_VALUES]]
    others = [i for name in order[MOST_VALUES:] for i in rows[name]]
    bins += [("others", others)] if others else []
    bins += [("missing", missing)] if missing else []
    return [(name, np.array(inside)) for name, inside in bins]
