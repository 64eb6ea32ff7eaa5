# SPDX-License-Identifier: BSD-3-Clause
"""Limits and outputs of a space that was read: their shapes and numbers are those of the space."""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import ModelFileError


def check_limits(space) -> None:
    """Raise where the limits of a space are not limits of that space."""
    limits, kind = space.limits, type(space.limits).__name__
    if kind not in SHAPES:
        raise ModelFileError(f"limits of an unknown kind, {kind!r:.40}")
    for name, (letter, shape, low, high) in SHAPES[kind](space).items():
        _check_part(getattr(limits, name), letter, shape, low, high)
    if kind == "Limits":
        for group in limits.groups:
            _check_part(np.asarray(group)[None], "i", (None,), 0, len(space.labels_))
        if type(limits.smallest) is not int or type(limits.largest) is not int:
            raise ModelFileError("sizes of label sets that are no numbers")
    if kind == "RankLimits" and not (limits.top is None or _within(limits.top, space)):
        raise ModelFileError("the top of a ranking that has not so many places")


def _within(top, space) -> bool:
    return isinstance(top, (int, np.integer)) and 0 <= int(top) <= len(space.items_)


def _check_part(array, letter, shape, low, high):
    """One array of limits: (rows, *shape), None for any width."""
    plain = isinstance(array, np.ndarray) and array.dtype.kind == letter
    fits = plain and array.ndim == 1 + len(shape) and len(array) > 0
    if not fits or any(n is not None and m != n for m, n in zip(array.shape[1:], shape)):
        raise ModelFileError("limits that do not fit their space")
    if letter == "i" and array.size and (array.min() < low or array.max() >= high):
        raise ModelFileError("limits with numbers that their space has not")


def _n_columns(space) -> int:
    """Columns of canonical outputs; labels name those of the embedding, which may be fewer."""
    return space.dag_.n_nodes if hasattr(space, "dag_") else len(space.labels_)


def _label_limits(space):
    d = _n_columns(space)
    return {"low": ("b", (d,), 0, 0), "high": ("b", (d,), 0, 0)}


def _rank_limits(space):
    d = len(space.items_)
    return {"fixed": ("i", (d,), 0, d + 1), "before": ("b", (d, d), 0, 0)}


def _cycle_limits(space):
    places = len(space.nodes_)
    nodes = ("b", (places,), 0, 0)
    size = ("i", (), 0, 2**31)
    return {
        **_label_limits(space), "visited": nodes, "open": nodes, "smallest": size, "largest": size
    }  # fmt: skip


def _sequence_limits(space):
    q, length = len(space.symbols_), ("i", (), -1, 2**31)
    known, forbidden = ("i", (None,), -1, q), ("b", (q + 1, q + 1), 0, 0)
    return {"shortest": length, "longest": length, "known": known, "forbidden": forbidden}


def _state_limits(space):
    states = (len(space.states_),) if hasattr(space, "states_") else ()
    return {"allowed": ("b", (len(space.labels_), *states), 0, 0)}


def _sign_limits(space):
    return {"allowed": ("b", (len(space.labels_), None), 0, 0)}


# ---------------------------------------------------------------------- quantities
def check_range(limits) -> None:
    """Raise where lower and upper limits are not those of rows of numbers."""
    for side in (limits.low, limits.high):
        _check_part(side, "f", (None,), 0, 0)
    if limits.low.shape[1] != limits.high.shape[1]:
        raise ModelFileError("limits of different widths")


def check_constraints(made) -> None:
    """Raise where linear constraints have sides that are not theirs."""
    for A, b in ((made.A_eq, made.b_eq), (made.A_ub, made.b_ub)):
        rows = isinstance(b, np.ndarray) and b.dtype == np.float64 and b.ndim in (1, 2)
        fits = rows and getattr(A, "format", "") == "csr" and A.shape[0] == b.shape[-1]
        if not fits or A.shape[1] != made.A_eq.shape[1]:
            raise ModelFileError("linear constraints that do not fit together")


def check_quantities(space) -> None:
    """Raise where a space of numbers is not as wide as its names are many."""
    d, limits = len(space.labels_), getattr(space, "limits_", None)
    for name in ("mean_", "variance_", "low_", "high_"):
        part = getattr(space, name, None)
        if part is not None and not (isinstance(part, np.ndarray) and part.shape == (d,)):
            raise ModelFileError("a space of numbers of a wrong width")
    if limits is None:
        return
    limits, columns = getattr(limits, "range", limits), getattr(limits, "constraints", None)
    wide = limits.low.shape[1] == d and (columns is None or columns.n_columns == d)
    if not wide:
        raise ModelFileError("limits that do not fit their space")


SHAPES = {
    "CycleLimits": _cycle_limits,
    "Limits": _label_limits,
    "RankLimits": _rank_limits,
    "SequenceLimits": _sequence_limits,
    "SignLimits": _sign_limits,
    "StateLimits": _state_limits,
}


def check_outputs(space, outputs) -> None:
    """Raise where training outputs in canonical form are not such of the space."""
    if not isinstance(outputs, np.ndarray) or outputs.dtype.kind not in "iuf":
        raise ModelFileError("outputs that are no array of numbers")
    if outputs.ndim not in (1, 2):
        raise ModelFileError("outputs of a wrong shape")
    low, high, width = _bounds(space)
    if width is not None and (outputs.ndim != 2 or outputs.shape[1] != width):
        raise ModelFileError("outputs of a wrong width")
    if low is None:
        return
    if outputs.dtype.kind == "f" or (
        outputs.size and (outputs.min() < low or outputs.max() >= high)
    ):
        raise ModelFileError("outputs with numbers that their space has not")


def _bounds(space):
    """Smallest number, one above the largest, and width; None where any will do."""
    if hasattr(space, "symbols_"):
        return -1, len(space.symbols_), None
    if hasattr(space, "items_") and space.embedding not in ("signs", "indicators"):
        return None, None, len(space.items_)
    if hasattr(space, "states_"):
        return -1, max(len(space.states_), 2), len(space.labels_)
    if hasattr(space, "n_known_"):
        return 0, space.n_known_, None
    if not hasattr(space, "labels_"):
        return None, None, None
    if hasattr(space, "mean_"):
        return None, None, len(space.labels_)
    if hasattr(space, "number_"):
        return 0, len(space.labels_), None
    return -1, 2, _n_columns(space)
