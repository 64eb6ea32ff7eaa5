# SPDX-License-Identifier: BSD-3-Clause
"""Digits in order of likeness: one model of rankings, several losses.

Handwritten digits of scikit-learn; the true ranking of the classes is the one that naive
Bayes gives with all 64 pixels. The models see only every other pixel.

Usage: python examples/rankings.py
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import rank_classes
from skstruct.inspection import RankingDisplay
from skstruct.learners import PairwiseComparison
from skstruct.losses import Footrule, resolve_loss
from skstruct.rankings import aggregate, kendall_tau
from skstruct.spaces import Rankings

TRAIN, TEST = slice(0, 600), slice(600, 1200)


def main():
    X, y = load_digits(return_X_y=True)
    Y, digits = rank_classes(X, y)
    X = X[:, ::2] / 16.0

    model = ConditionalRiskMinimizer(Rankings(digits), "kendall").fit(X[TRAIN], Y[TRAIN])
    chosen = model.search_.best["smoother"]
    print(f"{len(Y[TRAIN])} training images, smoothed by {chosen}, as left-out rows decided\n")
    print("Mean losses on 600 other images, by the loss that was minimized:")
    losses = {"Kendall": "kendall", "Spearman": "spearman", "footrule": "footrule",
              "footrule, top 3": Footrule(top=3)}  # fmt: skip
    print(f"{'':18s}" + "".join(f"{name:>17s}" for name in losses))
    for name, loss in losses.items():
        predicted = model.predict(X[TEST], loss=loss)
        row = [resolve_loss(other)(predicted, Y[TEST]).mean() for other in losses.values()]
        print(f"{name:18s}" + "".join(f"{value:17.3f}" for value in row))

    peer = PairwiseComparison().fit(X[TRAIN], Y[TRAIN])
    ours = kendall_tau(model.predict(X[TEST]), Y[TEST]).mean()
    theirs = kendall_tau(peer.predict(X[TEST]), Y[TEST]).mean()
    print(f"\nKendall's tau: {ours:.3f}; pairwise comparison by logistic regression: {theirs:.3f}")

    consensus = aggregate(Y[TRAIN][y[TRAIN] == 3])
    order = np.argsort(consensus.ranking).tolist()
    print(f"\nConsensus of the images of a 3, best first: {order}, gap {consensus.gap:g}")

    row = 600 + int(np.flatnonzero(y[TEST] == 3)[0])
    known = model.predict(X[[row]], restrict={"before": [(8, 3)], "top": 3})
    print(f"Top three of one image if 8 is known to come before 3: {top(known[0], 3)}")

    output = Path("output")
    output.mkdir(exist_ok=True)
    display = RankingDisplay.from_estimator(model, X[row], y=Y[row])
    display.figure_.savefig(output / "ranking.png", dpi=120)
    print(f"Picture of that image's ranking: {output / 'ranking.png'}")


def top(ranks, k):
    """The first k items of a rank vector."""
    return np.argsort(ranks, kind="stable")[:k].tolist()


if __name__ == "__main__":
    main()
