# SPDX-License-Identifier: BSD-3-Clause
"""Files as people have them: what is odd is read and reported, or refused by its right name."""

import csv
import errno
import io
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from skstruct.datasets.reading import read_data

SAMPLES = Path(sys.modules["skstruct"].__file__).parent / "datasets" / "samples"


def write(name, *lines):
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def fit(run):
    return lambda *arguments: run("fit", *arguments, "-o", "m.model", "--set", "alpha=0.01")


# ---------------------------------------------------------------------- columns that are missing
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arff"])
def test_predict_names_the_features_that_are_missing(run, fit, ending):
    rows = [f"{i},{i % 3},{i % 2},{'pq'[i % 2]}" for i in range(8)]
    fit("-q", write("train.csv", "width,height,depth,Kategorie", *rows), "--target", "Kategorie")
    Path("short.csv").write_text("width\n1\n2\n")
    short = "short.csv"
    if ending != "csv":
        short = f"short.{ending}"
        lines = ("@relation r", "@attribute width numeric", "@data", "1", "2")
        if ending == "arff":
            write(short, *lines)
        else:
            run("data", "convert", "-q", "short.csv", short, "--target", "width",
                "--task", "regression")  # fmt: skip
    err = run("predict", "m.model", short, code=3).err
    assert "'height', 'depth'" in err
    assert "2 of them are not in these data" in err
    assert "Kategorie" not in err
    assert "--target" not in err


# ---------------------------------------------------------------------- where predictions go
@pytest.fixture
def tagged(run):
    """A model of words with parts of speech, and sentences of which every second has a tag."""
    run("fit", "-q", SAMPLES / "phrases.txt", "-o", "t.model", "--set", "alpha=0.01")
    return "t.model"


def test_predicted_tags_are_written_as_conll(run, tagged):
    run("predict", tagged, SAMPLES / "phrases.txt", "-o", "out.conll")
    given, found = read_data(SAMPLES / "phrases.txt"), read_data("out.conll", format="conll")
    assert found.inputs == given.inputs
    table = rows_of(run("predict", tagged, SAMPLES / "phrases.txt").out)
    assert [" ".join(tags) for tags in found.outputs] == [row["prediction"] for row in table]
    run("predict", tagged, SAMPLES / "phrases.txt", "-o", "out.conll.gz")
    assert read_data("out.conll.gz").outputs == found.outputs
    write("bare.conll", *["\n".join(" ".join(token) for token in s) + "\n" for s in given.inputs])
    run("predict", tagged, "bare.conll", "-o", "again.conll")  # without tags, the same
    assert Path("again.conll").read_bytes() == Path("out.conll").read_bytes()


def test_a_conll_file_holds_one_prediction_for_every_token(run, tagged):
    for more in (("--kbest", 2), ("--risk",), ("--json",)):
        err = run("predict", tagged, SAMPLES / "phrases.txt", "-o", "out.conll", *more, code=2).err
        assert more[0] in err
    assert not Path("out.conll").exists()


@pytest.mark.parametrize(
    "ending",
    ["arff", "svm", "libsvm.gz", "conll", "conllu", "data", "xlsx.gz", "xls", "parquet.gz"],
)
def test_endings_that_cannot_hold_predictions_are_refused(run, fit, ending):
    fit("-q", write("train.csv", "x,y", *["0,p", "1,q"] * 4))
    err = run("predict", "m.model", "train.csv", "-o", f"out.{ending}", code=2).err
    assert f".{ending.split('.')[0]}" in err
    assert ".csv" in err or ending in ("parquet.gz", "xlsx.gz")
    assert not Path(f"out.{ending}").exists()


def test_the_ending_tells_how_predictions_are_written(run, fit):
    fit("-q", write("train.csv", "x,y", *["0,p", "1,q"] * 4))
    run("predict", "m.model", "train.csv", "-o", "out.jsonl")
    records = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert records[0] == {"row": 1, "prediction": "p"}
    run("predict", "m.model", "train.csv", "-o", "out.tsv")
    assert Path("out.tsv").read_text().splitlines()[:2] == ["row\tprediction", "1\tp"]
    run("predict", "m.model", "train.csv", "-o", "out")
    assert Path("out").read_text().splitlines()[:2] == ["row,prediction", "1,p"]


# ---------------------------------------------------------------------- cells
@pytest.mark.slow
@pytest.mark.parametrize("length", [131_073, 400_000])
@pytest.mark.parametrize("quote", ["", '"'])
def test_long_cells_are_read(run, fit, length, quote):
    cell = quote + "a" * length + quote
    write("long.csv", "text,x,y", f"{cell},0,p", "b,1,q", "b,1,q", f"{cell},0,p")
    fit("-q", "long.csv")
    rows = rows_of(run("predict", "m.model", "long.csv").out)
    assert [row["prediction"] for row in rows] == ["p", "q", "q", "p"]
    summary = json.loads(run("data", "check", "long.csv", "--json").out)
    assert (summary["rows"], summary["nominal_columns"]) == (4, 1)


def test_cells_beyond_all_measure_are_reported(run, monkeypatch):
    from skstruct.datasets.formats import csv_files as csv_rows

    monkeypatch.setattr(csv_rows, "MOST_CHARACTERS", 1000)
    write("long.csv", "x,y", "0,p", '1,"' + "a\n" * 2000, "2,q")
    err = run("data", "check", "long.csv", code=3).err
    assert "long.csv, line 3: a cell has more than 1,000 characters" in err
    assert "quote" in err


def test_every_escape_of_the_page_is_read_in_every_cell(run):
    text = r"a\=b;c\>d;e\;f;g\ h;i\\j"
    write("labels.csv", "x,labels", f"0,{text}", "1,k")
    summary = json.loads(run("data", "check", "labels.csv", "--json").out)
    assert set(summary["names"]) == {"a=b", "c>d", "e;f", "g h", "i\\j", "k"}
    write("tags.csv", "x,tags", rf"0,{text.replace(';', ' ')}")
    assert json.loads(run("data", "check", "tags.csv", "--json").out)["task"] == "sequence"
    write("order.csv", "x,ranking", r"0,a\;b>c\=d", r"1,c\=d>a\;b")
    assert set(json.loads(run("data", "check", "order.csv", "--json").out)["names"]) == {
        "a;b", "c=d"
    }  # fmt: skip
    bad = write("bad.csv", "x,labels", r"0,a\b")
    assert "backslash" in run("data", "check", bad, code=3).err


FORMULAS = ["=1+1", "+cmd", "-x", "@sum", "\tz", "'=quoted", "plain"]


def test_labels_cannot_run_in_a_spreadsheet(run, fit):
    with open("train.csv", "w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["x", "kind"])
        rows.writerows([i, "'" + name if name[0] == "'" else name]
                       for i, name in enumerate(FORMULAS) for _ in range(2))  # fmt: skip
    fit("-q", "train.csv", "--target", "kind", "--set", "kernel__gamma=10")
    run("predict", "m.model", "train.csv", "-o", "out.csv")
    cells = [row["prediction"] for row in rows_of(Path("out.csv").read_text("utf-8"))]
    assert not any(cell[0] in "=+-@\t\r" for cell in cells)
    assert cells[::2] == ["'" + name for name in FORMULAS[:-1]] + ["plain"]
    again = read_data("out.csv", targets=("prediction",), task="classes")
    assert list(again.outputs[::2]) == FORMULAS
    run("predict", "m.model", "train.csv", "-o", "raw.csv", "--raw-cells")
    cells = [row["prediction"] for row in rows_of(Path("raw.csv").read_text("utf-8"))]
    assert cells[::2] == FORMULAS
    lines = run("predict", "m.model", "train.csv", "--json").out.splitlines()
    assert [json.loads(line)["prediction"] for line in lines[::2]] == FORMULAS


def test_converted_tables_cannot_run_in_a_spreadsheet(run):
    write("in.csv", "id,=head,sky,labels", "=r1,-1.5,+a,=l;m", "r2,2,-7,m", "r3,3,b,")
    run("data", "convert", "-q", "in.csv", "out.csv")
    rows = list(csv.reader(Path("out.csv").read_text("utf-8").splitlines()))
    assert rows[0] == ["id", "'=head", "sky", "labels"]
    assert rows[1] == ["'=r1", "-1.5", "'+a", "'=l;m"]  # numbers stay numbers
    assert rows[2][2] == "-7"
    first, again = read_data("in.csv"), read_data("out.csv")
    assert (first.index, first.outputs) == (again.index, again.outputs)
    assert first.inputs.names == again.inputs.names
    assert first.inputs.values == again.inputs.values
    np.testing.assert_array_equal(first.inputs.data, again.inputs.data)
    run("data", "convert", "-q", "in.csv", "raw.csv", "--raw-cells")
    assert Path("raw.csv").read_text("utf-8").splitlines()[1] == "=r1,-1.5,+a,=l;m"
    assert "--raw-cells" in run("data", "convert", "in.csv", "o.arff", "--raw-cells", code=2).err


def test_predicted_numbers_stay_numbers(run, fit):
    rows = [f"{x},{-x - 0.5}" for x in range(8)]
    fit("-q", write("train.csv", "x,=drop", *rows), "--target", "=drop")
    found = rows_of(run("predict", "m.model", "train.csv").out)
    assert set(found[0]) == {"row", "'=drop"}
    assert all(float(row["'=drop"]) < 0 for row in found)


# ---------------------------------------------------------------------- rows without an output
@pytest.mark.parametrize("ending", ["csv", "parquet", "arff"])
def test_rows_without_an_output_are_counted_or_left_out(run, ending):
    rows = ["0,u,p", "1,v,", "2,u,q", "3,w,NA", "0,v,p", "2,u,q"]
    name = write("some.csv", "x,sky,kind", *rows)
    if ending == "parquet":
        pandas = pytest.importorskip("pandas")
        frame = pandas.read_csv(name)
        frame.to_parquet("some.parquet")
    if ending == "arff":
        cells = [row.replace("NA", "?") + ("?" if row.endswith(",") else "") for row in rows]
        write("some.arff", "@relation r", "@attribute x numeric", "@attribute sky {u,v,w}",
              "@attribute kind {p,q}", "@data", *cells)  # fmt: skip
    name, given = f"some.{ending}", ("--target", "kind", "--task", "classes")
    err = run("fit", name, *given, "-o", "m.model", "--set", "alpha=0.1").err
    assert "2 of 6 cells of the outputs are missing (33%)" in err
    printed = run("fit", name, *given, "-o", "m.model", "--skip-unlabelled", "--set", "alpha=0.1")
    assert "2 rows without an output are left out" in printed.err
    assert "rows     4" in printed.out
    for command in [("evaluate", "m.model", name), ("data", "check", name)]:
        printed = run(*command, "--target", "kind")
        assert "2 of 6 cells" in printed.out + printed.err
    summary = json.loads(run("evaluate", "m.model", name, "--skip-unlabelled", "--json").out)
    assert summary["rows"] == 4
    assert json.loads(run("data", "check", name, *given, "--skip-unlabelled", "--json").out)[
        "rows"
    ] == 4  # fmt: skip
    assert len(rows_of(run("predict", "m.model", name).out)) == 6  # all are predicted


def test_wrong_cells_below_rows_that_are_left_out_are_reported_at_their_line(run):
    write("some.csv", "x,y", "0,1.5", "1,", "2,2.5", "inf,3.5", "4,4")
    given = ("--target", "y", "--task", "regression", "--skip-unlabelled")
    assert "some.csv, line 5, column 1: an infinite" in run("data", "check", "some.csv", *given,
                                                            code=3).err  # fmt: skip
    write("none.csv", "x,y", "0,", "1,")
    assert "no row has an output" in run("data", "check", "none.csv", *given, code=3).err


# ---------------------------------------------------------------------- other formats
def test_queries_of_libsvm_are_left_out_and_reported(run):
    write("rank.svm", "1 qid:1 1:0.5 2:1", "0 qid:1 1:0.1", "2 qid:2 2:3 # doc 7", "1 qid:2")
    summary = json.loads(run("data", "check", "rank.svm", "--json").out)
    assert (summary["rows"], summary["columns"], summary["outputs"]) == (4, 2, 3)
    assert any("qid" in remark and "4 rows" in remark for remark in summary["remarks"])
    lines = [f"{i % 2} qid:{i // 50} " + " ".join(f"{j}:{(i * j) % 7 + 1}" for j in range(1, 40))
             for i in range(2000)]  # fmt: skip
    write("many.svm", *lines)  # enough for the compiled reader
    write("plain.svm", *[line.split(" ", 2)[0] + " " + line.split(" ", 2)[2] for line in lines])
    many, plain = read_data("many.svm"), read_data("plain.svm")
    assert (many.inputs.data != plain.inputs.data).nnz == 0
    assert list(many.outputs) == list(plain.outputs)
    bad = write("bad.svm", "1 qid:x 1:2", "0 qid:1 1:1")
    assert "bad.svm, line 1, column 2" in run("data", "check", bad, "--format", "libsvm",
                                              code=3).err  # fmt: skip


CONLLU = """# newdoc id = d1
# sent_id = 1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\t_\t_\t5\tcase\t_\t_
4\tel\tel\tDET\t_\t_\t5\tdet\t_\t_
5\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_

# sent_id = 2
1\t#\t#\tSYM\t_\t_\t0\troot\t_\t_
1.1\tgoes\tgo\tVERB\t_\t_\t_\t_\t0:root\t_
2\ton\ton\tADV\t_\t_\t1\tadvmod\t_\t_
"""


def test_conll_u_is_read(run):
    for name in ("es.conllu", "es.txt"):
        Path(name).write_text(CONLLU, encoding="utf-8")
        data = read_data(name)
        assert (data.format, data.task) == ("conllu", "sequence")
        assert data.inputs == [[("vamos",), ("nos",), ("a",), ("el",), ("mar",)], [("#",), ("on",)]]
        assert data.outputs == [("VERB", "PRON", "ADP", "DET", "NOUN"), ("SYM", "ADV")]
        summary = json.loads(run("data", "check", name, "--json").out)
        assert any("UPOS" in remark for remark in summary["remarks"])
        assert any("1 empty node" in remark and "2 multi-word" in remark
                   for remark in summary["remarks"])  # fmt: skip
    relations = read_data("es.conllu", targets="DEPREL")
    assert relations.outputs[1] == ("root", "advmod")
    assert relations.inputs[1] == [("#", "SYM"), ("on", "ADV")]
    assert read_data("es.conllu", targets="8").outputs == relations.outputs
    assert read_data("es.conllu", targets=()).inputs == data.inputs
    run("fit", "-q", "es.conllu", "-o", "u.model", "--set", "alpha=0.01")
    run("predict", "u.model", "es.conllu", "-o", "out.conll")
    assert read_data("out.conll").inputs == data.inputs
    broken = CONLLU.replace("2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t_\t_", "2\tnos\tnosotros\tPRON")
    Path("broken.conllu").write_text(broken, encoding="utf-8")
    assert "line 6: expected 10 fields, got 4" in run("data", "check", "broken.conllu", code=3).err


def test_number_signs_are_tokens_of_other_files(run):
    write("money.conll", "# # B-NP", "5 CD I-NP", "", "is VB O")
    assert read_data("money.conll").inputs[0][0] == ("#", "#")


def test_attributes_that_are_declared_twice_are_renamed(run):
    head = ["@relation r", "@attribute a numeric", "@attribute a numeric", "@attribute a_2 numeric",
            "@attribute y {p,q}", "@data"]  # fmt: skip
    write("twice.arff", *head, *["0,5,9,p", "1,6,9,q"] * 4)
    data = read_data("twice.arff")
    assert data.inputs.names == ("a", "a_3", "a_2")
    np.testing.assert_array_equal(data.inputs.data[:2], [[0, 5, 9], [1, 6, 9]])
    printed = run("fit", "twice.arff", "-o", "m.model", "--set", "alpha=0.1")
    assert "'a' is declared twice (line 3): the second one is called 'a_3'" in printed.err
    run("predict", "m.model", "twice.arff", "-o", "out.csv")
    sparse = write("sparse.arff", *head, "{0 1, 1 5, 3 q}", "{2 7}")
    assert read_data(sparse).inputs.data.toarray().tolist() == [[1, 5, 0], [0, 0, 7]]


# ---------------------------------------------------------------------- full disks
@pytest.mark.slow
@pytest.mark.parametrize("command", ["fit", "report", "convert", "sample", "plot"])
def test_a_full_disk_is_reported_with_the_file(run, fit, monkeypatch, command):
    fit("-q", write("train.csv", "x,y", *["0,p", "1,q"] * 4))
    Path("out.csv").write_text("old")
    before = sorted(os_listdir())
    arguments = {
        "fit": ("fit", "-q", "train.csv", "-o", "out.csv", "--set", "alpha=1.0"),
        "report": ("report", "-q", "m.model", "train.csv", "-o", "out.csv"),
        "convert": ("data", "convert", "-q", "train.csv", "out.csv"),
        "sample": ("data", "sample", "-q", "drinks.csv", "-o", "out.csv"),
        "plot": ("compare", "-q", "train.csv", "--learners", "neighbors", "--folds", "2",
                 "--plot", "out.png"),
    }[command]  # fmt: skip

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    if command == "plot":
        pytest.importorskip("matplotlib")
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    monkeypatch.setattr("skstruct._files.atomic.os.fsync", full)
    file = "out.png" if command == "plot" else "out.csv"
    assert run(*arguments, code=1).err == (
        f"Error: {file} cannot be written: No space left on device. What was there before is "
        "untouched.\n"
    )
    assert Path("out.csv").read_text() == "old"
    assert sorted(os_listdir()) == before


def os_listdir():
    return [path.name for path in Path().iterdir()]


# ---------------------------------------------------------------------- rows of training
@pytest.mark.slow
@pytest.mark.parametrize("name", ["drinks.csv", "phrases.txt", "animals.arff"])
def test_rows_of_training_are_no_test(run, name):
    text = (SAMPLES / name).read_text("utf-8")
    option = "alpha=0.01" if name == "phrases.txt" else "alpha=1.0"
    Path(name).write_text(text, encoding="utf-8")
    run("fit", "-q", name, "-o", "m.model", "--set", option)
    n = len(read_data(name))
    seen = f"{n} of {n} rows were rows of training"
    messages = run("evaluate", "m.model", name).err
    assert f"{seen}: this is not an estimate of future error" in messages
    assert seen in run("report", "m.model", name, "-o", "r.html").err
    assert "rows of training: this is not an estimate" in Path("r.html").read_text("utf-8")
    found = json.loads(run("evaluate", "--json", "m.model", name).out)
    assert found["rows_of_training"] == n
    assert "of training" not in run("evaluate", "-q", "m.model", name).err


def test_other_rows_are_a_test(run):
    for name in ("animals.arff", "animals_new.arff"):
        run("data", "sample", name)
    run("fit", "-q", "animals.arff", "-o", "m.model", "--set", "alpha=0.3")
    assert "of training" not in run("evaluate", "m.model", "animals_new.arff").err
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, (400, 3))  # eight different rows: equal ones say nothing
    lines = [",".join(map(str, row)) + "," + "pq"[row[0]] for row in few]
    write("train.csv", "a,b,c,y", *lines[:200])
    write("test.csv", "a,b,c,y", *lines[200:])
    run("fit", "-q", "train.csv", "-o", "m.model", "--set", "alpha=0.3")
    assert "of training" not in run("evaluate", "m.model", "test.csv").err


def test_some_rows_of_training_among_others(run):
    rng = np.random.default_rng(0)
    lines = [f"{a:.6f},{b:.6f},{'pq'[int(a > b)]}" for a, b in rng.normal(size=(60, 2))]
    write("train.csv", "a,b,y", *lines[:40])
    write("test.csv", "b,a,y", *[",".join(np.array(s.split(","))[[1, 0, 2]]) for s in lines[33:]])
    run("fit", "-q", "train.csv", "-o", "m.model", "--set", "alpha=0.3")
    assert "7 of 27 rows were rows of training" in run("evaluate", "m.model", "test.csv").err
