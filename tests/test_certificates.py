# SPDX-License-Identifier: BSD-3-Clause
"""Oracles catch decoders, losses and draws that are wrong on purpose, and pass right ones."""

import importlib
import sys
from dataclasses import replace
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "case"),
    [
        ("certified_regions", "region_case"),
        ("certified_decisions", "decision_case"),
        ("certified_decisions", "scenario_case"),
        ("certified_partial", "one_of_case"),
        ("certified_partial", "censored_case"),
    ],
)
def test_some_numbers_and_decisions_keep_their_promises(scripts, file, case):
    run = getattr(scripts(file), case)
    assert sum(run(np.random.default_rng([1, seed]), 20)[0] for seed in range(8)) >= 60


@pytest.mark.slow
def test_a_bound_above_a_point_is_caught(scripts):
    regions, draw = scripts("certified_regions"), scripts("drawn_quantities").polytope
    wrong = scripts("certified_spaces").Wrong
    region = draw(np.random.default_rng(0))
    right = region.space.argmin

    class Bent:
        def argmin(self, costs):
            found = right(costs)
            return replace(found, bounds=found.bounds + 1e-3 * np.abs(costs).sum(axis=1))

    with pytest.raises(wrong, match="above a point"):
        regions.check_linear(np.random.default_rng(0), region, Bent(), 20)
