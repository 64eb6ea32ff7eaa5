# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/tree_emotions.png and tree_yeast.png: learned trees of labels.

Needs both data sets in SKSTRUCT_DATA. Features are standardised and divided by one number so that
rows are of mean squared length one; the penalties are those that papers/max_margin_trees.py
chose for CRANK by cross-validation on the training halves.

Usage: python docs/scripts/label_trees.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import numpy as np
import pandas as pd
from sklearn.preprocessing import StandardScaler

from skstruct import MaxMarginTree
from skstruct.datasets import load
from skstruct.inspection import TreeDisplay

IMAGES = Path(__file__).parents[1] / "images"

for name, lam in (("emotions", 1e-3), ("yeast", 3e-4)):
    data = load(name)
    X = StandardScaler().fit_transform(data.X_train)
    labels = [label.replace("Class", "class ") for label in data.labels]
    Y = pd.DataFrame(data.Y_train, columns=labels)
    model = MaxMarginTree(alpha=lam, n_jobs=2, random_state=0)
    model.fit(X / np.sqrt((X**2).sum() / len(X)), Y)
    display = TreeDisplay.from_estimator(model, shares=Y.mean())
    display.figure_.savefig(IMAGES / f"tree_{name}.png", dpi=110)
    print(f"{name}: {model.tree_.number_of_edges()} edges, objective {model.objective_:.4f}")
