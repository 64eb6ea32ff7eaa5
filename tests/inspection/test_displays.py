# SPDX-License-Identifier: BSD-3-Clause
import matplotlib
import matplotlib.pyplot
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from skstruct import ConditionalRiskMinimizer
from skstruct.inspection import (
    AlphaPathDisplay,
    HierarchyDisplay,
    RankingDisplay,
    RiskCurveDisplay,
    SequenceDisplay,
)
from skstruct.kernels import RBF
from skstruct.learners import NeighborLabelRanker
from skstruct.losses import Cauchy, Kendall, Pinball, SequenceHamming
from skstruct.spaces import Box, Hierarchy, Interval, Rankings, Sequences

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))


def texts(display):
    return {text.get_text().split("\n")[0] for text in display.ax_.texts}


@pytest.mark.parametrize("names", [False, True])
def test_every_label_is_drawn_with_its_share(names):
    space = Hierarchy([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    Z = space.enumerate()[RNG.integers(space.size(), size=30)]
    Y = [set(np.array(space.labels_)[row == 1].tolist()) for row in Z] if names else Z
    model = ConditionalRiskMinimizer(space, alpha=0.5).fit(X, Y)
    display = HierarchyDisplay.from_estimator(model, X[0], y=Y[0], restrict={"include": ["a"]})
    stars = {name for name in texts(display) if name.endswith("*")}
    assert {name.rstrip(" *") for name in texts(display)} == set("abcd")
    assert len(stars) == Z[0].sum()
    assert display.predicted[0] == 1
    means = model.smoother_.weights(X[:1]) @ Z
    np.testing.assert_allclose(display.shares, means[0], atol=1e-9)


@pytest.mark.slow
def test_drawn_shares_are_possible_and_raw_ones_stay():
    """From 0 to 1, and no label more than any label above it: a DAG, so that there are several."""
    space = Hierarchy([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("d", "e")])
    Z = space.enumerate()[RNG.integers(space.size(), size=30)]
    model = ConditionalRiskMinimizer(space, "hamming", alpha=1e-4, kernel=RBF(2.0)).fit(X, Z)
    outside = broken = 0
    for x in RNG.standard_normal((20, 2)):
        display = HierarchyDisplay.from_estimator(model, x)
        shares, drawn = display.shares, display.drawn_shares_
        outside += (shares < -0.005).any() + (shares > 1.005).any()
        broken += (shares[space.dag_.children] > shares[space.dag_.parents] + 0.005).any()
        above = space.dag_.ancestors.toarray() != 0
        expected = [np.clip(shares, 0, 1)[above[j] | (np.arange(5) == j)].min() for j in range(5)]
        np.testing.assert_allclose(drawn, expected)
        for text in display.ax_.texts:
            name, share = text.get_text().split("\n")
            assert share == f"{drawn[space.labels_.index(name.rstrip(' *'))]:.2f}"
            assert 0 <= float(share) <= 1
            assert "-" not in share
        matplotlib.pyplot.close(display.figure_)
    assert outside  # otherwise nothing was tried
    assert broken


@pytest.mark.slow
def test_drawn_probabilities_of_pairs_and_symbols_are_possible():
    Y = Rankings("abc").sample(30, 0)
    model = ConditionalRiskMinimizer(Rankings("abc"), alpha=1e-4, kernel=RBF(2.0)).fit(X, Y)
    drawn = [RankingDisplay.from_estimator(model, x) for x in RNG.standard_normal((10, 2))]
    assert min(display.probabilities.min() for display in drawn) < -0.01
    for display in drawn:
        assert all(0 <= float(text.get_text()) <= 1 for text in display.ax_.texts)
    words = ["".join("ab"[int(v > 0)] for v in x) for x in X]
    model = ConditionalRiskMinimizer(Sequences(), alpha=1e-4, kernel=RBF(2.0)).fit(X, words)
    for x in RNG.standard_normal((10, 2)):
        shown = SequenceDisplay.from_estimator(model, x).ax_.images[0].get_array()
        assert shown.min() >= 0
        assert shown.max() <= 1
    matplotlib.pyplot.close("all")


def test_large_hierarchies_show_the_likely_part():
    space = Hierarchy([((j - 1) // 3, j) for j in range(1, 200)])
    model = ConditionalRiskMinimizer(space, alpha=0.5).fit(X, space.sample(30, 0))
    display = HierarchyDisplay.from_estimator(model, X[0], max_labels=12)
    assert 0 < len(display.ax_.texts) <= 12


def test_alpha_path():
    model = ConditionalRiskMinimizer(kernel=RBF([0.1, 1.0])).fit(X, RNG.integers(0, 2, 30))
    display = AlphaPathDisplay.from_estimator(model)
    assert len(display.ax_.lines) == 3  # two curves and the chosen point
    with pytest.raises(ValueError, match="Nothing was searched"):
        AlphaPathDisplay.from_estimator(ConditionalRiskMinimizer(alpha=1.0).fit(X, [0, 1] * 15))


@pytest.mark.parametrize("loss", ["kendall", "footrule"])
def test_rankings_show_the_share_of_each_pair(loss):
    Y = Rankings("abc").sample(30, 0)
    model = ConditionalRiskMinimizer(Rankings("abc"), loss, alpha=0.5).fit(X, Y)
    display = RankingDisplay.from_estimator(model, X[0], y=Y[0])
    weights = model.smoother_.weights(X[:1])[0]
    expected = [[weights @ (Y[:, p] < Y[:, q]) for q in range(3)] for p in range(3)]
    off = ~np.eye(3, dtype=bool)
    np.testing.assert_allclose(display.probabilities[off], np.array(expected)[off], atol=1e-7)
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert [name[0] for name in names] == list(np.array(list("abc"))[np.argsort(display.ranks)])
    if loss == "kendall":
        risk = sum(1 - display.probabilities[p, q] for p in range(3) for q in range(3)
                   if display.ranks[p] < display.ranks[q])  # fmt: skip
        np.testing.assert_allclose(model.predict_risk(X[:1], loss=Kendall())[0], risk, atol=1e-6)


def test_only_rankings_are_drawn_as_rankings():
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, [0, 1] * 15)
    with pytest.raises(ValueError, match="not Classes"):
        RankingDisplay.from_estimator(model, X[0])


def test_rows_in_any_form_are_drawn():
    frame = pd.DataFrame(X, columns=["u", "v"])
    ranks = pd.DataFrame(Rankings("abc").sample(30, 0), columns=list("abc"))
    model = ConditionalRiskMinimizer(Rankings(), alpha=0.5).fit(frame, ranks)
    expected = RankingDisplay.from_estimator(model, frame.iloc[[0]], y=ranks.iloc[[0]])
    for x in (X[0], frame.iloc[0], sparse.csr_array(X[:1])):
        display = RankingDisplay.from_estimator(model, x, y=ranks.iloc[0])
        np.testing.assert_allclose(display.probabilities, expected.probabilities)
        np.testing.assert_array_equal(display.truth, expected.truth)
    with pytest.raises(ValueError, match="not of NeighborLabelRanker"):
        RankingDisplay.from_estimator(NeighborLabelRanker(), X[0])


def test_risk_curves_are_the_risk_and_touch_it_where_it_is_least():
    y = X[:, 0] + RNG.normal(0, 0.3, 30)
    model = ConditionalRiskMinimizer(Interval(), "absolute", alpha=0.1).fit(X, y)
    losses = ["squared", Pinball(0.9), Cauchy(0.5)]
    display = RiskCurveDisplay.from_estimator(model, X[0], loss=losses, y=y[0])
    weights = model.smoother_.weights(X[:1])[0]
    for curve, loss in zip(display.curves, losses):
        decoded = model.decode(X[:1], loss=loss)
        assert (curve.point, curve.value) == (decoded.outputs[0], decoded.values[0])
        assert curve.bound <= curve.risks.min() + 1e-9
        assert curve.risks.min() <= curve.value + 0.05
    np.testing.assert_allclose(
        display.curves[0].risks, (display.points[:, None] - y) ** 2 @ weights, atol=1e-9
    )
    assert display.truth == pytest.approx(y[0])
    assert len(display.ax_.get_legend().get_texts()) == 4


def test_risk_curves_of_one_coordinate_of_several():
    Y = pd.DataFrame({"a": X[:, 0], "b": -X[:, 1]})
    model = ConditionalRiskMinimizer(Box(), "huber", alpha=0.1).fit(X, Y)
    display = RiskCurveDisplay.from_estimator(model, X[3], column="b")
    (curve,) = display.curves
    assert curve.point == pytest.approx(model.predict(X[3:4])["b"][0])
    assert display.ax_.get_xlabel() == "b"
    with pytest.raises(ValueError, match="one of 'a', 'b'; got 'c'"):
        RiskCurveDisplay.from_estimator(model, X[3], column="c")
    with pytest.raises(ValueError, match="not quantities"):
        RiskCurveDisplay.from_estimator(
            ConditionalRiskMinimizer(alpha=1.0).fit(X, [0, 1] * 15), X[0]
        )


def test_sequences_show_the_share_of_each_symbol():
    tokens = [RNG.standard_normal((3, 2)) for _ in range(10)]
    Y = ["".join(RNG.choice(list("abc"), 3)) for _ in range(10)]
    model = ConditionalRiskMinimizer(Sequences("abc"), SequenceHamming(1.0), alpha=0.5)
    display = SequenceDisplay.from_estimator(model.fit(tokens, Y), tokens[0], y=Y[0])
    assert display.shares.shape == (3, 3)
    np.testing.assert_allclose(display.shares.sum(axis=1), 1.0)
    assert len(display.ax_.patches) == 3
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == list(
        model.predict(tokens[:1])[0]
    )
    whole = ConditionalRiskMinimizer(Sequences("abc"), alpha=0.5).fit(X[:10], Y)
    display = SequenceDisplay.from_estimator(whole, X[0], restrict={"known": {0: "c"}})
    weights = whole.smoother_.weights(X[:1])
    share = weights @ np.array([[y[t] == s for t in range(3) for s in "abc"] for y in Y])
    np.testing.assert_allclose(display.shares.ravel(), share[0], atol=1e-9)
    assert display.chosen[0] == 2
    with pytest.raises(ValueError, match="on Interval"):
        SequenceDisplay.from_estimator(
            ConditionalRiskMinimizer(Interval(), alpha=1.0).fit(X, X[:, 0]), X[0]
        )


@pytest.mark.slow
def test_large_alphabets_show_what_matters():
    shares = RNG.random((4, 100))
    display = SequenceDisplay(range(100), shares, np.array([3, 99, -1, -1]), np.array([0, 5]))
    display.plot()
    shown = [int(tick.get_text()) for tick in display.ax_.get_yticklabels()]
    assert len(shown) == 40
    assert {0, 3, 5, 99} <= set(shown)
    assert int(shares.max(axis=0).argmax()) in shown


def test_an_empty_truth_has_no_star():
    Y = ["a", "ab", "b", "ba"] * 3
    model = ConditionalRiskMinimizer(Sequences("ab", (0, 2)), alpha=0.5).fit(X[:12], Y)
    display = SequenceDisplay.from_estimator(model, X[0], y="")
    assert len(display.ax_.lines[0].get_xdata()) == 0
