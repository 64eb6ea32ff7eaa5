# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what it prints, where, and the code it leaves with."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest

from skstruct.cli.evaluate import LEARNER_NAMES
from skstruct.cli.main import commands
from skstruct.cli.options import TASK_NAMES, parse_restrict
from skstruct.datasets.dataset import TASKS
from skstruct.datasets.reading import read_data
from skstruct.exceptions import ModelFileError
from skstruct.tasks import LEARNERS

SAMPLES = Path(sys.modules["skstruct"].__file__).parent / "datasets" / "samples"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Model files of the samples, fitted once."""
    from skstruct.cli.main import main

    folder = tmp_path_factory.mktemp("models")
    targets = {"garden.csv": ["--target", "beans", "--target", "tomatoes"]}
    files = {}
    for name in ("animals.arff", "drinks.csv", "garden.csv", "phrases.txt"):
        files[name] = folder / f"{name}.model"
        options = ["--set", "alpha=1.0"] if name != "phrases.txt" else ["--set", "alpha=0.01"]
        with pytest.raises(SystemExit) as left:
            main(["fit", "-q", str(SAMPLES / name), "-o", str(files[name]), *options,
                  *targets.get(name, [])])  # fmt: skip
        assert left.value.code == 0
    return files


# ---------------------------------------------------------------------- the newcomer's path
@pytest.mark.slow
@pytest.mark.parametrize("name", ["animals.arff", "drinks.csv", "garden.csv", "phrases.txt"])
def test_from_a_file_to_predictions_and_losses(run, models, name):
    model, data = models[name], SAMPLES / name
    run("predict", model, data, "-o", "out.csv", "--risk")
    rows = list(csv.DictReader(Path("out.csv").read_text("utf-8").splitlines()))
    truth = read_data(data, targets=("beans", "tomatoes") if name == "garden.csv" else None)
    assert len(rows) == len(truth)
    column = "cost" if name == "phrases.txt" else "risk"  # scores are no risks
    assert np.isfinite([float(row[column]) for row in rows]).all()
    summary = json.loads(run("evaluate", "--json", model, data).out)
    assert summary["rows"] == len(truth)
    for loss in summary["losses"]:
        assert loss["low"] <= loss["mean"] <= loss["high"]
        assert loss["mean"] < loss["baseline"]


def test_predictions_are_those_of_python(run, models):
    from skstruct import load_model

    run("predict", models["animals.arff"], SAMPLES / "animals_new.arff", "-o", "out.csv")
    model, data = load_model(models["animals.arff"]), read_data(SAMPLES / "animals_new.arff")
    rows = list(csv.DictReader(Path("out.csv").read_text("utf-8").splitlines()))
    expected = [";".join(row) for row in model.predict(data)]
    assert [row["prediction"] for row in rows] == expected
    assert all("mammal/cat" not in row or "mammal" in row.split(";") for row in expected)


@pytest.mark.slow
def test_costs_in_the_name_of_a_loss(run, models):
    """Fitted, predicted, judged and reported with parameters in brackets, by name and balanced."""
    data, labels = SAMPLES / "animals.arff", read_data(SAMPLES / "animals.arff").labels
    loss = f"hamming(miss={{{labels[0]!r}: 5}}, alarm=0.5)"
    run("fit", data, "-o", "costly.model", "--loss", loss, "--set", "alpha=1.0", "-q")
    (own,) = json.loads(run("evaluate", "--json", "--loss", loss, "costly.model", data).out)[
        "losses"
    ]
    assert own["loss"] == f"Hamming(alarm=0.5, miss={{{labels[0]!r}: 5}})"
    assert own["aimed"]
    sizes = []
    for alarm in (10, 1, 0.1):
        run("predict", models["animals.arff"], data, "--loss", f"hamming(alarm={alarm})",
            "-o", "out.csv")  # fmt: skip
        rows = list(csv.DictReader(Path("out.csv").read_text("utf-8").splitlines()))
        sizes.append(sum(len(row["prediction"].split(";")) for row in rows))
    assert sizes[0] < sizes[1] < sizes[2]
    run(
        "predict", "costly.model", data, "--loss", "hamming(class_weight='balanced')", "-o", "b.csv"
    )
    run("report", "costly.model", data, "-o", "page.html")
    assert "Hamming(alarm=0.5" in Path("page.html").read_text("utf-8")
    refused = run("predict", "costly.model", data, "--loss", "hamming(mis=5)", "-o", "x", code=2)
    assert "parameters of Hamming are alarm, class_weight, miss" in refused.err
    wrong = run("fit", data, "-o", "x.model", "--loss", "hamming(miss={'dodo': 5})", code=1)
    assert "miss names 'dodo'" in wrong.err


def test_predictions_are_read_back_as_data(run, models):
    run("predict", models["drinks.csv"], SAMPLES / "drinks.csv", "-o", "out.csv")
    again = read_data("out.csv", task="ranking", targets=("prediction",), id_column="row")
    assert set(again.labels) == {"tea", "coffee", "juice", "beer"}
    assert (np.sort(again.outputs, axis=1) == [1, 2, 3, 4]).all()


def test_the_guess_is_printed_to_stderr(run):
    printed = run("fit", SAMPLES / "drinks.csv", "-o", "m.model", "--set", "alpha=1.0")
    assert "taken for 'csv'" in printed.err
    assert "taken for 'ranking'" in printed.err
    assert "learner stack" in printed.err
    assert "drinks" in printed.out
    quiet = run("fit", "-q", SAMPLES / "drinks.csv", "-o", "m.model", "--set", "alpha=1.0")
    assert quiet.err == ""


# ---------------------------------------------------------------------- predict
def test_loss_constraints_and_several_best(run, models):
    data = SAMPLES / "animals_new.arff"
    printed = run("predict", models["animals.arff"], data, "--restrict", "max_size=1",
                  "--loss", "hamming")  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert max(row["prediction"].count(";") for row in rows) == 0
    printed = run("predict", models["animals.arff"], data, "--kbest", 2, "--risk", "--json")
    records = [json.loads(line) for line in printed.out.splitlines()]
    assert [record["rank"] for record in records[:4]] == [1, 2, 1, 2]
    assert all(a["risk"] <= b["risk"] for a, b in zip(records[::2], records[1::2]))
    assert all(isinstance(record["prediction"], list) for record in records)


def test_explanations_name_training_rows(run, models):
    printed = run("predict", models["drinks.csv"], SAMPLES / "drinks.csv", "--explain", 2)
    row = next(csv.DictReader(io.StringIO(printed.out)))
    supporters = [int(pair.split(":")[0]) for pair in row["for"].split(";")]
    weights = [float(pair.split(":")[1]) for pair in row["for"].split(";")]
    assert len(supporters) == 2
    assert min(supporters) >= 1
    assert weights == sorted(weights, reverse=True)
    assert float(row["against"].split(":")[1].split(";")[0]) < 0


@pytest.mark.slow
def test_labels_are_counted_where_no_list_names_them(run):
    """The model knows their names: the next file needs no count."""
    rng = np.random.default_rng(0)
    rows = "".join(f"{x:.3f},{int(x > 0)},{int(x < 0)}\n" for x in rng.normal(size=40))
    names = ["x numeric", "sad {0,1}", "glad {0,1}"]
    head = "@relation songs\n" + "".join(f"@attribute {name}\n" for name in names) + "@data\n"
    Path("songs.arff").write_text(head + rows)
    fit = ("fit", "songs.arff", "-o", "s.model", "--learner", "kernel", "--set", "alpha=0.1")
    told = run(*fit, code=3).err
    assert "the last 2 attributes are all 0 or 1" in told
    assert "--labels N" in told
    run(*fit, "-q", "--labels", 2)
    Path("new.arff").write_text(head + "-2,0,0\n")
    predicted = run("predict", "-q", "s.model", "new.arff", "--json").out
    assert json.loads(predicted.splitlines()[0])["prediction"] == ["glad"]


def test_rows_without_outputs_are_predicted(run, models):
    text = (SAMPLES / "drinks.csv").read_text("utf-8").splitlines()
    Path("new.csv").write_text("\n".join(line.rsplit(",", 1)[0] for line in text[:4]) + "\n")
    printed = run("predict", models["drinks.csv"], "new.csv")
    full = run("predict", models["drinks.csv"], SAMPLES / "drinks.csv")
    assert printed.out.splitlines() == full.out.splitlines()[:4]


def test_strict_leaves_with_four_when_an_answer_is_not_proven(run, models, monkeypatch):
    from skstruct.spaces import Decoded
    from skstruct.tasks import TaskModel

    run("predict", "--strict", models["drinks.csv"], SAMPLES / "drinks.csv")
    decode = type(TaskModel().new_learner(read_data(SAMPLES / "drinks.csv"), "kernel")).decode

    def unsure(self, X, **options):
        found = decode(self, X, **options)
        return Decoded(found.outputs, found.values, found.bounds - np.arange(len(found.values)))

    monkeypatch.setattr("skstruct.ConditionalRiskMinimizer.decode", unsure)
    printed = run("predict", "--strict", models["drinks.csv"], SAMPLES / "drinks.csv",
                  "-o", "out.csv", code=4)  # fmt: skip
    assert "Row 120 has a gap of 119" in printed.err
    assert not Path("out.csv").exists()


def test_a_failing_write_leaves_the_old_file(run, models, monkeypatch):
    Path("out.csv").write_text("old")

    def broken(self, file, **_):
        file.write("half")
        raise OSError("the disk is full")

    monkeypatch.setattr("skstruct.cli.predictions.Predictions.write_csv", broken)
    printed = run("predict", models["drinks.csv"], SAMPLES / "drinks.csv", "-o", "out.csv", code=1)
    assert "the disk is full" in printed.err
    assert Path("out.csv").read_text() == "old"
    assert os.listdir() == ["out.csv"]


# ---------------------------------------------------------------------- errors
def test_wrong_usage_is_two(run, models):
    run("fit", SAMPLES / "drinks.csv", code=2)
    run("dance", code=2)
    run("fit", "nowhere.csv", "-o", "m.model", code=2)
    printed = run("fit", SAMPLES / "drinks.csv", "-o", "m", "--learner", "kernal", code=2)
    assert "Did you mean 'kernel'" in printed.err
    printed = run("fit", SAMPLES / "drinks.csv", "-o", "m", "--set", "alfa=1", code=2)
    assert "alfa" in printed.err
    printed = run("fit", SAMPLES / "drinks.csv", "-o", "m", "--loss", "kendal", code=2)
    assert "kendal" in printed.err
    run("fit", SAMPLES / "drinks.csv", "-o", "m", "--set", "alpha", code=2)
    printed = run("evaluate", models["drinks.csv"], SAMPLES / "drinks.csv", "--loss", "x", code=2)
    assert "Unknown loss 'x'" in printed.err


def test_bad_data_is_three_with_one_line(run, models):
    Path("bad.csv").write_text("a,ranking\n1,x>y\n2\n")
    printed = run("fit", "bad.csv", "-o", "m.model", code=3)
    assert printed.err.strip().splitlines()[-1].startswith("Error: bad.csv, line 3")
    assert printed.out == ""
    printed = run("evaluate", models["drinks.csv"], SAMPLES / "garden.csv", code=3)
    assert "Error: " in printed.err
    printed = run("predict", SAMPLES / "drinks.csv", SAMPLES / "drinks.csv", code=3)
    assert "drinks.csv" in printed.err
    damaged = bytearray(models["drinks.csv"].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    Path("damaged.model").write_bytes(damaged)
    printed = run("predict", "damaged.model", SAMPLES / "drinks.csv", code=3)
    assert "checksum" in printed.err


def test_failures_are_one_and_debug_shows_where(run, models, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr("skstruct.cli.predictions.predictions", broken)
    arguments = ("predict", models["drinks.csv"], SAMPLES / "drinks.csv")
    printed = run(*arguments, code=1)
    assert printed.err.splitlines()[0] == "Error: RuntimeError: a bug"
    assert "Traceback" not in printed.err
    assert "Traceback" in run("--debug", *arguments, code=1).err


def test_interruption_is_130(run, models, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("skstruct.cli.predictions.predictions", interrupted)
    run("predict", models["drinks.csv"], SAMPLES / "drinks.csv", code=130)


def test_models_saved_from_python_are_distinguished(run):
    from skstruct import ConditionalRiskMinimizer, save_model

    model = ConditionalRiskMinimizer(alpha=1.0).fit([[0.0], [1.0]], ["a", "b"])
    save_model(model, "plain.model")
    printed = run("predict", "plain.model", SAMPLES / "drinks.csv", code=3)
    assert "saved from Python" in printed.err
    assert "ConditionalRiskMinimizer" in run("inspect", "plain.model").out
    assert issubclass(ModelFileError, ValueError)


# ---------------------------------------------------------------------- the other commands
@pytest.mark.slow
def test_compare_prints_and_draws(run):
    printed = run("compare", SAMPLES / "drinks.csv", "--learners", "kernel,tree,neighbors",
                  "--folds", 3, "--json", code=2)  # fmt: skip
    assert "plain label sets" in printed.err
    printed = run("compare", SAMPLES / "drinks.csv", "--learners", "neighbors,counting",
                  "--folds", 3, "--json", "--plot", "losses.png")  # fmt: skip
    summary = json.loads(printed.out)
    assert {row["learner"] for row in summary["results"]} == {"neighbors", "counting"}
    assert Path("losses.png").read_bytes().startswith(b"\x89PNG")
    table = run("compare", SAMPLES / "phrases.txt", "--learners", "perceptron", "--folds", 2).out
    assert "hamming" in table


def test_data_commands(run):
    summary = json.loads(run("data", "check", SAMPLES / "animals.arff", "--json").out)
    assert (summary["task"], summary["format"], summary["rows"]) == ("hierarchy", "clus", 150)
    run("data", "convert", SAMPLES / "drinks.csv", "drinks.csv.xz", "-q")
    assert read_data("drinks.csv.xz").labels == read_data(SAMPLES / "drinks.csv").labels
    run("data", "sample", "garden.csv")
    assert Path("garden.csv").read_bytes() == (SAMPLES / "garden.csv").read_bytes()
    run("data", "sample", "nothing", code=2)
    listed = json.loads(run("data", "list", "--json").out)
    assert {"clus", "mulan", "libsvm", "csv"} <= {row["format"] for row in listed["formats"]}
    assert "yeast" in {row["name"] for row in listed["data_sets"]}


def test_catalogues(run):
    spaces = json.loads(run("spaces", "--json").out)
    assert {"Hierarchy", "Flows", "Cycles"} <= {row["space"] for row in spaces}
    by_name = {row["space"]: row for row in spaces}
    assert "probabilities" not in by_name["Box"]["can"]
    losses = json.loads(run("losses", "--json").out)
    assert {"hamming", "f1", "kendall"} <= {row["loss"] for row in losses}
    assert not any("\\" in row["counts"] or "`" in row["counts"] for row in losses)
    assert "ecrm_hierarchies" in run("papers", "list").out
    run("papers", "run", "nothing", code=2)


def test_inspect_tells_what_was_fitted(run, models):
    text = run("inspect", models["animals.arff"]).out
    assert "hierarchy" in text
    assert "animals" in text
    described = json.loads(run("inspect", "--json", models["animals.arff"]).out)
    assert described["class"] == "TaskModel"


def test_options_come_from_a_file(run):
    Path("run.toml").write_text('[fit]\nlearner = "neighbors"\noutput = "m.model"\n')
    run("--config", "run.toml", "fit", "-q", SAMPLES / "drinks.csv")
    assert "neighbors" in run("inspect", "m.model").out
    Path("run.toml").write_text('[fit]\nlerner = "neighbors"\n')
    assert "no option 'lerner'" in run("--config", "run.toml", "spaces", code=2).err
    Path("run.toml").write_text("[dance]\n")
    assert "no command 'dance'" in run("--config", "run.toml", "spaces", code=2).err
    Path("run.toml").write_text("fit\n")
    assert "not TOML" in run("--config", "run.toml", "spaces", code=2).err


def test_names_that_are_written_twice_agree():
    assert tuple(TASKS) == TASK_NAMES
    assert LEARNER_NAMES.split(", ") == list(LEARNERS)


def test_constraints_are_parsed():
    assert parse_restrict(()) is None
    with pytest.raises(click.UsageError, match="KEY=VALUE"):
        parse_restrict(["max_size"])


# ---------------------------------------------------------------------- the whole process
HEAVY = ["numpy", "sklearn", "scipy", "rich", "matplotlib", "numba"]


@pytest.mark.subprocess
def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom skstruct.cli.main import main\n"
        "try:\n    main(['fit', '--help'])\nexcept SystemExit: pass\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert all(command.help for command in commands.commands.values())


@pytest.mark.subprocess
def test_no_colour_where_none_is_wanted():
    asking = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    environment = {key: value for key, value in os.environ.items() if key not in asking}
    for more in ({"NO_COLOR": "1"}, {}):
        done = subprocess.run(
            [sys.executable, "-m", "skstruct.cli", "losses"],
            capture_output=True, text=True, env={**environment, **more}, check=True,
        )  # fmt: skip
        assert "\x1b" not in done.stdout
        assert done.stderr == ""
