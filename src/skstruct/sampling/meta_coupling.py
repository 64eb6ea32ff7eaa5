# SPDX-License-Identifier: BSD-3-Clause
"""Coupling from the past on the meta chain, whose proposals are drawn uniformly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.exceptions import SamplingError
from skstruct.sampling.values import value_range, values_of
from skstruct.spaces.limits import differs_by_row

AT_ONCE = 2**16  # proposals
IN_MEMORY = 2**24  # steps of unfinished draws that are remembered at a time


@dataclass(eq=False)
class _Past:
    """What is known of the steps 1, 2, ... back from now, of draws that are not finished."""

    slots: np.ndarray  # shape (a,): which draws
    values: np.ndarray  # shape (a, t): the score of every proposal
    reach: np.ndarray  # shape (a, t): it is accepted from all outputs of a lower score

    def part(self, chosen) -> _Past:
        return _Past(self.slots[chosen], self.values[chosen], self.reach[chosen])

    def extended(self, values, reach) -> _Past:
        return _Past(
            self.slots, np.hstack([self.values, values]), np.hstack([self.reach, reach])
        )  # fmt: skip


class MetaCoupling:
    r"""Exact draws from uniform proposals.

    A proposal z is accepted from the output y where :math:`f(y) < f(z) - \ln U =: r`. All
    chains are at z, wherever they were, when :math:`r \ge f_{ub} \ge \max f`: the test of
    rejection sampling. The first such step is looked for back from now, and the steps after it
    are taken again by the rule of Metropolis.

    Parameters
    ----------
    space : fitted space, samplable
    scores : array of shape (n_rows, d)
    rows : int array
        The rows to draw for.
    n_steps : int
        No draw looks back farther than this.
    """

    def __init__(self, space, scores, rows, n_steps: int):
        self.space, self.rows = space.rows(rows), rows
        self.differ = differs_by_row(space)
        self.scores = np.ascontiguousarray(scores[rows])
        self.bound = value_range(self.space, self.scores)[1]
        self.n_steps = n_steps

    def draw(self, n: int, rng):
        """Outputs (rows, n, ...) and steps back to where all chains met, (rows, n)."""
        m = len(self.rows) * n
        ended, times = np.empty(m, np.int64), np.empty(m, np.int64)
        kept: list[tuple[np.ndarray, np.ndarray]] = []  # (keys, outputs)
        nothing = np.empty((m, 0))
        waiting = [_Past(np.arange(m), nothing, nothing)]
        while waiting:
            past = self._look_back(waiting.pop(), n, rng, kept)
            met = past.reach >= self.bound[past.slots // n, None]
            done = met.any(axis=1)
            self._finish(past.part(done), met[done].argmax(axis=1), ended, times)
            past = past.part(~done)
            half = len(past.slots) // 2
            if half and past.values.size > IN_MEMORY:
                waiting += [past.part(slice(half, None)), past.part(slice(half))]
            elif len(past.slots):
                waiting.append(past)
        keys, outputs = (np.concatenate(parts) for parts in zip(*kept))
        order = np.argsort(keys)
        found = order[np.searchsorted(keys[order], self._key(np.arange(m), ended))]
        return outputs[found].reshape(-1, n, *outputs.shape[1:]), times.reshape(-1, n)

    def _key(self, slots, when):
        return slots * self.n_steps + when

    def _look_back(self, past: _Past, n, rng, kept) -> _Past:
        """Twice as far as before, or less where many draws wait."""
        a, t = past.values.shape
        if t >= self.n_steps:
            raise SamplingError(
                f"Coupling from the past: in row {self.rows[past.slots[0] // n]} no proposal of "
                f"the last {t:,} steps was accepted from everywhere; the law is too far from "
                "uniform. Give more max_doublings, or use space.law(scores).sample where the law "
                "is known, Metropolis or ParallelTempering."
            )
        length = max(1, min(max(t, 1), AT_ONCE // a, self.n_steps - t))
        row = np.repeat(past.slots // n, length)
        proposed = self._proposals(row, rng)
        values = values_of(self.space, proposed, self.scores, row).reshape(a, length)
        reach = values + rng.standard_exponential((a, length))
        # A proposal that a later one is accepted from is not where the chain is now.
        latest = past.reach.max(axis=1, initial=-np.inf)
        later = np.maximum.accumulate(np.column_stack([latest, reach[:, :-1]]), axis=1)
        possible = values >= later
        slot, step = np.nonzero(possible)
        kept.append((self._key(past.slots[slot], t + step), proposed[possible.ravel()]))
        return past.extended(values, reach)

    def _proposals(self, row, rng) -> np.ndarray:
        """Outputs drawn uniformly, one for each entry of ``row``, which is sorted."""
        if not self.differ:
            return np.asarray(self.space.sample(len(row), rng))
        found, count = np.unique(row, return_counts=True)
        drawn = [self.space.rows([i]).sample(int(k), rng) for i, k in zip(found, count)]
        return np.concatenate([np.asarray(part) for part in drawn])

    def _finish(self, past: _Past, first, ended, times):
        from skstruct.walking._compiled_coupling import replayed

        times[past.slots] = first + 1
        for a, slot in enumerate(past.slots):
            ended[slot] = replayed(past.values[a], past.reach[a], first[a])
