# SPDX-License-Identifier: BSD-3-Clause
"""Broken files by the hundred: read, or refused in one line. More by reliability/fuzz_tables.py."""

import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError

FOLDER = Path(__file__).parents[2] / "reliability"
FORMATS = ["csv", "label-ranking", "letters", "conll", None]


@pytest.fixture
def fuzz_tables(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield importlib.import_module("fuzz_tables")
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or "").parent == FOLDER:
            del sys.modules[name]


@pytest.mark.slow
def test_a_planted_bug_is_found(fuzz_tables):
    assert fuzz_tables.fuzz("csv", 300, 0, fuzz_tables.planted)["failed"] > 0


STAGES = ["csv", "label-ranking", "letters", "conll", "any format"]
STAGES += ["csv.gz", "csv.xz", "taxonomy", "parquet"]


@pytest.mark.slow
@pytest.mark.parametrize("name", STAGES)
def test_mutants(fuzz_tables, name):
    assert set(STAGES) == set(fuzz_tables.STAGES)
    outcome = fuzz_tables.fuzz(name, 150, 7)
    assert outcome["failures"] == []
    if outcome["tried"]:  # Parquet needs its libraries
        assert outcome["refused"] > 0


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
