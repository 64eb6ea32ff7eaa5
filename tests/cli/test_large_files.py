# SPDX-License-Identifier: BSD-3-Clause
"""Fitting large files: what is chosen is said first, and rows are read in blocks."""

import csv
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer, get_config, load_model
from skstruct.datasets.reading import read_data

N_ROWS = 90
LANDMARKS = ("--set", "solver=nystroem", "--set", "n_landmarks=25")


def outputs(rng, task, x):
    """Cells of outputs that depend on a column."""
    high = x > 0
    noise = rng.random(len(x)) < 0.1
    if task in ("labels", "hierarchy"):
        names = ("a", "a/b", "a/c", "d") if task == "hierarchy" else ("a", "b", "c;", "=d")
        rows = [[names[0], names[2]] if up else [names[3]] for up in high]
        rows = [[] if odd else row for row, odd in zip(rows, noise)]
        return [";".join(name.replace(";", r"\;") for name in row) for row in rows]
    if task == "ranking":
        # No pair is left open: a whole file leaves such pairs out, which sums over blocks cannot.
        return ["p>q>r" if up else "r>p>q" if odd else "r>q>p" for up, odd in zip(high, noise)]
    if task == "sequence":
        return ["u v" if up else "v w x" for up in high]
    if task == "classes":
        return np.where(high, "1.0", np.where(noise, "10", "2")).tolist()
    if task == "ordinal":
        return np.where(high, "high", "low").tolist()
    return (x + rng.normal(0, 0.1, len(x))).round(4).astype(str).tolist()  # regression


def table(task, seed=0):
    """Columns by name: gaps, names, codes that look like numbers for many rows."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=N_ROWS)
    numbers = x.round(5).astype(str)
    numbers[rng.random(N_ROWS) < 0.1] = "NA"
    sky = rng.choice(["sunny", "wet, cold", "-fog", ""], N_ROWS).astype(object)
    code = rng.choice(["7", "8"], N_ROWS).astype(object)
    code[N_ROWS - 5] = "9b"  # numbers, but for one of the last cells
    flags, names = rng.integers(0, 2, N_ROWS), [f"n{i}" for i in range(N_ROWS)]
    return {"id": names, "x": numbers, "sky": sky, "flag": flags, "code": code,
            "out": outputs(rng, task, x)}  # fmt: skip


def write(path, columns):
    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def rows_of(run, *arguments):
    text = run("predict", *arguments, "--risk").out
    rows = list(csv.DictReader(text.splitlines()))
    risks = np.array([float(row.pop("risk")) for row in rows])
    numbers = [float(row.pop("out")) for row in rows if "out" in row]
    return rows, np.concatenate([risks, numbers])


# ---------------------------------------------------------------------- the same model
TASKS = ("labels", "hierarchy", "ranking", "sequence", "classes", "ordinal", "regression")


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("stated", [True, False], ids=["stated", "guessed"])
def test_blocks_give_the_model_of_the_whole_file(run, task, stated):
    if not stated and task in ("hierarchy", "ordinal", "sequence"):
        pytest.skip("what is not stated is taken for another task")
    write("train.csv", table(task))
    given = ("--target", "out", *(("--task", task) if stated else ()), *LANDMARKS)
    fitted = run("fit", "train.csv", *given, "-o", "whole.model", "--json")
    whole = json.loads(fitted.out)
    expected = rows_of(run, "whole.model", "train.csv")
    for rows in (7, 40, 1000):
        again = run("fit", "train.csv", *given, "-o", "m.model", "--block-rows", rows, "--json")
        found = json.loads(again.out)
        assert found["alpha"] == pytest.approx(whole["alpha"], rel=1e-6)
        assert found["gamma"] == pytest.approx(whole["gamma"], rel=1e-9)
        for name in ("task", "rows", "space", "loss", "learner", "format"):
            assert found[name] == whole[name]
        inside, outside = (
            {line for line in p.err.splitlines() if "taken for" in line or "order of" in line}
            for p in (again, fitted)
        )
        assert inside == outside
        predicted = rows_of(run, "m.model", "train.csv")
        assert predicted[0] == expected[0]
        np.testing.assert_allclose(predicted[1], expected[1], rtol=1e-5, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv.gz", "parquet", "folder"])
def test_other_files_give_the_same_model(run, ending):
    columns = table("labels")
    write("train.csv", columns)
    given = ("--task", "labels", "--target", "out", *LANDMARKS)
    run("fit", "-q", "train.csv", *given, "-o", "whole.model")
    expected = rows_of(run, "whole.model", "train.csv")
    name = f"train.{ending}"
    if ending == "csv.gz":
        write(name, columns)
    else:
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({**columns, "flag": columns["flag"]})
        frame["x"] = pandas.to_numeric(frame["x"], errors="coerce")
        if ending == "parquet":
            frame.to_parquet(name, row_group_size=13, index=False)
        else:
            Path(name).mkdir()
            for k, first in enumerate(range(0, N_ROWS, 32)):
                part = frame.iloc[first : first + 32]
                part.to_parquet(Path(name) / f"part{k}.parquet", index=False)
    run("fit", "-q", name, *given, "-o", "m.model", "--block-rows", 17)
    for file in (name, "train.csv"):
        rows, numbers = rows_of(run, "m.model", file)
        assert rows == expected[0]
        np.testing.assert_allclose(numbers, expected[1], rtol=1e-5, atol=1e-7)
    summary = json.loads(run("evaluate", "m.model", name, "--json").out)
    assert summary["rows_of_training"] == N_ROWS
    run("fit", "-q", name, *given, "-o", "again.model")  # as a whole
    assert rows_of(run, "again.model", name)[0] == expected[0]
    assert json.loads(run("data", "check", name, *given[:4], "--json").out)["rows"] == N_ROWS


@pytest.mark.slow
def test_several_columns_of_outputs(run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 2)).round(4)
    above = (X > 0).astype(int)
    shares = np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)
    ranks = 1 + (X.argsort(axis=1))
    for kind, Y in (("labels", above), ("histogram", shares), ("ranking", ranks),
                    ("regression", X * 2)):  # fmt: skip
        columns = {"u": X[:, 0], "v": X[:, 1], "p": Y[:, 0].tolist(), "q": Y[:, 1].tolist()}
        write("train.csv", columns)
        given = ("--target", "p", "--target", "q", *LANDMARKS)
        whole = json.loads(run("fit", "train.csv", *given, "-o", "w.model", "--json").out)
        found = json.loads(
            run("fit", "train.csv", *given, "-o", "m.model", "--block-rows", 8, "--json").out
        )
        assert (found["task"], whole["task"]) == (kind, kind)
        text = [
            run("predict", model, "train.csv", "--json").out for model in ("w.model", "m.model")
        ]
        numbers = [[float(n) for n in re.findall(r"-?[0-9.]+(?:e-?[0-9]+)?", t)] for t in text]
        np.testing.assert_allclose(*numbers, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_a_task_that_only_the_last_block_tells(run):
    n = 30
    for cells, task in (
        (["1"] * (n - 1) + ["1.5"], "regression"),
        (["a"] * (n - 1) + ["a;b"], "labels"),
        ([str(i) for i in range(n)], "regression"),
        ([str(i % 4) for i in range(n)], "classes"),
        (["a>b"] * (n - 1) + ["b>a"], "ranking"),
        (["a>b"] * (n - 1) + ["b"], "classes"),
    ):
        write("t.csv", {"x": range(n), "out": cells})
        for more in ((), ("--block-rows", 4)):
            printed = run("fit", "t.csv", "--target", "out", "-o", "m.model", "--json", *LANDMARKS,
                       "--set", "alpha=1.0", *more)  # fmt: skip
            assert json.loads(printed.out)["task"] == task


def test_rows_without_an_output_in_blocks(run):
    columns = table("classes")
    columns["out"][40] = columns["out"][71] = ""
    columns["sky"][40] = "nowhere else"
    write("train.csv", columns)
    given = ("train.csv", "--target", "out", "-o", "m.model", "--block-rows", 9, *LANDMARKS)
    err = run("fit", *given, "--task", "ordinal", code=3).err
    assert "train.csv, line 42, column 6: the class is missing" in err
    assert "2 rows have no output" in err
    printed = run("fit", *given, "--skip-unlabelled", "--json")
    assert json.loads(printed.out)["rows"] == N_ROWS - 2
    assert "2 rows without an output are left out; the first is line 42." in printed.err
    blocks = rows_of(run, "m.model", "train.csv")
    run("fit", *given[:5], *LANDMARKS, "--skip-unlabelled", "-q")
    whole = rows_of(run, "m.model", "train.csv")
    assert blocks[0] == whole[0]
    np.testing.assert_allclose(blocks[1], whole[1], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("task", ["labels", "hierarchy", "classes", "regression", "sequence"])
def test_outputs_with_gaps_in_blocks(run, task):
    columns = table(task)
    for i in range(3, N_ROWS, 4):
        cell = columns["out"][i]
        columns["out"][i] = cell.replace("v", "?") if task == "sequence" else "?"
    write("train.csv", columns)
    given = ("train.csv", "--task", task, "--target", "out", "-o", "m.model", *LANDMARKS,
             "--set", "alpha=0.5")  # fmt: skip
    checked = json.loads(run("data", "check", *given[:5], "--json").out)
    assert checked["missing_outputs"] >= N_ROWS // 4
    for more in ((), ("--block-rows", 9)):
        printed = run("fit", *given, *more, "--json")
        assert json.loads(printed.out)["rows"] == N_ROWS
        if task != "sequence":
            assert "cells of the outputs are missing (24%)" in printed.err
        predicted = list(csv.DictReader(run("predict", "m.model", "train.csv").out.splitlines()))
        assert len(predicted) == N_ROWS
        assert not any("?" in cell for row in predicted for cell in row.values())


def test_what_is_wrong_in_a_late_block_is_reported_with_its_line(run):
    for bad, message in (
        ({"x": "inf"}, "line 82, column 2: an infinite number"),
        ({"out": "a;;b"}, "line 82, column 6: a name is missing"),
    ):
        columns = table("labels")
        for name, cell in bad.items():
            columns[name] = list(columns[name])
            columns[name][80] = cell
        write("train.csv", columns)
        before = sorted(path.name for path in Path().iterdir())
        err = run("fit", "train.csv", "--target", "out", "--task", "labels", "-o", "m.model",
                  "--block-rows", 11, code=3).err  # fmt: skip
        assert f"train.csv, {message}" in err
        assert sorted(path.name for path in Path().iterdir()) == before


def test_columns_of_too_many_names_are_reported(run, monkeypatch):
    monkeypatch.setattr("skstruct.datasets.summaries.MOST_VALUES", 20)
    write("train.csv", {"name": [f"n{i}" for i in range(N_ROWS)], "x": range(N_ROWS),
                        "y": ["p", "q"] * (N_ROWS // 2)})  # fmt: skip
    err = run("fit", "train.csv", "-o", "m.model", "--block-rows", 11, code=3).err
    assert "'name' has more than 20 different texts" in err
    assert "--id-column" in err


# ---------------------------------------------------------------------- which files
def test_large_files_are_read_in_blocks_and_small_ones_are_not(run, monkeypatch):
    write("train.csv", table("labels"))
    given = ("fit", "train.csv", "--target", "out", "--task", "labels", "-o", "m.model", *LANDMARKS)
    assert "in blocks" not in run(*given).err
    monkeypatch.setattr("skstruct.cli.memory.LARGE", 1000)
    err = run(*given).err
    assert "is read in blocks of 10,000 rows" in err
    assert f"{N_ROWS} rows" in err
    assert run(*given, "-q").err == ""
    whole = run("fit", "train.csv", "--target", "out", "--task", "labels", "-o", "m.model",
                "--learner", "neighbors")  # fmt: skip
    assert "needs all rows at once" in whole.err
    assert "neighbors" in run("inspect", "m.model").out


def test_learners_that_need_all_rows_are_reported(run):
    write("train.csv", table("labels"))
    given = ("fit", "train.csv", "--target", "out", "--task", "labels", "-o", "m.model",
             "--block-rows", 9)  # fmt: skip
    for more in (("--learner", "forest"), ("--learner", "svm"), ("--set", "solver=cholesky")):
        err = run(*given, *more, code=2).err
        assert "needs all rows at once" in err
        assert "--block-rows" in err
    write("numbers.csv", table("regression"))
    err = run("fit", "numbers.csv", "--target", "out", "-o", "m.model", "--block-rows", 9,
              "--loss", "absolute", code=2).err  # fmt: skip
    assert "absolute needs all rows at once" in err
    assert not Path("m.model").exists()


def test_formats_without_blocks_have_a_limit_of_memory(run):
    run("data", "sample", "animals.arff", "-q")
    given = ("fit", "animals.arff", "-o", "m.model", "--set", "alpha=1.0")
    run(*given, "-q")
    for command in (given, ("evaluate", "m.model", "animals.arff"), ("compare", "animals.arff"),
                    ("predict", "m.model", "animals.arff"), ("data", "check", "animals.arff"),
                    ("report", "m.model", "animals.arff", "-o", "r.html"),
                    ("data", "convert", "animals.arff", "o.csv")):  # fmt: skip
        err = run(*command, "--memory", "10KB", code=1).err
        assert "animals.arff" in err
        assert "--memory" in err
        assert "CSV or Parquet" in err
        run(*command, "--memory", "a lot", code=2)
    assert "--block-rows" in run(*given, "--block-rows", 10, code=2).err


# ---------------------------------------------------------------------- said before any work
def test_the_choice_is_said_before_the_fit(run, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("skstruct.ConditionalRiskMinimizer.fit", stopped)
    write("train.csv", table("labels"))
    for more in ((), ("--block-rows", 20)):
        err = run("fit", "train.csv", "--target", "out", "-o", "m.model", *more, code=130).err
        assert "learner stack (ConditionalRiskMinimizer): several smoothers" in err
        assert "task labels, space LabelSets, loss hamming" in err
        assert (
            "2 columns of numbers, scaled, and 2 of names, one-hot; missing in 2: 10 features"
            in err
        )
        assert f"{N_ROWS} rows" in err


@pytest.mark.parametrize(
    ("learner", "settings", "message"),
    [
        ("forest", ["solver=nystroem"], "solver"),
        ("forest", ["n_landmarks=100"], "n_landmarks"),
        ("forest", ["kernel=linear"], "kernel"),
        ("forest", ["alpha=0.1"], "alpha"),
        ("forest", ["kernel__gamma=0.1"], "no use of kernel__gamma"),
        ("neighbors", ["cv=output"], "no use of cv"),
        ("kernel", ["solver=cholesky", "n_landmarks=5"], "n_landmarks"),
        ("kernel", ["kernel__degree=2"], "'degree'"),
        ("kernel", ["gamma=2.0"], "'gamma'"),
        ("kernel", ["kernel=hashes", "kernel__gamma=2.0"], "Unknown kernel 'hashes'"),
        ("linear", ["kernel__gamma=2.0"], "'gamma'"),
        ("counting", ["kernel__width=2.0"], "'width'"),
        ("kernel", ["alpha=1.0", "cv=5"], "no use of cv"),
        ("kernel", ["memory=much"], "memory is a size"),
        ("kernel", ["precision=half"], "precision is"),
        ("kernel", ["device=abacus"], "abacus"),
        ("kernel", ["smoother__n_estimators=5"], "smoother"),
        ("kernel", ["smoother=forest"], "--learner forest"),
        ("kernel", ["loss=f1"], "--loss"),
        ("kernel", ["space=x"], "--task"),
        ("kernel", ["verbose=1"], "--verbose"),
        ("svm", ["solver=nystroem"], "solver"),
        ("kernel", ["alpha=abc"], "alpha is a positive number"),
        ("kernel", ["alpha=[1.0, -1]"], "alpha is a positive number"),
        ("kernel", ["solver=fast"], "'fast'"),
        ("linear", ["n_landmarks=0"], "n_landmarks is a whole number"),
    ],
)
def test_settings_that_have_no_part_are_wrong_usage(run, learner, settings, message):
    write("train.csv", table("labels"))
    given = [part for setting in settings for part in ("--set", setting)]
    err = run("fit", "train.csv", "--target", "out", "--learner", learner, *given, "-o", "m.model",
              code=2).err  # fmt: skip
    assert message in err
    assert not Path("m.model").exists()


@pytest.mark.parametrize(
    ("rows", "more", "solver"),
    [(12, (), "nystroem"), (10, (), "spectral"), (12, ("--set", "solver=cholesky"), "cholesky")],
)
def test_landmarks_are_taken_above_a_number_of_rows(run, monkeypatch, rows, more, solver):
    from skstruct import load_model

    monkeypatch.setattr("skstruct.tasks.learners.EXACT_ROWS", 10)
    write("train.csv", {"x": range(rows), "y": ["p", "q"] * (rows // 2)})
    alpha = () if solver == "spectral" else ("--set", "alpha=1.0")
    run("fit", "-q", "train.csv", "--learner", "kernel", "-o", "m.model", *more, *alpha)
    assert load_model("m.model").learner_.solver_ == solver


@pytest.mark.slow
def test_settings_that_have_a_part_are_not(run):
    write("train.csv", table("labels"))
    for learner, settings in (
        ("kernel", ["kernel=polynomial", "kernel__degree=2", "kernel__coef0=1.0", "alpha=1.0"]),
        ("kernel", ["cv=5"]),
        ("kernel", ["alpha=1.0", "kernel__gamma=[0.5, 2.0]", "cv=5"]),
        ("kernel", ["solver=nystroem", "n_landmarks=9", "kernel__gamma=0.5"]),
        ("forest", ["smoother__n_estimators=5", "random_state=3"]),
    ):
        given = [part for setting in settings for part in ("--set", setting)]
        run("fit", "-q", "train.csv", "--target", "out", "--learner", learner, *given,
            "-o", "m.model")  # fmt: skip


def test_parameters_of_a_kernel_reach_it(run):
    write("train.csv", table("labels"))
    given = ("fit", "-q", "train.csv", "--target", "out", "--set", "alpha=1.0", "-o", "m.model")
    for learner in ("kernel", "counting", "output-kernel"):
        run(*given, "--learner", learner, "--set", "kernel__gamma=2")
        fitted = load_model("m.model").learner_
        assert repr(fitted.kernel) == "RBF(gamma=2)"
    run(*given, "--set", "kernel=polynomial", "--set", "kernel__degree=2")
    assert repr(load_model("m.model").learner_.kernel) == "Polynomial(degree=2)"
    run(*given, "--set", "kernel__gamma=[0.25, 4.0]")
    assert load_model("m.model").learner_.gamma_ in (0.25, 4.0)


def test_settings_of_the_machine_hold_for_one_command(run, monkeypatch):
    write("train.csv", table("labels"))
    before, seen = get_config(), []
    fit = ConditionalRiskMinimizer.fit

    def watched(self, *args, **kwargs):
        seen.append(get_config())
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(ConditionalRiskMinimizer, "fit", watched)
    given = ("fit", "-q", "train.csv", "--target", "out", "--set", "alpha=1.0", "-o", "m.model")
    run(*given, "--set", "memory=200MB", "--set", "device=numpy", "--set", "precision=mixed")
    assert seen == [before | {"memory": "200MB", "device": "numpy", "precision": "mixed"}]
    assert get_config() == before
    assert load_model("m.model").parameters == {"alpha": 1.0}


@pytest.mark.slow
def test_a_device_that_is_asked_for_fits_the_same(run, monkeypatch):
    pytest.importorskip("torch")
    fit, devices = ConditionalRiskMinimizer.fit, []

    def watched(self, *args, **kwargs):
        devices.append(fit(self, *args, **kwargs).device_)
        return self

    monkeypatch.setattr(ConditionalRiskMinimizer, "fit", watched)
    write("train.csv", table("labels"))
    given = ("fit", "-q", "train.csv", "--target", "out", "--set", "alpha=1.0", "-o")
    run(*given, "here.model")
    run(*given, "there.model", "--set", "device=cpu")
    assert devices == [None, "cpu"]  # files tell of no device: they are read anywhere
    here, there = load_model("here.model").learner_, load_model("there.model").learner_
    data = read_data("train.csv", targets=("out",))
    X = load_model("here.model").inputs(data)
    np.testing.assert_allclose(here.decode(X).values, there.decode(X).values, atol=1e-8)


# ---------------------------------------------------------------------- blocks of prediction
@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "size"),
    [(("--learner", "forest", "--set", "smoother__n_estimators=5"), N_ROWS), (LANDMARKS, 40),
     (("--learner", "perceptron"), N_ROWS), (("--set", "alpha=1.0"), 11)],
)  # fmt: skip
def test_blocks_are_sized_by_what_a_row_is_held_against(run, monkeypatch, more, size):
    from skstruct.cli import predictions

    write("train.csv", table("labels"))
    run("fit", "-q", "train.csv", "--target", "out", "-o", "m.model", *more)
    monkeypatch.setattr("skstruct.cli.predict.MOST_WEIGHTS", 1000)  # 1000 / 90, 1000 / 25
    decoded, seen = predictions._decoded, []

    def spied(learner, X, kbest, options):
        seen.append(len(X))
        return decoded(learner, X, kbest, options)

    monkeypatch.setattr(predictions, "_decoded", spied)
    run("predict", "m.model", "train.csv")
    assert seen[0] == size
    if more[:2] == ("--learner", "forest"):
        seen.clear()
        run("predict", "m.model", "train.csv", "--explain", 2)  # which needs all weights
        assert seen[0] == 11


# ---------------------------------------------------------------------- the whole process
PEAK = (
    "import resource, sys\nfrom skstruct.cli.main import main\n"
    "try:\n    main(sys.argv[1:])\nexcept SystemExit as left:\n    code = left.code\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\nsys.exit(code)"
)


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform != "linux", reason="sizes are measured in other units elsewhere")
def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [",".join(map("{:.4f}".format, row)) for row in rng.normal(size=(500, 20))]
    lines = [f"{line},{'pq'[line[0] == '-']}" for line in lines]
    peaks = []
    for n_rows in (20_000, 120_000):
        with open("long.csv", "w", encoding="utf-8") as file:
            file.write(",".join(f"x{j}" for j in range(20)) + ",y\n")
            for _ in range(n_rows // len(lines)):
                file.write("\n".join(lines) + "\n")
        done = subprocess.run(
            [sys.executable, "-c", PEAK, "fit", "-q", "long.csv", "-o", "m.model", "--block-rows",
             "2000", "--set", "alpha=1.0", "--set", "n_landmarks=20"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout.split()[-1]))  # in KB
    # As a whole, 100,000 more rows of 21 columns would take 16 MB for each copy of the numbers.
    assert peaks[1] - peaks[0] < 15_000
    assert Path("m.model").stat().st_size < 3_000_000
    Path("long.csv").unlink()


def test_a_file_in_blocks_is_known_again(run):
    write("train.csv", table("labels"))
    given = ("--target", "out", "--task", "labels", *LANDMARKS)
    run("fit", "-q", "train.csv", *given, "-o", "m.model", "--block-rows", 11)
    assert read_data("train.csv", targets="out", task="labels").labels == ("=d", "a", "c;")
    assert f"{N_ROWS} of {N_ROWS} rows were rows of training" in run(
        "evaluate", "m.model", "train.csv"
    ).err  # fmt: skip
