# SPDX-License-Identifier: BSD-3-Clause
"""Penalties chosen on left-out rows, against the same choice written down in the obvious way."""

import warnings
from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skstruct.inspection import AlphaPathDisplay
from skstruct.learners import (
    ExponentialFamily,
    LabelRankingSVM,
    MaxMarginNetwork,
    MaxMarginTree,
    OnlineLabelRanker,
    StructuredSVM,
)
from skstruct.learners.label_ranking.base import best_wrong_pairs, wrong_pairs
from skstruct.learners.penalty_path import (
    choose_alpha,
    follow_path,
    penalty_grid,
    search_around,
    split_rows,
    weighted_mean,
)
from skstruct.spaces import LabelSets, Rankings, Sequences, ShortestPaths

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
SCORES = X @ RNG.normal(size=(3, 3)) + RNG.normal(size=(40, 3))
SETS = (SCORES > 0).astype(int)
RANKS = np.argsort(np.argsort(-SCORES, axis=1), axis=1) + 1
ALPHAS = [1.0, 0.1, 0.01]
MARGINS = {
    "svm": StructuredSVM(LabelSets(), tol=1e-3, random_state=0),
    "slack": StructuredSVM(LabelSets(), rescaling="slack", tol=1e-3, random_state=0),
    "kernel": StructuredSVM(LabelSets(), kernel="rbf", tol=1e-3, random_state=0),
    "network": MaxMarginNetwork(tol=1e-3, random_state=0),
    "tree": MaxMarginTree(method="chow-liu", tol=1e-3, random_state=0),
}
RANKERS = {
    "ranking svm": LabelRankingSVM(random_state=0),
    "ranking svm, kernel": LabelRankingSVM(kernel="rbf", random_state=0),
    "online": OnlineLabelRanker(shuffle=False),
}
LIKELIHOODS = {
    "likelihood": ExponentialFamily(LabelSets()),
    "risk": ExponentialFamily(LabelSets(), "hamming"),
}
ALL = {**MARGINS, **RANKERS, **LIKELIHOODS}


def outputs_of(name):
    return RANKS if name in RANKERS else SETS


def left_out(model, y, judge, weight=None):
    """Left-out losses of each alpha, with a new fit from scratch for each of them and each fold."""
    folds = split_rows(np.asarray(y), np.ones(len(y)), model.random_state, X)
    folds = [(np.sort(rows), left) for rows, left in folds]  # in the order of a fit
    kept = np.ones(len(y)) if weight is None else weight
    found = []
    for alpha in ALPHAS:
        losses = np.zeros(len(y))
        for rows, left in folds:
            fitted = model.__class__(**{**model.get_params(deep=False), "alpha": alpha})
            fitted.fit(X[rows], y[rows])
            losses[left] = judge(fitted, X[left], y[left])
        found.append(np.average(losses, weights=kept))
    return found


def by_loss(model, rows, truth):
    return (model.predict(rows) != truth).sum(axis=1)


def by_pairs(model, rows, truth):
    return wrong_pairs(np.asarray(model.predict(rows), float), truth.astype(float))


def by_likelihood(model, rows, truth):
    return -model.log_proba(rows, truth)


@pytest.mark.parametrize("name", ["svm", "kernel", "network", "tree", "slack"])
def test_margins_are_compared_as_by_fits_from_scratch(name):
    model = MARGINS[name].set_params(alpha=ALPHAS).fit(X, SETS)
    risks = [trial["risk"] for trial in model.search_.trials]
    expected = left_out(MARGINS[name], SETS, by_loss)[: len(risks)]
    # One output in forty may change between a gap of 0.1 and of 0.5 per cent.
    assert_allclose(risks, expected, atol=2.1 / 40)
    assert model.alpha_ == ALPHAS[int(np.argmin(risks))]
    again = MARGINS[name].set_params(alpha=model.alpha_).fit(X, SETS)
    assert again.search_ is None
    assert again.objective_ == model.objective_


@pytest.mark.parametrize("name", ["ranking svm", "ranking svm, kernel", "online"])
def test_rankers_are_compared_as_by_fits_from_scratch(name):
    model = RANKERS[name].set_params(alpha=ALPHAS).fit(X, RANKS)
    risks = [trial["risk"] for trial in model.search_.trials]
    expected = left_out(RANKERS[name], RANKS, by_pairs)[: len(risks)]
    # Passes in the order of the rows leave nothing to chance; else a pair or two may change.
    assert_allclose(risks, expected, atol=1e-12 if name == "online" else 2.1 / 120)
    assert model.alpha_ == ALPHAS[int(np.argmin(risks))]


@pytest.mark.parametrize(("name", "judge"), [("likelihood", by_likelihood), ("risk", by_loss)])
def test_likelihoods_are_compared_as_by_fits_from_scratch(name, judge):
    model = LIKELIHOODS[name].set_params(alpha=ALPHAS).fit(X, SETS)
    risks = [trial["risk"] for trial in model.search_.trials]
    expected = left_out(LIKELIHOODS[name], SETS, judge)[: len(risks)]
    assert_allclose(risks, expected, rtol=1e-3)
    assert model.alpha_ == ALPHAS[int(np.argmin(risks))]


def test_sequences_are_left_out_whole():
    rng = np.random.default_rng(1)
    rows = [rng.normal(size=(length, 2)) for length in (2, 3, 1, 3, 2, 2, 3, 1, 2, 2)]
    words = ["".join("ab"[int(value > 0)] for value in x[:, 0]) for x in rows]
    for model in (StructuredSVM(Sequences("ab"), random_state=0), ExponentialFamily(Sequences())):
        model.set_params(alpha=[1e4, 1e-3]).fit(rows, words)
        assert len(model.search_.trials) == 2
        risks = [trial["risk"] for trial in model.search_.trials]
        assert model.alpha_ == [1e4, 1e-3][int(np.argmin(risks))]
        model.set_params(alpha=1e-3).fit(rows, words)
        assert list(model.predict(rows)) == words  # the first feature tells the symbols apart


@pytest.mark.parametrize("name", ["svm", "ranking svm", "online", "likelihood"])
def test_inputs_in_other_units_choose_the_same_model(name):
    model = ALL[name].set_params(alpha="auto", fit_intercept=False)
    plain = model.fit(X, outputs_of(name)).predict(X)
    alpha, risks = model.alpha_, [trial["risk"] for trial in model.search_.trials]
    # A power of two changes no digit, by which a tie of decisions might be settled otherwise.
    scaled = model.fit(1024.0 * X, outputs_of(name)).predict(1024.0 * X)
    model.set_params(fit_intercept=True)
    assert_allclose([trial["risk"] for trial in model.search_.trials], risks, rtol=1e-3)
    assert model.alpha_ == pytest.approx(2.0**20 * alpha)
    assert_array_equal(plain, scaled)


@pytest.mark.parametrize("name", ["svm", "ranking svm", "online", "likelihood"])
def test_weights_are_copies_in_any_order_and_without_them_rows_are_not_there(name):
    rng = np.random.default_rng(3)
    times = rng.integers(0, 4, 40)
    model, y = ALL[name].set_params(alpha="auto", random_state=0), outputs_of(name)
    rows, copies = np.flatnonzero(times), rng.permutation(np.repeat(np.arange(40), times))
    fits = {
        "weights": (X, y, times.astype(float)),
        "rows of weight": (X[rows], y[rows], times[rows].astype(float)),
        "copies": (X[copies], y[copies]),
    }
    if name == "online":  # a copy is another step
        del fits["copies"]
    found = [[(t["alpha"], t["risk"]) for t in model.fit(*g).search_.trials] for g in fits.values()]
    for trials in found[1:]:
        assert_allclose(trials, found[0], rtol=1e-3 if name == "likelihood" else 1e-9)


@pytest.mark.parametrize("name", list(ALL))
def test_the_same_seed_chooses_the_same(name):
    model = ALL[name].set_params(alpha="auto")
    first = model.fit(X, outputs_of(name)).search_.trials
    assert model.fit(X, outputs_of(name)).search_.trials == first
    assert isinstance(model.alpha_, float)
    display = AlphaPathDisplay.from_estimator(model)
    assert display.searched == "alpha"


@pytest.mark.parametrize("name", list(ALL))
def test_too_few_rows_or_outputs_take_a_penalty_by_the_scale_alone(name):
    model = ALL[name].set_params(alpha="auto")
    model.fit(X[:3], outputs_of(name)[:3])
    assert model.search_ is None
    assert model.alpha_ > 0
    same = np.repeat(outputs_of(name)[:1], 10, axis=0)
    assert model.fit(X[:10], same).search_ is None


ORDERS = np.array(list(permutations(range(1, 4))))
SUBSETS = np.array(list(product([0, 1], repeat=3)))


@pytest.mark.parametrize(
    "name", ["svm", "slack", "network", "tree", "ranking svm", "online", "risk"]
)
def test_a_model_no_better_than_one_answer_for_all_says_so(name):
    rng = np.random.default_rng(5)
    noise, times = np.ones((40, 1)), rng.integers(1, 4, 40).astype(float)
    rows = rng.choice(3, 40, p=[0.6, 0.2, 0.2])
    y, listed = (ORDERS[rows], ORDERS) if name in RANKERS else (SUBSETS[rows], SUBSETS)
    losses = wrong_pairs if name in RANKERS else lambda z, y: (z != y).sum(axis=1)
    each = [
        losses(np.repeat(one[None], 40, axis=0).astype(float), y.astype(float)) for one in listed
    ]
    model = ALL[name].set_params(alpha=[1.0, 0.1])
    with pytest.warns(UserWarning, match="nothing was learned from the inputs"):
        model.fit(noise, y, times)
    assert model.search_.constant == pytest.approx(np.average(each, axis=1, weights=times).min())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, outputs_of(name))
    assert model.search_.no_better is None


@pytest.mark.parametrize("step", [1, 7, 30])
def test_the_best_order_for_all_rows_is_found_in_blocks(step, monkeypatch):
    rng = np.random.default_rng(7)
    y = rng.integers(1, 4, (30, 3)).astype(float)
    y[rng.random(y.shape) < 0.2] = np.nan
    times = rng.integers(0, 4, 30).astype(float)
    blocks = [slice(start, start + step) for start in range(0, 30, step)]
    monkeypatch.setattr("skstruct.learners.label_ranking.base.pair_blocks", lambda n, d: blocks)
    each = np.array([wrong_pairs(np.tile(one, (30, 1)), y) for one in ORDERS])
    told = ~np.isnan(each[0])
    least = np.average(each[:, told], axis=1, weights=times[told]).min()
    assert best_wrong_pairs(Rankings(range(3)), y, times) == pytest.approx(least)


def test_where_no_answer_is_known_for_all_nothing_is_said():
    rng = np.random.default_rng(6)
    x, seen = rng.normal(size=(20, 2)), rng.random((20, 2)) < 0.7
    gaps = np.where(seen, rng.integers(2, size=(20, 2)), np.nan)
    assert StructuredSVM(LabelSets(), alpha=[1.0, 0.1]).fit(x, gaps).search_.constant is None
    model = ExponentialFamily(LabelSets(), alpha=[1.0, 0.1]).fit(x, gaps)
    assert model.search_.constant is None  # by likelihoods
    tied = np.ones((20, 3))
    assert best_wrong_pairs(Rankings(range(3)), tied, np.ones(20)) is None


def test_pieces_keep_the_penalty_of_the_first():
    model = StructuredSVM(LabelSets(range(3)), random_state=0).partial_fit(X[:20], SETS[:20])
    alpha = model.alpha_
    assert model.partial_fit(X[20:], SETS[20:]).alpha_ == alpha
    ranker = OnlineLabelRanker(Rankings(range(3))).partial_fit(X, RANKS)
    assert ranker.alpha_ == pytest.approx(1.0 + (X**2).sum(axis=1).mean())  # and the constant
    with pytest.raises(ValueError, match=r"partial_fit leaves no rows out.*got \[1.0, 0.1\]"):
        OnlineLabelRanker(alpha=[1.0, 0.1]).partial_fit(X, RANKS)


class Listed:
    """Losses that are known for every penalty; remembers which were asked for."""

    def __init__(self, losses):
        self.losses, self.asked = losses, []

    def scale(self):
        return 1.0, 1.0

    def fit_at(self, alpha, rows, start):
        self.asked.append((alpha, start))
        return self.losses[alpha], alpha

    def left_out_losses(self, fitted, rows):
        return np.full(len(rows), fitted) + 0.01 * np.cos(rows)

    def constant_risk(self):
        return None


FOLDS = [(np.arange(5, 10), np.arange(5)), (np.arange(5), np.arange(5, 10))]


@pytest.mark.parametrize("lowest", range(7))
def test_the_least_loss_is_found_wherever_it_is_and_ties_go_to_the_stronger(lowest):
    losses = [1.0, 2.0, 2.0, 2.0, 1.5, 2.0, 2.0]
    losses[lowest] = 0.5  # behind a hump, for most
    path = Listed(dict(zip(2.0 ** -np.arange(7), losses)))
    alpha, search = choose_alpha(list(path.losses), path, lambda: FOLDS, np.ones(10))
    assert alpha == 2.0**-lowest
    assert [trial["alpha"] for trial in search.trials] == list(path.losses)
    assert path.asked[:4] == [(1.0, None), (1.0, None), (0.5, 1.0), (0.5, 1.0)]
    path = Listed({8.0: 3.0, 4.0: 1.0, 2.0: 1.0})
    assert follow_path(path, np.array([8.0, 4.0, 2.0]), FOLDS, np.ones(10)).best["alpha"] == 4.0


def test_one_penalty_or_no_folds_leave_nothing_to_compare():
    path = Listed({4.0: 2.0, 2.0: 1.0})
    assert choose_alpha([3.0], path, lambda: FOLDS, np.ones(10)) == (3.0, None)
    assert choose_alpha(3, path, lambda: FOLDS, np.ones(10)) == (3.0, None)
    assert choose_alpha([4.0, 0.02], path, list, np.ones(10)) == (0.02, None)


def test_regret_with_a_hump_is_followed_to_where_it_is_low():
    rng = np.random.default_rng(0)
    arcs = [(5 * i + j, 5 * i + j + 1) for i in range(5) for j in range(4)]
    arcs += [(5 * i + j, 5 * i + j + 5) for i in range(4) for j in range(5)]
    space = ShortestPaths([(str(a), str(b)) for a, b in arcs], source="0", target="24")
    inputs, effects = rng.normal(size=(500, 5)), rng.binomial(1, 0.5, (len(arcs), 5))
    means = ((inputs @ effects.T / np.sqrt(5) + 3) ** 8 + 1) / 3.5**8
    costs = means * rng.uniform(0.5, 1.5, means.shape)
    alphas = [8.0, 2.5, 0.8, 0.25, 0.08, 0.025, 0.008]
    model = StructuredSVM(space, "regret", alpha=alphas, random_state=0)
    model.fit(inputs[:200], costs[:200])
    risks = [trial["risk"] for trial in model.search_.trials]
    assert min(risks[1:3]) > risks[0]  # two in a row are worse than the first

    def regret(model):
        decided = (space.validate(model.predict(inputs[200:])) * costs[200:]).sum()
        return decided / space.argmin(costs[200:]).values.sum() - 1

    strongest = StructuredSVM(space, "regret", alpha=8.0, random_state=0)
    assert regret(model) < 0.8 * regret(strongest.fit(inputs[:200], costs[:200]))


class Valley(Listed):
    """Losses that fall to a penalty and rise again, by half decades around one."""

    def __init__(self, lowest):
        self.lowest, self.asked = lowest, []

    def fit_at(self, alpha, rows, start):
        self.asked.append((alpha, start))
        return abs(2 * np.log10(alpha / self.lowest)), alpha


@pytest.mark.parametrize("step", range(-8, 9))
def test_a_search_around_a_usual_penalty_goes_down_the_valley(step):
    path = Valley(0.3 * 10.0 ** (step / 2))
    alpha, search = choose_alpha("auto", path, lambda: FOLDS, np.ones(10), usual=0.3)
    assert alpha == pytest.approx(path.lowest)
    tried = [trial["alpha"] for trial in search.trials]
    assert tried == sorted(tried, reverse=True)
    assert path.asked[0] == (0.3, None)
    for tried, start in path.asked[2:]:  # each begins at its neighbour, on the side of 0.3
        assert abs(np.log10(tried / start)) == pytest.approx(0.5)
        assert abs(np.log(start / 0.3)) < abs(np.log(tried / 0.3))
    assert len(search.trials) <= abs(step) + 3
    assert choose_alpha("auto", path, list, np.ones(10), usual=0.3) == (0.3, None)


def test_a_search_ends_after_two_that_are_not_better():
    flat = Listed(dict.fromkeys(10.0 ** (np.arange(-8, 9) / 2), 1.0))
    search = search_around(flat, 1.0, FOLDS, np.ones(10))
    assert len(search.trials) == 5
    assert search.best["alpha"] == 10.0  # of equal ones the strongest


def test_no_more_rows_are_left_out_than_asked_for():
    folds = split_rows(np.arange(300)[:, None], np.ones(300), None, many=200, most=40)
    assert [[len(part) for part in fold] for fold in folds] == [[260, 40]]
    folds = split_rows(np.arange(300)[:, None], np.ones(300), None, many=200, most=100)
    assert [[len(part) for part in fold] for fold in folds] == [[240, 60]]


def test_folds_share_no_row_and_copies_stay_together():
    outputs = np.arange(30)[:, None] % 7
    rows = np.random.default_rng(0).normal(size=(30, 2))
    rows[1], outputs[1] = rows[0], outputs[0]
    folds = split_rows(outputs, np.ones(30), 3, rows)
    assert len(folds) == 5
    assert_array_equal(np.sort(np.concatenate([left for _, left in folds])), np.arange(30))
    for kept, left in folds:
        assert_array_equal(np.sort(np.concatenate([kept, left])), np.arange(30))
        assert (0 in left) == (1 in left)
    many = split_rows(np.arange(1500)[:, None], np.ones(1500), None)
    assert [len(part) for part in many[0]] == [1200, 300]
    assert len(many) == 1


def test_standard_errors_are_those_of_the_definition():
    losses = np.random.default_rng(0).normal(size=50)
    mean, error = weighted_mean(losses, np.ones(50))
    assert mean == pytest.approx(losses.mean())
    assert error == pytest.approx(losses.std() / np.sqrt(50))


def test_penalties_reach_further_where_inputs_hardly_vary():
    assert penalty_grid("auto", 2.0).max() == 2.0
    assert len(penalty_grid("auto", 2.0, 1e-2)) == len(penalty_grid("auto", 2.0)) + 4
    assert_allclose(penalty_grid("auto", 0.0), penalty_grid("auto", 1.0))
