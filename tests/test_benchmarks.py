# SPDX-License-Identifier: BSD-3-Clause
"""Other ways that benchmarks compare with find the same, and their quick runs end well."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from script_folders import scripts_of
from skstruct.spaces import Hierarchy, PairwiseLabels

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmark_named(monkeypatch):
    """Imports a script of the folder as if it had been called with --quick."""
    monkeypatch.setattr(sys, "argv", ["benchmark", "--quick"])
    with scripts_of(FOLDER, monkeypatch) as named:
        yield named


@pytest.mark.parametrize(("kind", "n_pairs"), [(Hierarchy, 0), (PairwiseLabels, 6)])
def test_loops_in_numpy_find_the_means_over_all_sets(benchmark_named, kind, n_pairs):
    """Also with scores so far apart that exponentials overflow."""
    peers, bench = benchmark_named("sampling_peers"), benchmark_named("bench_sampling")
    space, parent = bench.tree_of_labels(7, kind, np.random.default_rng(0))
    name = "closed_sets" if kind is Hierarchy else "pairwise"
    scores = np.random.default_rng(1).standard_normal((3, 7 + n_pairs)) * [[1], [10], [1000]]
    psi = space.embed(space.enumerate())[:, bench.order_of_pairs(space, parent)]
    values = scores @ psi.T
    weights = np.exp(values - values.max(axis=1, keepdims=True))
    means = weights @ psi / weights.sum(axis=1, keepdims=True)
    for way in ("row_by_row", "node_by_node"):
        assert_allclose(getattr(peers, f"{name}_{way}")(scores, parent), means, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "function", "lines"),
    [
        ("bench_sampling", "bench_trees", 6),
        ("bench_exponential", "bench_labels", 4),
        ("bench_exponential", "bench_chains", 1),
    ],
)
def test_quick_runs_end_well(benchmark_named, monkeypatch, capsys, script, function, lines):
    module = benchmark_named(script)
    monkeypatch.setattr(module, "BUDGET", 0.0)  # one round
    getattr(module, function)()
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= 4 + lines  # an empty line, the title, names of columns, a rule


@pytest.mark.slow
def test_words_are_tagged_in_a_quick_run(benchmark_named, capsys):
    benchmark_named("bench_tokens").main()
    printed = capsys.readouterr().out
    assert "32 training sentences, 192 tokens" in printed
    assert "ours, all defaults         100.00%" in printed


def test_chunks_end_where_their_kind_does(benchmark_named):
    module = benchmark_named("bench_tokens")
    tags = ["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-PP"]
    assert sorted(module.spans(tags)) == [(0, 2, "NP"), (2, 3, "NP"), (4, 5, "VP"), (5, 6, "PP")]
    assert module.spans([]) == set()
    assert module.chunk_f1([["B-NP", "I-NP", "B-VP"]], [["B-NP", "B-NP", "B-VP"]]) == 0.4
