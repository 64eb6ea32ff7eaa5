# SPDX-License-Identifier: BSD-3-Clause
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.exceptions import DataFormatError
from skstruct.streaming import ParquetSource, as_source

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")


def table_of(start, stop):
    numbers = np.arange(start, stop)
    return pa.table(
        {
            "kind": pa.array([f"k{i % 3}" for i in numbers], "string"),
            "a": numbers.astype("f4"),
            "b": numbers * 10,
            "w": numbers / 2,
            "labels": pa.array([["x"] * (i % 3) for i in numbers], pa.list_(pa.string())),
            "flag": numbers % 2 == 0,
        }
    )


def write_parts(folder, sizes, row_group_size=4):
    folder.mkdir(exist_ok=True)
    ends = np.cumsum([0, *sizes])
    for i, (a, b) in enumerate(zip(ends, ends[1:])):  # noqa: RUF007
        parquet.write_table(
            table_of(a, b), folder / f"part-{i}.parquet", row_group_size=row_group_size
        )
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.tmp").touch()
    return folder


sizes_of_files = st.lists(st.integers(0, 11), min_size=1, max_size=4).filter(sum)


@pytest.mark.slow
@given(sizes=sizes_of_files, count=st.none() | st.integers(1, 9), rows=st.integers(1, 12))
def test_every_row_comes_once_and_in_order(tmp_path_factory, sizes, count, rows):
    folder = write_parts(tmp_path_factory.mktemp("parts"), sizes)
    source = ParquetSource(folder, outputs="kind", weight="w")
    assert source.n_rows == sum(sizes)
    parts = pickle.loads(pickle.dumps(source.partitions(count)))
    assert len(parts) <= (count or len(sizes))
    seen = 0
    for part in parts:
        assert part.start == seen
        for block in part.blocks(rows):
            assert 1 <= len(block) <= rows
            numbers = np.arange(seen, seen + len(block))
            assert block.start == seen
            assert list(block.X) == ["a", "b"]
            np.testing.assert_array_equal(block.X, np.stack([numbers, numbers * 10], axis=1))
            np.testing.assert_array_equal(block.X.index, numbers)
            assert list(block.y) == [f"k{i % 3}" for i in numbers]
            np.testing.assert_array_equal(block.weight, numbers / 2)
            seen += len(block)
        assert seen == part.start + part.n_rows
    assert seen == sum(sizes)


@pytest.mark.slow
@given(sizes=sizes_of_files, n=st.integers(1, 30), groups=st.integers(1, 9), seed=st.integers(0, 9))
def test_a_sample_has_rows_with_their_outputs(tmp_path_factory, sizes, n, groups, seed):
    folder = write_parts(tmp_path_factory.mktemp("parts"), sizes, row_group_size=2)
    source = ParquetSource(folder, inputs=["b"], outputs="labels", max_groups=groups)
    block = source.sample(n, seed)
    rows = block.X["b"].to_numpy() // 10
    assert len(rows) == min(n, sum(sizes))
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(block.X.index, rows)
    assert block.y == [["x"] * (i % 3) for i in rows]


def test_blocks_say_where_they_are_from(tmp_path):
    source = ParquetSource(write_parts(tmp_path, [5, 6]), outputs="kind")
    [part] = source.partitions(1)
    blocks = list(part.blocks(3))
    assert [block.where for block in blocks] == [
        "rows 0 to 2 of part-0.parquet",
        "rows 3 to 4 of part-0.parquet",
        "rows 0 to 2 of part-1.parquet",
        "rows 3 to 5 of part-1.parquet",
    ]
    assert blocks[-1].start == 8
    assert blocks[-1].row_text(1) == "row 4 of part-1.parquet"


def test_the_same_rows_from_everything_that_holds_them(tmp_path):
    from pyarrow import dataset

    folder = write_parts(tmp_path, [5, 6])
    files = [folder / "part-0.parquet", str(folder / "part-1.parquet")]
    whole = table_of(0, 11)
    for data in (
        folder, str(folder), files, whole, dataset.dataset([str(f) for f in files]),
        dataset.dataset(whole), f"file://{folder}/part-0.parquet",
    ):  # fmt: skip
        source = ParquetSource(data, inputs=["b", "flag"], outputs=["w", "kind"])
        n = 5 if str(data).startswith("file:") else 11
        parts = pickle.loads(pickle.dumps(source.partitions(3)))
        blocks = [block for part in parts for block in part.blocks(4)]
        np.testing.assert_array_equal(np.concatenate([b.X["b"] for b in blocks]), np.arange(n) * 10)
        assert [flag for b in blocks for flag in b.X["flag"]] == [i % 2 == 0 for i in range(n)]
        assert list(blocks[0].y) == ["w", "kind"]
        assert len(source.sample(4, 0)) == 4


def test_a_pickled_part_of_a_table_carries_its_rows_only():
    table = pa.table({"a": np.random.default_rng(0).normal(size=100_000)})
    sizes = [len(pickle.dumps(part)) for part in ParquetSource(table).partitions(8)]
    assert len(sizes) == 8
    assert max(sizes) < 130_000  # 12,500 rows of 8 bytes


def test_columns_stated_by_folders(tmp_path):
    from pyarrow import dataset

    dataset.write_dataset(
        table_of(0, 9), tmp_path, format="parquet", partitioning=["kind"],
        partitioning_flavor="hive",
    )  # fmt: skip
    source = ParquetSource(dataset.dataset(tmp_path, partitioning="hive"), outputs="kind")
    seen = {}
    for part in pickle.loads(pickle.dumps(source.partitions())):
        for block in part.blocks(2):
            seen |= dict(zip(block.X["a"], block.y))
    assert seen == {i: f"k{i % 3}" for i in range(9)}


def test_coded_columns_are_their_values(tmp_path):
    for name, kinds in (("p0", ["b", "a"]), ("p1", ["c", "c"])):
        kind = pa.array(kinds).dictionary_encode()
        parquet.write_table(pa.table({"x": [1.0, 2.0], "kind": kind}), tmp_path / f"{name}.pq")
    for outputs in ("kind", ["kind"]):
        blocks = [
            b for p in ParquetSource(tmp_path, outputs=outputs).partitions() for b in p.blocks(2)
        ]
        values = [np.asarray(block.y).ravel().tolist() for block in blocks]
        assert values == [["b", "a"], ["c", "c"]]


def test_the_index_of_a_pandas_table_is_no_input(tmp_path):
    import pandas

    frame = pandas.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}, index=[30, 10])
    frame.to_parquet(tmp_path / "f.parquet")
    assert ParquetSource(tmp_path / "f.parquet", outputs="y").columns.inputs == ("x",)


def test_missing_numbers_reach_the_consumer_with_their_place(tmp_path):
    table = pa.table({"a": [1, None, 3], "y": [0, 1, 0]})
    parquet.write_table(table, tmp_path / "part.parquet")
    [part] = as_source(tmp_path / "part.parquet", "y").partitions()
    [block] = part.blocks(5)
    row = int(np.flatnonzero(block.X["a"].isna())[0])
    assert block.row_text(row) == "row 1 of part.parquet"


def changed(folder, change):
    path = folder / "part-1.parquet"
    parquet.write_table(change(table_of(5, 9)), path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop_columns("a"), "it has no column 'a', which part-0.parquet has"),
        (
            lambda t: t.set_column(1, "a", t["a"].cast("double")),
            "column 'a' holds double, and float in part-0.parquet",
        ),
        (
            lambda t: t.append_column("extra", t["a"]),
            "it has the column 'extra', which part-0.parquet has not",
        ),
    ],
)
def test_parts_that_differ_are_named_before_reading(tmp_path, change, message):
    folder = write_parts(tmp_path, [5, 4])
    changed(folder, change)
    with pytest.raises(DataFormatError, match=rf"part-1\.parquet: {message}"):
        ParquetSource(folder, outputs="kind")


def test_parts_may_differ_in_order_and_in_columns_that_are_not_read(tmp_path):
    folder = write_parts(tmp_path, [5, 4])
    changed(folder, lambda t: t.select(["w", "b", "a", "kind"]).append_column("extra", t["a"]))
    source = ParquetSource(folder, inputs=["a", "b"], outputs="kind")
    blocks = [block for part in source.partitions() for block in part.blocks(9)]
    assert blocks[1].X.to_numpy()[0].tolist() == [5, 50]


@pytest.mark.parametrize("length", [0, 3, 200, -1])
def test_a_truncated_file_is_named_before_reading(tmp_path, length):
    folder = write_parts(tmp_path, [5, 4])
    data = (folder / "part-1.parquet").read_bytes()
    (folder / "part-1.parquet").write_bytes(data[:length])
    with pytest.raises(DataFormatError, match=r"part-1\.parquet.*cut short"):
        ParquetSource(folder)


def test_a_file_damaged_inside_or_changed_is_named_when_it_is_read(tmp_path):
    folder = write_parts(tmp_path, [2000])
    path = folder / "part-0.parquet"
    [part] = ParquetSource(folder).partitions()
    data = path.read_bytes()
    middle = len(data) // 3
    path.write_bytes(data[:200] + bytes(middle) + data[200 + middle :])
    with pytest.raises(DataFormatError, match=r"part-0\.parquet: its rows cannot be read"):
        list(part.blocks(100))
    write_parts(tmp_path, [1999])
    with pytest.raises(DataFormatError, match=r"part-0\.parquet: .*changed since"):
        list(part.blocks(100))
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"part-0\.parquet is not there"):
        list(part.blocks(100))


def test_names_are_checked(tmp_path):
    folder = write_parts(tmp_path / "parts", [5])
    for options, error, message in [
        ({"inputs": ["zz"]}, DataFormatError, r"no column 'zz'; there are 'kind', 'a', 'b'"),
        ({"inputs": ["kind"]}, DataFormatError, "column 'kind' holds string, and inputs"),
        ({"weight": "kind"}, DataFormatError, "column 'kind' holds string, and inputs"),
        ({"inputs": ["a"], "outputs": "a"}, ValueError, "'a' is named twice"),
        ({"outputs": ["a", "b", "w"]}, DataFormatError, "no column of numbers is left"),
    ]:
        with pytest.raises(error, match=message):
            ParquetSource(folder, **options)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"has no file that ends in \.parquet"):
        ParquetSource(tmp_path / "empty")
    with pytest.raises(FileNotFoundError, match="is not there"):
        ParquetSource(tmp_path / "nothing.parquet")
    with pytest.raises(ValueError, match="empty"):
        ParquetSource([])


@pytest.mark.subprocess
def test_a_large_row_group_is_not_held_whole(tmp_path):
    path = tmp_path / "big.parquet"
    columns = {name: np.random.default_rng(0).normal(size=1_000_000) for name in "abcd"}
    parquet.write_table(pa.table(columns), path, row_group_size=1_000_000)  # 32 MB
    code = """
import sys
import pyarrow
from skstruct.streaming import ParquetSource
[part] = ParquetSource(sys.argv[1]).partitions()
n = sum(len(block) for block in part.blocks(1000))
print(n, pyarrow.default_memory_pool().max_memory())
"""
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    n, peak = map(int, done.stdout.split())
    assert n == 1_000_000
    assert peak < 16e6  # pages have 1 MB, the blocks 32 kB


def test_no_rows_are_one_empty_partition(tmp_path):
    folder = write_parts(tmp_path, [0])
    [part] = ParquetSource(folder).partitions(3)
    assert (part.n_rows, list(part.blocks(4))) == (0, [])
    with pytest.raises(ValueError, match="no rows to take a sample"):
        ParquetSource(folder).sample(3)


def test_of_many_columns_some_are_named():
    table = pa.table({f"c{i}": [1.0] for i in range(13)})
    with pytest.raises(
        DataFormatError, match=r"no column 'zz'; there are 'c0', .*'c9' and 3 more\.$"
    ):
        ParquetSource(table, outputs=["zz"])
    with pytest.raises(DataFormatError, match=r"there are 'c0', 'c1'\.$"):
        ParquetSource(table.select(["c0", "c1"]), outputs=["zz"])
