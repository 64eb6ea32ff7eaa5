# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/risk_curve.png: what each output would cost, under three losses.

Usage: python docs/scripts/risk_curve.py
"""

from pathlib import Path

import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.inspection import RiskCurveDisplay
from skstruct.kernels import RBF
from skstruct.losses import Cauchy, Pinball
from skstruct.spaces import Interval

rng = np.random.default_rng(0)
X = rng.uniform(0, 10, (400, 1))
y = X[:, 0] + rng.exponential(1 + X[:, 0] / 4)
model = ConditionalRiskMinimizer(Interval(0, None), "absolute", kernel=RBF("auto")).fit(X, y)
losses = ["absolute", Pinball(0.9), Cauchy(1.0)]
display = RiskCurveDisplay.from_estimator(model, [8.0], loss=losses)
path = Path(__file__).parents[1] / "images" / "risk_curve.png"
display.figure_.savefig(path, dpi=120)
print(path)
