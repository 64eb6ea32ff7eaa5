# SPDX-License-Identifier: BSD-3-Clause
"""Round trips through a town: which places a visitor sees, and in which order.

Learns from the tours of 1,000 visitors without searching for a single one in training, compares
with two learners that do search or smooth, and draws predictions over the truth.

Usage: python examples/tours.py
"""

import time
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer, CountingRidge, StructuredSVM
from skstruct.datasets import make_tours
from skstruct.inspection import TourDisplay
from skstruct.spaces import Cycles

OUTPUT = Path(__file__).parents[1] / "output"

train = make_tours(1000, random_state=0)
test = make_tours(500, model=train, random_state=1)
space = Cycles(train.places, directed=False)
print(f"{space.size():,} round trips through {len(train.places)} places")

models = {
    "counting": CountingRidge(space, alpha=0.01),
    "smoothing": ConditionalRiskMinimizer(space, alpha=0.01),
    "margins": StructuredSVM(space, kernel="rbf", alpha=0.001, max_iter=20, random_state=0),
}
for name, model in models.items():
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the margins stop after 20 passes
        model.fit(train.X, train.tours)
    seconds = time.perf_counter() - start
    predicted = model.predict(test.X)
    right = np.mean([set(z) == set(y) for z, y in zip(predicted, test.tours)])
    print(
        f"{name:9s}: fitted in {seconds:5.2f} s; {right:.0%} visit the right places, "
        f"{-model.score(test.X, test.tours):.2f} edges differ on average"
    )

counting = models["counting"]
figure, axes = plt.subplots(1, 3, figsize=(15, 5), layout="constrained")
for ax, x, truth in zip(axes, test.X, test.tours):
    tour = counting.predict(x[None])
    TourDisplay.from_predictions(counting.space_, tour, train.coordinates, truth=[truth], ax=ax)
    ax.set_axis_off()
OUTPUT.mkdir(exist_ok=True)
figure.savefig(OUTPUT / "tours.png", dpi=110)
print(f"drawn: {OUTPUT / 'tours.png'}")
