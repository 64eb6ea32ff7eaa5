# SPDX-License-Identifier: BSD-3-Clause
"""Mixing of small chains: transitions, congestion by its definition, bounds against powers."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from distribution_cases import listed
from skstruct.sampling import mixing_bounds
from skstruct.sampling.canonical_paths import (
    congestion,
    coupling_factor,
    moves_between,
    path_predecessors,
    spread_congestion,
)
from skstruct.sampling.small_chains import (
    SmallChain,
    cube_contraction,
    cube_matrix,
    lazy,
    second_eigenvalue,
)
from skstruct.spaces import (
    Classes,
    Cycles,
    Hierarchy,
    Inference,
    LabelSets,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    Rankings,
    Sequences,
    SpanningTrees,
    Tournaments,
)
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing.spaces import assert_drawn_from

MOVING = [
    LabelSets(range(3)),
    LabelSets(range(4), min_size=1, max_size=2),
    LabelSets(range(4), min_size=2, max_size=2),
    Classes(["x", "y", "z"]).fit(["x", "y", "z"]),
    Ordinal(["low", "mid", "high"]).fit(["low"]),
    Hierarchy([(0, 1), (0, 2), (2, 3)]),
    Hierarchy([(0, 2), (1, 2), (2, 3)]).restrict(max_size=3),
    Rankings(range(3), "pairs"),
    Rankings(range(4), "positions"),
    Rankings(range(4), "ranks").restrict(positions={0: 2}),
    Sequences("abc", 2, "bigrams"),
    PairwiseLabels([(0, 1), (1, 2)], range(3)),
    Tournaments(range(3)),
]
SMALL = [MOVING[0], MOVING[3], MOVING[5], MOVING[7], MOVING[11]]


def scores_of(space, seed, size=1.0):
    return size * np.random.default_rng(seed).normal(size=listed(space)[1].shape[1])


# ------------------------------------------------------------------ transitions
@pytest.mark.parametrize("space", MOVING, ids=lambda space: type(space).__name__)
def test_one_step_of_the_chains_is_a_row_of_the_matrix(space):
    """4,000 single steps from two outputs each: chi-square at level 1e-6."""
    scores = scores_of(space, 1)
    chain = SmallChain.of(space, scores)
    assert_allclose(chain.P.sum(axis=1), 1.0)
    assert (chain.P >= 0).all()
    assert_allclose(chain.p[:, None] * chain.P, (chain.p[:, None] * chain.P).T, atol=1e-15)
    proposals = Inference.of(space).proposals()
    for u in (0, len(chain.p) - 1):
        states = proposals.start(np.repeat(chain.outputs[[u]], 4000, axis=0))
        proposals.walk(states, scores[None], np.zeros(4000, np.int64), np.ones(4000), 1,
                       new_streams(4000, 3))  # fmt: skip
        assert_drawn_from(proposals.outputs(states), chain.outputs, chain.P[u])


def test_what_is_proposed_may_be_given():
    space = SpanningTrees(range(3))
    with pytest.raises(ValueError, match="EdgeExchange does not tell the probabilities"):
        SmallChain.of(space, np.zeros(3))
    uniform = SmallChain.of(space, [1.0, 0.0, -1.0], "meta")
    given_by_hand = SmallChain.of(space, [1.0, 0.0, -1.0], np.full((3, 3), 1 / 3))
    assert_allclose(uniform.P, given_by_hand.P)


# ------------------------------------------------------------------ congestion
def by_definition(P, p, families):
    """max over oriented edges of the sum over paths through it, each path written out.

    ``families[u, v]`` lists the paths from u to v; p(u) p(v) is spread evenly over them.
    """
    load = {}
    for (u, v), paths in families.items():
        for path in paths:
            for edge in pairwise(path):
                amount = p[u] * p[v] * (len(path) - 1) / len(paths)
                load[edge] = load.get(edge, 0.0) + amount
    return max(total / (p[a] * P[a, b]) for (a, b), total in load.items())


def all_shortest(moves, u, v):
    """All paths of the fewest moves, by breadth."""
    paths = [[u]]
    while True:
        done = [path for path in paths if path[-1] == v]
        if done:
            return done
        paths = [[*path, int(w)] for path in paths for w in np.flatnonzero(moves[path[-1]])
                 if w not in path]  # fmt: skip


def walked(before, u, v):
    path = [v]
    while path[-1] != u:
        path.append(int(before[u, path[-1]]))
    return path[::-1]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("space", SMALL, ids=lambda space: type(space).__name__)
def test_congestion_is_its_definition(space, seed):
    chain = SmallChain.of(space, scores_of(space, seed))
    n, P, p = len(chain.p), chain.P, chain.p
    moves = (P > 0) & ~np.eye(n, dtype=bool)
    pairs = [(u, v) for u, v in product(range(n), repeat=2) if u != v]
    spread = {(u, v): all_shortest(moves, u, v) for u, v in pairs}
    found = spread_congestion(P, p, moves, moves_between(moves))
    assert_allclose(found, by_definition(P, p, spread))
    before = np.full((n, n), -1)
    for u in range(n):  # a tree of paths from u, by breadth, in an order of its own
        seen, queue = {u}, [u]
        while queue:
            w = queue.pop(0)
            for v in np.random.default_rng(seed + w).permutation(np.flatnonzero(moves[w])):
                if v not in seen:
                    seen.add(int(v))
                    queue.append(int(v))
                    before[u, v] = w
    single = {(u, v): [walked(before, u, v)] for u, v in pairs}
    checked = path_predecessors(chain.outputs, moves, before)
    assert_allclose(congestion(P, p, checked), by_definition(P, p, single))


def test_bits_are_fixed_from_the_first_to_the_last():
    space = LabelSets(range(3))
    chain = SmallChain.of(space, scores_of(space, 2))
    moves = (chain.P > 0) & ~np.eye(8, dtype=bool)
    families = {}
    for u, v in product(range(8), repeat=2):
        if u == v:
            continue
        path, now = [u], chain.outputs[u].copy()
        for j in range(3):
            if now[j] != chain.outputs[v][j]:
                now[j] = chain.outputs[v][j]
                path.append(int(np.flatnonzero((chain.outputs == now).all(axis=1))[0]))
        families[u, v] = [path]
    before = path_predecessors(chain.outputs, moves, "in_order")
    expected = by_definition(chain.P, chain.p, families)
    assert_allclose(congestion(chain.P, chain.p, before), expected)
    found = mixing_bounds(space, scores_of(space, 2), paths="in_order", lazy=False)
    assert_allclose(found.congestion, expected)


def test_the_uniform_cube_by_hand():
    """Bit fixing on {0,1}^d: rho = d (d + 1) / 2 for the chain of a random label and bit.

    2^(d-1) pairs have a path over a given edge; the mean length of such a path is (d + 1) / 2, and
    Q is 2^-d / (2d).
    """
    for d in (2, 3, 4):
        P = cube_matrix(np.zeros(2**d))
        outputs = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
        moves = (P > 0) & ~np.eye(2**d, dtype=bool)
        before = path_predecessors(outputs, moves, "in_order")
        assert_allclose(congestion(P, np.full(2**d, 2.0**-d), before), d * (d + 1) / 2)


# ------------------------------------------------------------------ bounds
@pytest.mark.slow
@given(
    st.sampled_from([*SMALL, MOVING[1], MOVING[10]]),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.5, 2.0, 5.0]),
    st.sampled_from([0.3, 0.05, 0.001]),
    st.sampled_from(["local", "meta"]),
)
@settings(max_examples=40, deadline=None)
def test_no_bound_is_below_the_mixing_time(space, seed, size, eps, proposals):
    scores = scores_of(space, seed, size)
    found = mixing_bounds(space, scores, eps=eps, proposals=proposals)
    chain = SmallChain.of(space, scores, proposals)
    P = lazy(chain.P) if found.lazy else chain.P
    if found.mixing_time <= 3000:  # step by step
        t, power = 0, np.eye(len(P))
        while 0.5 * np.abs(power - chain.p).sum(axis=1).max() > eps:
            t, power = t + 1, power @ P
        assert found.mixing_time == t
    for bound in (found.by_eigenvalue, found.by_paths, found.by_coupling):
        assert found.mixing_time <= math.ceil(bound) if math.isfinite(bound) else bound > 0
    assert found.second_eigenvalue <= 1 - 1 / found.congestion + 1e-9
    assert found.second_eigenvalue <= max(found.contraction, 0) + 1e-7 or found.contraction >= 1
    for paths in ("shortest", "probable"):
        other = mixing_bounds(
            space, scores, eps=eps, proposals=proposals, paths=paths, coupling=False
        )
        assert other.congestion >= found.congestion
        assert math.isnan(other.contraction)
        assert math.isinf(other.by_coupling)
        assert found.mixing_time <= math.ceil(other.by_paths)


@pytest.mark.slow
@given(st.lists(st.floats(-2, 2), min_size=8, max_size=8).map(np.array))
@settings(max_examples=20, deadline=None)
def test_the_best_coupling_is_no_worse_than_the_same_label_and_bit(f):
    P = cube_matrix(f)
    steps = moves_between((P > 0) & ~np.eye(8, dtype=bool))
    assert coupling_factor(P, steps) <= cube_contraction(f) + 1e-8


@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3).map(np.array))
@settings(max_examples=10, deadline=None)
def test_the_coupling_of_independent_labels_is_known(w):
    f = ((np.arange(8)[:, None] >> np.arange(3)) & 1) @ w
    P = cube_matrix(f)
    steps = moves_between((P > 0) & ~np.eye(8, dtype=bool))
    known = 1 - (1 + math.exp(-np.abs(w).max())) / 6
    assert coupling_factor(P, steps) == pytest.approx(known, abs=1e-8)
    assert second_eigenvalue(P) <= known + 1e-9


def test_chains_that_stay_are_left_alone():
    """MC_cube stays with probability 1/2 at least: no laziness is added for the bound by paths."""
    space = PairwiseLabels([(0, 1)], range(2))
    assert not mixing_bounds(space, np.zeros(3)).lazy
    bare = mixing_bounds(LabelSets(range(3)), np.zeros(3), lazy=False)
    assert math.isinf(bare.by_paths)
    assert "by canonical paths: nothing" in str(bare)


def test_two_modes_are_seen():
    """All labels or none: relaxation takes thousands of steps, and path coupling says nothing."""
    clique = PairwiseLabels("full", range(6))
    parted = np.concatenate([np.full(6, -5.0), np.full(15, 2.0)])
    found = mixing_bounds(clique, parted)
    assert found.mixing_time > 1000
    assert math.isinf(found.by_coupling)
    assert found.contraction > 1


def test_one_output():
    found = mixing_bounds(LabelSets(range(2), min_size=2), np.ones(2), proposals="meta")
    assert (found.n_outputs, found.mixing_time, found.congestion) == (1, 0, 0.0)


# ------------------------------------------------------------------ bad input
def test_bad_input():
    space, scores = LabelSets(range(3)), np.zeros(3)
    with pytest.raises(ValueError, match="eps is above 0"):
        mixing_bounds(space, scores, eps=0)
    with pytest.raises(ValueError, match='paths is "auto"'):
        mixing_bounds(space, scores, paths="straight")
    with pytest.raises(ValueError, match=r"shape \(8, 8\)"):
        mixing_bounds(space, scores, paths=np.zeros((2, 2), int))
    with pytest.raises(ValueError, match="which is no move of the chain"):
        mixing_bounds(space, scores, paths=np.tile(np.arange(8)[:, None], (1, 8)))
    with pytest.raises(ValueError, match="more than max_outputs = 4"):
        mixing_bounds(space, scores, max_outputs=4)
    with pytest.raises(ValueError, match="symmetric and not negative"):
        mixing_bounds(space, scores, proposals=np.triu(np.ones((8, 8))))
    with pytest.raises(ValueError, match="sums to more than one"):
        mixing_bounds(space, scores, proposals=np.ones((8, 8)))
    with pytest.raises(ValueError, match="do not lead from every output"):
        mixing_bounds(space, scores, proposals=np.zeros((8, 8)))
    with pytest.raises(ValueError, match="leads through what is no output"):
        mixing_bounds(Rankings(range(3), "pairs"), scores, paths="in_order")


def test_paths_that_do_not_begin_where_they_should():
    space = LabelSets(range(2))
    outputs = space.enumerate().tolist()
    number = {tuple(row): i for i, row in enumerate(outputs)}
    circle = np.zeros((4, 4), int)
    for u, v in product(range(4), repeat=2):  # always from the set without the first label
        circle[u, v] = number[1 - outputs[v][0], outputs[v][1]]
    with pytest.raises(ValueError, match="goes round in a circle"):
        mixing_bounds(space, np.zeros(2), paths=circle)


def test_states_of_nodes():
    space = PairwiseStates([(0, 1)], "abc", range(2))
    found = mixing_bounds(space, scores_of(space, 0), coupling=False)
    assert found.n_outputs == 9


def test_probabilities_below_all_numbers_have_no_bound():
    space = Classes(["x", "y"]).fit(["x", "y"])
    found = mixing_bounds(space, [0.0, -740.0], coupling=False)
    assert math.isinf(found.by_paths)
    with pytest.raises(ValueError, match="do not lead from every output"):
        mixing_bounds(space, [0.0, -800.0], coupling=False)


def test_the_eigenvalue_of_uniform_proposals_is_known():
    space = Cycles(range(4))
    chain = SmallChain.of(space, scores_of(space, 0), "meta")
    found = mixing_bounds(space, scores_of(space, 0), proposals="meta", lazy=False)
    share = np.exp(chain.f).mean() / np.exp(chain.f.max())
    assert found.second_eigenvalue == pytest.approx(1 - share)
