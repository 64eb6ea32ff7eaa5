# SPDX-License-Identifier: BSD-3-Clause
"""Sequences within limits under laws of scores: sums over all, and local moves."""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.sequences.limits import SequenceLimits
from skstruct.summing.chains import ChainLaw
from skstruct.summing.sequences import GramLaw
from skstruct.walking.chains import SequenceMoves

PRICES = ("unary", "transitions", "beginning", "ending")


def law_of_costs(chains: dict) -> ChainLaw:
    """The law of chains whose scores are minus these costs, which forbid by infinity."""
    priced = {name: -chains[name] for name in PRICES if chains.get(name) is not None}
    return ChainLaw(**{**chains, **priced})


def law_of_grams(scores, n: int, limits: SequenceLimits, width: int) -> GramLaw:
    """The law of strings with scores (rows, q**n) of n-grams, n being 1 or 2."""
    rows, q = len(scores), limits.n_symbols
    starts, row = width * np.arange(rows + 1), np.repeat(np.arange(rows), width)
    unary = -scores[row] if n == 1 else np.zeros((rows * width, q))
    steps = -scores.reshape(rows, q, q) if n == 2 else np.zeros((rows, q, q))
    costs = {
        "unary": limits.hold_known(unary, starts, np.full(rows, width)),
        "starts": starts,
        "transitions": limits.hold_apart(steps, np.arange(rows))[0],
        "which": row,
        "shortest": limits.least_lengths(),
        "longest": limits.longest,
        **limits.ends(),
    }
    return GramLaw(law_of_costs(costs), width, n)


def sequence_moves(limits: SequenceLimits, width: int, bigrams: bool) -> SequenceMoves | None:
    """Moves that reach every sequence within limits; None where that cannot be promised.

    Between sequences that avoid forbidden transitions there may be no way of changing one
    symbol at a time.
    """
    if limits.n_rows is not None or limits.forbidden.any():
        return None
    known = np.full(width, -1)
    told = limits.known[0, :width]
    known[: len(told)] = told
    lengths = int(limits.least_lengths()[0]), int(limits.longest[0])
    if lengths[0] > lengths[1]:
        raise InfeasibleError("Sequences: no sequence meets the constraints.", 0)
    return SequenceMoves(limits.n_symbols, known, lengths, bigrams)
