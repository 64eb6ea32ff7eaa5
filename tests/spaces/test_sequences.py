# SPDX-License-Identifier: BSD-3-Clause
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Embeddings, Sequences, Solving
from skstruct.testing import check_space


def all_sequences(q, shortest, longest):
    """Every sequence of the lengths, padded with -1, straight from the definition."""
    rows = [
        z + (-1,) * (longest - len(z))
        for size in range(shortest, longest + 1)
        for z in product(range(q), repeat=size)
    ]
    return np.array(rows, dtype=np.int64).reshape(len(rows), longest)


def within(Z, known, forbidden, q):
    """Which rows hold the known symbols and no forbidden transition (None is an end)."""
    good = np.ones(len(Z), bool)
    for i, z in enumerate(Z):
        z = z[z >= 0].tolist()
        good[i] = all(t < len(z) and z[t] == a for t, a in known.items())
        path = [None, *z, None] if z else []
        good[i] &= not any(step in forbidden for step in pairwise(path))
    return good


@pytest.mark.parametrize("embedding", ["positions", "bigrams"])
@pytest.mark.parametrize(("q", "length"), [(1, 1), (1, (0, 3)), (2, 1), (3, 3), (2, (1, 4)),
                                           (3, (0, 3)), (5, 2)])  # fmt: skip
def test_all_sequences(embedding, q, length):
    low, high = (length, length) if isinstance(length, int) else length
    check_space(Sequences(range(q), length, embedding), all_sequences(q, low, high))


@pytest.mark.slow
@settings(max_examples=60)
@given(st.sampled_from(["positions", "bigrams"]), st.data())
def test_constraints_against_enumeration(embedding, data):
    q, high = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    low = data.draw(st.integers(0, high))
    symbol, end = st.integers(0, q - 1), st.none()
    known = data.draw(st.dictionaries(st.integers(0, high - 1), symbol, max_size=2))
    step = st.one_of(st.tuples(symbol, symbol), st.tuples(end, symbol), st.tuples(symbol, end))
    forbidden = data.draw(st.lists(step, max_size=3))
    space = Sequences(range(q), (0, high), embedding)
    space = space.restrict(length=(low, high), known=known, forbidden=forbidden)
    outputs = all_sequences(q, low, high)
    good = within(outputs, known, forbidden, q)
    np.testing.assert_array_equal(space.contains(outputs), good)
    if good.any():
        check_space(space, outputs[good], n_draws=1000, n_costs=5)
        return
    assert space.size() == 0
    for infeasible in (lambda: space.argmin(np.ones((1, space._width()))),
                       lambda: space.kbest(np.ones((1, space._width())), 2),
                       lambda: space.sample(1, 0), space.mean_embedding):  # fmt: skip
        with pytest.raises(InfeasibleError):
            infeasible()


@pytest.mark.parametrize("embedding", ["positions", "bigrams"])
def test_constraints_row_by_row(embedding):
    space = Sequences("abc", (1, 4), embedding)
    rng = np.random.default_rng(0)
    costs = rng.standard_normal((3, space._width()))
    constraints = [
        {"length": 2, "known": {0: "c"}, "forbidden": [("c", "a"), ("a", None)]},
        {"length": 4, "known": {}, "forbidden": []},
        {"length": 3, "known": {1: "a", 2: "b"}, "forbidden": [(None, "a")]},
    ]
    by_row = space.restrict(
        length=[row["length"] for row in constraints],
        known=[row["known"] for row in constraints],
        forbidden=[row["forbidden"] for row in constraints],
    )
    decoded = by_row.argmin(costs)
    second = by_row.kbest(costs, 2)
    assert by_row.contains(decoded.outputs).all()
    for i, row in enumerate(constraints):
        alone = space.restrict(**row).argmin(costs[[i]])
        np.testing.assert_array_equal(decoded.outputs[[i]], alone.outputs)
        np.testing.assert_array_equal(by_row.rows([i]).argmin(costs[[i]]).outputs, alone.outputs)
        np.testing.assert_array_equal(by_row.rows(slice(i, i + 1)).enumerate(),
                                      space.restrict(**row).enumerate())  # fmt: skip
        expected = space.restrict(**row).kbest(costs[[i]], 2).outputs
        np.testing.assert_array_equal(second.outputs[[i]], expected)
    known = [["c", None], [None] * 4, [None, "a", "b"]]
    again = space.restrict(length=[2, 4, 3], known=known,
                           forbidden=[row["forbidden"] for row in constraints])  # fmt: skip
    np.testing.assert_array_equal(again.argmin(costs).outputs, decoded.outputs)
    with pytest.raises(ValueError, match="row by row for 3 rows; got 2"):
        by_row.argmin(costs[:2])
    with pytest.raises(ValueError, match="differs from row to row"):
        by_row.size()
    with pytest.raises(ValueError, match="different numbers of rows"):
        by_row.restrict(known=[{}, {}])


# ------------------------------------------------------------------ costs in stacked form
@given(st.data())
def test_argmin_chains_against_enumeration(data):
    q, lengths = data.draw(st.integers(1, 3)), data.draw(st.lists(st.integers(0, 4), max_size=4))
    starts = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    unary = rng.integers(-3, 4, (starts[-1], q)).astype(float)
    kind = data.draw(st.sampled_from([None, 1, len(unary)]))
    C = None if kind is None else rng.integers(-3, 4, (kind, q, q)).astype(float)
    forbidden = data.draw(st.lists(st.tuples(st.integers(0, q - 1), st.integers(0, q - 1)),
                                   max_size=2))  # fmt: skip
    known = [{} if not size else {data.draw(st.integers(0, size - 1)): 0} for size in lengths]
    space = Sequences(range(q), (0, 4)).restrict(forbidden=forbidden)
    if len(lengths) > 1 and data.draw(st.booleans()):
        space = space.restrict(known=known)
    else:
        known = [{}] * len(lengths)
    best, values = [], []
    for i, size in enumerate(lengths):
        outputs = all_sequences(q, size, size)
        outputs = outputs[within(outputs, known[i], forbidden, q)]
        at = np.arange(starts[i], starts[i + 1])
        totals = unary[at, outputs].sum(axis=1)
        if C is not None:
            steps = C[at[1:] if len(C) > 1 else np.zeros(max(size - 1, 0), int)]
            totals += steps[np.arange(max(size - 1, 0)), outputs[:, :-1], outputs[:, 1:]].sum(
                axis=1
            )
        best.append(outputs[totals == totals.min(initial=np.inf)])
        values.append(totals.min(initial=np.inf))
    if np.isinf(values).any():
        with pytest.raises(InfeasibleError):
            Solving.of(space).argmin_chains(unary, starts, C)
        return
    decoded = Solving.of(space).argmin_chains(unary, starts, C)
    assert decoded.outputs.shape == (len(lengths), max(lengths, default=0))
    np.testing.assert_array_equal(decoded.values, values)
    np.testing.assert_array_equal(decoded.bounds, values)
    for i, size in enumerate(lengths):
        assert (decoded.outputs[i, size:] == -1).all()
        assert decoded.outputs[i, :size].tolist() in best[i].tolist()


def test_argmin_chains_agrees_with_bigrams():
    space = Sequences("abcd", 5, "bigrams")
    costs = np.random.default_rng(1).standard_normal((6, space._width()))
    decoded = space.argmin(costs)
    transitions = np.zeros((6, 5, 4, 4))
    transitions[:, 1:] = costs[:, 20:].reshape(6, 4, 4, 4)
    stacked = Solving.of(space).argmin_chains(
        costs[:, :20].reshape(30, 4), np.arange(0, 31, 5), transitions.reshape(30, 4, 4)
    )
    np.testing.assert_array_equal(stacked.outputs, decoded.outputs)
    np.testing.assert_array_equal(stacked.values, decoded.values)


@pytest.mark.parametrize(("unary", "starts", "transitions", "message"), [
    ([[0.0, np.nan]], [0, 1], None, r"unary\[0, 1\] is nan"),
    ([[0.0, -np.inf]], [0, 1], None, r"unary\[0, 1\] is -inf"),
    ([[0.0, 1.0, 2.0]], [0, 1], None, r"shape \(N, 2\)"),
    ([[0.0, 1.0]], [0, 2], None, "starts rise from 0 to the 1 rows"),
    ([[0.0, 1.0]], [1, 1], None, "starts rise"),
    ([[0.0, 1.0]], [0, 1], np.full((1, 2, 2), np.nan), r"transitions\[0, 0, 0\] is nan"),
    ([[0.0, 1.0]], [0, 1], np.zeros((2, 2, 2)), r"\(1, 2, 2\) or \(1, 2, 2\)"),
])  # fmt: skip
def test_bad_chains(unary, starts, transitions, message):
    with pytest.raises(ValueError, match=message):
        Solving.of(Sequences("ab", 1)).argmin_chains(unary, starts, transitions)


def test_forbidden_in_every_symbol_is_infeasible():
    space = Sequences("ab", (1, 2))
    with pytest.raises(InfeasibleError, match="row 1"):
        Solving.of(space).argmin_chains([[0.0, 1.0], [np.inf, np.inf]], [0, 1, 2])
    with pytest.raises(InfeasibleError, match="row 1"):
        Solving.of(space.restrict(known={1: "a"})).argmin_chains(np.zeros((3, 2)), [0, 2, 3])


# ------------------------------------------------------------------ the user's formats
@pytest.mark.parametrize(("Y", "kind"), [
    (["abc", "ba"], str),
    (np.array(["abc", "ba"]), np.str_),
    ([["the", "cat"], ["cat"]], list),
    ([("the", "cat"), ("cat",)], tuple),
    ([(1, 2), (3,)], tuple),
    ([[("x", 1), "y"], ["y"]], list),
])  # fmt: skip
def test_rows_come_back(Y, kind):
    space = Sequences().fit(Y)
    back = space.restore(space.validate(Y))
    assert all(isinstance(row, kind) for row in back)
    assert list(back) == list(Y)


def test_arrays_come_back():
    rows = [np.array([3, 1], dtype=np.int8), np.array([1], dtype=np.int8)]
    space = Sequences().fit(rows)
    back = space.restore(space.validate(rows))
    for one, other in zip(back, rows):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    whole, texts = np.array([[3, 1], [1, 1]]), np.array([["x", "long"], ["long", "long"]])
    mixed = np.array([["x", 1], [1, 1]], dtype=object)
    for Y in (whole, texts, whole / 2, mixed):
        space = Sequences().fit(Y)
        back = space.restore(space.validate(Y))
        np.testing.assert_array_equal(back, Y)
        assert back.dtype.kind == Y.dtype.kind
    space = Sequences(length=(1, 2)).fit(np.array([[3, 1], [1, 1]]))
    ragged = space.restore(np.array([[0, -1], [0, 1]]))
    assert [row.tolist() for row in ragged] == [[1], [1, 3]]


def test_series_come_back():
    series = pd.Series(["abc", "ba"], index=["u", "v"], name="word")
    space = Sequences().fit(series)
    pd.testing.assert_series_equal(space.restore(space.validate(series), series.index), series)
    lists = pd.Series([["x", "y"], ["y"]], name="tags")
    space = Sequences().fit(lists)
    pd.testing.assert_series_equal(space.restore(space.validate(lists), lists.index), lists)


def test_alphabet_and_lengths():
    space = Sequences().fit(["add", "bd"])
    assert (space.symbols_, space.labels_) == (("a", "b", "d"),) * 2
    assert (space.lengths_, space.length_) == ((2, 3), 3)
    assert space.size() == 3**2 + 3**3
    np.testing.assert_array_equal(space.validate(["d"]), [[2, -1, -1]])  # short is no error
    longer = space.validate(["addab"])  # nor is long
    np.testing.assert_array_equal(longer, [[0, 2, 2, 0, 1]])
    assert not space.contains(longer).any()
    with pytest.raises(ValueError, match="up to 3 symbols have an embedding; row 0 has 5"):
        space.embed(longer)
    np.testing.assert_array_equal(space.embed(np.array([[0, -1, -1, -1, -1]])).indices, [0])
    assert Sequences("ba", (1, None)).fit(["ab", "aaa"]).lengths_ == (1, 3)
    assert Sequences(["x", "yy"], 3).symbols_ == ("x", "yy")
    assert Sequences(length=(0, None)).fit(["", "ab"]).validate([""]).tolist() == [[-1, -1]]
    # A length that was only seen gives way to one that is asked for, a given one does not.
    assert space.restrict(length=1).size() == 3
    assert Sequences("abd", (2, 3)).restrict(length=1).size() == 0
    copied = clone(space.restrict(length=2, forbidden=[("a", "a")])).fit(["add", "bd"])
    assert copied.size() == 8


@pytest.mark.parametrize(("parameters", "Y", "message"), [
    ({}, [], "Y has no rows"),
    ({}, np.zeros((0, 3)), "Y has no rows"),
    ({}, "abc", "expects a list of sequences; got 'abc'"),
    ({}, 3, "expects a list of sequences"),
    ({}, [1, 2], r"Y\[0\] is 1. Use Classes"),
    ({}, ["ab", ["a", "b"]], r"expects a string in each row; Y\[1\]"),
    ({}, [{"a"}], r"Y\[0\] is {'a'}"),
    ({}, ["ab", ""], r"Y\[1\] is empty.*length=\(0, None\)"),
    ({"length": (0, None)}, ["", ""], "all 2 sequences are empty"),
    ({}, [["a", None]], r"Y\[0\] holds None"),
    ({}, [[1.0, float("nan")]], r"Y\[0\] holds nan"),
    ({}, [["a", ["b"]]], "must be hashable"),
    ({}, np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
    ({}, pd.DataFrame({"x": [1]}), "not a DataFrame"),
    ({"alphabet": ["noun", "verb"]}, [["noun"], ["noun", "vreb"]],
     r"Y\[1\]\[1\] is the symbol 'vreb'.*Did you mean 'verb'"),
    ({"alphabet": "ab"}, [["a", ["b"]]], r"Y\[0\]\[1\] is \['b'\]; a symbol must be hashable"),
    ({"alphabet": ""}, ["ab"], "no symbols"),
    ({"alphabet": "aba"}, ["ab"], "'a' is listed twice"),
    ({"alphabet": ["a", None]}, ["a"], "the alphabet holds None"),
    ({"length": 2}, ["ab", "abc"], r"expects sequences of 2 symbols; Y\[1\] has 3"),
    ({"length": (3, 2)}, ["ab"], "shortest length exceeds"),
    ({"length": 0}, ["ab"], "at least 1"),
    ({"length": 1.5}, ["ab"], "whole number"),
    ({"length": "2"}, ["ab"], "whole number"),
    ({"length": [2, 3]}, ["ab"], r"restrict\(length"),
])  # fmt: skip
def test_bad_outputs(parameters, Y, message):
    with pytest.raises(ValueError, match=message):
        Sequences(**parameters).fit(Y)


@pytest.mark.parametrize(("constraints", "message"), [
    ({"length": 4}, "at most 3; got 4"),
    ({"length": -1}, "whole number of at least 0"),
    ({"length": (1, 2, 3)}, "pair"),
    ({"known": "ab"}, "known maps positions"),
    ({"known": {-1: "a"}}, "count from 0"),
    ({"known": {0: "x"}}, r"known\[0\]\[0\] is the symbol 'x'"),
    ({"known": [3]}, r"known\[0\] is a mapping"),
    ({"forbidden": "ab"}, "forbidden lists pairs"),
    ({"forbidden": [("a", "x")]}, r"forbidden\[0\] holds the symbol 'x'"),
    ({"forbidden": [["a", "x"]]}, r"forbidden\[0\] holds the symbol 'x'"),
    ({"forbidden": [["x", "y"]]}, r"forbidden\[0\] holds the symbol 'x'"),
    ({"forbidden": [[["a", "b"]], [["a", "x"]]]}, r"forbidden\[1\] holds the symbol 'x'"),
    ({"forbidden": [("a", "b", "a")]}, "lists pairs"),
])  # fmt: skip
def test_bad_constraints(constraints, message):
    with pytest.raises(ValueError, match=message):
        Sequences("ab", 3).restrict(**constraints)


def test_constraints_add_up():
    space = Sequences("ab", (1, 3)).restrict(known={0: "a"}).restrict(length=2)
    assert space.restore(space.enumerate()).tolist() == ["aa", "ab"]
    assert "known" in repr(space.constraints)
    with pytest.raises(InfeasibleError, match="two different symbols in row 0"):
        space.restrict(known={0: "b"})
    with pytest.raises(ValueError, match="alphabet cannot change after restrict"):
        clone(space).set_params(alphabet="abc").size()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_costs_are_finite(bad):
    with pytest.raises(ValueError, match=r"costs\[0, 1\] is"):
        Sequences("ab", 1).argmin([[0.0, bad]])


def test_unknown_embedding():
    with pytest.raises(ValueError, match="embedding is 'positions' or 'bigrams'"):
        Sequences("ab", 2, "trigrams").embed(np.array([[0, 1]]))
    with pytest.raises(ValueError, match="the loss asks for pairs"):
        Embeddings.of(Sequences("ab", 2)).view("pairs")


# ------------------------------------------------------------------ views, moments, ties
def test_views():
    space = Sequences("abc", (1, 3))
    Z = space.validate(["ab", "c", "abc"])
    bigrams = Embeddings.of(space).view("bigrams", Z)
    assert bigrams.embed(Z).shape == (3, 9 + 18)
    assert space.embedding == "positions"
    longer = space.validate(["abca", "ab"])
    listed = Embeddings.of(space).view("outputs", Z, candidates=longer)
    np.testing.assert_array_equal(listed.embed(longer).toarray(), np.eye(4)[:2])
    np.testing.assert_array_equal(listed.embed(space.validate(["ab"])).toarray(), [[0, 1, 0, 0]])
    plain = Embeddings.of(space).view("outputs", Z)
    np.testing.assert_array_equal(plain.embed(longer).toarray(), [[0, 0, 0], [1, 0, 0]])
    short = plain.restrict(length=1).argmin(np.zeros((2, 3)))
    assert space.restore(short.outputs).tolist() == ["c", "c"]


def test_the_lowest_of_equals():
    for embedding in ("positions", "bigrams"):
        space = Sequences("abc", (2, 4), embedding)
        zeros = np.zeros((1, space._width()))
        assert space.restore(space.argmin(zeros).outputs).tolist() == ["aa"]
        best = space.kbest(zeros, 3).outputs[0]
        assert space.restore(best).tolist() == ["aa", "ba", "ca"]


@given(st.integers(1, 3), st.integers(1, 4), st.data())
def test_nothing_depends_on_other_rows(q, T, data):
    space = Sequences(range(q), (1, T), "bigrams")
    assume(space._width() > 0)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    costs = rng.integers(-2, 3, (5, space._width())).astype(float)
    whole = space.argmin(costs)
    for i in range(5):
        alone = space.argmin(costs[i : i + 1])
        np.testing.assert_array_equal(alone.outputs, whole.outputs[i : i + 1])
        assert alone.values[0] == whole.values[i]


def test_long_sequences_are_counted_exactly():
    space = Sequences(range(26), (1, 40)).restrict(forbidden=[(0, 0)])
    # f(n) = 25 (f(n - 1) + f(n - 2)): the last symbol is not 0, or it is and the one before not.
    counts = [1, 26]
    for _ in range(39):
        counts.append(25 * (counts[-1] + counts[-2]))
    assert space.size() == sum(counts[1:])
    assert space.sample(10, 0).shape == (10, 40)
    with pytest.raises(ValueError, match="more than the limit"):
        space.enumerate()


@pytest.mark.parametrize("embedding", ["positions", "bigrams"])
def test_only_the_empty_sequence(embedding):
    space = Sequences("ab", (0, 2), embedding).restrict(length=0)
    check_space(space, np.full((1, 2), -1))
    beyond = Sequences("ab", (0, 2), embedding).restrict(known={2: "a"})
    assert beyond.size() == 0
    with pytest.raises(InfeasibleError):
        beyond.argmin(np.zeros((1, beyond._width())))


def test_kbest_chains_against_enumeration():
    space = Sequences("abc", (1, 4)).restrict(forbidden=[("a", "b"), (None, "c")])
    rng = np.random.default_rng(0)
    starts, unary, C = np.array([0, 3, 4, 8]), rng.standard_normal((8, 3)), rng.random((1, 3, 3))
    best = Solving.of(space).kbest_chains(unary, starts, 7, C)
    np.testing.assert_array_equal(
        best.outputs[:, 0], Solving.of(space).argmin_chains(unary, starts, C).outputs
    )
    for i, size in enumerate(np.diff(starts)):
        outputs = all_sequences(3, size, size)
        outputs = outputs[within(outputs, {}, [(0, 1), (None, 2)], 3)]
        totals = unary[np.arange(starts[i], starts[i + 1]), outputs].sum(axis=1)
        totals += C[0, outputs[:, :-1], outputs[:, 1:]].sum(axis=1)
        expected = np.full(7, np.inf)
        expected[: len(outputs)] = np.sort(totals)[:7]
        np.testing.assert_allclose(best.values[i], expected)
        found = best.outputs[i, np.isfinite(expected)]
        assert len(np.unique(found, axis=0)) == len(found)
        assert (found[:, size:] == -1).all()
