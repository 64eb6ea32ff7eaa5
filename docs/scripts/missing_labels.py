# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/images/missing_labels.png: what ways of filling do to an estimated probability.

Two labels along one input, 60 % of them missing: at random on the left, and on the
right labels that apply and were overlooked. The curves are estimates of the first label's
probability.
"""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.spaces import LabelSets

N, MISSING = 600, 0.6


def main():
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-3, 3, N))
    chance = np.column_stack([probability(x), probability(-x)])
    Y = (rng.random(chance.shape) < chance).astype(float)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True, layout="constrained")
    draw(axes[0], "the labels missing at random", x, at_random(Y, rng))
    draw(axes[1], "the labels that apply overlooked", x, overlooked(Y, rng))
    axes[0].set_ylabel("probability of the label")
    figure.savefig(Path(__file__).parents[1] / "images" / "missing_labels.png", dpi=110)


def probability(x):
    return 0.95 / (1 + np.exp(-1 - 3 * np.sin(1.2 * x)))


def at_random(Y, rng):
    gap = rng.random(Y.shape) < MISSING
    Z = np.where(gap, np.nan, Y)
    whole = ~gap.any(axis=1)
    mean = np.nanmean(Z, axis=0) > 0.5
    return {
        "as gaps": (LabelSets(), Z, slice(None)),
        "taken for out": (LabelSets(), np.where(gap, 0, Y).astype(int), slice(None)),
        "the more frequent value": (LabelSets(), np.where(gap, mean, Y).astype(int), slice(None)),
        f"the {whole.sum()} whole rows": (LabelSets(), Y.astype(int), whole),
    }


def overlooked(Y, rng):
    seen = (Y * (rng.random(Y.shape) >= MISSING)).astype(int)
    return {
        "with the propensity": (LabelSets(propensity=1 - MISSING), seen, slice(None)),
        "as they are": (LabelSets(), seen, slice(None)),
    }


def draw(axes, title, x, ways):
    axes.plot(x, probability(x), color="black", linewidth=2.5, label="the truth")
    at = np.linspace(-3, 3, 200)[:, None]
    for name, (space, Z, rows) in ways.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nothing is learned from labels taken for out
            model = ConditionalRiskMinimizer(space, kernel="rbf").fit(x[rows, None], Z[rows])
        axes.plot(at, np.asarray(model.predict_marginals(at, calibrated=None))[:, 0], label=name)
    axes.axhline(0.5, color="0.7", linewidth=0.8, zorder=0)
    axes.set(title=f"{MISSING:.0%} of {title}", xlabel="input", ylim=(-0.03, 1.03))
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)


if __name__ == "__main__":
    main()
