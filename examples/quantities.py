# SPDX-License-Identifier: BSD-3-Clause
"""
Progress of a disease
=====================

One model answers with the median and with an interval that holds 80 % of the patients: the loss
changes, nothing is fitted again.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from skstruct import ConditionalRiskMinimizer
from skstruct.inspection import RiskCurveDisplay
from skstruct.kernels import RBF
from skstruct.losses import Pinball
from skstruct.spaces import Interval

plt.rcParams["font.size"] = 14
X, y = load_diabetes(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
model = ConditionalRiskMinimizer(Interval(0, None), "absolute", kernel=RBF("auto")).fit(X, y)

# %%
# The median, and two quantiles
# -----------------------------

median = model.predict(X_test)
low, high = (model.predict(X_test, loss=Pinball(tau)) for tau in (0.1, 0.9))
constant = np.abs(y_test - np.median(y)).mean()
print(f"mean absolute error {np.abs(median - y_test).mean():.1f}; one number: {constant:.1f}")
inside = (low <= y_test) & (y_test <= high)
print(f"10 to 90 %: {inside.mean():.0%} of {len(y_test)} patients are inside, as 80 % should be")

figure, ax = plt.subplots(figsize=(8, 5), layout="constrained")
order = np.argsort(median)
place = np.arange(len(order))
ax.fill_between(place, low[order], high[order], alpha=0.3, label="10 to 90 %")
ax.plot(place, median[order], label="median", linewidth=2.5)
ax.plot(place, y_test[order], ".", color="black", label="truth")
ax.set(xlabel="patients, by predicted median", ylabel="disease progression")
ax.legend()
plt.show()

# %%
# The risk of every answer, for one patient
# -----------------------------------------

asked = ["absolute", Pinball(0.1), Pinball(0.9)]
RiskCurveDisplay.from_estimator(model, X_test[0], loss=asked, y=y_test[0])
plt.show()
