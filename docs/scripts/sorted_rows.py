# SPDX-License-Identifier: BSD-3-Clause
"""Leave-one-out on rows that are sorted by label: IMCLEF07A, its first 2,000 rows.

Prints the figures of docs/choosing_alpha.md and draws docs/images/sorted_rows.png.
Needs the data set in SKSTRUCT_DATA. Usage: python docs/scripts/sorted_rows.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import load
from skstruct.kernels import RBF
from skstruct.model_selection import left_out_risk
from skstruct.spaces import Hierarchy

data = load("imclef07a", subset=2000)
scaler = StandardScaler().fit(data.X_train)
X_train, X_test = scaler.transform(data.X_train), scaler.transform(data.X_test)
space = Hierarchy(data.edges, data.labels)


def fitted(**settings):
    model = ConditionalRiskMinimizer(space, "hamming", kernel=RBF(1 / 80), **settings)
    return model.fit(X_train, data.Y_train)


seen = {row.tobytes() for row in data.Y_train}
new = [row.tobytes() not in seen for row in data.Y_test]
n_paths = len(np.unique(data.Y_test, axis=0))
print(f"{len(seen)} of {n_paths} label paths are in training; {np.mean(new):.0%} of the test rows")
print("are of another path")
for cv in (None, "output"):
    model = fitted(cv=cv)
    promised, kept = model.search_.best["risk"], -model.score(X_test, data.Y_test)
    print(f"cv={cv!r}: alpha {model.alpha_:.2g},", end=" ")
    print(f"left out {promised:.2f}, test {kept:.2f}")

alphas = [trial["alpha"] for trial in model.search_.trials]
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.plot(alphas, left_out_risk(model, alphas=alphas), ".-", label="each row left out")
grouped = left_out_risk(model, alphas=alphas, cv="output")
ax.plot(alphas, grouped, ".-", label="all rows of a label path left out")
on_test = [-fitted(alpha=alpha).score(X_test, data.Y_test) for alpha in alphas]
ax.plot(alphas, on_test, "k.-", label="test set")
ax.set(xscale="log", xlabel="alpha", ylabel="mean Hamming loss", ylim=(0, None))
ax.set_title("IMCLEF07A, first 2,000 training rows")
ax.legend()
figure.savefig(Path(__file__).parents[1] / "images" / "sorted_rows.png", dpi=120)
