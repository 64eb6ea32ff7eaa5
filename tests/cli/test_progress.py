# SPDX-License-Identifier: BSD-3-Clause
"""Every long command says what it does, on stderr, unless it is asked to be quiet."""

import json
import sys

import pytest

COMMANDS = {
    "fit": (
        ["fit", "a.arff", "-o", "b.model"],
        ["reading a.arff", "rows x", "smoothers: "],
    ),
    "predict": (
        ["predict", "a.model", "a.arff", "-o", "out.csv"],
        ["reading", "file: ", "predicting"],
    ),
    "evaluate": (
        ["evaluate", "a.model", "a.arff", "--bootstrap", 5],
        ["reading", "losses: "],
    ),
    "compare": (
        ["compare", "a.arff", "--learners", "kernel,neighbors", "--folds", 2],
        ["reading a.arff", "Comparing kernel, neighbors on", "comparing: "],
    ),
    "report": (
        ["report", "a.model", "a.arff", "-o", "a.html", "--examples", 0],
        ["reading", "sections: "],
    ),
}


@pytest.fixture
def files(run):
    run("data", "sample", "animals.arff", "-o", "a.arff")
    run("fit", "a.arff", "-o", "a.model", "-q", "--set", "alpha=1.0")


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_long_command_shows_plan_and_progress(name, run, files, shown_at_once):
    command, expected = COMMANDS[name]
    printed = run(*command)
    for text in expected:
        assert text in printed.err, printed.err
    assert "so far" not in printed.out


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_quiet_commands_say_nothing(name, run, files, shown_at_once):
    command, _ = COMMANDS[name]
    assert run(*command, "-q").err == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fit", "evaluate", "compare"])
def test_json_is_alone_on_stdout(name, run, files, shown_at_once):
    command, _ = COMMANDS[name]
    printed = run(*command, "--json")
    json.loads(printed.out)
    assert "so far" in printed.err


def test_commands_do_not_make_models_talk(run, files, shown_at_once):
    """What is shown is up to the command, and not written into the model."""
    run("fit", "a.arff", "-o", "b.model", "--set", "alpha=1.0")
    from skstruct import load_model

    assert load_model("b.model").learner_.verbose == 0


def test_more_from_the_start(run, files):
    command, expected = COMMANDS["fit"]
    messages = run(*command, "-v").err
    assert all(text in messages for text in expected[:2])
    assert not any(text in run(*command).err for text in expected)  # by the clock of all tests


@pytest.mark.subprocess
def test_scripts_of_papers(run, monkeypatch, tmp_path, shown_at_once):
    script = tmp_path / "slow.py"
    script.write_text("__name__ == '__main__'\nimport sys; sys.exit(len(sys.argv) - 1)")
    monkeypatch.setattr("skstruct.cli.catalogue._scripts", lambda: [script])
    assert "running slow.py" in run("papers", "run", "slow", "-q", code=1).err
    assert run("papers", "run", "-q", "slow", "--deep", "-q", code=2).err == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sizes of line ends")
def test_megabytes_of_a_large_file(run, files, monkeypatch, shown_at_once):
    monkeypatch.setattr("skstruct.datasets.files.BLOCK_BYTES", 1_500_000)
    with open("large.csv", "w") as file:
        file.write("x,y\n" + "0.25,a\n0.75,b\n" * 300_000)
    messages = run("fit", "large.csv", "--target", "y", "--first", 20, "-o", "large.model").err
    assert "text: 2 of 4 MB (36%)" in messages
