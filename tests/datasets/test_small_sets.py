# SPDX-License-Identifier: BSD-3-Clause
"""Loaders on tiny files, where every number can be checked by eye."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.dataset import fill_missing
from skstruct.datasets.formats.arff.reading import read_arff
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.images import load_digit_shapes
from skstruct.datasets.multilabel import load_multilabel, split_labels
from skstruct.spaces import Hierarchy

HEADER = "@attribute x numeric\n@attribute c hierarchical root/GO0003674,GO0003674/b,b/d,root/q\n"


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    return tmp_path


def write(folder, **files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)


def test_gene_sets_are_trimmed(home):
    write(
        home / "pheno_go",
        pheno_GO__train__arff=HEADER + "@data\n1,b\n2,d@q\n?,GO0003674@q",
        pheno_GO__valid__arff=HEADER + "@data\n6,b\n8,q",
        pheno_GO__test__arff=HEADER + "@data\n?,d\n5,q",
    )
    data = load_hierarchical("pheno_go")
    # d has one positive row; q has three, but lies below another root.
    assert data.labels == ("GO0003674", "b")
    assert data.edges == (("GO0003674", "b"),)
    assert_array_equal(data.Y_train, [[1, 1], [1, 1], [1, 0], [1, 1]])
    assert_array_equal(data.Y_test, [[1, 1]])
    assert_array_equal(data.X_train[:, 0], [1, 2, 4.25, 6])
    assert_array_equal(data.X_test[:, 0], [4.25])


def test_missing_numbers_become_training_means():
    nan = np.nan
    X_train, X_test = fill_missing(np.array([[1, nan], [nan, nan], [3, nan]]), np.full((1, 2), nan))
    assert_array_equal(X_train, [[1, 0], [2, 0], [3, 0]])
    assert_array_equal(X_test, [[2, 0]])


MULAN = "@attribute x numeric\n@attribute b {1,0}\n@attribute a {0,1}\n@data\n"


def test_mulan_labels(home):
    xml = '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="{}"></label>{}</labels>'
    files = {"yeast-train__arff": MULAN + "3,1,0\n4,0,1", "yeast-test__arff": MULAN + "5,1,1"}
    write(home / "yeast", yeast__xml=xml.format("a", '<label name="b"/>'), **files)
    data = load_multilabel("yeast")
    assert data.labels == ("b", "a")
    assert_array_equal(data.X_train, [[3], [4]])
    assert_array_equal(data.Y_train, [[1, 0], [0, 1]])
    assert_array_equal(data.Y_test, [[1, 1]])


def test_mulan_label_errors():
    table = read_arff((MULAN + "3,?,0").splitlines())
    with pytest.raises(ValueError, match="names 'z', which is no attribute"):
        split_labels(table, {"a", "z"})
    with pytest.raises(ValueError, match="'b' should be 0 or 1"):
        split_labels(table, {"b"})
    with pytest.raises(ValueError, match="'x' should be 0 or 1"):
        split_labels(table, {"x"})


def test_digit_shapes():
    data, again = load_digit_shapes(), load_digit_shapes()
    assert_array_equal(data.X_train, again.X_train)
    assert data.labels[:4] == ("digit", "round", "straight", "open")
    assert len(data.labels) == 14
    both = np.vstack([data.Y_train, data.Y_test])
    assert Hierarchy(data.edges, data.labels).restrict(one_path=True).contains(both).all()
    assert (data.X_train.min(), data.X_train.max()) == (0, 1)


def test_class_must_be_hierarchical(home):
    text = "@attribute x numeric\n@data\n1"
    write(home / "enron_hmc", Enron_corr_trainvalid__arff=text, Enron_corr_test__arff=text)
    with pytest.raises(ValueError, match=r"trainvalid.arff declares no hierarchical class"):
        load_hierarchical("enron")
