# SPDX-License-Identifier: BSD-3-Clause
"""Files that differ from those of training: columns, items and labels are matched by name."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest


def write(name, *lines):
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def rows_of(name):
    return list(csv.DictReader(Path(name).read_text("utf-8").splitlines()))


def losses_of(run, *arguments, code=0):
    summary = json.loads(run("evaluate", "--json", *arguments, code=code).out)
    return {row["loss"]: row["mean"] for row in summary["losses"]}


@pytest.fixture
def fit(run):
    return lambda *arguments: run("fit", "-q", *arguments, "-o", "m.model", "--set", "alpha=0.01")


def test_items_of_rankings_are_matched_by_name(run, fit):
    fit(write("train.csv", "x,ranking", *["0,a>b>c", "1,c>b>a"] * 4))
    fewer = write("fewer.csv", "x,ranking", "0,a>b", "1,b>a")  # never ranks c
    assert losses_of(run, "m.model", fewer)["kendall"] < 0.5 * 3
    other = write("other.csv", "x,ranking", "0,a>b>d", "1,d>b>a")
    assert "'d' is none of them" in run("evaluate", "m.model", other, code=3).err


def test_targets_are_matched_by_name(run, fit):
    rows = [(x, 2 * x, -5 * x) for x in np.linspace(0, 1, 9)]
    fit(write("train.csv", "x,u,v", *[f"{x},{u},{v}" for x, u, v in rows]),
        "--target", "u", "--target", "v")  # fmt: skip
    swapped = write("swapped.csv", "v,x,u", *[f"{v},{x},{u}" for x, u, v in rows])
    assert losses_of(run, "m.model", swapped)["squared"] < 0.1
    again = losses_of(run, "m.model", swapped, "--target", "v", "--target", "u")
    assert again["squared"] < 0.1


def test_texts_that_look_like_numbers_stay_texts(run, fit):
    lines = ["01,p", "02,q", "xx,r"] * 4
    fit(write("train.csv", "code,y", *lines), "--target", "y")
    numbers = write("numbers.csv", "code,y", "01,p", "02,q")  # no "xx" that tells
    assert losses_of(run, "m.model", numbers)["zero_one"] == 0.0


def test_inputs_without_outputs(run, fit):
    head = ["@relation toy", "@attribute a numeric", "@attribute b numeric"]
    train = [*head, "@attribute y {p,q}", "@data", *["0,1,p", "1,0,q"] * 4]
    fit(write("train.arff", *train))
    new = write("new.arff", *head, "@data", "0,1", "1,0")  # the last attribute is an input
    run("predict", "m.model", new, "-o", "out.csv")
    assert [row["prediction"] for row in rows_of("out.csv")] == ["p", "q"]


@pytest.mark.slow
def test_the_model_has_the_edges(run, fit):
    train = write("train.csv", "x,labels", *["0,cat", "1,rose"] * 4)
    edges = write("kinds.txt", "animal cat", "plant rose")
    fit(train, "--task", "hierarchy", "--edges-file", edges)
    assert losses_of(run, "m.model", train)["hierarchical"] == 0.0
    run("report", "m.model", train, "-o", "report.html", "--train", train)


def test_partial_rankings_are_judged(run, fit):
    train = write("train.csv", "x,ranking", *["0,a>b", "1,b=c>a", "2,c"] * 4)
    fit(train)
    assert set(losses_of(run, "m.model", train)) >= {"kendall", "spearman"}


def test_targets_with_the_names_of_our_own_columns(run, fit):
    fit(write("train.csv", "x,risk,row", *[f"{x},{x / 3},{x + 1}" for x in range(6)]),
        "--target", "risk", "--target", "row")  # fmt: skip
    run("predict", "m.model", "train.csv", "-o", "out.csv", "--risk")
    header = Path("out.csv").read_text().splitlines()[0]
    assert header == "row,predicted risk,predicted row,risk,gap"


def test_constraints_add_up(run, fit):
    fit(write("train.csv", "x,labels", *["0,a;b;1", "1,a;1"] * 4))
    run("predict", "m.model", "train.csv", "-o", "out.csv",
        "--restrict", "exclude=a, b", "--restrict", "exclude=1")  # fmt: skip
    assert {row["prediction"] for row in rows_of("out.csv")} == {""}
    for wrong in ("color=red", "max_size"):
        run("predict", "m.model", "train.csv", "--restrict", wrong, code=2)
    twice = ("--restrict", "max_size=1", "--restrict", "max_size=2")
    assert "twice" in run("predict", "m.model", "train.csv", *twice, code=2).err
    both = ("--restrict", "include=a", "--restrict", "max_size=0")
    assert "row 0" not in run("predict", "m.model", "train.csv", *both, code=1).err


def test_wrong_usage_and_bad_data_are_distinguished(run, fit):
    train = write("train.csv", "x,y", *["0,p", "1,q"] * 4)
    fit(train)
    assert "no format 'nope'" in run("data", "check", train, "--format", "nope", code=2).err
    assert "no format 'nope'" in run("data", "convert", train, "b", "--to", "nope", code=2).err
    assert "Unknown loss" in run("predict", "m.model", train, "--loss", "nope", code=2).err
    for command in (("fit", train), ("predict", "m.model", train), ("report", "m.model", train)):
        assert "no folder" in run(*command, "-o", "nowhere/out", code=1).err
    assert "no folder" in run("data", "convert", train, "nowhere/b.csv", code=1).err
    infinite = write("infinite.csv", "x,y", "0,p", "inf,q")
    assert "infinite.csv, line 3, column 1" in run("predict", "m.model", infinite, code=3).err
    empty = write("empty.csv", "x,y")
    assert "no rows" in run("predict", "m.model", empty, code=3).err
    run("evaluate", "m.model", empty, code=3)


def test_names_of_rows_need_not_be_there(run, fit):
    fit(write("train.csv", "name,x,y", *["u,0,p", "v,1,q"] * 1), "--id-column", "name",
        "--target", "y")  # fmt: skip
    run("predict", "m.model", "train.csv", "-o", "out.csv")
    assert [row["row"] for row in rows_of("out.csv")] == ["u", "v"]
    run("predict", "m.model", write("new.csv", "x", "0", "1"), "-o", "out.csv")
    assert [row["row"] for row in rows_of("out.csv")] == ["1", "2"]
    assert "'id'" in run("predict", "m.model", "new.csv", "--id-column", "id", code=3).err


def test_rows_are_counted_from_one(run, fit):
    fit(write("train.csv", "x,y", *["0,p", "1,q"] * 4), "--target", "y")
    unseen = write("unseen.csv", "x,y", "0,p", "1,r")
    assert "row 2 " in run("evaluate", "m.model", unseen, code=3).err


def test_a_pipe_is_written_to(run, fit):
    fit(write("train.csv", "x,y", *["0,p", "1,q"] * 4))
    run("predict", "m.model", "train.csv", "-o", "/dev/null")
    assert Path("/dev/null").is_char_device()


def test_lists_and_single_values_in_a_file_of_options(run):
    write("train.csv", "x,kind", *["0,p", "1,q"] * 6)
    write("run.toml", "[fit]", 'target = "kind"', 'output = "m.model"', "[compare]",
          'target = ["kind"]', 'learners = ["neighbors", "kernel"]', "[data.check]",
          'target = "kind"')  # fmt: skip
    run("--config", "run.toml", "fit", "-q", "train.csv")
    summary = json.loads(run("--config", "run.toml", "compare", "train.csv", "--json").out)
    assert {row["learner"] for row in summary["results"]} == {"neighbors", "kernel"}
    assert "classes" in run("--config", "run.toml", "data", "check", "train.csv").out
