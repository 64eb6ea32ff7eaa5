# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from set_cases import limited, rows_of, sibling_groups
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Hierarchy, Inference, LabelSets
from skstruct.spaces.indicator_sets.proposals import ClosedProposals, GroupProposals
from skstruct.spaces.solvers.proposals import new_streams
from skstruct.testing import check_proposals
from strategies import dags, forests

MODERATE = st.floats(-1.5, 1.5, allow_nan=False).map(lambda score: round(score, 3))


def check_or_empty(space, scores, **options):
    """Chains against the list of outputs, or the error that there is none."""
    options = {"n_chains": 1000, "n_sweeps": 60, **options}
    if len(space.enumerate()):
        check_proposals(space, scores, **options)
        return
    with pytest.raises(InfeasibleError):
        Inference.of(space).proposals()


@pytest.mark.slow
@given(st.integers(1, 5), st.data())
def test_label_sets(d, data):
    """Flips, swaps of limited sizes, and exclusive groups, with labels known in and out."""
    space = LabelSets(range(d))
    space = data.draw(limited(space, sibling_groups(space)))
    check_or_empty(space, data.draw(rows_of(2, d, MODERATE)))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (2, 2), (0, 1)])
def test_swaps_between_groups_of_unlike_length(sizes):
    """A group of many labels is entered more easily than it is left; the chain makes up for it."""
    space = LabelSets(range(6), *sizes).restrict(exclusive=[[0, 1, 2, 3]])
    check_proposals(space, np.array([[0.0] * 6, [0.5, -0.5, 0.0, 1.0, 0.3, -1.0]]), n_chains=10_000)


@pytest.mark.slow
@given(st.integers(3, 5), st.data())
def test_groups_with_labels_in_common(d, data):
    group = st.lists(st.integers(0, d - 1), min_size=2, max_size=3, unique=True)
    groups = st.lists(group, min_size=2, max_size=2)
    space = data.draw(limited(LabelSets(range(d)), groups, sizes=False))
    check_or_empty(space, data.draw(rows_of(1, d, MODERATE)))


@pytest.mark.slow
@given(st.one_of(forests(), dags()), st.data())
def test_closed_sets(space, data):
    d = len(space.labels_)
    space = data.draw(limited(space))
    check_or_empty(space, data.draw(rows_of(1, d, MODERATE)), n_sweeps=150)


@pytest.mark.slow
@given(st.one_of(forests(), dags()), st.data())
def test_closed_sets_with_exclusive_labels(space, data):
    d = len(space.labels_)
    group = st.lists(st.integers(0, d - 1), min_size=min(2, d), max_size=3, unique=True)
    space = data.draw(limited(space, st.lists(group, max_size=2), sizes=False))
    space = space.restrict(max_size=data.draw(st.integers(0, d)))
    try:
        Inference.of(space).proposals()
    except InfeasibleError:
        assert not len(space.enumerate())
        return
    check_or_empty(space, data.draw(rows_of(1, d, MODERATE)), n_sweeps=150)


@given(st.one_of(forests(), dags()), st.data())
def test_paths(space, data):
    d = len(space.labels_)
    space = data.draw(limited(space.restrict(one_path=True)))
    check_or_empty(space, data.draw(rows_of(1, d, MODERATE)))


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_chains_that_accept_everything_have_no_period(d, beta):
    """With equal scores every flip is accepted: parity must be forgotten all the same."""
    check_proposals(LabelSets(range(d)), np.zeros((1, d)), beta=beta)
    check_proposals(LabelSets(range(d + 1), 1, 1), np.zeros((1, d + 1)), beta=beta)


@pytest.mark.slow
@given(st.integers(2, 5), st.floats(0.0, 2.0), st.data())
def test_temperatures(d, beta, data):
    check_proposals(
        LabelSets(range(d)), data.draw(rows_of(1, d, MODERATE)), beta=beta, n_chains=500
    )


def test_which_proposals():
    sets = LabelSets(range(4))
    assert isinstance(
        Inference.of(sets.restrict(exclusive=[[0, 1]], min_size=1)).proposals(), GroupProposals
    )
    assert isinstance(
        Inference.of(sets.restrict(exclusive=[[0, 1], [1, 2]], max_size=2)).proposals(),
        ClosedProposals,
    )
    assert Inference.of(sets.restrict(exclusive=[[0, 1], [1, 2]], min_size=1)).proposals() is None
    assert Inference.of(sets.restrict(include=[[0], [1]])).proposals() is None  # rows differ
    family = Hierarchy([(0, 1), (0, 2)]).restrict(exclusive="siblings", min_size=1)
    assert Inference.of(family).proposals() is None
    # The root is in for certain, so that sets of one label can shrink to it.
    assert isinstance(Inference.of(family.restrict(include=[0])).proposals(), ClosedProposals)


def test_nothing_to_do():
    """All labels known: chains stay, and say so."""
    for space in (LabelSets(range(2)).restrict(include=[0], exclude=[1]),
                  Hierarchy([(0, 1)]).restrict(include=[1])):  # fmt: skip
        proposals, only = Inference.of(space).proposals(), space.enumerate()
        states = proposals.start(only)
        accepted = proposals.walk(states, np.zeros((1, 2)), np.zeros(1, np.int64), np.ones(1), 9,
                              new_streams(1, 0))  # fmt: skip
        assert (proposals.outputs(states) == only).all()
        assert (accepted == 0).all()


def test_chains_know_nothing_of_each_other():
    """A chain alone makes the same steps as among others, in as many calls as one likes."""
    space = Hierarchy([(0, 1), (0, 2), (2, 3), (1, 3)]).restrict(max_size=3)
    proposals, rng = Inference.of(space).proposals(), np.random.default_rng(0)
    scores, row, beta = rng.normal(size=(3, 4)), np.array([2, 0, 1, 1]), np.linspace(0.5, 2, 4)
    outputs, streams = np.zeros((4, 4), np.int8), new_streams(4, 5)
    together, used = proposals.start(outputs), streams.copy()
    accepted = proposals.walk(together, scores, row, beta, 100, used)
    for c in range(4):
        states, own = proposals.start(outputs[c : c + 1]), streams[c : c + 1].copy()
        parts = [proposals.walk(states, scores, row[[c]], beta[[c]], n, own) for n in (30, 70)]
        assert (proposals.outputs(states) == proposals.outputs(together[[c]])).all()
        assert (own == used[c]).all()
        assert sum(parts) == accepted[c]


@pytest.mark.parametrize("size", [700.0, 1e5, 1e200])
def test_extreme_scores(size):
    """Chains end where all the weight is, without a warning or a NaN."""
    space = LabelSets(range(4))
    scores = size * np.array([[1.0, -1.0, 1.0, -1.0]])
    proposals, row = Inference.of(space).proposals(), np.zeros(50, np.int64)
    states = proposals.start(np.zeros((50, 4), np.int8))
    proposals.walk(states, scores, row, np.ones(50), 500, new_streams(50, 0))
    assert (proposals.outputs(states) == [1, 0, 1, 0]).all()


def test_starting_does_not_change_the_outputs():
    outputs = np.array([[1, 0, 1]], np.int8)
    for space in (LabelSets(range(3)), Hierarchy([(0, 1), (0, 2)])):
        proposals = Inference.of(space).proposals()
        states = proposals.start(outputs)
        proposals.walk(states, np.zeros((1, 3)), np.zeros(1, np.int64), np.ones(1), 50,
                   new_streams(1, 1))  # fmt: skip
        assert (outputs == [[1, 0, 1]]).all()
