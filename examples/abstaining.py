# SPDX-License-Identifier: BSD-3-Clause
"""
Rankings that abstain
=====================

Which digits does an image look like, in order? Where the model is not sure which of two digits
comes first, it may leave the pair open: a partial order instead of a ranking. What an open pair
costs is said at prediction, and decides how many there are.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import rank_classes
from skstruct.losses import Kendall
from skstruct.spaces import PartialOrders

X, y = load_digits(return_X_y=True)
Y, digits = rank_classes(X, y)  # ranks, one column per digit
X = X[:, ::2] / 16.0
train, test = slice(0, 400), slice(400, 600)
model = ConditionalRiskMinimizer(PartialOrders(digits), "kendall").fit(X[train], Y[train])
space = model.space_
truth = space.validate(Y[test])

# %%
# What an open pair costs, and what is won
# ----------------------------------------
# A pair in the wrong order costs 1. On 200 other images: the share of pairs that are ordered, and
# the share of those that are wrong.

prices = [0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
curve = []
for price in prices:
    found = space.validate(model.predict(X[test], loss=Kendall(abstain=price)))
    curve.append((found.sum() / truth.sum(), 1 - (found & truth).sum() / found.sum()))
    print(f"open pairs cost {price:4}: {curve[-1][0]:.2f} ordered, {curve[-1][1]:.3f} wrong")

# %%
# The order of one image
# ----------------------
# Relations with no digit between, and the pairs that are left open.

found = space.validate(model.predict(X[test][:1], loss=Kendall(abstain=0.1)))
print("before:", ", ".join(f"{a} {b}" for a, b in space.covers(found)[0]))
print("open:  ", ", ".join(f"{a} {b}" for a, b in space.open_pairs(found)[0]))
decoded = model.decode(X[test][:1], loss=Kendall(abstain=0.1))
print(f"estimated loss {decoded.values[0]:.3f}, no order has less than {decoded.bounds[0]:.3f}")

# %%
# The two shares
# --------------

ordered, wrong = np.array(curve).T
plt.rcParams["font.size"] = 14
plt.plot(ordered, wrong, "o-")
for price, x, height in zip(prices, ordered, wrong):
    plt.annotate(f"{price}", (x, height), xytext=(-12, 6), textcoords="offset points", ha="right")
plt.margins(0.15)
plt.xlabel("share of pairs that are ordered")
plt.ylabel("share of these that are wrong")
plt.title("What an open pair costs")
plt.tight_layout()
plt.show()
