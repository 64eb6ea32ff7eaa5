# SPDX-License-Identifier: BSD-3-Clause
"""Some races of reliability/races.py: two processes at one file, and bugs that must be caught."""

from collections import Counter
from pathlib import Path

import pytest

from script_folders import scripts_of

FOLDER = Path(__file__).parents[1] / "reliability"
pytestmark = [pytest.mark.slow, pytest.mark.subprocess]


@pytest.fixture
def races(monkeypatch):
    with scripts_of(FOLDER, monkeypatch) as scripts:
        yield scripts("races")


def test_planted_bugs_are_caught(races):
    assert all(races.planted(0, {}).values())


def test_there_is_no_mixture_and_no_crash(races):
    right = races.alone()
    for number, kind in enumerate(races.KINDS):
        for again in range(2):
            assert races.tried(kind, again, number, right, Counter()) is None
