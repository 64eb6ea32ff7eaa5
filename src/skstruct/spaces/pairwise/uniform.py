# SPDX-License-Identifier: BSD-3-Clause
"""Labels, with pairs of labels or with states, uniformly: labels are independent."""

import math
from itertools import product

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.indicator_sets.counting import mean_of_products, second_moment_of_products
from skstruct.spaces.indicator_sets.uniform import UniformOfSets
from skstruct.spaces.label_sets.space import LabelSets
from skstruct.spaces.uniform import LIMIT, Seed, Uniform


class UniformOfLabelsAndEdges(UniformOfSets):
    """Labels and products of two labels, where every label that is open is a coin."""

    __slots__ = ()

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels that are in, and those that may be."""
        self.check_not_empty()
        constraints = self._one_row()
        return constraints.low[0], constraints.high[0]

    def mean_embedding(self) -> np.ndarray:
        return mean_of_products(self.space.edges_, *self._bounds())

    def second_moment(self) -> np.ndarray:
        return second_moment_of_products(self.space.edges_, *self._bounds())

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        return LabelSets(self.space.labels_, constraints=self.space.constraints).sample(n, rng)


class UniformOfStates(Uniform):
    """Every label has any of its allowed states."""

    __slots__ = ()

    def _allowed(self) -> np.ndarray:
        """Allowed states of all labels, bool (labels, states)."""
        return self._one_row().allowed[0]

    def _requirements(self) -> np.ndarray:
        """The state that each coordinate of psi asks of each label, -1 for any; (d, labels)."""
        edges, n, k = self.space._used_edges(), len(self.space.labels_), len(self.space.states_)
        n_edges = len(edges)
        asked = np.full((n * k + n_edges * k * k, n), -1)
        asked[np.arange(n * k), np.repeat(np.arange(n), k)] = np.tile(np.arange(k), n)
        for end, state in enumerate(np.divmod(np.arange(k * k), k)):
            rows = np.arange(n * k, len(asked))
            asked[rows, np.repeat(edges[:, end], k * k)] = np.tile(state, n_edges)
        return asked

    def size(self) -> int:
        return math.prod(self._allowed().sum(axis=1).tolist())

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, number of labels)."""
        check_few(self.size(), limit, self.space)
        allowed = self._allowed()
        listed = list(product(*(np.flatnonzero(states).tolist() for states in allowed)))
        return np.array(listed, dtype=np.int64).reshape(-1, len(allowed))

    def _counts(self) -> np.ndarray:
        """Number of states of each label, none of them zero."""
        counts = self._allowed().sum(axis=1)
        if not counts.all():
            raise InfeasibleError(f"{type(self.space).__name__}: no output meets the constraints.")
        return counts

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        counts = self._counts()
        rank = np.random.default_rng(rng).integers(counts, size=(n, len(counts)))
        first = np.argsort(~self._allowed(), axis=1, kind="stable")  # allowed states come first
        return first[np.arange(len(counts)), rank]

    def mean_embedding(self) -> np.ndarray:
        asked, probability = self._requirements(), self._probabilities()
        return np.prod(probability[np.arange(asked.shape[1]), asked], axis=1)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d).

        Two coordinates hold together with the product, over labels, of the probability that one
        state is what both ask for.
        """
        asked, probability, mean = (
            self._requirements(),
            self._probabilities(),
            self.mean_embedding(),
        )
        check_square_fits(len(mean), "The second moment", "Fewer labels or pairs take less.")
        moment = np.outer(mean, mean)  # right where no label is asked by both
        for wanted, p in zip(asked.T, probability):
            asking = np.flatnonzero(wanted >= 0)
            p, wanted = p[wanted[asking]], wanted[asking]
            p[p == 0] = 1.0  # a barred state: the moment is zero already
            both = (wanted[:, None] == wanted) / p  # instead of p p' the probability of one state
            moment[np.ix_(asking, asking)] *= both
        return moment

    def _probabilities(self) -> np.ndarray:
        """Probability of each state of each label, and one for any, last: (labels, states + 1)."""
        probability = self._allowed() / self._counts()[:, None]
        return np.hstack([probability, np.ones((len(probability), 1))])
