# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression: the experiments of Vembu (2010), section 5.5.

"Learning to predict combinatorial structures", where the method is called CSOP. The thesis fixes
lambda = |Y| for one correct output each, which is alpha = 1 once the objective is divided by |Y|;
it is printed beside alpha chosen by leave-one-out on training data.

multilabel   Figure 5.1: Hamming and ranking loss on Yeast (1,500 genes for training, 917 for
             testing, 14 labels) by the degree of a polynomial kernel, beside the multi-label
             machine of Elisseeff and Weston. The thesis draws curves and prints no number. Rows
             of Yeast have length one; kernels are ((1 + <x, x'>) / 2)^degree, which is one on
             the diagonal, and for the fixed alpha also (1 + <x, x'>)^degree: the thesis does not
             say which, and that of Elisseeff and Weston is not known here. C of the machine is
             chosen by three folds of the training rows on the ranking loss.
hierarchies  Table 5.1 (papers/counting_hierarchies.py).
cycles       Figure 5.2 (papers/counting_cycles.py).
online       Figures 5.3 to 5.5 (papers/counting_online.py).

Usage: python papers/counting_ridge.py [section ...] [--out FOLDER] [--quick]
All sections when none is named. ``--quick``: fewer kernels, rows and repeats.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
from counting_cycles import cycles
from counting_hierarchies import hierarchies
from counting_online import online
from counting_peers import MultilabelMachine, ranking_loss
from sklearn.model_selection import KFold

from skstruct import CountingRidge
from skstruct.datasets.multilabel import load_multilabel
from skstruct.exceptions import MissingDataError
from skstruct.spaces import LabelSets

DEGREES = (2, 3, 4, 5, 6, 7, 8, 9)
PENALTIES = (1.0, 10.0, 100.0)


def polynomial(A, B, *, degree, divisor):
    return ((1.0 + A @ B.T) / divisor) ** degree


def multilabel(out, quick):
    """Figure 5.1: a table, and curves by degree."""
    try:
        data = load_multilabel("yeast")
    except MissingDataError as error:
        print(error)
        return
    print("\nFigure 5.1: Yeast, Hamming loss and ranking loss by degree of the kernel")
    curves = {}
    for degree in DEGREES[::3] if quick else DEGREES:
        for title, (losses, chosen, seconds) in multilabel_rows(data, degree):
            curves.setdefault(title, []).append((degree, *losses))
            hamming, ranking = losses
            print(f"   {degree}  {title:38s} {hamming:.4f} {ranking:.4f}   "
                  f"{chosen:18s} {seconds:6.1f} s", flush=True)  # fmt: skip
    draw_curves(curves, out)


def multilabel_rows(data, degree):
    """Title, (Hamming, ranking loss), what was chosen, and seconds of every learner."""
    unit = partial(polynomial, degree=degree, divisor=2.0)
    plain = partial(polynomial, degree=degree, divisor=1.0)
    settings = {
        "CountingRidge, alpha 1": (unit, 1.0),
        "CountingRidge, alpha 1, plain kernel": (plain, 1.0),
        "CountingRidge": (unit, "auto"),
    }
    for title, (kernel, alpha) in settings.items():
        started = time.perf_counter()
        space = LabelSets(data.labels)
        # The polynomial has a constant of its own.
        model = CountingRidge(space, kernel=kernel, alpha=alpha, fit_intercept=False)
        model.fit(data.X_train, data.Y_train)
        scores = model.decision_function(data.X_test)
        hamming = (model.predict(data.X_test) != data.Y_test).mean()
        losses = hamming, ranking_loss(scores, data.Y_test)
        yield title, (losses, f"alpha {model.alpha_:.3g}", time.perf_counter() - started)
    started = time.perf_counter()
    K, K_test = unit(data.X_train, data.X_train), unit(data.X_test, data.X_train)
    C = chosen_penalty(K, data.Y_train)
    machine = MultilabelMachine(C).fit(K, data.Y_train)
    hamming = (machine.predict(K_test) != data.Y_test).mean()
    losses = hamming, ranking_loss(machine.decision_function(K_test), data.Y_test)
    yield "multi-label SVM", (losses, f"C {C:g}", time.perf_counter() - started)


def chosen_penalty(K, Y):
    """C of least ranking loss over three folds."""
    folds = list(KFold(3, shuffle=True, random_state=0).split(K))

    def left_out(C):
        for fitted, held in folds:
            machine = MultilabelMachine(C).fit(K[np.ix_(fitted, fitted)], Y[fitted])
            yield ranking_loss(machine.decision_function(K[np.ix_(held, fitted)]), Y[held])

    return min(PENALTIES, key=lambda C: np.mean(list(left_out(C))))


def draw_curves(curves, out):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for title, points in curves.items():
        degrees, hamming, ranking = np.transpose(points)
        for ax, losses in zip(panels, (hamming, ranking)):
            ax.plot(degrees, losses, "o-", label=title)
    for ax, name in zip(panels, ("Hamming loss", "ranking loss")):
        ax.set(xlabel="degree of the kernel", ylabel=name)
    panels[1].legend(fontsize="small")
    figure.savefig(out / "counting_multilabel.png", dpi=120)
    print(f"   drawn to {out / 'counting_multilabel.png'}")


SECTIONS = {
    "multilabel": multilabel, "hierarchies": hierarchies, "cycles": cycles, "online": online,
}  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=", ".join(SECTIONS))
    parser.add_argument("--out", type=Path, default=Path("output"), help="folder of the figures")
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.sections) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {unknown[0]!r}; known are {', '.join(SECTIONS)}")
    arguments.out.mkdir(exist_ok=True, parents=True)
    for name in arguments.sections or SECTIONS:
        started = time.perf_counter()
        SECTIONS[name](arguments.out, arguments.quick)
        print(f"   {name}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
