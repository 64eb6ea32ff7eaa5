# SPDX-License-Identifier: BSD-3-Clause
"""Commands are run within this process, in an empty folder."""

import warnings

import pytest

from cli.small_tables import OUTPUTS, table


@pytest.fixture(autouse=True)
def _whatever_the_clock_says(monkeypatch):
    """Progress of commands is not shown, however slow the machine is."""
    from skstruct._arrays import progress

    monkeypatch.setattr(progress, "AFTER", float("inf"))
    monkeypatch.setattr(progress, "BEAT", None)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Runs a command in an empty folder; returns its code, stdout and stderr."""
    from skstruct.cli.main import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # the command changes it

    def run(*arguments, code=0):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert left.value.code == code, printed.err
        return printed

    return run


@pytest.fixture
def fitted(run):
    """Fits a small model of a task to 50 rows."""

    def fit(task, *options, alpha="0.5"):
        train = table(task, 50, 0, "train.csv")
        run("fit", "-q", train, "-o", "m.model", "--task", task, "--target", OUTPUTS[task][0],
            "--learner", "kernel", "--set", f"alpha={alpha}", *options)  # fmt: skip
        return "m.model"

    return fit
