# SPDX-License-Identifier: BSD-3-Clause
"""The list of rows: searched, filtered by a label, sorted and cut into pages."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from skstruct.explorer.slices import Slices
from skstruct.explorer.state import Explored, Judged

MOST_AT_ONCE = 500  # rows of a page
WHERE = ("predicted", "true", "wrong")
NUMBERS = ("row", "risk", "loss")  # what rows are sorted by beside columns


class Rows:
    """Rows of an Explored; the text of their cells is read once."""

    def __init__(self, explored: Explored, slices: Slices) -> None:
        self.explored, self.slices = explored, slices
        self._cell_texts: list[str] | None = None
        self._columns: dict[str, np.ndarray] = {}
        self._lock = threading.Lock()

    def page(
        self,
        loss: str,
        *,
        search: str = "",
        sort: str = "row",
        descending: bool = False,
        label: str = "",
        where: str = "predicted",
        slice_: tuple[str, str] | None = None,
        start: int = 0,
        count: int = 50,
    ) -> dict[str, Any]:
        """Some rows, and how many there are."""
        judged = self.explored.judged(loss)
        found = np.arange(len(self.explored))
        if slice_ is not None:
            found = np.sort(self.slices.rows_in(loss, *slice_))
        if label:
            found = found[self._with_label(judged, label, where)[found]]
        if search:
            wanted = search.casefold()
            found = np.array([i for i in found if wanted in self._text(judged, int(i))], dtype=int)
        found = found[self._order(judged, found, sort, descending)]
        shown = found[start : start + count]
        rows = [self.row(judged, int(i)) for i in shown]
        return {"total": len(found), "start": start, "rows": rows}

    def row(self, judged: Judged, i: int) -> dict[str, Any]:
        """A line of the list."""
        explored = self.explored
        return {
            "row": i,
            "name": explored.row_name(i),
            "cells": explored.inputs.cells(i),
            "prediction": judged.texts[i],
            "truth": explored.truth_text(i),
            "risk": judged.risks[i],
            "loss": None if judged.losses is None else judged.losses[i],
        }

    # ------------------------------------------------------------------ search and filter
    def _text(self, judged: Judged, i: int) -> str:
        """All that is searched of a row, without a difference of small and large letters."""
        told = (self._cells()[i], judged.texts[i], self.explored.truth_text(i) or "")
        return "\n".join(told).casefold()

    def _cells(self) -> list[str]:
        with self._lock:
            if self._cell_texts is None:
                explored = self.explored
                self._cell_texts = [
                    "\n".join(
                        [explored.row_name(i), *map(_text_of, explored.inputs.cells(i).values())]
                    )
                    for i in range(len(explored))
                ]
            return self._cell_texts

    def _with_label(self, judged: Judged, label: str, where: str) -> np.ndarray:
        if where not in WHERE:
            raise ValueError(f"where is one of {', '.join(WHERE)}; got {where!r}.")
        explored = self.explored
        predicted = np.array([label in names for names in explored.part_names(judged.outputs)])
        if where == "predicted":
            return predicted
        true = explored.true_part_names()
        if true is None:
            raise ValueError(f"where={where}: the explored data have no true outputs.")
        has = np.array([names is not None and label in names for names in true])
        known = np.array([names is not None for names in true])
        return has if where == "true" else known & (has != predicted)

    # ------------------------------------------------------------------ order
    def _order(self, judged: Judged, found: np.ndarray, sort: str, descending: bool) -> np.ndarray:
        """Positions in ``found``; what has no value stands last in either order."""
        if sort == "row":
            order = np.arange(len(found))
            return order[::-1] if descending else order
        values = self._values(judged, sort)[found]
        missing = np.isnan(values)
        key = np.where(missing, 0.0, -values if descending else values)
        return np.lexsort((key, missing))

    def _values(self, judged: Judged, sort: str) -> np.ndarray:
        if sort == "risk":
            return judged.risks
        if sort == "loss":
            if judged.losses is None:
                raise ValueError("sort=loss: the explored data have no true outputs.")
            return judged.losses
        names = [column.name for column in self.explored.inputs.columns]
        if sort not in names:
            raise ValueError(
                f"sort is one of {', '.join(NUMBERS)} or a column; there is no column {sort!r}."
            )
        with self._lock:
            if sort not in self._columns:
                cells = [self.explored.inputs.cells(i)[sort] for i in range(len(self.explored))]
                self._columns[sort] = _ranks(cells)
            return self._columns[sort]


def _text_of(cell: Any) -> str:
    return "" if cell is None else f"{cell:g}" if isinstance(cell, float) else str(cell)


def _ranks(cells: list[Any]) -> np.ndarray:
    """Numbers as they are, texts by their place in the alphabet, NaN where there is nothing."""
    if all(cell is None or isinstance(cell, float) for cell in cells):
        return np.array([np.nan if cell is None else cell for cell in cells])
    place = {text: k for k, text in enumerate(sorted({str(c) for c in cells if c is not None}))}
    return np.array([np.nan if cell is None else place[str(cell)] for cell in cells])
