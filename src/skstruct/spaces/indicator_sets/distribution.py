# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over label sets: independent labels, forests, sizes, scores by size."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.indicator_sets.counting import path_steps, sibling_groups, sized_graph
from skstruct.spaces.inference import MOST_LISTED, listed_distribution
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.distributions import (
    ChoiceDistribution,
    Distribution,
    ListedDistribution,
)
from skstruct.spaces.solvers.state_graphs import PathDistribution
from skstruct.spaces.uniform import Uniform

MANY = 1000  # numbers up to 2 whose product is a number


class SubsetsDistribution(Distribution):
    r"""All subsets of d labels: each is in with probability :math:`1 / (1 + e^{-u_j})`.

    :math:`\ln Z = \sum_j \ln(1 + e^{u_j})`; labels that must be in add :math:`u_j` instead,
    those that may not be in add nothing.

    Parameters
    ----------
    scores : array u of shape (n, d)
    low, high : bool arrays of shape (1 or n, d)
        Labels that must be in and that may be in. A row in which a label must and may not be
        in has ln Z = -inf.

    Examples
    --------
    >>> distribution = SubsetsDistribution(np.log([[3.0, 1.0]]), np.zeros((1, 2), bool),
    ...     np.ones((1, 2), bool))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals()
    (array([8.]), array([[0.75, 0.5 ]]))
    """

    def __init__(self, scores: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        self.scores, self.low, self.high = scores, low, high
        if low.any() or not high.all():
            without, having = np.where(low, -np.inf, 0.0), np.where(high, scores, -np.inf)
            self.log_partition = np.logaddexp(without, having).sum(axis=1)
        else:
            self.log_partition = np.maximum(scores, 0.0).sum(axis=1) + self._log_both()

    @cached_property
    def _small(self) -> Any:
        """exp(-|u|), which both sums and probabilities are made of; shape (n, d)."""
        return np.exp(-np.abs(self.scores))

    def _log_both(self) -> np.ndarray:
        """Sums of ln(1 + exp(-|u|)): one logarithm for up to a thousand labels."""
        both = self._small + 1.0
        parts = [both[:, start : start + MANY] for start in range(0, both.shape[1], MANY)]
        return sum((np.log(part.prod(axis=1)) for part in parts), np.zeros(len(both)))

    def marginals(self) -> np.ndarray:
        if not self.low.any() and self.high.all():
            return np.where(self.scores > 0.0, 1.0, self._small) / (1.0 + self._small)
        return np.where(self.low, 1.0, np.where(self.high, expit(self.scores), 0.0))

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        probabilities = self.marginals()[:, None, :]
        outputs = np.empty((len(probabilities), n, probabilities.shape[2]), np.int8)
        for row, probability in enumerate(probabilities):  # one row of coins at a time in memory
            outputs[row] = rng.random(outputs.shape[1:]) < probability
        return outputs

    def covariance_product(self, directions: np.ndarray) -> np.ndarray:
        marginals = self.marginals()
        return marginals * (1.0 - marginals) * directions


class ForestDistribution(Distribution):
    r"""Sets that hold the parents of their members, in a forest: exact in O(d) for every row.

    With :math:`Z(v) = 1 + e^{u_v} \prod_c Z(c)` over the children c of v, the sum is the
    product of :math:`Z` over the roots, and a label whose parent is in is a coin by itself:
    :math:`q_v = q_{\mathrm{parent}} (Z(v) - 1) / Z(v)`. Exclusive siblings share one factor,
    :math:`1 + \sum_v e^{u_v} \prod_c Z(c)`. All in logarithms.

    Parameters
    ----------
    scores : C-contiguous array u of shape (n, d)
    dag : Dag
        A forest.
    low, high : bool arrays of shape (1 or n, d)
        Labels that must and that may be in, closed: ancestors of the former are in it,
        descendants and exclusive labels of what is barred are barred.
    groups : sequence of index arrays
        Disjoint sets of siblings of which at most one is in.

    Examples
    --------
    >>> path = Dag(2, [0], [1])  # sets: {}, {0}, {0, 1}
    >>> distribution = ForestDistribution(np.zeros((1, 2)), path, np.zeros((1, 2), bool),
    ...     np.ones((1, 2), bool))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals().round(6)
    (array([3.]), array([[0.666667, 0.333333]]))

    References
    ----------
    S. Vembu, "Learning to predict combinatorial structures" (2010), section 4.3, with the coin
    (Z - 1) / Z, under which the uniform sampler is exact.
    """

    def __init__(
        self, scores: np.ndarray, dag: Dag, low: np.ndarray, high: np.ndarray, groups: Any = ()
    ) -> None:
        from skstruct.spaces.indicator_sets._numba import coin_shares, shares_of

        self.tree = _positions(dag, groups)
        if self.tree[3].all() and not low.any() and high.all():
            self.shares, self.log_partition = coin_shares(scores, *self.tree[:2])
            return
        masks = np.ascontiguousarray(low), np.ascontiguousarray(high)
        self.shares, self.log_partition = shares_of(scores, *masks, *self.tree)

    def marginals(self) -> np.ndarray:
        from skstruct.spaces.indicator_sets._numba import multiplied_down

        return multiplied_down(self.shares, *self.tree[:2])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.spaces.indicator_sets._numba import drawn_sets

        return drawn_sets(self.shares, *self.tree, n, rng)


def _positions(dag: Dag, groups: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nodes in preorder; positions of their parents and of the first of their group; loners."""
    d, order = dag.n_nodes, dag.preorder[0]
    position = np.empty(d + 1, np.int64)
    position[order], position[-1] = np.arange(d), d
    first, alone = np.arange(d), np.ones(d, bool)
    for members in groups:
        at = position[members]
        first[at], alone[at] = at.min(), len(at) == 1
    return order, position[dag.parent_of[order]], first, alone


class SizedDistribution(PathDistribution):
    r"""Sets of smallest..largest labels, as paths: O(d largest) for every row.

    A path takes a label and goes on at its first child, or skips it and goes on at its next
    sibling; its state is how many labels it took. With :math:`Z_t(s)` the sum over all that may
    follow position t,

    .. math:: Z_t(s) = Z_{\mathrm{skip}(t)}(s) + e^{u_t} Z_{\mathrm{take}(t)}(s + 1),

    in logarithms. Without a hierarchy these are the elementary symmetric polynomials of
    :math:`e^{u}`. The distribution is that of a Markov chain, whose probabilities are quotients of
    these sums.

    Parameters
    ----------
    scores : C-contiguous array u of shape (n, d)
    low, high : bool arrays of shape (1 or n, d)
        Labels that must and that may be in, closed as for :class:`.forests.ForestDistribution`.
    steps : tuple of int64 arrays (order, take, skip)
        The label at each position, and the positions where a path goes on.
    smallest, largest : int

    Examples
    --------
    >>> steps = np.arange(3), np.arange(1, 4), np.arange(1, 4)
    >>> masks = np.zeros((1, 3), bool), np.ones((1, 3), bool)
    >>> distribution = SizedDistribution(np.log([[1.0, 2.0, 3.0]]), *masks, steps, 2, 2)
    >>> np.exp(distribution.log_partition).round(12), (11 * distribution.marginals()).round(12)
    (array([11.]), array([[5., 8., 9.]]))
    """

    def __init__(
        self, scores: np.ndarray, low: np.ndarray, high: np.ndarray, steps: Any, smallest: int,
        largest: int,
    ) -> None:  # fmt: skip
        super().__init__(sized_graph(steps, smallest, largest), scores, low, high)


class SizesDistribution(Distribution):
    r"""A size is drawn, then a set of that size: :math:`\psi(z) = (z_j 1[|z| = s])_{j, s}`.

    One :class:`.sized.SizedDistribution` for every size, mixed by their sums :math:`Z_s`: O(d^3)
    for every row. Entry ``j * d + s - 1`` stands for label j in a set of s labels, the last one for
    the empty set.

    Parameters
    ----------
    scores : array of shape (n, d * d + 1)
    low, high, steps, smallest, largest
        As for :class:`.sized.SizedDistribution`.

    Examples
    --------
    >>> steps = np.arange(2), np.arange(1, 3), np.arange(1, 3)
    >>> scores = np.log([[1.0, 2.0, 1.0, 2.0, 3.0]])  # of two labels: 1 alone, 2 together
    >>> distribution = SizesDistribution(scores, np.zeros((1, 2), bool), np.ones((1, 2), bool),
    ...     steps, 0, 2)
    >>> np.exp(distribution.log_partition).round(12)  # 3 + 1 + 1 + 2 * 2
    array([9.])
    >>> (9 * distribution.marginals()).round(12)
    array([[1., 4., 1., 4., 3.]])
    """

    def __init__(
        self,
        scores: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        steps: tuple[np.ndarray, np.ndarray, np.ndarray],
        smallest: int,
        largest: int,
    ) -> None:
        n, self.d = len(scores), low.shape[1]
        d = self.d
        cube = scores[:, :-1].reshape(n, d, d)
        self.sizes = range(max(smallest, 1), min(largest, d) + 1)
        self.distributions = [
            SizedDistribution(np.ascontiguousarray(cube[:, :, s - 1]), low, high, steps, s, s)
            for s in self.sizes
        ]
        empty = np.where(low.any(axis=1) | (smallest > 0) | (largest < 0), -np.inf, scores[:, -1])
        sums = np.column_stack(
            [*(distribution.log_partition for distribution in self.distributions), empty]
        )
        self.size_distribution = ChoiceDistribution(sums)  # the last choice is the empty set
        self.log_partition = self.size_distribution.log_partition

    def marginals(self) -> np.ndarray:
        probabilities, d = self.size_distribution.probabilities, self.d
        marginals = np.zeros((len(probabilities), d, d))
        for at, (s, distribution) in enumerate(zip(self.sizes, self.distributions)):
            marginals[:, :, s - 1] = probabilities[:, at, None] * distribution.marginals()
        return np.hstack([marginals.reshape(len(probabilities), d * d), probabilities[:, -1:]])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        drawn = self.size_distribution.sample(n, rng)
        outputs = np.zeros((*drawn.shape, self.d), np.int8)
        for at, distribution in enumerate(self.distributions):
            wanted = drawn == at
            sets = distribution.sample(int(wanted.sum(axis=1).max(initial=0)), rng)
            row, draw = np.nonzero(wanted)
            outputs[row, draw] = sets[row, wanted.cumsum(axis=1)[row, draw] - 1]
        return outputs


def set_distribution(space: Any, scores: np.ndarray) -> Distribution | None:
    """The distribution over an indicator space: exact on forests with sibling groups, and for
    paths.

    Other acyclic graphs and other exclusive groups are listed where there are few sets; else
    None.
    """
    constraints, dag = space.constraints_, space.dag_
    distribution: Distribution
    if constraints.one_path:
        distribution = _path_distribution(space, scores)
    elif not dag.is_forest or not sibling_groups(space.dag_, constraints):
        return _listed_distribution(space, scores, space)
    else:
        low, high = constraints.closed(space.dag_)
        if constraints.is_sized:
            steps = path_steps(dag, constraints.groups)
            distribution = SizedDistribution(
                scores, low, high, steps, constraints.smallest, constraints.largest
            )
        elif constraints.groups or len(dag.parents):
            distribution = ForestDistribution(scores, dag, low, high, constraints.groups)
        else:
            distribution = SubsetsDistribution(scores, low, high)
    check_feasible(np.isfinite(distribution.log_partition), space)
    return distribution


def view_distribution(view: Any, scores: np.ndarray) -> Distribution | None:
    """The same under another embedding: one of sets with sizes, or from a list."""
    space, constraints = view.space, view.constraints_
    distribution: Distribution
    if constraints.one_path:
        distribution = _path_distribution(space, scores, view.embed)
    elif view.embedding != "sized indicators" or not (
        space.dag_.is_forest and sibling_groups(space.dag_, constraints)
    ):
        return _listed_distribution(space, scores, view)
    else:
        low, high = constraints.closed(space.dag_)
        steps = path_steps(space.dag_, constraints.groups)
        distribution = SizesDistribution(
            scores, low, high, steps, constraints.smallest, constraints.largest
        )
    check_feasible(np.isfinite(distribution.log_partition), space)
    return distribution


def _listed_distribution(space: Any, scores: np.ndarray, view: Any) -> Distribution | None:
    """As for other spaces, but sets are not counted before they are listed, which may take long."""
    if space.constraints_.n_rows is not None:
        return listed_distribution(view, scores)
    try:
        outputs = Uniform.of(space).enumerate(MOST_LISTED)
    except UndecidableError:
        return None
    if not len(outputs):
        raise InfeasibleError(f"{type(space).__name__}: no output meets the constraints.")
    return ListedDistribution(outputs, view.embed(outputs), scores)


def _path_distribution(space: Any, scores: np.ndarray, embed: Any = None) -> ChoiceDistribution:
    """One leaf with all above it: a softmax over the leaves, whatever they are embedded by."""
    paths, allowed = space._allowed_paths(space.constraints_)
    psi = paths if embed is None else embed(paths.toarray().astype(np.int8))
    values = np.where(allowed, (psi @ scores.T).T, -np.inf)
    return ChoiceDistribution(values, lambda probabilities: probabilities @ psi, paths_of(paths))


def paths_of(paths: Any) -> Callable[..., Any]:
    """The function from numbers of leaves to rows of 0 and 1."""

    def outputs(numbers: np.ndarray) -> Any:
        rows = paths[np.ravel(numbers)].toarray().astype(np.int8)
        return rows.reshape(*np.shape(numbers), paths.shape[1])

    return outputs
