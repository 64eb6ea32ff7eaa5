# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files: read as CSV is; columns that are no numbers or text are refused."""

import datetime
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError

pandas = pytest.importorskip("pandas")


def read(folder, columns, **options):
    path = folder / "t.parquet"
    pandas.DataFrame(columns).to_parquet(path)
    return read_data(path, **options)


def test_columns(tmp_path):
    columns = {
        "whole": [1, 2, 3],
        "half": [0.5, None, 1.5],
        "true": [True, False, True],
        "sky": ["cloudy", None, "sunny"],
        "kind": pandas.Categorical(["a", "b", "a"]),
        "y": [1, 0, 2],
    }
    data = read(tmp_path, columns)
    assert (data.format, data.task, data.labels) == ("parquet", "classes", ("0", "1", "2"))
    assert data.outputs.tolist() == ["1", "0", "2"]
    truth = ("False", "True")
    assert data.inputs.values == (None, None, truth, ("cloudy", "sunny"), ("a", "b"))
    nan = np.nan
    expected = [[1, 0.5, 1, 0, 0], [2, nan, 0, nan, 1], [3, 1.5, 1, 1, 0]]
    assert_array_equal(data.inputs.data, expected)


def test_as_the_csv_file_of_the_same_table(tmp_path):
    columns = {
        "id": [3, 1, 2],
        "truth": [True, False, True],
        "gaps": pandas.array([True, None, False], dtype="boolean"),
        "code": [10, 2, 3],
        "short": np.array([0.1, 1.0, 2e-7], dtype=np.float32),
        "long": [0.1, None, 1e20],
        "whole": pandas.array([1, None, 2], dtype="Int64"),
        "y": ["a", "b", "b"],
    }
    pandas.DataFrame(columns).to_csv(tmp_path / "t.csv", index=False)
    names = ("code", "short", "long", "whole")
    for nominal in ((), names, ("truth", "gaps")):
        one = read(tmp_path, columns, nominal=nominal)
        other = read_data(tmp_path / "t.csv", nominal=nominal)
        assert one.inputs.names == other.inputs.names == ("truth", "gaps", *names)
        assert one.inputs.values == other.inputs.values
        assert_allclose(one.inputs.data, other.inputs.data, rtol=1e-7)
        assert one.index == other.index == ("3", "1", "2")


def test_columns_without_any_value_are_numbers(tmp_path):
    data = read(tmp_path, {"x": [None, None], "y": ["a", "b"]})
    assert data.inputs.values == (None,)
    assert np.isnan(data.inputs.data).all()


@pytest.mark.parametrize("name", ["rid", None])
def test_the_index_of_a_table_names_the_rows(tmp_path, name):
    index = pandas.Index(["r1", "r2"], name=name)
    frame = pandas.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}, index=index)
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv")
    data = read_data(tmp_path / "t.parquet")
    other = read_data(tmp_path / "t.csv", id_column=name)
    assert data.index == other.index == ("r1", "r2")
    assert data.inputs.names == other.inputs.names == ("x",)
    assert any("index of the table" in remark for remark in data.remarks)
    if name:
        assert read_data(tmp_path / "t.parquet", id_column=name).index == ("r1", "r2")
        assert read_data(tmp_path / "t.parquet", targets=name).outputs.tolist() == ["r1", "r2"]


def test_truth_values_are_labels(tmp_path):
    data = read(tmp_path, {"a": [True, False], "b": [True, True]}, targets=("a", "b"))
    assert (data.task, data.outputs) == ("labels", [("a", "b"), ("b",)])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [([[1], [2]], "list"), ([b"x", b"y"], "binary"), ([datetime.date(2020, 1, 1)] * 2, "date")],
)
def test_other_columns_are_refused(tmp_path, cells, kind):
    with pytest.raises(DataFormatError, match=rf"t\.parquet: column 'x': it holds {kind}"):
        read(tmp_path, {"x": cells, "y": [0, 1]})


def test_places_are_rows(tmp_path):
    with pytest.raises(DataFormatError, match="row 2, column 'y': the class is missing"):
        read(tmp_path, {"x": [0, 1], "y": ["a", None]}, task="ordinal")


@pytest.mark.parametrize("text", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"a,b\n1,2\n"])
def test_no_parquet(tmp_path, text):
    (tmp_path / "t.parquet").write_bytes(text)
    with pytest.raises(DataFormatError, match="no Parquet file that can be read"):
        read_data(tmp_path / "t.parquet")


def test_without_the_libraries(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'skstruct\[parquet\]'"):
        read_data(tmp_path / "t.parquet")
