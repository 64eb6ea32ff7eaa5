# SPDX-License-Identifier: BSD-3-Clause
"""Costs of sequences in stacked form: the positions of all rows one after the other."""

from __future__ import annotations

import numpy as np


def unstacked(symbols, lengths) -> np.ndarray:
    """Rows of symbols as wide as the longest, padded with -1."""
    outputs = np.full((len(lengths), int(lengths.max(initial=0))), -1, np.int64)
    outputs[np.arange(outputs.shape[1]) < lengths[:, None]] = symbols
    return outputs


def check_stacked(unary, starts, transitions, q):
    """Costs in stacked form as arrays, or an error that names what is wrong."""
    unary = np.asarray(unary, dtype=np.float64)
    starts = np.asarray(starts)
    if unary.ndim != 2 or unary.shape[1] != q:
        raise ValueError(f"Sequences expects unary costs of shape (N, {q}); got {unary.shape}.")
    N = len(unary)
    good = starts.ndim == 1 and len(starts) > 0 and starts.dtype.kind in "iu"
    if not good or starts[0] != 0 or starts[-1] != N or (np.diff(starts) < 0).any():
        raise ValueError(f"Sequences: starts rise from 0 to the {N} rows of unary; got {starts}.")
    _check_priced(unary, "unary")
    if transitions is not None:
        transitions = np.asarray(transitions, dtype=np.float64)
        transitions = transitions[None] if transitions.ndim == 2 else transitions
        if transitions.shape not in ((1, q, q), (N, q, q)):
            raise ValueError(
                f"Sequences expects transitions of shape (1, {q}, {q}) or ({N}, {q}, {q}); got "
                f"{transitions.shape}."
            )
        _check_priced(transitions, "transitions")
    return unary, starts.astype(np.int64), transitions


def _check_priced(costs, name):
    """Finite, or infinite where forbidden; no NaN, no infinite reward."""
    low = costs.min(initial=0.0)  # NaN where one is NaN
    if not np.isfinite(low):
        at = np.argwhere(np.isnan(costs) | (costs == -np.inf))[0]
        where = ", ".join(map(str, at))
        raise ValueError(f"Sequences: {name}[{where}] is {costs[tuple(at)]}; no cost is that.")
