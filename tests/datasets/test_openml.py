# SPDX-License-Identifier: BSD-3-Clause
"""Fetching: files here first, then OpenML (a stand-in for it), then an error that helps."""

from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from numpy.testing import assert_array_equal
from sklearn.utils import Bunch

from skstruct.datasets.multilabel import fetch_multilabel, load_multilabel
from skstruct.exceptions import DataFormatError, MissingDataError


def openml(monkeypatch, tmp_path, answer):
    """No files on this machine, and ``answer`` instead of fetch_openml."""
    asked = []

    def fetch_openml(**options):
        asked.append(options)
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    return asked


def emotions(n_rows=593, n_labels=6, values=("FALSE", "TRUE")):
    """As fetch_openml gives it with as_frame=False: labels are texts."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (n_rows, n_labels))
    return Bunch(
        data=rng.random((n_rows, 72)),
        target=np.array(values, dtype=object)[codes],
        target_names=[f"label{k}" for k in range(n_labels)],
        feature_names=[f"x{j}" for j in range(72)],
    ), codes


def test_from_openml(monkeypatch, tmp_path):
    answer, codes = emotions()
    asked = openml(monkeypatch, tmp_path, answer)
    found = fetch_multilabel("emotions", n_retries=1)
    assert asked == [{"data_id": 40589, "as_frame": False, "parser": "liac-arff", "n_retries": 1}]
    assert_array_equal(found.data, answer.data)
    assert_array_equal(found.target, codes)
    assert found.target.dtype == np.int8
    assert found.target_names == answer.target_names
    assert found.is_test is None
    assert "40589" in found.source
    X, Y = fetch_multilabel("emotions", return_X_y=True)
    assert X.shape == (593, 72)
    assert_array_equal(Y, codes)


def test_another_shape_is_refused(monkeypatch, tmp_path):
    openml(monkeypatch, tmp_path, emotions(n_rows=592)[0])
    with pytest.raises(DataFormatError, match=r"40589: emotions has .* \(592, 72\) and \(592, 6\)"):
        fetch_multilabel("emotions")


def test_other_labels_are_refused(monkeypatch, tmp_path):
    openml(monkeypatch, tmp_path, emotions(values=("no", "TRUE"))[0])
    with pytest.raises(DataFormatError, match="a label is TRUE or FALSE, got 'no'"):
        fetch_multilabel("emotions")


@pytest.mark.parametrize("error", [URLError("no route"), ValueError("deactivated")])
def test_neither_here_nor_there(monkeypatch, tmp_path, error):
    openml(monkeypatch, tmp_path, error)
    message = r"No file 'yeast/yeast\.xml'.*SKSTRUCT_DATA.*mulan.*40597.*(no route|deactivated)"
    with pytest.raises(MissingDataError, match=message):
        fetch_multilabel("yeast")


def test_unknown_name():
    with pytest.raises(ValueError, match="knows emotions, scene, yeast; got 'iris'"):
        fetch_multilabel("iris")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
def test_files_here_come_first(real_data, monkeypatch, name):
    known = real_data(load_multilabel, name)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", None)
    found = fetch_multilabel(name)
    assert_array_equal(found.data[~found.is_test], known.X_train)
    assert_array_equal(found.target[found.is_test], known.Y_test)
    # The shapes that are asked of OpenML are those of the published files.
    from skstruct.datasets.multilabel import _AT_OPENML

    expected = _AT_OPENML[name]
    assert found.data.shape == (expected.n_rows, expected.n_features)
    assert found.target.shape == (expected.n_rows, expected.n_labels)
