# SPDX-License-Identifier: BSD-3-Clause
"""Any bytes at all: read, or refused in one line. More by reliability/fuzz_readers.py."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError

FORMATS = ["csv", "label-ranking", "letters", "conll", None]


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
@given(text=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@settings(max_examples=150, deadline=None)
def test_any_bytes(tmp_path_factory, format, text):
    path = tmp_path_factory.getbasetemp() / "any_bytes"
    path.write_bytes(text)
    for targets in (None, (), ("1",)):
        found = outcome(path, format, targets)
        if isinstance(found, DataFormatError):
            assert "\n" not in str(found)
            assert str(found).startswith(str(path))


def outcome(path, format, targets):
    try:
        return read_data(path, format=format, targets=targets)
    except DataFormatError as error:
        return error
