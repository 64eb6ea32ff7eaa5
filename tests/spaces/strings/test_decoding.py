# SPDX-License-Identifier: BSD-3-Clause
"""Minimum-cost strings and pre-images under n-gram counts, against all strings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.spaces.strings.decoding import GramConstraints, min_cost_strings, nearest_strings

# Alphabets, n-grams and longest strings that are few enough to be listed.
SIZES = [(2, 1, 6), (3, 1, 5), (2, 2, 8), (3, 2, 6), (4, 2, 5), (2, 3, 8), (3, 3, 6), (2, 4, 8)]


def counts(z, q, order):
    """n-gram counts, straight from the definition."""
    psi = np.zeros(q**order)
    for t in range(len(z) - order + 1):
        psi[int("".join(map(str, z[t : t + order])), q)] += 1
    return psi


@st.composite
def problems(draw):
    """Alphabet, n, lengths, known symbols, forbidden n-grams and g."""
    q, order, most = draw(st.sampled_from(SIZES))
    longest = draw(st.integers(0, most))
    shortest = draw(st.integers(0, longest)) if draw(st.booleans()) else longest
    known = np.full((1, longest), -1)
    for t in range(shortest):
        if draw(st.integers(0, 5)) == 0:
            known[0, t] = draw(st.integers(0, q - 1))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    forbidden = rng.random((1, q**order)) < draw(st.sampled_from([0.0, 0.0, 0.3]))
    kind, size = draw(st.sampled_from(["votes", "whole", "normal"])), (4, q**order)
    if kind == "votes":
        strings = [rng.integers(0, q, max(longest, 1)) for _ in range(5)]
        g = rng.normal(0.3, 0.5, (4, 5)) @ np.array([counts(z, q, order) for z in strings])
    elif kind == "whole":
        g = rng.integers(-1, 3, size) / 2.0
    else:
        g = rng.normal(0, draw(st.sampled_from([0.1, 1.0, 4.0])), size)
    return q, order, shortest, longest, known, forbidden, g


def listed(q, order, shortest, longest, known, forbidden):
    """All strings within the constraints, and their counts."""
    strings = [
        z
        for length in range(shortest, longest + 1)
        for z in product(range(q), repeat=length)
        if all(k in (-1, a) for k, a in zip(known[0], z))
        and not (counts(z, q, order) @ forbidden[0])
    ]
    return strings, np.array([counts(z, q, order) for z in strings]).reshape(-1, q**order)


def check_strings(symbols, values, strings, totals):
    """Strings are within the constraints and cost what is said."""
    number = {z: i for i, z in enumerate(strings)}
    for row, (z, value) in enumerate(zip(symbols, values)):
        z = tuple(z[z >= 0].tolist())
        assert z in number, "a string breaks the constraints"
        assert value == pytest.approx(totals[row, number[z]], abs=1e-9)


def solved(problem, decode, **options):
    q, order, shortest, longest, known, forbidden, g = problem
    constraints = GramConstraints(
        q, order, np.array([shortest]), np.array([longest]), known, forbidden
    )
    return decode(g, constraints, **options)


@given(problems())
def test_min_cost_strings(problem):
    symbols, values = solved(problem, min_cost_strings)
    strings, psi = listed(*problem[:2], *problem[2:6])
    if not strings:
        assert np.isinf(values).all()
        return
    totals = problem[-1] @ psi.T
    check_strings(symbols, values, strings, totals)
    np.testing.assert_allclose(values, totals.min(axis=1), atol=1e-9)


@given(problems())
def test_nearest_strings(problem):
    symbols, values, bounds = solved(problem, nearest_strings)
    strings, psi = listed(*problem[:2], *problem[2:6])
    if not strings:
        assert np.isinf(values).all()
        return
    totals = (psi**2).sum(axis=1) - 2 * problem[-1] @ psi.T
    check_strings(symbols, values, strings, totals)
    np.testing.assert_allclose(values, totals.min(axis=1), atol=1e-9)
    np.testing.assert_array_equal(bounds, values)


@given(problems(), st.integers(0, 300))
def test_bounds_hold_however_little_work_is_allowed(problem, max_nodes):
    symbols, values, bounds = solved(problem, nearest_strings, max_nodes=max_nodes)
    strings, psi = listed(*problem[:2], *problem[2:6])
    if not strings:
        assert np.isinf(values).all()
        return
    totals = (psi**2).sum(axis=1) - 2 * problem[-1] @ psi.T
    check_strings(symbols, values, strings, totals)
    assert (bounds <= totals.min(axis=1) + 1e-9).all()
    proven = values == bounds
    np.testing.assert_allclose(values[proven], totals.min(axis=1)[proven], atol=1e-9)
