# SPDX-License-Identifier: BSD-3-Clause
"""Rows of blurred digits: they count upwards, and are read one by one and as a chain.

Prints how many digits and rows are right, and draws some rows with both readings.

Usage: python examples/sequences.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import make_digit_chains
from skstruct.losses import SequenceHamming
from skstruct.spaces import Sequences

OUTPUT = Path(__file__).parents[1] / "output"

data = make_digit_chains()
chain = SequenceHamming(bigrams=1.0)
model = ConditionalRiskMinimizer(Sequences("0123456789"), chain, verbose=1)
model.fit(data.X_train, data.y_train)
readings = {
    "one by one": model.predict(data.X_test, loss="hamming"),
    "as a chain": model.predict(data.X_test),
}
for name, rows in readings.items():
    digits = np.mean([p == t for row, true in zip(rows, data.y_test) for p, t in zip(row, true)])
    whole = np.mean([row == true for row, true in zip(rows, data.y_test)])
    print(f"{name}: {digits:.0%} of the digits and {whole:.0%} of the rows are right")

shown = range(6)
figure, axes = plt.subplots(len(shown), figsize=(7, 7.5), layout="constrained")
for i, ax in zip(shown, axes):
    images = data.X_test[i].reshape(-1, 8, 8)
    ax.imshow(np.hstack(images), cmap="gray_r", vmin=0, vmax=1, extent=(0, len(images), 0, 1))
    for t, true in enumerate(data.y_test[i]):
        for rows, height in zip(readings.values(), (1.08, 1.42)):
            color = "black" if rows[i][t] == true else "tab:red"
            ax.text(t + 0.5, height, rows[i][t], ha="center", color=color)
    for name, height in zip(readings, (1.08, 1.42)):
        ax.text(-0.2, height, name, ha="right")
    ax.set(xlim=(-2, 9), ylim=(0, 1.8))
    ax.axis("off")
figure.suptitle("Blurred digits; wrong readings in red")
OUTPUT.mkdir(exist_ok=True)
figure.savefig(OUTPUT / "sequences.png", dpi=110)
print(f"drawn: {OUTPUT / 'sequences.png'}")
