# SPDX-License-Identifier: BSD-3-Clause
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from skstruct.exceptions import DataFormatError
from skstruct.streaming import ArraySource
from skstruct.streaming.blocks import count_rows, join_rows


def read_all(source, count, rows):
    """All blocks, each looked at: its size, its number, its name."""
    parts = source.partitions(count)
    blocks = []
    for part in parts:
        seen = 0
        for block in part.blocks(rows):
            assert 1 <= len(block) <= rows
            assert block.start == part.start + seen
            seen += len(block)
            blocks.append(block)
        assert seen == part.n_rows
    return parts, blocks


@given(n=st.integers(1, 40), count=st.integers(1, 50), rows=st.integers(1, 45))
def test_every_row_comes_once_and_in_order(n, count, rows):
    X, y, weight = np.arange(2 * n).reshape(n, 2), [{i} for i in range(n)], np.arange(n) / 7
    parts, blocks = read_all(ArraySource(X, y, weight), count, rows)
    assert len(parts) == min(n, count)
    sizes = [part.n_rows for part in parts]
    assert max(sizes) - min(sizes) <= 1
    assert [block.start for block in blocks] == list(np.cumsum([0, *map(len, blocks[:-1])]))
    np.testing.assert_array_equal(np.concatenate([b.X for b in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([b.weight for b in blocks]), weight)
    assert join_rows([b.y for b in blocks]) == y


@given(n=st.integers(1, 40), size=st.integers(1, 45), seed=st.integers(0, 99))
def test_a_sample_has_rows_with_their_outputs(n, size, seed):
    source = ArraySource(np.arange(n)[:, None], [str(i) for i in range(n)], np.arange(n) / 2)
    block = source.sample(size, seed)
    rows = block.X[:, 0]
    assert len(rows) == min(n, size)
    assert (np.diff(rows) > 0).all()
    assert block.y == [str(row) for row in rows]
    np.testing.assert_array_equal(block.weight, rows / 2)
    np.testing.assert_array_equal(source.sample(size, seed).X, block.X)


def kinds_of_arrays():
    import pandas

    X = np.random.default_rng(0).normal(size=(11, 3))
    X[np.abs(X) < 0.5] = 0
    yield "array", X
    yield "fortran", np.asfortranarray(X)
    yield "csr", sparse.csr_array(X)
    yield "csc", sparse.csc_matrix(X)
    yield "coo", sparse.coo_array(X)
    yield "frame", pandas.DataFrame(X, columns=list("abc"), index=list("ponmlkjihgf"))


@pytest.mark.parametrize(("kind", "X"), list(kinds_of_arrays()))
@pytest.mark.parametrize("role", ["X", "y"])
def test_every_kind_of_array_survives_pickling(kind, X, role):
    source = ArraySource(X) if role == "X" else ArraySource(np.zeros((11, 1)), X)
    parts = pickle.loads(pickle.dumps(source.partitions(4)))
    blocks = [getattr(block, role) for part in parts for block in part.blocks(2)]
    assert [count_rows(block) for block in blocks] == [2, 1, 2, 1, 2, 1, 2]
    whole = join_rows(blocks)
    if kind == "frame":
        assert whole.equals(X)
    else:
        assert sparse.issparse(whole) == sparse.issparse(X)
        dense = [A.toarray() if sparse.issparse(A) else A for A in (whole, X)]
        np.testing.assert_array_equal(*dense)


def test_tensors_stay_tensors():
    torch = pytest.importorskip("torch")
    X = torch.arange(10.0).reshape(5, 2)
    parts = pickle.loads(pickle.dumps(ArraySource(X, [0] * 5).partitions(2)))
    assert torch.equal(join_rows([block.X for part in parts for block in part.blocks(2)]), X)
    assert torch.equal(ArraySource(X).sample(5).X, X)


@pytest.mark.parametrize("dtype", ["float32", "int16"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("view", [slice(None), slice(5, 90), slice(90, 5, -2)])
def test_memory_maps_travel_by_name(tmp_path, dtype, order, view):
    X = np.random.default_rng(0).normal(size=(2000, 30)) * 100
    X = np.asarray(X, dtype, order=order)
    np.save(tmp_path / "X.npy", X)
    y = np.memmap(tmp_path / "y.raw", "f8", "w+", offset=24, shape=2000)
    y[:] = np.arange(2000)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    source = ArraySource(mapped[view], y[view])
    sent = pickle.dumps(source.partitions(7))
    assert len(sent) < 4000  # 85 to 2000 rows have 5 kB and more
    blocks = [block for part in pickle.loads(sent) for block in part.blocks(10)]
    assert all(block.X.dtype == dtype for block in blocks)
    np.testing.assert_array_equal(np.concatenate([b.X for b in blocks]), X[view])
    np.testing.assert_array_equal(np.concatenate([b.y for b in blocks]), y[view])
    sample = source.sample(20, 0)
    np.testing.assert_array_equal(sample.X, X[sample.y.astype(int)])


@pytest.mark.subprocess
def test_reading_a_memory_map_takes_the_memory_of_a_block(tmp_path):
    rows = np.memmap(tmp_path / "X.raw", "f8", "w+", shape=(100_000, 100))  # 80 MB
    rows.flush()
    code = """
import resource, sys
import numpy as np
from skstruct.streaming import ArraySource
mapped = np.memmap(sys.argv[1], "f8", "r", shape=(100_000, 100))
[part] = ArraySource(mapped).partitions()
next(part.blocks(1000)).X.sum()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
total = sum(block.X.sum() for block in part.blocks(1000))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    command = [sys.executable, "-c", code, str(tmp_path / "X.raw")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10_000  # kB; a block has 800


def test_plain_views_of_a_memory_map_are_recognized(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((5000, 3)))
    view = np.asarray(np.load(tmp_path / "X.npy", mmap_mode="r"))[10:, :2]
    assert type(view) is np.ndarray
    assert len(pickle.dumps(ArraySource(view).partitions(2))) < 2000


def test_a_map_changed_in_memory_only_is_carried_as_data(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((4, 1)))
    X = np.load(tmp_path / "X.npy", mmap_mode="c")
    X[2] = 7
    [part] = pickle.loads(pickle.dumps(ArraySource(X).partitions()))
    assert next(part.blocks(4)).X.ravel().tolist() == [0, 0, 7, 0]


def test_a_mapped_file_that_is_gone_or_cut_is_named(tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((40, 10)))
    [part] = ArraySource(np.load(tmp_path / "X.npy", mmap_mode="r")).partitions()
    data = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "X.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"X\.npy.*every worker must see"):
        next(part.blocks(5))
    (tmp_path / "X.npy").write_bytes(data[:-8])
    with pytest.raises(DataFormatError, match=r"X\.npy: it is shorter"):
        next(part.blocks(5))


def test_lengths_and_counts_are_checked():
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match="X has 3 rows, and y has 2"):
        ArraySource(X, [1, 2])
    with pytest.raises(ValueError, match="X has 3 rows, and sample_weight has 4"):
        ArraySource(X, sample_weight=np.ones(4))
    with pytest.raises(ValueError, match="one number a row"):
        ArraySource(X, sample_weight=np.ones((3, 1)))
    with pytest.raises(ValueError, match="at least one partition"):
        ArraySource(X).partitions(0)
    with pytest.raises(ValueError, match="at least one row"):
        next(ArraySource(X).partitions()[0].blocks(0))


def test_no_rows_are_one_empty_partition():
    [part] = ArraySource(np.zeros((0, 2))).partitions(3)
    assert part.n_rows == 0
    assert list(part.blocks(5)) == []


def test_rows_are_named():
    *_, last = ArraySource(np.zeros((5001, 1))).partitions()[0].blocks(5000)
    assert (last.where, last.row_text(0)) == ("row 5,000", "row 5,000")
