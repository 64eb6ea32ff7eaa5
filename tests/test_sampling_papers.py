# SPDX-License-Identifier: BSD-3-Clause
"""Chains, bounds and choices that the scripts on sampling measure with."""

import importlib.util
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.datasets.rankings import load_label_ranking
from skstruct.exceptions import MissingDataError
from skstruct.sampling import small_chains as chains

PAPERS = Path(__file__).parents[1] / "papers"


@pytest.fixture(scope="module")
def script():
    """Loads a script by its name; scripts import each other from their folder."""

    def load(name):
        spec = importlib.util.spec_from_file_location(f"papers_{name}", PAPERS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, spec.name, module)  # dataclasses look there
        spec.loader.exec_module(module)
        return module

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PAPERS)
        yield load


def values(log_size):
    return st.lists(st.floats(-3, 3), min_size=2**log_size, max_size=2**log_size).map(np.array)


@given(f=values(3), kind=st.sampled_from(["meta_matrix", "cube_matrix"]))
@settings(max_examples=30, deadline=None)
def test_the_distribution_is_stationary(f, kind):
    P = getattr(chains, kind)(f)
    assert (P >= -1e-12).all()
    p = chains.probabilities(f)
    np.testing.assert_allclose(p @ P, p, atol=1e-12)


@given(f=values(3))
@settings(max_examples=30, deadline=None)
def test_second_eigenvalue_of_meta(f):
    expected = 1 - np.exp(f).sum() / (len(f) * math.exp(f.max()))
    found = chains.second_eigenvalue(chains.meta_matrix(f))
    assert found == pytest.approx(expected, abs=1e-9)


@given(f=values(2), kind=st.sampled_from(["meta_matrix", "cube_matrix"]))
@settings(max_examples=30, deadline=None)
def test_mixing_time_is_the_first_step_that_is_close(f, kind):
    P = getattr(chains, kind)(f)
    p = chains.probabilities(f)
    t, power = 0, np.eye(len(P))
    while 0.5 * np.abs(power - p).sum(axis=1).max() > 0.05:
        t, power = t + 1, power @ P
    assert chains.mixing_time(P, p, 0.05) == t


def cube(d):
    return (np.arange(2**d)[:, None] >> np.arange(d)) & 1


@given(w=st.lists(st.floats(-4, 4), min_size=2, max_size=5).map(np.array))
@settings(max_examples=30, deadline=None)
def test_path_coupling_of_log_linear_distributions(w):
    d = len(w)
    f = cube(d) @ w
    factor = 1 - (1 + math.exp(-np.abs(w).max())) / (2 * d)
    assert chains.cube_contraction(f) == pytest.approx(factor, abs=1e-12)
    bound = math.log(d / 0.05) / (1 - factor)
    assert chains.mixing_time(chains.cube_matrix(f), chains.probabilities(f), 0.05) <= math.ceil(
        bound
    )


def test_two_modes_refute_the_bound_for_all_distributions():
    f = (cube(8).sum(axis=1) - 4.0) ** 2
    P = chains.cube_matrix(f)
    assert 1 / (1 - chains.second_eigenvalue(P)) == pytest.approx(874_244, rel=1e-5)
    assert chains.mixing_time(P, chains.probabilities(f), 0.05) > 1e6 > 8 * math.log(8 / 0.05)


def test_penalties_are_followed_downhill(script):
    pytest.importorskip("matplotlib")
    rows = script("sampling_rows")
    for best in (-7.0, -4.5, -4.0, -1.5):
        found = rows.least(lambda lam, best=best: (math.log10(lam) - best) ** 2, 1e-4)
        assert math.log10(found) == pytest.approx(best)


def test_theory_is_printed(script, capsys):
    sampling = script("sampling")
    for section in ("coalescence", "mixing", "quick"):
        sampling.SECTIONS[section](True)
    printed = capsys.readouterr().out
    for title in ("Theorem 6.11", "Theorem 6.12", "Theorem C.2", "Section 6.4"):
        assert title in printed


def test_models_are_printed_and_drawn(script, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    try:
        load_label_ranking("iris")
    except MissingDataError as error:
        pytest.skip(str(error))
    script("sampling_models").run("iris", tmp_path, True)
    assert "positions, linear" in capsys.readouterr().out
    assert (tmp_path / "calibration_iris.png").exists()
