# SPDX-License-Identifier: BSD-3-Clause
"""Preferences of rankers: calibrated on rows kept apart, the same whatever the scale of scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.svm import LinearSVC

from skstruct.learners import LabelRankingBoosting, NeighborLabelRanker, PairwiseComparison

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 4))
NOISY = X[:, :3] + 0.5 * rng.gumbel(size=(600, 3))
RANKS = np.argsort(np.argsort(-NOISY, axis=1), axis=1) + 1


@pytest.mark.parametrize("ranker", [PairwiseComparison(), NeighborLabelRanker()])
def test_pairs_sum_to_one_and_are_calibrated(ranker):
    ranker.fit(X[:200], RANKS[:200])
    P = ranker.calibrate(X[200:400], RANKS[200:400]).predict_marginals(X[400:])
    assert P.shape == (200, 3, 3)
    assert_allclose(P + P.swapaxes(1, 2), 1.0)
    before = RANKS[400:, :, None] < RANKS[400:, None, :]
    off = ~np.eye(3, dtype=bool)
    # Of pairs that are said to be sure to 0.8 and more, that share and more come true.
    sure = (P > 0.8) & off
    assert sure.sum() > 50
    # 200 rows: the standard error of the share is below .03.
    assert abs(before[sure].mean() - P[sure].mean()) < 0.1


def test_the_temperature_is_that_of_the_model():
    """Scores of Plackett and Luce: pairs follow a logistic law, with noise of scale one half."""

    class Known(PairwiseComparison):
        def _scores(self, X):
            return np.asarray(X)[:, :3] * 10.0

    ranker = Known().fit(X[:50], RANKS[:50]).calibrate(X, RANKS)
    # Standard error about 3 %.
    assert_allclose(ranker.temperature_, 5.0, rtol=0.15)
    gaps = (X[:, 0] - X[:, 1]) * 10.0 / ranker.temperature_
    assert_allclose(ranker.predict_marginals(X)[:, 0, 1], expit(gaps))


def test_parts_are_pairs():
    ranker = LabelRankingBoosting(n_estimators=3, random_state=0).fit(X[:100], RANKS[:100])
    ranker.calibrate(X[100:200], RANKS[100:200])
    with pytest.raises(ValueError, match="tell of 'pairs'"):
        ranker.predict_marginals(X, parts="positions")


def test_one_classifier_a_pair_tells_its_probabilities():
    ranker = PairwiseComparison().fit(X[:200], RANKS[:200])
    P = ranker.predict_marginals(X[200:])
    assert_allclose(P + P.swapaxes(1, 2), 1.0)
    for (i, j), classifier in zip([(0, 1), (0, 2), (1, 2)], ranker.estimators_):
        assert_allclose(P[:, i, j], classifier.predict_proba(X[200:])[:, 1])
    truth = expit(2.0 * (X[200:, :3][:, :, None] - X[200:, :3][:, None, :]))
    assert np.abs(P - truth).mean() < 0.05
    calibrated = ranker.calibrate(X[200:400], RANKS[200:400]).predict_marginals(X[400:])
    assert not np.allclose(calibrated, P[200:])
    assert_allclose(ranker.fit(X[:200], RANKS[:200]).predict_marginals(X[200:]), P)


@pytest.mark.parametrize(
    "ranker", [NeighborLabelRanker(), PairwiseComparison(estimator=LinearSVC())]
)
def test_scores_and_decisions_are_no_probabilities(ranker):
    ranker.fit(X[:100], RANKS[:100])
    with pytest.raises(ValueError, match=r"call calibrate\(X, y\)"):
        ranker.predict_marginals(X)
