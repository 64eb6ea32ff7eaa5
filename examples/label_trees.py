# SPDX-License-Identifier: BSD-3-Clause
"""
Labels along a tree
===================

Ten labels depend on each other along a tree that is not known. It is learned together with the
weights, beside no pairs, all pairs, and the tree of mutual information.
"""

import matplotlib.pyplot as plt
import networkx

from skstruct import MaxMarginTree
from skstruct.datasets import make_label_tree
from skstruct.inspection import TreeDisplay

train = make_label_tree(400, random_state=0)
test = make_label_tree(1000, tree=train.tree, random_state=1)

# %%
# How many whole label sets are right
# -----------------------------------

learned = {}
for method in ("empty", "chow-liu", "crank", "full"):
    model = MaxMarginTree(method=method, alpha=1e-3, n_jobs=2, random_state=0)
    model.fit(train.X, train.Y)
    right = (model.predict(test.X) == test.Y).all(axis=1).mean()
    print(f"{method}: {right:.0%} of the label sets are right")
    if method != "full":
        learned[method] = model.tree_

# %%
# The tree that was learned
# -------------------------
# Edges of the true tree are blue.

tree = learned["crank"]
true = networkx.Graph(train.tree.edges.tolist())
found = sum(true.has_edge(*edge) for edge in tree.edges)
print(f"{found} of {true.number_of_edges()} edges are those of the true tree")
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
where = networkx.kamada_kawai_layout(networkx.Graph(tree.edges))
colours = ["tab:blue" if true.has_edge(*edge) else "tab:red" for edge in tree.edges]
networkx.draw_networkx(
    networkx.Graph(tree.edges), where, ax=ax, edgelist=list(tree.edges), edge_color=colours,
    width=3, node_size=900, node_color="#d6e6f4", edgecolors="tab:blue", font_size=18,
)  # fmt: skip
ax.axis("off")
plt.show()

# %%
# The same with how often each label is there, and which labels attract each other.

TreeDisplay(tree, shares=dict(enumerate(train.Y.mean(axis=0)))).plot()
plt.show()
