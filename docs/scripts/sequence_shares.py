# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/sequence_shares.png: a row of digits, symbol by symbol."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import make_digit_chains
from skstruct.inspection import SequenceDisplay
from skstruct.losses import SequenceHamming
from skstruct.spaces import Sequences

data = make_digit_chains()
model = ConditionalRiskMinimizer(Sequences("0123456789"), SequenceHamming(bigrams=1.0))
model.fit(data.X_train, data.y_train)
display = SequenceDisplay.from_estimator(model, data.X_test[1], y=data.y_test[1])
target = Path(__file__).parents[1] / "images" / "sequence_shares.png"
display.figure_.savefig(target, dpi=90)
print(f"drawn: {target}")
