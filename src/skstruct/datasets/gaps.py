# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of which parts are missing in a file: what they become, and how they are written.

====================  ============================================================
task                  what a missing cell leaves
====================  ============================================================
classes               None for the row
labels, hierarchy     None for the row, where one cell holds a set; of a table with
                      a column for each label ``{"include": ..., "exclude": ...}``
regression            NaN
sequence              None for the position
====================  ============================================================

Rankings, histograms and ordered levels are known as a whole, or not at all.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

IN_CELLS = ("classes", "labels", "hierarchy", "regression")  # tasks whose cells may be missing
UNKNOWN = "?"  # what stands for a part that is not known, where nothing could be taken for it


def partial_sets(inside: np.ndarray, labels: tuple[str, ...]) -> list[Any]:
    """Label sets of a table of 0, 1 and NaN: names, what is known of them, or None.

    >>> partial_sets(np.array([[1, 0], [np.nan, 0], [np.nan, np.nan]]), ("a", "b"))
    [('a',), {'include': (), 'exclude': ('b',)}, None]
    """
    names = np.array(labels, dtype=object)
    sets: list[Any] = []
    for row, missing in zip(inside, np.isnan(inside)):
        held = tuple(names[row == 1].tolist())
        if not missing.any():
            sets.append(held)
        elif missing.all():
            sets.append(None)
        else:
            sets.append({"include": held, "exclude": tuple(names[row == 0].tolist())})
    return sets


def names_in(output: Any) -> Iterable[str]:
    """Labels or symbols that an output is known to have.

    >>> names_in(None), names_in(("a", None)), names_in({"include": ("b",), "exclude": ("c",)})
    ([], ['a'], ['b'])
    """
    held = output.get("include", ()) if isinstance(output, Mapping) else output or ()
    return [name for name in held if name is not None]


def indicators(outputs: Iterable[Any], labels: tuple[str, ...]) -> np.ndarray:
    """A table of 0, 1, and NaN where it is not known, of label sets; shape (n, n_labels).

    >>> indicators([("a",), {"include": (), "exclude": ("b",)}, None], ("a", "b")).tolist()
    [[1.0, 0.0], [nan, 0.0], [nan, nan]]
    """
    number = {label: j for j, label in enumerate(labels)}
    rows = list(outputs)
    data = np.zeros((len(rows), len(labels)))
    for i, row in enumerate(rows):
        if row is None or isinstance(row, Mapping):
            data[i] = np.nan
            data[i, [number[label] for label in (row or {}).get("exclude", ())]] = 0
        data[i, [number[label] for label in names_in(row)]] = 1
    return data


def needs_columns(task: str, outputs: Any) -> bool:
    """Whether label sets are known in part, which takes a column for each label to write."""
    sets = task in ("labels", "hierarchy") and outputs is not None
    return sets and any(isinstance(row, Mapping) for row in outputs)


def count_parts(task: str, outputs: Any, n_labels: int) -> tuple[int, int]:
    """How many parts of outputs are missing, and how many there are.

    >>> count_parts("classes", np.array(["a", None], object), 1)
    (1, 2)
    >>> count_parts("sequence", [("a", None), ("b",)], 2)
    (1, 3)
    """
    if outputs is None:
        return 0, 0
    if task in ("labels", "hierarchy"):
        known = [
            n_labels if not (row is None or isinstance(row, Mapping)) else _n_told(row)
            for row in outputs
        ]
        return n_labels * len(known) - sum(known), n_labels * len(known)
    if task == "sequence":
        parts = [symbol is None for row in outputs for symbol in row]
        return sum(parts), len(parts)
    cells = np.asarray(outputs)
    if cells.dtype == object:
        return sum(cell is None for cell in cells.ravel().tolist()), cells.size
    return int(np.isnan(cells).sum()) if cells.dtype.kind == "f" else 0, cells.size


def _n_told(row: Any) -> int:
    return 0 if row is None else len(row.get("include", ())) + len(row.get("exclude", ()))


def gaps_remark(n_missing: int, n_cells: int, way: str = "") -> str:
    """What is said of cells of outputs that are missing, and a ``way`` to leave them out.

    >>> gaps_remark(3, 12)
    '3 of 12 cells of the outputs are missing (25%): what is known is learned from.'
    """
    are = "is" if n_missing == 1 else "are"
    return (
        f"{n_missing:,} of {n_cells:,} cells of the outputs {are} missing "
        f"({n_missing / n_cells:.0%}): what is known is learned from."
    ) + (f" Such rows can be left out ({way})." if way else "")
