# SPDX-License-Identifier: BSD-3-Clause
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Box, Classes, Decoded, Guarantee, LabelSets, Rankings, Uniform
from skstruct.spaces.common import listing as module
from skstruct.spaces.common.listing import approximate_enumeration
from skstruct.spaces.ordinal.space import Ordinal
from strategies import forests, subsets, total_orders

KINDS = ["label sets", "sized", "pairs", "positions", "ranks", "ordinal", "classes"]


def space_of(kind, d):
    return {
        "label sets": lambda: LabelSets(range(d)), "sized": lambda: LabelSets(range(d), 1, d),
        "pairs": lambda: Rankings(range(d), "pairs"), "ranks": lambda: Rankings(range(d), "ranks"),
        "positions": lambda: Rankings(range(d), "positions"), "ordinal": lambda: Ordinal(range(d)),
        "classes": lambda: Classes().fit(range(d)),
    }[kind]()  # fmt: skip


def costs_of(data, width):
    numbers = st.one_of(st.integers(-2, 2), st.floats(-3, 3))
    return np.array(data.draw(st.lists(numbers, min_size=width, max_size=width)), dtype=float)


def expected(space, costs, nu):
    """The set by its definition: all outputs at most (1 - nu) min + nu max."""
    listed = space.enumerate()
    psi = space.embed(listed)
    values = np.asarray(psi @ costs)
    limit = (1 - nu) * values.min() + nu * values.max()
    slack = 1e-9 * (1 + np.abs(costs).sum())
    return listed, values, values <= limit - slack, values <= limit + slack


def check(space, costs, nu):
    listed, values, surely, perhaps = expected(space, costs, nu)
    number = {np.ascontiguousarray(z).tobytes(): i for i, z in enumerate(listed)}
    found = [
        (number[np.ascontiguousarray(z).tobytes()], value)
        for z, value in approximate_enumeration(space, costs, nu)
    ]
    numbers = [i for i, _ in found]
    assert len(set(numbers)) == len(numbers), "an output came twice"
    assert set(np.flatnonzero(surely)) <= set(numbers) <= set(np.flatnonzero(perhaps))
    assert_allclose([value for _, value in found], values[numbers], atol=1e-9)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("short", [True, False])
@given(
    kind=st.sampled_from(KINDS), d=st.integers(2, 4), data=st.data(),
    nu=st.sampled_from([0.0, 0.2, 0.5, 0.75, 1.0]),
)  # fmt: skip
def test_the_set_by_its_definition(short, kind, d, data, nu):
    space = space_of(kind, d)
    costs = costs_of(data, space.embed(space.enumerate()).shape[1])
    with pytest.MonkeyPatch.context() as patch:
        if not short:
            patch.setattr(module, "SHORT", 0)
            patch.setattr(module, "BATCH", 2)
        found = check(space, costs, nu)
    values = [value for _, value in found]
    assert values == sorted(values), "the minimum-cost come first"


@given(space=forests(5), data=st.data(), nu=st.floats(0, 1))
def test_hierarchies_within_constraints(space, data, nu):
    narrowed = space.restrict(max_size=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SHORT", 0)
        check(narrowed, costs_of(data, len(space.labels_)), nu)


class Streamed(Rankings):
    """Rankings whose decoder may be off: they are gone through one by one."""

    guarantee = Guarantee("bound only")
    gap = 0.0  # values and bounds are half of it off

    def argmin(self, costs):
        assert np.isfinite(self.gap), "no optimum is asked for"
        found = super().argmin(costs)
        return Decoded(found.outputs, found.values + self.gap / 2, found.values - self.gap / 2)


@given(d=st.integers(1, 4), data=st.data(), nu=st.sampled_from([0.0, 0.3, 0.5, 0.8, 1.0]),
       embedding=st.sampled_from(["pairs", "ranks", "positions"]))  # fmt: skip
def test_streams(d, data, nu, embedding):
    space = Streamed(range(d), embedding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "SHORT", 0)
        check(space, costs_of(data, space.embed(total_orders(d)).shape[1]), nu)


def test_siblings_need_no_optimum_at_one_half(monkeypatch):
    monkeypatch.setattr(module, "SHORT", 0)
    space = Streamed(range(4), "pairs")
    space.gap = np.inf
    check(space, np.random.default_rng(0).standard_normal(6), 0.5)


@pytest.mark.parametrize("nu", [0.2, 0.7])
@pytest.mark.parametrize("embedding", ["pairs", "positions"])
def test_a_gap_misses_nothing(monkeypatch, nu, embedding):
    monkeypatch.setattr(module, "SHORT", 0)
    space = Streamed(range(4), embedding)
    space.gap = 2.0
    costs = np.random.default_rng(1).standard_normal(space.embed(total_orders(4)).shape[1])
    listed, values, surely, _ = expected(space, costs, nu)
    found = list(approximate_enumeration(space, costs, nu))
    limit = (1 - nu) * values.min() + nu * values.max()
    assert limit < max(value for _, value in found) <= limit + space.gap
    assert {z.tobytes() for z in listed[surely]} <= {z.tobytes() for z, _ in found}


def test_the_first_of_astronomically_many():
    costs = np.random.default_rng(0).standard_normal(1000)
    space = LabelSets(range(1000))
    found = list(islice(approximate_enumeration(space, costs, 0.5), 5))
    assert_allclose(found[0][1], costs[costs < 0].sum())
    assert_array_equal(found[0][0], costs < 0)
    orders = Rankings(range(30), "pairs")
    costs = np.random.default_rng(0).standard_normal(435)
    found = list(islice(approximate_enumeration(orders, costs, 0.5), 2000))
    assert len({z.tobytes() for z, _ in found}) == 2000
    assert max(value for _, value in found) <= 0  # an order and its reverse cost c and -c


def test_complements_and_reverses():
    Z = subsets(3)
    space = LabelSets(range(3))
    assert_array_equal(space.embed(Z) + space.embed(Uniform.of(space).sibling(Z)), np.ones((8, 3)))
    for embedding, total in (("pairs", 0.0), ("ranks", 4.0)):
        space, Z = Rankings(range(3), embedding), total_orders(3)
        assert_array_equal(
            space.embed(Z) + space.embed(Uniform.of(space).sibling(Z)), np.full((6, 3), total)
        )
    for space in (LabelSets(range(3), 1), Rankings(range(3)), Rankings(range(3)).restrict(top=1)):
        with pytest.raises(ValueError, match="constraints"):
            Uniform.of(space).sibling(space.enumerate())


def test_streams_within_constraints():
    space = Rankings(range(4)).restrict(positions={0: 1})
    assert_array_equal(np.vstack(list(Uniform.of(space).stream(2))), space.enumerate())


@pytest.mark.parametrize(
    ("costs", "nu", "message"),
    [
        ([1.0, 2.0], 1.5, "nu is between"),
        (np.zeros((2, 2)), 0.5, "one row"),
        ([1.0, 2.0, 3.0], 0.5, "2"),
    ],
)
def test_bad_arguments(costs, nu, message):
    with pytest.raises(ValueError, match=message):
        list(approximate_enumeration(LabelSets("ab"), costs, nu))


def test_spaces_without_a_list():
    with pytest.raises(ValueError, match="Box can list neither"):
        approximate_enumeration(Box([0.0], [1.0]), [1.0], 0.5)
    with pytest.raises(InfeasibleError):
        list(
            approximate_enumeration(
                LabelSets("ab").restrict(include=["a"], exclude=["a"]), [1, 2], 0
            )
        )
