# SPDX-License-Identifier: BSD-3-Clause
"""Electricity knapsacks: a small file by its numbers, bad files by their message, real by size."""

import lzma
from io import BytesIO

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.knapsacks import load_energy_knapsack
from skstruct.exceptions import DataFormatError, MissingDataError


@pytest.fixture
def file(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    (tmp_path / "energy_knapsack").mkdir()
    return tmp_path / "energy_knapsack" / "Data.npz"


def small(**changes):
    """Two days for training and one for testing."""
    X = np.arange(144.0 * 3).reshape(144, 3)
    parts = {"X_1gtrain": X[:96], "X_1gtest": X[96:], "y_train": X[:96, 0], "y_test": X[96:, 0]}
    return {**parts, "weights": np.arange(48)} | changes


def test_days_are_joined_and_their_number_is_left_out(file):
    np.savez(file, **small())
    data = load_energy_knapsack()
    assert data.X.shape == (3, 48, 2)
    assert_array_equal(data.X[2, 0], [96 * 3 + 1, 96 * 3 + 2])
    assert_array_equal(data.values[:, 1], [3, 49 * 3, 97 * 3])
    assert_array_equal(data.weights, np.arange(48))


def test_a_packed_file_is_read(file):
    buffer = BytesIO()
    np.savez(buffer, **small())
    file.with_name("Data.npz.xz").write_bytes(lzma.compress(buffer.getvalue()))
    assert load_energy_knapsack().X.shape == (3, 48, 2)


def test_bad_files(file):
    np.savez(file, **small(y_test=np.zeros(47)))
    with pytest.raises(DataFormatError, match="144 rows of features, 143 values"):
        load_energy_knapsack()
    np.savez(file, **small(weights=np.zeros(3)))
    with pytest.raises(DataFormatError, match=r"weights of shape \(3,\)"):
        load_energy_knapsack()
    np.savez(file, weights=np.zeros(48))
    with pytest.raises(DataFormatError, match="expected arrays X_1gtrain"):
        load_energy_knapsack()
    file.write_bytes(b"no archive")
    with pytest.raises(DataFormatError, match="expected arrays"):
        load_energy_knapsack()


def test_missing_file(file):
    with pytest.raises(MissingDataError, match=r"energy_knapsack/Data\.npz.*predopt-benchmarks"):
        load_energy_knapsack()


def test_real_file(real_data):
    data = real_data(load_energy_knapsack)
    assert data.X.shape == (789, 48, 8)
    assert data.values.shape == (789, 48)
    assert_array_equal(np.unique(data.weights, return_counts=True), [[3, 5, 7], [16, 16, 16]])
    assert np.isfinite(data.X).all()
