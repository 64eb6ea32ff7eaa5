# SPDX-License-Identifier: BSD-3-Clause
"""
Rows of blurred digits
======================

Digits count upwards, and are hard to read. The same model reads them one by one, and as a chain
that knows which digit follows which.
"""

import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import make_digit_chains
from skstruct.losses import SequenceHamming
from skstruct.spaces import Sequences

data = make_digit_chains()
chain = SequenceHamming(bigrams=1.0)
model = ConditionalRiskMinimizer(Sequences("0123456789"), chain)
model.fit(data.X_train, data.y_train)

# %%
# Two losses, two readings
# ------------------------

readings = {
    "one by one": model.predict(data.X_test, loss="hamming"),
    "as a chain": model.predict(data.X_test),
}
for name, rows in readings.items():
    digits = np.mean([p == t for row, true in zip(rows, data.y_test) for p, t in zip(row, true)])
    whole = np.mean([row == true for row, true in zip(rows, data.y_test)])
    print(f"{name}: {digits:.0%} of the digits and {whole:.0%} of the rows are right")

# %%
# Some rows, with wrong readings in red
# -------------------------------------

shown = range(2)
figure, axes = plt.subplots(len(shown), figsize=(6, 3.6), layout="constrained")
for i, ax in zip(shown, axes):
    images = data.X_test[i].reshape(-1, 8, 8)
    ax.imshow(np.hstack(images), cmap="gray_r", vmin=0, vmax=1, extent=(0, len(images), 0, 1))
    for name, height in zip(readings, (1.08, 1.5)):
        ax.text(-0.2, height, name, ha="right", size=13)
        for t, true in enumerate(data.y_test[i]):
            read = readings[name][i][t]
            ax.text(t + 0.5, height, read, ha="center", size=14, weight="bold",
                    color="black" if read == true else "tab:red")  # fmt: skip
    ax.set(xlim=(-2, 7.5), ylim=(0, 1.9))
    ax.axis("off")
plt.show()
