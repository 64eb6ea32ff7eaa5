# SPDX-License-Identifier: BSD-3-Clause
"""Strings, embedded by how often each n-gram occurs."""

from collections.abc import Iterable
from itertools import pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct._arrays.stopping import Limit
from skstruct.saving import savable
from skstruct.spaces.base import decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.inference import Inference, OwnDistribution, listed_distribution
from skstruct.spaces.sequence_sets.base import SequenceSet
from skstruct.spaces.sequence_sets.chains.viterbi import best_chains
from skstruct.spaces.sequence_sets.constraints import SequenceConstraints
from skstruct.spaces.sequence_sets.distribution import distribution_of_grams
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.strings.decoding import (
    MAX_NODES,
    NODES_PER_SECOND,
    GramConstraints,
    min_cost_strings,
    nearest_strings,
)
from skstruct.spaces.uniform import Uniform

MOST_GRAMS = 2**24  # coordinates of the embedding: 128 MiB for a row of costs


@savable
class Strings(SequenceSet):
    r"""Strings over an alphabet with :math:`\psi(z)` = how often each n-gram occurs in z.

    The same sets as :class:`~skstruct.spaces.Sequences`, under the spectrum kernel
    :math:`k(z, y) = \langle \psi(z), \psi(y) \rangle`. Linear costs are minimized exactly, by
    minimum-cost walks in the graph of n-grams. The nearest string to any g, the kernel's
    pre-image, is found by branch and bound, with a bound where that was cut short.

    Parameters
    ----------
    alphabet : sequence of hashables, default=None
        The symbols; a string is a list of characters. The sorted distinct symbols of ``Y``
        when None.
    length : int or pair (shortest, longest), default=None
        How long predicted strings are. A bound of None is what is seen in ``fit``.
    n : int, default=2
        Number of symbols in an n-gram. The embedding has q**n numbers for q symbols, that of
        an n-gram in the place of its symbol numbers read in base q. Strings of fewer than n
        symbols have no n-gram.
    max_nodes : int, default=150_000
        Work that ``nearest`` may spend on a row: about a tenth of a second.
    constraints : SequenceConstraints, default=None
        What ``restrict`` sets.

    Examples
    --------
    >>> space = Strings(n=2).fit(["abab", "abba", "baab"])
    >>> psi = space.embed(space.validate(["abab"])).toarray()  # aa, ab, ba, bb
    >>> psi
    array([[0., 2., 1., 0.]])
    >>> best = space.nearest(0.9 * psi)
    >>> space.restore(best.outputs), (best.values - best.bounds).tolist()
    (array(['abab'], dtype=object), [0.0])
    >>> ends_in_b = space.restrict(known={3: "b"}, forbidden=[("b", "a")])
    >>> ends_in_b.restore(ends_in_b.argmin(np.array([[-1.0, 0.0, 0.0, 0.5]])).outputs)
    array(['aaab'], dtype=object)
    """

    embedding = "ngrams"

    def __init__(
        self,
        alphabet: Iterable[Any] | None = None,
        length: int | tuple[int | None, int | None] | None = None,
        n: int = 2,
        *,
        max_nodes: int = MAX_NODES,
        constraints: SequenceConstraints | None = None,
    ) -> None:
        self.alphabet = alphabet
        self.length = length
        self.n = n
        self.max_nodes = max_nodes
        self.constraints = constraints

    # ------------------------------------------------------------- embedding
    def fit(self, Y: Any) -> Self:
        super().fit(Y)
        self._width()
        return self

    def _width(self) -> int:
        """Number of coordinates, q**n, where that is possible."""
        if not isinstance(self.n, (int, np.integer)) or isinstance(self.n, bool) or self.n < 1:
            raise ValueError(f"Strings: n is a whole number of at least 1; got {self.n!r}.")
        q = len(self.symbols_)
        width = q ** int(self.n)
        if width > MOST_GRAMS:
            raise ValueError(
                f"Strings: {q} symbols make {width:,} different {self.n}-grams, more than "
                f"{MOST_GRAMS:,}. Take a smaller n or an alphabet of fewer symbols, or predict "
                "one of the training outputs with Candidates."
            )
        return int(width)

    def embed(self, Z: np.ndarray) -> Any:
        """Number of occurrences of each n-gram; CSR of shape (n_samples, q**n)."""
        Z, q, width = np.asarray(Z), len(self.symbols_), self._width()
        n_positions = max(Z.shape[1] - self.n + 1, 0)
        code = np.zeros((len(Z), n_positions), np.int64)
        for k in range(self.n):
            code = code * q + Z[:, k : k + n_positions]
        row, t = np.nonzero(Z[:, self.n - 1 : self.n - 1 + n_positions] >= 0)
        psi = sparse.coo_array((np.ones(len(row)), (row, code[row, t])), shape=(len(Z), width))
        return psi.tocsr()

    # ------------------------------------------------------------- decoding
    def restrict(
        self, *, length: ArrayLike | None = None, known: Any = None, forbidden: Any = None
    ) -> Self:
        if forbidden is not None and self.n == 1:
            raise ValueError("Strings: forbidden transitions need n of at least 2; n is 1.")
        return super().restrict(length=length, known=known, forbidden=forbidden)

    restrict.__doc__ = SequenceSet.restrict.__doc__

    def _checked(self, costs: Any) -> tuple[np.ndarray, GramConstraints]:
        """Costs of n-grams as an array, and the constraints as the decoders take them."""
        costs = self._checked_costs(costs, self._width())
        constraints, q = self.constraints_, len(self.symbols_)
        shortest = constraints.least_lengths()
        parts = {} if not constraints.forbidden.any() else self._barred(constraints, shortest)
        return costs, GramConstraints(
            q, self.n, shortest, constraints.longest, constraints.known, **parts
        )

    def _barred(self, constraints: Any, shortest: np.ndarray) -> dict[str, np.ndarray]:
        """Forbidden transitions as n-grams and as states to begin and to end with."""
        q, barred = constraints.n_symbols, constraints.forbidden
        grams, states = _digits(q, self.n), _digits(q, self.n - 1)
        inside = _has_pair(barred, states)
        return {
            "forbidden": _has_pair(barred, grams),
            "begins": ~inside & ~barred[:, q, states[0]],
            "ends": ~barred[:, states[-1], q],
            "short": _short_strings(constraints, shortest, self.n - 1),
        }

    def _decoded(self, symbols: np.ndarray, values: np.ndarray, bounds: np.ndarray) -> Decoded:
        outputs = np.full((len(symbols), self.length_), -1, np.int64)
        outputs[:, : symbols.shape[1]] = symbols
        return decoded_or_infeasible(outputs, values, bounds, self)

    def argmin(self, costs: Any) -> Decoded:
        """For every row the string of least <costs, psi>; of equal ones the shortest."""
        symbols, values = min_cost_strings(*self._checked(costs))
        return self._decoded(symbols, values, values)

    def nearest(self, g: Any) -> Decoded:
        r"""For every row a string of least :math:`|\psi(z)|^2 - 2 \langle \psi(z), g \rangle`.

        Where a row's value and bound are equal, no string is nearer; else none is nearer by
        more than their difference. ``max_nodes`` is the work allowed, or less by the settings.
        """
        costs, constraints = self._checked(g)
        if not isinstance(self.max_nodes, Integral) or self.max_nodes < 0:
            raise ValueError(
                f"Strings: max_nodes is a whole number of at least 0; got {self.max_nodes!r}."
            )
        nodes = Limit().nodes(int(self.max_nodes), NODES_PER_SECOND)
        return self._decoded(*nearest_strings(costs, constraints, max_nodes=nodes))

    # ------------------------------------------------------------- distributions
    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of n-grams for n = 1 and n = 2; for longer ones where strings are few."""
        scores, constraints = self._checked_scores(scores, self._width()), self.constraints_
        if self.n > 2:
            return listed_distribution(self, scores)
        distribution = distribution_of_grams(scores, int(self.n), constraints, self.length_)
        check_feasible(distribution.log_partition > -np.inf, self)
        return distribution


def _digits(q: int, n: int) -> np.ndarray:
    """Symbols of all q**n n-grams; shape (n, q**n)."""
    return np.arange(q**n) // q ** np.arange(n - 1, -1, -1)[:, None] % q


def _has_pair(barred: np.ndarray, digits: np.ndarray) -> np.ndarray:
    """Which n-grams hold a forbidden transition; shape (1 or n, number of n-grams)."""
    found = np.zeros((len(barred), digits.shape[1]), bool)
    for a, b in pairwise(digits):
        found |= barred[:, a, b]
    return found


def _short_strings(constraints: Any, shortest: np.ndarray, size: int) -> np.ndarray:
    """For each row a string of up to ``size`` symbols within constraints, -2 where there is
    none.
    """
    n = constraints.n_rows or 1
    starts = size * np.arange(n + 1)
    unary = constraints.fix_known(
        np.zeros((n * size, constraints.n_symbols)), starts, np.full(n, size)
    )
    transitions, which = constraints.forbid_transitions(None, np.repeat(np.arange(n), size))
    symbols, values = best_chains(
        unary, starts, transitions, which=which, shortest=np.minimum(shortest, size),
        longest=np.minimum(constraints.longest, size), **constraints.ends(),
    )  # fmt: skip
    strings = symbols.reshape(n, size)
    strings[np.isinf(values) | (shortest > size), 0] = -2
    return strings


Uniform.at(Strings, "skstruct.spaces.strings.uniform:UniformOfStrings")


Embeddings.at(Strings, "skstruct.spaces.strings.coordinates:EmbeddingsOfStrings")
Inference.at(Strings, OwnDistribution)
