# SPDX-License-Identifier: BSD-3-Clause
"""Predictions in blocks of rows are those of the whole file, and files of any length pass."""

import csv
import errno
import gzip
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from skstruct.datasets.reading import read_data

N_ROWS = 13


def outputs(rng, task):
    """Cells of outputs."""
    if task == "labels":
        return [";".join(rng.permutation(list("abc"))[: rng.integers(0, 4)]) for _ in range(N_ROWS)]
    if task == "ranking":
        return [">".join(rng.permutation(list("abcd"))) for _ in range(N_ROWS)]
    if task == "sequence":
        return [" ".join(rng.choice(list("ab"), 3)) for _ in range(N_ROWS)]
    if task == "classes":
        return rng.choice(['p "1"', "q,2", "r"], N_ROWS)
    return np.round(rng.normal(size=N_ROWS), 3).astype(str)  # regression


def table(rng, task):
    """Columns by name: gaps, quoted cells, codes that look like numbers."""
    numbers = rng.normal(size=(2, N_ROWS)).round(4).astype(str)
    numbers[rng.random((2, N_ROWS)) < 0.15] = rng.choice(["", "NA", "?"])
    sky = rng.choice(["sunny", "wet, cold", 'so "so"', "two\nlines", "", "07"], N_ROWS)
    columns = {"id": [f"n{i}" for i in range(N_ROWS)], "x": numbers[0], "sky": sky,
               "z": numbers[1], "out": outputs(rng, task)}  # fmt: skip
    return columns


def write(path, columns):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


@pytest.fixture
def whole(run, monkeypatch):
    """Runs a command that reads the file as one."""

    def command(*arguments, **options):
        with monkeypatch.context() as patched:
            patched.setattr("skstruct.datasets.blocks.has_blocks", lambda *_: False)
            return run(*arguments, **options)

    return command


@pytest.fixture
def model(run):
    """Fits a model of a task; the data in their order and in another, with further columns."""

    def fitted(task, *more):
        train, new = (table(np.random.default_rng(seed), task) for seed in (1, 2))
        write("train.csv", train)
        run("fit", "-q", "train.csv", "--task", task, "--target", "out", "-o", "m.model",
            *(more or ("--learner", "kernel", "--set", "alpha=0.3")))  # fmt: skip
        new["further"], new["dates"] = ["1"] * N_ROWS, ["today"] * N_ROWS
        order = ("dates", "z", "out", "sky", "further", "x")
        write("named.csv", new)
        write("new.csv", {name: new[name] for name in order})
        write("inputs.csv", {name: new[name] for name in ("sky", "x", "z")})
        write("rows.csv", {"row": range(N_ROWS), **{name: new[name] for name in order}})
        write("twice.csv", {"row": [1] * N_ROWS, **{name: new[name] for name in order}})
        return "m.model"

    return fitted


FILES = ("train.csv", "named.csv", "new.csv", "inputs.csv", "rows.csv", "twice.csv")
OPTIONS = {
    "labels": [("--risk",), ("--loss", "f1"), ("--restrict", "max_size=1", "--risk"), ("--json",),
               ("--kbest", "3", "--risk"), ("--explain", "2"), ("--strict",), ("--first", "5")],
    "ranking": [("--risk",), ("--loss", "spearman"), ("--kbest", "2", "--json"), ("--strict",)],
    "classes": [("--risk", "--explain", "1"), ("--kbest", "9"), ("--first", "99")],
    "sequence": [("--risk",), ("--kbest", "2")],
    "regression": [("--risk",), ("--explain", "3", "--json")],
}  # fmt: skip
CASES = [(task, options) for task, several in OPTIONS.items() for options in ((), *several)]


# ---------------------------------------------------------------------- the same bytes
NUMBER = re.compile(rb"-?[0-9]+\.[0-9]+(?:e-?[0-9]+)?|-?[0-9]+e-?[0-9]+")


def assert_same(found, expected, task):
    """The same bytes; of predicted numbers the last digits depend on the rows of a product."""
    if task == "regression":
        for text in (found, expected):
            assert len(NUMBER.findall(text)) >= 5
        ours, theirs = (list(map(float, NUMBER.findall(text))) for text in (found, expected))
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-12)
        found, expected = (NUMBER.sub(b"number", text) for text in (found, expected))
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize(("task", "options"), CASES, ids=lambda case: "".join(case))
def test_blocks_give_the_bytes_of_the_whole_file(run, whole, model, task, options):
    model(task)
    for file in FILES:
        whole("predict", "m.model", file, "-o", "whole.out", *options)
        expected = Path("whole.out").read_bytes()
        assert expected
        for rows in (1, 4, N_ROWS, 100):
            run("predict", "m.model", file, "-o", "out", *options, "--block-rows", rows)
            assert_same(Path("out").read_bytes(), expected, task)
        assert_same(run("predict", "m.model", file, *options).out.encode(), expected, task)


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["forest", "neighbors", "perceptron", "exponential"])
def test_other_learners(run, whole, model, learner):
    model("labels", "--learner", learner)
    for options in ((), ("--risk",)):
        expected = whole("predict", "m.model", "new.csv", *options).out
        assert run("predict", "m.model", "new.csv", "--block-rows", 3, *options).out == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--risk",), ("--kbest", "2"), ("--restrict", "min_size=1")]
)
def test_parquet_gives_the_bytes_of_csv(run, whole, model, options):
    pandas = pytest.importorskip("pandas")
    model("labels")
    for file in ("named.csv", "inputs.csv", "rows.csv"):
        frame = pandas.read_csv(file, dtype={"sky": "string", "out": "string"}, na_values=["?"])
        frame.to_parquet("new.parquet", row_group_size=5)
        expected = run("predict", "m.model", file, *options).out
        assert whole("predict", "m.model", "new.parquet", *options).out == expected
        for rows in (1, 4, 100):
            arguments = ("predict", "m.model", "new.parquet", *options, "--block-rows", rows)
            assert run(*arguments).out == expected


def test_constraints_by_row_need_all_rows(run, whole, model):
    model("labels")
    constraints = ("--restrict", f"include={json.dumps([['a']] * 6 + [['b']] * (N_ROWS - 6))}")
    expected = whole("predict", "m.model", "new.csv", *constraints).out
    found = list(csv.DictReader(io.StringIO(expected)))
    assert "a" in found[0]["prediction"]
    assert "b" in found[-1]["prediction"]
    assert run("predict", "m.model", "new.csv", *constraints, "--block-rows", 2).out == expected


# ---------------------------------------------------------------------- files that are written
def test_packed_files_and_parquet_are_written(run, model):
    for task in ("labels", "ranking", "regression"):
        model(task)
        for file, index in (("named.csv", "string"), ("new.csv", "int64")):
            arguments = ("predict", "m.model", file, "--risk", "--block-rows", 4)
            expected = run(*arguments).out
            run(*arguments, "-o", "out.csv.gz")
            assert gzip.decompress(Path("out.csv.gz").read_bytes()).decode() == expected
            run(*arguments, "-o", "out.parquet")
            from pyarrow import parquet

            read = parquet.read_table("out.parquet")
            rows = list(csv.DictReader(io.StringIO(expected)))
            assert str(read.schema.field("row").type) == index
            assert str(read.schema.field("gap").type) == "double"
            for name in rows[0]:
                cells = read.column(name).to_pylist()
                if isinstance(cells[0], float):
                    np.testing.assert_allclose(cells, [float(r[name]) for r in rows], rtol=1e-5)
                else:
                    assert list(map(str, cells)) == [row[name] for row in rows]
    assert "--json" in run(*arguments, "-o", "out.parquet", "--json", code=2).err
    again = read_data("out.parquet", task="regression", targets=("out",))
    assert len(again) == N_ROWS


def test_explanations_in_parquet(run, model):
    parquet = pytest.importorskip("pyarrow.parquet")
    model("classes")
    run("predict", "m.model", "new.csv", "--explain", 2, "-o", "out.parquet")
    cells = parquet.read_table("out.parquet").column("for").to_pylist()
    rows = csv.DictReader(io.StringIO(run("predict", "m.model", "new.csv", "--explain", 2).out))
    assert cells == [row["for"] for row in rows]


# ---------------------------------------------------------------------- what goes wrong
def test_bad_cells_below_leave_the_old_file(run, model):
    model("labels")
    good = "x,sky,z\n" + "1,sunny,2\n" * 8
    Path("out.csv").write_text("old")
    before = sorted(os.listdir())
    for bad, message in (
        ('1,"sunny,2\n', "line 10: unexpected end of data; a quoted cell that begins here"),
        ("1,sunny\n", "line 10, column 3: expected 3 cells, got 2"),
        ("inf,sunny,1\n", "line 10, column 1: an infinite number"),
        ("1,sunny,much\n", "line 10, column 3: the column 'z' held numbers"),
    ):
        Path("new.csv").write_text(good + bad)
        for output in ("out.csv", "out.parquet"):
            printed = run("predict", "m.model", "new.csv", "-o", output, "--block-rows", 2, code=3)
            assert f"Error: new.csv, {message}" in printed.err
            assert len(printed.err.splitlines()) == 1
        assert Path("out.csv").read_text() == "old"
        assert sorted(os.listdir()) == before
    run("predict", "m.model", "new.csv", "--first", 8, "-o", "out.csv")  # the rest is not read


def decoding(monkeypatch, change):
    """Predictions of every block pass through ``change(decoded, number of the first row)``."""
    from skstruct.cli import predictions

    decoded, seen = predictions._decoded, []

    def changed(learner, X, kbest, options):
        seen.append(len(X))
        return change(decoded(learner, X, kbest, options), sum(seen[:-1]))

    monkeypatch.setattr(predictions, "_decoded", changed)
    return seen


def test_rows_that_nothing_fits_are_counted_in_the_file(run, model, monkeypatch):
    from skstruct.exceptions import InfeasibleError

    def nothing(found, start):
        if start == 8:
            raise InfeasibleError("No output fits row 1.", 1)
        return found

    model("labels")
    decoding(monkeypatch, nothing)
    printed = run("predict", "m.model", "new.csv", "--block-rows", 4, code=1)
    assert "row 10." in printed.err


def test_strict_looks_at_all_blocks(run, model, monkeypatch):
    from skstruct.spaces import Decoded

    def unsure(found, start):
        gaps = 7.0 * (np.arange(start, start + len(found.values)) == 9)
        return Decoded(found.outputs, found.values, found.bounds - gaps)

    model("ranking")
    seen = decoding(monkeypatch, unsure)
    for output in ((), ("-o", "out.csv"), ("-o", "out.parquet")):
        seen.clear()
        printed = run("predict", "--strict", "m.model", "new.csv", *output, "--block-rows", 2,
                      code=4)  # fmt: skip
        assert "Row 10 has a gap of 7 " in printed.err
        assert printed.out == ""
    assert not {"out.csv", "out.parquet"} & set(os.listdir())


@pytest.mark.parametrize("output", ["out.csv", "out.csv.gz", "out.parquet"])
def test_a_full_disk_leaves_the_old_file(run, model, monkeypatch, output):
    model("labels")
    Path(output).write_text("old")
    before = sorted(os.listdir())

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("skstruct._files.atomic.os.fsync", full)
    printed = run("predict", "m.model", "new.csv", "-o", output, code=1)
    assert printed.err == (
        f"Error: {output} cannot be written: No space left on device. What was there before is "
        "untouched.\n"
    )
    assert Path(output).read_text() == "old"
    assert sorted(os.listdir()) == before


def test_a_writer_that_fails_below_leaves_the_old_file(run, model, monkeypatch):
    from skstruct.cli.predictions import Predictions

    model("labels")
    Path("out.csv").write_text("old")
    write_csv = Predictions.write_csv

    def full(self, file, header):
        if self.rows[0][0] > 8:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_csv(self, file, header)

    monkeypatch.setattr("skstruct.cli.predictions.Predictions.write_csv", full)
    printed = run("predict", "m.model", "new.csv", "-o", "out.csv", "--block-rows", 4, code=1)
    assert "out.csv cannot be written: No space left" in printed.err
    assert Path("out.csv").read_text() == "old"


def test_interruption_between_blocks(run, model, monkeypatch):
    from skstruct.tasks import TaskModel

    model("labels")
    Path("out.csv").write_text("old")
    before = sorted(os.listdir())
    inputs, seen = TaskModel.inputs, []

    def interrupted(self, data):
        seen.append(data)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return inputs(self, data)

    monkeypatch.setattr("skstruct.tasks.TaskModel.inputs", interrupted)
    run("predict", "m.model", "new.csv", "-o", "out.csv", "--block-rows", 2, code=130)
    assert Path("out.csv").read_text() == "old"
    assert sorted(os.listdir()) == before


def test_wrong_sizes_of_blocks(run, model):
    model("labels")
    run("predict", "m.model", "new.csv", "--block-rows", 0, code=2)


# ---------------------------------------------------------------------- progress
def test_rows_are_reported_and_hidden_otherwise(run, model, shown_at_once, capsys):
    from skstruct._arrays.progress import watching
    from skstruct.cli.terminal import rows_bar, watched

    for n_rows, share in ((20_000, None), (None, 0.5), (None, None)):
        with watching(1), rows_bar(n_rows, lambda share=share: share, True) as advance:
            advance(10_000)
        shown = capsys.readouterr().err
        assert "10,000" in shown
        assert "rows" in shown
        assert ("50%" in shown) == (n_rows is not None or share is not None)
    with watching(1), rows_bar(5, lambda: None, False) as advance:
        advance(5)
    assert capsys.readouterr().err == ""
    assert watched("out.csv")
    assert watched(None)  # nobody looks at the terminal of a test


def test_predictions_and_progress_share_no_terminal(monkeypatch):
    from skstruct.cli.terminal import watched

    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert watched(None)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert not watched(None)
    assert watched("out.csv")


def test_quick_commands_say_nothing(run, model):
    model("labels")
    assert run("predict", "m.model", "new.csv", "-o", "out.csv").err == ""


# ---------------------------------------------------------------------- the whole process
COMMAND = [sys.executable, "-m", "skstruct.cli", "predict"]


def long_file(path, n_rows, n_columns=10):
    rng = np.random.default_rng(0)
    lines = [",".join(map("{:.4f}".format, row)) for row in rng.normal(size=(500, n_columns))]
    header = ",".join(f"x{j}" for j in range(n_columns))
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + "\n")
        for _ in range(n_rows // len(lines)):
            file.write("\n".join(lines) + "\n")


@pytest.fixture
def long_model(run):
    """A quick model of ten columns."""
    long_file("long_train.csv", 500)
    lines = Path("long_train.csv").read_text().splitlines()
    kinds = ["y", *[str(i % 2) for i in range(500)]]
    Path("long_train.csv").write_text("\n".join(map(",".join, zip(lines, kinds))) + "\n")
    run("fit", "-q", "long_train.csv", "--first", 60, "-o", "long.model", "--set", "alpha=1.0")


PEAK = (
    "import resource, sys\nfrom skstruct.cli.main import main\n"
    "try:\n    main(sys.argv[1:])\nexcept SystemExit as left:\n    code = left.code\n"
    "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\nsys.exit(code)"
)


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform != "linux", reason="sizes are measured in other units elsewhere")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(long_model, ending):
    peaks = []
    for n_rows in (10_000, 100_000):
        long_file("long.csv", n_rows)
        if ending == "parquet":
            pandas = pytest.importorskip("pandas")
            pandas.read_csv("long.csv").to_parquet("long.parquet", row_group_size=n_rows)
        done = subprocess.run(
            [sys.executable, "-c", PEAK, "predict", "long.model", f"long.{ending}", "-o",
             f"out.{ending}"], capture_output=True, text=True, check=True,
        )  # fmt: skip
        peaks.append(int(done.stdout))  # in KB
    assert peaks[1] - peaks[0] < 60_000


@pytest.mark.subprocess
def test_a_file_that_may_not_grow(long_model):
    long_file("long.csv", 20_000)
    Path("out.csv").write_text("old")
    before = sorted(os.listdir())
    done = subprocess.run(
        [*COMMAND, "long.model", "long.csv", "-o", "out.csv"],
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
    )  # fmt: skip
    assert done.returncode == 1
    assert "out.csv cannot be written: File too large. What was there before" in done.stderr
    assert Path("out.csv").read_text() == "old"
    assert sorted(os.listdir()) == before


@pytest.mark.subprocess
def test_whoever_reads_stdout_may_stop(long_model):
    long_file("long.csv", 20_000)  # more than a pipe holds
    process = subprocess.Popen(
        [*COMMAND, "long.model", "long.csv", "--block-rows", "1000", "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "row,prediction\n"
    process.stdout.close()
    messages = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), messages) == (141, "")


@pytest.mark.subprocess
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no such device")
def test_stdout_on_a_full_disk(long_model):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "long.model", "long_train.csv", "-q"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "Error: stdout cannot be written: No space left on device.\n"


def heeds_interrupts():
    """Whoever is started in the background ignores Ctrl-C, and so do all that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


WITHIN_EXEC = """
import os, signal
from skstruct.cli.exit_codes import run_guarded
class Command:
    def main(self, *arguments, **options):
        exec("os.kill(os.getpid(), signal.SIGINT)\\nwhile True: pass")
run_guarded(Command(), [])
"""


@pytest.mark.subprocess
def test_a_signal_has_its_exit_code_anywhere(tmp_path):
    """Also within ``exec`` of a string, where Python itself ends by the signal."""
    (tmp_path / "within_exec.py").write_text(WITHIN_EXEC)
    done = subprocess.run(
        [sys.executable, "-m", "within_exec"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=heeds_interrupts,
    )
    assert done.returncode == 130
    assert "Interrupted" in done.stderr


@pytest.mark.subprocess
def test_a_signal_leaves_the_old_file(long_model):
    long_file("long.csv", 200_000)
    Path("out.csv").write_text("old")
    before = sorted(os.listdir())
    process = subprocess.Popen(
        [*COMMAND, "long.model", "long.csv", "-o", "out.csv", "--block-rows", "500"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeds_interrupts,
    )
    while sorted(os.listdir()) == before and process.poll() is None:
        time.sleep(0.01)  # until it begins to write
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate()
    assert process.returncode == 130
    assert "nothing was left half-written" in messages
    assert Path("out.csv").read_text() == "old"
    assert sorted(os.listdir()) == before
