# SPDX-License-Identifier: BSD-3-Clause
import csv
import errno
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from skstruct.streaming import ArraySource, write_batches
from skstruct.streaming.writing import _even_parts, predict_partitions
from streaming.toy_sums import row_sums

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def batches(n, size=10):
    for i in range(n):
        numbers = np.arange(i * size, (i + 1) * size)
        yield {"row": numbers, "risk": numbers / 7, "class": [f"c{j}" for j in numbers]}


def test_parquet_holds_all_rows(tmp_path):
    path = tmp_path / "out.parquet"
    assert write_batches(batches(5), path) == 50
    table = parquet.read_table(path)
    assert table["row"].to_pylist() == list(range(50))
    assert table["class"].to_pylist() == [f"c{j}" for j in range(50)]
    assert os.listdir(tmp_path) == ["out.parquet"]


def test_small_batches_become_few_row_groups_and_large_ones_several(tmp_path):
    write_batches(({"a": np.zeros(1000)} for _ in range(200)), tmp_path / "out.pq")
    assert parquet.ParquetFile(tmp_path / "out.pq").num_row_groups <= 7
    write_batches([{"a": np.zeros(200_000)}], tmp_path / "out.pq")
    assert parquet.ParquetFile(tmp_path / "out.pq").num_row_groups == 4


def test_csv_holds_numbers_that_are_read_back_the_same(tmp_path):
    path = tmp_path / "out.csv"
    values = [0.1, np.pi, np.nan, 1e-300]
    columns = {"f8": np.array(values), "f4": np.float32(values), "list": values,
               "text": ["a,b", 'say "x"', None, ""]}  # fmt: skip
    assert write_batches([columns, pa.table(columns)], path) == 8
    with open(path, newline="") as file:
        header, *rows = csv.reader(file)
    assert header == list(columns)
    assert rows[0] == ["0.1", "0.1", "0.1", "a,b"]
    assert rows[2] == ["", "", "", ""]
    for row, value in zip(rows, values):
        if value == value:
            assert float(row[0]) == float(row[2]) == value
            assert np.float32(row[1]) == np.float32(value)


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_batches_must_be_alike(tmp_path, name):
    path = tmp_path / name
    path.write_text("old")
    for later, message in [
        ({"a": [1], "b": [2]}, r"batch 1 has not the columns of the first one \(b, c\)"),
        ({"a": [1], "c": [1, 2]}, "batch 1 has columns of different lengths"),
        ({"c": [1], "a": [2]}, r"first one \(another order\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            write_batches([{"a": [1], "c": [2]}, later], path)
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == [name]


def test_types_are_those_of_the_first_batch(tmp_path):
    path = tmp_path / "out.parquet"
    write_batches([{"a": [1.5]}, {"a": [2]}], path)
    assert parquet.read_table(path)["a"].to_pylist() == [1.5, 2.0]
    with pytest.raises(ValueError, match="batch 1: column 'a' holds string, and double in the fir"):
        write_batches([{"a": [1.5]}, {"a": ["x"]}], path)
    with pytest.raises(ValueError, match="batch 0: column 'a' holds list; CSV holds"):
        write_batches([{"a": [["x"]]}], tmp_path / "out.csv")


def test_nothing_to_write_and_names_of_files(tmp_path):
    with pytest.raises(ValueError, match="no batch to write"):
        write_batches([], tmp_path / "out.parquet")
    with pytest.raises(ValueError, match=r"end in \.parquet, \.pq or \.csv"):
        write_batches(batches(1), tmp_path / "out.json")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        write_batches(batches(1), tmp_path / "none" / "out.csv")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_an_error_of_the_batches_leaves_the_old_file(tmp_path, name):
    def broken():
        yield from batches(3)
        raise OSError(errno.ENOSPC, "No space left on device")

    (tmp_path / name).write_text("old")
    with pytest.raises(OSError, match="No space left"):
        write_batches(broken(), tmp_path / name)
    assert (tmp_path / name).read_text() == "old"
    assert os.listdir(tmp_path) == [name]


FULL = """
import resource, signal, sys
import numpy as np
from skstruct.streaming import write_batches
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
rng = np.random.default_rng(0)
try:
    write_batches(({"a": rng.normal(size=70_000)} for _ in range(10)), sys.argv[1])
except OSError as error:
    print("refused:", error.errno)
"""


@pytest.mark.subprocess
@pytest.mark.skipif(sys.platform == "win32", reason="no limits of file sizes")
@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_a_full_disk_leaves_the_old_file(tmp_path, name):
    (tmp_path / name).write_text("old")
    command = [sys.executable, "-c", FULL, str(tmp_path / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused:", str(errno.EFBIG)]
    assert done.stderr == ""
    assert (tmp_path / name).read_text() == "old"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.subprocess
def test_memory_does_not_grow_with_the_rows(tmp_path):
    code = """
import resource, sys
import numpy as np
from skstruct.streaming import write_batches
def peak(n):
    write_batches(({"a": np.full(10_000, i / 7)} for i in range(n)), sys.argv[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = peak(50)
print(peak(1000) - first)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "out.parquet")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20_000  # kB, of 80,000 that were written


def test_verbose_shows_a_bar(tmp_path, capsys, shown_at_once):
    write_batches(batches(2), tmp_path / "out.csv", verbose=1, total=20)
    assert "writing" in capsys.readouterr().err
    write_batches(batches(2), tmp_path / "out.csv")
    assert capsys.readouterr().err == ""


def test_partitions_become_part_files(tmp_path):
    X = np.random.default_rng(0).normal(size=(25, 3))
    n = predict_partitions(row_sums, ArraySource(X), tmp_path / "deep" / "out", count=4, rows=3)
    assert n == 25
    names = [f"part-{i:05d}.parquet" for i in range(4)]
    assert sorted(os.listdir(tmp_path / "deep" / "out")) == names
    tables = [parquet.read_table(tmp_path / "deep" / "out" / name) for name in names]
    whole = pa.concat_tables(tables)
    assert whole["row"].to_pylist() == list(range(25))
    np.testing.assert_array_equal(whole["sum"], X.sum(axis=1))


def test_no_rows_are_refused_before_a_folder_is_made(tmp_path):
    with pytest.raises(ValueError, match="There are no rows to predict for"):
        predict_partitions(row_sums, ArraySource(np.zeros((0, 1))), tmp_path / "out")
    assert os.listdir(tmp_path) == []


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(FileExistsError, match=r"is not empty \(it holds 'mine.txt'\)"):
        predict_partitions(row_sums, ArraySource(np.zeros((3, 1))), tmp_path)


def test_an_error_leaves_no_part(tmp_path):
    def broken(block, at):
        if block.start >= at:
            raise ValueError(f"{block.where}: no")
        return row_sums(block)

    source = ArraySource(np.zeros((9, 1)))
    with pytest.raises(ValueError, match="rows 6 to 8: no"):
        predict_partitions(partial(broken, at=5), source, tmp_path, count=3)
    assert os.listdir(tmp_path) == []
    assert predict_partitions(row_sums, source, tmp_path, count=3) == 9


def test_parts_for_workers_are_even():
    X = np.zeros((1000, 2))
    source = ArraySource(X)
    assert len(_even_parts(source, None, 1)) == 1
    assert [part.n_rows for part in _even_parts(source, None, 5)] == [50] * 20
    assert len(_even_parts(source, 3, 5)) == 3

    class Natural(ArraySource):
        def partitions(self, count=None):
            return super().partitions(30 if count is None else count)

    assert len(_even_parts(Natural(X), None, 5)) == 30


def test_somebody_who_is_quicker_at_the_last_moment_is_named(tmp_path, monkeypatch):
    replace = os.replace

    def later(source, target):
        if Path(target) == tmp_path / "out":
            (tmp_path / "out" / "theirs").touch()
        replace(source, target)

    monkeypatch.setattr(os, "replace", later)
    with pytest.raises(FileExistsError, match="it holds 'theirs'"):
        predict_partitions(row_sums, ArraySource(np.zeros((3, 1))), tmp_path / "out")
    assert os.listdir(tmp_path) == ["out"]
