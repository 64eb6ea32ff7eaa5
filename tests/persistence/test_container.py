# SPDX-License-Identifier: BSD-3-Clause
"""Containers hold arrays of data only, byte for byte, and are refused where they are not whole."""

import json
import zipfile

import numpy as np
import pytest

from skstruct._files.container import read_container, read_manifest, write_container
from skstruct.exceptions import ModelFileError

ARRAYS = {
    "rows": np.arange(6.0).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "empty": np.zeros((0, 4)),
    "single": np.array(5.0),
    "text": np.array(["ab", "c"]),
    "no-text": np.array([], dtype="<U0"),
    "bytes": np.array([b"x"]),
    "yes": np.array([True, False]),
    "complex": np.array([1j, np.nan]),
    "other_ends": np.arange(3, dtype=">i4"),
    "large": np.arange(300_000, dtype=np.float32),
}


def test_arrays_come_back(tmp_path):
    manifest = {"a": [1, None, "ü\ud800"]}
    write_container(tmp_path / "file", "model", manifest, ARRAYS)
    found, arrays = read_container(tmp_path / "file", "model")
    assert found == manifest
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.f_contiguous == array.flags.f_contiguous
        assert arrays[name].flags.writeable
    found, sizes = read_manifest(tmp_path / "file", "model")
    assert found == manifest
    assert sizes["arrays/large.npy"] > 1_200_000


def test_a_container_is_an_ordinary_zip(tmp_path):
    """Whoever has no skstruct left can still get at the numbers."""
    write_container(tmp_path / "file", "model", {"a": 1}, ARRAYS)
    with zipfile.ZipFile(tmp_path / "file") as packed:
        assert packed.testzip() is None
        assert json.loads(packed.read("manifest.json"))["manifest"] == {"a": 1}
        with packed.open("arrays/rows.npy") as file:
            assert np.load(file, allow_pickle=False).tolist() == ARRAYS["rows"].tolist()


@pytest.mark.parametrize("array", [np.array([{}]), np.zeros(2, dtype="f8,i4"), np.array([None])])
def test_what_is_no_data_is_not_written(tmp_path, array):
    with pytest.raises(ModelFileError, match="cannot be saved"):
        write_container(tmp_path / "file", "model", {}, {"a": array})
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="no name"):
        write_container(tmp_path / "file", "model", {}, {"../a": np.zeros(1)})


def test_long_manifests_need_a_larger_cap(tmp_path):
    """JSON takes many times its length once it is read."""
    write_container(tmp_path / "file", "model", {"a": "x" * 3 * 2**20}, {})
    read_container(tmp_path / "file", "model")
    with pytest.raises(ModelFileError, match="manifest has more than"):
        read_container(tmp_path / "file", "model", max_bytes=2**24)
