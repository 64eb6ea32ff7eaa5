# SPDX-License-Identifier: BSD-3-Clause
"""Steps of online rankers against general solvers of the problems that define them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from skstruct.learners import OnlineLabelRanker
from skstruct.spaces import Rankings
from strategies import partial_rankings, total_orders

WAYS = ("pairs", "better-items", "worse-items", "whole")
TINY = 1e-9


def graphs_of(z, way):
    """Subgraphs of a row, as lists of pairs (better, worse), from the definition."""
    items = range(len(z))
    edges = [(p, q) for p in items for q in items if z[p] < z[q]]
    center = {
        "pairs": lambda e: e,
        "better-items": lambda e: e[0],
        "worse-items": lambda e: e[1],
        "whole": lambda e: 0,
    }[way]
    return [[e for e in edges if center(e) == c] for c in sorted({center(e) for e in edges})]


def margin_of(z, p, q, margin):
    return z[q] - z[p] if margin == "feedback" else 1.0


def mean_hinge(W, x, z, way, margin="unit"):
    """Mean over subgraphs of the largest hinge; W is (d, p)."""
    s = W @ x
    hinges = [
        max(0.0, *(margin_of(z, p, q, margin) - (s[p] - s[q]) for p, q in graph))
        for graph in graphs_of(z, way)
    ]
    return float(np.mean(hinges)) if hinges else 0.0


def solved(distance, to_weights, start, x, z, way, margin, *, least=None, total=None):
    """argmin of distance(v) + mean hinge of to_weights @ v, by SLSQP over v and slacks."""
    graphs, n = graphs_of(z, way), len(start)
    d, k = len(z), len(graphs)
    rows, wanted = [], []
    for s, graph in enumerate(graphs):
        for p, q in graph:
            row = np.zeros(n + k)
            row[:n] = np.kron(np.eye(d)[p] - np.eye(d)[q], x) @ to_weights
            row[n + s] = 1.0
            rows.append(row)
            wanted.append(margin_of(z, p, q, margin))
    A, b = np.array(rows), np.array(wanted)
    constraints = [{"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A}]
    if total is not None:
        ones = np.concatenate([np.ones(n), np.zeros(k)])
        constraints.append(
            {"type": "eq", "fun": lambda v: ones @ v - total, "jac": lambda v: ones[None]}
        )
    slack = [
        max(0.0, *(w - row[:n] @ start for row, w in zip(A, b) if row[n + s])) for s in range(k)
    ]
    found = minimize(
        lambda v: distance(v[:n])[0] + v[n:].mean(),
        np.concatenate([start, slack]),
        jac=lambda v: np.concatenate([distance(v[:n])[1], np.full(k, 1.0 / k)]),
        bounds=[(least, None)] * n + [(0.0, None)] * k,
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    return found.x[:n]


def squares(alpha, start):
    return lambda v: (alpha / 2 * ((v - start) ** 2).sum(), alpha * (v - start))


def entropy(alpha, start):
    def distance(u):
        u = np.maximum(u, TINY)
        logs = np.log(u / start)
        return alpha * (u @ logs), alpha * (logs + 1.0)

    return distance


def ranker(d, **settings):
    settings = {"average": False, "fit_intercept": False, **settings}
    return OnlineLabelRanker(Rankings(range(d), scores=False), **settings)


def steps(seed, z):
    rng = np.random.default_rng(seed)
    return zip(rng.standard_normal((len(z), 2)), z)


def ordered(Z):
    """Rows that order something, in ranks as the space keeps them."""
    return Z[np.nanmin(Z, axis=1) < np.nanmax(Z, axis=1)]


cases = given(
    partial_rankings(3, max_rows=3).map(ordered),
    st.sampled_from(WAYS),
    st.sampled_from(["unit", "feedback"]),
    st.sampled_from([0.02, 0.3, 3.0]),
    st.integers(0, 99),
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Rankings")
@cases
def test_passive_aggressive_steps_minimize(Z, way, margin, alpha, seed):
    model, W = ranker(3, alpha=alpha, decomposition=way, margin=margin), np.zeros((3, 2))
    for x, z in steps(seed, Z):
        before = W
        model.partial_fit(x[None], z[None])
        z = model.outputs_[0]
        by_solver = solved(
            squares(alpha, before.ravel()), np.eye(6), before.ravel(), x, z, way, margin
        ).reshape(3, 2)
        W = model.coef_.copy()
        value, best = (
            squares(alpha, before.ravel())(V.ravel())[0] + mean_hinge(V, x, z, way, margin)
            for V in (W, by_solver)
        )
        assert value <= best + 1e-6 * (1 + best)
        assert_allclose(W, by_solver, atol=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Rankings", "ignore:Values in x were outside bounds")
@cases
def test_multiplicative_steps_minimize(Z, way, margin, alpha, seed):
    """The solver knows both parts of the weights; of the ranker only their difference is asked."""
    radius, both = 5.0, np.hstack([np.eye(6), -np.eye(6)])
    model = ranker(
        3, method="multiplicative", alpha=alpha, decomposition=way, margin=margin, radius=radius
    )
    parts = np.full(12, radius / 12)
    for x, z in steps(seed, Z):
        model.partial_fit(x[None], z[None])
        z, distance = model.outputs_[0], entropy(alpha, parts)
        new = solved(distance, both, parts, x, z, way, margin, least=TINY, total=radius)
        new = np.maximum(new, TINY) * radius / np.maximum(new, TINY).sum()
        mine = parts_of(model.coef_, parts, x, radius)
        values = [
            distance(u)[0] + mean_hinge((both @ u).reshape(3, 2), x, z, way, margin)
            for u in (mine, new)
        ]
        assert_allclose((both @ mine).reshape(3, 2), model.coef_, atol=1e-8)
        assert values[0] <= values[1] + 1e-6 * (1 + abs(values[1]))
        assert_allclose(model.coef_, (both @ new).reshape(3, 2), atol=2e-2)
        parts = mine


def parts_of(W, before, x, radius):
    """The parts with difference W that a step of factors e^(c x), e^(-c x) makes of those before.

    Products of an item's two parts are those before times one factor f: u (u - w) = f b b'.
    """
    w, product = W.ravel(), before[:6] * before[6:]

    def upper(f):
        return (w + np.sqrt(w**2 + 4 * f * product)) / 2

    low, high = 0.0, 1.0
    while (2 * upper(high) - w).sum() < radius:
        high *= 2
    for _ in range(200):
        f = (low + high) / 2
        low, high = (f, high) if (2 * upper(f) - w).sum() < radius else (low, f)
    first = upper(high)
    return np.concatenate([first, first - w])


@pytest.mark.parametrize("way", WAYS)
def test_with_a_count_of_wrong_subgraphs_there_is_no_minimum(way):
    """Ever shorter steps repair everything; none at all, which is their limit, nothing."""
    x, z = np.array([1.0, -2.0]), np.array([2.0, 3.0, 1.0])
    wanted = np.outer([0.0, -1.0, 1.0], x)

    def printed(W):
        s = W @ x
        n_wrong = sum(any(s[p] <= s[q] for p, q in graph) for graph in graphs_of(z, way))
        return (W**2).sum() + n_wrong

    values = [printed(step * wanted) for step in (1.0, 1e-2, 1e-4, 1e-6)]
    assert (np.diff(values) < 0).all()
    assert values[-1] < 1e-9
    assert printed(0 * wanted) == len(graphs_of(z, way)) >= 1


def test_without_a_fixed_sum_the_entropy_pulls_weights_to_a_share():
    """u ln (u / b) is least at b / e, not at b: what is printed needs parts of one sum."""
    b, u = 0.7, np.linspace(0.01, 2.0, 20000)
    assert_allclose(u[(u * np.log(u / b)).argmin()], b / np.e, atol=1e-3)
    assert (u * np.log(u / b)).min() < -0.2


def test_multiplied_weights_are_exponentials_of_what_was_added():
    """One row of two items from zero: w = r sinh(c x) / sum of cosh, until the margin holds."""
    x = np.array([1.0, -2.0])
    model = ranker(2, method="multiplicative", alpha=1e-9, radius=3.0)
    w = model.partial_fit(x[None], [[1, 2]]).coef_
    assert_allclose((w[0] - w[1]) @ x, 1.0, atol=1e-6)
    assert_allclose(w[0], -w[1])

    def gap(c):
        e = c * x
        return 2 * 3.0 * (np.sinh(e) @ x) / (2 * np.cosh(e).sum()) - 1.0

    low, high = 0.0, 5.0
    for _ in range(100):
        c = (low + high) / 2
        low, high = (c, high) if gap(c) < 0 else (low, c)
    assert_allclose(w[0], 3.0 * np.sinh(c * x) / (2 * np.cosh(c * x).sum()), atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_a_wide_radius_makes_the_entropy_a_square(way):
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((12, 3)), total_orders(4)[rng.integers(24, size=12)]
    added = ranker(4, alpha=0.5, decomposition=way).partial_fit(X, Z)
    radius = 1e6
    multiplied = ranker(
        4, method="multiplicative", alpha=0.5 * radius / 12, radius=radius, decomposition=way
    ).partial_fit(X, Z)
    assert_allclose(multiplied.coef_, added.coef_, atol=1e-4)
    assert np.abs(added.coef_).max() > 0.1
    near = ranker(4, method="multiplicative", alpha=0.5 * 4 / 12, radius=4.0, decomposition=way)
    assert np.abs(near.partial_fit(X, Z).coef_).sum() < 4.0


@given(
    partial_rankings(4, max_rows=4).map(ordered),
    st.sampled_from(WAYS),
    st.sampled_from(["unit", "feedback"]),
    st.sampled_from([0.02, 0.3, 3.0]),
    st.integers(0, 99),
)
@pytest.mark.filterwarnings("ignore:Rankings")
def test_primal_dual_steps(Z, way, margin, alpha, seed):
    """The formula, and that it is the best step of its direction within the caps."""
    model = ranker(4, method="primal-dual", alpha=alpha, decomposition=way, margin=margin)
    W = np.zeros((4, 2))
    for x, z in steps(seed, Z):
        model.partial_fit(x[None], z[None])
        z, s = model.outputs_[0], W @ x
        worst, hinges, wrong = [], [], []
        for graph in graphs_of(z, way):
            gaps = [margin_of(z, p, q, margin) - (s[p] - s[q]) for p, q in graph]
            worst.append(graph[int(np.argmax(gaps))])
            hinges.append(max(gaps))
            wrong.append(any(s[p] <= s[q] for p, q in graph))
        chosen = [bad or (not any(wrong) and h > 0) for bad, h in zip(wrong, hinges)]
        v = sum((np.eye(4)[p] - np.eye(4)[q] for (p, q), c in zip(worst, chosen) if c), np.zeros(4))
        if any(chosen):
            cap, total = 1 / (alpha * len(worst)), sum(h for h, c in zip(hinges, chosen) if c)
            trials = np.append(np.linspace(0, cap, 1001), min(cap, total / (x @ x * (v @ v))))
            dual = trials * total - trials**2 / 2 * (x @ x) * (v @ v)
            assert dual.argmax() == 1001 or dual.max() - dual[-1] < 1e-9
            W = W + trials[-1] * np.outer(v, x)
        assert_allclose(model.coef_, W, atol=1e-9)


def test_methods_agree_where_there_is_one_pair():
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((30, 3)), total_orders(2)[rng.integers(2, size=30)]
    models = [
        ranker(2, method=method, alpha=0.2, decomposition=way).partial_fit(X, Z)
        for method in ("primal-dual", "passive-aggressive")
        for way in WAYS
    ]
    for model in models[1:]:
        assert_allclose(model.coef_, models[0].coef_, atol=1e-9)
    # A cap that is always reached makes steps of a perceptron, on all rows that lack margin.
    x, z = X[:1], Z[:1]
    short = ranker(2, method="primal-dual", alpha=1e4).partial_fit(x, z)
    fixed = ranker(2, method="perceptron").partial_fit(x, z)
    assert_allclose(1e4 * short.coef_, fixed.coef_)


@pytest.mark.parametrize("way", WAYS)
def test_perceptron_moves_the_worst_pair_of_wrong_subgraphs(way):
    rng = np.random.default_rng(2)
    model, W = ranker(4, method="perceptron", decomposition=way), np.zeros((4, 3))
    n_mistakes, loss = 0, 0.0
    for x, z in zip(rng.standard_normal((40, 3)), total_orders(4)[rng.integers(24, size=40)]):
        s, graphs = W @ x, graphs_of(z, way)
        bad = [g for g in graphs if any(s[p] <= s[q] for p, q in g)]
        for p, q in [min(g, key=lambda e, s=s: s[e[0]] - s[e[1]]) for g in bad]:
            W[p] += x
            W[q] -= x
        n_mistakes += bool(bad)
        loss += len(bad) / len(graphs)
        model.partial_fit(x[None], z[None])
        assert_allclose(model.coef_, W, atol=1e-12)
    assert (model.n_mistakes_, round(model.cumulative_loss_, 9)) == (n_mistakes, round(loss, 9))


def test_averages_of_multiplied_weights():
    rng = np.random.default_rng(3)
    X, Z = rng.standard_normal((15, 2)), total_orders(3)[rng.integers(6, size=15)]
    settings = {"method": "multiplicative", "alpha": 0.3, "radius": 10.0}
    last, seen = ranker(3, **settings), []
    for x, z in zip(X, Z):
        seen.append(last.partial_fit(x[None], z[None]).coef_.copy())
    mean = ranker(3, average=True, **settings).partial_fit(X, Z)
    assert_allclose(mean.coef_, np.mean(seen, axis=0), atol=1e-10)
    assert mean.n_mistakes_ == last.n_mistakes_


def test_large_exponents_do_not_overflow():
    X, Z = np.tile([[1.0, 0.0]], (3000, 1)), np.tile([[1, 2]], (3000, 1))
    model = ranker(2, method="multiplicative", alpha=0.1, radius=0.5)  # no margin of one
    model.partial_fit(X, Z)
    assert np.isfinite(model.coef_).all()
    assert_allclose(np.abs(model.coef_).sum(), 0.5)
    assert np.abs(model.exponents_).max() > 800
