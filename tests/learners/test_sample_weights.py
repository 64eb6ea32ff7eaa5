# SPDX-License-Identifier: BSD-3-Clause
"""What a weight of a row means: zero is no row, two is the row twice."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Perceptron
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from skstruct import ConditionalRiskMinimizer, CountingRidge, StructuredPerceptron, StructuredSVM
from skstruct.learners import (
    ConstraintClassification,
    ExponentialFamily,
    LabelRankingBoosting,
    LabelRankingSVM,
    MaxMarginNetwork,
    NeighborLabelRanker,
    OnlineLabelRanker,
    OutputKernelRegressor,
    PairwiseComparison,
)
from skstruct.smoothing import Forest, KernelRidge, NadarayaWatson, Neighbors
from skstruct.spaces import LabelSets, Rankings

RANKERS = {
    "pairs": lambda: PairwiseComparison(),
    "pairs, kendall": lambda: PairwiseComparison(aggregate="kendall"),
    "constraints": lambda: ConstraintClassification(),
    "svm": lambda: LabelRankingSVM(alpha=0.01, tol=1e-7, max_iter=20000, random_state=0),
    "svm, rbf": lambda: LabelRankingSVM(
        alpha=0.01, kernel="rbf", tol=1e-7, max_iter=20000, random_state=0
    ),
    "svm, feedback": lambda: LabelRankingSVM(
        alpha=0.01,
        tol=1e-7,
        max_iter=20000,
        random_state=0,
        margin="feedback",
        decomposition="better-items",
    ),
    "boosting": lambda: LabelRankingBoosting(n_estimators=20, random_state=0),
    "boosting, worse items": lambda: LabelRankingBoosting(
        n_estimators=20, decomposition="worse-items", random_state=0
    ),
    "neighbors": lambda: NeighborLabelRanker(),
    "neighbors, 5": lambda: NeighborLabelRanker(n_neighbors=5, weights="uniform"),
}
ONLINE = {
    "perceptron": lambda **more: OnlineLabelRanker(method="perceptron", random_state=0, **more),
    "passive-aggressive": lambda **more: OnlineLabelRanker(alpha=1.0, random_state=0, **more),
    "primal-dual": lambda **more: OnlineLabelRanker(
        method="primal-dual", alpha=1.0, random_state=0, **more
    ),
    "multiplicative": lambda **more: OnlineLabelRanker(
        method="multiplicative", alpha=1.0, random_state=0, **more
    ),
}
TOLERANCE = {
    "svm": 2e-3,
    "svm, rbf": 2e-3,
    "svm, feedback": 2e-3,
    "pairs": 1e-3,
    "pairs, kendall": 1e-3,
}


def rankings(seed, n=30, d=4):
    """Noisy rankings with ties and items that are missing."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    scores = X @ rng.standard_normal((3, d)) + 0.7 * rng.standard_normal((n, d))
    y = 1.0 + np.argsort(np.argsort(-scores, axis=1), axis=1)
    y[rng.random((n, d)) < 0.1] = np.nan
    y[:2] = np.arange(1, d + 1)
    return X, y


def close(name, one, other, X):
    tolerance = TOLERANCE.get(name, 1e-6)
    assert_allclose(one.decision_function(X), other.decision_function(X), atol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", [*RANKERS, *ONLINE])
def test_a_row_of_weight_zero_is_no_row(name, seed):
    X, y = rankings(seed)
    weight = (np.arange(30) % 4 > 0).astype(float)
    weight[:2] = 0  # also where they name nothing new
    learners = RANKERS | ONLINE
    some = learners[name]().fit(X, y, sample_weight=weight)
    fewer = learners[name]().fit(X[weight > 0], y[weight > 0])
    close(name, some, fewer, X)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", RANKERS)
def test_a_row_of_weight_two_is_the_row_twice(name, seed):
    X, y = rankings(seed)
    times = np.random.default_rng(seed).integers(0, 4, 30)
    rows = np.random.default_rng(seed).permutation(np.repeat(np.arange(30), times))
    learner = RANKERS[name]()
    if name.startswith("boosting"):  # trees settle equally good splits by rounding
        learner.set_params(estimator=LinearRegression())
    weighted = clone(learner).fit(X, y, times.astype(float))
    written = clone(learner).fit(X[rows], y[rows])
    close(name, weighted, written, X)
    if name.startswith("svm"):
        assert_allclose(weighted.objective_, written.objective_, rtol=1e-6)
    if name.startswith("boosting"):
        assert_allclose(weighted.train_loss_, written.train_loss_, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*RANKERS, *ONLINE])
def test_weights_of_one_change_nothing(name):
    X, y = rankings(0)
    learners = RANKERS | ONLINE
    one, none = learners[name]().fit(X, y, np.ones(30)), learners[name]().fit(X, y)
    assert_array_equal(one.decision_function(X), none.decision_function(X))


@pytest.mark.parametrize("name", [*RANKERS, *ONLINE])
@pytest.mark.parametrize(
    ("weight", "message"),
    [(np.zeros(30), "at least one non-zero"), (-np.ones(30), "[Nn]egative")],
)
def test_wrong_weights(name, weight, message):
    X, y = rankings(0)
    with pytest.raises(ValueError, match=message):
        (RANKERS | ONLINE)[name]().fit(X, y, weight)


def test_rows_with_weight_must_order_something():
    X, y = np.arange(3.0)[:, None], [[1, 2], [1, 1], [2, 2]]
    with pytest.raises(ValueError, match="no row of y orders any"):
        ConstraintClassification().fit(X, y, [0.0, 1.0, 1.0])


@pytest.mark.parametrize(
    "learner",
    [
        PairwiseComparison(estimator=KNeighborsClassifier(2)),
        LabelRankingBoosting(estimator=KNeighborsClassifier(2)),
    ],
)
def test_parts_that_take_no_weights_say_so(learner):
    X, y = rankings(0)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        learner.fit(X, y, np.arange(1.0, 31.0))


def test_other_parts_take_weights():
    X, y = rankings(0)
    weight = np.arange(30.0)
    ConstraintClassification(estimator=Perceptron()).fit(X, y, weight)
    LabelRankingBoosting(n_estimators=5, estimator=DecisionTreeRegressor(max_depth=2)).fit(
        X, y, weight
    )


# ------------------------------------------------------------------ row by row
@pytest.mark.parametrize("average", [True, False])
def test_perceptrons_scale_with_their_weights(average):
    """Steps twice as long: all scores are twice as large, and no prediction changes."""
    X, y = rankings(0)
    weight = np.random.default_rng(0).random(30) + 0.1
    one, two = (ONLINE["perceptron"](average=average).fit(X, y, s * weight) for s in (1.0, 2.0))
    assert_allclose(two.coef_, 2 * one.coef_)
    Y = (X @ np.random.default_rng(1).standard_normal((3, 4)) > 0).astype(int)
    one, two = (
        StructuredPerceptron(LabelSets(), average=average, random_state=0).fit(X, Y, s * weight)
        for s in (1.0, 2.0)
    )
    assert_allclose(two.coef_, 2 * one.coef_)


def test_between_two_items_a_weight_is_a_visit_more():
    X, y = rankings(1, d=2)
    times = np.random.default_rng(0).integers(0, 3, 30)
    options = {"average": False, "shuffle": False, "alpha": 20.0, "max_iter": 1}
    weighted = OnlineLabelRanker(**options).fit(X, y, times)
    rows = np.repeat(np.arange(30), times)
    written = OnlineLabelRanker(**options).fit(X[rows], y[rows])
    assert_allclose(weighted.coef_, written.coef_, atol=1e-9)
    assert weighted.n_seen_ == np.count_nonzero(times)


@pytest.mark.parametrize("update", ["perceptron", "passive-aggressive"])
def test_further_rows_have_weights_too(update):
    X, y = rankings(0)
    weight = np.random.default_rng(0).integers(0, 3, 30).astype(float)
    once = OnlineLabelRanker(method=update, max_iter=1, shuffle=False, alpha=1.0).fit(X, y, weight)
    parts = OnlineLabelRanker(method=update, space=Rankings(range(4)), alpha=1.0)
    for half in (slice(0, 15), slice(15, 30)):
        parts.partial_fit(X[half], y[half], sample_weight=weight[half])
    assert_allclose(parts.decision_function(X), once.decision_function(X))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("batch_size", [1, 16])
def test_a_perceptron_passes_over_rows_of_no_weight(kernel, batch_size):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    Y = (X @ rng.standard_normal((3, 4)) > 0).astype(int)
    weight = rng.integers(0, 3, 40).astype(float)
    make = lambda: StructuredPerceptron(  # noqa: E731
        LabelSets(range(4)), kernel=kernel, batch_size=batch_size, random_state=0
    )
    kept = weight > 0
    some, fewer = make().fit(X, Y, weight), make().fit(X[kept], Y[kept], weight[kept])
    assert_allclose(some.decode(X).values, fewer.decode(X).values, atol=1e-9)
    assert some.n_seen_ == fewer.n_seen_
    assert some.n_mistakes_ == fewer.n_mistakes_
    with pytest.raises(ValueError, match="at least one non-zero"):
        make().fit(X, Y, np.zeros(40))


def test_one_step_of_a_perceptron_is_as_long_as_its_weight():
    X, Y = np.array([[1.0, 2.0]]), [{"a"}]
    model = StructuredPerceptron(LabelSets(["a", "b"]), average=False, max_iter=1)
    model.fit(X, Y, [0.25])
    assert_allclose(model.coef_, [[0.25, 0.5], [0.0, 0.0]])
    assert_allclose(model.intercept_, [0.25, 0.0])
    model.partial_fit(-X, Y, sample_weight=[3.0])
    assert_allclose(model.coef_[0], [0.25 - 3.0, 0.5 - 6.0])


# ------------------------------------------------------------------ all others
OTHERS = {
    "risk": lambda: ConditionalRiskMinimizer(LabelSets(range(4)), alpha=0.5),
    "risk, fourier": lambda: ConditionalRiskMinimizer(
        LabelSets(range(4)), alpha=0.5, n_landmarks=50, random_state=0, solver="fourier"
    ),
    "risk, given": lambda: ConditionalRiskMinimizer(
        LabelSets(range(4)), smoother=KernelRidge(alpha=0.5)
    ),
    "mean": lambda: ConditionalRiskMinimizer(LabelSets(range(4)), smoother=NadarayaWatson()),
    "nearest": lambda: ConditionalRiskMinimizer(LabelSets(range(4)), smoother=Neighbors(5)),
    "forest": lambda: ConditionalRiskMinimizer(
        LabelSets(range(4)), smoother=Forest(30, random_state=0)
    ),
    "output kernel": lambda: OutputKernelRegressor(
        space=LabelSets(range(4)), output_kernel="hamming", alpha=0.5
    ),
    "counting": lambda: CountingRidge(LabelSets(range(4)), alpha=0.5),
    "probabilities": lambda: ExponentialFamily(LabelSets(range(4)), alpha=0.1, fit_intercept=False),
    "probabilities, rbf": lambda: ExponentialFamily(
        LabelSets(range(4)), alpha=0.1, kernel="rbf", fit_intercept=False
    ),
    "margins": lambda: StructuredSVM(LabelSets(range(4)), alpha=0.1, tol=1e-6, random_state=0),
    "margins, rbf": lambda: StructuredSVM(
        LabelSets(range(4)), alpha=0.1, tol=1e-6, kernel="rbf", random_state=0
    ),
    "network": lambda: MaxMarginNetwork(alpha=0.1, tol=1e-6, random_state=0),
}
LOOSE = {"margins": 3e-3, "margins, rbf": 3e-3, "network": 3e-3, "probabilities": 1e-3,
         "probabilities, rbf": 1e-3}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("zero", [True, False], ids=["zero", "two"])
@pytest.mark.parametrize("name", OTHERS)
def test_weights_are_rows_for_every_learner(name, zero):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2)) * [1.0, 3.0]
    Y = (X @ rng.standard_normal((2, 4)) + rng.standard_normal((40, 4)) > 0).astype(int)
    times = rng.integers(0, 2, 40) if zero else rng.integers(1, 3, 40)
    X[times == 0] *= 5.0  # rows that do not count are not measured either
    rows = np.repeat(np.arange(40), times)
    weighted = OTHERS[name]().fit(X, Y, sample_weight=times.astype(float))
    written = OTHERS[name]().fit(X[rows], Y[rows])
    values = [model.decode(X[times > 0]).values for model in (weighted, written)]
    assert_allclose(*values, atol=LOOSE.get(name, 1e-7), rtol=LOOSE.get(name, 1e-7))
