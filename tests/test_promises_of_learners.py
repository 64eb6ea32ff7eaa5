# SPDX-License-Identifier: BSD-3-Clause
"""Harnesses of determinism, contract and supply chain catch what is planted, and pass the rest."""

import json
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

from script_folders import scripts_of

FOLDER = Path(__file__).parents[1] / "reliability"


@pytest.fixture
def script(monkeypatch):
    with scripts_of(FOLDER, monkeypatch) as load:
        yield load


def test_a_learner_that_looks_at_the_rows_beside_is_caught(script):
    found = script("determinism_worker").varied(-1, 0)
    assert found["one by one"] != found["plain"]
    assert found["again"] == found["plain"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["risk, linear", "risk, rankings", "counting, label sets"])
def test_batches_and_orders_change_no_label(script, name):
    worker = script("determinism_worker")
    for turn in range(3):
        found = worker.varied([*worker.CASES].index(name) + turn * len(worker.CASES), 0)
        assert {setting for setting, rows in found.items() if rows != found["plain"]} == set()


@pytest.mark.subprocess
def test_hash_seeds_are_settings(script):
    """A learner that walks a set is caught by another process."""
    harness = script("determinism")
    workers = {"plain": harness.Worker("plain")}
    workers["hash seed 1"] = harness.Worker("plain", PYTHONHASHSEED="1")
    try:
        caught = {setting: wrong for setting, _, wrong in harness.compared(workers, 0, -2)}
        held = {setting: wrong for setting, _, wrong in harness.compared(workers, 0, 2)}
    finally:
        for worker in workers.values():
            worker.close()
    assert caught["hash seed 1"]
    assert held == {"hash seed 1": []}


def test_exceptions_name_learners_and_reasons(script):
    worker, harness = script("determinism_worker"), script("determinism")
    seen = harness.read_exceptions()
    assert [worker.name_of(number) for _, number, _ in seen.values()] == [name for name, _ in seen]
    assert {machine for *_, machine in seen.values()} <= set(harness.OLD_KERNELS)
    read = json.loads(harness.EXCEPTIONS.read_text(encoding="utf-8"))
    assert all(len(one["reason"]) > 20 for one in read["exceptions"])


def test_an_exception_that_nothing_shows_is_told(script, monkeypatch):
    harness = script("determinism")
    shown = [("order of rows", 24, ["wrong"]), ("float32", 24, [])]
    monkeypatch.setattr(harness, "compared", lambda workers, seed, number: shown)
    case = (0, 4, "x86_64")
    seen = {("risk, neighbors", "order of rows"): case, ("risk, neighbors", "float32"): case}
    assert [*harness.shown_no_more({}, seen)] == [("risk, neighbors", "float32", *case)]


@pytest.mark.slow
def test_an_estimator_that_changes_a_parameter_is_caught(script):
    assert script("contract").planted_are_caught(0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "check", ["parameters", "pickles and copies", "weights are rows", "metadata routing", "arrow"]
)
def test_checks_of_the_contract_hold(script, check):
    contract = script("contract")
    for name in ("risk, linear", "counting, rankings"):
        case = contract.CASES[name]
        assert contract.checked(check, case, np.random.default_rng([0, 1])) == ""


def test_every_case_of_the_contract_comes_in_a_round(script):
    contract = script("contract")
    n = len(contract.CHECKS) * len(contract.CASES) + len(contract.ESTIMATORS)
    given = Namespace(seed=3)
    assert len({contract.pairs(given.seed, number) for number in range(n)}) == n
    assert len(contract.CASES) >= 22


def test_planted_packages_are_caught(script, tmp_path):
    assert all(script("supply_chain").planted_are_caught(tmp_path).values())


def test_an_audit_that_reaches_nobody_is_told(script, monkeypatch):
    chain = script("supply_chain")
    ends = iter([
        chain.subprocess.TimeoutExpired("pip_audit", chain.AUDIT_SECONDS),
        Namespace(stdout="", stderr="Traceback\nConnectionError: no route"),
        Namespace(stdout='{"dependencies": [{"name": "a", "skip_reason": "no a"}]}', stderr=""),
        Namespace(stdout='{"dependencies": [{"name": "a", "vulns": [{"id": "X-1"}]}]}', stderr=""),
    ])  # fmt: skip

    def run(*given, **options):
        end = next(ends)
        if isinstance(end, Exception):
            raise end
        return end

    monkeypatch.setattr(chain.subprocess, "run", run)
    monkeypatch.setattr(chain.importlib.util, "find_spec", lambda name: None)
    assert chain.audit() == (None, "not checked: pip-audit is not installed")
    monkeypatch.setattr(chain.importlib.util, "find_spec", lambda name: name)
    assert chain.audit() == (None, "not reachable: no answer within 300 seconds")
    assert chain.audit() == (None, "not reachable: ConnectionError: no route")
    assert chain.audit() == (None, "not reachable: none of 1 packages is known: no a")
    assert chain.audit() == ([{"name": "a", "vulns": [{"id": "X-1"}]}], "")


def test_licences(script):
    is_free = script("licences").is_free
    assert is_free("MIT OR GPL-3.0-only")
    assert is_free("BSD-3-Clause AND (GPL-3.0-only OR MIT)")
    assert not is_free("MIT AND GPL-3.0-only")
    assert not is_free("AGPL")
    assert not is_free("")


def test_bills_are_the_same_again(script):
    sbom = script("sbom")
    one, other = sbom.bill(sbom.installed()), sbom.bill(sbom.installed())
    assert one == other
    assert [*sbom.faults(one)] == []
    assert [*sbom.faults({**one, "serialNumber": "1"})] == ["serialNumber is no UUID"]
