# SPDX-License-Identifier: BSD-3-Clause
"""Parquet files: read as CSV is; columns that are no numbers or text are refused."""

import datetime
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError

pandas = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


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
    assert data.inputs.values == (None, None, None, ("cloudy", "sunny"), ("a", "b"))
    nan = np.nan
    expected = [[1, 0.5, 1, 0, 0], [2, nan, 0, nan, 1], [3, 1.5, 1, 1, 0]]
    assert_array_equal(data.inputs.data, expected)


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
        read(tmp_path, {"x": [0, 1], "y": ["a", None]})


@pytest.mark.parametrize("text", [b"", b"PAR1", b"PAR1" + b"\0" * 100 + b"PAR1", b"a,b\n1,2\n"])
def test_no_parquet(tmp_path, text):
    (tmp_path / "t.parquet").write_bytes(text)
    with pytest.raises(DataFormatError, match="no Parquet file that can be read"):
        read_data(tmp_path / "t.parquet")


def test_without_the_libraries(tmp_path, monkeypatch):
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'skstruct\[parquet\]'"):
        read_data(tmp_path / "t.parquet")
