# SPDX-License-Identifier: BSD-3-Clause
"""Scores against what is true: checked, and cut below each of them."""

from typing import Any, NamedTuple

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.rows import dense


class Cuts(NamedTuple):
    """What is kept of each column when it is cut below one of its scores, from the top.

    Attributes
    ----------
    scores : array of shape (n, d)
        Of each column, falling.
    right, kept : arrays of shape (n, d)
        Weight of the true ones, and of all, among the scores down to this one.
    ends : bool array of shape (n, d)
        Whether the next score is another one, so that a cut is possible here.
    """

    scores: np.ndarray
    right: np.ndarray
    kept: np.ndarray
    ends: np.ndarray


def cuts(scores: np.ndarray, truth: np.ndarray, weight: np.ndarray | None = None) -> Cuts:
    """All cuts of the columns of scores (n, d); ``weight`` is an array (n, 1) of rows, or (n, d).

    >>> found = cuts(np.array([[0.2], [0.9], [0.2]]), np.array([[True], [False], [False]]))
    >>> found.right.ravel(), found.ends.ravel()
    (array([0., 1., 1.]), array([ True, False,  True]))
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    sorted_scores = np.take_along_axis(scores, order, axis=0)
    each = np.broadcast_to(1.0 if weight is None else weight, scores.shape)
    weights = np.take_along_axis(each, order, axis=0)
    hits = np.take_along_axis(truth, order, axis=0) * weights
    ends = np.ones(scores.shape, dtype=bool)
    ends[:-1] = sorted_scores[:-1] != sorted_scores[1:]
    return Cuts(sorted_scores, np.cumsum(hits, axis=0), np.cumsum(weights, axis=0), ends)


def columns_of(*tables: Any) -> list[Any] | None:
    """Names of the columns of the first of some tables that is a frame; None where none is."""
    frames = (table for table in map(in_memory, tables) if is_pandas(table, "DataFrame"))
    return next((list(frame.columns) for frame in frames), None)


def matched(table: Any, columns: list[Any] | None, what: str) -> Any:
    """A table as it is, but for a frame: as an array, its columns in the order of others."""
    table = in_memory(table)
    if not is_pandas(table, "DataFrame"):
        return table
    return by_position(table, columns, what=what, used_by="A measure of labels")


def checked_scores(scores: Any, truth: Any, known: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Finite scores (n, d), and truth as a bool array of that shape.

    Columns of frames are found by name. Entries that are not known come last, below every cut that
    finds something: their scores are minus infinity, and nothing is true of them.
    """
    columns = columns_of(scores, truth, known)
    scores = np.asarray(matched(scores, columns, "scores"), dtype=np.float64)
    truth, known = dense(matched(truth, columns, "truth")), matched(known, columns, "known")
    if scores.ndim != 2 or scores.shape != truth.shape or scores.size == 0:
        raise ValueError(
            "scores and truth have the same shape (n, d), with something in it; got "
            f"{scores.shape} and {truth.shape}."
        )
    if not np.isfinite(scores).all():
        row, column = np.argwhere(~np.isfinite(scores))[0]
        raise ValueError(f"scores are finite; scores[{row}, {column}] is {scores[row, column]}.")
    whether = zeros_and_ones(truth, "truth")
    if known is None:
        return scores, whether
    seen = checked_known(known, scores.shape)
    return np.where(seen, scores, -np.inf), whether & seen


def zeros_and_ones(values: Any, name: str) -> np.ndarray:
    """As a bool array, or an error that shows a number which is neither."""
    values = dense(values)
    odd = values[(values != 0) & (values != 1)]
    if len(odd):
        raise ValueError(f"{name} is 0 or 1 in every entry; got {odd[0]!r}.")
    return values.astype(bool)


def checked_known(known: Any, shape: tuple[int, ...]) -> np.ndarray:
    """As a bool array of the shape of the truth."""
    seen = np.asarray(known)
    if seen.shape != shape or seen.dtype != bool:
        raise ValueError(
            f"known is True or False for each entry of the truth, of shape {shape}; got "
            f"{seen.dtype} of shape {seen.shape}."
        )
    return seen
