# SPDX-License-Identifier: BSD-3-Clause
"""Table 5.1 of Vembu (2010): structured ridge regression on hierarchies of labels.

Part of papers/counting_ridge.py. Protocol:

* the thesis has WIPO-alpha D with 74,435 features and 188 labels, one path each; here stands its
  public reduction (100 features, 85 labels), so that figures can be compared in their order
  only. ENRON and REUTERS, where a document may have several paths, are added;
* zero-one loss in percent, Hamming loss per document, and the hierarchical loss with siblings
  sharing the weight of their parent. The thesis prints that loss without weights, which cannot
  be: half of all documents wrong would make it 0.5 at least. ± is the standard error over test
  documents; "less counting" the paired difference of the zero-one loss with the row of
  CountingRidge that is named first;
* linear kernels. On ENRON every method chooses the weights of words (raw, unit length, tf-idf) by
  its own left-out rows, as in papers/ecrm_hierarchies.py; other features are used as they are;
* alpha by three folds on the Hamming loss for CountingRidge where it is not the 1 of the thesis, by
  leave-one-out on the loss itself for ConditionalRiskMinimizer;
* on WIPO, CountingRidge contrasts with single paths to a leaf, as in the thesis. Everywhere it
  contrasts with all closed label sets, and with all label sets at all, decided over closed ones:
  nearly every closed set of a wide hierarchy holds nearly all its inner labels, which makes the
  former a contrast that no document is near to (contrast="space"; the latter is the default).
  One model each, decided by its scores or, where a loss is named, by estimated risk;
* beside it: ConditionalRiskMinimizer for each of the losses that the columns show; SVM, one support
  vector machine per label (labels found bring in all above them); H-SVM and H-RLS, a machine or a
  regularised least squares regression of -1 and 1 (with an intercept) per label, learned from
  documents that have its parent and asked from the top down (Cesa-Bianchi et al., 2006), C or
  penalty by three folds on the Hamming loss of whole answers; H-M3, the structured support vector
  machine trained for the Hamming or the hierarchical loss, penalty by three folds on that loss.
  SVM and H-M3 are those of papers/ecrm_hierarchies.py.

Usage: python papers/counting_hierarchies.py [--jobs N] [--only WORD] [--anew]
"""

from __future__ import annotations

from argparse import Namespace

import numpy as np
from hierarchy_data import SCALINGS, answer, rows_of
from hierarchy_ours import by_ridge, least_risk
from hierarchy_peers import TOP_DOWN, chosen_structured, per_label, structured_tasks, top_down
from keeping import NOISE, Figure, arguments, results
from scipy import sparse
from sklearn.model_selection import KFold

from skstruct import ConditionalRiskMinimizer, CountingRidge
from skstruct.losses import Hamming, HierarchicalLoss, ZeroOne
from skstruct.spaces import Poset

# Zero-one loss in percent, Hamming and hierarchical loss on the full WIPO-alpha D.
PAPER = {
    "SVM": (87.2, 1.84, 0.053),
    "H-SVM": (76.2, 1.74, 0.051),
    "H-RLS": (72.1, 1.69, 0.050),
    "H-M3, Hamming": (70.9, 1.67, 0.050),
    "H-M3, hierarchical": (65.0, 1.73, 0.048),
    "CSOP": (51.1, 1.84, 0.046),
}
NAMES = ("wipo", "enron", "reuters")
GRID = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
PENALTIES = {"alpha 1": (1.0,), "alpha chosen": GRID}
LOSSES = {"hamming": Hamming, "hierarchical": HierarchicalLoss, "zero_one": ZeroOne}
SHARED = "ecrm_hierarchies"  # the script whose results are read, and added to


def inner(A, B):
    """The linear kernel of rows with more features than there are rows: no weights of features."""
    return (A @ B.T).toarray() if sparse.issparse(A) else A @ B.T


# ---------------------------------------------------------------------- tasks
def space_of(rows, outputs):
    return Poset(rows.space.edges, leaves_only=True) if outputs == "one path" else rows.space


def counting(name, scaling, outputs, alphas, loss=None):
    """CountingRidge, contrasted with some outputs; decided by scores, or under a loss."""
    rows = rows_of(name, scaling)
    model = CountingRidge(
        space_of(rows, outputs), "hamming", kernel=inner, alpha=alphas,
        contrast="space" if outputs == "closed sets" else "auto",
        cv=KFold(3, shuffle=True, random_state=0),
    )  # fmt: skip
    how = {} if loss is None else {"loss": LOSSES[loss]()}
    return answer(
        rows,
        lambda: model.fit(rows.X_train, rows.Y_train),
        lambda model, X: model.predict(X, **how),
        risk=lambda model: model.search_.best["risk"],
        scaling=lambda _: scaling,
        alpha=lambda model: float(model.alpha_),
    )


def conditional_risk(name, scaling, outputs, loss):
    """ConditionalRiskMinimizer with a linear kernel, over the hierarchy or single paths."""
    rows = rows_of(name, scaling)
    model = ConditionalRiskMinimizer(space_of(rows, outputs), LOSSES[loss](), kernel="linear")
    return answer(
        rows,
        lambda: model.fit(rows.X_train, rows.Y_train),
        risk=lambda model: model.search_.best["risk"],
        scaling=lambda _: scaling,
        alpha=lambda model: float(model.alpha_),
    )


def own_tasks(name):
    """{key without the scaling: (function, arguments behind name and scaling)}."""
    tasks = {}
    if name == "wipo":
        for title, alphas in PENALTIES.items():
            tasks[f"CountingRidge, one path, {title}"] = (counting, "one path", alphas)
        for loss in ("hamming", "hierarchical"):
            title = f"CountingRidge, one path, {loss}"
            tasks[title] = (counting, "one path", GRID, loss)
        for loss in LOSSES:
            tasks[f"ConditionalRisk, one path, {loss}"] = (conditional_risk, "one path", loss)
    # Closed sets have as many eigenvalues as labels: a search takes long and finds nothing.
    tasks["CountingRidge, closed sets, alpha 1"] = (counting, "closed sets", (1.0,))
    for title, alphas in PENALTIES.items():
        tasks[f"CountingRidge, all sets, {title}"] = (counting, "all sets", alphas)
    tasks["ConditionalRisk, closed sets, zero_one"] = (conditional_risk, "closed sets", "zero_one")
    for method in TOP_DOWN:
        tasks[method] = (top_down, method)
    return tasks


def with_scalings(name, tasks):
    return {
        f"{name}/{title}/{scaling}": (function, name, scaling, *rest)
        for title, (function, *rest) in tasks.items()
        for scaling in SCALINGS[name]
    }


def shared_tasks(name):
    """With the same names as in the script that they are of."""
    both = ("hamming", "hierarchical")
    tasks = {
        f"{name}/ridge/{loss}/{scaling}": (by_ridge, name, scaling, loss, {})
        for loss in both for scaling in SCALINGS[name]
    }  # fmt: skip
    tasks |= {f"{name}/BR-SVM/{scaling}": (per_label, name, scaling) for scaling in SCALINGS[name]}
    return tasks | structured_tasks(name, SCALINGS[name], both)


# ---------------------------------------------------------------------- tables
def rows_found(name, own, shared):
    """{title: answer}, the scaling by left-out rows."""

    def best(found, start):
        return found.get(least_risk(found, [f"{start}/{scaling}" for scaling in SCALINGS[name]]))

    rows = {title: best(own, f"{name}/{title}") for title in own_tasks(name)}
    order = {title: row for title, row in rows.items() if title not in TOP_DOWN}
    for loss in ("hamming", "hierarchical"):
        order[f"ConditionalRisk, closed sets, {loss}"] = best(shared, f"{name}/ridge/{loss}")
    order["SVM, one per label"] = best(shared, f"{name}/BR-SVM")
    order |= {title: rows[title] for title in TOP_DOWN}
    for loss in ("hamming", "hierarchical"):
        order[f"H-M3, {loss}"] = chosen_structured(shared, name, loss)
    return {title: row for title, row in order.items() if row is not None}


def reference_of(name):
    """The row of CountingRidge that others are compared with."""
    return f"CountingRidge, {'one path' if name == 'wipo' else 'all sets'}, alpha chosen"


def show(name, rows):
    note = next(iter(rows.values()))["note"]
    print(f"\nTable 5.1: {name.upper()}{': ' + note if note else ''}")
    print(f"   {'':44s} {'zero-one':>12s} {'less counting':>15s} {'Hamming':>15s} "
          f"{'hierarchical':>17s}   chosen on training data, CPU seconds")  # fmt: skip
    if name == "wipo":
        for title, (zero_one, hamming, hierarchical) in PAPER.items():
            print(f"   {'paper, full WIPO: ' + title:44s} {zero_one:12.1f} {'':15s} "
                  f"{hamming:15.3f} {hierarchical:17.4f}")  # fmt: skip
    first = 100 * np.array(rows[reference_of(name)]["losses"]["zero_one"])
    verdicts = {"fewer": [], "more": [], "as many, within noise": []}
    for title, row in rows.items():
        losses = {loss: np.array(values) for loss, values in row["losses"].items()}
        zero_one = 100 * losses["zero_one"]
        less = Figure.of(zero_one - first)
        told = "" if title == reference_of(name) else f"{less.mean:+.1f} ± {less.error:.1f}"
        if told:
            verdicts[compared(less)].append(title)
        print(f"   {title:44s} {Figure.of(zero_one).text(1):>12s} {told:>15s} "
              f"{Figure.of(losses['hamming']).text(3):>15s} "
              f"{Figure.of(losses['hierarchical']).text(4):>17s}   ({note_of(row)})")  # fmt: skip
    print(f"\nDocuments not found exactly, beside {reference_of(name)} "
          f"(beyond {NOISE} errors of the paired difference):\n")  # fmt: skip
    for verdict, titles in verdicts.items():
        print(f"* {verdict}: {'; '.join(titles) or 'none'}")


def compared(less):
    """What a paired difference says."""
    if abs(less.mean) <= NOISE * less.error:
        return "as many, within noise"
    return "fewer" if less.mean < 0 else "more"


def note_of(row):
    chosen = dict(row["chosen"])
    parts = [chosen.pop("scaling")] if chosen.get("scaling") != "raw" else []
    for what, value in chosen.items():
        if what not in ("step", "scaling") and value is not None:
            parts.append(f"{what} {value:.1%}" if what == "gap" else f"{what} {value:.3g}")
    return ", ".join([*parts, f"{row['fit_seconds']:.1f} s"])


def hierarchies(given):
    """Table 5.1, and the same on two more sets."""
    own = {
        key: task for name in NAMES for key, task in with_scalings(name, own_tasks(name)).items()
    }
    own = results("counting_hierarchies", own, given)
    shared = {key: task for name in NAMES for key, task in shared_tasks(name).items()}
    shared = results(SHARED, shared, Namespace(**{**vars(given), "anew": False}))
    for name in NAMES:
        rows = rows_found(name, own, shared)
        if reference_of(name) in rows:
            show(name, rows)


if __name__ == "__main__":
    hierarchies(arguments(__doc__))
