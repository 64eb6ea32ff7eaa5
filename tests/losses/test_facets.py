"""Facets of losses: defaults of a loss of the core names alone, and own answers found by class."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import skstruct.losses
from skstruct.exceptions import NoFacetError
from skstruct.losses import (
    F1,
    BaseLoss,
    CostMatrix,
    Deciding,
    Effort,
    Form,
    Hamming,
    Levels,
    Observed,
    PartlyKnown,
    Regret,
    SequenceHamming,
    Tokens,
    ZeroOne,
    pair,
)
from skstruct.spaces import Entries, LabelSets, PairwiseStates, PartialOrders, Sequences
from skstruct.spaces.truth import Truth, read_truth

LOSSES = [
    loss
    for name in skstruct.losses.__all__
    if inspect.isclass(loss := getattr(skstruct.losses, name)) and issubclass(loss, BaseLoss)
]
KINDS = [Deciding, Effort, Form, Levels, Observed, PartlyKnown, Tokens]
MOST_NAMES = 15


class Mistakes(BaseLoss):
    """A loss of the core names alone."""

    def __call__(self, Y_pred, Y_true):
        return (np.asarray(Y_pred) != np.asarray(Y_true)).sum(axis=1).astype(float)

    def cost(self, g, total):
        return total - 2.0 * g

    def offset(self, g, total):
        return g.sum(axis=1)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_has_few_names(loss):
    assert len([name for name in dir(loss) if not name.startswith("_")]) <= MOST_NAMES


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_loss_finds_facets_of_every_kind(loss, kind):
    assert isinstance(kind.of(object.__new__(loss)), kind)


def test_a_loss_of_the_core_names_has_all_defaults():
    space, loss = LabelSets("abc"), Mistakes()
    assert not Deciding.of(loss).needs_weights(space)
    assert not Deciding.of(loss).prefers_most_probable
    assert Effort.of(loss).stand_in(space) is loss
    assert Effort.of(loss).seconds(space) == 0.0
    assert Form.of(loss).numbers(3) is None
    assert Form.of(loss).truth_costs(np.zeros((1, 3))) is None
    assert Observed.of(loss).what == "outputs"
    assert Observed.of(loss).space_of(space) is space
    assert PartlyKnown.of(loss).learned(space) is loss
    assert Levels.of(loss).largest(space) is None
    assert not Levels.of(loss).all_or_nothing
    assert not Tokens.of(loss).add_up
    assert not any(kind.of(loss).answers("__init__") for kind in KINDS)


def test_what_a_loss_has_not_is_said_in_one_sentence():
    with pytest.raises(NoFacetError, match=r"^Mistakes has no costs of single positions\.$"):
        Tokens.of(Mistakes()).costs(np.ones((1, 2)), np.ones(1))
    with pytest.raises(NoFacetError, match=r"^Mistakes has no decisions from means\. It decides"):
        Form.of(Mistakes()).minimize_means(None, None, None, None, None)


def test_the_numbers_are_those_of_costs_and_offsets():
    space = LabelSets("abc")
    _, loss = pair(Hamming(miss=[1.0, 2.0, 3.0]), space, space.enumerate())
    g, total = np.array([[0.2, 0.5, 0.9]]), np.ones((1, 1))
    V, u, v, constant = Form.of(loss).numbers(3)
    assert_allclose((V @ g.T).T + total * u, loss.cost(g, total))
    assert_allclose(g @ v + constant * total[:, 0], loss.offset(g, total))


def test_another_cost_leaves_the_form_behind():
    """Numbers of the parent are not those of a child that decides by other costs."""

    class Doubled(Hamming):
        def cost(self, g, total):
            return 2.0 * super().cost(g, total)

    class Named(Hamming):
        """The same costs under another name."""

    assert Form.of(Doubled()).numbers(3) is None
    assert Form.of(Named()).numbers(3) is not None
    assert Levels.of(Doubled()).largest(LabelSets("abc")) == 3.0


def test_own_answers_are_the_nearest_along_the_ancestors():
    class Own(Levels):
        def largest(self, space):
            return 7.0

    class Child(Mistakes):
        pass

    Levels.at(Mistakes, Own)
    try:
        assert Levels.of(Child()).largest(None) == 7.0
        assert Levels.of(Child()).answers("largest")
        assert not Levels.of(Child()).answers("steps")
    finally:
        Levels.at(Mistakes, Levels)


def test_losses_against_a_truth_that_is_known_in_part():
    space, loss = LabelSets("ab"), Hamming()
    Y = np.array([[1, 0], [1, 1]])
    assert_array_equal(PartlyKnown.of(loss).against(Y, Truth(1 - Y)), [2.0, 2.0])
    truth = read_truth(space, [[0.0, np.nan], [np.nan, np.nan]])
    assert_array_equal(PartlyKnown.of(loss).against(Y, truth), [1.0, np.nan])


def test_truths_of_another_kind_are_refused():
    with pytest.raises(ValueError, match=r"Hamming compares outputs with outputs, and the model"):
        Observed.of(Hamming()).check_same(Regret())


def test_entries_say_which_hamming_loss_counts():
    assert Entries.of(LabelSets("ab")).kind == "indicators"
    assert Entries.of(PartialOrders("ab")).kind == "ordered pairs"
    sequences = Sequences("ab", 3)
    assert Entries.of(sequences).kind == "symbols"
    assert isinstance(Hamming().bind(sequences), SequenceHamming)
    assert Hamming().embedding_on(sequences) == "positions"
    assert Entries.of(PairwiseStates([("x", "y")], [0, 1, 2])).kind == "states"


def test_levels_of_some_losses():
    space = LabelSets("abc")
    assert Levels.of(F1()).largest(space) == 1.0
    assert Levels.of(ZeroOne()).all_or_nothing
    assert not Levels.of(ZeroOne(class_weight=[1.0, 2.0])).all_or_nothing
    assert Levels.of(CostMatrix([[0.0, 3.0], [1.0, 0.0]])).largest(None) == np.inf
