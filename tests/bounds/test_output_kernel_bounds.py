# SPDX-License-Identifier: BSD-3-Clause
"""Bounds of regression in an output kernel's space, by hand and on known distributions."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.bounds import compression_bound, pac_bayes_bound
from skstruct.bounds.output_regression import output_dimension_of, squared_error_and_norm
from skstruct.bounds.pac_bayes import (
    SIGMAS,
    coefficient_scale,
    compression_slack,
    pac_bayes_value,
    spread_evenly,
)
from skstruct.kernels import RBF, Dirac
from skstruct.learners import OutputKernelRegressor
from skstruct.smoothing import SampleCompression
from skstruct.spaces import Candidates, Classes, LabelSets, Sequences
from strategies import subsets

LIKE = math.e / (math.e - 1.0)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(180)


def regression(A, K_X, K_Y, *, kernel=None, unit=True, **more):
    """What the bounds read off a fitted model, and nothing else."""
    return SimpleNamespace(
        coef_=A,
        gram_inputs=lambda X=None: K_X,
        gram_outputs=lambda: K_Y,
        output_kernel_=kernel or Dirac(),
        kernel_=None,
        features_=None,
        unit_inputs_=unit,
        **more,
    )


def ridge(K_X, C):
    return np.linalg.inv(K_X + np.eye(len(K_X)) / C)


# ---------------------------------------------------------------- numbers
def test_the_pac_bayes_value_by_hand():
    exponent = 3 * (0.2 - math.log(1.4) / 2) + (2 * 4.0 + 5.0 / 0.2 + math.log(20)) / 100
    expected = 1.4 * LIKE * (1 - math.exp(-exponent))
    assert pac_bayes_value(100, 4.0, 5.0, 3, 0.1, 0.05) == pytest.approx(expected)


def test_the_pac_bayes_value_in_its_limits():
    assert pac_bayes_value(10**12, 0.0, 0.0, 2, 1e-9, 0.05) == pytest.approx(0.0, abs=1e-9)
    perfect = pac_bayes_value(10**12, 0.0, 0.0, 1, 1.0, 0.05)  # noise alone never cancels
    assert perfect == pytest.approx(5 * LIKE * (1 - math.exp(-2) * math.sqrt(5)))
    assert pac_bayes_value(10, 1e9, 0.0, 1, 0.5, 0.05) == pytest.approx(3 * LIKE)


@given(st.floats(1e-3, 5.0), st.integers(1, 4), st.integers(0, 10**6))
def test_the_gaussian_integral_behind_it(s, dimension, seed):
    """E exp(-2 |Y - V X|²), V = W + sigma noise, |X| = 1: the factor printed in (6) is not there.

    V X is W X + sigma e with e standard normal in N coordinates: one integral each, by
    quadrature.
    """
    rng = np.random.default_rng(seed)
    error = rng.normal(size=dimension)
    each = [
        WEIGHTS @ np.exp(-2 * (r - math.sqrt(s) * NODES) ** 2) / math.sqrt(2 * math.pi)
        for r in error
    ]
    closed = (1 + 4 * s) ** (-dimension / 2) * math.exp(-2 * (error @ error) / (1 + 4 * s))
    assert math.prod(each) == pytest.approx(closed, rel=1e-5)


def test_the_compression_slack_by_hand():
    expected = 3.0 * math.sqrt((20 + math.log(8 * 10 / 0.1)) / (2 * 96))
    assert compression_slack(100, 3.0, 0.1) == pytest.approx(expected)
    assert compression_slack(100, 300.0, 0.1) == pytest.approx(100 * expected)  # a unit of loss
    with pytest.raises(ValueError, match="at least 8 rows; got 7"):
        compression_slack(7, 1.0, 0.1)


@given(st.floats(1e-6, 1e12))
def test_scales_cover_what_is_needed(needed):
    scale, k = coefficient_scale(needed)
    assert needed <= scale
    assert scale <= max(0.125, 1.1 * needed)
    assert sum(1 / ((j + 1) * (j + 2)) for j in range(k + 1)) < 1  # shares of delta


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_traces_are_sums_over_features(m, seed):
    rng = np.random.default_rng(seed)
    F_X, F_Y, A = rng.normal(size=(m, 3)), rng.normal(size=(m, 2)), rng.normal(size=(m, m))
    W = F_Y.T @ A @ F_X
    error, norm = squared_error_and_norm(A, F_X @ F_X.T, F_Y @ F_Y.T)
    assert error == pytest.approx(((F_Y - F_X @ W.T) ** 2).sum(), rel=1e-7, abs=1e-9)
    assert norm == pytest.approx((W**2).sum(), rel=1e-7, abs=1e-9)


# ---------------------------------------------------------------- certificates
def two_clusters(m, noise, rng):
    """Two far inputs and two classes; rows, and the model of ridge regression on them."""
    x = rng.integers(2, size=m)
    y = np.where(rng.random(m) < noise, 1 - x, x)
    K_X, K_Y = (np.equal.outer(v, v).astype(float) for v in (x, y))
    return x, y, regression(ridge(K_X, 1.0), K_X, K_Y)


def test_the_pac_bayes_certificate_is_the_best_of_its_grid():
    x, y, model = two_clusters(40, 0.1, np.random.default_rng(0))
    error, norm = squared_error_and_norm(model.coef_, model.gram_inputs(), model.gram_outputs())
    certificate = pac_bayes_bound(model, x[:, None], y, output_dimension=2)
    share = 0.05 / len(SIGMAS)
    # Scaled by c, the kernel's largest loss is 1 + 4s; unscaled it is 1, within 1 + 4s as well.
    values = [
        pac_bayes_value(40, (1 + 4 * s) * error, (1 + 4 * s) * norm, 2, s, share) / (1 + 4 * s)
        for s in SIGMAS
    ]
    plain = [pac_bayes_value(40, error, norm, 2, s, share) for s in SIGMAS]
    assert certificate.value == pytest.approx(min(values))
    assert (np.array(values) <= np.array(plain) + 1e-12).all()
    terms = list(certificate.terms.values())
    assert certificate.value == pytest.approx(terms[4] * (1 - math.exp(-sum(terms[:4]))))
    fixed = pac_bayes_bound(
        model, x[:, None], y, output_dimension=2, sigma2=certificate.terms["sigma2"]
    )
    assert fixed.value < certificate.value


def test_the_unit_of_the_output_kernel_does_not_matter():
    x, y, model = two_clusters(30, 0.1, np.random.default_rng(1))
    ten = regression(model.coef_, model.gram_inputs(), 10.0 * model.gram_outputs())
    settings = {"output_dimension": 2}
    one = pac_bayes_bound(model, x[:, None], y, loss_bound=1.0, **settings)
    scaled = pac_bayes_bound(ten, x[:, None], y, loss_bound=10.0, **settings)
    assert scaled.value == pytest.approx(10 * one.value)
    assert scaled.vacuous == one.vacuous
    one = compression_bound(model, x[:, None], y, output_bound=1.0)
    scaled = compression_bound(ten, x[:, None], y, output_bound=10.0)
    assert scaled.value == pytest.approx(10 * one.value)


def ridge_of_counts(counts, C):
    """Squared error, squared norm and decisions of ridge regression, from counts alone.

    Far inputs: W sends input x to the class counts n_xy / (n_x + 1 / C).
    """
    W = counts / (counts.sum(axis=1, keepdims=True) + 1 / C)
    distance = ((np.eye(2)[None] - W[:, None, :]) ** 2).sum(axis=2)  # [x, y]
    return (counts * distance).sum(), (W**2).sum(), W.argmax(axis=1)


def test_closed_form_of_the_simulation_is_the_model():
    x, y, model = two_clusters(50, 0.2, np.random.default_rng(2))
    counts = np.array([[np.sum((x == a) & (y == b)) for b in (0, 1)] for a in (0, 1)])
    found = squared_error_and_norm(model.coef_, model.gram_inputs(), model.gram_outputs())
    assert found == pytest.approx(ridge_of_counts(counts, 1.0)[:2])


@pytest.mark.parametrize(
    ("m", "noise", "below"), [(200, 0.0, 0.4), (2000, 0.0, 0.06), (2000, 0.1, 0.65), (50, 0.4, 9.0)]
)
def test_pac_bayes_holds_as_often_as_it_says(m, noise, below):
    """1000 training sets of a distribution known in full: the risk is never above the bound.

    A bound that failed with probability 0.05 would pass less often than once in 10^22 times.
    """
    probabilities = 0.5 * np.array([[1 - noise, noise], [noise, 1 - noise]])
    rng, failures, values = np.random.default_rng(m), 0, []
    for counts in rng.multinomial(m, probabilities.ravel(), size=1000).reshape(-1, 2, 2):
        error, norm, predicted = ridge_of_counts(counts, 1.0)
        true = sum(probabilities[x, 1 - predicted[x]] for x in (0, 1))
        share = 0.05 / len(SIGMAS)
        value = min(
            pac_bayes_value(m, (1 + 4 * s) * error, (1 + 4 * s) * norm, 2, s, share) / (1 + 4 * s)
            for s in SIGMAS
        )
        failures += true > value
        values.append(value)
    assert failures == 0
    assert max(values) < below


def test_the_printed_form_is_wrong_for_losses_that_count():
    """Strings of 20 symbols drawn at random out of 100: 19.8 wrong ones in the mean.

    The printed bound, 5e/(e - 1) [1 - exp(...)], never exceeds 7.92 whatever the fit; with the
    output kernel scaled to its largest loss the bound is above the risk.
    """
    m, length, symbols = 100, 20, 100
    y = np.random.default_rng(0).integers(symbols, size=(m, length))
    K_X, K_Y = np.eye(m), (y[:, None] == y[None]).sum(axis=2).astype(float)  # no input twice
    model = regression(ridge(K_X, 1.0), K_X, K_Y, kernel=SimpleNamespace(largest_loss=lambda: 20.0))
    error, norm = squared_error_and_norm(model.coef_, K_X, K_Y)
    printed = 5 * LIKE * -math.expm1(-(2 * error + 9 / 8 * norm + math.log(20)) / m)
    risk = length * (1 - 1 / symbols)  # of any prediction for a new row
    assert printed < 0.5 * risk
    certificate = pac_bayes_bound(model, y, y, output_dimension=length * (symbols + 1))
    assert certificate.value > risk
    assert certificate.vacuous


def sign_model(m):
    """y = x = +-1 with linear kernels: W = 1 spread over all pairs of rows, A_ij = y_i x_j / m²."""
    x = np.where(np.arange(m) % 3 == 0, 1.0, -1.0)
    K = np.outer(x, x)
    kernel = SimpleNamespace(largest_loss=lambda: 2.0)
    return x, regression(np.outer(x, x) / m**2, K, K, kernel=kernel)


def test_the_compression_certificate_by_hand():
    x, model = sign_model(20)
    certificate = compression_bound(model, x[:, None], x, output_bound=1.0)
    scale, k = coefficient_scale(1.0)
    slack = compression_slack(20, 2 * (1 + scale) ** 2, 0.05 / ((k + 1) * (k + 2)))
    assert certificate.value == pytest.approx(2 * slack)
    assert certificate.vacuous
    assert certificate.value == pytest.approx(sum(list(certificate.terms.values())[:2]))


@pytest.mark.slow
def test_a_compression_certificate_that_says_something():
    x, model = sign_model(1600)
    certificate = compression_bound(model, x[:, None], x, output_bound=1.0)
    assert 0.0 < certificate.value < 1.9
    assert not certificate.vacuous
    assert certificate.terms["largest loss"] == 2.0


def test_shared_coefficients_give_the_same_predictor():
    """Means over equal rows: the same W, and no entry is larger."""
    rng = np.random.default_rng(5)
    F_X, F_Y = (rng.normal(size=(4, 2))[rng.integers(4, size=15)] for _ in range(2))
    A, K_X, K_Y = rng.normal(size=(15, 15)), F_X @ F_X.T, F_Y @ F_Y.T
    spread = spread_evenly(A, K_X, K_Y)
    np.testing.assert_allclose(F_Y.T @ spread @ F_X, F_Y.T @ A @ F_X, atol=1e-9)
    assert abs(spread).max() < abs(A).max()
    np.testing.assert_allclose(spread_evenly(A, np.eye(15), np.eye(15)), A)


def test_typical_regressions_have_no_compression_certificate():
    x, y, model = two_clusters(200, 0.0, np.random.default_rng(0))
    certificate = compression_bound(model, x[:, None], y)
    assert certificate.vacuous
    assert certificate.value > 10


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_compression_holds_as_often_as_it_says(noise):
    """300 training sets of noisy signs, W = mean of y x: the bound never fails.

    The squared error of W is bounded, twice that covers the loss 2 of a wrong sign. A bound that
    failed with probability 0.05 would pass less often than once in a million times.
    """
    m, failures = 1000, 0
    rng = np.random.default_rng(7)
    for wrong in rng.binomial(m, noise, size=300):
        W = (m - 2 * wrong) / m
        training = ((m - wrong) * (1 - W) ** 2 + wrong * (1 + W) ** 2) / m
        true_error = (1 - noise) * (1 - W) ** 2 + noise * (1 + W) ** 2
        scale, k = coefficient_scale(1.0)
        slack = compression_slack(m, 2 * (1 + scale) ** 2, 0.05 / ((k + 1) * (k + 2)))
        risk = 2 * (noise if W > 0 else 1 - noise)
        assert risk <= 2 * true_error + 1e-12  # the lemma between loss and squared error
        failures += true_error > training + slack
    assert failures == 0


# ---------------------------------------------------------------- dimension, refusals
WORDS = ["ab", "ba", "aab", "b"]


@pytest.mark.parametrize(
    ("kernel", "space", "everything"),
    [
        ("dirac", Classes(list("abc")), list("abc")),
        ("path", LabelSets(range(3)), subsets(3)),
        ("linear", LabelSets(range(3)), subsets(3)),
        ("hamming", None, WORDS),
        ("dirac", None, WORDS),
    ],
)
def test_the_dimension_covers_the_features(kernel, space, everything):
    """Never below the rank of the kernel on all outputs, and not far above."""
    X = np.arange(float(len(everything)))[:, None]
    model = OutputKernelRegressor(
        space=space, kernel=RBF(1.0), output_kernel=kernel, alpha=1.0
    ).fit(X, everything)
    rank = np.linalg.matrix_rank(model.output_kernel_(everything))
    assert rank <= output_dimension_of(model) <= rank + 1


def test_models_of_the_library():
    """Three classes, three far inputs: both certificates read all they need off the model."""
    x = np.arange(600) % 3
    X, y = 10.0 * x[:, None], np.array(list("abc"))[x]
    model = OutputKernelRegressor(kernel=RBF(1.0), alpha=0.2).fit(X, y)
    certificate = pac_bayes_bound(model, X, y)
    given = pac_bayes_bound(model, X, y, loss_bound=1.0, output_dimension=3)
    assert certificate.value == given.value < 0.3
    assert not certificate.vacuous
    assert -model.score(X, y) == 0.0
    assert not any("width" in line for line in certificate.assumptions)
    searched = OutputKernelRegressor(kernel=RBF([0.5, 1.0]), alpha=[1.0, 0.2]).fit(X[:60], y[:60])
    assert pac_bayes_bound(searched, X[:60], y[:60]).terms["kernels tried"] == 2
    from_data = OutputKernelRegressor(alpha=1.0).fit(X[:60], y[:60])
    assert any("width" in line for line in pac_bayes_bound(from_data, X[:60], y[:60]).assumptions)


def test_the_traces_of_a_fitted_model():
    """W in coordinates: the classes' indicator columns, and the inputs themselves."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), rng.integers(2, size=12)
    for settings in ({"alpha": 0.5}, {"method": SampleCompression(radius=0.5)}):
        model = OutputKernelRegressor(kernel="linear", output_kernel="dirac", **settings).fit(X, y)
        Y = np.eye(2)[y]
        W = Y.T @ model.coef_ @ X
        matrices = model.coef_, model.gram_inputs(), model.gram_outputs()
        error, norm = squared_error_and_norm(*matrices)
        assert error == pytest.approx(((Y - X @ W.T) ** 2).sum())
        assert norm == pytest.approx((W**2).sum())
        with pytest.raises(ValueError, match=r"k\(x, x\) = 1"):
            pac_bayes_bound(model, X, y)
        certificate = compression_bound(model, X, y, input_bound=20.0)
        assert certificate.vacuous
        twice = 2 * error / 12
        assert certificate.terms["twice the mean squared error"] == pytest.approx(twice)


def test_lists_tell_their_largest_loss():
    """A kernel that knows no bound, on a list of outputs: the largest loss on that list."""
    y = [1.0, 2.0, 4.0] * 4
    model = OutputKernelRegressor(
        space=Candidates([1.0, 2.0, 4.0]),
        kernel=RBF(1.0),
        output_kernel=lambda a, b: a * b,
        alpha=1.0,
    ).fit(np.arange(12.0)[:, None], y)
    X = np.arange(12.0)[:, None]
    assert pac_bayes_bound(model, X, y).terms["largest loss"] == pytest.approx(0.5 * 3.0**2)
    certificate = compression_bound(model, X, y)
    assert certificate.terms["range of pairwise losses"] > 2 * 16.0


def test_empty_inputs_are_refused():
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]), [0, 1, 0]
    model = OutputKernelRegressor(kernel="cosine", alpha=1.0).fit(X, y)
    with pytest.raises(ValueError, match="it is 0 for training row 1"):
        pac_bayes_bound(model, X, y)


def test_what_the_theorems_do_not_cover_is_refused():
    x, y, model = two_clusters(20, 0.1, np.random.default_rng(0))
    X = x[:, None]
    unknown = SimpleNamespace(largest_loss=lambda: None)
    matrices = model.coef_, model.gram_inputs(), model.gram_outputs()

    def refused(bound, match, given=model, X=X, y=y, **settings):
        with pytest.raises(ValueError, match=match):
            bound(given, X, y, **settings)

    refused(pac_bayes_bound, r"k\(x, x\) = 1", regression(*matrices, unit=False))
    refused(pac_bayes_bound, "give loss_bound", regression(*matrices, kernel=unknown))
    refused(pac_bayes_bound, "give output_dimension")
    refused(pac_bayes_bound, "whole number", output_dimension=1.5)
    refused(pac_bayes_bound, "sigma2 is a positive", output_dimension=2, sigma2=-1.0)
    refused(pac_bayes_bound, "delta is a probability", delta=1.0)
    refused(compression_bound, "give input_bound", regression(*matrices, unit=False))
    refused(compression_bound, "give output_bound", regression(*matrices, kernel=unknown))
    refused(compression_bound, "output_bound is 0.5, but", output_bound=0.5)
    for bound in (pac_bayes_bound, compression_bound):
        refused(bound, "very rows", y=y[:5])
        refused(bound, "OutputKernelRegressor", SimpleNamespace(unit_inputs_=True))


def test_kernels_tried_have_their_price():
    x, y, model = two_clusters(20, 0.1, np.random.default_rng(0))
    trials = [{"kernel": "rbf", "gamma": g, "alpha": a} for g in (1.0, 2.0) for a in (1.0, 5.0)]
    model.search_ = SimpleNamespace(trials=trials)
    certificate = pac_bayes_bound(model, x[:, None], y, output_dimension=2, sigma2=0.1)
    assert certificate.terms["kernels tried"] == 2
    assert certificate.terms["confidence"] == pytest.approx(math.log(2 / 0.05) / 20)
    assert compression_bound(model, x[:, None], y).terms["kernels tried"] == 2


@pytest.mark.parametrize("settings", [
    {"space": Candidates(["a", "c"])},
    {"space": Candidates(["a", "c"], loss=lambda z, y: float(z != y))},
    {"space": Candidates(["a", "c"]), "output_kernel": "hamming"},
    {"space": Sequences("abc", 1).restrict(known={0: "a"})},
])  # fmt: skip
def test_outputs_that_cannot_be_predicted_have_no_certificate(settings):
    """The nearest candidate says nothing of an output that is none."""
    X, y = np.zeros((20, 1)), ["b"] * 19 + ["a"]
    model = OutputKernelRegressor(kernel=RBF(1.0), alpha=0.1, **settings).fit(X, y)
    assert model.score(X, y) < -0.9
    for bound in ("pac_bayes", "compression"):
        with pytest.raises(ValueError, match="training row 0 is not among those"):
            model.certify(X, y, bound=bound)


def test_given_bounds_are_compared_with_the_rows():
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]] * 3), ["ab", "ba", "aa", "bb"] * 3
    model = OutputKernelRegressor(
        space=Candidates(y[:4]), kernel="linear", output_kernel="hamming", alpha=1.0
    ).fit(X, y)
    with pytest.raises(ValueError, match=r"input_bound is 1, but .* = 16"):
        model.certify(X, y, bound="compression", input_bound=1.0)
    unit = OutputKernelRegressor(
        space=Candidates(y[:4]), kernel=RBF(1.0), output_kernel="hamming", alpha=1.0
    ).fit(X, y)
    with pytest.raises(ValueError, match=r"loss_bound is 0\.5, but two training outputs are 2"):
        unit.certify(X, y, loss_bound=0.5)
    with pytest.raises(ValueError, match="and 0 outputs"):
        unit.certify(X, None)


def test_a_given_dimension_is_compared_with_the_rows():
    X, y = np.arange(10.0)[:, None], ["ab", "ba"] * 5
    model = OutputKernelRegressor(kernel=RBF(1.0), output_kernel="hamming", alpha=1.0).fit(X, y)
    with pytest.raises(ValueError, match="output_dimension is 1, but training outputs span 2"):
        model.certify(X, y, output_dimension=1)
    with pytest.raises(ValueError, match="output_dimension is a whole number"):
        model.certify(X, y, output_dimension="many")
