# SPDX-License-Identifier: BSD-3-Clause
import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Embeddings, Rankings
from skstruct.spaces.rankings.partial import average_ranks, expected_ranks, position_shares
from skstruct.testing import check_space
from strategies import extensions, partial_rankings, total_orders

EMBEDDINGS = ["positions", "pairs", "ranks", "pair shares", "rating differences",
              "complete rating differences"]  # fmt: skip


def top_lists(d, top):
    """All rankings of the first ``top`` positions, the others tied behind, by hand."""
    rows = []
    for z in total_orders(d):
        behind = z > top
        rows.append(np.where(behind, z[behind].mean(), z))
    return np.unique(rows, axis=0)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_all_orders(embedding, d):
    if d > 1 or embedding != "pairs":  # one item has no pairs, hence no costs
        check_space(Rankings(range(d), embedding), total_orders(d))


@given(st.sampled_from(EMBEDDINGS), st.data())
def test_constraints_against_enumeration(embedding, data):
    d = data.draw(st.integers(2, 5))
    item = st.integers(0, d - 1)
    positions = data.draw(st.dictionaries(item, st.integers(1, d), max_size=2))
    before = data.draw(st.lists(st.tuples(item, item), max_size=3))
    top = data.draw(st.sampled_from([None, None, *range(1, d + 1)]))
    outputs = total_orders(d) if top in (None, d) else top_lists(d, top)
    space = Rankings(range(d), embedding)
    assume(top is None or max(positions.values(), default=0) <= top)
    try:
        space = space.restrict(positions=positions, before=before, top=top)
    except InfeasibleError:
        assert not _within(total_orders(d), positions, before).any()
        return
    outputs = outputs[_within(outputs, positions, before)]
    if len(outputs):
        check_space(space, outputs, n_draws=1000)
    else:
        assert space.size() == 0
        for infeasible in (lambda: space.argmin(np.ones((1, _width(space)))),
                           lambda: space.sample(1, 0), space.mean_embedding):  # fmt: skip
            with pytest.raises(InfeasibleError):
                infeasible()


def _width(space):
    return space._scheme.width(len(space.items_))


def _within(outputs, positions, before):
    good = np.ones(len(outputs), bool)
    for item, rank in positions.items():
        good &= outputs[:, item] == rank
    for first, second in before:
        good &= (outputs[:, first] <= outputs[:, second]) & (first != second)
    return good


@pytest.mark.parametrize("embedding", ["positions", "pairs", "ranks"])
def test_constraints_row_by_row(embedding):
    space = Rankings("abc", embedding)
    costs = np.random.default_rng(0).standard_normal((2, _width(space)))
    by_row = space.restrict(positions=[{"c": 1}, {}], before=[[], [("b", "a")]])
    outputs = by_row.argmin(costs).outputs
    one = space.restrict(positions={"c": 1}).argmin(costs[:1]).outputs
    two = space.restrict(before=[("b", "a")]).argmin(costs[1:]).outputs
    np.testing.assert_array_equal(outputs, np.vstack([one, two]))
    np.testing.assert_array_equal(by_row.rows([1]).argmin(costs[1:]).outputs, two)
    known = np.array([[np.nan, np.nan, 1], [np.nan, np.nan, np.nan]])
    again = space.restrict(positions=known, before=[[], [("b", "a")]]).argmin(costs).outputs
    np.testing.assert_array_equal(again, outputs)
    frame = pd.DataFrame(known, columns=list("abc"))[list("cab")]
    again = space.restrict(positions=frame, before=[[], [("b", "a")]]).argmin(costs).outputs
    np.testing.assert_array_equal(again, outputs)
    with pytest.raises(ValueError, match="row by row for 2 rows; got 3"):
        by_row.argmin(np.vstack([costs, costs[:1]]))
    with pytest.raises(ValueError, match="differs from row to row"):
        by_row.size()
    with pytest.raises(ValueError, match="different numbers of rows"):
        by_row.restrict(positions=[{}, {}, {}])


@pytest.mark.parametrize("embedding", ["positions", "ranks"])
def test_precedences_among_many_items(embedding):
    """Beyond the table: the program's answer is checked by its own bound."""
    d = 24
    space = Rankings(range(d), embedding).restrict(before=[(0, 1), (1, 2)], positions={5: 1})
    costs = np.random.default_rng(1).standard_normal((2, _width(space)))
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    np.testing.assert_allclose(decoded.values, decoded.bounds, atol=1e-6)
    free = Rankings(range(d), embedding).argmin(costs)
    assert (decoded.values >= free.values - 1e-9).all()


def test_pairs_of_many_items_within_constraints():
    d = 24
    space = Rankings(range(d), "pairs")
    costs = np.random.default_rng(2).standard_normal((2, _width(space)))
    plain = space.argmin(costs)
    assert space.guarantee.kind == "ratio"
    for constraints in ({"before": [(0, 1), (1, 2)]}, {"positions": {5: 1}}, {"top": 3}):
        narrowed = space.restrict(**constraints)
        decoded = narrowed.argmin(costs)
        assert narrowed.contains(decoded.outputs).all()
        assert (decoded.bounds <= decoded.values).all()
        found = (costs * narrowed.embed(decoded.outputs)).sum(axis=1)
        np.testing.assert_allclose(found, decoded.values)
        if "top" not in constraints:
            assert (decoded.values >= plain.bounds - 1e-9).all()
        assert narrowed.guarantee.kind == "bound only"
    with pytest.raises(ValueError, match="up to 20 items; there are 24"):
        space.restrict(before=[(0, 1)], positions={5: 1}).argmin(costs)
    with pytest.raises(ValueError, match="up to 20 items; there are 24"):
        space.kbest(costs, 2)
    with pytest.raises(ValueError, match="up to 20 items; there are 24"):
        space.restrict(before=[(0, 1)]).size()


def test_proofs_on_demand():
    space = Rankings(range(25), "pairs", prove=True)
    costs = np.random.default_rng(3).standard_normal((1, 300))
    decoded = space.argmin(costs)
    np.testing.assert_allclose(decoded.values, decoded.bounds, atol=1e-6)


def test_counts_of_many_items():
    space = Rankings(range(200))
    assert space.size() == math.factorial(200)
    assert space.restrict(top=2).size() == 200 * 199
    assert space.restrict(positions={3: 7}).size() == math.factorial(199)
    eigenvalues = np.linalg.eigvalsh(Rankings(range(12), "pairs").second_moment())
    np.testing.assert_allclose(eigenvalues, [1 / 3] * 55 + [13 / 3] * 11)
    assert (np.sort(space.sample(3, 0), axis=1) == np.arange(1, 201)).all()
    with pytest.raises(ValueError, match="more than the limit"):
        space.enumerate()


@given(partial_rankings(4))
def test_positions_of_partial_rankings(Y):
    shares, means = position_shares(Y), expected_ranks(Y)
    for y, share, mean in zip(Y, shares, means):
        orders = extensions(y)
        expected = [[(orders[:, j] == k).mean() for k in range(1, 5)] for j in range(4)]
        np.testing.assert_allclose(share, expected, atol=1e-12)
        np.testing.assert_allclose(mean, orders.mean(axis=0), atol=1e-12)


@given(partial_rankings(5))
def test_average_ranks_are_scipys(Y):
    from scipy.stats import rankdata

    np.testing.assert_array_equal(average_ranks(Y), rankdata(Y, axis=1, nan_policy="omit"))


def test_a_clone_keeps_constraints():
    space = Rankings("abc").restrict(before=[("c", "a")])
    assert clone(space).size() == space.size() == 3
    assert "1 known precedences" in repr(space.constraints_)


@pytest.mark.parametrize(
    ("constraints", "error", "message"),
    [
        ({"positions": {"x": 1}}, ValueError, "'x'"),
        ({"positions": {"a": 4}}, ValueError, "ranks from 1 to 3"),
        ({"positions": {"a": 1, "b": 1}}, InfeasibleError, "position 1"),
        ({"before": [("a", "b"), ("b", "a")]}, InfeasibleError, "circle"),
        ({"before": [("a", "x")]}, ValueError, "'x'"),
        ({"before": ["ab"]}, ValueError, "pairs"),
        ({"top": 0}, ValueError, "at least 1"),
        ({"top": 1.5}, ValueError, "whole number"),
        ({"top": 1, "positions": {"a": 2}}, InfeasibleError, "beyond the top 1"),
    ],
)
def test_bad_constraints(constraints, error, message):
    with pytest.raises(error, match=message):
        Rankings("abc").restrict(**constraints)


def test_ties_and_one_item_are_fine():
    space = Rankings().fit([[1, 1, 1], [1, 2, 2]])
    np.testing.assert_array_equal(space.validate([[1, 1, 1]]), [[2, 2, 2]])
    single = Rankings().fit([[1], [1]])
    assert single.restore(single.argmin(np.zeros((2, 1))).outputs).tolist() == [[1], [1]]
    for first, second in combinations(EMBEDDINGS, 2):
        a, b = Embeddings.of(single).view(first), Embeddings.of(single).view(second)
        assert a.argmin(np.zeros((1, _width(a)))).outputs == b.argmin(
            np.zeros((1, _width(b)))
        ).outputs  # fmt: skip


def test_known_positions_in_many_forms():
    space = Rankings("abc")
    expected = space.restrict(positions=[{"b": 3}, {}]).constraints_.fixed
    free = np.nan
    frame = pd.DataFrame([[3, pd.NA, pd.NA], [pd.NA] * 3], columns=list("bca"), dtype="Int64")
    for positions in ([[free, 3, free], [free] * 3], [[0, 3, 0], [0, 0, 0]], frame):
        found = space.restrict(positions=positions).constraints_.fixed
        np.testing.assert_array_equal(found, expected)
    for positions, message in (
        ({"a": 0}, r"positions\[0\]\['a'\] is 0"),
        (frame[["a", "b"]], "positions has no entry for 'c'"),
        ([[1, 2]], "one column for each of 3 items"),
        ([[1, 7, 0]], r"positions\[0, 1\] is 7"),
        ("abc", "maps items to ranks"),
    ):
        with pytest.raises(ValueError, match=message):
            space.restrict(positions=positions)


@pytest.mark.parametrize("embedding", ["positions", "pairs", "ranks"])
def test_no_ranking_at_all(embedding):
    space = Rankings("abc", embedding).restrict(positions={"a": 1}, before=[("b", "a")])
    assert space.enumerate().shape == (0, 3)
    for call in (space.argmin, lambda costs: space.kbest(costs, 2)):
        with pytest.raises(InfeasibleError, match="row 0"):
            call(np.zeros((1, _width(space))))


def test_precedences_at_any_scale():
    d = 24
    space = Rankings(range(d), "pairs", prove=True).restrict(before=[(0, 1), (2, 3)])
    costs = np.random.default_rng(4).standard_normal((1, _width(space)))
    large = space.argmin(costs)
    tiny = space.argmin(costs * 1e-16)
    np.testing.assert_allclose(tiny.values * 1e16, large.values, rtol=1e-6)
    with pytest.raises(ValueError, match="for 2 rows; got 3"):
        Rankings("ab").restrict(positions=[{}, {"a": 1}]).contains(np.ones((3, 2)))


def test_a_top_of_thousands_is_quick():
    """No closure over all triples of items where nothing is demanded."""
    from skstruct.spaces.solvers.linear_ordering import close_transitively

    before = np.zeros((1, 4000, 4000), bool)
    before[0, 5, 9] = before[0, 9, 7] = True
    assert np.argwhere(close_transitively(before))[:, 1:].tolist() == [[5, 7], [5, 9], [9, 7]]


def test_constraints_of_other_items():
    constraints = Rankings("abc").restrict(top=1).constraints_
    with pytest.raises(ValueError, match="constraints are those of 3 items; there are 2"):
        Rankings("ab", constraints=constraints).argmin(np.zeros((1, 4)))
