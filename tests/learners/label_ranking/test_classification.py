# SPDX-License-Identifier: BSD-3-Clause
"""Ranking by pairwise comparison, and constraint classification."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from skstruct.learners import ConstraintClassification, PairwiseComparison
from skstruct.losses import Kendall
from strategies import total_orders

RNG = np.random.default_rng(0)
X, X_NEW = RNG.standard_normal((80, 3)), RNG.standard_normal((30, 3))
Z = np.argsort(np.argsort(-X @ RNG.standard_normal((3, 4)) + RNG.standard_normal(4)), axis=1) + 1.0
FOUR = total_orders(4)


def test_each_pair_is_a_classifier_of_the_rows_that_order_it():
    Y = Z.copy()
    Y[::3, 0] = np.nan
    Y[1::4, 2] = Y[1::4, 1]
    R = PairwiseComparison().fit(X, Y).predict_pairs(X_NEW)
    assert_array_equal(np.einsum("npp->np", R), 0.0)
    for p in range(4):
        for q in range(4):
            known = (Y[:, p] < Y[:, q]) | (Y[:, p] > Y[:, q])
            if p != q:
                classifier = LogisticRegression(max_iter=1000)
                classifier.fit(X[known], Y[known, p] < Y[known, q])
                assert_allclose(R[:, p, q], classifier.predict_proba(X_NEW)[:, 1], atol=1e-4)
                assert_allclose(R[:, p, q] + R[:, q, p], 1.0)


def test_pairs_without_two_sides_get_laplaces_probability():
    Y = np.array([[1.0, 2, np.nan], [1, 2, np.nan], [1, 2, np.nan], [2, 3, 1], [1, 2, 3]])
    R = PairwiseComparison().fit(X[:5], Y).predict_pairs(X_NEW)
    assert_allclose(R[:, 0, 1], 6 / 7)  # five rows, all the same way
    assert_allclose(R[:, 1, 0], 1 / 7)
    never = np.array([[1.0, 2, np.nan, np.nan], [np.nan, np.nan, 1, 2]])
    R = PairwiseComparison().fit(X[:2], never).predict_pairs(X_NEW)
    assert_allclose(R[:, 0, 2], 0.5)
    assert_allclose(R[:, 0, 1], 2 / 3)


def test_kendall_predictions_have_the_least_expected_loss():
    model = PairwiseComparison(
        estimator=RandomForestClassifier(5, random_state=0), aggregate="kendall"
    )
    R = model.fit(X, Z).predict_pairs(X_NEW)
    losses = np.einsum("zpq,nqp->nz", FOUR[:, :, None] < FOUR[:, None, :], R)
    chosen = (model.predict(X_NEW)[:, None] == FOUR[None]).all(axis=2)
    assert_allclose(losses[chosen], losses.min(axis=1), atol=1e-8)
    assert_allclose(model.decision_function(X_NEW), R.sum(axis=2))


def test_kendall_is_the_better_of_both_where_probabilities_are_known():
    """Five training rankings per input: the probabilities are their shares."""
    rng = np.random.default_rng(1)
    inputs = np.repeat(np.arange(12.0), 5)[:, None]
    rankings = FOUR[rng.integers(24, size=60)]
    shares = KNeighborsClassifier(5)  # the five rows of the same input
    losses = {}
    for aggregate in ("votes", "kendall"):
        model = PairwiseComparison(estimator=shares, aggregate=aggregate).fit(inputs, rankings)
        losses[aggregate] = Kendall()(model.predict(inputs), rankings).mean()
    assert losses["kendall"] < losses["votes"]
    pairs = np.sign(rankings[:, None, :] - rankings[:, :, None]).reshape(12, 5, 4, 4).sum(axis=1)
    orders = np.sign(FOUR[:, None, :] - FOUR[:, :, None])
    best = 3 - np.einsum("npq,zpq->nz", pairs, orders).max(axis=1) / 20
    assert_allclose(losses["kendall"], best.mean())


def test_decisions_stand_for_probabilities():
    model = PairwiseComparison(estimator=LinearSVC()).fit(X, Z)
    R = model.predict_pairs(X_NEW)
    assert set(np.unique(R)) == {0.0, 1.0}
    assert model.score(X, Z) > 0.7


def test_processes_give_the_same():
    one, two = (PairwiseComparison(n_jobs=n).fit(X, Z) for n in (None, 2))
    assert_allclose(one.predict_pairs(X_NEW), two.predict_pairs(X_NEW))


def test_a_progress_bar_on_request(capsys, shown_at_once):
    PairwiseComparison(verbose=1).fit(X, Z)
    assert "pairs" in capsys.readouterr().err


@pytest.mark.parametrize(
    "estimator", [None, LogisticRegression(), LinearSVC(), Perceptron(random_state=0)], ids=repr
)
def test_chunks_of_the_weights_score_the_items(estimator):
    model = ConstraintClassification(estimator=estimator).fit(X, Z)
    assert model.n_expanded_ == 2 * 80 * 6
    assert model.coef_.shape == (4, 3)
    extended = np.hstack([X_NEW, np.ones((30, 1))])
    weights = model.estimator_.coef_.ravel()
    scores = [[weights @ np.kron(np.eye(4)[j], x) for j in range(4)] for x in extended]
    assert_allclose(model.decision_function(X_NEW), scores)
    assert not np.any(model.estimator_.intercept_)
    assert model.score(X, Z) > 0.7


def test_an_intercept_would_be_zero_by_symmetry():
    model = ConstraintClassification(fit_intercept=False)
    examples, classes = model.fit(X, Z).reduction_.apply(X, Z)
    with_intercept = LogisticRegression(tol=1e-8, max_iter=10_000).fit(examples, classes)
    assert_allclose(with_intercept.intercept_, 0.0, atol=1e-6)
    assert_allclose(model.intercept_, 0.0)


def test_constraints_need_a_linear_classifier():
    with pytest.raises(ValueError, match="linear classifier with coef_; DecisionTreeClassifier"):
        ConstraintClassification(estimator=DecisionTreeClassifier()).fit(X, Z)


def test_a_sample_of_the_pairs():
    model = ConstraintClassification(max_pairs=100, random_state=0).fit(X, Z)
    assert model.n_expanded_ == 200
    assert model.score(X, Z) > 0.6
