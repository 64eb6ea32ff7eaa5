# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression: the experiments of Vembu (2010), section 5.5.

"Learning to predict combinatorial structures", where the method is called CSOP. The thesis fixes
lambda = |Y| for one correct output each, which is alpha = 1 once the objective is divided by |Y|;
it is printed beside alpha chosen by leave-one-out on training data.

Yeast: Hamming and ranking loss by the degree of a polynomial kernel, beside the multi-label machine
of Elisseeff and Weston. The thesis draws curves and prints no number. 1,500 genes for training and
917 for testing, 14 labels: the published split, and four more at random of the same sizes; means ±
standard errors over these five, whose rows are partly the same. Rows of Yeast have length one;
kernels are ((1 + <x, x'>) / 2)^degree, which is one on the diagonal, and for the fixed alpha also
(1 + <x, x'>)^degree: the thesis does not say which, and that of Elisseeff and Weston is not known
here. C of the machine is chosen by three folds of the training rows on the ranking loss. Seconds
are CPU seconds of fitting, with all choices, and predicting.

Hierarchies: papers/counting_hierarchies.py. Hidden policies of tours: papers/counting_cycles.py.
Online learning: papers/counting_online.py. Their protocols are at their heads, and printed here.

Usage: python papers/counting_ridge.py [--out FOLDER] [--jobs N] [--only WORD] [--kept FOLDER]
Words for --only: yeast, cycles, online. Table 5.1 keeps results of its own.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

import counting_cycles
import counting_hierarchies
import counting_online
import numpy as np
from counting_peers import MultilabelMachine, ranking_loss
from keeping import NOISE, Figure, arguments, results
from sklearn.model_selection import KFold

from skstruct import CountingRidge
from skstruct.datasets.multilabel import load_multilabel
from skstruct.spaces import LabelSets

DEGREES = (2, 3, 4, 5, 6, 7, 8, 9)
N_SPLITS, N_TRAIN = 5, 1500
PENALTIES = (1.0, 10.0, 100.0)
OURS = {  # divisor of the kernel, and alpha
    "CountingRidge, alpha 1": (2.0, 1.0),
    "CountingRidge, alpha 1, plain kernel": (1.0, 1.0),
    "CountingRidge": (2.0, "auto"),
}
MACHINE = "multi-label SVM"


def polynomial(A, B, *, degree, divisor):
    return ((1.0 + A @ B.T) / divisor) ** degree


# ---------------------------------------------------------------------- Figure 5.1


def split_of(number):
    """Labels, and rows to train on and to test on: the published split, or one at random."""
    data = load_multilabel("yeast")
    X = np.vstack([data.X_train, data.X_test])
    Y = np.vstack([data.Y_train, data.Y_test])
    order = np.arange(len(X))
    if number:
        order = np.random.default_rng(number).permutation(len(X))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    return data.labels, X[train], Y[train], X[test], Y[test]


def yeast(number, degree, title):
    """Hamming loss, ranking loss, what was chosen, and seconds."""
    labels, X, Y, X_test, Y_test = split_of(number)
    start = time.process_time()
    if title == MACHINE:
        kernel = partial(polynomial, degree=degree, divisor=2.0)
        K, K_test = kernel(X, X), kernel(X_test, X)
        C = chosen_penalty(K, Y)
        machine = MultilabelMachine(C).fit(K, Y)
        scores, predicted = machine.decision_function(K_test), machine.predict(K_test)
        chosen = f"C {C:g}"
    else:
        divisor, alpha = OURS[title]
        kernel = partial(polynomial, degree=degree, divisor=divisor)
        # The polynomial has a constant of its own.
        model = CountingRidge(LabelSets(labels), kernel=kernel, alpha=alpha, fit_intercept=False)
        model.fit(X, Y)
        scores, predicted = model.decision_function(X_test), model.predict(X_test)
        chosen = f"alpha {model.alpha_:.3g}"
    hamming = float((np.asarray(predicted) != Y_test).mean())
    return [hamming, ranking_loss(scores, Y_test), chosen, time.process_time() - start]


def chosen_penalty(K, Y):
    """C of least ranking loss over three folds."""
    folds = list(KFold(3, shuffle=True, random_state=0).split(K))

    def left_out(C):
        for fitted, held in folds:
            machine = MultilabelMachine(C).fit(K[np.ix_(fitted, fitted)], Y[fitted])
            yield ranking_loss(machine.decision_function(K[np.ix_(held, fitted)]), Y[held])

    return min(PENALTIES, key=lambda C: np.mean(list(left_out(C))))


def yeast_tasks(degrees=DEGREES, splits=range(N_SPLITS)):
    return {
        f"yeast/{degree}/{number}/{title}": (yeast, number, degree, title)
        for degree in degrees
        for number in splits
        for title in (*OURS, MACHINE)
    }


def multilabel(found, out, degrees=DEGREES, n_splits=N_SPLITS):
    """Figure 5.1: a table, who is ahead, and curves by degree."""
    print(f"\nFigure 5.1: Yeast, by degree of the kernel, means ± standard errors over {n_splits} "
          "splits")  # fmt: skip
    print(f"   {'degree':6s}  {'':38s}{'Hamming loss':>18s}{'ranking loss':>18s}"
          f"{'published split':>18s}   {'chosen there':16s}{'seconds':>8s}")  # fmt: skip
    losses = {}
    for degree in degrees:
        for title in (*OURS, MACHINE):
            rows = [found[f"yeast/{degree}/{number}/{title}"] for number in range(n_splits)]
            losses[degree, title] = np.array([row[:2] for row in rows])
            figures = [Figure.of(column) for column in losses[degree, title].T]
            hamming, ranking, chosen, _ = rows[0]
            cells = "".join(f"{figure.text(4):>18s}" for figure in figures)
            print(f"   {degree:6d}  {title:38s}{cells}{f'{hamming:.4f} {ranking:.4f}':>18s}   "
                  f"{chosen:16s}{np.mean([row[3] for row in rows]):8.1f}")  # fmt: skip
    against_the_machine(losses, degrees)
    draw_curves(losses, degrees, out)


def against_the_machine(losses, degrees):
    print(f"\nFigure 5.1, less the {MACHINE}, paired by splits; beyond {NOISE} standard errors")
    for title in OURS:
        for k, what in enumerate(("Hamming loss", "ranking loss")):
            gains = [Figure.of((losses[degree, title] - losses[degree, MACHINE])[:, k])
                     for degree in degrees]  # fmt: skip
            below = sum(gain.mean < -NOISE * gain.error for gain in gains)
            above = sum(gain.mean > NOISE * gain.error for gain in gains)
            print(f"   {title}, {what}: lower at {below} and higher at {above} of {len(degrees)} "
                  "degrees")  # fmt: skip


def draw_curves(losses, degrees, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for title in (*OURS, MACHINE):
        for k, ax in enumerate(panels):
            figures = [Figure.of(losses[degree, title][:, k]) for degree in degrees]
            ax.errorbar(degrees, [one.mean for one in figures], [one.error for one in figures],
                        fmt="o-", markersize=3, label=title)  # fmt: skip
    for ax, name in zip(panels, ("Hamming loss", "ranking loss")):
        ax.set(xlabel="degree of the kernel", ylabel=name)
    panels[1].legend(fontsize="small")
    figure.savefig(out / "counting_multilabel.png", dpi=120)
    print(f"   drawn to {out / 'counting_multilabel.png'}")


# ---------------------------------------------------------------------- all of it


def protocol(module):
    print("\n" + module.__doc__.partition("Usage:")[0].strip())


def main():
    out = ("--out", {"type": Path, "default": Path("output"), "help": "folder of the figures"})
    given = arguments(__doc__, out)
    given.out.mkdir(exist_ok=True, parents=True)
    for module in (counting_hierarchies, counting_cycles, counting_online):
        protocol(module)
    tasks = yeast_tasks() | counting_cycles.cycle_tasks() | counting_online.online_tasks()
    found = results("counting_ridge", tasks, given)
    if all(key in found for key in yeast_tasks()):
        multilabel(found, given.out)
    counting_hierarchies.hierarchies(given)
    counting_cycles.cycles(found, given.out)
    counting_online.online(found, given.out)


if __name__ == "__main__":
    main()
