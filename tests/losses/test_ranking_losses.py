# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.losses import (
    Footrule,
    Kendall,
    Listed,
    PositionLoss,
    RankLoss,
    Spearman,
    ZeroOne,
    resolve_loss,
)
from skstruct.spaces import Embeddings, Rankings, Targets
from skstruct.spaces.rankings.partial import average_ranks
from skstruct.testing import check_loss
from strategies import extensions, partial_rankings, shown, total_orders

PAIRS = [Kendall(), Kendall(normalize=True), RankLoss(), RankLoss(normalize=True)]
POSITIONS = [
    Spearman(),
    Footrule(),
    Footrule(top=2),
    Spearman(top=1),
    Footrule(position_weights=[1.0, 0.5, 0.0]),
    Spearman(position_weights=[1.0, 0.5, 0.25], top=2),
    Footrule(item_weights=[1.0, 0.0, 2.0, 0.5]),
    PositionLoss(lambda k, j: np.sin(3.0 * k + j)),
]


@pytest.mark.parametrize("loss", [*PAIRS, *POSITIONS, ZeroOne(), Listed(Kendall())], ids=shown)
def test_on_total_orders(loss):
    check_loss(loss, Rankings(range(4)), total_orders(4))


@pytest.mark.slow
@given(partial_rankings(4))
def test_on_partial_rankings(Y):
    for loss in [*PAIRS, *POSITIONS]:
        check_loss(
            loss, Rankings(range(4)), total_orders(4), observed=average_ranks(Y), n_weights=5
        )


@pytest.mark.slow
@given(partial_rankings(4))
def test_positions_average_over_all_orders_that_agree(Y):
    orders = total_orders(4)
    for loss in POSITIONS:
        for y in Y:
            agree = extensions(y)
            expected = [np.mean([loss(z[None], e[None])[0] for e in agree]) for z in orders[:5]]
            found = loss.pairwise(orders[:5], y[None])[:, 0]
            np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.slow
@given(partial_rankings(4))
def test_kendall_by_its_words(Y):
    for z in total_orders(4)[::5]:
        for y in Y:
            wrong = ordered = 0.0
            for p in range(4):
                for q in range(p):
                    if y[p] < y[q] or y[p] > y[q]:
                        ordered += 1
                        wrong += (y[p] < y[q]) != (z[p] < z[q])
            open_pairs = 6 - ordered
            assert Kendall()([z], [y])[0] == wrong + open_pairs / 2
            share = wrong / ordered if ordered else 0.5
            np.testing.assert_allclose(Kendall(normalize=True)([z], [y])[0], share)


@pytest.mark.slow
@given(st.data())
def test_the_rank_loss_by_its_words(data):
    """Ratings, larger is better, given through the space; pairs without a rating are free."""
    rating = st.one_of(st.just(np.nan), st.integers(1, 5).map(float))
    rows = st.lists(rating, min_size=4, max_size=4).filter(lambda r: not np.isnan(r).all())
    R = np.array(data.draw(st.lists(rows, min_size=1, max_size=4)))
    Y = Rankings(range(4), scores=True).validate(R)
    for z in total_orders(4)[::5]:
        for r, y in zip(R, Y):
            wrong = total = 0.0
            for i in range(4):
                for j in range(4):
                    if r[i] > r[j]:
                        total += r[i] - r[j]
                        wrong += (r[i] - r[j]) * (z[j] < z[i])
            np.testing.assert_allclose(RankLoss()([z], [y])[0], wrong, atol=1e-9)
            share = wrong / total if total else 0.0
            np.testing.assert_allclose(RankLoss(normalize=True)([z], [y])[0], share, atol=1e-9)


@given(st.data())
def test_the_papers_rank_loss_has_the_same_minimizer(data):
    """Its differences are antisymmetric: twice ours, less the sum of positive parts."""
    d = 4
    R = np.array(data.draw(st.lists(st.lists(st.integers(1, 5), min_size=d, max_size=d), min_size=1,
                                    max_size=3)), dtype=float)  # fmt: skip
    for z in total_orders(d)[::5]:
        score = -z
        for r in R:
            gamma = r[:, None] - r
            printed = (gamma * (1 - np.sign(score[:, None] - score)) / 2).sum()
            # The diagonal of the sum vanishes with gamma.
            ours = RankLoss()([z], [-r])[0]
            np.testing.assert_allclose(printed, 2 * ours - np.maximum(gamma, 0).sum(), atol=1e-9)


def test_complete_ratings_are_sorted():
    space = Rankings(range(50), scores=True)
    Y = np.random.default_rng(0).standard_normal((20, 50))
    view = Embeddings.of(space).view(RankLoss().embedding_on(space), Y)
    assert view.embedding == "complete rating differences"
    assert Targets.of(view).targets(Y).shape == (20, 51)  # not one column for each of 1225 pairs


def test_distances_known_from_the_literature():
    reverse, identity = np.arange(6, 0, -1.0)[None], np.arange(1, 7.0)[None]
    assert Kendall()(identity, reverse)[0] == 15
    assert Footrule()(identity, reverse)[0] == 18  # d² / 2
    assert Spearman()(identity, reverse)[0] == 70  # d (d² - 1) / 3
    orders = total_orders(4)
    kendall, footrule = Kendall().pairwise(orders, orders), Footrule().pairwise(orders, orders)
    assert (kendall <= footrule).all()
    assert (footrule <= 2 * kendall).all()


def test_names_and_errors():
    assert [type(resolve_loss(n)) for n in ("spearman", "footrule", "kendall", "rank")] == [
        Spearman, Footrule, Kendall, RankLoss]  # fmt: skip
    orders = total_orders(3)
    with pytest.raises(ValueError, match="2 numbers of at least 0"):
        Footrule(position_weights=[1.0])(orders, orders)
    with pytest.raises(ValueError, match="top is a whole number"):
        Footrule(top=0)(orders, orders)
    with pytest.raises(ValueError, match="3 x 3 positions"):
        PositionLoss(np.eye(2))(orders, orders)
    weighted = Footrule(item_weights={"a": 1.0, "b": 0.0, "c": 2.0})
    check_loss(weighted, Rankings("abc"), orders)
    with pytest.raises(ValueError, match="bind"):
        weighted(orders, orders)
    with pytest.raises(ValueError, match="weights has no entry for 'c'"):
        Footrule(item_weights={"a": 1.0, "b": 0.0}).bind(Rankings("abc"))


@pytest.mark.parametrize("loss", [*PAIRS, *POSITIONS[:3]], ids=shown)
def test_rankings_of_other_items_are_not_compared(loss):
    for predicted, true in (([[1, 2, 3]], [[1, 2]]), ([1, 2, 3], [1, 2, 3])):
        with pytest.raises(ValueError, match="same items"):
            loss(predicted, true)
