# SPDX-License-Identifier: BSD-3-Clause
"""Prediction in blocks of rows: bounded memory, and threads where they are wanted."""

from __future__ import annotations

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skstruct._arrays.blocks import parse_memory, row_blocks
from skstruct._arrays.progress import track
from skstruct.exceptions import InfeasibleError
from skstruct.learners.raw_inputs import rows_of
from skstruct.spaces.base import Decoded


def decide_in_blocks(X, smooth, decide, bytes_per_row, *, memory, n_jobs, verbose) -> Decoded:
    """Smooth and decide block by block; the blocks of all threads share the memory budget.

    Parameters
    ----------
    smooth : callable (X) -> means or weights, a row each
    decide : callable (means, rows) -> Decoded
    """
    n_jobs = effective_n_jobs(n_jobs)
    at_once = max(2, n_jobs)  # blocks that are held
    blocks = list(row_blocks(X.shape[0], bytes_per_row, max(1, parse_memory(memory) // at_once)))
    if n_jobs > 1:  # enough blocks for all threads
        blocks = list(row_blocks(X.shape[0], 1, min(blocks[0].stop, -(-X.shape[0] // n_jobs))))

    def decided(rows, means):
        try:
            return decide(means, rows)
        except InfeasibleError as error:
            raise error.shifted(rows.start) from None

    def one(rows):
        return decided(rows, smooth(rows_of(X, rows)))

    shown = track(blocks, "predicting, blocks of rows", verbose)
    if n_jobs == 1 and len(blocks) > 1:  # smooth one block while the one before is decided
        from skstruct.streaming.pipeline import overlapped

        smoothed = overlapped(shown, lambda rows: (rows, smooth(rows_of(X, rows))), depth=1)
        return _joined([decided(*pair) for pair in smoothed])
    if n_jobs == 1:
        return _joined([one(rows) for rows in shown])
    return _joined(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(one)(rows) for rows in shown))


def _joined(parts: list[Decoded]) -> Decoded:
    if len(parts) == 1:
        return parts[0]
    if parts[0].values.ndim == 2:  # the k best: a block may have fewer ranks than another
        width = max(part.values.shape[1] for part in parts)
        parts = [_padded(part, width) for part in parts]
    widths = {part.outputs.shape[-1] for part in parts if part.outputs.ndim > 1}
    outputs = [part.outputs for part in parts]
    if len(widths) > 1:  # sequences, as wide as the longest of their block
        outputs = [widened(Z, max(widths)) for Z in outputs]
    values, bounds = ([getattr(part, name) for part in parts] for name in ("values", "bounds"))
    return Decoded(*map(np.concatenate, (outputs, values, bounds)))


def widened(Z, width: int):
    """Sequences padded with -1."""
    missing = [(0, 0)] * (Z.ndim - 1) + [(0, width - Z.shape[-1])]
    return np.pad(Z, missing, constant_values=-1)


def _padded(part: Decoded, width: int) -> Decoded:
    """So many ranks: those that no row of the block has are infinite."""
    missing = width - part.values.shape[1]
    if not missing:
        return part
    last = np.repeat(part.outputs[:, -1:], missing, axis=1)
    infinite = np.full((len(part.values), missing), np.inf)
    return Decoded(
        np.concatenate([part.outputs, last], axis=1),
        np.hstack([part.values, infinite]),
        np.hstack([part.bounds, infinite]),
    )
