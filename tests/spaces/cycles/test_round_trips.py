# SPDX-License-Identifier: BSD-3-Clause
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Cycles
from skstruct.spaces.cycles import round_trips
from skstruct.spaces.cycles.constraints import CycleConstraints
from skstruct.spaces.cycles.round_trips import proven_round_trips, visits_all


def all_trips(N):
    """Every round trip through N nodes as edges above the diagonal, from the definition."""
    edge = {pair: k for k, pair in enumerate(combinations(range(N), 2))}
    rows = set()
    for order in permutations(range(1, N)):
        row = [0] * len(edge)
        for i, j in zip((0, *order), (*order, 0)):
            row[edge[min(i, j), max(i, j)]] = 1
        rows.add(tuple(row))
    return np.array(sorted(rows))


TRIPS = {N: all_trips(N) for N in range(3, 8)}


def matrices(rows, N, diagonal):
    """Numbers of edges (n, d) as symmetric matrices (n, N, N)."""
    u, v = np.triu_indices(N, 1)
    filled = np.full((len(rows), N, N), diagonal)
    filled[:, u, v] = filled[:, v, u] = rows
    return filled


def edges_of(tours, N):
    """Tours (n, N) as edges above the diagonal."""
    u, v = np.triu_indices(N, 1)
    used = np.zeros((len(tours), N, N), int)
    rows = np.flatnonzero(tours[:, 0] >= 0)
    used[rows[:, None], tours[rows], np.roll(tours[rows], -1, axis=1)] = 1
    return (used + used.swapaxes(1, 2))[:, u, v]


@st.composite
def problems(draw, rows=3):
    """Costs of any sign with ties and zeros at all scales; edges known in and out per row."""
    N = draw(st.sampled_from(sorted(TRIPS)))
    d = N * (N - 1) // 2
    numbers = st.one_of(st.integers(-2, 2).map(float), st.floats(-1.0, 1.0, width=32))
    if draw(st.booleans()):
        numbers = st.integers(-3, 3).map(float)
    scale = draw(st.sampled_from([1e-200, 1e-9, 1.0, 0.1, 1e9, 1e200]))
    C = draw(hnp.arrays(np.float64, (rows, d), elements=numbers)) * scale
    seldom = st.integers(0, 8).map(lambda k: k == 0)
    low = draw(hnp.arrays(bool, (draw(st.sampled_from([1, rows])), d), elements=seldom))
    out = draw(hnp.arrays(bool, (rows, d), elements=seldom))
    return N, C, low, ~out


@given(problems())
@settings(max_examples=300, deadline=None)
def test_against_all_permutations(problem):
    N, C, low, high = problem
    costs = matrices(np.where(high, C, np.inf), N, np.inf)
    tours, proven = proven_round_trips(costs, matrices(low, N, False), np.ones((1, N), bool))
    every = TRIPS[N]
    allowed = ((low[:, None] <= every) & (every <= high[:, None])).all(axis=2)
    assert proven.all()
    assert_array_equal(tours[:, 0] >= 0, allowed.any(axis=1))
    best = np.where(allowed, np.where(high, C, 0.0) @ every.T, np.inf).min(axis=1)
    Z = edges_of(tours, N)
    for row in np.flatnonzero(allowed.any(axis=1)):
        assert sorted(tours[row]) == list(range(N))
        assert ((low[row if len(low) > 1 else 0] <= Z[row]) & (Z[row] <= high[row])).all()
        close = 1e-11 * np.abs(C[row]).max()
        assert_allclose(Z[row] @ C[row], best[row], rtol=0, atol=close)


@given(problems())
@settings(max_examples=30, deadline=None)
def test_the_space_with_known_edges(problem):
    """The same through ``Cycles``, where branch and bound takes rows of all sizes."""
    N, C, low, high = problem
    allowed = ((low[:, None] <= TRIPS[N]) & (TRIPS[N] <= high[:, None])).all(axis=2)
    space = Cycles(N, directed=False).restrict(min_size=N)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_trips, "FEWEST_NODES", 3)
        few = space.restrict(include_edges=low, exclude_edges=~high)
        if not allowed.any(axis=1).all():
            with pytest.raises(InfeasibleError):
                few.argmin(C)
            return
        decoded = few.argmin(C)
    assert few.contains(decoded.outputs).all()
    assert_array_equal(decoded.bounds, decoded.values)
    assert_allclose(decoded.values, np.einsum("nd,nd->n", decoded.outputs, C))
    best = np.where(allowed, C @ TRIPS[N].T, np.inf).min(axis=1)
    assert (decoded.values <= best + 1e-11 * np.abs(C).max(axis=1)).all()


def distances(n, N, rng, spread=None):
    """Of points in a square; of as many clusters of width 1/10 as ``spread`` says."""
    at = rng.random((n, N, 2))
    if spread:
        at = rng.random((n, spread, 2))[:, np.arange(N) % spread] + at / 10
    far = np.linalg.norm(at[:, :, None] - at[:, None], axis=-1)
    return far[(slice(None), *np.triu_indices(N, 1))]


def draws(kind, n, N, rng):
    d = N * (N - 1) // 2
    return {
        "any sign": lambda: rng.standard_normal((n, d)),
        "distances": lambda: distances(n, N, rng),
        "clusters": lambda: distances(n, N, rng, spread=4),
        "few values": lambda: rng.integers(0, 4, (n, d)).astype(float),
        "few values, not whole": lambda: rng.integers(0, 4, (n, d)) / 10,
        "equal": lambda: np.full((n, d), 0.7),
    }[kind]()


KINDS = ["any sign", "distances", "clusters", "few values", "few values, not whole", "equal"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [12, 16])
def test_against_the_table(kind, N, monkeypatch):
    """Another algorithm, exact as well; the second half of the rows has known edges."""
    rng = np.random.default_rng(N)
    C = draws(kind, 4, N, rng)
    low, high = np.zeros(C.shape, bool), np.ones(C.shape, bool)
    low[2:, 3], high[2:] = True, rng.random((2, C.shape[1])) < 0.8
    high |= low
    space = Cycles(N, directed=False).restrict(min_size=N)
    space = space.restrict(include_edges=low, exclude_edges=~high)
    decoded = space.argmin(C)
    monkeypatch.setattr(round_trips, "FEWEST_NODES", N + 1)
    table = space.argmin(C)
    assert_allclose(decoded.values, table.values, rtol=1e-11)
    assert_array_equal(decoded.values, decoded.bounds)
    assert space.contains(decoded.outputs).all()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_against_integer_programs(kind, monkeypatch):
    N = 18
    C = draws(kind, 2, N, np.random.default_rng(N))
    space = Cycles(N, directed=False, prove=True).restrict(include=range(N))
    decoded = space.argmin(C)
    assert_array_equal(decoded.values, decoded.bounds)
    monkeypatch.setattr(round_trips, "FEWEST_NODES", N + 1)
    assert_allclose(decoded.values, space.argmin(C).values, atol=1e-6)


def bipartite(N):
    """1 between the two sides, 2 within; with sides of different sizes the bound is weak."""
    side = np.arange(N) < N // 2 - 1
    u, v = np.triu_indices(N, 1)
    return np.where(side[u] == side[v], 2.1, 1.1)[None]


@pytest.mark.parametrize("N", [16, 24])
def test_a_limit_of_work_leaves_the_row_to_others(N):
    """Up to 16 nodes the table finds the best, above a bound is left; both as before."""
    C = bipartite(N)
    costs = matrices(C, N, np.inf)
    tours, proven = proven_round_trips(costs, np.zeros((1, N, N), bool), np.ones((1, N), bool))
    assert not proven.any()
    assert (tours == -1).all()
    decoded = Cycles(N, directed=False).restrict(min_size=N).argmin(C)
    best = 1.1 * N + 2  # two edges stay within the larger side
    assert decoded.bounds[0] <= best + 1e-6
    assert decoded.values[0] >= best - 1e-9
    if N == 16:
        assert_allclose([decoded.values[0], decoded.bounds[0]], best)


def test_rows_without_a_round_trip():
    """A bridge, a node with one edge, a subtour of known edges, three known edges at a node."""
    N = 10
    u, v = np.triu_indices(N, 1)
    C = np.random.default_rng(0).standard_normal((1, len(u)))
    space = Cycles(N, directed=False).restrict(min_size=N)
    apart = (u < 5) != (v < 5)
    apart[np.flatnonzero((u == 0) & (v == 9))] = False
    for asked in (
        {"exclude_edges": apart[None]},
        {"exclude_edges": ((u == 0) & (v > 1))[None]},
        {"include_edges": [(0, 1), (1, 2), (0, 2)]},
        {"include_edges": [(0, 1), (0, 2), (0, 3)]},
        {"include_edges": [(0, 1)], "exclude_edges": [(0, 1)]},
    ):
        with pytest.raises(InfeasibleError):
            space.restrict(**asked).argmin(C)


def test_zero_costs_on_a_ring():
    """No trip is known at first, and nothing tells the edges apart."""
    N = 12
    ring = np.random.default_rng(3).permutation(N)
    costs = np.full((1, N, N), np.inf)
    costs[0, ring, np.roll(ring, 1)] = costs[0, np.roll(ring, 1), ring] = 0.0
    tours, proven = proven_round_trips(costs, np.zeros((1, N, N), bool), np.ones((1, N), bool))
    assert proven.all()
    assert sorted(tours[0]) == list(range(N))
    assert (costs[0, tours[0], np.roll(tours[0], 1)] == 0).all()


def test_some_nodes_are_left_out_of_each_row():
    """All of the others are visited: a smaller round trip, in the same call."""
    N, rng = 14, np.random.default_rng(1)
    C = rng.standard_normal((3, N * (N - 1) // 2))
    out = [[0, 3], [13], []]
    include = [[node for node in range(N) if node not in gone] for gone in out]
    decoded = Cycles(N, directed=False).restrict(exclude=out, include=include).argmin(C)
    for row, nodes in enumerate(include):
        whole = matrices(C, N, np.inf)[row][np.ix_(nodes, nodes)]
        edges = whole[np.triu_indices(len(nodes), 1)][None]
        alone = Cycles(len(nodes), directed=False).restrict(min_size=len(nodes)).argmin(edges)
        assert_allclose(decoded.values[row], alone.values[0])
    assert_array_equal(decoded.outputs.sum(axis=1), [12, 13, 14])


def test_which_rows_ask_for_all_nodes():
    free = CycleConstraints.none(10, 45)
    assert not visits_all(free, 2).any()
    sizes = CycleConstraints(
        free.low, free.high, free.visited, free.open, np.array([10, 9, 10]), np.array([10, 10, 9])
    )
    assert_array_equal(visits_all(sizes, 3), [True, False, False])


def test_rows_do_not_depend_on_each_other():
    C = np.random.default_rng(2).standard_normal((3, 190))
    space = Cycles(20, directed=False).restrict(min_size=20)
    together = space.argmin(C)
    alone = np.concatenate([space.argmin(C[k : k + 1]).outputs for k in range(3)])
    assert_array_equal(together.outputs, alone)
    for scale in (1e-150, 1e150):
        assert_array_equal(space.argmin(scale * C).outputs, alone)
