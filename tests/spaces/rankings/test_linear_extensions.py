# SPDX-License-Identifier: BSD-3-Clause
"""Linear extensions by coupling from the past against lists and tables of all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Rankings
from skstruct.spaces.rankings import _numba as compiled
from skstruct.spaces.rankings.counting import sample_linear_extensions
from skstruct.spaces.solvers.linear_ordering import (
    close_transitively,
    count_orders,
    ranks_of,
    sample_orders,
)
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing.spaces import assert_drawn_from
from strategies import total_orders

POSETS = {
    "free": (5, []),
    "one pair": (5, [(3, 1)]),
    "chain and two": (5, [(4, 2), (2, 0)]),
    "fence": (6, [(0, 3), (1, 3), (1, 4), (2, 4), (2, 5)]),
    "two chains": (6, [(0, 1), (1, 2), (5, 4), (4, 3)]),
    "one first": (5, [(2, 0), (2, 1), (2, 3), (2, 4)]),
    "one last": (5, [(0, 2), (1, 2), (3, 2), (4, 2)]),
    "tree": (6, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5)]),
    "two layers": (6, [(i, j) for i in (0, 1, 2) for j in (3, 4, 5)]),
}


def relation(d, pairs):
    before = np.zeros((d, d), bool)
    for p, q in pairs:
        before[p, q] = True
    return before


def listed_orders(before):
    orders = total_orders(len(before)).astype(np.int64) - 1
    ranks = ranks_of(orders)
    turned = (ranks[:, :, None] > ranks[:, None, :]) & before
    return orders[~turned.any(axis=(1, 2))]


@pytest.mark.parametrize("name", POSETS)
@pytest.mark.parametrize("first", ["tried", "short"])
def test_all_extensions_are_equally_likely(name, first, monkeypatch):
    """18 chi-square tests of level 1e-6. Short first blocks run many blocks again."""
    before = relation(*POSETS[name])
    if first == "short":
        monkeypatch.setattr(compiled, "words_until_closed", lambda *known: 0)
    listed = listed_orders(before)
    drawn = sample_linear_extensions(100 * len(listed), before, 1)
    assert_drawn_from(drawn, listed, np.full(len(listed), 1 / len(listed)))


@given(st.integers(2, 6), st.floats(0, 1), st.integers(0, 10**6))
def test_random_posets(d, density, seed):
    """40 chi-square tests of level 1e-6."""
    before = random_poset(d, density, seed)
    listed = listed_orders(before)
    drawn = sample_linear_extensions(40 * len(listed), before, seed)
    assert_drawn_from(drawn, listed, np.full(len(listed), 1 / len(listed)))


@pytest.mark.parametrize(("d", "density"), [(10, 0.0), (10, 0.4), (12, 0.15), (12, 0.6)])
def test_positions_are_those_of_the_table(d, density):
    """Where every item stands, by homogeneity tests of level 1e-6 for each item."""
    before, n = random_poset(d, density, 3), 8_000
    closed = close_transitively(before[None])[0]
    table = sample_orders(n, closed, np.ones((d, d), bool), d, np.random.default_rng(0))
    drawn = sample_linear_extensions(n, before, 1)
    assert len(np.unique(drawn, axis=0)) > 0.9 * min(n, _expected_distinct(closed, n))
    for item in range(d):
        counts = [np.bincount(ranks_of(orders)[:, item], minlength=d) for orders in (table, drawn)]
        a, b = (count[counts[0] + counts[1] > 0].astype(float) for count in counts)
        assert ((a - b) ** 2 / (a + b)).sum() <= chi2.isf(1e-6, max(len(a) - 1, 1))


def test_the_bound_holds_and_closes():
    """Along a path, no item of an extension is behind where the bounding chain has it."""
    d, before, (padded, entering, latest) = nine_items()
    starts = sample_linear_extensions(20, before, 0)
    for n_words in (1, 2, 5, 10, 20, 200):
        seeds = new_streams(3, n_words)
        ends = []
        for order in starts.copy():
            bound = np.empty(d, np.int64)
            compiled.follow_block(padded, entering, latest, n_words, seeds.copy(), bound, order)
            ranks = ranks_of(order[None])[0]
            assert not (before & (ranks[:, None] > ranks)).any()
            known = bound < d
            assert (ranks[bound[known]] <= np.flatnonzero(known)).all()
            ends.append(order)
        alone = np.empty(d, np.int64)
        closed = compiled.bound_block(padded, entering, latest, n_words, seeds.copy(), alone)
        np.testing.assert_array_equal(alone, bound)
        assert not closed or (np.array(ends) == alone).all()
    assert closed


def test_a_draw_is_where_all_orders_end():
    """From before the first block, whatever order was there; blocks keep their randomness."""
    d, before, known = nine_items()
    starts, n_blocks = sample_linear_extensions(6, before, 0), []
    for streams in new_streams(60, 5).reshape(20, 1, 3, 4):
        drawn, bound = np.empty((1, d), np.int64), np.empty(d, np.int64)
        compiled.draw_extensions(*known, 2, streams.copy(), drawn)
        present, seeds, closed = streams[0].copy(), [], False
        while not closed:
            seeds.append(present.copy())
            closed = compiled.bound_block(*known, 2 << (len(seeds) - 1), present, bound)
            present[2] = [compiled.word(present, 0) for _ in range(4)]
        for order in starts.copy():
            for block in reversed(range(len(seeds))):
                again = seeds[block].copy()
                compiled.follow_block(*known, 2 << block, again, bound, order)
            np.testing.assert_array_equal(order, drawn[0])
        n_blocks.append(len(seeds))
    assert max(n_blocks) >= 4


def test_rankings_of_many_items():
    d, before = 30, [(j, j + 1) for j in range(0, 30, 3)] + [(29, 0), (15, 7)]
    space = Rankings(range(d)).restrict(before=before)
    drawn = space.sample(50, 0)
    assert space.contains(drawn).all()
    assert len(np.unique(drawn, axis=0)) == 50
    np.testing.assert_array_equal(drawn, space.sample(50, 0))
    with pytest.raises(ValueError, match="counted for up to 20 items; there are 30"):
        space.size()
    for constraints in ({"top": 5}, {"positions": {4: 9}}):
        with pytest.raises(ValueError, match="neither known positions nor a top"):
            space.restrict(**constraints).sample(1, 0)
    with pytest.raises(InfeasibleError, match="circle"):
        space.restrict(before=[(8, 15), (7, 8)])


def test_one_item_falls_anywhere_into_a_long_chain():
    """24 positions are equally likely: a chi-square test of level 1e-6."""
    space = Rankings(range(24)).restrict(before=[(j, j + 1) for j in range(22)])
    positions = np.bincount(space.sample(1200, 0)[:, 23].astype(int) - 1, minlength=24)
    assert ((positions - 50) ** 2 / 50).sum() <= chi2.isf(1e-6, 23)


def test_edge_cases():
    with pytest.raises(InfeasibleError, match="circle"):
        sample_linear_extensions(1, relation(3, [(0, 1), (1, 2), (2, 0)]), 0)
    assert sample_linear_extensions(3, np.zeros((1, 1), bool), 0).tolist() == [[0]] * 3
    assert sample_linear_extensions(0, np.zeros((4, 4), bool), 0).shape == (0, 4)
    chain = sample_linear_extensions(2, np.tri(5, k=-1, dtype=bool), 0)
    assert chain.tolist() == [[4, 3, 2, 1, 0]] * 2


def random_poset(d, density, seed):
    rng = np.random.default_rng(seed)
    name = rng.permutation(d)
    before = np.zeros((d, d), bool)
    before[np.ix_(name, name)] = np.triu(rng.random((d, d)) < density, 1)
    return before


def nine_items():
    """A poset as the compiled functions take it."""
    d = 9
    before = close_transitively(random_poset(d, 0.25, 8)[None])[0]
    n_after = before.sum(axis=1)
    entering = np.argsort(-n_after, kind="stable")
    return d, before, (np.pad(before, (0, 1)), entering, d - 1 - n_after[entering])


def _expected_distinct(closed, n):
    size = count_orders(closed, np.ones(closed.shape, bool), len(closed))[0]
    return size * -np.expm1(-n / size)
