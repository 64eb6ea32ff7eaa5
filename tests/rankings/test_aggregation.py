# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.losses import Footrule, Kendall, RankLoss, Spearman, resolve_loss
from skstruct.rankings import aggregate
from skstruct.spaces import Rankings
from skstruct.spaces.rankings.partial import average_ranks
from strategies import partial_rankings, total_orders

pytestmark = pytest.mark.filterwarnings("ignore:Rankings.*ranked in no row")
LOSSES = [Kendall(), Footrule(), Spearman(), RankLoss(), Kendall(normalize=True)]


@given(st.integers(2, 5).flatmap(partial_rankings), st.data())
def test_optimal_is_the_best_of_all_orders(Y, data):
    """Exhaustive Kemeny and its relatives, with weights of any sign."""
    weights = data.draw(st.lists(st.floats(-2, 2), min_size=len(Y), max_size=len(Y)))
    orders = total_orders(Y.shape[1])
    for loss in LOSSES:
        found = aggregate(Y, weights, loss, space=Rankings(range(Y.shape[1])))
        every = loss.pairwise(orders, average_ranks(Y)) @ np.array(weights)
        np.testing.assert_allclose(found.value, every.min(), atol=1e-8)
        np.testing.assert_allclose(found.gap, 0.0, atol=1e-8)
        chosen = loss.pairwise(np.atleast_2d(found.ranking).astype(float), average_ranks(Y))
        np.testing.assert_allclose(chosen[0] @ weights, found.value, atol=1e-8)


@given(st.integers(2, 5).flatmap(partial_rankings), st.data())
def test_quick_rules_are_bracketed(Y, data):
    weights = data.draw(st.lists(st.floats(-2, 2), min_size=len(Y), max_size=len(Y)))
    orders = total_orders(Y.shape[1])
    for loss in ("kendall", "footrule", "spearman"):
        best = (resolve_loss(loss).pairwise(orders, average_ranks(Y)) @ np.array(weights)).min()
        for method in ("borda", "kwiksort", "lp"):
            found = aggregate(Y, weights, loss, method=method, random_state=0, n_runs=3,
                              space=Rankings(range(Y.shape[1])))  # fmt: skip
            assert found.bound <= best + 1e-8
            assert found.value >= best - 1e-8
            assert found.method == method


def test_borda_is_optimal_for_spearman():
    Y = np.random.default_rng(0).permuted(np.tile(np.arange(1, 8.0), (9, 1)), axis=1)
    borda = aggregate(Y, loss="spearman", method="borda")
    assert borda.gap == pytest.approx(0.0)


def test_pick_takes_one_of_the_rankings():
    Y = total_orders(4)[[3, 7, 7, 20]]
    found = aggregate(Y, method="pick")
    assert found.ranking.tolist() in Y.tolist()
    with pytest.raises(ValueError, match="without ties"):
        aggregate([[1, 1, 3]], method="pick")


def test_one_ranking_is_its_own_consensus_in_its_own_format():
    assert aggregate([["b", "c", "a"]]).ranking == ["b", "c", "a"]
    assert aggregate([["b", "c", "a"]], restrict={"top": 1}).ranking == ["b"]
    frame = pd.DataFrame({"x": [2, 2], "y": [1, 1]})
    pd.testing.assert_series_equal(
        aggregate(frame).ranking, pd.Series({"x": 2, "y": 1}), check_names=False
    )
    ratings = aggregate([[5.0, np.nan, 1.0], [np.nan, 3.0, 1.0]], loss="rank",
                        space=Rankings(scores=True))  # fmt: skip
    assert ratings.ranking[2] == 1.0  # the least liked: larger is better


def test_kemeny_is_a_condorcet_method():
    """A majority order is found even where Borda's rule fails to put its winner first."""
    votes = [["a", "b", "c"]] * 3 + [["b", "c", "a"]] * 2
    assert aggregate(votes).ranking[0] == "a"
    assert aggregate(votes, method="borda").ranking[0] == "b"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "magic"}, "method is one of"),
        ({"weights": [1.0]}, "weights are 2 finite numbers"),
        ({"weights": [1.0, np.nan]}, "finite"),
        ({"method": "borda", "restrict": {"top": 1}}, "restrictions"),
        ({"loss": "nonsense"}, "Unknown loss"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        aggregate([[1, 2], [2, 1]], **arguments)


def test_a_thousand_items():
    rng = np.random.default_rng(0)
    Y = np.argsort(np.argsort(np.arange(300) + rng.normal(0, 60, (9, 300)), axis=1), axis=1) + 1
    found = aggregate(Y)
    assert 0 <= found.gap <= 0.01 * found.value


@pytest.mark.parametrize("loss", ["spearman", "rank", "footrule", "kendall"])
def test_three_items_do_not_confuse_ranks_with_pairs(loss):
    """Three ranks, three pairs: the bound of a quick rule must know which it has."""
    orders = total_orders(3)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        Y, weights = orders[rng.integers(6, size=4)], rng.standard_normal(4)
        best = (resolve_loss(loss).pairwise(orders, Y) @ weights).min()
        found = aggregate(Y, weights, loss, method="kwiksort", n_runs=1, random_state=seed)
        assert found.bound <= best + 1e-9 <= found.value + 2e-9


def test_losses_that_are_only_listed():
    """All rankings are tried, not only the given ones; beyond that there is no bound."""
    found = aggregate([[1, 2, 3], [1, 3, 2]], weights=[-1.0, -1.0], loss="zero_one")
    assert found.value == found.bound == -2.0
    worst = aggregate(total_orders(3)[:2], loss=lambda z, y: -float(np.abs(z - y).sum()))
    every = [-np.abs(z - total_orders(3)[:2]).sum() for z in total_orders(3)]
    assert worst.value == min(every)
    many = aggregate([np.arange(1, 11)], loss="zero_one")
    assert many.value == 0.0
    assert many.bound == -np.inf


def test_quick_rules_know_no_constraints():
    space = Rankings(range(3)).restrict(top=1)
    with pytest.raises(ValueError, match="restrictions"):
        aggregate([[1, 2, 3]], method="borda", space=space)


def test_items_that_lists_leave_out_as_rankings_read_them():
    lists = [["tea", "rum"], ["rum", "milk"], ["tea", "milk"], ["tea", "cola"]]
    for unlisted in ("last", "unknown"):
        space = Rankings(unlisted=unlisted)
        found, same = aggregate(lists, unlisted=unlisted), aggregate(lists, space=space)
        assert (found.ranking, found.value) == (same.ranking, same.value)
    assert space.unlisted == "unknown"
    assert aggregate(lists).value == aggregate(lists, space=space, unlisted="last").value
    assert space.unlisted == "unknown"  # what was given stays as it is
    with pytest.raises(ValueError, match='unlisted is "last" or "unknown"; got \'first\''):
        aggregate(lists, unlisted="first")
