# SPDX-License-Identifier: BSD-3-Clause
"""The stability bound: by hand, by enumeration, and on distributions that are known in full."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct import ConditionalRiskMinimizer
from skstruct.bounds import stability_bound
from skstruct.bounds.certificate import largest_loss
from skstruct.bounds.stability import (
    fitted_means,
    mean_surrogates,
    ramps,
    rho_grid,
    rounding_of_risk,
    stability_constant,
    stability_slack,
)
from skstruct.kernels import RBF, SpectrumKernel
from skstruct.losses import (
    F1,
    Footrule,
    Hamming,
    HierarchicalLoss,
    Kendall,
    Listed,
    SequenceHamming,
    Spearman,
    ZeroOne,
    pair,
)
from skstruct.smoothing import AdditiveKernelRidge, Neighbors
from skstruct.spaces import Classes, Decoded, Interval, LabelSets, Rankings
from strategies import closed_sets, dags, forests, subsets, total_orders


def fitted(space, outputs, loss, *, seed=0, alpha=3.0, **settings):
    """A small model without intercept, and the rows that it was fitted to."""
    X = np.random.default_rng(seed).normal(size=(len(outputs), 2))
    model = ConditionalRiskMinimizer(
        space, loss, alpha=alpha, fit_intercept=False, kernel=RBF(0.7), **settings
    )
    return model.fit(X, outputs), X


def by_enumeration(model, X, outputs, everything, rho, largest):
    """The ramp loss of each training row straight from its definition."""
    W, loss = model.smoother_.weights(X), model.problem_.loss
    L = loss.pairwise(everything, outputs)  # [candidate, training row]
    risk = W @ L.T  # [row, candidate]
    ramp = L.T + (risk.min(axis=1, keepdims=True) - risk) / rho
    return np.minimum(ramp.max(axis=1), largest), risk


# ---------------------------------------------------------------- numbers
def test_the_constant_by_hand():
    assert stability_constant(50, alpha=200.0, kappa=1.0) == pytest.approx(0.25 + 0.0625 + 0.25)
    assert stability_constant(50, alpha=12.5, kappa=1.0) == pytest.approx(4.0 + 4.0 + 1.0)


def test_the_slack_by_hand():
    nu = 0.25 + 0.0625 + 0.25
    expected = 4 * 3 * nu / (0.5 * 50) + 3 * (8 * nu / 0.5 + 1) * math.sqrt(math.log(20) / 100)
    assert stability_slack(50, 200.0, 1.0, 3.0, 0.5, 0.05) == pytest.approx(expected)


def test_the_slack_in_its_limits():
    hoeffding = math.sqrt(math.log(1 / 0.05) / 2000)
    assert stability_slack(1000, 1e12, 1.0, 1.0, 1.0, 0.05) == pytest.approx(hoeffding, rel=1e-6)
    assert stability_slack(1000, 10.0, 1.0, 1.0, 1e9, 0.05) == pytest.approx(hoeffding, rel=1e-3)
    slacks = [stability_slack(m, 0.5 * m, 1.0, 1.0, 1.0, 0.05) for m in (100, 400, 1600)]
    assert slacks[0] > slacks[1] > slacks[2]
    assert slacks[2] / slacks[1] == pytest.approx(0.5, abs=0.01)


@given(st.floats(0.01, 30.0), st.integers(2, 9), st.integers(0, 10**6))
def test_one_row_moves_the_estimate_no_further_than_nu(t, m, seed):
    """Leaving out a row, penalty on the scale of one row kept: what the constant is for."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(m, 2))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    K, v = features @ features.T, rng.integers(0, 2, m).astype(float)
    lam = 1.0 / t  # kappa = 1
    whole = K @ np.linalg.solve(K + m * lam * np.eye(m), v)
    rest = slice(1, None)
    less = K[:, rest] @ np.linalg.solve(K[rest, rest] + (m - 1) * lam * np.eye(m - 1), v[rest])
    assert np.abs(whole - less).max() <= stability_constant(m, m * lam, 1.0) / m + 1e-12


def test_the_printed_constant_is_too_small():
    """One input at +1, all others at -1, all targets 1: t + t^1.5 does not cover the change."""
    m, t = 10, 0.01
    x, lam = np.array([1.0] + [-1.0] * (m - 1)), 1 / t
    norm = (x @ np.ones(m)) / (m + m * lam)  # f(x) = norm * x
    less = (x[1:] @ np.ones(m - 1)) / ((m - 1) + (m - 1) * lam)
    change = abs(norm - less)
    assert change > 1.5 * (t + t**1.5) / m
    assert change <= stability_constant(m, m * lam, 1.0) / m


def test_the_grid_is_known_in_advance_and_holds_what_is_useful():
    grid = rho_grid(5000, 5e4, 1.0, 0.05)
    assert 4 <= len(grid) <= 12
    assert (np.diff(grid) < 0).all()
    deviations = [stability_slack(5000, 5e4, 1.0, 1.0, rho, 0.05) for rho in grid]
    assert max(deviations) < 1.1  # nothing is tried whose slack alone says nothing
    assert stability_slack(5000, 5e4, 1.0, 1.0, grid[-1] / math.sqrt(2), 0.05) > 1.0
    assert len(rho_grid(20, 1.0, 1.0, 0.05)) == 1  # hopeless: nothing is spent on a search


# ---------------------------------------------------------------- the ramp loss
CASES = [
    (LabelSets(range(3)), subsets(3), Hamming([1.0, 0.5, 2.0])),
    (LabelSets(range(3)), subsets(3), F1()),
    (Classes(list("abcd")), np.arange(4), ZeroOne()),
    (Rankings(list("abc")), total_orders(3), Kendall()),
    (Rankings(list("abc")), total_orders(3), Footrule()),
    (Rankings(list("abc")), total_orders(3), Spearman()),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case[2]))
@pytest.mark.parametrize("rho", [0.02, 0.3, 2.0])
def test_the_ramp_is_that_of_enumeration(case, rho):
    space, everything, loss = case
    outputs = everything[np.random.default_rng(1).integers(len(everything), size=12)]
    users = np.array(list("abcd"))[outputs] if everything.ndim == 1 else outputs
    check_ramp(space, users, loss, everything, rho)


def check_ramp(space, users, loss, everything, rho, **settings):
    model, X = fitted(space, users, loss, **settings)
    largest = largest_loss(model.problem_.loss, model.problem_.space)
    expected, _ = by_enumeration(model, X, model.outputs_, everything, rho, largest)
    (found,) = ramps(
        model.problem_, fitted_means(model.problem_, model.smoother_, slice(0, len(X))),
        slice(0, len(X)), [rho],
    )  # fmt: skip
    np.testing.assert_allclose(found.clip(0, largest), expected, atol=1e-9)
    mean = mean_surrogates(model.problem_, model.smoother_, [rho], largest, "1KB")
    assert mean[0] == pytest.approx(expected.mean())


@pytest.mark.slow
@given(st.one_of(forests(4), dags(4)), st.floats(0.01, 3.0), st.integers(0, 10**6))
def test_the_ramp_on_hierarchies(space, rho, seed):
    everything = closed_sets(space)
    outputs = everything[np.random.default_rng(seed).integers(len(everything), size=8)]
    for loss in (HierarchicalLoss("uniform"), Hamming()):
        check_ramp(space, outputs, loss, everything, rho, seed=seed)


@given(st.integers(0, 10**6))
def test_the_ramp_grows_with_rho_and_covers_the_loss(seed):
    outputs = subsets(3)[np.random.default_rng(seed).integers(8, size=10)]
    model, X = fitted(LabelSets(range(3)), outputs, "hamming", seed=seed)
    rhos, rows = [0.001, 0.01, 0.1, 1.0, 10.0], slice(0, 10)
    means = fitted_means(model.problem_, model.smoother_, rows)
    found = np.array(list(ramps(model.problem_, means, rows, rhos)))
    assert (np.diff(found, axis=0) >= -1e-9).all()
    losses = model.problem_.loss(model.predict(X), outputs)
    assert (found >= losses - 1e-6).all()


def test_wide_embeddings_give_the_same_ramp():
    """Where psi is wider than there are rows, the model keeps weights instead of means."""
    outputs = subsets(4)[[1, 2, 4, 8, 15]]
    model, _ = fitted(LabelSets(range(4)), outputs, F1())
    assert model.problem_.by_weights
    check_ramp(LabelSets(range(4)), outputs, F1(), subsets(4), 0.4)


class Blurred:
    """A space whose decoder finds only the second best, and a bound below the best."""

    def __init__(self, space):
        self.space = space

    def __getattr__(self, name):
        return getattr(self.space, name)

    def rows(self, index):
        return self

    def argmin(self, costs):
        two = self.space.kbest(costs, 2)
        return Decoded(two.outputs[:, 1], two.values[:, 1], two.values[:, 0] - 0.01)


def test_decoders_that_are_not_exact_give_a_larger_ramp():
    outputs = subsets(3)[np.random.default_rng(4).integers(8, size=12)]
    model, _ = fitted(LabelSets(range(3)), outputs, "hamming")
    blurred = copy.copy(model.problem_)
    blurred.space = Blurred(model.problem_.space)
    means = fitted_means(model.problem_, model.smoother_, slice(0, 12))
    (exact,) = ramps(model.problem_, means, slice(0, 12), [0.3])
    (above,) = ramps(blurred, means, slice(0, 12), [0.3])
    assert (above >= exact + 0.01 - 1e-12).all()


@pytest.mark.parametrize("alpha", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("loss", ["hamming", "f1"])
def test_rounded_costs_move_the_risk_no_further_than_said(alpha, loss):
    everything = subsets(3)
    outputs = everything[np.random.default_rng(6).integers(8, size=14)]
    model, X = fitted(LabelSets(range(3)), outputs, loss, alpha=alpha)
    problem = model.problem_
    new = np.vstack([X, np.random.default_rng(7).normal(size=(200, 2))])
    means = problem.smooth(model.smoother_, new)
    rounded, _ = problem.costs(means)
    exact = problem.loss.cost(*problem.mean_embedding(means))
    change = (rounded - exact) @ problem.space.embed(everything).T
    limit = rounding_of_risk(problem, len(X) / alpha)
    assert 0 < abs(change).max() <= limit < 1e-6


def test_losses_decided_from_weights():
    """On a line the maximum is at a data point or an end: a fine list of candidates shows it."""
    y = np.array([0.1, 0.15, 0.8, 0.9, 0.85, 0.2])
    model, X = fitted(Interval(0, 1), y, "absolute")
    line = np.linspace(0, 1, 2001)[:, None]
    for rho in (0.05, 0.5):
        expected, _ = by_enumeration(model, X, model.outputs_, line, rho, 1.0)
        found = mean_surrogates(model.problem_, model.smoother_, [rho], 1.0, "1GB")[0]
        assert found == pytest.approx(expected.mean(), abs=1e-9)
    certificate = stability_bound(model, X, y, loss_bound=1.0)
    assert certificate.vacuous
    assert any("minimize" in line for line in certificate.assumptions)


# ---------------------------------------------------------------- the largest loss
@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case[2]))
def test_the_largest_loss_is_reached(case):
    space, everything, loss = case
    view, loss = pair(loss, space.fit(list("abcd")) if everything.ndim == 1 else space, everything)
    assert largest_loss(loss, view) == pytest.approx(loss.pairwise(everything, everything).max())


@pytest.mark.slow
@given(st.one_of(forests(5), dags(5)), st.data())
def test_the_largest_hierarchical_loss(space, data):
    everything = closed_sets(space)
    d = space.dag_.n_nodes
    weights = data.draw(st.lists(st.integers(0, 3), min_size=d, max_size=d))
    for chosen in ("siblings", weights):
        loss = HierarchicalLoss(chosen).bind(space)
        seen = loss.pairwise(everything, everything).max()
        known = largest_loss(loss, space)
        assert known >= seen - 1e-12
        if space.dag_.is_forest:
            assert known == pytest.approx(seen)


def test_the_largest_loss_of_others():
    space = LabelSets(range(4))
    assert largest_loss(Hamming(normalize=True).bind(space), space) == pytest.approx(1.0)
    orders = total_orders(3)
    rankings = Rankings(list("abc")).fit(orders)
    weighted = Footrule(item_weights=[1, 2, 3]).bind(rankings)
    assert largest_loss(weighted, rankings) >= weighted.pairwise(orders, orders).max()
    view, listed = pair(Listed(lambda z, y: float((z != y).sum() * 2)), space, subsets(4))
    assert largest_loss(listed, view) == 8.0
    view, listed = pair(Listed(F1()), space, subsets(4))
    assert largest_loss(listed, view) == 1.0
    view, squared = pair(*_line("squared"))
    assert largest_loss(squared, view) is None


def _line(name):
    from skstruct.losses import resolve_loss

    return resolve_loss(name), Interval(0, 1), np.array([[0.5]])


def test_the_largest_loss_of_sequences():
    loss = SequenceHamming(bigrams=0.5)
    loss.n_symbols_, loss.length_ = 2, 3
    outputs = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    assert largest_loss(loss, None) == loss.pairwise(outputs, outputs).max() == 4.0


# ---------------------------------------------------------------- what is promised, held
SIGNS = np.array([1.0, -1.0])  # two inputs at opposite ends of a line: k = x x'


def risk_and_bound(counts, rho, alpha, delta, probabilities):
    """One training set given by how often each (input, class) came: all in closed form.

    Estimated risk of class z at x: x * sum_i x_i 1[y_i != z] / (m + alpha).
    """
    m = counts.sum()
    wrong = counts.sum(axis=1, keepdims=True) - counts  # [input, class z]: rows with y != z
    slope = (SIGNS[:, None] * wrong).sum(axis=0) / (m + alpha)
    R = SIGNS[:, None] * slope
    predicted = R.argmin(axis=1)
    true = sum(probabilities[x, 1 - predicted[x]] for x in (0, 1))
    ramp = (1 - np.eye(2))[None] + (R.min(axis=1, keepdims=True) - R)[:, :, None] / rho
    surrogate = (counts * np.minimum(ramp.max(axis=1), 1.0)).sum() / m
    return true, surrogate + stability_slack(m, alpha, 1.0, 1.0, rho, delta), surrogate


def test_closed_form_of_the_simulation_is_the_model():
    """The shortcut below and the library agree on one training set."""
    rng = np.random.default_rng(3)
    x, y = rng.integers(2, size=60), rng.integers(2, size=60)
    counts = np.array([[np.sum((x == a) & (y == b)) for b in (0, 1)] for a in (0, 1)])
    model = ConditionalRiskMinimizer(
        Classes([0, 1]), kernel="linear", alpha=30.0, fit_intercept=False
    ).fit(SIGNS[x][:, None], y)
    certificate = stability_bound(model, SIGNS[x][:, None], y, rho=0.4, kappa=1.0)
    _, value, surrogate = risk_and_bound(counts, 0.4, 30.0, 0.05, np.full((2, 2), 0.25))
    assert certificate.terms["mean ramp loss"] == pytest.approx(surrogate)
    assert certificate.value == pytest.approx(value, abs=1e-6)
    assert certificate.value == pytest.approx(sum(list(certificate.terms.values())[:4]))


@pytest.mark.parametrize(("m", "noise"), [(2000, 0.0), (2000, 0.1), (20_000, 0.2), (300, 0.45)])
def test_the_bound_holds_as_often_as_it_says(m, noise):
    """1000 training sets of a distribution known in full: the risk is never above the bound.

    A bound that failed with probability 0.05 would pass less often than once in 10^22 times.
    """
    probabilities = 0.5 * np.array([[1 - noise, noise], [noise, 1 - noise]])
    rng = np.random.default_rng(m)
    alpha, failures, values = 100.0 * m, 0, []
    for counts in rng.multinomial(m, probabilities.ravel(), size=1000).reshape(-1, 2, 2):
        true, value, _ = risk_and_bound(counts, 0.01, alpha, 0.05, probabilities)
        failures += true > value
        values.append(value)
    assert failures == 0
    if m >= 2000:
        assert max(values) < 0.85  # and says something


def test_without_the_slack_it_would_not_hold():
    """The mean loss on the training rows is below the risk in more than 5 % of the sets."""
    probabilities = 0.5 * np.array([[0.55, 0.45], [0.45, 0.55]])
    rng, too_low = np.random.default_rng(0), 0
    for counts in rng.multinomial(300, probabilities.ravel(), size=1000).reshape(-1, 2, 2):
        true, _, training = risk_and_bound(counts, 1e-9, 3e4, 0.05, probabilities)
        too_low += true > training
    assert too_low > 300


def test_a_model_with_a_certificate_that_says_something():
    """2000 rows of a noisy sign: bound, empirical loss and true risk in the right order."""
    rng = np.random.default_rng(0)
    x = rng.integers(2, size=2000)
    y = np.where(rng.random(2000) < 0.05, 1 - x, x)
    X = SIGNS[x][:, None]
    model = ConditionalRiskMinimizer(
        Classes([0, 1]), kernel="cosine", alpha=1e5, fit_intercept=False, solver="cholesky"
    ).fit(X, y)
    certificate = stability_bound(model, X, y)
    assert -model.score(SIGNS[[0, 1]][:, None], [0, 1]) + 0.05 + 1e-9 > 0.05
    assert 0.05 < certificate.value < 0.85
    assert not certificate.vacuous
    assert certificate.terms["slopes tried"] > 1
    fixed = stability_bound(model, X, y, rho=certificate.terms["rho"])
    assert fixed.value < certificate.value  # the search has its price
    looser = stability_bound(model, X, y, delta=0.001)
    assert looser.value > certificate.value


def test_models_tried_have_their_price():
    outputs = subsets(3)[np.random.default_rng(2).integers(8, size=30)]
    alone, X = fitted(LabelSets(range(3)), outputs, "hamming", alpha=100.0)
    searched, _ = fitted(LabelSets(range(3)), outputs, "hamming", alpha=[100.0, 100.5])
    one = stability_bound(alone, X, outputs, rho=0.5)
    two = stability_bound(searched, X, outputs, rho=0.5)
    assert two.terms["models tried"] == 2
    halved = stability_slack(30, searched.alpha_, 1.0, 3.0, 0.5, 0.025)
    assert two.terms["stability"] + two.terms["deviation"] == pytest.approx(halved)
    assert two.value > one.value
    assert any("2 models tried" in line for line in two.assumptions)


def test_assumptions_name_a_width_from_the_data():
    outputs = subsets(3)[[1, 2, 3, 4]]
    X = np.arange(8.0).reshape(4, 2)
    settings = {"alpha": 1.0, "fit_intercept": False}
    own = ConditionalRiskMinimizer(LabelSets(range(3)), kernel=RBF(1.0), **settings).fit(X, outputs)
    from_data = ConditionalRiskMinimizer(LabelSets(range(3)), **settings).fit(X, outputs)
    assert not any("width" in line for line in stability_bound(own, X, outputs).assumptions)
    assert any("width" in line for line in stability_bound(from_data, X, outputs).assumptions)


def test_normalized_string_kernels_are_unit():
    X, y = ["abab", "abba", "cdcd", "dccd"], [0, 0, 1, 1]
    settings = {"alpha": 1.0, "fit_intercept": False}
    model = ConditionalRiskMinimizer(Classes([0, 1]), kernel=SpectrumKernel(2), **settings)
    one = stability_bound(model.fit(X, y), X, y, rho=0.5)
    assert one.value == stability_bound(model, X, y, rho=0.5, kappa=1.0).value
    raw = SpectrumKernel(2, normalize=False)
    counts = ConditionalRiskMinimizer(Classes([0, 1]), kernel=raw, **settings).fit(X, y)
    with pytest.raises(ValueError, match="give kappa"):
        stability_bound(counts, X, y)


# ---------------------------------------------------------------- what is refused
def test_what_the_theorem_does_not_cover_is_refused():
    outputs = subsets(3)[[1, 2, 3, 4]]
    model, X = fitted(LabelSets(range(3)), outputs, "hamming")
    plain = {"alpha": 1.0, "kernel": RBF(1.0)}

    def refused(match, given=None, X_given=X, y=outputs, **settings):
        with pytest.raises(ValueError, match=match):
            stability_bound(given or model, X_given, y, **settings)

    def other(weights=None, **settings):
        made = ConditionalRiskMinimizer(
            LabelSets(range(3)), **{"fit_intercept": False, **plain, **settings}
        )
        return made.fit(X, outputs, sample_weight=weights)

    refused("fit_intercept=False", other(fit_intercept=True))
    refused("got Neighbors", other(smoother=Neighbors(2)))
    refused("got AdditiveKernelRidge", other(smoother=AdditiveKernelRidge(np.eye(3))))
    refused("weight one", other(weights=[1.0, 2.0, 1.0, 1.0]))
    tokens = other()
    tokens.starts_ = np.arange(5)  # what a model of sequences of tokens keeps
    refused("tokens of sequences", tokens)
    refused("give kappa", other(kernel="linear"))
    refused(r"kappa is 0.001, but k\(x, x\)", other(kernel="linear"), kappa=1e-3)
    refused("kappa is a positive number", kappa=-1.0)
    refused("candidates=", other(loss="zero_one"))
    refused("very rows", y=outputs[::-1])
    refused("very rows", X_given=X[:3])
    refused("delta is a probability", delta=0.0)
    refused("rho is a positive number", rho=0.0)
    refused("loss_bound is a positive", loss_bound="large")
    refused("fitted ConditionalRiskMinimizer", ConditionalRiskMinimizer(smoother="kernel_ridge"))
    listed = other(loss=ZeroOne(candidates=subsets(3)))
    assert stability_bound(listed, X, outputs).terms["largest loss"] == 1.0
    line, X_line = fitted(Interval(0, 1), np.array([0.1, 0.5, 0.9]), "squared")
    refused("give loss_bound", line, X_line, np.array([0.1, 0.5, 0.9]))
    given = stability_bound(other(kernel="linear"), X, outputs, kappa=100.0)
    assert given.value > given.terms["largest loss"] == 3.0
    assert given.vacuous


def test_a_given_largest_loss_is_compared_with_all_distinct_outputs():
    """Files are often sorted: the first rows may all have one output."""
    X, y = np.ones((400, 1)), ["a"] * 300 + ["b", "c"] * 50
    model = ConditionalRiskMinimizer(
        Classes(["a", "b", "c"]), alpha=100.0, fit_intercept=False, kernel=RBF(1.0)
    ).fit(X, y)
    with pytest.raises(ValueError, match=r"loss_bound is 0\.01, but a training output costs 1"):
        stability_bound(model, X, y, loss_bound=0.01)
