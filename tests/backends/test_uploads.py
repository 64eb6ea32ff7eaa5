# SPDX-License-Identifier: BSD-3-Clause
"""Arrays that travel through buffers arrive as they were."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from skstruct.backends import NumpyBackend
from skstruct.smoothing.nystroem.arriving import arriving

torch = pytest.importorskip("torch")
from skstruct.backends.torch_backend import TorchBackend  # noqa: E402
from skstruct.backends.uploads import BUFFERS, Uploads  # noqa: E402

DEVICE = torch.device("cpu")


@settings(deadline=None, max_examples=50)
@given(sizes=st.lists(st.integers(0, 9), max_size=8), width=st.integers(1, 4))
def test_blocks_of_any_sizes(sizes, width):
    """All are there at the end: no buffer is written to while it is in use."""
    rng, uploads = np.random.default_rng(len(sizes)), Uploads(DEVICE)
    given_, found = [], []
    for n in sizes:
        block = {"X": rng.random((n, width)), "T": rng.random((n, 2)), "none": None}
        given_.append(block)
        found.append(uploads.send(block).received())
    for block, sent in zip(given_, found):
        assert_array_equal(np.asarray(sent["X"]), block["X"])
        assert_array_equal(np.asarray(sent["T"]), block["T"])
        assert sent["none"] is None
    assert all(len(buffers) <= BUFFERS for buffers in uploads._buffers.values())


def test_what_is_passed_on():
    rows, tensor = sparse.csr_array(np.eye(3)), torch.zeros(2)
    sent = Uploads(DEVICE).send({"rows": rows, "tensor": tensor}).received()
    assert sent["rows"] is rows
    assert sent["tensor"] is tensor


class Travelling(TorchBackend):
    """Sends blocks although they could be used where they are."""

    def uploads(self):
        return Uploads(self.device)


@pytest.mark.parametrize("backend", [NumpyBackend(), TorchBackend("cpu"), Travelling("cpu")])
def test_blocks_come_in_their_order(backend):
    rng = np.random.default_rng(0)
    blocks = [(rng.random((n, 3)), rng.random((n, 2)), rng.random(n)) for n in (4, 4, 1, 0, 4)]
    found = list(arriving(iter(blocks), tuple, backend))
    assert len(found) == len(blocks)
    for given_, arrived in zip(blocks, found):
        for a, b in zip(given_, arrived):
            assert_array_equal(np.asarray(b), a)


def test_an_error_while_reading():
    def read(block):
        raise ValueError(f"block {block}")

    with pytest.raises(ValueError, match="block 0"):
        next(arriving(iter(range(3)), read, Travelling("cpu")))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_fit_to_files_is_the_fit_to_arrays(dtype, tmp_path, monkeypatch):
    """Rows that travel from Parquet files give the sums of rows that are there."""
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from skstruct import config_context
    from skstruct.smoothing.nystroem.ridge import NystroemRidge
    from skstruct.streaming import ParquetSource

    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((300, 2)), rng.standard_normal((300, 1))
    columns = {"a": X[:, 0], "b": X[:, 1], "t": T[:, 0]}
    parquet.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=70)
    found = []
    for way in (TorchBackend.uploads, Travelling.uploads):
        monkeypatch.setattr(TorchBackend, "uploads", way)
        model = NystroemRidge(alpha=0.1, n_landmarks=20, dtype=dtype, n_partitions=2)
        with config_context(device="cpu", memory=10**4):
            model.fit_source(ParquetSource(tmp_path, inputs=["a", "b"], outputs="t"))
            found.append((model.stats_.G, model.stats_.C, model.predict(X)))
    for one, other in zip(*found):
        assert_array_equal(np.asarray(one), np.asarray(other))
