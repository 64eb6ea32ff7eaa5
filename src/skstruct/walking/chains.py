# SPDX-License-Identifier: BSD-3-Clause
"""Moves among sequences: another symbol, one more at the end, one less."""

from __future__ import annotations

import numpy as np

from skstruct.walking.base import Moves


class SequenceMoves(Moves):
    r"""Change a symbol of a sequence, or its last position where lengths are open.

    A position that is not known and one of all q symbols are proposed, the symbol that
    stands there among them, so that no chain can be periodic. Where lengths are open, every
    other proposal is one of the lengths next to this one, a longer sequence with any last
    symbol. As there are q ways to it and one back, it is accepted with chance
    :math:`\min(1, q \exp(\beta \Delta))`, and the way back with
    :math:`\min(1, \exp(\beta \Delta) / q)`.

    Parameters
    ----------
    n_symbols : int
    known : int array of shape (T,)
        The symbols that are known, -1 at other positions.
    lengths : (int, int)
        The shortest and the longest length; all known positions are below the shortest.
    bigrams : bool
        Whether scores are those of positions and bigrams, or of positions only.
    """

    def __init__(self, n_symbols: int, known, lengths: tuple[int, int], bigrams: bool):
        self.n_symbols, self.width = n_symbols, len(known)
        self.shortest, self.longest = lengths
        self.free = np.flatnonzero(np.asarray(known)[: self.longest] < 0)
        self.bigrams = bigrams
        kinds = 2 if self.longest > self.shortest else 1
        self.sweep = max(kinds * len(self.free) * n_symbols, 1)

    def start(self, outputs):
        outputs = np.asarray(outputs, dtype=np.int64)[:, : self.width]
        missing = self.width - outputs.shape[1]
        padded = np.pad(outputs, ((0, 0), (0, missing)), constant_values=-1)
        return np.array(padded, order="C")

    def outputs(self, states):
        return states.copy()

    def walk(self, states, scores, row, beta, n_steps, streams):
        from skstruct.walking._compiled_chains import walk_sequences

        return walk_sequences(
            states, scores, row, beta, n_steps, streams, self.n_symbols, self.free,
            self.shortest, self.longest, self.bigrams,
        )  # fmt: skip
