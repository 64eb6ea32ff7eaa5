# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of outputs: a hierarchy of labels, exact, and rankings, by chains.

Trains exponential families, checks that their probabilities mean what they say, and looks at the
Markov chains of a distribution that no sum reaches.

Usage: python examples/probabilities.py
"""

import time
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.datasets import make_hierarchical
from skstruct.inspection import MarginalCalibrationDisplay, TraceDisplay
from skstruct.sampling import Metropolis
from skstruct.spaces import Hierarchy, Rankings

OUTPUT = Path(__file__).parents[1] / "output"
OUTPUT.mkdir(exist_ok=True)

# ---------------------------------------------------------------- a hierarchy: exact
X, Y, edges = make_hierarchical(3000, noise=1.0, random_state=0)
space = Hierarchy(edges, labels=range(15))
train, test = slice(0, 1000), slice(1000, None)
model = ExponentialFamily(space, alpha=1e-3, fit_intercept=True)
start = time.perf_counter()
model.fit(X[train], Y[train])
print(
    f"{space.size():,} sets of labels; trained in {time.perf_counter() - start:.2f} s, "
    f"{model.n_iter_} steps"
)
print(f"mean log-probability of new sets: {model.log_proba(X[test], Y[test]).mean():.3f}")
for loss in ("zero_one", "hamming", "hierarchical", "f1"):
    rival = ConditionalRiskMinimizer(space, loss, kernel="linear").fit(X[train], Y[train])
    print(
        f"{loss:13s} loss {-model.score(X[test], Y[test], loss=loss):.3f}; smoothing with a "
        f"linear kernel {-rival.score(X[test], Y[test]):.3f}"
    )
rash = ExponentialFamily(space, alpha=1e-5, fit_intercept=True).fit(X[:150], Y[:150])
figure, axes = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
titles = ("1,000 examples, lam = 0.001", "150 examples, lam = 0.00001: too sure of itself")
for ax, judged, title in zip(axes, (model, rash), titles):
    MarginalCalibrationDisplay.from_estimator(judged, X[test], Y[test], name="labels", ax=ax)
    ax.set_title(title)
figure.savefig(OUTPUT / "calibration.png", dpi=100)
print(f"drawn: {OUTPUT / 'calibration.png'}")

# ---------------------------------------------------------------- rankings: by chains
items = Rankings(range(30), "pairs")
scores = np.random.default_rng(0).normal(scale=0.5, size=435)
start = time.perf_counter()
draws = Metropolis(items, scores, n_chains=4, rng=0).sample(2000, n_warmup=200)
print(
    f"{draws.n_chains} chains of {draws.n_draws:,} draws among 30! rankings in "
    f"{time.perf_counter() - start:.1f} s"
)
print(draws.diagnostics())
display = TraceDisplay.from_draws(draws)
display.figure_.savefig(OUTPUT / "traces.png", dpi=100)
print(f"drawn: {OUTPUT / 'traces.png'}")
