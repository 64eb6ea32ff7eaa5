# SPDX-License-Identifier: BSD-3-Clause
"""Equal rows against comparing all rows with each other."""

from itertools import pairwise
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct._arrays import rows as module
from skstruct._arrays.rows import copied_rows, equal_rows


def slow(rows):
    """Numbers in order of appearance, or None."""
    seen = {}
    number = [seen.setdefault(row, len(seen)) for row in rows]
    return None if len(seen) == len(rows) else np.array(number)


def check(found, expected):
    assert (found is None) == (expected is None)
    if expected is not None:
        assert_array_equal(found, expected)


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    X = rng.choice([-1.5, 0.0, 2.0**60, 1e-300], (n, p))
    X[rng.random((n, p)) < 0.1] *= -1.0  # zeros of both signs
    y = rng.integers(0, 3, (n, draw(st.integers(0, 2))))
    return X, y


@given(tables(), st.sampled_from(["dense", "Fortran", "csr", "csc", "twice"]))
def test_equal_rows_are_found(case, form):
    X, y = case
    expected = slow(
        [(tuple(x + 0.0), tuple(z)) for x, z in zip(X.tolist(), y) for x in [np.array(x)]]
    )
    if form == "Fortran":
        X = np.asfortranarray(X)
    elif form in ("csr", "csc"):
        X = sparse.csr_array(X).asformat(form)
    elif form == "twice":  # entries in two parts, and zeros that are written down
        row, column = np.indices(X.shape).reshape(2, -1)
        values = np.concatenate([X.ravel() / 2, X.ravel() / 2])
        parts = (values, (np.tile(row, 2), np.tile(column, 2)))
        X = sparse.coo_array(parts, shape=X.shape)
    check(equal_rows(X, y), expected)


@given(tables())
def test_rows_of_the_same_hash_are_compared(case):
    X, y = case
    expected = slow([(tuple(x), tuple(z)) for x, z in zip((X + 0.0).tolist(), y.tolist())])
    with mock.patch.object(module, "mixed", lambda bits: bits & np.uint64(0)):
        found = equal_rows(X, y)  # all hashes are the same: rows equal the first one, or none
    if expected is None:
        assert found is None
    elif found is not None:
        assert ((found[:, None] == found) <= (expected[:, None] == expected)).all()


@given(st.integers(0, 10**6), st.booleans())
def test_equal_sequences_are_found(seed, is_sparse):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 4, rng.integers(1, 10))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    tokens = rng.integers(0, 2, (starts[-1], 1)).astype(float)
    y = rng.integers(0, 2, len(lengths))
    rows = [(tuple(tokens[a:b, 0]), z) for (a, b), z in zip(pairwise(starts.tolist()), y.tolist())]
    table = sparse.csr_array(tokens) if is_sparse else tokens
    check(equal_rows(table, y, starts=starts), slow(rows))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, str, object])
def test_outputs_of_any_type(dtype):
    y = np.array([[0, 1], [1, 1], [0, 1]]).astype(dtype)
    assert_array_equal(equal_rows(y), [0, 1, 0])
    assert equal_rows(y, [1.0, 2.0, np.nan]) is None
    assert_array_equal(equal_rows(y, [np.nan, 2.0, np.nan]), [0, 1, 0])


def test_few_bits_that_differ_are_enough():
    """Small integers differ in the upper bits of a float only."""
    grid = np.stack(np.meshgrid(np.arange(64.0), np.arange(64.0), np.arange(4.0)), axis=-1)
    assert equal_rows(grid.reshape(-1, 3)) is None


@given(tables())
def test_copies_are_equal_rows_unless_inputs_are_discrete(case):
    X, y = case
    rows = [(tuple(x), tuple(z)) for x, z in zip((X + 0.0).tolist(), y.tolist())]
    expected, inputs = slow(rows), [x for x, _ in rows]
    if expected is not None:
        repeated = [i for i, x in enumerate(inputs) if inputs.count(x) > 1]
        differ = [i for i in repeated if len({z for x, z in rows if x == inputs[i]}) > 1]
        discrete = 10 * len(differ) >= len(repeated) or len(rows) >= 5 * len(set(rows))
        expected = None if discrete or len(set(rows)) == 1 else expected
    check(copied_rows(X, y), expected)
