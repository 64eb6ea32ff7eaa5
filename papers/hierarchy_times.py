# SPDX-License-Identifier: BSD-3-Clause
"""Figure 2(a) of Goh & Jaillet: CPU seconds of training on REUTERS by the number of labels."""

import time
from pathlib import Path

import numpy as np
from hierarchy_data import rows_of
from hierarchy_peers import PerLabel, penalty_on

from skstruct import ConditionalRiskMinimizer, StructuredSVM
from skstruct.spaces import Hierarchy

SIZES = (10, 25, 50, 75, 103)
FIXED = (3e-3, 3e-2)  # steps of the structured machine's penalty
OURS, MACHINES = "ours", "one machine per label"
REPEATS = {OURS: 3}  # the median; what takes minutes is timed once


def cut(size):
    """REUTERS with its first labels from the top: inputs, outputs and their space."""
    rows = rows_of("reuters")
    dag, names = rows.space.dag_, rows.space.labels_
    kept = np.sort(dag.order[:size])
    inside = np.isin(dag.children, kept)  # parents come before their children
    edges = [(names[i], names[j]) for i, j in zip(dag.parents[inside], dag.children[inside])]
    return rows.X_train, rows.Y_train[:, kept], Hierarchy(edges, [names[j] for j in kept])


def training_time(who, size):
    """CPU seconds of one fit with settings fixed, and the gap where there is one."""
    X, Y, space = cut(size)
    model = learner(who, X, Y, space)
    spent = []
    for _ in range(REPEATS.get(who, 1)):
        start = time.process_time()
        model.fit(X, Y)
        spent.append(time.process_time() - start)
    gap = float(model.gap_ / model.objective_) if hasattr(model, "gap_") else None
    return {"seconds": float(np.median(spent)), "gap": gap}


def learner(who, X, Y, space):
    if who == OURS:
        return ConditionalRiskMinimizer(space, "hamming", kernel="linear", alpha=1.0)
    if who == MACHINES:
        return PerLabel("linear", 1.0, space)
    step = float(who.rpartition(" ")[2])
    lam = penalty_on(X, Y, space, "linear", "hamming", step)
    return StructuredSVM(
        space, "hamming", kernel="linear", alpha=lam, max_iter=1000, random_state=0
    )


WHO = (OURS, MACHINES, *(f"structured SVM, penalty {step:g}" for step in FIXED))


def tasks():
    return {f"reuters/time/{who}/{n}": (training_time, who, n) for who in WHO for n in SIZES}


def show(found):
    """The figure, as numbers and drawn."""
    if "reuters/time/ours/10" not in found:
        return
    print("\nFigure 2(a): CPU seconds of training on REUTERS (3,000 rows) by number of labels")
    print(f"   {'labels':32s}" + "".join(f"{n:9d}" for n in SIZES))
    times = {}
    for who in WHO:
        told = [found[f"reuters/time/{who}/{n}"] for n in SIZES]
        times[who] = [one["seconds"] for one in told]
        gaps = [one["gap"] for one in told if one["gap"] is not None]
        note = f"   (duality gap at most {max(gaps):.1%})" if gaps else ""
        print(f"   {who:32s}" + "".join(f"{t:9.2f}" for t in times[who]) + note)
    print("   The paper: flat for ECRM, growing for one machine per label and for HM3N. Penalties")
    print("   are fixed: alpha 1 and C 1; those of the structured SVM are in units of the data,")
    print("   and it stops at a gap of 1 per cent.")
    draw(times)


def draw(times):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
    for who, seconds in times.items():
        ax.plot(SIZES, seconds, "o-", label=who)
    ax.set(xlabel="labels in the hierarchy", ylabel="training, CPU seconds", yscale="log")
    ax.set_title("REUTERS, 3,000 documents")
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    path = Path("output") / "ecrm_training_time.png"
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"   drawn to {path}")


def show_prediction(rows):
    """(who, milliseconds per row in the paper, and here or None) on REUTERS."""
    print("\nPrediction on REUTERS: CPU milliseconds per document, models of the table above")
    print(f"   {'':32s}{'paper':>9s}{'here':>9s}")
    for who, published, here in rows:
        print(f"   {who:32s}{published:9.1f}{'–' if here is None else f'{here:.3g}':>9s}")
