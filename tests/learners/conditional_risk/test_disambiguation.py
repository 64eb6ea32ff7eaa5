# SPDX-License-Identifier: BSD-3-Clause
"""Outputs decided among candidates, against enumeration, convex programs and the formulas."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from skstruct import ConditionalRiskMinimizer
from skstruct.learners.conditional_risk.candidates import (
    infimum_losses,
    partial_problem,
    soft_targets,
)
from skstruct.learners.conditional_risk.disambiguation import disambiguate
from skstruct.losses import resolve_loss
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import KernelRidge, Neighbors
from skstruct.spaces import (
    Classes,
    Hierarchy,
    Interval,
    Known,
    LabelSets,
    OneOf,
    Rankings,
    Sequences,
    whole_of,
)
from skstruct.spaces.quantities.censored import Censored

SEEDS = st.integers(0, 2**32 - 1)


def some_classes(rng, n):
    names = [{"a", "b"}, {"b", "c"}, None, "a", "b", "c", {"a", "b", "c"}, "a"]
    return Classes(["a", "b", "c"]), [names[k] for k in rng.integers(len(names), size=n)]


def some_label_sets(rng, n):
    truth = rng.integers(2, size=(n, 3)).astype(float)
    truth[rng.random((n, 3)) < 0.5] = np.nan
    return LabelSets(), truth


def some_hierarchy(rng, n):
    sets = [{"r"}, {"r", "a"}, {"r", "a", "c"}, {"r", "b"}, set(), None, {"one_path": True}]
    space = Hierarchy([("r", "a"), ("r", "b"), ("a", "c")], open_below=True)
    return space, [sets[k] for k in rng.integers(len(sets), size=n)]


def some_sequences(rng, n):
    rows = [["a", "b", None], [None, None], ["a"], ["b", None], [None, "b", "a"]]
    return Sequences("ab", length=(1, 3)), [rows[k] for k in rng.integers(len(rows), size=n)]


def some_rankings(rng, n):
    rows = [["a"], ["b", "c"], ["c", "a", "b"], {"before": [("c", "b")]}, None]
    rows += [{"positions": {"b": 2}}, OneOf([["a", "b", "c"], ["c", "b", "a"]])]
    space = Rankings(["a", "b", "c"])
    return space, [["a", "b", "c"], *(rows[k] for k in rng.integers(len(rows), size=n - 1))]


def some_numbers(rng, n):
    rows = [1.0, OneOf([0.0, 2.0]), OneOf([1.5, -1.0, 0.5]), 0.25]
    return Interval(-2.0, 2.0), [0.5, *(rows[k] for k in rng.integers(len(rows), size=n - 1))]


CASES = [
    (some_classes, "zero_one"),
    (some_label_sets, "hamming"),
    (some_label_sets, "zero_one"),
    (some_hierarchy, "hierarchical"),
    (some_sequences, "hamming"),
    (some_rankings, "kendall"),
    (some_rankings, "spearman"),
    (some_numbers, "squared"),
    (some_numbers, "absolute"),
]


def setting(make, loss, seed, n=5):
    rng = np.random.default_rng(seed)
    space, Y = make(rng, n)
    partial = Known.of(space).read(Y)
    problem = partial_problem(space, resolve_loss(loss), partial)
    weight = rng.integers(1, 4, size=n).astype(float) if seed % 2 else None
    return rng.normal(size=(n, 2)), partial, problem, weight


def objective(problem, outputs, W, weight):
    """By its definition: a sum over pairs."""
    losses = problem.loss.pairwise(outputs, outputs)
    off = 1.0 - np.eye(len(W))
    return float(np.sum((1.0 if weight is None else weight[:, None]) * W * losses * off))


def choices(partial):
    return [partial.outputs[[i]] if whole else np.asarray(partial.allowed.rows([i]).enumerate())
            for i, whole in enumerate(partial.complete)]  # fmt: skip


def options_of(partial, space):
    """All outputs that each row allows, equally wide, by looking at every output there is."""
    if isinstance(space, Classes):
        return [np.flatnonzero(mask) for mask in partial.allowed.allowed_]
    found = choices(partial)
    if found[0].ndim == 1:
        return found
    width = max(Z.shape[1] for Z in found)
    return [np.pad(Z, [(0, 0), (0, width - Z.shape[1])], constant_values=-1) for Z in found]


@pytest.mark.parametrize(("make", "loss"), CASES)
@settings(deadline=None, max_examples=8)
@given(seed=SEEDS)
def test_no_row_can_lower_the_objective(make, loss, seed):
    X, partial, problem, weight = setting(make, loss, seed)
    found = disambiguate(problem, KernelRidge(alpha=0.3), X, partial, weight)
    assert found.converged
    assert found.n_iter == len(found.trace) - 1
    assert np.all(np.diff(found.trace) < 0)
    assert partial.allowed.contains(found.outputs).all() or make is some_classes
    W = KernelRidge(alpha=0.3).fit(X, np.zeros(len(X)), weight).weights(X)
    value = objective(problem, found.outputs, W, weight)
    assert found.trace[-1] == pytest.approx(value, abs=1e-9)
    options = options_of(partial, whole_of(problem.space))
    for i, own in enumerate(options):
        for z in own:
            other = np.array(found.outputs)
            other[i] = -1
            other[i, ...] = z[: other.shape[1]] if other.ndim == 2 else z
            assert objective(problem, other, W, weight) >= value - 1e-9


@pytest.mark.parametrize(("make", "loss"), [CASES[0], CASES[1], CASES[5]])
@settings(deadline=None, max_examples=5)
@given(seed=SEEDS)
def test_the_best_of_some_starts_is_near_the_best_of_all(make, loss, seed):
    X, partial, problem, weight = setting(make, loss, seed, n=4)
    ridge = KernelRidge(alpha=1.0)
    W = ridge.fit(X, np.zeros(len(X)), weight).weights(X)
    options = options_of(partial, whole_of(problem.space))
    least = min(objective(problem, np.array(rows), W, weight) for rows in product(*options))
    starts = ["soft"] + ["random"] * 5
    ends = [
        disambiguate(problem, ridge, X, partial, weight, start=start, random_state=k).trace[-1]
        for k, start in enumerate(starts)
    ]
    assert min(ends) >= least - 1e-9
    far = objective(problem, np.array([rows[0] for rows in options]), W, weight)
    assert min(ends) <= max(far, least) + 1e-9


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS, alpha=st.sampled_from([0.01, 0.3, 10.0]))
def test_censored_numbers_solve_a_convex_program(seed, alpha):
    rng = np.random.default_rng(seed)
    n = 8
    X, y = rng.normal(size=(n, 1)), rng.normal(size=n)
    low, high = y.copy(), y.copy()
    low[:2], high[:2] = -np.inf, np.inf
    high[2:4], low[4:6] = np.inf, y[4:6] - 1.0
    space = Interval()
    partial = Known.of(space).read(Censored(low, high))
    problem = partial_problem(space, resolve_loss("squared"), partial)
    found = disambiguate(problem, KernelRidge(alpha=alpha), X, partial, max_iter=5000)
    W = KernelRidge(alpha=alpha).fit(X, y).weights(X)

    def risk(z):
        return float(np.sum(W * (z[:, None] - z) ** 2))

    limits = [(None if np.isinf(a) else a, None if np.isinf(b) else b) for a, b in zip(low, high)]
    start = np.clip(np.zeros(n), low, high)
    best = minimize(risk, start, method="L-BFGS-B", bounds=limits, options={"ftol": 1e-15})
    assert np.all(np.diff(found.trace) <= 0)
    assert found.trace[-1] <= best.fun + 1e-5 * (1.0 + abs(best.fun))


def test_the_infimum_of_the_squared_loss_is_the_squared_distance_to_the_interval():
    space = Interval()
    low, high = np.array([0.0, 1.0, -np.inf]), np.array([2.0, 1.0, 0.5])
    partial = Known.of(space).read(Censored(low, high))
    problem = partial_problem(space, resolve_loss("squared"), partial)
    for z in (-1.0, 0.7, 3.0):
        losses = infimum_losses(problem, np.full((3, 1), z), partial)
        np.testing.assert_allclose(losses, (z - np.clip(z, low, high)) ** 2, atol=1e-12)


def test_what_is_known_stays():
    X = np.random.default_rng(0).normal(size=(6, 2))
    space = Classes()
    partial = Known.of(space).read(list("abcabc"))
    problem = partial_problem(space, resolve_loss("zero_one"), partial)
    found = disambiguate(problem, KernelRidge(alpha=1e-3), X, partial)
    assert space.restore(found.outputs).tolist() == list("abcabc")
    assert found.n_iter == 0
    assert found.converged


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_classes_by_the_infimum_are_those_in_most_sets(seed):
    rng = np.random.default_rng(seed)
    masks = rng.random((12, 4)) < 0.5
    masks[np.arange(12), rng.integers(4, size=12)] = True
    space = Classes(list("abcd"))
    partial = Known.of(space).read([{"abcd"[j] for j in np.flatnonzero(row)} for row in masks])
    problem = partial_problem(space, resolve_loss("zero_one"), partial)
    risks = [infimum_losses(problem, np.full(12, z), partial).mean() for z in range(4)]
    np.testing.assert_allclose(risks, 1.0 - masks.mean(axis=0))


@settings(deadline=None, max_examples=20)
@given(seed=SEEDS)
def test_labels_by_the_infimum_are_those_of_the_rows_that_tell(seed):
    rng = np.random.default_rng(seed)
    truth, told = rng.integers(2, size=(15, 3)), rng.random((15, 3)) < 0.6
    space = LabelSets(list("abc"))
    partial = Known.of(space).read(np.where(told, truth, np.nan))
    problem = partial_problem(space, resolve_loss("hamming"), partial)
    for z in product((0, 1), repeat=3):
        losses = infimum_losses(problem, np.tile(np.array(z, np.int8), (15, 1)), partial)
        expected = ((truth != np.array(z)) & told).sum(axis=1)
        share = losses / np.where(expected > 0, expected, 1)
        assert np.all((losses == 0) == (expected == 0))
        assert len(set(share[expected > 0].round(12).tolist())) <= 1  # one label costs the same


@settings(deadline=None, max_examples=10)
@given(seed=SEEDS)
def test_rankings_by_the_infimum_are_the_nearest_orders_that_agree(seed):
    rng = np.random.default_rng(seed)
    space, Y = some_rankings(rng, 6)
    partial = Known.of(space).read(Y)
    problem = partial_problem(space, resolve_loss("kendall"), partial)
    for z in space.enumerate():
        losses = infimum_losses(problem, np.tile(z, (6, 1)), partial)
        nearest = [problem.loss.pairwise(z[None], rows).min() for rows in choices(partial)]
        np.testing.assert_allclose(losses, nearest, atol=1e-12)


def test_infimum_average_and_supremum_differ():
    """Six of ten rows say b or c, four say a: only the infimum trusts the six."""
    space = Classes()
    sets = [{"b", "c"}] * 6 + [{"a"}] * 4
    partial = Known.of(space).read(sets)
    problem = partial_problem(space, resolve_loss("zero_one"), partial)
    infimum = [infimum_losses(problem, np.full(10, z), partial).mean() for z in range(3)]
    assert np.argmin(infimum) in (1, 2)
    average = 1.0 - soft_targets(problem, partial)[:, :3].mean(axis=0)
    assert np.argmin(average) == 0
    supremum = [np.mean([row != {name} for row in sets]) for name in "abc"]
    assert np.argmin(supremum) == 0
    flat = KernelRidge(alpha=1e6)  # weights are the same everywhere
    found = disambiguate(problem, flat, np.zeros((10, 1)), partial)
    assert len(set(found.outputs[:6].tolist())) == 1


def test_soft_targets_are_means_over_all_that_is_allowed():
    for seed, (make, loss) in enumerate(CASES[:7]):
        _, partial, problem, _ = setting(make, loss, seed, n=8)
        soft = soft_targets(problem, partial)
        for i, rows in enumerate(options_of(partial, whole_of(problem.space))):
            psi = problem.space.embed(rows)
            psi = psi.toarray() if hasattr(psi, "toarray") else psi
            np.testing.assert_allclose(soft[i, :-1], psi.mean(axis=0), atol=1e-12)


def test_what_stands_in_unknown_cells_has_no_part():
    rng = np.random.default_rng(1)
    X, truth = rng.normal(size=(20, 3)), rng.integers(2, size=(20, 4))
    known = rng.random((20, 4)) < 0.6
    found = []
    for other in (truth, 1 - truth):
        space = LabelSets(list("abcd"))
        partial = Known.of(space).read(np.where(known, truth, other), known)
        problem = partial_problem(space, resolve_loss("hamming"), partial)
        found.append(disambiguate(problem, KernelRidge(alpha="auto"), X, partial))
    np.testing.assert_array_equal(found[0].outputs, found[1].outputs)
    np.testing.assert_array_equal(found[0].trace, found[1].trace)


def test_weights_of_any_smoother_do():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    space, Y = some_classes(rng, 30)
    partial = Known.of(space).read(Y)
    problem = partial_problem(space, resolve_loss("zero_one"), partial)
    found = disambiguate(problem, Neighbors(5), X, partial)
    assert found.converged
    assert np.all(np.diff(found.trace) <= 0)


def test_candidates_are_told_apart():
    """Two clouds, of which most rows say nothing but 'one of two': all are told right."""
    rng = np.random.default_rng(3)
    truth = np.repeat(["a", "b", "c"], 40)
    X = np.array([{"a": (0, 0), "b": (4, 0), "c": (0, 4)}[name] for name in truth], float)
    X += rng.normal(size=X.shape) / 2
    Y = [{name, "abc"[rng.integers(3)]} for name in truth]
    space = Classes()
    partial = Known.of(space).read(Y)
    problem = partial_problem(space, resolve_loss("zero_one"), partial)
    found = disambiguate(problem, KernelRidge(alpha="auto"), X, partial)
    assert np.mean(space.restore(found.outputs) == truth) > 0.97


def test_wrong_starts_are_refused():
    space, Y = some_classes(np.random.default_rng(0), 6)
    partial = Known.of(space).read(Y)
    problem = partial_problem(space, resolve_loss("zero_one"), partial)
    with pytest.raises(ValueError, match='start is "soft", "random" or outputs'):
        disambiguate(problem, KernelRidge(), np.zeros((6, 1)), partial, start="warm")


def test_what_was_decided_can_be_kept_with_a_model(tmp_path):
    rng = np.random.default_rng(4)
    space, Y = some_rankings(rng, 6)
    X, partial = rng.normal(size=(6, 2)), Known.of(space).read(Y)
    problem = partial_problem(space, resolve_loss("kendall"), partial)
    found = disambiguate(problem, KernelRidge(alpha=1.0), X, partial)
    model = ConditionalRiskMinimizer(Rankings(3), kernel="rbf", alpha=1.0).fit(X, found.outputs)
    model.disambiguation_ = found
    save_model(model, tmp_path / "model.skstruct")
    again = load_model(tmp_path / "model.skstruct")
    np.testing.assert_array_equal(again.disambiguation_.trace, found.trace)
    assert partial.allowed.contains(again.disambiguation_.outputs).all()
