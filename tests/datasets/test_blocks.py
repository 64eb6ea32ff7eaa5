# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of a table are what the whole file holds, and errors tell line and column."""

import csv
import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skstruct.datasets.blocks import has_blocks, read_blocks
from skstruct.datasets.dataset import Table
from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError
from skstruct.tasks import TableEncoder

LIKE = Table(("a", "sky", "b"), (None, ("01", "sunny", "wet, cold"), None), np.empty((0, 3)))
NOMINAL = ("sky",)
ENCODER = TableEncoder().fit(
    Table(LIKE.names, LIKE.values, np.array([[0.0, 0, 1], [2.0, 1, 5], [1.0, 2, 9]]))
)


def joined(blocks):
    """Encoded rows and names of rows of all blocks."""
    parts = list(blocks)
    names = [name for part in parts for name in part.index or ()]
    X = np.vstack([ENCODER.transform(part.inputs) for part in parts])
    return X, tuple(names) or None, [len(part) for part in parts]


def whole(path, **options):
    data = read_data(path, nominal=NOMINAL, targets=(), **options)
    return ENCODER.transform(data.inputs), data.index


def write(folder, *lines, name="t.csv"):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


# ---------------------------------------------------------------------- the same as the whole file
NUMBERS = st.sampled_from(["1", "-2.5", "1e3", "", "NA", "?", " 7 ", "nan", "1_000", "٣"])
SKIES = st.sampled_from(["sunny", "01", "1", "wet, cold", "new\nline", 'a "quote"', "", "None"])
FURTHER = st.sampled_from(["x", "1", "", "5;6"])
ROWS = st.lists(st.tuples(NUMBERS, SKIES, NUMBERS, FURTHER, FURTHER), min_size=1, max_size=12)


@pytest.mark.slow
@settings(max_examples=80)
@given(ROWS, st.permutations(range(5)), st.integers(1, 5), st.sampled_from(",;\t"), st.data())
def test_csv_blocks_are_the_whole_file(tmp_path_factory, rows, order, size, mark, data):
    path = tmp_path_factory.mktemp("blocks") / "t.csv"
    first = data.draw(st.sampled_from(["id", "row", "Row", "further", "more"]))
    header = ("a", "sky", "b", first, "other")
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=mark, lineterminator="\n")
        writer.writerows([[row[j] for j in order] for row in [header, *rows]])
    expected, index = whole(path)
    X, names, sizes = joined(read_blocks(path, LIKE, rows=size, targets=()))
    assert_array_equal(X, expected)
    assert names == index
    assert sizes == [size] * (len(rows) // size) + [len(rows) % size] * (len(rows) % size > 0)


def test_packed_files_and_the_first_rows(tmp_path):
    lines = ["a,sky,b", *[f"{i},sunny,{-i}" for i in range(7)]]
    plain = write(tmp_path, *lines)
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    expected, _ = whole(plain)
    for path in (plain, packed):
        assert has_blocks(path)
        assert_array_equal(joined(read_blocks(path, LIKE, rows=3, targets=()))[0], expected)
    for first, sizes in ((1, [1]), (3, [3]), (5, [3, 2]), (9, [3, 3, 1])):
        X, _, found = joined(read_blocks(plain, LIKE, rows=3, first=first, targets=()))
        assert_array_equal(X, expected[:first])
        assert found == sizes


def test_blocks_may_be_read_again_and_tell_how_far_they_are(tmp_path):
    blocks = read_blocks(write(tmp_path, "a,b,sky", *["1,2,01"] * 5), LIKE, rows=2, targets=())
    assert blocks.n_rows is None
    assert blocks.share() == 0.0
    first = joined(blocks)[0]
    assert blocks.share() == 1.0
    assert_array_equal(joined(blocks)[0], first)


# ---------------------------------------------------------------------- names of rows
@pytest.mark.parametrize(
    ("names", "are_names"),
    [
        (["1", "2", "5", "9"], True),
        (["4", "b", "2", "a"], True),
        (["1", "2", "3", "1"], False),
        (["x", "y", "z", "x"], False),
        (["1", "01", "2", "3"], True),
        (["9" * 30, "2", "3", "4"], True),
    ],
)
def test_a_column_of_rows_names_them_if_no_value_comes_twice(tmp_path, names, are_names):
    path = write(tmp_path, "row,a,b,sky", *[f"{name},1,2,01" for name in names])
    index = joined(read_blocks(path, LIKE, rows=2, targets=()))[1]
    assert index == whole(path)[1] == (tuple(names) if are_names else None)
    assert joined(read_blocks(path, LIKE, rows=2, targets=(), id_column=""))[1] is None


def test_further_columns_are_not_looked_at(tmp_path):
    path = write(tmp_path, "far,b,sky,a,y", "inf,1,01,2,inf", "1,3,,4,0")
    with pytest.raises(DataFormatError, match="infinite"):
        whole(path)
    for targets in ((), ("y",)):
        assert joined(read_blocks(path, LIKE, targets=targets))[2] == [2]


def test_columns_by_name(tmp_path):
    path = write(tmp_path, "y,b,sky,a", "p,1,01,2", "q,3,,4")
    assert joined(read_blocks(path, LIKE))[0].shape == (2, 5)
    with pytest.raises(DataFormatError, match=r"t\.csv: the model reads 3 .* 1 of them .*'b'"):
        read_blocks(path, LIKE, targets=("b",))
    with pytest.raises(DataFormatError, match=r"t\.csv: no column is called 'z' \(targets\)"):
        read_blocks(path, LIKE, targets=("z",))
    with pytest.raises(DataFormatError, match=r"t\.csv: no column is called 'n' \(id_column\)"):
        read_blocks(path, LIKE, id_column="n")
    arff = write(tmp_path, "@relation r", "@attribute a numeric", "@data", "1", name="t.arff")
    assert not has_blocks(arff)
    with pytest.raises(DataFormatError, match="only CSV and Parquet"):
        read_blocks(arff, LIKE)


# ---------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("last", "message"),
    [
        (["1,sunny"], "line 10, column 3: expected 3 cells, got 2"),
        (["1,sunny,2", "", "1,sunny,2"], "line 11: an empty line between rows"),
        (["inf,sunny,2"], "line 10, column 1: an infinite number"),
        (["1_000,sunny,2", "infinity,x,2"], "line 11, column 1: an infinite number"),
        (["1,sunny,two"], "line 10, column 3: the column 'b' held numbers .* holds 'two'"),
        (['1,"sunny,2', "3,4,5"], "line 10: unexpected end of data; a quoted cell that begins"),
        (['1,"' + "sunny" * 30_000], "line 10: unexpected end of data; a quoted cell that begins"),
        (['1,"sunny"x,2'], "line 10: ',' expected"),
        (["1,\0,2"], "line 10: a NUL byte"),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_errors_tell_the_line_of_the_file(tmp_path, last, message, size):
    good = ['1,"two', 'lines",2', "3,sunny,4", '5,"and', 'again",6', "7,01,8", "1,01,1", "1,01,1"]
    path = write(tmp_path, "a,sky,b", *good, *last)
    with pytest.raises(DataFormatError, match=rf"t\.csv, {message}") as caught:
        list(read_blocks(path, LIKE, rows=size, targets=()))
    assert "\n" not in str(caught.value)


def test_files_without_rows(tmp_path):
    for lines in (["a,sky,b"], ["a,sky,b", "", ""]):
        with pytest.raises(DataFormatError, match=r"t\.csv: there are no rows"):
            list(read_blocks(write(tmp_path, *lines), LIKE, targets=()))
    path = write(tmp_path, "a,sky,b", "1,01,2", "", "", "")
    for size in (1, 2, 3):
        assert joined(read_blocks(path, LIKE, rows=size, targets=()))[2] == [1]


# ---------------------------------------------------------------------- Parquet
def parquet_file(folder, columns, **options):
    pandas = pytest.importorskip("pandas")
    path = folder / "t.parquet"
    pandas.DataFrame(columns, index=options.pop("index", None)).to_parquet(path, **options)
    return path


def parquet_columns():
    pandas = pytest.importorskip("pandas")
    return {
        "further": [[1]] * 6,
        "b": np.array([0.1, np.nan, 2, 3, 4, 5], dtype=np.float32),
        "sky": pandas.Categorical(["sunny", "01", None, "new", "sunny", "01"]),
        "a": pandas.array([1, None, 3, 4, 5, 6], dtype="Int64"),
    }


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("group", [2, 5, 100])
def test_parquet_blocks_are_the_whole_file(tmp_path, size, group):
    columns = parquet_columns()
    expected, _ = whole(parquet_file(tmp_path, {k: columns[k] for k in ("b", "sky", "a")}))
    path = parquet_file(tmp_path, columns, row_group_size=group)
    blocks = read_blocks(path, LIKE, rows=size, targets=())
    assert (blocks.n_rows, blocks.share()) == (6, None)
    assert read_blocks(path, LIKE, first=2, targets=()).n_rows == 2
    X, names, sizes = joined(blocks)
    assert_array_equal(X, expected)
    assert names is None
    assert max(sizes) <= size


@pytest.mark.parametrize("skies", [[1, 1, 2], [True, False, None], [None] * 3, [1.0, 0.5, 1e20]])
@pytest.mark.parametrize("numbers", [["1", "2.5", None], [None] * 3, [1, 2, 3]])
def test_parquet_types(tmp_path, skies, numbers):
    path = parquet_file(tmp_path, {"a": numbers, "sky": skies, "b": [1.5, None, 2], "a.b": numbers})
    X, _, _ = joined(read_blocks(path, LIKE, rows=2, targets=()))
    assert_array_equal(X, whole(path)[0])


def test_a_pandas_index_names_the_rows(tmp_path):
    columns = {"a": [1, 2, 3], "sky": ["01"] * 3, "b": [1, 2, 3]}
    for name in (None, "who"):
        pandas = pytest.importorskip("pandas")
        path = parquet_file(tmp_path, columns, index=pandas.Index(["u", "v", "v"], name=name))
        blocks = read_blocks(path, LIKE, rows=2, targets=())
        assert joined(blocks)[1] == whole(path)[1] == ("u", "v", "v")


def test_parquet_errors(tmp_path):
    columns = {"a": [1.0, 2.0, np.inf], "sky": ["x", "y", "z"], "b": ["1", "2", "three"]}
    path = parquet_file(tmp_path, columns)
    with pytest.raises(DataFormatError, match="row 3, column 'b': the column 'b' held numbers"):
        list(read_blocks(path, LIKE, rows=2, targets=()))
    path = parquet_file(tmp_path, {**columns, "b": [1, 2, 3]})
    with pytest.raises(DataFormatError, match="row 3, column 'a': an infinite number"):
        list(read_blocks(path, LIKE, rows=2, targets=()))
    path = parquet_file(tmp_path, {**columns, "b": [[1], [2], [3]]})
    with pytest.raises(DataFormatError, match="column 'b': it holds list"):
        list(read_blocks(path, LIKE, rows=2, targets=()))
    path = parquet_file(tmp_path, {**columns, "sky": ["x", "y", "\0"], "a": [1, 2, 3]})
    with pytest.raises(DataFormatError, match="row 3, column 'sky': a zero character"):
        list(read_blocks(path, LIKE, rows=2, targets=()))
    with pytest.raises(DataFormatError, match="no rows"):
        list(read_blocks(parquet_file(tmp_path, {k: [] for k in columns}), LIKE, targets=()))


def test_damaged_parquet_files(tmp_path):
    path = parquet_file(tmp_path, {"a": range(99), "sky": ["01"] * 99, "b": range(99)})
    good = path.read_bytes()
    for damaged in (b"", good[:50], good[:4] + b"x" * 200 + good[204:]):
        path.write_bytes(damaged)
        with pytest.raises(DataFormatError, match=r"t\.parquet: it is no Parquet|is empty"):
            list(read_blocks(path, LIKE, targets=(), format="parquet"))
    packed = tmp_path / "t.parquet.gz"
    packed.write_bytes(gzip.compress(good))
    assert not has_blocks(packed)
