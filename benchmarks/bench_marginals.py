# SPDX-License-Identifier: BSD-3-Clause
"""What marginals cost beside the predictions of the same model: ratios of CPU time."""

from __future__ import annotations

import numpy as np
from harness import Table, at_most, compare, median, ratio

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets import make_hierarchical
from skstruct.kernels import RBF
from skstruct.spaces import Hierarchy, LabelSets, Rankings, Sequences

MARGINALS = "predict_marginals"


def models():
    """Fitted models over several structures, each with rows to predict and a target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    noisy = X + 0.5 * rng.normal(size=X.shape)
    settings = {"kernel": RBF(0.05), "alpha": [0.3, 1.0]}

    def fitted(space, Y, loss=None):
        return ConditionalRiskMinimizer(space, loss, **settings).fit(X[:1000], Y[:1000])

    yield "label sets", fitted(LabelSets(), (noisy > 0.5).astype(int)), X[1000:], at_most(2)
    inputs, sets, edges = make_hierarchical(1500, random_state=0)
    tree = Hierarchy(edges, labels=range(15))
    model = ConditionalRiskMinimizer(tree, **settings).fit(inputs[:1000], sets[:1000])
    yield "forest", model, inputs[1000:], at_most(2)
    classes = noisy[:, :5].argmax(axis=1)
    yield "classes", fitted(None, classes), X[1000:], at_most(2)
    ranks = np.argsort(np.argsort(noisy[:, :6], axis=1), axis=1) + 1
    yield "rankings, pairs", fitted(Rankings(), ranks), X[1000:], None
    words = [["ab"[int(v > 0)] for v in row[:8]] for row in noisy]
    yield "sequences", fitted(Sequences(), words), X[1000:], None


def main():
    table = Table("Marginals of 500 rows, CPU time of the call", "this / predict")
    for name, model, X, target in models():
        calls = {
            "predict": lambda model=model, X=X: model.predict(X),
            MARGINALS: lambda model=model, X=X: model.predict_marginals(X),
        }
        times = compare(calls)
        table.add(f"{name}: predict", median(times, "predict"))
        share = ratio(times, MARGINALS, "predict")
        table.add(f"{name}: {MARGINALS}", median(times, MARGINALS), share, target)


if __name__ == "__main__":
    main()
