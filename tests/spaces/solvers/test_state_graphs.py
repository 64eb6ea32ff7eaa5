# SPDX-License-Identifier: BSD-3-Clause

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from skstruct.spaces.solvers.state_graphs import PathDistribution, StateGraph

SCORES = st.floats(-4, 4).map(lambda score: round(score, 3))
HUGE = st.sampled_from([0.0, 1.0, 170.0, -170.0, 700.0, -701.0, 1e5, -1e5, 1e6, 1e12, -1e200])


def of_steps(steps, n_states, n_columns, **options):
    """A graph of (state, later state, column)."""
    steps = sorted(steps)
    tails, targets, columns = np.array(steps, np.int64).reshape(-1, 3).T
    first = np.searchsorted(tails, np.arange(n_states + 1))
    parts = targets.astype(np.int32), columns.astype(np.int32)
    return StateGraph(first, *parts, n_columns, n_columns, **options)


def paths(graph, start=None, end=None):
    """The columns of every path, by walking along each; 0/1 rows."""
    found, end = [], len(graph.first) - 2 if end is None else end

    def walk(state, row):
        if state == end:
            found.append(row)
            return
        for t in range(graph.first[state], graph.first[state + 1]):
            taken = np.arange(graph.n_columns) == graph.column[t]
            walk(graph.target[t], row + taken)

    walk(graph.start if start is None else start, np.zeros(graph.n_columns, np.int8))
    return np.array(found, np.int8).reshape(len(found), graph.n_columns)


@st.composite
def graphs(draw):
    """Graphs in which no two paths take the same columns, and no path one twice.

    A column belongs to one step; one that takes nothing is the only way between its states.
    """
    n_states = draw(st.integers(1, 6))
    pairs = [pair for pair in itertools.combinations(range(n_states), 2) if draw(st.booleans())]
    pairs += [pair for pair in pairs if draw(st.integers(0, 3)) == 0]
    tails, heads = Counter(u for u, _ in pairs), Counter(v for _, v in pairs)
    alone = [tails[u] == heads[v] == 1 and draw(st.booleans()) for u, v in pairs]
    d = alone.count(False)
    column = iter(draw(st.permutations(range(d))))
    steps = [(*pair, d if quiet else next(column)) for pair, quiet in zip(pairs, alone)]
    return of_steps(steps, n_states, d, start=draw(st.integers(0, 1)) % n_states)


@st.composite
def scored(draw):
    """A graph with rows of scores, moderate and huge ones side by side."""
    graph = draw(graphs())
    rows = [
        draw(st.lists(draw(st.sampled_from([SCORES, HUGE])), min_size=graph.n_columns,
                      max_size=graph.n_columns))
        for _ in range(draw(st.integers(1, 3)))
    ]  # fmt: skip
    return graph, np.array(rows).reshape(len(rows), graph.n_columns)


def check_distribution(distribution, outputs, scores):
    """Sums, marginals and draws against a list of all outputs."""
    values = scores @ outputs.T
    log_sums = logsumexp(values, axis=1) if len(outputs) else np.full(len(scores), -np.inf)
    # Huge values are known up to rounding, and so are ties between them.
    rounding = 1e-15 * np.abs(scores).sum(axis=1)
    certain = rounding < 1e-6
    assert_allclose(distribution.log_partition, log_sums, rtol=1e-12, atol=1e-12)
    if not len(outputs):
        assert not distribution.marginals().any()
        assert not distribution.sample(2, np.random.default_rng(0)).any()
        return
    weights = np.exp(values - log_sums[:, None])
    marginals = distribution.marginals()
    assert_allclose(marginals[certain], (weights @ outputs)[certain], rtol=1e-7, atol=1e-9)
    assert (np.abs(marginals - 0.5) < 0.5 + 1e-9).all()
    drawn = distribution.sample(20, np.random.default_rng(0))
    number = {tuple(z): i for i, z in enumerate(outputs.tolist())}
    for row in np.flatnonzero(certain):
        assert (weights[row, [number[tuple(z)] for z in drawn[row].tolist()]] > 1e-12).all()


@given(scored())
def test_sums_marginals_and_draws(case):
    graph, scores = case
    check_distribution(PathDistribution(graph, scores), paths(graph), scores)


@given(graphs())
def test_all_alike(graph):
    outputs = paths(graph)
    assert graph.total == len(outputs)
    with np.errstate(divide="ignore"):
        assert_allclose(graph.log_count, np.log(len(outputs)))
    assert Counter(map(tuple, graph.listed().tolist())) == Counter(map(tuple, outputs.tolist()))
    if len(outputs):
        assert_allclose(graph.mean(), outputs.mean(axis=0), atol=1e-12)
        rows = outputs.astype(np.float64)
        assert_allclose(graph.second_moment(), rows.T @ rows / len(rows), atol=1e-12)
        drawn = {tuple(z) for z in graph.sample(50, np.random.default_rng(0)).tolist()}
        assert drawn <= set(map(tuple, outputs.tolist()))


def test_draws_are_uniform():
    steps = [(0, 1, 0), (0, 2, 1), (0, 2, 2), (1, 2, 3), (1, 2, 4), (2, 3, 5), (2, 3, 6)]
    graph = of_steps(steps, 4, 7)
    drawn = Counter(map(tuple, graph.sample(8000, np.random.default_rng(0)).tolist()))
    assert len(drawn) == graph.total == 8
    assert all(abs(times - 1000) < 150 for times in drawn.values())


@given(scored(), st.integers(1, 5))
def test_best(case, k):
    graph, costs = case
    padded = np.column_stack([costs, np.zeros(len(costs))])  # a step that takes nothing is free
    values = np.sort(costs @ paths(graph).T, axis=1)
    values = np.hstack([values, np.full((len(costs), k), np.inf)])
    outputs, least = graph.best(padded)
    assert_allclose(least, values[:, 0])
    possible = np.isfinite(least)
    assert_allclose((costs * outputs[:, :-1]).sum(axis=1)[possible], least[possible])
    outputs, ranked = graph.best(padded, k)
    assert_allclose(ranked, values[:, :k])
    for row, found in zip(ranked, outputs):
        distinct = {tuple(z) for z in found[np.isfinite(row)].tolist()}
        assert len(distinct) == np.isfinite(row).sum()


@given(scored(), st.data())
def test_rows_may_begin_and_end_elsewhere(case, data):
    graph, scores = case
    last = len(graph.first) - 2
    starts = np.array([data.draw(st.integers(0, last)) for _ in scores])
    distribution = PathDistribution(graph, scores, start=starts)
    for row, start in enumerate(starts):
        values = scores[row] @ paths(graph, start).T
        expected = logsumexp(values) if len(values) else -np.inf
        assert_allclose(distribution.log_partition[row], expected, rtol=1e-12, atol=1e-12)
    costs = np.column_stack([scores, np.zeros(len(scores))])
    ends = np.array([data.draw(st.integers(0, last)) for _ in scores])
    for row, (start, end) in enumerate(zip(starts, ends)):
        values = scores[row] @ paths(graph, start, end).T
        least = graph.best(costs[[row]], start=starts[[row]], end=ends[[row]])[1]
        assert_allclose(least, [values.min(initial=np.inf)])


# ---------------------------------------------------------------------- edges of the world


def test_one_state():
    nothing = of_steps([], 1, 2)
    scores = np.array([[3.0, 1e9]])
    assert (nothing.total, nothing.log_count, nothing.listed().tolist()) == (1, 0.0, [[0, 0]])
    assert_array_equal(nothing.second_moment(), np.zeros((2, 2)))
    assert_array_equal(PathDistribution(nothing, scores).log_partition, [0.0])
    assert_array_equal(nothing.best(scores)[1], [0.0])
    assert_array_equal(nothing.best(scores, 2)[1], [[0.0, np.inf]])


def test_no_path():
    """Neither steps nor columns, and steps that lead nowhere."""
    for graph in (of_steps([], 2, 0), of_steps([(0, 1, 0)], 3, 1)):
        scores = np.zeros((2, graph.n_columns))
        assert (graph.total, graph.log_count, len(graph.listed())) == (0, -np.inf, 0)
        assert not graph.mean().any()
        assert not graph.second_moment().any()
        assert_array_equal(PathDistribution(graph, scores).log_partition, [-np.inf, -np.inf])
        assert_array_equal(graph.best(scores)[1], [np.inf, np.inf])


def test_two_paths_of_every_output():
    steps = [(0, 1, 0), (0, 2, 1), (1, 3, 1), (2, 3, 0), (0, 3, 2), (0, 3, 2)]
    graph = of_steps(steps, 4, 3, copies=2)
    outputs = np.array([[1, 1, 0], [0, 0, 1]])
    assert graph.total == 2
    assert_allclose(graph.mean(), outputs.mean(axis=0))
    assert_allclose(graph.second_moment(), outputs.T @ outputs / 2)
    assert sorted(graph.listed().tolist()) == sorted(2 * outputs.tolist())
    scores = np.array([[1.0, -2.0, 0.5], [900.0, 1e4, -1e6]])
    check_distribution(PathDistribution(graph, scores), outputs, scores)


def ladder(n, rungs=2):
    """``rungs`` ways from each state to the next."""
    steps = [(s, s + 1, s * rungs + i) for s in range(n) for i in range(rungs)]
    return of_steps(steps, n + 1, n * rungs)


@pytest.mark.parametrize(("n", "rungs"), [(62, 2), (63, 2), (64, 2), (50, 7), (900, 3), (3000, 2)])
def test_counts_of_any_size(n, rungs):
    graph = ladder(n, rungs)
    assert graph.total == rungs**n
    assert_allclose(graph.log_count, n * np.log(rungs))
    assert_allclose(graph.mean(), 1 / rungs)
    assert graph.sample(2, np.random.default_rng(0)).sum(axis=1).tolist() == [n, n]


@pytest.mark.parametrize("n", range(120, 130))
def test_counts_at_the_border_of_moduli(n):
    """Also about 2**124, the product of two moduli."""
    steps = [(s, s + 1, 2 * s + i) for s in range(n) for i in range(2)]
    more = of_steps([*steps, (0, n, 2 * n)], n + 1, 2 * n + 1)
    assert more.total == 2**n + 1


@pytest.mark.parametrize("size", [1e3, 1e6, 1e12, 1e200])
def test_huge_scores(size):
    graph = ladder(200)
    scores = size * np.tile([1.0, -1.0], 200)[None]
    distribution = PathDistribution(graph, scores)
    assert_allclose(distribution.log_partition, 200 * size)
    assert_array_equal(distribution.marginals()[0], np.tile([1.0, 0.0], 200))
    assert_array_equal(distribution.sample(3, np.random.default_rng(0))[0, 0], np.tile([1, 0], 200))


def test_plain_sums_and_those_with_powers_agree():
    """Rows of the same scores on both sides of what is summed as plain numbers."""
    rng = np.random.default_rng(0)
    graph = ladder(40, 3)
    scores = rng.standard_normal((50, 120)) * np.linspace(1, 12, 50)[:, None]
    assert_allclose(
        PathDistribution(graph, scores).log_partition,
        logsumexp(scores.reshape(50, 40, 3), axis=2).sum(axis=1),
        rtol=1e-13,
    )
    blocks = np.exp(scores.reshape(50, 40, 3))
    expected = (blocks / blocks.sum(axis=2, keepdims=True)).reshape(50, 120)
    assert_allclose(PathDistribution(graph, scores).marginals(), expected, rtol=1e-11)


def test_forbidden_columns():
    """Columns of score minus infinity are on no path, in rows of any size."""
    graph = ladder(3)
    for size in (1.0, 1e5):
        scores = size * np.array([[1.0, -np.inf, 1.0, 2.0, -np.inf, 0.5]])
        distribution = PathDistribution(graph, scores)
        assert_allclose(distribution.log_partition, size * 1.5 + np.logaddexp(size, 2 * size))
        assert_array_equal(distribution.marginals()[0, [1, 4]], [0.0, 0.0])
        assert_allclose(distribution.marginals()[0, [0, 5]], [1.0, 1.0])
    nothing = PathDistribution(graph, np.full((1, 6), -np.inf))
    assert_array_equal(nothing.log_partition, [-np.inf])


# ---------------------------------------------------------------------- labels taken in turn


@st.composite
def choices(draw):
    """Labels that are taken or skipped in turn, with levels; and whether a set is one of them."""
    d, m = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    order = np.array(draw(st.permutations(range(d))), np.int64)
    change = np.array([draw(st.integers(-2, 2)) for _ in range(d)], np.int64)
    onward = np.arange(1, d + 1)
    take = np.array([draw(st.integers(t + 1, d)) for t in range(d)], np.int64)
    final = np.array([draw(st.booleans()) for _ in range(m)])
    low, high = (np.array([draw(st.integers(0, 3)) == 0 for _ in range(d)], bool) for _ in "ab")
    saturated, start = draw(st.booleans()), draw(st.integers(0, m - 1))

    def allows(z, low=low, high=~high):
        t, level = 0, start
        passed = np.zeros(d, bool)
        while t < d:
            passed[order[t]] = True
            if low[order[t]] > z[order[t]] or z[order[t]] > high[order[t]]:
                return False
            if z[order[t]]:
                level += change[t]
                level = min(level, m - 1) if saturated else level
                if not 0 <= level < m:
                    return False
            t = take[t] if z[order[t]] else onward[t]
        return bool(final[level]) and not (z & ~passed).any()

    options = {"starts": (start,), "saturated": saturated}
    problem = order, take, onward, change, final, d
    return problem, options, (low, ~high), allows


@given(choices(), st.data())
def test_labels_in_turn(case, data):
    problem, options, (low, high), allows = case
    d = len(low)
    sets = np.array(list(itertools.product((0, 1), repeat=d)), np.int8).reshape(-1, d)
    inside = sets[[allows(z.astype(bool)) for z in sets]]
    graph = StateGraph.of_choices(*problem, **options, low=low, high=high)
    assert graph.total == len(inside)
    assert sorted(graph.listed().tolist()) == sorted(inside.tolist())
    if len(inside):
        assert_allclose(graph.mean(), inside.mean(axis=0), atol=1e-12)
        moment = inside.T.astype(float) @ inside / len(inside)
        assert_allclose(graph.second_moment(), moment, atol=1e-12)
    # What is known may also differ from row to row, with one graph for all.
    entries = data.draw(st.sampled_from([SCORES, HUGE]))
    scores = np.array(data.draw(st.lists(entries, min_size=2 * d, max_size=2 * d))).reshape(2, d)
    every = np.array([allows(z.astype(bool), low=np.zeros(d), high=np.ones(d)) for z in sets])
    masks = np.stack([low, np.zeros(d, bool)]), np.stack([high, np.ones(d, bool)])
    graph = StateGraph.of_choices(*problem, **options)
    found = PathDistribution(graph, scores, *masks)
    for row, outputs in enumerate((inside, sets[every])):
        values = scores[row] @ outputs.T
        expected = logsumexp(values) if len(values) else -np.inf
        assert_allclose(found.log_partition[row], expected, rtol=1e-12, atol=1e-12)


def test_steps_are_only_made_where_paths_go():
    """Of a table of 101 x 1001 states, those that no path comes by have no steps."""
    d, final = 100, np.arange(1001) == 1000
    items = np.arange(d)
    graph = StateGraph.of_choices(
        items, items + 1, items + 1, np.full(d, 100), final, d, saturated=False
    )
    assert graph.total == 17310309456440  # ten of a hundred
    assert len(graph.target) == 10 * 91 + 90 * 11  # taken and skipped
