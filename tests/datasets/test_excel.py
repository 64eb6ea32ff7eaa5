# SPDX-License-Identifier: BSD-3-Clause
"""Excel files: the data of a CSV file of the same table, and cells named as in the sheet."""

import datetime as dt
import zipfile

import numpy as np
import pytest

from skstruct.datasets import read_data, write_data
from skstruct.datasets.dataset import Dataset, Table
from skstruct.exceptions import DataFormatError

openpyxl = pytest.importorskip("openpyxl")


@pytest.fixture
def sheet(tmp_path):
    """Writes rows into a file, and gives its path; changes are made to the sheet before."""

    def sheet(*rows, change=None, name="t.xlsx"):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        if change is not None:
            change(book)
        book.save(tmp_path / name)
        return tmp_path / name

    return sheet


def test_values_are_those_of_a_csv_file(sheet, tmp_path):
    day = dt.datetime(2024, 3, 1)
    path = sheet(
        ["size", "code", "ok", "day", "at", "class"],
        [0.1, 1, True, day, dt.datetime(2024, 3, 1, 12, 30), "a"],
        [1 / 3, "02", False, dt.date(2024, 3, 2), None, "b"],
        [None, 3.0, None, None, dt.time(8), "1"],
    )
    data = read_data(path)
    (tmp_path / "t.csv").write_text(
        "size,code,ok,day,at,class\n0.1,1,True,2024-03-01,2024-03-01 12:30:00,a\n"
        f"{1 / 3:.16g},02,False,2024-03-02,,b\n,3,,,08:00:00,1\n"
    )
    expected = read_data(tmp_path / "t.csv")
    assert (data.format, data.task) == ("excel", expected.task)
    assert data.inputs.names == expected.inputs.names
    assert data.inputs.values == expected.inputs.values
    assert np.array_equal(data.inputs.data, expected.inputs.data, equal_nan=True)
    assert data.outputs.tolist() == expected.outputs.tolist()


def test_empty_rows_and_columns(sheet):
    def merge(book):
        book.active.merge_cells("A6:B6")

    path = sheet(
        [], [None, "x", None, "y"], [None, 1, None, "a"], [], [None, 2, None, "b"],
        [None, None, None, "a"], [], change=merge,
    )  # fmt: skip
    data = read_data(path)
    assert data.inputs.names == ("x",)
    assert data.inputs.data[:2].tolist() == [[1], [2]]
    assert np.isnan(data.inputs.data[2, 0])
    assert any("1 empty row is left out" in remark for remark in data.remarks)


@pytest.mark.parametrize(
    ("rows", "where", "what"),
    [
        ([["x", "y"], [1, "a"], ["#N/A", "b"]], "cell A3", "the error #N/A"),
        ([["x", "y"], [1, "a"], [], [2, "b", 7]], "cell C4", "no name"),
        ([["x", None, "y"], [1, None, "a"], [2, 5, "b"]], "cell B3", "no name"),
        ([["x", "x"], [1, 2]], "cell B1", "comes twice"),
        ([["x", "ranking"], [1, "a>b"], [], [2, "?"]], "cell B4", "missing"),
        ([[]], "t.xlsx", "is empty"),
    ],
)
def test_errors_name_the_cell(sheet, rows, where, what):
    with pytest.raises(DataFormatError, match=what) as caught:
        read_data(sheet(*rows))
    assert where in str(caught.value)


def test_sheets_by_name(sheet):
    def add(book):
        book.create_sheet("Second").append(["x", "y"])
        book["Second"].append([5, "b"])

    path = sheet(["x", "y"], [1, "a"], change=add)
    assert read_data(path).outputs.tolist() == ["a"]
    assert any("the first of 2" in remark for remark in read_data(path).remarks)
    assert read_data(path, sheet="Second").outputs.tolist() == ["b"]
    with pytest.raises(DataFormatError, match=r"no sheet is called 'Third' \(sheet\); there are"):
        read_data(path, sheet="Third")
    csv = path.with_name("t.csv")
    csv.write_text("x,y\n1,a\n")
    with pytest.raises(DataFormatError, match="has no sheets"):
        read_data(csv, sheet="Second")


def test_formulas_have_the_value_that_was_saved(sheet):
    path = sheet(["x", "y"], [1, "a"], ["=A2+1", "b"])
    parts = {}
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = "xl/worksheets/sheet1.xml"
    parts[name] = parts[name].replace(b"<f>A2+1</f><v />", b"<f>A2+1</f><v>2</v>")
    parts[name] = parts[name].replace(b"<f>A2+1</f><v></v>", b"<f>A2+1</f><v>2</v>")
    with zipfile.ZipFile(path, "w") as file:
        for part, content in parts.items():
            file.writestr(part, content)
    assert read_data(path).inputs.data.tolist() == [[1], [2]]


def table(numbers, names, outputs):
    known = tuple(sorted(set(names)))
    columns = np.column_stack([numbers, [known.index(name) for name in names]])
    return Dataset("d", "csv", "classes", Table(("x", "n"), (None, known), columns),
                   np.array(outputs), tuple(sorted(set(outputs))))  # fmt: skip


def test_what_is_written_is_read_back(tmp_path):
    rng = np.random.default_rng(0)
    data = table(rng.normal(size=50) * 10.0 ** rng.integers(-9, 9, 50), ["=1+1", "@a"] * 25,
                 ["-b", "#N/A", "+c", "=HYPERLINK(1)", "a"] * 10)  # fmt: skip
    write_data(data, tmp_path / "d.xlsx")
    again = read_data(tmp_path / "d.xlsx", nominal="n", targets="class")
    assert np.array_equal(again.inputs.data, data.inputs.data)  # to the last digit
    assert again.inputs.values == data.inputs.values
    assert again.outputs.tolist() == data.outputs.tolist()
    cells = [c for row in openpyxl.load_workbook(tmp_path / "d.xlsx").active for c in row]
    assert {c.data_type for c in cells} == {"s", "n"}  # no formula, no error
    assert all(c.quotePrefix for c in cells if str(c.value)[:1] in "=@+")


def test_what_a_sheet_cannot_hold_is_refused(tmp_path, monkeypatch):
    for name, problem in (("a" * 40_000, "at most 32,767"), ("a\x01", "no sheet has")):
        with pytest.raises(DataFormatError, match=problem):
            write_data(table([1.0], [name], ["a"]), tmp_path / "d.xlsx")
    monkeypatch.setattr("skstruct.datasets.formats.excel_writing.MOST_ROWS", 2)
    with pytest.raises(DataFormatError, match="at most 2 rows"):
        write_data(table([1.0, 2.0], ["a", "b"], ["a", "b"]), tmp_path / "d.xlsx")
    assert not (tmp_path / "d.xlsx").exists()


def test_files_that_would_fill_the_memory_are_refused(sheet, monkeypatch):
    path = sheet(["x", "y"], *[[0, "a"]] * 5000)
    monkeypatch.setattr("skstruct.datasets.formats.excel.MANY_BYTES", 10_000)
    monkeypatch.setattr("skstruct.datasets.formats.excel.MOST_RATIO", 2)
    with pytest.raises(DataFormatError, match="times the file"):
        read_data(path)
    monkeypatch.undo()
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("xl/extra.xml", '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a/>')
    with pytest.raises(DataFormatError, match=r"xl/extra\.xml has a document type"):
        read_data(path)


def test_a_far_cell_takes_no_time(sheet):
    """A sheet says it has a million rows of 16,384 cells; nobody walks through them."""
    path = sheet(["x", "y"], [1, "a"], change=lambda book: book.active.cell(1_000_000, 2, "b"))
    assert len(read_data(path)) == 2


@pytest.mark.parametrize("ending", ["xls", "ods", "xlsb"])
def test_other_spreadsheets(tmp_path, ending):
    (tmp_path / f"t.{ending}").write_bytes(b"\xd0\xcf\x11\xe0")
    with pytest.raises(DataFormatError, match=r"save it as \.xlsx or \.csv"):
        read_data(tmp_path / f"t.{ending}")


def test_broken_files(tmp_path):
    for content in (b"", b"PK\x03\x04 no zip", b"a,b\n1,2\n"):
        (tmp_path / "t.xlsx").write_bytes(content)
        with pytest.raises(DataFormatError, match="no Excel file"):
            read_data(tmp_path / "t.xlsx")
