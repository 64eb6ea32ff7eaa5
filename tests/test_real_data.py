# SPDX-License-Identifier: BSD-3-Clause
"""End to end on the data of the papers, where they are; small enough for every run."""

import numpy as np
from sklearn.preprocessing import StandardScaler, normalize

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.multilabel import load_multilabel
from skstruct.datasets.rankings import load_label_ranking
from skstruct.learners import PairwiseComparison
from skstruct.losses import F1, HierarchicalLoss, ZeroOne
from skstruct.rankings import kendall_tau
from skstruct.spaces import Hierarchy, Rankings


def test_enron_under_both_losses(real_data):
    data = real_data(load_hierarchical, "enron")
    space = Hierarchy(data.edges, data.labels)
    rarity = np.log(len(data.X_train) / np.maximum(data.X_train.sum(axis=0), 1))
    X, X_test = normalize(data.X_train * rarity), normalize(data.X_test * rarity)
    model = ConditionalRiskMinimizer(space, "hierarchical", kernel="linear").fit(X, data.Y_train)
    assert -model.score(X_test, data.Y_test) < 0.194  # the paper's figure
    predicted = model.predict(X_test, loss="hamming")
    assert (predicted != data.Y_test).sum(axis=1).mean() < 3.2
    assert space.contains(predicted).all()


def test_gene_ontology_decodes_the_exact_loss(real_data):
    data = real_data(load_hierarchical, "pheno_go")
    space = Hierarchy(data.edges, data.labels)
    assert not space.dag_.is_forest
    model = ConditionalRiskMinimizer(space, "hierarchical", kernel="linear", alpha=100.0)
    decoded = model.fit(data.X_train, data.Y_train).decode(data.X_test)
    assert space.contains(decoded.outputs).all()
    gap = decoded.values - decoded.bounds
    assert (gap >= -1e-9).all()
    assert gap.max() < 1e-6
    average = model.predict(data.X_test, loss=HierarchicalLoss(dag="average"))
    assert space.contains(average).all()


def test_yeast_one_model_three_losses(real_data):
    data = real_data(load_multilabel, "yeast")
    model = ConditionalRiskMinimizer(loss="hamming", smoother="kernel_ridge").fit(
        data.X_train, data.Y_train
    )
    for_f1 = model.predict(data.X_test, loss="f1")
    for_all = model.predict(data.X_test, loss="zero_one")
    assert (model.predict(data.X_test) != data.Y_test).mean() < 0.195
    assert 1 - F1()(for_f1, data.Y_test).mean() > 0.66
    assert 1 - ZeroOne()(for_all, data.Y_test).mean() > 0.26


def test_sorted_training_rows_fool_leave_one_out(real_data):
    data = real_data(load_hierarchical, "imclef07a", 2000)
    space = Hierarchy(data.edges, data.labels)
    paths = np.unique(data.Y_train, axis=0)
    assert len(paths) == 22
    fitted = {
        name: ConditionalRiskMinimizer(space, "hamming", cv=cv, smoother="kernel_ridge").fit(
            data.X_train, data.Y_train
        )
        for name, cv in (("one", None), ("output", "output"))
    }
    left = {name: model.search_.best["risk"] for name, model in fitted.items()}
    test = {name: -model.score(data.X_test, data.Y_test) for name, model in fitted.items()}
    assert left["one"] < 0.5 < 2.3 < left["output"]
    assert test["output"] < test["one"]
    assert abs(left["output"] - test["output"]) < 0.5 < abs(left["one"] - test["one"])


def test_vowels_are_ranked_better_than_by_pairs(real_data):
    """Eleven labels, one split: well above published trees (0.79) and pairwise comparison."""
    data = real_data(load_label_ranking, "vowel")
    rows = np.random.default_rng(0).permutation(len(data.X))
    train, test = rows[:400], rows[400:]
    scaler = StandardScaler().fit(data.X[train])
    X, X_test = scaler.transform(data.X[train]), scaler.transform(data.X[test])
    model = ConditionalRiskMinimizer(Rankings(data.labels), kernel=["linear", "laplacian"])
    decoded = model.fit(X, data.Y[train]).decode(X_test)
    assert (decoded.values == decoded.bounds).all()
    assert model.kernel_ == "laplacian"
    ours = kendall_tau(decoded.outputs, data.Y[test]).mean()
    pairs = PairwiseComparison().fit(X, data.Y[train]).score(X_test, data.Y[test])
    assert ours > 0.88
    assert pairs < 0.75
