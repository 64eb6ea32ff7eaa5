# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that ask servers wrong things, and much for long: small counts, planted bugs."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from script_folders import scripts_of

pytest.importorskip("uvicorn")
FOLDER = Path(__file__).parents[2] / "reliability"
pytestmark = [
    pytest.mark.slow, pytest.mark.subprocess,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and reads /proc"),
]  # fmt: skip


@pytest.fixture
def reliability(monkeypatch):
    """Imports a script of the folder."""
    with scripts_of(FOLDER, monkeypatch) as named:
        yield named


def test_bad_requests_to_a_real_server(reliability):
    fuzz, summary = reliability("fuzz_server"), reliability("summary")
    fitted = reliability("trial_server").models()
    given = SimpleNamespace(cases=200, minutes=None, seed=3)
    assert fuzz.planted(fitted, given) == {"fails_sometimes": True, "tells_all": True}
    tries = summary.Tries(given)
    counts = fuzz.attack(fitted, tries)
    assert tries.failures == []
    assert set(counts["kinds"]) >= {"right", "damaged", "schema", "tricks", "tokens", "noise"}


def test_a_leak_is_caught(reliability):
    soak, summary = reliability("soak"), reliability("summary")
    tries = summary.Tries(SimpleNamespace(cases=10**9, minutes=0.2, seed=0))
    measured = soak.soak(soak.models_of(), tries, workers=1, plant=soak.leaks(1000.0))
    found = {failure["why"][:12] for failure in tries.failures}
    assert "memory grows" in found <= {"memory grows", "99th percent"}  # what it leaks takes time
    assert measured["mb_per_minute"] > 100  # more than models that are used for the first time


def test_growth_is_counted_for_each_process_from_its_own_level(reliability):
    watch = reliability("soak_measures").Watch(server=SimpleNamespace(pid=1))
    watch.start_time -= 600  # ten minutes ago
    moments = np.arange(0, 600, 5.0)
    early = {
        1: [(t, 100.0) for t in moments],
        2: [(t, 500 + t / 60) for t in moments if t < 300],  # a megabyte a minute
        3: [(t, 20 + t / 60 + 50 * (t < 390)) for t in moments if t >= 300],  # young at first
    }
    watch.memory = early
    assert watch.slope() == pytest.approx(1.0)
    watch.memory = early | {4: [(t, 10 * t) for t in moments if t < 50]}  # killed as it warms up
    assert watch.slope() == pytest.approx(1.0)
    assert watch.jumped(1.0) == 0
    watch.memory = early | {1: [(t, 100 + t / 30) for t in moments]}  # the server leaks
    assert watch.slope() == pytest.approx(2.0)
    watch.times = [(t, 0.1 if t < 400 else 0.4) for t in moments]
    first, last = watch.percentiles()
    assert (first, last) == (pytest.approx(0.1), pytest.approx(0.4))


def test_steps_are_no_leak_unless_they_are_large(reliability):
    watch = reliability("soak_measures").Watch(server=SimpleNamespace(pid=1))
    moments = np.arange(0, 600, 0.5)
    watch.memory = {1: [(t, 100 + 3 * (t > 400) + 2 * (t > 450)) for t in moments]}
    assert watch.slope() == pytest.approx(0.0)
    assert watch.jumped(1.0) == 0
    watch.memory = {1: [(t, 100 + 30 * (t > 400)) for t in moments]}
    assert watch.jumped(1.0) == pytest.approx(30 - 8 - 5, abs=0.1)
    watch.memory = {1: [(t, 100 + t / 30 // 0.5 * 0.5) for t in moments]}  # 2 MB a minute in steps
    assert watch.slope() == pytest.approx(2.0, abs=0.3)


def test_requests_by_schemathesis(reliability):
    pytest.importorskip("schemathesis")
    fuzz, summary = reliability("fuzz_schema"), reliability("summary")
    fitted = reliability("trial_server").models()
    given = SimpleNamespace(cases=160, minutes=None, seed=3)
    assert fuzz.caught(fitted, given)
    tries = summary.Tries(given)
    statuses = fuzz.attack(fitted, tries)
    assert tries.failures == []
    assert set(statuses) >= {"200", "422"}
