# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets of a forest as paths: counts, moments and samples with sizes and exclusive groups."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.dag import Dag

BLOCK = 2**21  # numbers held for one step of all paths


class ForestPaths:
    """Every closed set is one path along the labels, each before all that is below it.

    At a label the path takes it and goes on to its first child, or skips it and goes on to its
    next sibling, past all that is below. Members of an exclusive group stand side by side, and
    whoever takes one continues behind the group. The uniform distribution over closed sets is
    then a Markov chain whose state is the label and, where sizes are limited, how many labels
    were taken; its chances are quotients of counts.

    Parameters
    ----------
    dag : Dag
        A forest.
    low, high : bool arrays of shape (d,)
        Labels that must and that may be taken, closed: ancestors of the former are in it,
        descendants and rivals of what is barred are barred.
    groups : sequence of index arrays
        Disjoint sets of siblings of which at most one is taken.
    smallest, largest : int
        Limits on the number of labels.
    """

    def __init__(self, dag: Dag, low, high, groups, smallest: int, largest: int):
        self.d = dag.n_nodes
        self.order, self.take, self.skip = path_steps(dag, groups)
        self.low, self.high = low[self.order], high[self.order]
        self.counted = smallest > 0 or largest < self.d  # whether states tell sizes apart
        self.sizes = smallest, min(largest, self.d)
        # Once there are enough, and none can be too many, more need not be told apart.
        self.saturated = smallest <= self.d <= largest
        self.ways = self._count()

    def _count(self) -> np.ndarray:
        """Ways to go on from each label, by the number taken so far; objects (d + 1, states)."""
        smallest, largest = self.sizes
        most = smallest if self.saturated else largest
        n_states = most + 1 if self.counted else 1
        ways = np.zeros((self.d + 1, max(n_states, 1)), dtype=object)
        ways[-1, smallest if self.counted else 0 :] = 1
        for t in range(self.d - 1, -1, -1):
            if not self.low[t]:
                ways[t] += ways[self.skip[t]]
            if self.high[t]:
                ways[t] += self._before_taking(ways[self.take[t]])
        return ways

    def _before_taking(self, after):
        """By the number taken before one more is: the next higher entry."""
        if not self.counted:
            return after
        return np.append(after[1:], after[-1] if self.saturated else 0)

    def _after_taking(self, before):
        """The same the other way, for rows of states."""
        if not self.counted:
            return before
        after = np.zeros_like(before)
        after[:, 1:] = before[:, :-1]
        if self.saturated:
            after[:, -1] += before[:, -1]
        return after

    @property
    def total(self) -> int:
        """Number of closed sets."""
        return int(self.ways[0, 0])

    def _chances(self) -> tuple[np.ndarray, np.ndarray]:
        """Chances of taking and of skipping each label in each state; (d, states) each."""
        taken = np.zeros((self.d, self.ways.shape[1]))
        skipped = np.zeros_like(taken)
        for t in range(self.d):
            here = np.flatnonzero(self.ways[t].astype(bool))
            ways = self.ways[t, here]
            if self.high[t]:
                after = self._before_taking(self.ways[self.take[t]])
                taken[t, here] = (after[here] / ways).astype(np.float64)
            if not self.low[t]:
                skipped[t, here] = (self.ways[self.skip[t], here] / ways).astype(np.float64)
        return taken, skipped

    def _reached(self, taken, skipped) -> np.ndarray:
        """Chance of coming to each label in each state; (d, states)."""
        reached = np.zeros((self.d + 1, taken.shape[1]))
        reached[0, 0] = 1.0
        for t in range(self.d):
            reached[self.take[t]] += self._after_taking((reached[t] * taken[t])[None])[0]
            reached[self.skip[t]] += reached[t] * skipped[t]
        return reached[:-1]

    def mean(self) -> np.ndarray:
        """Chance of each label; shape (d,)."""
        taken, skipped = self._chances()
        mean = np.empty(self.d)
        mean[self.order] = (self._reached(taken, skipped) * taken).sum(axis=1)
        return mean

    def second_moment(self) -> np.ndarray:
        """Chance of each two labels together; shape (d, d).

        For every first label u the chain is followed from where u was taken, all u at once.
        """
        taken, skipped = self._chances()
        first = self._reached(taken, skipped) * taken  # coming to u and taking it, by state
        joint = np.zeros((self.d, self.d))
        step = max(1, BLOCK // taken.shape[1])
        for start in range(0, self.d, step):
            stop = min(start + step, self.d)
            pending: dict[int, np.ndarray] = {}
            for t in range(start, self.d):
                here = pending.pop(t, None)
                here = np.zeros((stop - start, taken.shape[1])) if here is None else here
                both = here * taken[t]
                if t < stop:
                    both[t - start] = first[t]
                joint[start:stop, t] = both.sum(axis=1)
                for target, part in (
                    (int(self.take[t]), self._after_taking(both)),
                    (int(self.skip[t]), here * skipped[t]),
                ):
                    pending[target] = pending[target] + part if target in pending else part
        moment = np.empty_like(joint)
        moment[np.ix_(self.order, self.order)] = joint + np.triu(joint, 1).T
        return moment

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` closed sets drawn uniformly and independently; int8 of shape (n, d)."""
        taken, _ = self._chances()
        outputs = np.zeros((n, self.d), np.int8)
        place, state = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for t in range(self.d):
            rows = np.flatnonzero(place == t)
            coin = rng.random(len(rows)) < taken[t, state[rows]]
            outputs[rows, self.order[t]] = coin
            place[rows] = np.where(coin, self.take[t], self.skip[t])
            state[rows] = np.minimum(state[rows] + (coin & self.counted), taken.shape[1] - 1)
        return outputs


def path_steps(dag: Dag, groups) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels in the order of paths, and the places where each goes on: taken, or skipped."""
    d, group = dag.n_nodes, np.arange(dag.n_nodes)
    for members in groups:
        group[members] = np.min(members)
    below: list[list[int]] = [[] for _ in range(d + 1)]  # the last one: above all roots
    for v in np.lexsort((np.arange(d), group)).tolist():
        below[int(dag.parent_of[v])].append(v)
    order, stack = [], below[-1][::-1]
    while stack:
        order.append(stack.pop())
        stack.extend(below[order[-1]][::-1])
    place = np.empty(d + 1, np.int64)
    place[order] = np.arange(d)
    place[-1] = d
    behind = np.full(d + 1, d)  # where a path goes on once all below a taken label is settled
    skip, take = np.empty(d, np.int64), np.empty(d, np.int64)
    for parent in [-1, *order]:
        onward = passed = behind[parent]
        for v, after in zip(below[parent][::-1], [None, *below[parent][:0:-1]]):
            if after is not None and group[v] != group[after]:
                passed = place[after]
            skip[place[v]] = onward if after is None else place[after]
            behind[v] = passed
    for v in order:
        take[place[v]] = place[below[v][0]] if below[v] else behind[v]
    return np.array(order, dtype=np.int64), take, skip
