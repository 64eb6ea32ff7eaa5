"""Outputs with missing parts: every form, and what follows from what is known, by enumeration."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.spaces import (
    Box,
    Censored,
    Classes,
    Hierarchy,
    Interval,
    Known,
    LabelSets,
    Sequences,
    Targets,
)
from skstruct.spaces.indicator_sets.known import completed
from skstruct.spaces.indicator_sets.missing_labels import conditional_means
from skstruct.spaces.partial import PartialOutputs, are_partial

EDGES = {
    "tree": [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d"), ("b", "e")],
    "forest": [("r", "a"), ("s", "b"), ("b", "c")],
    "dag": [("r", "a"), ("r", "b"), ("a", "c"), ("b", "c"), ("c", "d")],
}
FORMS = {
    "nan": lambda Z, gap: np.where(gap, np.nan, Z),
    "masked": lambda Z, gap: np.ma.array(Z, mask=gap),
    "none": lambda Z, gap: np.where(gap, None, Z.astype(object)).tolist(),
    "frame": lambda Z, gap: pd.DataFrame(np.where(gap, np.nan, Z), columns=list("abc")),
    "nullable": lambda Z, gap: pd.DataFrame(np.where(gap, None, Z), columns=list("abc")).astype(
        "Int64"
    ),
    "boolean": lambda Z, gap: pd.DataFrame(
        np.where(gap, None, Z.astype(bool)), columns=list("abc")
    ).astype("boolean"),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_gap_in_label_sets(form):
    Z = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 0]])
    gap = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 1]], bool)
    Y = FORMS[form](Z, gap)
    assert are_partial(Y)
    space = LabelSets()
    partial = Known.of(space).read(Y)
    assert (partial.known == ~gap).all()
    assert (partial.outputs == np.where(gap, 0, Z)).all()
    assert (partial.complete == ~gap.any(axis=1)).all()
    assert np.asarray(space.restore(partial.outputs)).shape == Z.shape  # the user's format


def test_a_mask_says_what_is_known_and_hides_what_stands_there():
    Z, known = np.array([[0, 1], [1, 1]]), np.array([[True, False], [True, True]])
    for hidden in (0, 1):
        Z[0, 1] = hidden
        partial = Known.of(LabelSets()).read(Z, known)
        assert partial.outputs.tolist() == [[0, 0], [1, 1]]
        assert (partial.known == known).all()
    with pytest.raises(ValueError, match=r"known is True or False for each cell of Y"):
        Known.of(LabelSets()).read(Z, known[:1])


def test_rows_of_names_may_say_nothing_or_a_part():
    space = LabelSets()
    partial = Known.of(space).read([{"a"}, None, {"include": ["b"], "exclude": ["c"]}])
    assert space.labels_ == ("a", "b", "c")
    assert partial.outputs.tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert partial.known.tolist() == [[True] * 3, [False] * 3, [False, True, True]]
    with pytest.raises(ValueError, match=r"Y\[0\] has 'a' both in and out"):
        Known.of(LabelSets()).read([{"include": ["a"], "exclude": ["a"]}])


def test_columns_of_a_frame_may_come_in_another_order():
    frame = pd.DataFrame({"b": [1.0, np.nan], "a": [np.nan, 0.0]})
    partial = Known.of(LabelSets(["a", "b"])).read(frame)
    assert partial.known.tolist() == [[False, True], [True, False]]


@given(kind=st.sampled_from(sorted(EDGES)), data=st.data())
@settings(max_examples=40)
def test_what_follows_is_what_all_completions_share(kind, data):
    space = Hierarchy(EDGES[kind])
    everything = space.enumerate()
    truth = everything[data.draw(st.integers(0, len(everything) - 1))]
    observed = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(truth), max_size=len(truth)))
    )
    partial = completed(space, np.where(observed, truth, 0)[None].astype(np.int8), observed[None])
    agreeing = everything[(everything == truth)[:, observed].all(axis=1)]
    same = (agreeing == agreeing[0]).all(axis=0)
    assert (partial.known[0] == same).all()
    assert (partial.outputs[0][same] == agreeing[0][same]).all()
    allowed = partial.allowed.rows([0]).contains(everything)
    assert (everything[allowed] == agreeing).all()


def test_a_child_without_its_parent_is_an_error_that_names_both():
    with pytest.raises(ValueError, match=r"Y\[0\] says that 'a' is out, and that 'c' below it"):
        Known.of(Hierarchy(EDGES["tree"])).read([[1, 0, np.nan, 1, np.nan, np.nan]])


def test_open_below_leaves_open_what_is_below_the_last_label():
    space = Hierarchy(EDGES["tree"], open_below=True)  # r, a, b, c, d, e
    partial = Known.of(space).read_gaps([{"r"}, {"r", "a"}, {"r", "a", "c"}, set()])
    open_labels = [{space.labels_[j] for j in np.flatnonzero(~row)} for row in partial.known]
    assert open_labels == [set("abcde"), set("cd"), set(), set()]
    assert Known.of(Hierarchy(EDGES["tree"])).read_gaps([{"r"}]) is None


@given(seed=st.integers(0, 10**6), kind=st.sampled_from(["tree", "forest"]))
@settings(max_examples=30)
def test_conditional_means_are_those_of_independent_steps_down(seed, kind):
    """Each label is a coin, given its parent; enumeration weighs all that agree with the known."""
    space, rng = Hierarchy(EDGES[kind]), np.random.default_rng(seed)
    dag, everything = space.dag_, space.enumerate()
    ratio = rng.uniform(0.1, 0.9, dag.n_nodes)
    means, parent = ratio.copy(), dag.parent_of
    for j in dag.order:
        if parent[j] >= 0:
            means[j] *= means[parent[j]]
    possible = np.ones(everything.shape)
    for j in range(dag.n_nodes):
        above = np.ones(len(everything)) if parent[j] < 0 else everything[:, parent[j]]
        coin = np.where(everything[:, j] > 0, ratio[j], 1 - ratio[j])
        possible[:, j] = np.where(above > 0, coin, 1.0)
    weight = possible.prod(axis=1)
    assert weight.sum() == pytest.approx(1.0)
    truth, observed = everything[rng.integers(len(everything))], rng.random(dag.n_nodes) < 0.4
    partial = completed(space, np.where(observed, truth, 0)[None].astype(np.int8), observed[None])
    agreeing = (everything == truth)[:, observed].all(axis=1)
    expected = weight[agreeing] @ everything[agreeing] / weight[agreeing].sum()
    assert conditional_means(dag, means[None], partial)[0] == pytest.approx(expected, abs=1e-9)


def test_classes_may_be_missing_or_one_of_several():
    space = Classes()
    partial = Known.of(space).read_gaps(["x", None, {"x", "y"}, "z"])
    assert list(space.labels_) == ["x", "y", "z"]
    assert partial.known.ravel().tolist() == [True, False, False, True]
    assert not partial.by_parts
    costs = np.tile([3.0, 1.0, 0.0], (4, 1))
    assert partial.allowed.argmin(costs).outputs.tolist() == [0, 2, 1, 2]
    numbers = Known.of(Classes()).read_gaps(np.array([1.0, np.nan, 2.0]))
    assert numbers.by_parts
    series = Known.of(Classes()).read_gaps(pd.Series(["a", None, "b"]))
    assert series.known.ravel().tolist() == [True, False, True]
    with pytest.raises(ValueError, match="an empty set"):
        Known.of(Classes()).read(["x", set()])


def test_positions_of_sequences_may_be_missing():
    space = Sequences()
    partial = Known.of(space).read_gaps([["a", None, "b"], ["b", "b"]])
    assert partial.known.tolist() == [[True, False, True], [True, True, True]]
    hidden = Known.of(Sequences()).read_gaps(["aab", "bb"], [[1, 0, 1], [1, 1]])
    assert (hidden.outputs == partial.outputs).all()
    assert partial.allowed.rows([0]).enumerate().tolist() == [[0, 0, 1], [0, 1, 1]]
    with pytest.raises(ValueError, match="give None for each of its positions"):
        Known.of(Sequences()).read([["a"], None])


def test_numbers_may_be_missing_or_between_limits():
    partial = Known.of(Box()).read_gaps(np.array([[1.0, np.nan], [3.0, 4.0]]))
    assert partial.known.tolist() == [[True, False], [True, True]]
    frame = pd.DataFrame({"u": [1.0, None], "v": [2.0, 3.0]})
    assert Known.of(Box()).read_gaps(frame).known.tolist() == [[True, True], [False, True]]
    censored = Known.of(Box()).read_gaps(Censored([[1.0, 2.0]], [[1.0, np.inf]]))
    assert not censored.by_parts
    with pytest.raises(ValueError, match="in row 0 low is 2 and high 1"):
        Censored([2.0], [1.0])


def test_outputs_without_gaps_are_not_partial():
    for space, Y in [
        (LabelSets(), [[0, 1]]),
        (LabelSets(), [{"a"}]),
        (Classes(), ["a", "b"]),
        (Box(), [[0.5, 1.5]]),
        (Sequences(), ["ab"]),
    ]:
        assert Known.of(space).read_gaps(Y) is None


def test_rows_of_partial_outputs():
    partial = Known.of(LabelSets()).read(np.array([[0, np.nan], [1, 1]]))
    second = partial.rows([1])
    assert isinstance(second, PartialOutputs)
    assert len(second) == 1
    assert second.complete.all()


def test_propensities_are_checked_and_divide_indicators():
    space = LabelSets(["a", "b"], propensity={"b": 0.5})
    assert Targets.of(space).targets(np.array([[1, 1]])).tolist() == [[1.0, 2.0]]
    for wrong in (0.0, 1.5, [0.5], "often"):
        with pytest.raises(ValueError, match="propensity is a number above 0"):
            Targets.of(LabelSets(["a", "b"], propensity=wrong)).propensities()
    with pytest.raises(ValueError, match="propensity names 'c'; known are 'a', 'b'"):
        Targets.of(LabelSets(["a", "b"], propensity={"c": 0.5})).propensities()


def test_intervals_that_reach_beyond_the_space():
    """The middle of an interval may be outside where a part of it is inside."""
    space = Interval(0, 4)
    Known.of(space).read(Censored([-1, 1, 3], [0.5, 1, 9]))
    limits = Box([0, 1], {1: 5, 0: 4})
    Known.of(limits).read(Censored([[-3.0, 4.5]], [[0.5, 9.0]]))
    Known.of(Box(0.1 + 0.2, 4)).read(Censored([[-1.0]], [[0.3]]))  # the same up to rounding
    with pytest.raises(
        ValueError, match=r"Y\[1\] lies between -1 and -0.5, and the space from 0 to"
    ):
        Known.of(space).read(Censored([1, -1], [1, -0.5]))
    with pytest.raises(ValueError, match=r"Y\[0\]"):
        Known.of(space).read(Censored([5], [5]))
