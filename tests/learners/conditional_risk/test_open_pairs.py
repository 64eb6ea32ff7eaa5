# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of items that a ranking leaves open say nothing of which of the two comes first."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredSVM,
)
from skstruct._arrays.rows import dense
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import Neighbors
from skstruct.spaces import Rankings
from skstruct.streaming import ArraySource

D, TRAIN, TEST = 8, slice(0, 600), slice(600, 900)
NAMES = np.array(list("abcdefgh"))


def plackett_luce(seed=0, n=900):
    """Inputs, orders drawn from the model of Plackett and Luce, and its P(i before j)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    U = X @ rng.normal(size=(2, D)) * 0.7 + rng.normal(size=D) * 0.6
    orders = np.argsort(-(U + rng.gumbel(size=U.shape)), axis=1)
    return X, orders, expit(U[:, :, None] - U[:, None, :])


def lists(orders, k=D):
    return [NAMES[order[:k]].tolist() for order in orders]


def model(loss="kendall", **settings):
    return ConditionalRiskMinimizer(Rankings(NAMES), loss, kernel="linear", alpha=1.0, **settings)


def test_the_first_three_tell_almost_as_much_of_pairs_as_whole_rankings():
    X, orders, P = plackett_luce()
    errors = []
    for k in (D, 3):
        fitted = model().fit(X[TRAIN], lists(orders[TRAIN], k))
        errors.append(np.abs(fitted.predict_marginals(X[TEST]) - P[TEST]).mean())
    assert errors[0] < 0.05
    assert errors[1] < 1.25 * errors[0]  # three times as much where open pairs count one half


def test_calibration_by_lists_that_leave_pairs_open_draws_nothing_to_one_half():
    X, orders, P = plackett_luce()
    fitted = model().fit(X[TRAIN], lists(orders[TRAIN]))
    before = np.abs(fitted.predict_marginals(X[TEST]) - P[TEST]).mean()
    fitted.calibrate(X[TRAIN], lists(orders[TRAIN], 3))
    assert np.abs(fitted.predict_marginals(X[TEST]) - P[TEST]).mean() < 1.1 * before


@pytest.mark.parametrize(
    ("y", "unlisted"),
    [
        ([["a", "b"], ["b"], ["c", "a"], ["a", "c", "b"]], "last"),
        ([["a", "b"], ["b", "a"], ["c", "a"], ["a", "c", "b"]], "unknown"),
        ([["a", {"b", "c"}], ["b", "a", "c"], [{"c", "a"}, "b"], ["a", "c", "b"]], "last"),
    ],
)
def test_each_pair_is_the_mean_of_the_rows_that_order_it(y, unlisted):
    space = Rankings(list("abc"), unlisted=unlisted)
    X = np.arange(4.0)[:, None]
    fitted = ConditionalRiskMinimizer(space, "kendall", smoother=Neighbors(4)).fit(X, y)
    Z = space.validate(y)
    told = fitted.predict_marginals(X[:1], raw=True)[0]
    for i in range(3):
        for j in range(i):
            first, last = (Z[:, i] < Z[:, j]).sum(), (Z[:, i] > Z[:, j]).sum()
            assert_allclose(told[i, j], first / (first + last))


def test_other_losses_and_files_are_those_of_the_same_rows(tmp_path):
    X, orders, _ = plackett_luce()
    y = lists(orders[:100], 3)
    fitted = model().fit(X[:100], y)
    for loss in ("footrule", "spearman"):
        same = model(loss).fit(X[:100], y).decode(X[TEST])
        assert_allclose(fitted.decode(X[TEST], loss=loss).values, same.values, atol=1e-6)
    save_model(fitted, tmp_path / "lists.model")
    read = load_model(tmp_path / "lists.model")
    assert_array_equal(read.predict_marginals(X[TEST]), fitted.predict_marginals(X[TEST]))


@pytest.mark.parametrize("smoother", [None, Neighbors(5)])
def test_explanations_weigh_rows_as_for_pairs_that_all_of_them_order(smoother, tmp_path):
    X, orders, _ = plackett_luce()
    given = {"smoother": smoother, "solver": "cholesky"}
    whole, some = (model(**given).fit(X[:60], lists(orders[:60], k)) for k in (D, 3))
    save_model(some, tmp_path / "lists.model")
    for fitted in (some, load_model(tmp_path / "lists.model")):
        found = fitted.explain(X[TEST])
        assert_allclose(dense(found.weights), dense(whole.explain(X[TEST]).weights), atol=1e-6)


def test_where_open_pairs_count_one_half_probabilities_say_so():
    X, orders, _ = plackett_luce()
    y = lists(orders[:100], 3)
    of_positions = model("footrule").fit(X[:100], y)
    streamed = model().fit(ArraySource(X[:100], np.array(y, dtype=object)))
    for fitted in (of_positions, streamed):
        with pytest.warns(UserWarning, match="leave pairs open"):
            fitted.predict_marginals(X[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        of_positions.predict_marginals(X[:2], parts="positions")
        model("footrule").fit(X[:100], lists(orders[:100])).predict_marginals(X[:2])


@pytest.mark.parametrize(
    "learner",
    [
        ExponentialFamily(Rankings(NAMES[:4]), alpha=0.1, max_iter=5),
        StructuredSVM(Rankings(NAMES[:4]), alpha=0.1, max_iter=5),
        CountingRidge(Rankings(NAMES[:4], "pairs"), alpha=0.1),
        OutputKernelRegressor(Rankings(NAMES[:4]), alpha=0.1),
    ],
)
def test_learners_that_count_one_half_say_so(learner):
    rng = np.random.default_rng(0)
    X, orders = rng.normal(size=(20, 2)), [rng.permutation(4) for _ in range(20)]
    for y, told in ((lists(orders, 4), False), (lists(orders, 2), True)):
        fitted = learner.fit(X, y)
        if isinstance(fitted, StructuredSVM):
            fitted.calibrate(X, lists(orders, 4))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted.predict_marginals(X[:2])
        assert ["leave pairs open" in str(one.message) for one in caught] == [True] * told


@pytest.mark.parametrize("k", [1, 3])
def test_lists_that_look_like_beginnings_are_pointed_out(k):
    _, orders, _ = plackett_luce()
    with pytest.warns(UserWarning, match=f'names {k} of 8 items.*unlisted="last"'):
        Rankings(NAMES, unlisted="unknown").fit(lists(orders, k))


def by_inputs(d, n=300, seed=0):
    """Orders of items none of which is better than another but for the inputs."""
    rng = np.random.default_rng(seed)
    U = 1.5 * rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + rng.gumbel(size=(n, d))
    return np.argsort(-U, axis=1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("d", "lengths", "named"),
    [(6, [3], "names 3 of 6"), (8, [5, 3, 1], "names at most 5 of 8"), (4, [3], "names 3 of 4")],
)
def test_beginnings_are_pointed_out_where_inputs_alone_say_who_wins(d, lengths, named, seed):
    y = [
        NAMES[o[: lengths[i % len(lengths)]]].tolist()
        for i, o in enumerate(by_inputs(d, seed=seed))
    ]
    with pytest.warns(UserWarning, match=f'{named} items.*unlisted="last"'):
        Rankings(NAMES[:d], unlisted="unknown").fit(y)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lengths", [[3], [2], [4, 2, 1]])
@pytest.mark.parametrize("inputs_alone", [False, True])
def test_items_that_were_shown_to_people_are_no_beginnings(inputs_alone, lengths, seed):
    rng = np.random.default_rng(seed)
    strength = np.tile(rng.normal(size=D), (300, 1))
    if inputs_alone:
        strength = -by_inputs(D, seed=seed).argsort(axis=1)
    shown = [rng.permutation(D)[: lengths[i % len(lengths)]] for i in range(300)]
    orders = [
        s[np.argsort(-(of_row[s] + rng.gumbel(size=len(s))))]
        for s, of_row in zip(shown, strength, strict=True)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Rankings(NAMES, unlisted="unknown").fit(lists(orders))


@pytest.mark.parametrize("loss", ["kendall", "footrule"])
def test_risks_are_calibrated_by_rankings_of_all_items(loss):
    """What is known of a ranking costs less than all of it."""
    X, orders, _ = plackett_luce(n=120)
    fitted = model(loss).fit(X, lists(orders))
    Y = np.argsort(orders, axis=1) + 1.0
    partial = np.where((np.arange(120) % 2 == 0)[:, None] & (Y > 3), np.nan, Y)
    risks = [
        fitted.calibrate(X[rows], partial[rows]).predict_risk(X[:9], calibrated=True)
        for rows in (slice(None), slice(1, None, 2))
    ]
    assert_array_equal(*risks)
    with pytest.raises(ValueError, match="of whose outputs"):
        fitted.calibrate(X[::2], partial[::2]).predict_risk(X[:9], calibrated=True)
