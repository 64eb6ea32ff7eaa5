# SPDX-License-Identifier: BSD-3-Clause
"""Figure 5.2 of Vembu (2010): the hidden policy behind cyclic tours.

Part of papers/counting_ridge.py. Protocol: 15 random skew-symmetric matrices A with entries
uniform in [-1, 1] over 10 places, inputs x uniform in [0, 1]^15, outputs the directed cycles of
largest reward under the policy sum of x_j A_j, found exactly here, approximately in the thesis;
500 test inputs; five trials. Judged by the mean cosine between learned and hidden policy on test
inputs, which the thesis draws and does not print. A policy p_u - p_v rewards no cycle at all, so
that no learner can find that part of the hidden policy: the plain cosine stays below sqrt(1 - 2/N)
= 0.894 for ten places. The second cosine is with what can be found, the projection of the hidden
policy on the cycle space; the last figure is the share of test tours found exactly.

Beside CountingRidge (alpha 1, as in the thesis, and chosen by five folds): the structured
support vector machine with exact decoding, and with that of the thesis, the best of 25 random
cycles, in training; of several penalties the best on the test inputs, as in the thesis. All are
linear in x.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from counting_peers import LuckyCycles
from sklearn.exceptions import ConvergenceWarning

from skstruct import CountingRidge, StructuredSVM
from skstruct.datasets.tours import make_policy_tours
from skstruct.spaces import Cycles

N_FEATURES, N_PLACES, N_TEST = 15, 10, 500
PENALTIES = (1e-3, 1e-2, 1e-1)


class Policies:
    """Inputs, the hidden policies for them, and tours that follow these."""

    def __init__(self, n_train, seed):
        data = make_policy_tours(n_train + N_TEST, N_PLACES, N_FEATURES, random_state=seed)
        self.space = Cycles(N_PLACES)  # signed pairs, u < v
        self.X, self.X_test = data.X[:n_train], data.X[n_train:]
        self.policy = self.X_test @ data.rewards
        self.Y, self.Y_test = data.Y[:n_train], data.Y[n_train:]

    def measures(self, scores, predicted):
        """Cosine, cosine with the projected policy, share of tours found."""
        visible = on_cycle_space(self.policy)
        found = (np.asarray(predicted) == self.Y_test).all(axis=1).mean()
        return cosine(scores, self.policy), cosine(scores, visible), found


def cosine(A, B):
    norms = np.linalg.norm(A, axis=1) * np.linalg.norm(B, axis=1)
    return float(np.mean(np.einsum("ij,ij->i", A, B) / np.maximum(norms, 1e-300)))


def on_cycle_space(policies):
    """Policies (n, pairs) without their part p_u - p_v; B'B / N projects on that part."""
    u, v = np.triu_indices(N_PLACES, 1)
    B = np.zeros((N_PLACES, len(u)))
    B[u, np.arange(len(u))], B[v, np.arange(len(u))] = 1.0, -1.0
    return policies - policies @ B.T @ B / N_PLACES


def cycles(out, quick):
    """Figure 5.2: a table, and curves by the number of training tours."""
    sizes = (20, 100) if quick else (20, 50, 100, 200, 500, 1000)
    print(
        "\nFigure 5.2: cosine with the hidden policy, with what of it can be found, and tours found"
    )
    curves = {}
    for size in sizes:
        trials = [Policies(size, seed) for seed in range(1 if quick else 5)]
        for title, learners in LEARNERS.items():
            started = time.perf_counter()
            # Per setting, the mean over trials; of several settings the best one is reported.
            means = [np.mean([fit(data) for data in trials], axis=0) for fit in learners]
            best = max(means, key=lambda figures: figures[1])
            spent = (time.perf_counter() - started) / (len(trials) * len(learners))
            curves.setdefault(title, []).append((size, *best))
            raw, projected, found = best
            print(f"   {size:5d}  {title:34s} {raw:.3f} {projected:.3f} {found:.3f}   "
                  f"{spent:6.2f} s", flush=True)  # fmt: skip
    draw(curves, out)


def counting(alpha):
    def fit(data):
        settings = {"kernel": "linear", "fit_intercept": False, "cv": 5}
        model = CountingRidge(data.space, alpha=alpha, **settings)
        model.fit(data.X, data.Y)
        return data.measures(model.decision_function(data.X_test), model.predict(data.X_test))

    return fit


def machine(lam, space=None):
    def fit(data):
        model = StructuredSVM(
            data.space if space is None else space,
            "hamming",
            alpha=lam,
            fit_intercept=False,
            max_iter=30,
            random_state=0,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", message=".*may miss strong rivals")
            model.fit(data.X, data.Y)
        scores = data.X_test @ model.coef_.T
        return data.measures(scores, data.space.argmin(-scores).outputs)

    return fit


LEARNERS = {
    "CountingRidge, alpha 1": [counting(1.0)],
    "CountingRidge": [counting("auto")],
    "structured SVM": [machine(lam) for lam in PENALTIES],
    "structured SVM, 25 random cycles": [machine(lam, LuckyCycles(N_PLACES)) for lam in PENALTIES],
}


def draw(curves, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharey=True)
    for title, points in curves.items():
        sizes, raw, projected, _ = np.transpose(points)
        for ax, values in zip(panels, (raw, projected)):
            ax.plot(sizes, values, "o-", label=title)
    panels[0].axhline(np.sqrt(1 - 2 / N_PLACES), color="gray", linestyle=":")
    for ax, name in zip(panels, ("hidden policy", "its part in the cycle space")):
        ax.set(xlabel="training tours", xscale="log", title=name)
    panels[0].set_ylabel("cosine")
    panels[1].legend(fontsize="small")
    figure.savefig(out / "counting_cycles.png", dpi=120)
    print(f"   drawn to {out / 'counting_cycles.png'}")
