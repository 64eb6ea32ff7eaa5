# SPDX-License-Identifier: BSD-3-Clause
"""
Digits in order of likeness
===========================

Which digits does an image look like, in order? True rankings are those of naive Bayes with all 64
pixels of scikit-learn's digits; the models see every other pixel.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import rank_classes
from skstruct.inspection import RankingDisplay
from skstruct.learners import PairwiseComparison
from skstruct.losses import Footrule, resolve_loss
from skstruct.rankings import aggregate, kendall_tau
from skstruct.spaces import Rankings

X, y = load_digits(return_X_y=True)
Y, digits = rank_classes(X, y)
X = X[:, ::2] / 16.0
train, test = slice(0, 600), slice(600, 1200)
model = ConditionalRiskMinimizer(Rankings(digits), "kendall").fit(X[train], Y[train])

# %%
# One model, several losses
# -------------------------
# Rows: the loss that was minimized. Columns: the loss on 600 other images.

losses = {
    "Kendall": "kendall",
    "Spearman": "spearman",
    "footrule": "footrule",
    "footrule, top 3": Footrule(top=3),
}
print(f"{'':16s}" + "".join(f"{name:>16s}" for name in losses))
for name, loss in losses.items():
    predicted = model.predict(X[test], loss=loss)
    row = [resolve_loss(other)(predicted, Y[test]).mean() for other in losses.values()]
    print(f"{name:16s}" + "".join(f"{value:16.3f}" for value in row))

peer = PairwiseComparison().fit(X[train], Y[train])
ours = kendall_tau(model.predict(X[test]), Y[test]).mean()
theirs = kendall_tau(peer.predict(X[test]), Y[test]).mean()
print(f"\nKendall's tau: {ours:.3f}; pairwise comparison by logistic regression: {theirs:.3f}")

# %%
# A consensus, and an order that is partly known
# ----------------------------------------------

consensus = aggregate(Y[train][y[train] == 3])
order = np.argsort(consensus.ranking).tolist()
print(f"Consensus of the images of a 3, best first: {order}, gap {consensus.gap:g}")

row = 600 + int(np.flatnonzero(y[test] == 3)[0])
known = model.predict(X[[row]], restrict={"before": [(8, 3)], "top": 3})
first = np.argsort(known[0], kind="stable")[:3].tolist()
print(f"Top three of one image if 8 is known to come before 3: {first}")

# %%
# The ranking of that image
# -------------------------

plt.rcParams["font.size"] = 14
RankingDisplay.from_estimator(model, X[row], y=Y[row])
plt.show()
