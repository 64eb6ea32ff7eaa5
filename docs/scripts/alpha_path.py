# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/alpha_path.png: the search for alpha and kernel width on noisy digits.

Usage: python docs/scripts/alpha_path.py
"""

from pathlib import Path

import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import load
from skstruct.inspection import AlphaPathDisplay
from skstruct.kernels import RBF
from skstruct.spaces import Hierarchy

data = load("digit_shapes")
X = data.X_train[:400] + np.random.default_rng(0).normal(0, 0.4, (400, 64))
model = ConditionalRiskMinimizer(Hierarchy(data.edges, data.labels), kernel=RBF("auto"))
display = AlphaPathDisplay.from_estimator(model.fit(X, data.Y_train[:400]))
display.figure_.set_size_inches(6.4, 3.8)
display.figure_.savefig(Path(__file__).parents[1] / "images" / "alpha_path.png", dpi=120)
