# SPDX-License-Identifier: BSD-3-Clause
"""
Probabilities of outputs
========================

An exponential family gives every label set of a hierarchy its probability, exactly. Rankings of 30
items are too many to add up; there Markov chains draw.
"""

import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.datasets import make_hierarchical
from skstruct.inspection import MarginalCalibrationDisplay
from skstruct.sampling import Metropolis
from skstruct.spaces import Hierarchy, Rankings

plt.rcParams["font.size"] = 14

# %%
# A hierarchy: exact
# ------------------

X, Y, edges = make_hierarchical(3000, noise=1.0, random_state=0)
space = Hierarchy(edges, labels=range(15))
train, test = slice(0, 1000), slice(1000, None)
model = ExponentialFamily(space, alpha=1e-3, fit_intercept=True).fit(X[train], Y[train])
print(f"{space.size():,} sets of labels, learned in {model.n_iter_} steps")
print(f"mean log-probability of new sets: {model.log_proba(X[test], Y[test]).mean():.3f}")
for loss in ("zero_one", "hamming", "hierarchical", "f1"):
    rival = ConditionalRiskMinimizer(space, loss, kernel="linear").fit(X[train], Y[train])
    print(
        f"{loss:13s} loss {-model.score(X[test], Y[test], loss=loss):.3f}; smoothing with a "
        f"linear kernel {-rival.score(X[test], Y[test]):.3f}"
    )

# %%
# Do probabilities mean what they say?
# ------------------------------------
# Of the labels that are given 70 %, 70 % should be there.

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
MarginalCalibrationDisplay.from_estimator(model, X[test], Y[test], name="labels", ax=ax)
plt.show()

# %%
# Rankings: by chains
# -------------------

items = Rankings(range(30), "pairs")
scores = np.random.default_rng(0).normal(scale=0.5, size=435)
draws = Metropolis(items, scores, n_chains=4, rng=0).sample(2000, n_warmup=200)
print(f"{draws.n_chains} chains of {draws.n_draws:,} draws among 30! rankings")
print(draws.diagnostics())
