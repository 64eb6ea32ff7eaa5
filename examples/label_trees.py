# SPDX-License-Identifier: BSD-3-Clause
"""Labels along a tree: learned with the tree, without it, and with all pairs.

Prints how many label sets are right, and draws the true tree beside the learned one.

Usage: python examples/label_trees.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import networkx

from skstruct import MaxMarginTree
from skstruct.datasets import make_label_tree
from skstruct.inspection import TreeDisplay

OUTPUT = Path(__file__).parents[1] / "output"

train = make_label_tree(400, random_state=0)
test = make_label_tree(1000, tree=train.tree, random_state=1)
for method in ("empty", "chow-liu", "crank", "full"):
    model = MaxMarginTree(method=method, alpha=1e-3, n_jobs=2, random_state=0, verbose=1)
    model.fit(train.X, train.Y)
    right = (model.predict(test.X) == test.Y).all(axis=1).mean()
    print(f"{method}: {right:.0%} of the label sets are right")
    if method == "crank":
        learned = model.tree_

true = networkx.Graph()
for (i, j), weight in zip(train.tree.edges.tolist(), train.tree.edge_weights):
    true.add_edge(i, j, weight=float(weight))
figure, axes = plt.subplots(2, figsize=(11, 6), layout="constrained")
for ax, graph, title in zip(axes, (true, learned), ("true", "learned from 400 examples")):
    TreeDisplay(graph, shares=dict(enumerate(train.Y.mean(axis=0)))).plot(ax)
    ax.set_title(title)
OUTPUT.mkdir(exist_ok=True)
figure.savefig(OUTPUT / "label_trees.png", dpi=110)
print(f"drawn: {OUTPUT / 'label_trees.png'}")
