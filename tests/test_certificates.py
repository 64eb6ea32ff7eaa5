# SPDX-License-Identifier: BSD-3-Clause
"""Oracles catch decoders, losses and draws that are wrong on purpose, and pass right ones."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[1] / "reliability"
BEGINNINGS = ("oracle_", "drawn", "certif", "planted_bugs", "distributions", "summary")


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in [name for name in sys.modules if name.startswith(BEGINNINGS)]:
        sys.modules.pop(name)


def test_oracles_use_nothing_of_the_library():
    for path in FOLDER.glob("oracle_*.py"):
        assert "skstruct" not in path.read_text(encoding="utf-8"), path.name


@pytest.mark.slow
def test_planted_decoders_are_caught(scripts):
    assert scripts("planted_bugs").missed(seed=0) == []


@pytest.mark.slow
def test_planted_distributions_are_caught(scripts):
    assert scripts("distributions").planted(np.random.default_rng(0))


def test_a_sampler_that_misses_an_output_is_caught(scripts):
    oracle = scripts("oracle_distributions")
    rng = np.random.default_rng(0)
    probabilities = np.array([0.5, 0.3, 0.2])
    fair = rng.choice(3, 2000, p=probabilities)
    assert oracle.is_drawn_from(fair, probabilities)
    assert not oracle.is_drawn_from(np.minimum(fair, 1), probabilities)
    assert not oracle.is_drawn_from(fair, np.array([0.5, 0.5, 0.0]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["label_sets", "ordinal"])
def test_some_spaces_keep_their_promises(scripts, name):
    draw = getattr(scripts("drawn_sets"), name)
    certified = scripts("certified_spaces")
    for seed in range(12):
        rng = np.random.default_rng(seed)
        done, family = certified.space_case(rng, [draw], 40)
        assert done >= 40, family


@pytest.mark.slow
def test_some_learners_and_distributions_keep_their_promises(scripts):
    family = scripts("drawn_sets").label_sets
    learners, sums = scripts("certified_learners"), scripts("distributions")
    for seed in range(6):
        assert learners.by_risk(
            np.random.default_rng(seed), family(np.random.default_rng(seed)), 30
        )
        rng = np.random.default_rng(seed)
        assert sums.checked(rng, family(rng)) >= sums.N_ROWS
