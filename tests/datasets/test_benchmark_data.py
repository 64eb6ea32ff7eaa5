# SPDX-License-Identifier: BSD-3-Clause
"""The real data have the sizes that papers print; skipped where the files are not."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.multilabel import load_multilabel
from skstruct.spaces import Hierarchy

# Features, labels, training rows, test rows, labels per row over both parts: appendix C of
# Goh and Jaillet, but for 10000 training rows of the images (2000 there), what the copy of
# REUTERS lost of its 3.23 labels per row, and WIPO, whose features and labels are others.
HIERARCHICAL = {
    "enron": (1001, 56, 988, 660, 5.30),
    "imclef07a": (80, 96, 10000, 1006, 3.00),
    "imclef07d": (80, 46, 10000, 1006, 3.00),
    "pheno_fun": (276, 300, 1009, 581, 8.86),
    "pheno_go": (276, 296, 1005, 581, 5.44),
    "reuters": (47236, 103, 3000, 3000, 3.20),
    "spo_fun": (84, 383, 2437, 1266, 8.71),
    "spo_go": (84, 508, 2434, 1263, 5.58),
    "wipo": (100, 85, 1352, 358, 4.00),
}
# Depth of the hierarchy and mean depth of its labels; the trees of the same table.
DEPTHS = {
    "enron": (2, 1.18),
    "imclef07a": (2, 1.57),
    "imclef07d": (2, 1.48),
    "pheno_fun": (5, 2.16),
    "reuters": (3, 1.40),
    "spo_fun": (5, 2.25),
}
MULTILABEL = {
    "emotions": (72, 6, 391, 202, 1.81, 1.98),
    "medical": (1449, 45, 333, 645, 1.26, 1.24),
    "scene": (294, 6, 1211, 1196, 1.06, 1.09),
    "yeast": (103, 14, 1500, 917, 4.23, 4.25),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HIERARCHICAL)
def test_hierarchical(real_data, name):
    data = real_data(load_hierarchical, name)
    n_features, n_labels, n_train, n_test, cardinality = HIERARCHICAL[name]
    assert data.name == name
    assert data.X_train.shape == (n_train, n_features)
    assert data.X_test.shape == (n_test, n_features)
    assert data.Y_train.shape == (n_train, n_labels)
    assert data.Y_test.shape == (n_test, n_labels)
    assert data.Y_train.dtype == data.Y_test.dtype == np.int8
    both = np.vstack([data.Y_train, data.Y_test])
    assert both.sum(axis=1).mean() == pytest.approx(cardinality, abs=0.005)
    for X in (data.X_train, data.X_test):
        assert X.dtype == np.float64
        assert np.isfinite(X.data if name == "reuters" else X).all()

    space = Hierarchy(data.edges, data.labels)
    assert space.labels_ == data.labels
    assert space.contains(both).all()
    assert both.any(axis=1).all()
    assert space.dag_.is_forest != name.endswith("_go")
    if name in DEPTHS:
        depth = space.dag_.depth
        assert (depth.max(), round(depth.mean(), 2)) == DEPTHS[name]
    papers_own = ("enron", "pheno_fun", "pheno_go", "spo_fun", "spo_go")
    assert (data.note == "") == (name in papers_own)


@pytest.mark.slow
def test_subset(real_data):
    data = real_data(load_hierarchical, "pheno_fun")
    first = load_hierarchical("pheno_fun", subset=10)
    assert_array_equal(first.X_train, data.X_train[:10])
    assert_array_equal(first.Y_train, data.Y_train[:10])
    assert first.X_test.shape == data.X_test.shape
    chosen = load_hierarchical("pheno_fun", subset=np.array([7, 3]))
    assert_array_equal(chosen.Y_train, data.Y_train[[7, 3]])


@pytest.mark.slow
@pytest.mark.parametrize("name", MULTILABEL)
def test_multilabel(real_data, name):
    data = real_data(load_multilabel, name)
    n_features, n_labels, n_train, n_test, *cardinalities = MULTILABEL[name]
    assert data.X_train.shape == (n_train, n_features)
    assert data.X_test.shape == (n_test, n_features)
    assert data.Y_train.shape == (n_train, n_labels)
    assert data.Y_test.shape == (n_test, n_labels)
    assert len(data.labels) == n_labels
    means = [Y.sum(axis=1).mean() for Y in (data.Y_train, data.Y_test)]
    assert means == pytest.approx(cardinalities, abs=0.005)


@pytest.mark.parametrize("load", [load_hierarchical, load_multilabel])
def test_unknown_name(load):
    with pytest.raises(ValueError, match=r"knows .*; got 'cora'"):
        load("cora")
