# SPDX-License-Identifier: BSD-3-Clause
"""
Round trips through a town
==========================

Which places does a visitor see, and in which order? ``CountingRidge`` learns from 1,000 tours
without searching for a single one in training, beside two learners that search or smooth.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer, CountingRidge, StructuredSVM
from skstruct.datasets import make_tours
from skstruct.inspection import TourDisplay
from skstruct.spaces import Cycles

train = make_tours(1000, random_state=0)
test = make_tours(500, model=train, random_state=1)
space = Cycles(train.places, directed=False)
print(f"{space.size():,} round trips through {len(train.places)} places")

# %%
# Three learners
# --------------

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

# %%
# A prediction over the truth
# ---------------------------

plt.rcParams["font.size"] = 14
counting = models["counting"]
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
tour = counting.predict(test.X[:1])
TourDisplay.from_predictions(counting.space_, tour, train.coordinates, truth=test.tours[:1], ax=ax)
ax.set_axis_off()
plt.show()
