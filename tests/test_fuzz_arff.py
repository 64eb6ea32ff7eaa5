# SPDX-License-Identifier: BSD-3-Clause
"""Broken ARFF, MULAN, CLUS and LIBSVM files are read or refused, and nothing else."""

import importlib
import random
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "reliability"


@pytest.fixture
def fuzzing(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module("fuzz_arff")
    for name in ("fuzz_arff", "arff_seeds", "mutations"):
        sys.modules.pop(name, None)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [("arff", 1500), ("libsvm", 1500), ("label list", 1500)])
def test_mutants_are_read_or_refused(fuzzing, name, n):
    found = fuzzing.fuzz(name, n, seed=1)
    assert found["failures"] == []
    assert found["read"] > n // 50
    assert found["refused"] > n // 4


@pytest.mark.slow
def test_planted_bugs_are_found(fuzzing, monkeypatch):
    assert fuzzing.fuzz("arff", 500, 0, fuzzing.planted)["failed"] > 0
    monkeypatch.setattr(sys.modules["mutations"], "LONGEST_SECONDS", 1e-9)
    found = fuzzing.fuzz("libsvm", 5, 0, lambda path: time.sleep(0))
    assert found["failures"][0]["why"].startswith("took")


def test_readers_that_disagree_are_found(fuzzing, monkeypatch):
    """A compiled reader that takes a comma for a point would be a silent error."""
    read = fuzzing.outcome

    def wrong(format, path, compiled_from):
        data = read(format, path, compiled_from)
        if compiled_from == 0 and not isinstance(data, ValueError) and len(data.inputs.names):
            data.inputs.data[:, [0]] *= 2
        return data

    monkeypatch.setattr(fuzzing, "outcome", wrong)
    assert fuzzing.fuzz("arff", 300, 0, fuzzing.read_and_write(fuzzing.ARFF))["failed"] > 0


def test_mutants_are_named_by_their_seed(fuzzing):
    mutants = importlib.import_module("mutations").mutants
    seeds = [b"one,two\n1,2\n", b""]
    runs = [list(mutants(seeds, 200, random.Random(seed))) for seed in (3, 3, 4)]
    assert runs[0] == runs[1] != runs[2]
    assert len(set(runs[0])) > 100
