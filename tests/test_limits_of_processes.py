# SPDX-License-Identifier: BSD-3-Clause
"""Limits of memory and time of a process: what reliability/limits.py tries, and what is free."""

import inspect
import os
import resource
import signal
from pathlib import Path

import click
import numpy as np
import pytest

from script_folders import scripts_of
from skstruct import ConditionalRiskMinimizer
from skstruct._arrays.memory import _own_limit, advised, available_memory
from skstruct._arrays.methods import all_or_nothing
from skstruct._files.atomic import replacing
from skstruct.cli.exit_codes import run_guarded
from skstruct.learners import inputs

FOLDER = Path(__file__).parents[1] / "reliability"


@pytest.fixture
def limits(monkeypatch):
    with scripts_of(FOLDER, monkeypatch) as scripts:
        yield scripts("limits")


@pytest.mark.slow
@pytest.mark.subprocess
def test_planted_bugs_are_caught(limits):
    assert all(limits.planted(0).values())


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.parametrize("name", ["risk, label sets", "neighbours", "perceptron"])
def test_little_memory_gives_an_error_that_says_what_to_do(limits, name):
    make, data = limits.LEARNERS[name]
    make().fit(*data(20)).predict(data(20)[0])
    for n_rows, megabytes in ((30, 1024), (3_000, 16)):
        end, why = limits.judged(limits.LEARNERS[name], n_rows, megabytes, 100)
        assert why is None
        assert end in ("done", "memory")


def test_free_memory_counts_limits_of_the_process(tmp_path, monkeypatch):
    limits = {resource.RLIMIT_AS: resource.RLIM_INFINITY, resource.RLIMIT_DATA: 10**9}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind], -1))
    assert _own_limit(tmp_path) == 10**9  # nobody says what is used
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "statm").write_text("2000 900 3 4 0 100 0\n")
    page = os.sysconf("SC_PAGE_SIZE")
    assert _own_limit(tmp_path) == 10**9 - 100 * page
    limits[resource.RLIMIT_AS] = 2010 * page
    assert _own_limit(tmp_path) == 10 * page
    limits[resource.RLIMIT_AS] = 1
    assert _own_limit(tmp_path) == 0
    assert available_memory() == 0
    limits |= dict.fromkeys(limits, resource.RLIM_INFINITY)
    assert _own_limit(tmp_path) is None


class Model:
    """Takes more than any machine has, or says what to do by itself."""

    @all_or_nothing
    def fit(self, said):
        self.said_ = said
        if said is not None:
            raise MemoryError(said)
        return np.zeros((2**20, 2**20, 2**10))


def test_allocations_that_fail_say_what_to_do():
    model = Model()
    with pytest.raises(
        MemoryError, match=r"Model.fit ran out of memory: Unable .* Take fewer rows"
    ):
        model.fit(None)
    with pytest.raises(MemoryError, match=r"^It does not fit\. Give more\.$"):
        model.fit("It does not fit. Give more.")
    with pytest.raises(MemoryError, match=r"Model.fit ran out of memory. Take"):
        model.fit("")
    assert not hasattr(model, "said_")
    error = MemoryError("says what to do")
    assert advised(error, "") is error


@pytest.mark.subprocess
def test_the_end_of_cpu_time_is_said_in_one_line(tmp_path, capfd):
    def stopped(path):
        with replacing(path) as file:
            file.write("half")
            os.kill(os.getpid(), signal.SIGXCPU)
            signal.sigtimedwait([], 0)  # the handler has run by now

    command = click.Command("trial", callback=lambda: stopped(tmp_path / "out"))
    child = os.fork()
    if child == 0:
        try:
            run_guarded(command, [])
        except SystemExit as left:
            os._exit(left.code)
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    said = capfd.readouterr().err
    assert "CPU time of this process (ulimit -t) is over; nothing was left" in said
    assert "Traceback" not in said
    assert os.listdir(tmp_path) == []


def test_methods_of_every_learner_say_what_to_do(limits):
    models = {type(make()) for make, _ in limits.LEARNERS.values()}
    assert len(models) == 14
    for model in models:
        methods = [getattr(model, name, None) for name in inputs.ANSWERS]
        plain = [method for method in methods if inspect.isfunction(method)]
        assert plain
        assert all(hasattr(method, "advises") for method in plain)


def test_predictions_that_run_out_of_memory_say_what_to_do(monkeypatch):
    X = [[0.0], [1.0], [2.0], [3.0]]
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, list("aabb"))

    def none_left(*given, **options):
        return np.zeros((2**20, 2**20, 2**10))

    monkeypatch.setattr(type(model), "_checked", none_left)
    for ask in (model.predict, model.decode, model.predict_proba):
        with pytest.raises(MemoryError, match=r"Minimizer\.\w+ ran out of memory: Unable .* Take"):
            ask(X)
