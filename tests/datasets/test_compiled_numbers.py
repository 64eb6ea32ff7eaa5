# SPDX-License-Identifier: BSD-3-Clause
"""Numbers read compiled are those that Python reads, to the last bit."""

import math
import struct
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.datasets.formats._numba import read_number


def read(text):
    return read_number(np.frombuffer(text.encode(), dtype=np.uint8), 0, len(text))


def check(text):
    settled, value = read(text)
    if settled:
        assert struct.pack("d", value) == struct.pack("d", float(text)), text
    return settled


def between(value):
    """Decimal texts close to the middle of a double and the next, where rounding turns."""
    middle = (Decimal(value) + Decimal(math.nextafter(value, math.inf))) / 2
    return [f"{middle:.{digits}e}" for digits in (14, 16, 17, 18)]


@pytest.mark.slow
@settings(max_examples=500)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles(value):
    settled = check(repr(value))
    assert settled or 0 < abs(value) < 2.3e-308 or abs(value) > 1e308 or value.is_integer()


@settings(max_examples=300)
@given(st.floats(min_value=1e-300, max_value=1e300))
def test_texts_between_doubles(value):
    for text in between(value):
        check(text)


@pytest.mark.slow
@settings(max_examples=500)
@given(st.from_regex(r"[+-]?[0-9]{0,12}\.?[0-9]{0,12}([eE][+-]?[0-9]{0,3})?", fullmatch=True))
def test_texts_like_numbers(text):
    try:
        float(text)
    except ValueError:
        assert not read(text)[0] if text else True
    else:
        check(text)


NO_NUMBERS = ["1_0", "0x1", "nan", "inf", "1e", ".", "+", "-.", "1.2.3", "1e5.", "--1", "1 "]
TRAPS = ["-0", "-0.0", "1e22", "9007199254740993", "1e23", "8.5e22", "123456789012345678e-30"]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_what_is_no_number(text):
    assert not read(text)[0]


@pytest.mark.parametrize("text", TRAPS)
def test_known_traps(text):
    check(text)


def test_almost_all_are_settled():
    rng = np.random.default_rng(0)
    settled = [check(repr(value)) for value in rng.standard_normal(2000).tolist()]
    assert np.mean(settled) > 0.999
