# SPDX-License-Identifier: BSD-3-Clause
"""Progress of a disease: one model, its median and its 80 % interval.

Prints how often the interval holds the truth, draws intervals and the risk of one patient.

Usage: python examples/quantities.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from skstruct import ConditionalRiskMinimizer
from skstruct.inspection import RiskCurveDisplay
from skstruct.kernels import RBF
from skstruct.losses import Pinball
from skstruct.spaces import Interval

OUTPUT = Path(__file__).parents[1] / "output"

X, y = load_diabetes(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
model = ConditionalRiskMinimizer(Interval(0, None), "absolute", verbose=1, kernel=RBF("auto")).fit(
    X, y
)
median = model.predict(X_test)
low, high = (model.predict(X_test, loss=Pinball(tau)) for tau in (0.1, 0.9))
constant = np.abs(y_test - np.median(y)).mean()
print(
    f"mean absolute error {np.abs(median - y_test).mean():.1f}; "
    f"of one number for all {constant:.1f}"
)
inside = (low <= y_test) & (y_test <= high)
print(f"10 to 90 %: {inside.mean():.0%} of {len(y_test)} patients are inside, as 80 % should be")

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
order = np.argsort(median)
place = np.arange(len(order))
left.fill_between(place, low[order], high[order], alpha=0.3, label="10 to 90 %")
left.plot(place, median[order], label="median")
left.plot(place, y_test[order], ".", color="black", label="truth")
left.set(xlabel="patients, by predicted median", ylabel="disease progression")
left.legend()
RiskCurveDisplay.from_estimator(
    model, X_test[0], loss=["absolute", Pinball(0.1), Pinball(0.9)], y=y_test[0], ax=right
)
OUTPUT.mkdir(exist_ok=True)
figure.savefig(OUTPUT / "quantities.png", dpi=110)
print(f"drawn: {OUTPUT / 'quantities.png'}")
