# SPDX-License-Identifier: BSD-3-Clause
"""Moves among labels or states with scores of pairs: another value at one node."""

from typing import Any

import numpy as np

from skstruct.spaces.solvers.pairwise.forests import neighbors
from skstruct.spaces.solvers.proposals import Proposals, n_columns_changed


class LabelProposals(Proposals):
    """Pick a label that is not known and a value, in or out, on any graph.

    The cost of a change is that of the pairs of the label alone.

    Parameters
    ----------
    n : int
        Number of labels.
    edges : int array of shape (E, 2)
    free : int array
        The labels that are not known.
    """

    def __init__(self, n: int, edges: np.ndarray, free: np.ndarray) -> None:
        self.neighbors, self.free = neighbors(n, edges), np.asarray(free, dtype=np.int64)
        self.sweep = max(2 * len(self.free), 1)

    def start(self, outputs: Any) -> np.ndarray:
        return np.array(outputs, dtype=np.int8, order="C")

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return states.copy()

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.solvers.pairwise._numba_inference import walk_labels

        near = self.neighbors
        return walk_labels(
            states,
            scores,
            row,
            beta,
            n_steps,
            streams,
            self.free,
            near.start,
            near.other,
            near.edge,
        )

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray:
        each = 1.0 / max(2 * len(self.free), 1)
        return np.where(n_columns_changed(outputs) == 1, each, 0.0)


class StateProposals(Proposals):
    """Pick a node that has a choice, and one of the states that it may have.

    Parameters
    ----------
    allowed : bool array of shape (n, k)
        States that nodes may have.
    edges : int array of shape (E, 2)
    """

    def __init__(self, allowed: np.ndarray, edges: np.ndarray) -> None:
        allowed = np.asarray(allowed, dtype=bool)
        self.neighbors, self.edges = neighbors(len(allowed), edges), edges
        self.n_states, self.counts = allowed.shape[1], allowed.sum(axis=1)
        self.free = np.flatnonzero(self.counts > 1)
        # The allowed states of a node come first in its row.
        self.choices = np.argsort(~allowed, axis=1, kind="stable")
        self.sweep = max(int(self.counts[self.free].max(initial=1)) * len(self.free), 1)

    def start(self, outputs: Any) -> np.ndarray:
        return np.array(outputs, dtype=np.int64, order="C")

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return states.copy()

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.solvers.pairwise._numba_inference import walk_states

        near = self.neighbors
        return walk_states(
            states, scores, row, beta, n_steps, streams, self.free, self.counts, self.choices,
            near.start, near.other, near.edge,
        )  # fmt: skip

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray:
        outputs = np.asarray(outputs)
        found = np.zeros((len(outputs), len(outputs)))
        alone = n_columns_changed(outputs) == 1
        for node in self.free:
            changed = outputs[:, node, None] != outputs[:, node]
            found[alone & changed] = 1.0 / (len(self.free) * self.counts[node])
        return found
