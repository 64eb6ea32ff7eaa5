# SPDX-License-Identifier: BSD-3-Clause
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from skstruct.streaming import ArraySource, IteratorSource, ParquetSource, as_source, is_source


def test_what_is_read_in_blocks(tmp_path):
    import pyarrow

    np.save(tmp_path / "X.npy", np.zeros((3, 2)))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    table = pyarrow.table({"a": [1.0], "b": [2.0]})
    blocks = [(np.zeros((1, 1)), [1])]
    for X, kind in [
        (ArraySource([[1]]), ArraySource),
        (mapped, ArraySource),
        (iter(blocks), IteratorSource),
        ((block for block in blocks), IteratorSource),
        (lambda: iter(blocks), IteratorSource),
        (table, ParquetSource),
    ]:
        assert is_source(X)
        assert type(as_source(X)) is kind


def test_a_data_loader_is_read_in_blocks():
    torch = pytest.importorskip("torch")
    from torch.utils.data import DataLoader, TensorDataset

    rows = TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
    loader = DataLoader(rows, batch_size=2)
    assert is_source(loader)
    [part] = as_source(loader).partitions()
    assert [block.y.tolist() for block in part.blocks(9)] == [[0, 1], [2, 3], [4]]


def test_what_is_held_whole():
    import pandas

    X = np.zeros((2, 2))
    for held in (X, X.tolist(), sparse.coo_array(X), pandas.DataFrame(X), ["text", "text"]):
        assert not is_source(held)
        assert as_source(held, [1, 2]).n_rows == 2


def test_outputs_of_a_source_come_with_its_blocks():
    with pytest.raises(ValueError, match="come with the blocks"):
        as_source(iter([]), y=[1])
    with pytest.raises(ValueError, match="come with the blocks"):
        as_source(ArraySource([[1]]), sample_weight=[1])
    with pytest.raises(ValueError, match="y is the name of its column or a list of names"):
        as_source("rows.parquet", y=np.zeros(3))


@pytest.mark.subprocess
def test_nothing_optional_is_imported_before_it_is_used():
    code = """
import sys
class Forbidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("dask", "distributed", "torch", "pyarrow", "pandas"):
            raise ImportError(name)
sys.meta_path.insert(0, Forbidden())
from skstruct.streaming import ArraySource
from skstruct.streaming.engines import merge_tree
from skstruct.streaming.engines import opened
with opened() as engine:
    total = merge_tree(ArraySource([[1.0], [2.0]]).partitions(2), engine, lambda p: p.n_rows, sum)
assert total == 2
try:
    opened("dask").__enter__()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        'engine="dask" needs distributed: pip install "skstruct[dask]".',
    ]
