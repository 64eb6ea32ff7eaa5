# SPDX-License-Identifier: BSD-3-Clause
"""Margin learners that go on: what they may keep, and what they must forget."""

import copy
import pickle

import numpy as np
import pytest

from skstruct import MaxMarginNetwork, MaxMarginTree, StructuredSVM
from skstruct.losses import Hamming
from skstruct.spaces import Classes, LabelSets, PairwiseLabels

FIT = {"alpha": 0.05, "tol": 1e-5, "random_state": 0}


def data(seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X @ rng.normal(size=(2, d)) + rng.normal(size=(n, d)) > 0).astype(np.int8)


def optimum(model, X, Y):
    return copy.deepcopy(model).fit(X, Y).objective_


def test_partial_fit_adds_rows_of_any_output():
    X, Y = data(0)
    for space, y in ((LabelSets(), Y), (Classes(), Y[:, 0])):
        model = StructuredSVM(space, **FIT)
        given = X[:20].copy()
        model.partial_fit(given, y[:20])
        given[:] = 0.0  # the user's own, and not ours any more
        model.partial_fit(X[20:], y[20:])
        assert model.objective_ == pytest.approx(optimum(model, X, y), rel=2e-5)
        model.fit(X[:10], y[:10]).partial_fit(X[10:], y[10:])
        assert model.objective_ == pytest.approx(optimum(model, X, y), rel=2e-5)


def test_dual_variables_of_another_hinge_are_forgotten():
    X, Y = data(1)
    model = StructuredSVM(LabelSets(), **FIT).partial_fit(X[:20], Y[:20])
    model.set_params(rescaling="slack").partial_fit(X[20:], Y[20:])
    assert model.objective_ == pytest.approx(optimum(model, X, Y), rel=2e-5)
    for settings in ({"rescaling": "slack"}, {"rescaling": "margin", "kernel": "rbf"}):
        model = StructuredSVM(LabelSets(), **FIT).partial_fit(X[:20], Y[:20])
        model.set_params(**settings).partial_fit(X[20:], Y[20:])
        assert model.objective_ == pytest.approx(optimum(model, X, Y), rel=2e-5)


@pytest.mark.parametrize("d", [3, 40])  # many weights do not fit into a printed name
def test_weights_of_a_loss_that_change_are_noticed(d):
    X, Y = data(2, d=d)
    weights = np.ones(d)
    model = MaxMarginNetwork("empty", Hamming(weights), **FIT).partial_fit(X[:20], Y[:20])
    model.loss_.weights[d // 2] = 3.0
    model.partial_fit(X[20:], Y[20:])
    weights[d // 2] = 3.0
    best = MaxMarginNetwork("empty", Hamming(weights), **FIT).fit(X, Y)
    assert model.objective_ == pytest.approx(best.objective_, rel=2e-5)


def test_a_loss_without_a_name_begins_anew():
    X, Y = data(3)
    model = StructuredSVM(LabelSets(), lambda z, y: float(set(z) != set(y)), **FIT)
    names = [[j for j in range(3) if y[j]] for y in Y]
    model.partial_fit(X[:20], names[:20]).partial_fit(X[20:], names[20:])
    best = StructuredSVM(LabelSets(), lambda z, y: float(set(z) != set(y)), **FIT).fit(X, names)
    assert model.objective_ == pytest.approx(best.objective_, rel=2e-5)


def test_a_penalty_that_changes_goes_on_from_the_same_variables():
    X, Y = data(11, n=40)
    model = MaxMarginNetwork(**FIT).partial_fit(X[:30], Y[:30])
    model.set_params(alpha=0.01).partial_fit(X[30:], Y[30:])
    assert model.alpha_ == 0.01
    assert model.objective_ == pytest.approx(optimum(model, X, Y), rel=2e-5)


def test_a_stored_model_predicts_but_cannot_go_on():
    X, Y = data(4)
    model = MaxMarginNetwork(**FIT).fit(X, Y)
    pieces = MaxMarginNetwork(**FIT).partial_fit(X, Y)
    for stored in (pickle.loads(pickle.dumps(model)), copy.deepcopy(pieces)):
        np.testing.assert_array_equal(stored.predict(X), model.predict(X))
        with pytest.raises(ValueError, match="fit with all rows"):
            stored.partial_fit(X[:2], Y[:2])


def test_trees_go_on_too():
    X, Y = data(5, n=40)
    again = MaxMarginTree(method="greedy", **FIT).fit(X, Y)
    pieces = (
        MaxMarginTree(method="greedy", **FIT)
        .partial_fit(X[:25], Y[:25])
        .partial_fit(X[25:], Y[25:])
    )
    assert pieces.objective_ == pytest.approx(again.objective_, rel=1e-3)


def test_weights_are_those_of_the_fit():
    X, Y = data(6)
    model = MaxMarginNetwork(**FIT).fit(X, Y)
    model.set_params(fit_intercept=False)
    assert model.coef_.shape == (3, 2)
    kernel = MaxMarginNetwork(kernel="rbf", **FIT).fit(X, Y)
    assert not hasattr(kernel, "coef_")
    assert not hasattr(kernel, "intercept_")


def test_pairs_and_losses_that_do_not_go_together():
    X, Y = data(7)
    with pytest.raises(ValueError, match=r"Listed\(F1\(\)\)"):
        StructuredSVM(PairwiseLabels(), "f1", alpha=0.01).fit(X, Y)
    ranked = StructuredSVM(PairwiseLabels(), "zero_one", **FIT).fit(X, Y)
    assert ranked.problem_.scored is ranked.space_
    assert ranked.objective_ - ranked.gap_ <= 1.0  # what weights of zero have


def test_a_kernel_that_is_none_is_found_out():
    X, Y = data(8)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        StructuredSVM(LabelSets(), alpha=0.01, kernel="precomputed").fit(-(X @ X.T) - 1.0, Y)


def test_constraints_of_single_rows_cannot_grow():
    X, Y = data(9, n=4)
    space = LabelSets(range(3)).restrict(exclude=[[0], [], [], []])
    with pytest.raises(ValueError, match="constraints of single rows"):
        StructuredSVM(space, alpha=0.01).partial_fit(X, Y)


def test_positions_need_sequences():
    X, _ = data(10, n=4)
    with pytest.raises(ValueError, match="the space is Sequences; got LabelSets"):
        StructuredSVM(LabelSets(), alpha=0.01).fit([X, X], [[0, 1], [1]])
