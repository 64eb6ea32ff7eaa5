# SPDX-License-Identifier: BSD-3-Clause
"""The reader of digit images: a small file by eye, bad files by their message, real by size."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.images import load_usps
from skstruct.exceptions import MissingDataError

GREY = " ".join(["-1", "0.5"] * 128)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    (tmp_path / "usps").mkdir()
    return tmp_path / "usps"


def test_small_files(folder):
    (folder / "zip.train").write_text(f"6 {GREY}\n0.0000 {GREY} \n")
    (folder / "zip.test").write_text(f"9 {GREY}\n")
    data = load_usps()
    assert_array_equal(data.train_digits, [6, 0])
    assert_array_equal(data.test_digits, [9])
    assert_array_equal(data.train, np.tile([-1.0, 0.5], (2, 128)))
    assert (data.test.shape, data.test_digits.dtype) == ((1, 256), np.int64)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 2 3", "zip.train, line 2: expected a digit and 256 grey values, got 3 numbers"),
        ("", "zip.train, line 2: expected a digit and 256 grey values, got 0 numbers"),
        (f"11 {GREY}", "zip.train, line 2: 11 is not a digit"),
        (f"2.5 {GREY}", "zip.train, line 2: 2.5 is not a digit"),
        (f"2 {GREY[:-3]}7", "zip.train, line 2: grey values are within -1 and 1, got 7"),
        (f"2 {GREY[:-3]}nan", "zip.train, line 2: grey values are within -1 and 1, got nan"),
        (f"2 {GREY[:-3]}x", "zip.train, line 2: could not convert string to float: 'x'"),
    ],
)
def test_bad_line(folder, line, message):
    (folder / "zip.train").write_text(f"6 {GREY}\n{line}\n3 {GREY}\n")
    (folder / "zip.test").write_text(f"9 {GREY}\n")
    with pytest.raises(ValueError, match=message):
        load_usps()


def test_missing_file(folder):
    (folder / "zip.train").write_text(f"6 {GREY}\n")
    with pytest.raises(MissingDataError, match=r"usps/zip\.test.*ElemStatLearn"):
        load_usps()


@pytest.mark.slow
def test_real_files(real_data):
    data = real_data(load_usps)
    assert (data.train.shape, data.test.shape) == ((7291, 256), (2007, 256))
    assert_array_equal(
        np.bincount(data.train_digits), [1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644]
    )
    assert_array_equal(
        np.bincount(data.test_digits), [359, 264, 198, 166, 200, 160, 170, 147, 166, 177]
    )
    assert (data.train.min(), data.train.max()) == (-1, 1)
