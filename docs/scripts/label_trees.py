# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/tree_emotions.png and tree_yeast.png: learned trees of labels.

Needs both data sets in SKSTRUCT_DATA. Penalties are those that papers/max_margin_trees.py
chose by cross-validation on the training halves.

Usage: python docs/scripts/label_trees.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

from sklearn.preprocessing import StandardScaler

from skstruct import MaxMarginTree
from skstruct.datasets import load_multilabel
from skstruct.inspection import TreeDisplay

IMAGES = Path(__file__).parents[1] / "images"

for name, lam in (("emotions", 0.1), ("yeast", 0.001)):
    data = load_multilabel(name)
    X = StandardScaler().fit_transform(data.X_train) if name == "emotions" else data.X_train
    labels = [label.replace("Class", "class ") for label in data.labels]
    model = MaxMarginTree(lam=lam, n_jobs=2, random_state=0).fit(X, data.Y_train)
    print(name, model.tree_.number_of_edges(), f"{model.objective_:.4f}")
    names = dict(zip(model.space_.labels_, labels))
    shares = dict(zip(labels, data.Y_train.mean(axis=0)))
    import networkx

    tree = networkx.relabel_nodes(model.tree_, names)
    display = TreeDisplay(tree, shares=shares).plot()
    display.figure_.savefig(IMAGES / f"tree_{name}.png", dpi=110)
