# SPDX-License-Identifier: BSD-3-Clause
"""The measurements of scale: peers find the same, tables have all columns, exponents are right."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from script_folders import scripts_of
from skstruct.kernels import RBF
from skstruct.smoothing import KernelRidge

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def module_named(monkeypatch):
    """Imports a module of the folder, and forgets it afterwards."""
    with scripts_of(FOLDER, monkeypatch) as named:
        yield named


@pytest.fixture(scope="module")
def small_problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    return X, np.sin(X @ rng.standard_normal((5, 3)))


def test_conjugate_gradients_converge_to_the_normal_equations(module_named, small_problem):
    """Closer with every step, and there with many; blocks need not divide the rows."""
    peers = module_named("scale_peers")
    X, T = small_problem
    gamma, alpha, errors = 0.1, 0.5, []
    for steps in (2, 10, 100):
        model = peers.FalkonStyle(gamma, alpha, 40, iterations=steps, block=64).fit(X, T)
        K = np.exp(-gamma * ((X[:, None] - model.landmarks_) ** 2).sum(axis=2))
        inner = np.exp(-gamma * ((model.landmarks_[:, None] - model.landmarks_) ** 2).sum(axis=2))
        best = K @ np.linalg.solve(K.T @ K + alpha * inner, K.T @ T)
        errors.append(abs(model.predict(X) - best).max())
    assert errors[2] < 1e-7 < errors[1] < errors[0]
    assert model.n_iter_ < 100  # it stops when nothing is left to do


def test_conjugate_gradients_take_label_sets_and_targets_without_variation(
    module_named, small_problem
):
    peers, (X, T) = module_named("scale_peers"), small_problem
    Y = np.column_stack([T[:, 0] > 0, np.zeros(len(X))]).astype(np.int8)
    found = peers.FalkonStyle(0.1, 0.5, 40).fit(X, Y).predict(X)
    again = peers.FalkonStyle(0.1, 0.5, 40).fit(X, Y.astype(float)).predict(X)
    assert_allclose(found, again)
    assert (found[:, 1] == 0).all()


def test_bare_lapack_solves_kernel_ridge_regression(module_named, small_problem):
    peers, (X, T) = module_named("scale_peers"), small_problem
    ours = KernelRidge(RBF(0.1), alpha=0.5, fit_intercept=False).fit(X, T)
    bare = peers.BareExact(0.1, 0.5).fit(X, T)
    assert_allclose(bare.predict(X[:9]), ours.predict(X[:9]), atol=1e-10)
    assert bare.lapack_wall_ > 0


def test_rows_of_a_smaller_sample_begin_a_larger_one(module_named):
    made = module_named("scale_cell")
    X, Y = made.make_rows(5100, 3)
    few, few_labels = made.make_rows(70, 3)
    assert_allclose(X[:70], few)
    assert (Y[:70] == few_labels).all()
    assert not np.isclose(made.make_rows(70, 3, held_out=True)[0], few).any()


@pytest.mark.parametrize("power", [0.0, 1.0, 2.7])
def test_exponents_of_powers(module_named, power):
    plot = module_named("scale_plot")
    n = np.array([1e3, 3e3, 1e4, 1e5])
    assert_allclose(plot.exponent(n, 0.02 * n**power), power, atol=1e-12)
    noisy = n**power * [1.1, 0.9, 0.9, 1.1]
    assert_allclose(plot.exponent(n, noisy), np.polyfit(np.log(n), np.log(noisy), 1)[0])
    assert plot.exponent([1000], [2.0]) is None


def made_up(method, n, m, **figures):
    record = {"method": method, "n": n, "d": 100, "m": m, "threads": 1, "wall": 1.0, "cpu": 1.0}
    record |= {"gemm_cpu": 1e9, "gemm_wall": 1e9, "flops": 5e8, "growth": 2e9, "peak": 4e9}
    return record | {"loss": 0.1, "lapack_cpu": 0.5, "lapack_wall": 0.5} | figures


def test_misses_are_called_missed(module_named, capsys):
    scale, tables = module_named("scale"), module_named("scale_report")
    million = made_up("onepass", 1_000_000, 2000)
    records = [
        made_up("cholesky", 10_000, 0, growth=9.6e8),
        made_up("bare", 10_000, 0),
        million,
        made_up("falkon", 1_000_000, 2000, cpu=6.0),
    ]
    tables.report(records, scale.parse(["--labels", "100"]))
    lines = capsys.readouterr().out.splitlines()
    verdicts = {
        "exact / bare": "missed",  # 1.0 / 0.5
        "peak / 8 n², ours, exact": "met",  # 1.2
        "one pass / its flops": "missed",  # 1.0 s against 0.5
        "Falkon-style / one pass": "met",  # 6
        "whole process": "missed",  # 4 GB
    }
    for title, verdict in verdicts.items():
        assert next(line for line in lines if title in line).endswith(verdict)


def test_left_out_with_a_reason(module_named, monkeypatch):
    scale = module_named("scale")
    arguments = scale.parse(["--longest", "10"])
    task = scale.cell("cholesky", 10_000, 100, 2000)
    assert "36 s" in scale.too_much(task, 1e10, arguments)  # 1e12 / 3 + 2.8e10 operations
    monkeypatch.setattr(scale, "available_memory", lambda: 10**8)
    assert "GB" in scale.too_much(task, 1e12, arguments)
    monkeypatch.setattr(scale, "available_memory", lambda: None)
    assert scale.too_much(task, 1e12, arguments) == ""


@pytest.mark.subprocess
def test_a_tiny_run_prints_all_columns_and_keeps_what_was_measured(module_named, tmp_path):
    scale = module_named("scale")
    methods = ["bare", "onepass"]
    command = [sys.executable, "scale.py", "--sizes", "300", "--labels", "5"]
    command += ["--out", str(tmp_path), "--methods", *methods]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    head = next(k for k, line in enumerate(lines) if line.split()[:1] == ["rows"])
    assert all(column in lines[head] for column in scale.COLUMNS)
    table = [line.split() for line in lines[head + 1 : head + 1 + len(methods)]]
    losses = [float(cells[-1]) for cells in table]
    levels = next(line for line in lines if "5 labels" in line)
    probability = float(levels.split("has ")[1].split(",")[0])
    assert max(losses) < probability
    records = scale.read(tmp_path / "scale.jsonl")
    assert [r["method"] for r in records] == methods
    assert all(r["growth"] > 0 and r["cpu"] > 0 and r["peak"] > r["growth"] for r in records)
    command[-len(methods) :] = ["onepass", "--resume"]  # nothing is measured again, nothing lost
    subprocess.run(command, cwd=FOLDER, capture_output=True, check=True)
    assert scale.read(tmp_path / "scale.jsonl") == records


def test_the_plot_is_drawn(module_named, tmp_path):
    pytest.importorskip("matplotlib")
    plot = module_named("scale_plot")
    records = [made_up("onepass", n, min(2000, n // 2), cpu=n / 1e4) for n in (1000, 10**4, 10**5)]
    kept = tmp_path / "scale.jsonl"
    kept.write_text("\n".join(map(json.dumps, records)))
    plot.main([str(kept), "--to", str(tmp_path / "a.png")])
    assert (tmp_path / "a.png").stat().st_size > 10_000
    assert_allclose(plot.grown(records, 2000, "cpu"), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "section", ["rates", "halves", "exact", "million", "ten-million", "stream", "decode"]
)
def test_what_is_measured_on_a_card_runs_on_a_stand_in(module_named, capsys, section):
    """Each section, with few rows: decisions are those of the host, and means near the truth."""
    pytest.importorskip("torch")
    from card_cases import card_of

    script = module_named("scale_gpu")
    with card_of("stand-in") as card:
        script.main([section, "--small", "--device", card.device])
    assert f"{section}: " in capsys.readouterr().out
    assert script.FIGURES
    assert all(figure.get("share_equal", 1.0) == 1.0 for figure in script.FIGURES)
    assert all(figure.get("relative_error", 0.0) < 0.6 for figure in script.FIGURES)
