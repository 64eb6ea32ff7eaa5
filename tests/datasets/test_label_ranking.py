# SPDX-License-Identifier: BSD-3-Clause
"""The reader of rankings: small files by eye, bad files by their message, real ones by size."""

import lzma
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.dataset import LabelRankingData
from skstruct.datasets.rankings import load_label_ranking
from skstruct.exceptions import DataFormatError, MissingDataError

# Rows, features and labels, as papers print them.
SIZES = {
    "authorship": (841, 70, 4),
    "bodyfat": (252, 7, 7),
    "calhousing": (20640, 4, 4),
    "cold": (2465, 24, 4),
    "cpu": (8192, 6, 5),
    "diau": (2465, 24, 7),
    "dtt": (2465, 24, 4),
    "elevators": (16599, 9, 9),
    "fried": (40768, 9, 5),
    "glass": (214, 9, 6),
    "heat": (2465, 24, 6),
    "housing": (506, 6, 6),
    "iris": (150, 4, 3),
    "pendigits": (10992, 16, 10),
    "segment": (2310, 18, 7),
    "spo": (2465, 24, 11),
    "stock": (950, 5, 5),
    "vehicle": (846, 18, 4),
    "vowel": (528, 10, 11),
    "wine": (178, 13, 3),
    "wisconsin": (194, 16, 16),
}
GOOD = "2,2,3\n0.5,-1e2,3,1,2\n 7 ,0,1,2,3\n"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    (tmp_path / "label_ranking").mkdir()
    return tmp_path / "label_ranking"


def check_good(data):
    assert isinstance(data, LabelRankingData)
    assert data.name == "iris"
    assert data.labels == ("L1", "L2", "L3")
    assert_array_equal(data.X, [[0.5, -100], [7, 0]])
    assert_array_equal(data.Y, [[3, 1, 2], [1, 2, 3]])
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int64)


@pytest.mark.parametrize("text", [GOOD, GOOD.rstrip("\n"), GOOD.replace("\n", "\r\n")])
def test_plain_file(folder, text):
    (folder / "iris.csv").write_bytes(text.encode())
    check_good(load_label_ranking("iris"))


def test_compressed_file(folder):
    (folder / "iris.csv.xz").write_bytes(lzma.compress(GOOD.encode()))
    data = load_label_ranking("iris")
    check_good(data)
    with pytest.raises(FrozenInstanceError):
        data.name = "other"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n", "line 1: expected the numbers of rows, features and labels, got 1 fields"),
        ("2,2\n", "line 1: expected the numbers of rows, features and labels, got 2 fields"),
        ("2,2.0,3\n", "line 1, column 2: expected the numbers .*, got '2.0'"),
        ("2,2,0\n", "line 1, column 3: expected the numbers .*, got '0'"),
        (GOOD.replace("2,2,3", "3,2,3"), "line 1, column 1: the file has 2 rows, not 3"),
        ("2,2,3\n", "line 1, column 1: the file has 0 rows, not 2"),
        (GOOD.replace("2,2,3", "2,3,3"), "line 2: expected 3 features and 3 ranks, got 5 fields"),
        (GOOD + "\n", "line 4: expected 2 features and 3 ranks, got 1 fields"),
        (GOOD.replace("7", "x"), "line 3, column 1: 'x' is not a finite number"),
        (GOOD.replace("7", ""), "line 3, column 1: '' is not a finite number"),
        (GOOD.replace("7", "1_0"), "line 3, column 1: '1_0' is not a finite number"),
        (GOOD.replace("-1e2", "nan"), "line 2, column 2: 'nan' is not a finite number"),
        (GOOD.replace("-1e2", "1e999"), "line 2, column 2: '1e999' is not a finite number"),
        (GOOD.replace("3,1,2", "3,a,2"), "line 2, column 4: 'a' is not a finite number"),
        (GOOD.replace("3,1,2", "3,1,3"), "line 2, column 5: the rank 3 comes twice"),
        (GOOD.replace("3,1,2", "3,0,2"), "line 2, column 4: expected a rank from 1 to 3, got 0"),
        (GOOD.replace("3,1,2", "4,1,2"), "line 2, column 3: expected a rank from 1 to 3, got 4"),
        (GOOD.replace("1,2,3\n", "1,2.5,3\n"), "line 3, column 4: expected a rank .*, got 2.5"),
    ],
)
def test_bad_files(folder, text, message):
    (folder / "iris.csv").write_text(text)
    with pytest.raises(DataFormatError, match=rf"iris\.csv, {message}"):
        load_label_ranking("iris")


def test_empty_file(folder):
    (folder / "iris.csv").write_text("")
    with pytest.raises(DataFormatError, match=r"iris\.csv: the file is empty"):
        load_label_ranking("iris")


def test_missing_file(folder):
    with pytest.raises(MissingDataError, match=r"No file 'label_ranking/wine.csv'.*scikit-lr"):
        load_label_ranking("wine")


def test_unknown_name():
    with pytest.raises(ValueError, match=r"knows authorship, .*, wisconsin; got 'sushi'"):
        load_label_ranking("sushi")


@pytest.mark.slow
@pytest.mark.parametrize("name", SIZES)
def test_real_data(real_data, name):
    data = real_data(load_label_ranking, name)
    n_rows, n_features, n_labels = SIZES[name]
    assert data.X.shape == (n_rows, n_features)
    assert data.Y.shape == (n_rows, n_labels)
    assert len(data.labels) == n_labels
    assert np.ptp(data.X, axis=0).min() > 0
