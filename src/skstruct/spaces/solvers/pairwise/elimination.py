# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of 0/1 labels with scores of pairs, by eliminating one label after the other."""

from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.pairwise.forests import per_graph

MOST = 2**21  # entries of all tables of a row: those of 20 labels that are all joined
LARGEST_WORK = 2**27  # entries for all rows, some 16 operations each: some seconds
SMALL = 16  # entries for every score that are no work to speak of
TOGETHER = 2**22  # entries of tables that are held in memory at once


class Bucket(NamedTuple):
    """A label and what is summed when it is eliminated."""

    label: int
    later: tuple[int, ...]  # labels that the sum depends on, in the order of elimination
    edges: tuple[tuple[int, int], ...]  # (edge, position of its other label in `later`)


class LabelDistribution(Distribution):
    r"""Distributions of sets of labels on any graph of small width, forests among them.

    .. math:: p(y) \propto \exp\Bigl(\sum_i u_i y_i + \sum_{ij \in E} w_{ij} y_i y_j\Bigr)

    Labels are summed out one by one, those with the fewest neighbours first. Each leaves a
    table over its remaining neighbours: O(n) numbers on forests, 2^n where all are joined.

    Parameters
    ----------
    nodes : array of shape (rows, n)
    pairs : array of shape (rows, E)
    edges : int array of shape (E, 2)

    Examples
    --------
    >>> distribution = LabelDistribution(np.zeros((1, 2)), np.log([[3.0]]), np.array([[0, 1]]))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals().round(3)
    (array([6.]), array([[0.667, 0.667, 0.5  ]]))

    References
    ----------
    Dechter (1999). Bucket elimination: a unifying framework for reasoning. Artificial
    Intelligence 113.
    """

    def __init__(self, nodes: np.ndarray, pairs: np.ndarray, edges: np.ndarray) -> None:
        self.nodes, self.pairs = nodes, pairs
        buckets = elimination(nodes.shape[1], edges)
        if buckets is None:
            raise ValueError(f"The graph of {len(edges)} edges is too wide to sum labels out.")
        self.buckets = buckets
        size = max(n_entries(self.buckets), 1)
        step, rows = max(TOGETHER // size, 1), len(nodes)
        self.blocks = [slice(i, i + step) for i in range(0, rows, step)]
        self.log_partition = np.zeros(rows)
        if len(self.blocks) == 1:
            self.log_partition, _ = self._whole
        else:
            for block in self.blocks:
                self.log_partition[block] = self._sums(block)[0]

    @cached_property
    def _whole(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """The sums of all rows, where they fit into memory together."""
        return self._sums(slice(None))

    def _probabilities(self, block: slice) -> list[np.ndarray]:
        return (self._whole if len(self.blocks) == 1 else self._sums(block))[1]

    def _sums(self, block: slice) -> tuple[np.ndarray, list[np.ndarray]]:
        """Logarithms of the sums over all sets, and the probabilities of labels given later ones.

        A table has an axis of two for each label that it depends on, after that of rows.
        """
        nodes, pairs = self.nodes[block], self.pairs[block]
        waiting: dict[int, list[Any]] = {bucket.label: [] for bucket in self.buckets}
        log_partition, probabilities = np.zeros(len(nodes)), []
        for label, later, edges in self.buckets:
            shape = (len(nodes),) + (2,) * len(later)
            out, into = np.zeros(shape), np.zeros(shape)
            into += _along(nodes[:, label], len(later))
            for edge, at in edges:
                _where_in(into, at)[...] += _along(pairs[:, edge], len(later) - 1)
            for axes, table in waiting.pop(label):
                placed = _spread(table, axes, (label, *later))
                out += placed[:, 0]
                into += placed[:, 1]
            probability, total = _either(out, into)
            probabilities.append(probability)
            if later:
                waiting[later[0]].append((later, total))
            else:
                log_partition += total
        return log_partition, probabilities

    def marginals(self) -> np.ndarray:
        """Probabilities of labels (n) and of pairs of labels (E) in every row."""
        (rows, n), E = self.nodes.shape, self.pairs.shape[1]
        found = np.empty((rows, n + E))
        for block in self.blocks:
            self._spread_probabilities(self._probabilities(block), found[block])
        return found

    def _spread_probabilities(self, probabilities: list[np.ndarray], found: np.ndarray) -> None:
        """Joint probabilities of a label and the later ones, from those of the later ones."""
        n = self.nodes.shape[1]
        joints: dict[int, np.ndarray] = {}
        for (label, later, edges), probability in zip(
            reversed(self.buckets), reversed(probabilities)
        ):
            if later:
                base = later[0]
                names = (base, *self._later[base])
                away = tuple(1 + k for k, name in enumerate(names) if name not in later)
                above = joints[base].sum(axis=away)
            else:
                above = np.ones(len(found))
            into = above * probability
            joints[label] = np.stack([above - into, into], axis=1)
            inner = tuple(range(1, into.ndim))
            found[:, label] = into.sum(axis=inner)
            for edge, at in edges:
                found[:, n + edge] = _where_in(into, at).sum(axis=inner[:-1])

    @cached_property
    def _later(self) -> dict[Any, Any]:
        return {bucket.label: bucket.later for bucket in self.buckets}

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        rows, n_labels = self.nodes.shape
        drawn = np.empty((rows, n, n_labels), np.int8)
        for block in self.blocks:
            part = drawn[block]
            row = np.arange(len(part))[:, None]
            for (label, later, _), probability in zip(
                reversed(self.buckets), reversed(self._probabilities(block))
            ):
                given = probability[(row, *(part[:, :, other] for other in later))]
                part[:, :, label] = rng.random(part.shape[:2]) < given
        return drawn


def _either(out: np.ndarray, into: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The probability to be in, and ln(exp(out) + exp(into)), with one exponential for both."""
    apart = into - out
    total = np.maximum(out, into)
    rest = np.exp(-np.abs(apart))
    both = 1.0 + rest
    total += np.log(both)
    return np.where(apart > 0, 1.0, rest) / both, total


def _along(values: np.ndarray, n_axes: int) -> np.ndarray:
    """Values of rows, with so many axes to broadcast along."""
    return values.reshape(-1, *(1,) * n_axes)


def _where_in(table: np.ndarray, at: int) -> np.ndarray:
    """The part of a table where the label of one axis is in."""
    return table[(slice(None),) * (1 + at) + (1,)]


def _spread(table: np.ndarray, axes: tuple[Any, ...], names: tuple[Any, ...]) -> np.ndarray:
    """A table over some labels as one over more, in the same order."""
    return table.reshape(len(table), *(2 if name in axes else 1 for name in names))


def n_entries(buckets: list[Bucket]) -> int:
    """Entries of all tables of a row."""
    return sum(2 << len(bucket.later) for bucket in buckets)


def supports_inference(n_rows: int, n: int, edges: np.ndarray) -> bool:
    """Whether sums over all sets of n labels are taken for so many rows.

    Always on graphs as narrow as forests; up to 64 rows of 20 labels that are all joined, 256
    of 18, and 1,000 of 16.

    >>> full = np.array([(i, j) for i in range(18) for j in range(i)])
    >>> supports_inference(256, 18, full), supports_inference(257, 18, full)
    (True, False)
    """
    buckets = elimination(n, edges)
    if buckets is None:
        return False
    entries = n_entries(buckets)
    return entries <= SMALL * (n + len(edges)) or n_rows * entries <= LARGEST_WORK


@per_graph
def elimination(n: int, edges: np.ndarray) -> list[Bucket] | None:
    """Labels in an order of elimination, each time one with the fewest neighbours left.

    None where a table of more than ``MOST`` entries would be needed on the way.

    >>> [(bucket.label, bucket.later) for bucket in elimination(3, np.array([[0, 1], [0, 2]]))]
    [(1, (0,)), (0, (2,)), (2, ())]
    """
    near: list[set[Any]] = [set() for _ in range(n)]
    for i, j in edges.tolist():
        near[i].add(j)
        near[j].add(i)
    queue = [(len(others), label) for label, others in enumerate(near)]
    heapify(queue)
    position: dict[int, int] = {}
    while queue:
        count, label = heappop(queue)
        if label in position or count != len(near[label]):
            continue  # it stands elsewhere in the queue, or is done
        if 2 << min(count, 62) > MOST:
            return None
        position[label] = len(position)
        for other in near[label]:
            near[other] |= near[label]
            near[other] -= {other, label}
            heappush(queue, (len(near[other]), other))
    incident: list[dict[Any, Any]] = [{} for _ in range(n)]
    for e, (i, j) in enumerate(edges.tolist()):
        incident[i][j] = incident[j][i] = e
    buckets = []
    for label in position:
        later = tuple(sorted(near[label], key=position.__getitem__))
        own = tuple((incident[label][x], k) for k, x in enumerate(later) if x in incident[label])
        buckets.append(Bucket(label, later, own))
    return buckets if n_entries(buckets) <= MOST else None
