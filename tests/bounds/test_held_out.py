# SPDX-License-Identifier: BSD-3-Clause
"""Bounds from rows that a model was not fitted to: how often they fail, and for which models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom
from sklearn.model_selection import GridSearchCV

from skstruct import ConditionalRiskMinimizer, StructuredSVM
from skstruct.bounds import held_out_bound
from skstruct.bounds.held_out import METHODS
from skstruct.kernels import RBF
from skstruct.learners import LabelRankingSVM, OutputKernelRegressor
from skstruct.losses import F1, Hamming
from skstruct.model_selection import loss_scorer
from skstruct.smoothing import Forest, Neighbors
from skstruct.spaces import Classes, LabelSets

DELTA = 0.1
# Of 2,000 sets of rows, so many may fail by chance where each fails with probability 0.1: more
# would have a probability below 1e-6.
MOST = int(binom.isf(1e-6, 2000, DELTA))


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 5, 40, 300])
@pytest.mark.parametrize("rate", [0.01, 0.2, 0.5, 0.97])
def test_binary_losses_are_bounded_exactly(n, rate):
    """The probability of failure is a sum over all numbers of mistakes: no simulation."""
    values = [held_out_bound([1.0] * k + [0.0] * (n - k), 1.0, delta=DELTA, binary=True).value
              for k in range(n + 1)]  # fmt: skip
    failed = binom.pmf(np.arange(n + 1), n, rate)[np.array(values) < rate].sum()
    assert failed <= DELTA
    for k, value in enumerate(values[:-1]):  # and no smaller bound would do
        assert_allclose(binom.cdf(k, n, value), DELTA, rtol=1e-6)
    assert values[-1] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 30, 200])
@pytest.mark.parametrize("distribution", ["beta", "three values", "rare", "constant"])
def test_bounds_hold_for_all_but_delta_of_all_draws(n, distribution):
    rng, largest = np.random.default_rng(0), 4.0
    draws, mean = {
        "beta": (rng.beta(0.3, 1.2, (2000, n)), 0.2),
        "three values": (rng.choice([0.0, 0.5, 1.0], (2000, n), p=[0.5, 0.3, 0.2]), 0.35),
        "rare": ((rng.random((2000, n)) < 0.02).astype(float), 0.02),
        "constant": (np.full((2000, n), 0.6), 0.6),
    }[distribution]
    method = {"delta": DELTA, "method": "hoeffding_bentkus"}  # test_means.py has the others
    values = [held_out_bound(largest * row, largest, **method).value for row in draws]
    assert np.count_nonzero(np.array(values) < largest * mean) <= MOST


def test_the_method_does_not_depend_on_the_losses():
    """Losses that happen to be 0 or 1 are bounded exactly only where they cannot be else."""
    coins = [0.0, 1.0, 0.0] * 10
    assert held_out_bound(coins, 1.0) == held_out_bound(coins, 1.0, method="betting")
    assert "Clopper" in held_out_bound(coins, 1.0, binary=True).inequality
    assert held_out_bound(coins, 1.0, binary=True, method="betting") == held_out_bound(coins, 1.0)
    named = {held_out_bound(coins, 1.0, method=method).inequality for method in METHODS}
    assert len(named) == 3
    assert "By betting against large means" in str(held_out_bound(coins, 1.0))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50), st.floats(0.001, 0.5))
def test_both_inequalities_from_their_definition(losses, delta):
    n, mean, rates = len(losses), np.mean(losses), np.linspace(0, 1, 20001)[1:-1]
    kl = (mean * np.log(np.maximum(mean, 1e-300) / rates)
          + (1 - mean) * np.log(np.maximum(1 - mean, 1e-300) / (1 - rates)))  # fmt: skip
    hoeffding = np.where(rates > mean, np.exp(-n * kl), 1.0)
    bentkus = np.e * binom.cdf(np.ceil(n * mean - 1e-9), n, rates)
    possible = rates[np.minimum(hoeffding, bentkus) > delta]
    value = held_out_bound(losses, 1.0, delta=delta, method="hoeffding_bentkus").value
    assert value >= mean - 1e-12
    assert_allclose(value, possible.max(initial=0.0), atol=2e-4)


def test_more_rows_and_larger_losses():
    few, many = (held_out_bound(np.tile([0.0, 1.0], n), 1.0) for n in (50, 5000))
    assert 0.5 < many.value < few.value < 1
    scaled = held_out_bound(np.tile([0.0, 7.0], 50), 7.0)
    assert_allclose(scaled.value, 7 * few.value)
    exact = held_out_bound(np.tile([0.0, 1.0], 50), 1.0, binary=True)
    tails = held_out_bound(np.tile([0.0, 1.0], 50), 1.0, method="hoeffding_bentkus")
    assert exact.value < tails.value
    assert few.kind == "held_out"
    assert "over the draw of the held-out rows" in " ".join(str(few).split())
    assert held_out_bound([1.0, 1.0], 1.0).vacuous


@pytest.mark.parametrize(
    ("losses", "options", "message"),
    [
        ([], {}, "one per row"),
        ([[0.0]], {}, "one per row"),
        ([np.nan], {}, "finite"),
        ([0.0, 2.0], {}, "the loss of row 1 is 2; losses are from 0 to the largest, 1"),
        ([-0.1], {}, "the loss of row 0 is -0.1"),
        ([0.5], {"binary": True}, "between 0 and the largest"),
        ([0.5], {"delta": 0.0}, "delta is a probability"),
        ([0.5], {"method": "hope"}, "method is one of auto, hoeffding_bentkus, betting, empirical"),
        ([0.5], {"method": "empirical_bernstein"}, "needs two rows"),
        ([0.5], {"largest": 0.0}, "positive number"),
    ],
)
def test_what_it_refuses(losses, options, message):
    with pytest.raises(ValueError, match=message):
        held_out_bound(losses, **{"largest": 1.0} | options)


# ------------------------------------------------------------------ models
def labels(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, (X @ np.ones((3, 4)) + rng.standard_normal((n, 4)) > 0).astype(int)


MODELS = {
    "default": lambda: ConditionalRiskMinimizer(smoother="kernel_ridge"),
    "f1": lambda: ConditionalRiskMinimizer(LabelSets(), F1(), smoother="kernel_ridge"),
    "forest": lambda: ConditionalRiskMinimizer(smoother=Forest(10, random_state=0)),
    "neighbors": lambda: ConditionalRiskMinimizer(smoother=Neighbors(5)),
    "landmarks": lambda: ConditionalRiskMinimizer(n_landmarks=20, alpha=1.0, solver="nystroem"),
    "no intercept": lambda: ConditionalRiskMinimizer(fit_intercept=False),
    "output kernel": lambda: OutputKernelRegressor(output_kernel="hamming", space=LabelSets()),
    "output kernel, loss": lambda: OutputKernelRegressor(loss="hamming", space=LabelSets()),
    "dirac": lambda: OutputKernelRegressor(),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_every_model_is_certified_by_other_rows(name):
    X, Y = labels(300, 0)
    model = MODELS[name]().fit(X[:60], Y[:60])
    certificate = model.certify(X[60:], Y[60:])
    mean = -model.score(X[60:], Y[60:])
    assert certificate.kind == "held_out"
    assert_allclose(certificate.terms["mean loss"], mean)
    assert mean < certificate.value < mean + 0.15 * certificate.terms["largest loss"]
    assert certificate.terms["rows"] == 240
    assert model.certify(X[60:], Y[60:], bound="held_out") == certificate
    assert model.certify(X[60:], Y[60:], delta=1e-6).value > certificate.value
    other = Y[:60].copy()
    other[0] = 1 - other[0]
    assert model.certify(X[100:160], other).kind == "held_out"


@pytest.mark.slow
def test_risks_of_models_stay_below_their_certificates():
    """200 sets of 40 rows each for one model, whose risk 20,000 rows tell (to 0.01)."""
    X, Y = labels(60, 0)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother="kernel_ridge").fit(X, Y)
    risk = -model.score(*labels(20000, 1))
    values = [model.certify(*labels(40, seed), delta=DELTA).value for seed in range(2, 202)]
    failed = np.count_nonzero(np.array(values) < risk - 0.01)
    assert failed <= binom.isf(1e-6, 200, DELTA)


def test_training_rows_need_a_theorem():
    X, Y = labels(60, 0)
    model = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, Y)
    with pytest.raises(ValueError, match=r"without intercept.*certify\(X_new, y_new\)"):
        model.certify(X, Y)
    with pytest.raises(ValueError, match="these are the rows of training"):
        model.certify(X, Y, bound="held_out")
    forest = ConditionalRiskMinimizer(smoother=Forest(5)).fit(X, Y)
    with pytest.raises(ValueError, match=r"got Forest.*certify\(X_new, y_new\)"):
        forest.certify(X, Y)
    stable = ConditionalRiskMinimizer(alpha=1e4, fit_intercept=False).fit(X, Y)
    assert stable.certify(X, Y).kind == "stability"
    with pytest.raises(ValueError, match="rho belong to bounds from training rows"):
        stable.certify(*labels(50, 1), rho=0.1)
    with pytest.raises(ValueError, match="bound is"):
        stable.certify(X, Y, bound="hope")
    regressor = OutputKernelRegressor(kernel=RBF(1.0), alpha=1.0).fit(X, [str(row) for row in Y])
    assert regressor.certify(X, [str(row) for row in Y]).kind == "pac_bayes"
    assert regressor.certify(X, [str(row) for row in Y], bound="compression",
                             input_bound=1.0, output_bound=1.0).kind == "compression"  # fmt: skip


def test_some_rows_of_training_are_noticed():
    X, Y = labels(100, 0)
    model = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X[:60], Y[:60])
    with pytest.raises(ValueError, match=r"row 0 of X and y is a row of training \(10 such rows\)"):
        model.certify(X[50:], Y[50:])
    with pytest.raises(ValueError, match="a row of training"):
        model.certify(X[:60][::-1], Y[:60][::-1])
    discrete = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(
        np.eye(3)[np.arange(60) % 3], np.arange(60) % 3
    )
    assert discrete.certify(np.eye(3)[np.arange(40) % 3], np.arange(40) % 3).value < 0.1


def test_largest_losses():
    X, Y = labels(60, 0)
    model = ConditionalRiskMinimizer(LabelSets(range(4)), Hamming(), smoother="kernel_ridge").fit(
        X, Y
    )
    new = labels(30, 1)
    assert model.certify(*new).terms["largest loss"] == 4
    assert model.certify(*new, loss_bound=5.0).value > model.certify(*new).value
    with pytest.raises(ValueError, match="certify: loss_bound is 1, but a training output costs"):
        model.certify(*new, loss_bound=1.0)
    numbers = ConditionalRiskMinimizer(loss="absolute", smoother="kernel_ridge").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="certify: the largest value of Absolute"):
        numbers.certify(X[:10] + 9.0, X[:10, 1])


# ------------------------------------------------------------------ scorers
@pytest.mark.slow
def test_a_grid_over_losses_has_one_judge():
    X, Y = labels(90, 0)
    grid = {"loss": ["hamming", "f1"]}
    scored = GridSearchCV(
        ConditionalRiskMinimizer(LabelSets(range(4)), alpha=1.0), grid,
        scoring=loss_scorer("hamming"), cv=3,
    ).fit(X, Y)  # fmt: skip
    scores = scored.cv_results_["mean_test_score"]
    assert_allclose(scores[0], scores[1])  # both predict for the judge
    machines = GridSearchCV(
        StructuredSVM(LabelSets(range(4)), alpha=0.01, random_state=0),
        grid,
        scoring=loss_scorer("hamming"),
        cv=3,
    )
    assert (machines.fit(X, Y).cv_results_["mean_test_score"] <= 0).all()


def test_learners_without_a_loss_in_score_are_judged_too():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = 1 + np.argsort(np.argsort(X @ np.ones((2, 3)) * [1, 2, 3], axis=1), axis=1)
    model = LabelRankingSVM(alpha=0.01, random_state=0).fit(X, y)
    predicted = model.predict(X)
    wrong = [np.abs(np.sign(p[:, None] - p) - np.sign(t[:, None] - t)).sum() / 4
             for p, t in zip(predicted, y)]  # fmt: skip
    assert_allclose(-loss_scorer("kendall")(model, X, y), np.mean(wrong))
    classes = ConditionalRiskMinimizer(Classes(), smoother="kernel_ridge").fit(X, y[:, 0])
    assert_allclose(loss_scorer("zero_one")(classes, X, y[:, 0]), classes.score(X, y[:, 0]))
