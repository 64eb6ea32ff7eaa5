# SPDX-License-Identifier: BSD-3-Clause
"""Excel files and encodings through all commands that read and write."""

import json
from pathlib import Path

import pytest

from skstruct.datasets import read_data

openpyxl = pytest.importorskip("openpyxl")
ROWS = [(i / 10, "é" if i % 3 else "ü", "=größer" if i > 20 else "klein") for i in range(40)]


def save_sheet(name, rows, **more):
    book = openpyxl.Workbook()
    book.active.title = "Daten"
    for sheet, others in {"Daten": rows, **more}.items():
        page = book[sheet] if sheet in book.sheetnames else book.create_sheet(sheet)
        for row in [("Maß", "Art", "class"), *others]:
            page.append(row)
            for cell in page[page.max_row]:
                cell.data_type = "s" if isinstance(cell.value, str) else cell.data_type
    book.save(name)
    return name


def save_text(name, rows, encoding):
    lines = ["Maß,Art,class", *(",".join(map(str, row)) for row in rows)]
    Path(name).write_text("\n".join(lines) + "\n", encoding=encoding)
    return name


def test_a_sheet_from_fit_to_report(run):
    save_sheet("train.xlsx", ROWS[::2])
    save_sheet("new.xlsx", [(1, "x", "klein")], Neu=ROWS[1::2])
    run("fit", "-q", "train.xlsx", "-o", "m.model", "--learner", "kernel", "--set", "alpha=0.1")
    assert "'Neu'" in run("predict", "m.model", "new.xlsx", "--sheet", "Alt", code=3).err
    run("predict", "m.model", "new.xlsx", "--sheet", "Neu", "-o", "out.xlsx", "--risk")
    cells = list(openpyxl.load_workbook("out.xlsx").active.iter_rows())
    assert [cell.value for cell in cells[0]] == ["row", "prediction", "risk", "gap"]
    assert {cell.data_type for row in cells for cell in row} == {"s", "n"}  # no formula
    assert {row[1].value for row in cells[1:]} == {"=größer", "klein"}
    run("predict", "m.model", "new.xlsx", "--sheet", "Neu", "-o", "out.csv")
    by_row = [row[1].value for row in cells[1:]]
    assert read_data("out.csv", targets="prediction").outputs.tolist() == by_row
    told = json.loads(run("evaluate", "-q", "m.model", "new.xlsx", "--sheet", "Neu", "--json").out)
    assert told["rows"] == 20
    run("report", "-q", "m.model", "new.xlsx", "--sheet", "Neu", "-o", "page.html")
    assert "</html>" in Path("page.html").read_text(encoding="utf-8")
    run("data", "convert", "-q", "train.xlsx", "train.csv")
    run("data", "convert", "-q", "train.csv", "again.xlsx")
    assert (
        read_data("again.xlsx").inputs.data.tolist() == read_data("train.xlsx").inputs.data.tolist()
    )


def test_a_wrong_cell_is_named(run):
    save_sheet("bad.xlsx", [*ROWS[:5], ("#DIV/0!", "é", "klein")])
    book = openpyxl.load_workbook("bad.xlsx")
    book.active["A7"].data_type = "e"
    book.save("bad.xlsx")
    err = run("fit", "bad.xlsx", "-o", "m.model", code=3).err
    assert "bad.xlsx, cell A7: it holds the error #DIV/0!" in err


def test_memory_is_limited(run):
    save_sheet("large.xlsx", ROWS * 50)
    err = run("data", "check", "large.xlsx", "--memory", "100KB", code=1).err
    assert "--memory" in err


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
@pytest.mark.parametrize("blocks", [(), ("--block-rows", 7)])
def test_encodings_from_fit_to_predict(run, encoding, blocks):
    save_text("t8.csv", ROWS, "utf-8")
    save_text("t.csv", ROWS, encoding)
    said = ("--encoding", encoding)
    given = ("--learner", "kernel", "--set", "alpha=0.1")
    run("fit", "-q", "t.csv", "-o", "m.model", *said, *given, *blocks)
    printed = run("predict", "m.model", "t.csv", *said, *blocks).out
    assert printed == run("predict", "m.model", "t8.csv", *blocks).out  # each file has its own
    assert run("predict", "m.model", "t.csv", code=3).err.count("\n") == 1
    run("evaluate", "-q", "m.model", "t.csv", *said)
    run("data", "convert", "-q", "t.csv", "out.csv", *said)
    assert read_data("out.csv").outputs.tolist() == read_data("t8.csv").outputs.tolist()


def test_bytes_that_are_not_utf_8(run):
    save_text("t.csv", ROWS, "latin-1")
    err = run("data", "check", "t.csv", code=3).err
    assert "line 1: byte 3 of the line (0xdf)" in err
    assert "(--encoding latin-1)" in err
    assert "klingon" in run("data", "check", "t.csv", "--encoding", "klingon", code=2).err
