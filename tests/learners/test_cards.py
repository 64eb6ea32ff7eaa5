# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of a card come in through every door, and what comes out is that of the host."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

torch = pytest.importorskip("torch")
import card_cases as cases  # noqa: E402
from skstruct.spaces import Known  # noqa: E402
from space_cases import SMALL  # noqa: E402

on_each_device = pytest.mark.parametrize("device", cases.DEVICES)
NUMBERS = [  # what is a table of indicators to ShortestPaths has a column for every arc
    name for name, (_, outputs) in SMALL.items()
    if np.array(outputs[0]).dtype.kind in "if" and name != "ShortestPaths"
]  # fmt: skip


@on_each_device
@pytest.mark.parametrize("given", ["tensors", "arrays"])
@pytest.mark.parametrize("name", cases.FITS)
def test_fits(name, given, device):
    cases.check_fit(name, given, device)


@on_each_device
@pytest.mark.parametrize("name", cases.LEARNERS)
def test_outputs_and_weights_of_learners(name, device):
    cases.check_judged(name, device)


@on_each_device
@pytest.mark.parametrize("name", cases.PROMISES)
def test_outputs_of_promises_and_measures(name, device):
    cases.check_promise(name, device)


@on_each_device
@pytest.mark.parametrize("name", NUMBERS)
def test_spaces_read_tensors(name, device):
    """By every method that is given outputs as users have them."""
    space, outputs = SMALL[name]
    expected = space.fit(outputs).validate(outputs)
    with cases.card_of(device) as card:
        for tensors in (card.send(outputs), [card.send(row) for row in outputs]):
            assert_array_equal(space.fit(tensors).validate(tensors), expected)
            assert_array_equal(space.fit_validate(tensors), expected)
            assert not Known.of(space).has_gaps(tensors)


def test_the_stand_in_is_no_array():
    """As a tensor of a card is none: what would fail there fails here."""
    with cases.card_of("stand-in") as card:
        tensor = card.send(np.eye(2))
        with pytest.raises(TypeError, match="to host memory first"):
            np.asarray(tensor * 2.0)
        with pytest.raises(RuntimeError, match="different devices"):
            tensor @ torch.ones(2, dtype=torch.float64)
        assert_array_equal((tensor + 1.0).cpu().numpy(), np.eye(2) + 1.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "int32", "bool"])
def test_outputs_in_any_precision(dtype):
    with cases.card_of("stand-in") as card:
        tensor = card.send(cases.SETS, dtype=getattr(torch, dtype))
        found = cases.fitted("ConditionalRiskMinimizer").score(cases.X, tensor)
    assert found == cases.fitted("ConditionalRiskMinimizer").score(cases.X, cases.SETS)


def test_outputs_that_have_gradients():
    tensor = torch.tensor(cases.SETS, dtype=torch.float64, requires_grad=True)
    model = cases.fitted("ConditionalRiskMinimizer")
    assert model.score(cases.X, tensor) == model.score(cases.X, cases.SETS)


def test_a_tensor_without_numbers_is_refused():
    model, nothing = cases.fitted("ConditionalRiskMinimizer"), torch.zeros(60, 4, device="meta")
    with pytest.raises(ValueError, match=r"shape \(60, 4\) is on the device meta"):
        model.score(cases.X, nothing)
