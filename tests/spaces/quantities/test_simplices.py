# SPDX-License-Identifier: BSD-3-Clause
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.losses import Absolute, Cauchy, Huber, Squared
from skstruct.losses.histograms import ChiSquare, RootAbsolute, SquaredHellinger
from skstruct.spaces import Embeddings, Simplex
from skstruct.testing import check_decisions

LOSSES = [SquaredHellinger(), RootAbsolute(), ChiSquare(), Squared(), Absolute(), Huber()]


def histograms(d, m, total=1.0):
    """All of them in multiples of total / m."""
    counts = [(*p, m - sum(p)) for p in product(range(m + 1), repeat=d - 1) if sum(p) <= m]
    return total * np.array(counts) / m


@st.composite
def training(draw, d, total=1.0):
    """A few histograms, some with zeros and ties."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    counts = rng.multinomial(draw(st.sampled_from([3, 10, 10**6])), rng.dirichlet(np.ones(d)), 4)
    return total * counts / counts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(st.data())
@settings(max_examples=10, deadline=None)
def test_decisions_against_a_grid(loss, data):
    d = data.draw(st.integers(1, 3))
    y = data.draw(training(d))
    exact = isinstance(loss, (SquaredHellinger, Squared))
    rivals = histograms(d, {1: 1, 2: 400, 3: 50}[d])
    seed = data.draw(st.integers(0, 100))
    check_decisions(loss, Simplex().fit(y), y, rivals, gap=1e-12 if exact else None, seed=seed)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_decisions_with_weights_of_coordinates_and_another_total(loss):
    y = 100.0 * np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1], [1.0, 0.0, 0.0], [0.3, 0.3, 0.4]])
    space = Simplex(100.0, labels=["a", "b", "c"]).fit(y)
    loss = type(loss)(weights={"a": 2.0, "b": 0.0, "c": 0.5})
    check_decisions(loss, space, y, histograms(3, 50, 100.0), n_weights=10)


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_hellinger_is_exact_where_weights_are_alike(weight):
    y = 2.5 * np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1], [1.0, 0.0, 0.0]])
    space = Simplex(2.5).fit(y)
    loss = SquaredHellinger(weights=[weight] * 3)
    assert loss.embedding_on(space) == "roots"
    check_decisions(loss, space, y, histograms(3, 50, 2.5), gap=1e-12)


def test_hellinger_with_unequal_weights_has_a_small_certificate_where_it_is_convex():
    y = np.random.default_rng(0).dirichlet(np.ones(6), 9)
    space = Simplex().fit(y)
    loss = SquaredHellinger(weights=[1, 2, 3, 1, 2, 0.5]).bind(space)
    assert loss.embedding_on(space) == "weights"
    decided = loss.minimize(np.full((2, 9), 1 / 9), y, space)
    assert (decided.values - decided.bounds <= 1e-8 * decided.values).all()


def test_smooth_losses_that_are_not_convex_get_a_bound():
    y = np.random.default_rng(1).dirichlet(np.ones(3), 4)
    check_decisions(Cauchy(0.1), Simplex().fit(y), y, histograms(3, 30), n_weights=4)


def test_one_coordinate_leaves_no_choice():
    space = Simplex().fit([[1.0], [1.0]])
    for name, width in (("coordinates", 1), ("squares", 2), ("roots", 1)):
        decided = Embeddings.of(space).view(name).argmin(np.full((2, width), -3.0))
        np.testing.assert_array_equal(decided.outputs, 1.0)


def test_validate_makes_sums_exact_and_keeps_the_format():
    frame = pd.DataFrame({"b": [0.2, 0.5], "a": [0.8000004, 0.5]})
    space = Simplex(labels=["a", "b"]).fit(frame)
    Z = space.validate(frame)
    np.testing.assert_allclose(Z.sum(axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(Z[1], [0.5, 0.5])
    assert list(space.restore(Z).columns) == ["b", "a"]
    np.testing.assert_array_equal(space.contains([[0.4, 0.6], [0.4, 0.7], [-0.1, 1.1]]), [1, 0, 0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Simplex().fit([[0.5, 0.5], [0.5, 0.6]]),
         r"add up to 1; Y\[1\] adds up to 1.1. .* divide each row by its sum"),
        (lambda: Simplex(100).fit([[0.5, 0.5]]), r"add up to 100; Y\[0\] adds up to 1\."),
        (lambda: Simplex().fit([[1.5, -0.5]]), r"at least 0; Y\[0\], column 1, is -0.5"),
        (lambda: Simplex(labels=["a", "b"]).fit([[0.5, 0.5], [-1, 2]]), r"Y\[1\], column 'a', is"),
        (lambda: Simplex(0).fit([[0.5, 0.5]]), "total is a positive number; got 0"),
        (lambda: Simplex(np.inf).fit([[0.5, 0.5]]), "total is a positive number"),
        (lambda: Simplex().fit([[0.5, 0.5]]).validate([[1.0]]), "expects 2 numbers"),
        (lambda: Simplex().fit([[0.5, 0.5]]).validate([[0.5, 0.4]]), "divide each row"),
        (lambda: Simplex().fit([[0.5, np.nan]]), "is nan"),
        (lambda: Embeddings.of(Simplex().fit([[1.0]])).view("roots").argmin([[1.0, 2.0]]), "shape"),
    ],
)  # fmt: skip
def test_clear_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_model_predicts_histograms(loss):
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (40, 1))
    Y = np.column_stack([1 + X[:, 0], 2 - X[:, 0], np.full(40, 0.5)])
    Y /= Y.sum(axis=1, keepdims=True)
    model = ConditionalRiskMinimizer(Simplex(), loss, alpha=1e-3, kernel=RBF(2.0)).fit(X, Y)
    predicted = model.predict(X)
    assert model.space_.contains(predicted).all()
    # The relation is smooth and without noise: predictions are close to the truth.
    assert np.abs(predicted - Y).max() < 0.05


@pytest.mark.parametrize("total", [1.0, 0.3])
def test_outputs_are_read_as_they_were_decided(total):
    space = Simplex(total=total, labels=tuple("abcde")).fit(np.full((2, 5), total / 5))
    rows = np.random.default_rng(0).dirichlet(np.ones(5), 500) * (total + 1e-9)
    once = space.validate(rows)
    assert_allclose(once.sum(axis=1), total, rtol=2e-15)
    assert_array_equal(space.validate(once), once)
