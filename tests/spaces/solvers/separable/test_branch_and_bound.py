# SPDX-License-Identifier: BSD-3-Clause
"""Weights of both signs over polytopes: nothing is better than what branch and bound finds."""

from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct import ConditionalRiskMinimizer, losses
from skstruct.kernels import RBF
from skstruct.losses import Effort
from skstruct.smoothing import KernelRidge
from skstruct.spaces import Box, Flows, Polytope, Simplex
from skstruct.spaces.quantities.separable import branch_and_bound as branching
from skstruct.spaces.quantities.separable import envelopes
from skstruct.spaces.quantities.separable._numba_branch_and_bound import cells_around, merge_samples
from skstruct.spaces.quantities.separable.envelopes import minimize_over_polytope
from skstruct.spaces.solvers.curves.piecewise import PiecewiseCurves
from skstruct.spaces.solvers.linear_constraints import read_constraints

DIAMOND = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
GAP = 1e-6  # of the value: what a default decoder may leave on small networks
STRAIGHT = {
    "absolute": (losses.Absolute(), (0.0,)),
    "pinball": (losses.Pinball(0.8), (0.0,)),
    "epsilon": (losses.EpsilonInsensitive(0.1), (-0.1, 0.1)),
}
OTHERS = {
    "huber": losses.Huber(0.1),
    "root absolute": losses.RootAbsolute(),
    "cauchy": losses.Cauchy(0.2),
    "chi square": losses.ChiSquare(),
}


def street_grid(rows, columns):
    """Arcs to the right and down."""
    right = [((i, j), (i, j + 1)) for i in range(rows) for j in range(columns - 1)]
    down = [((i, j), (i + 1, j)) for i in range(rows - 1) for j in range(columns)]
    return right + down, {(0, 0): 1.0, (rows - 1, columns - 1): -1.0}


def random_flows(arcs, supply, n, rng):
    """Means of a few paths: linear costs drawn at random have a path as their best flow."""
    space = Flows(arcs, supply).fit(_any_flow(arcs, supply))
    paths = space.argmin(rng.normal(size=(4 * n, len(arcs)))).outputs.reshape(n, 4, -1)
    return np.einsum("nk,nkd->nd", rng.dirichlet(np.full(4, 0.3), n), paths)


def _any_flow(arcs, supply):
    graph = nx.DiGraph(arcs)
    source, sink = (next(v for v, q in supply.items() if q * sign > 0) for sign in (1, -1))
    path = nx.shortest_path(graph, source, sink)
    used = set(pairwise(path))
    return np.array([[1.0 * (arc in used) for arc in arcs]])


def ridge_weights(n, rng, alpha):
    """Weights of kernel ridge regression: about half of them are negative."""
    X = rng.uniform(0, 1, (n, 2))
    smoother = KernelRidge(RBF(10.0), alpha=alpha).fit(X, np.eye(n))
    return smoother.predict(rng.uniform(0, 1, (12, 2)))


def diamond_flows(first, second):
    """All flows of one unit by their first two arcs that count: s-a and a-b."""
    return np.stack([first, 1 - first, second, first - second, 1 - first + second], axis=-1)


def best_by_lines(curves, outputs, shifts):
    """The least cost over the diamond of one row of curves with kinks at outputs + shifts.

    The cost is linear between the lines on which an arc has a kink or is empty or full, so
    that it is least where two of them cross.
    """
    kinks = np.unique(
        np.concatenate([outputs + s for s in shifts] + [np.zeros((1, 5)), np.ones((1, 5))]), axis=0
    )
    normal = np.array([[1.0, 0], [-1, 0], [0, 1], [1, -1], [-1, 1]])
    offset = np.array([0.0, 1, 0, 0, 1])
    best = np.inf
    for i, j in combinations(range(5), 2):
        matrix = normal[[i, j]]
        if abs(np.linalg.det(matrix)) < 1e-9:
            continue
        a, b = (np.unique(kinks[:, k]) - offset[k] for k in (i, j))
        sides = np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1).reshape(-1, 2)
        points = diamond_flows(*np.linalg.solve(matrix, sides.T))
        points = points[((points >= -1e-12) & (points <= 1 + 1e-12)).all(axis=1)]
        if len(points):
            many = curves.rows(np.zeros(len(points), dtype=np.int64))
            best = min(best, many.at(points).sum(axis=1).min())
    return best


def check_gap(found, size=0.0):
    assert (found.bounds <= found.values).all()
    assert (found.values - found.bounds <= GAP * np.abs(found.values) + size).all()


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(STRAIGHT)))
def test_small_networks_against_all_vertices(seed, name):
    rng = np.random.default_rng(seed)
    loss, shifts = STRAIGHT[name]
    first = rng.uniform(0, 1, 12).round(2)
    outputs = diamond_flows(first, (first * rng.uniform(0, 1, 12)).round(2))
    weights = rng.normal(0.1, 1.0, (3, 12))
    space = Flows(DIAMOND, {"s": 1, "t": -1}).fit(outputs)
    found = loss.minimize(weights, outputs, space)
    assert space.contains(found.outputs).all()
    curves = loss.curves(weights, outputs)
    np.testing.assert_allclose(found.values, curves.at(found.outputs).sum(axis=1), atol=1e-12)
    check_gap(found, size=1e-9)
    for i in range(3):
        best = best_by_lines(curves.rows(slice(i, i + 1)), outputs, shifts)
        assert found.values[i] <= best + GAP * abs(best) + 1e-9
        assert found.bounds[i] <= best + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(OTHERS))
def test_small_networks_against_a_grid(name):
    """Curves that are not straight: no flow of a fine grid is better, none beats the bound."""
    rng = np.random.default_rng(3)
    first = rng.uniform(0, 1, 30)
    outputs = diamond_flows(first, first * rng.uniform(0, 1, 30))
    weights = ridge_weights(30, rng, 0.01)
    space = Flows(DIAMOND, {"s": 1, "t": -1}).fit(outputs)
    found = OTHERS[name].minimize(weights, outputs, space)
    check_gap(found)
    grid = np.linspace(0, 1, 201)
    flows = diamond_flows(*np.meshgrid(grid, grid)).reshape(-1, 5)
    flows = flows[(flows >= 0).all(axis=1)]
    risks = weights @ OTHERS[name].pairwise(flows, outputs).T
    best = risks.min(axis=1)
    assert (found.values <= best + GAP * np.abs(best)).all()
    assert (found.bounds <= best + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.01, 1.0])
@pytest.mark.parametrize("shape", [(3, 3), (4, 5)])
def test_networks_of_up_to_thirty_arcs_have_no_gap(shape, alpha):
    rng = np.random.default_rng(1)
    arcs, supply = street_grid(*shape)
    outputs = random_flows(arcs, supply, 60, rng)
    weights = ridge_weights(60, rng, alpha)
    space = Flows(arcs, supply).fit(outputs)
    for loss, _ in STRAIGHT.values():
        found = loss.minimize(weights, outputs, space)
        quick = Effort.of(loss).decide(weights, outputs, space)
        check_gap(found)
        assert (found.values <= quick.values).all()
        assert (quick.bounds <= found.values).all()
        assert space.contains(found.outputs).all()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.sampled_from([*STRAIGHT, *OTHERS]))
def test_histograms_against_a_grid(seed, d, name):
    rng = np.random.default_rng(seed)
    loss = OTHERS[name] if name in OTHERS else STRAIGHT[name][0]
    outputs = rng.dirichlet(np.full(d, 0.7), 10)
    weights = rng.normal(0.2, 1.0, (3, 10))
    found = loss.minimize(weights, outputs, Simplex().fit(outputs))
    check_gap(found, size=1e-9)
    parts = {2: 400, 3: 60, 4: 20}[d]
    cells = np.array(list(combinations(range(parts + d - 1), d - 1)))
    ends = np.hstack([np.full((len(cells), 1), -1), cells, np.full((len(cells), 1), parts + d - 1)])
    grid = (np.diff(ends, axis=1) - 1) / parts
    best = (weights @ loss.pairwise(grid, outputs).T).min(axis=1)
    assert (found.values <= best + GAP * np.abs(best) + 1e-9).all()
    assert (found.bounds <= best + 1e-9).all()


@pytest.mark.parametrize("name", sorted(STRAIGHT))
def test_polytopes_with_inequalities_against_a_grid(name):
    rng = np.random.default_rng(4)
    loss = STRAIGHT[name][0]
    outputs = np.sort(rng.uniform(0, 1, (20, 3)), axis=1)
    weights = ridge_weights(20, rng, 0.01)
    space = Polytope(A_ub=[[1, -1, 0], [0, 1, -1]], b_ub=[0, 0], bounds=(0, 1)).fit(outputs)
    found = loss.minimize(weights, outputs, space)
    check_gap(found)
    grid = np.array(np.meshgrid(*[np.linspace(0, 1, 41)] * 3)).reshape(3, -1).T
    grid = grid[(np.diff(grid) >= 0).all(axis=1)]
    best = (weights @ loss.pairwise(grid, outputs).T).min(axis=1)
    assert (found.values <= best + 1e-9).all()
    assert (found.bounds <= best + 1e-9).all()


def diamond_case(n=40, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.uniform(0, 1, n)
    outputs = diamond_flows(first, first * rng.uniform(0, 1, n))
    return outputs, ridge_weights(n, rng, 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [losses.Absolute(), losses.Huber(0.1)])
def test_a_budget_of_boxes_keeps_bounds_valid(loss):
    arcs, supply = street_grid(4, 4)
    rng = np.random.default_rng(0)
    outputs = random_flows(arcs, supply, 40, rng)
    weights = ridge_weights(40, rng, 0.01)
    best = loss.minimize(weights, outputs, Flows(arcs, supply, prove=True).fit(outputs))
    gaps = []
    for n in (0, 1, 5, 50, 2000):
        found = loss.minimize(weights, outputs, Flows(arcs, supply, max_boxes=n).fit(outputs))
        assert (found.bounds <= best.values * (1 + np.sign(best.values) * 1e-9)).all()
        assert (found.values >= best.bounds - 1e-12).all()
        gaps.append((found.values - found.bounds).sum())
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[0] > 10 * gaps[-1]


@pytest.mark.parametrize("space", [Flows(DIAMOND, max_boxes=-1), Flows(DIAMOND, max_boxes=2.5),
                                   Simplex(max_boxes=True)])  # fmt: skip
def test_budgets_that_are_none(space):
    outputs, weights = diamond_case()
    outputs = outputs if isinstance(space, Flows) else outputs[:, :2]
    with pytest.raises(ValueError, match=r"max_boxes is how many boxes .* 0 or more; got"):
        losses.Absolute().minimize(weights, outputs, space.fit(outputs))


@pytest.mark.slow
def test_boxes_are_for_rows_that_need_them(monkeypatch):
    """Neither convex rows, nor a search over alpha, nor large polytopes branch unasked."""

    def refuse(*args, **kwargs):
        raise AssertionError("branch and bound was asked for")

    outputs, weights = diamond_case()
    space = Flows(DIAMOND, {"s": 1, "t": -1}).fit(outputs)
    with monkeypatch.context() as patch:
        patch.setattr(envelopes, "close_gaps", refuse)
        patch.setattr(branching, "close_gaps", refuse)
        for loss in (losses.Absolute(), losses.Huber(0.1)):
            found = loss.minimize(np.abs(weights), outputs, space)
            np.testing.assert_allclose(found.bounds, found.values, rtol=1e-8)
            Effort.of(loss).decide(weights, outputs, space)
            Effort.of(loss).decide(weights, outputs[:, :2], Simplex().fit(outputs[:, :2]))
            with pytest.raises(AssertionError, match="was asked for"):
                loss.minimize(weights, outputs, space)
        X = np.random.default_rng(0).uniform(0, 1, (40, 2))
        model = ConditionalRiskMinimizer(
            Flows(DIAMOND, {"s": 1, "t": -1}), "absolute", kernel=RBF(10.0)
        )
        model.fit(X, outputs)
        wide = np.tile(outputs[:, :2] / 25, 25)
        losses.Absolute().minimize(weights, wide, Simplex().fit(wide))
    assert np.isfinite(model.decode(X).values).all()


@pytest.mark.slow
@pytest.mark.parametrize("loss", [losses.Absolute(), losses.Huber(0.1), losses.RootAbsolute()])
def test_what_branching_finds_does_not_depend_on_the_batch(loss):
    outputs, weights = diamond_case()
    space = Flows(DIAMOND, {"s": 1, "t": -1}).fit(outputs)
    together = loss.minimize(weights, outputs, space)
    for i in range(len(weights)):
        alone = loss.minimize(weights[[i]], outputs, space)
        np.testing.assert_allclose(alone.outputs[0], together.outputs[i], atol=1e-9)


def test_boxes_of_quantities_have_no_gap():
    """Without constraints between coordinates nothing needs to be branched on."""
    rng = np.random.default_rng(0)
    outputs, weights = rng.uniform(0, 1, (30, 4)), ridge_weights(30, rng, 0.01)
    space = Box([0] * 4, [1] * 4).fit(outputs)
    for loss in [*(loss for loss, _ in STRAIGHT.values()), *OTHERS.values()]:
        check_gap(loss.minimize(weights, outputs, space))


def test_one_point_and_no_point():
    curves = losses.Absolute().curves([[1.0, -2.0]], [[0.0, 1.0], [1.0, 0.0]])
    point = read_constraints([[1, 0], [0, 1]], [0.25, 0.5])
    outputs, values, bounds = minimize_over_polytope(curves, point, 0.0, 1.0, max_boxes=None)
    np.testing.assert_allclose(outputs, [[0.25, 0.5]], atol=1e-9)
    np.testing.assert_allclose(values, bounds)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_finer_samples_stay_below_the_curves(seed, at):
    rng = np.random.default_rng(seed)
    loss = losses.Huber(0.2)
    curves = loss.curves(rng.normal(0, 1, (1, 6)), rng.uniform(0, 1, (6, 2)))
    assert isinstance(curves, PiecewiseCurves)
    samples = curves.sample(0.0, 1.0, 4)
    points, values, slack = samples.points, samples.values[0], samples.slack[0]
    for _ in range(3):
        center = np.array([at, 1 - at])
        low, high, wide = cells_around(points, center, np.full(2, 1e-9))
        assert (low <= center).all()
        assert (center <= high).all()
        new = curves.sample(low[None], high[None], 4)
        fine = new.points if new.points.ndim == 2 else new.points[0]
        points, values, slack = merge_samples(
            points, values, slack, np.ascontiguousarray(fine), new.values[0], new.slack[0], wide
        )
        assert (np.diff(points) >= 0).all()
        grid = np.linspace(0, 1, 401)
        for j in range(2):
            cell = np.clip(
                np.searchsorted(points[j], grid, side="right") - 1, 0, slack.shape[1] - 1
            )
            chord = np.interp(grid, points[j], values[j])
            curve = curves.rows(np.zeros(401, int)).at(np.tile(grid[:, None], 2))[:, j]
            assert (curve >= chord - slack[j, cell] - 1e-12).all()
