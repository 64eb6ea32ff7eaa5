# SPDX-License-Identifier: BSD-3-Clause
"""Costs and regrets of decisions, against lists of all decisions."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ConditionalRiskMinimizer, spaces
from skstruct._arrays.rows import dense
from skstruct.losses import Cost, Hamming, Observed, PartlyKnown, Regret, pair, resolve_loss
from skstruct.model_selection import decision_scorer, regrets, relative_regret
from skstruct.spaces import Known
from skstruct.spaces.cost_vectors import CostVectors

TRIANGLE = [("a", "b"), ("b", "c"), ("a", "c")]
SMALL = {
    "label sets": spaces.LabelSets("abc"),
    "two at most": spaces.LabelSets("abcd").restrict(max_size=2),
    "hierarchy": spaces.Hierarchy([("r", "a"), ("r", "b"), ("a", "c")]),
    "one of two": spaces.BinaryPolytope(A_eq=[[1, 1, 0]], b_eq=[1]),
    "matchings": spaces.Matchings(graph=[*TRIANGLE, ("c", "d")]),
    "spanning trees": spaces.SpanningTrees(graph=[*TRIANGLE, ("c", "d")]),
    "tours": spaces.Cycles(list("abcde")),
    "classes": spaces.Classes(list("abc")),
    "rankings": spaces.Rankings("abcd"),
    "pairs of labels": spaces.PairwiseLabels([("a", "b"), ("b", "c")], labels=list("abc")),
    "cliques": spaces.Cliques(list("abcd")),
    "tournaments": spaces.Tournaments(list("abcd")),
    "partial orders": spaces.PartialOrders(list("abcd")),
}


def all_decisions(space):
    """Every output in canonical form."""
    return np.asarray(space.enumerate())


def some_costs(space, n, seed, whole):
    """Costs of either sign, with ties where they are whole numbers."""
    rng = np.random.default_rng(seed)
    d = dense(space.embed(all_decisions(space)[:1])).shape[1]
    return rng.integers(-2, 3, (n, d)).astype(float) if whole else rng.normal(size=(n, d))


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("sense", ["min", "max"])
def test_regret_is_what_a_list_of_all_decisions_says(name, sense):
    space = SMALL[name]
    listed = all_decisions(space)
    sign = 1.0 if sense == "min" else -1.0
    for whole in (False, True):
        costs = some_costs(space, 12, 0, whole)
        totals = sign * costs @ dense(space.embed(listed)).T  # (rows, decisions)
        loss = Regret(sense)
        observed = Observed.of(loss).space_of(space).fit_validate(costs)
        _, bound = pair(loss, space, observed)
        expected = totals - totals.min(axis=1, keepdims=True)
        assert_allclose(bound.pairwise(listed, observed).T, expected, atol=1e-12)
        chosen = np.random.default_rng(1).integers(len(listed), size=12)
        at = np.arange(12), chosen
        assert_allclose(bound(listed[chosen], observed), expected[at], atol=1e-12)
        given_back = space.restore(listed[chosen])
        assert_allclose(regrets(space, given_back, costs, sense=sense), expected[at], atol=1e-12)
        best = space.restore(Observed.of(bound).space_of(space).outputs_of(observed))
        assert_allclose(regrets(space, best, costs, sense=sense), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("kind", [Cost, Regret])
def test_estimated_risks_are_sums_over_rows_of_any_weight(name, kind):
    space = SMALL[name]
    listed, costs = all_decisions(space), some_costs(space, 9, 2, False)
    loss = kind("max")
    observed = Observed.of(loss).space_of(space).fit_validate(costs)
    view, bound = pair(loss, space, observed)
    weight = np.random.default_rng(3).normal(size=(4, 9))
    targets = Observed.of(bound).space_of(view).targets(observed)
    g, total = weight @ targets, weight.sum(axis=1, keepdims=True)
    risks = bound.cost(g, total) @ dense(view.embed(listed)).T + bound.offset(g, total)[:, None]
    assert_allclose(risks, weight @ bound.pairwise(listed, observed).T, atol=1e-10)


@given(
    costs=st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), min_size=1, max_size=6),
    most=st.integers(1, 4),
    sense=st.sampled_from(["min", "max"]),
    seed=st.integers(0, 99),
)
def test_relative_regret_is_never_negative(costs, most, sense, seed):
    space = spaces.LabelSets(range(4)).restrict(max_size=most)
    listed = np.array([z for z in product((0, 1), repeat=4) if sum(z) <= most])
    costs = np.array(costs, float)
    decided = listed[np.random.default_rng(seed).integers(len(listed), size=len(costs))]
    sign = 1 if sense == "min" else -1
    totals = sign * costs @ listed.T
    lost = (sign * costs * decided).sum(axis=1) - totals.min(axis=1)
    assert_array_equal(regrets(space, decided, costs, sense=sense), lost)
    best = np.abs(totals.min(axis=1)).sum()
    found = relative_regret(space, decided, costs, sense=sense)
    assert np.isnan(found) if best == 0 else found == lost.sum() / best
    assert not found < 0


# ------------------------------------------------------------------- quantities
def test_costs_of_quantities_are_decided_at_corners():
    box = spaces.Box(0.0, [1.0, 2.0])
    seen = Observed.of(Regret()).space_of(box)
    observed = seen.fit_validate([[1.0, -1.0], [-3.0, 0.0]])
    assert_allclose(observed[:, -1], [-2.0, -3.0])
    flows = spaces.Flows([("s", "t", 1), ("s", "a", 1), ("a", "t", 1)], {"s": 1, "t": -1})
    assert_allclose(Observed.of(Cost()).space_of(flows).validate([[3.0, 1.0, 1.0]])[:, -1], 2.0)


# ------------------------------------------------------------------- reading costs
def test_columns_of_a_frame_are_found_by_name():
    costs = pd.DataFrame([[1.0, -2.0, 3.0]], columns=["c", "a", "b"])
    seen = CostVectors(spaces.LabelSets("abc"))
    assert_array_equal(seen.validate(costs), [[-2.0, 3.0, 1.0, -2.0]])
    opened = CostVectors(spaces.LabelSets())
    assert_array_equal(opened.fit_validate(costs), [[1.0, -2.0, 3.0, -2.0]])
    assert opened.space.labels_ == ("c", "a", "b")
    decided = opened.space.restore(np.array([[0, 1, 0]]), index=[7])
    assert list(decided.columns) == ["c", "a", "b"]
    assert list(decided.index) == [7]


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ([[1.0, np.inf]], r"y\[0\], the cost of 'b', is inf"),
        ([1.0, 2.0], "a row of numbers for each decision"),
        ([["x", "y"]], "costs, which are numbers"),
        ([[1.0, 2.0, 3.0]], "3"),
        ([{"a"}, {"b"}], "a row of numbers for each decision"),
    ],
)
def test_costs_that_are_none_are_refused(costs, said):
    with pytest.raises(ValueError, match=said):
        CostVectors(spaces.LabelSets("ab")).validate(costs)


def test_senses_and_measures_are_checked():
    with pytest.raises(ValueError, match='sense is "min" or "max"; got \'most\''):
        CostVectors(spaces.LabelSets("ab"), "most").validate([[1.0, 2.0]])
    with pytest.raises(ValueError, match="measure is one of regret"):
        decision_scorer("profit")
    with pytest.raises(ValueError, match="1 decisions and 2 rows"):
        regrets(spaces.LabelSets("ab"), [["a"]], [[1.0, 2.0], [2.0, 1.0]])


def test_losses_are_known_by_name():
    assert repr(resolve_loss("regret(sense='max')")) == "Regret(sense='max')"
    assert isinstance(resolve_loss("cost"), Cost)


def test_other_truths_are_told_apart():
    with pytest.raises(ValueError, match="Hamming compares outputs with outputs"):
        Observed.of(Hamming()).check_same(Regret())
    with pytest.raises(ValueError, match="give the same sense"):
        Observed.of(Cost("max")).check_same(Regret())


# ------------------------------------------------------------------- costs that are missing
def test_costs_on_known_cells_have_the_mean_of_all():
    rng = np.random.default_rng(0)
    space, n = spaces.LabelSets(range(5)), 20_000
    costs = rng.normal(1.0, 1.0, (n, 5))
    known = rng.random((n, 5)) < 0.6
    observed = CostVectors(space).validate(costs)
    decided = rng.integers(0, 2, (n, 5))
    loss = Cost().bind(space)
    true, seen = loss(decided, observed), PartlyKnown.of(loss).losses(decided, observed, known)
    # The difference of means is normal with a standard error estimated below; five of these are
    # exceeded with probability 6e-7.
    told = known.any(axis=1)
    error = np.std(seen[told] - true[told]) / np.sqrt(told.sum())
    assert abs(np.nanmean(seen) - true.mean()) < 5 * error + np.abs(true).mean() * (~told).mean()
    assert np.isnan(seen[~told]).all()


def test_regrets_need_whole_rows():
    space = spaces.LabelSets("ab")
    partial = Known.of(CostVectors(space)).read([[1.0, -1.0], [np.nan, 2.0]])
    assert_array_equal(partial.known, [[True, True], [False, True]])
    lost = PartlyKnown.of(Regret().bind(space)).losses(
        [[1, 1], [1, 1]], partial.outputs, partial.known
    )
    assert_array_equal(lost, [1.0, np.nan])
    assert isinstance(PartlyKnown.of(Regret()).learned(space), Cost)


@pytest.mark.parametrize("kind", [Cost, Regret])
def test_flows_are_decided_from_costs_of_their_arcs(kind):
    rng = np.random.default_rng(3)
    X, C = rng.random((12, 2)), rng.random((12, 4))
    arcs = [("s", "a"), ("a", "t", 0.6), ("s", "b"), ("b", "t")]
    space = spaces.Flows(arcs, {"s": 1, "t": -1})
    model = ConditionalRiskMinimizer(space, kind(), kernel="linear", alpha=0.1).fit(X, C)
    expected = model.smoother_.weights(X) @ C
    first = expected[:, :2].sum(axis=1) < expected[:, 2:].sum(axis=1)  # up to 0.6 of it
    right = np.where(first[:, None], [0.6, 0.6, 0.4, 0.4], [0.0, 0.0, 1.0, 1.0])
    assert_allclose(model.predict(X), right, atol=1e-7)
    with pytest.raises(ValueError, match="do not tell the supply"):
        ConditionalRiskMinimizer(spaces.Flows(arcs), kind()).fit(X, C)
