# SPDX-License-Identifier: BSD-3-Clause
"""Table 5.1 of Vembu (2010): structured ridge regression on hierarchies of labels.

Part of papers/counting_ridge.py. Protocol:

* the thesis has WIPO-alpha D with 74,435 features and 188 labels, one path each; here stands its
  public reduction (100 features, 85 labels), so that figures can be compared in their order
  only. ENRON and REUTERS, where a document may have several paths, are added;
* zero-one loss in percent, Hamming loss per document, and the hierarchical loss with siblings
  sharing the weight of their parent. The thesis prints that loss without weights, which cannot
  be: half of all documents wrong would make it 0.5 at least;
* linear kernels, features as in papers/ecrm_hierarchies.py; alpha by three folds on the Hamming
  loss for CountingRidge where it is not the 1 of the thesis, by leave-one-out on the loss itself
  for ConditionalRiskMinimizer;
* on WIPO, CountingRidge contrasts with single paths to a leaf, as in the thesis. Everywhere it
  contrasts with all closed label sets, and with all label sets at all, decided over closed ones:
  nearly every closed set of a wide hierarchy holds nearly all its inner labels, which makes the
  former a contrast that no document is near to (contrast="space"; the latter is the default).
  One model each, decided by its scores or, where a loss is named, by estimated risk;
* beside it: ConditionalRiskMinimizer for each of the losses that the columns show, one support
  vector machine per label (labels found bring in all above them), and a structured support
  vector machine trained for the Hamming loss with its penalty by three folds. On REUTERS, where
  these take long, they are those of papers/ecrm_hierarchies.py.
"""

from __future__ import annotations

import time

import numpy as np
from ecrm_hierarchies import variants
from hierarchy_peers import binary_relevance, structured_machine
from scipy import sparse
from sklearn.model_selection import KFold

from skstruct import ConditionalRiskMinimizer, CountingRidge
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.exceptions import MissingDataError
from skstruct.losses import Hamming, HierarchicalLoss, ZeroOne
from skstruct.spaces import Hierarchy, Poset

# Zero-one loss in percent, Hamming and hierarchical loss on the full WIPO-alpha D.
PAPER = {
    "SVM": (87.2, 1.84, 0.053),
    "H-SVM": (76.2, 1.74, 0.051),
    "H-RLS": (72.1, 1.69, 0.050),
    "H-M3, Hamming": (70.9, 1.67, 0.050),
    "H-M3, hierarchical": (65.0, 1.73, 0.048),
    "CSOP": (51.1, 1.84, 0.046),
}

GRID = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)


def hierarchies(out, quick):
    """Table 5.1, and the same on two more sets."""
    for name in ("wipo",) if quick else ("wipo", "enron", "reuters"):
        try:
            data = load_hierarchical(name)
        except MissingDataError as error:
            print(f"{name}: {error}")
            continue
        print(f"\nTable 5.1: {name.upper()}{'  (' + data.note + ')' if data.note else ''}")
        if name == "wipo":
            for title, figures in PAPER.items():
                print_row("paper, full WIPO: " + title, figures, "")
        _, (X_train, X_test), _ = next(iter(variants(name, data)))
        table = Table(data, X_train, X_test)
        table.ours(one_path=name == "wipo")
        if name != "reuters":
            table.peers(structured=not quick)


def inner(A, B):
    """The linear kernel of rows with more features than there are rows: no weights of features."""
    return (A @ B.T).toarray() if sparse.issparse(A) else A @ B.T


def print_row(title, figures, note):
    zero_one, hamming, hierarchical = figures
    print(f"   {title:46s} {zero_one:6.1f} {hamming:8.3f} {hierarchical:9.4f}   {note}", flush=True)


class Table:
    """Rows of one data set, printed as they are found."""

    def __init__(self, data, X_train, X_test):
        self.data, self.X_train, self.X_test = data, X_train, X_test
        self.space = Hierarchy(data.edges, data.labels)
        self.hierarchical = HierarchicalLoss().bind(self.space)

    def row(self, title, predicted, note=""):
        truth = self.data.Y_test
        wrong = (predicted != truth).any(axis=1).mean()
        hamming = (predicted != truth).sum(axis=1).mean()
        hierarchical = self.hierarchical(predicted, truth).mean()
        print_row(title, (100 * wrong, hamming, hierarchical), note)

    def ours(self, one_path):
        data = self.data
        if one_path:
            paths = Poset(data.edges, data.labels, leaves_only=True)
            self.counting("one path", paths, losses=(Hamming(), HierarchicalLoss()))
            self.risk("one path", paths)
        # Closed sets have as many eigenvalues as labels: a search takes long and finds nothing.
        self.counting("closed sets", self.space, alphas=(1.0,), contrast="space")
        self.counting("all sets", self.space)
        self.risk("closed sets", self.space)

    def counting(self, name, space, losses=(), alphas=(1.0, GRID), contrast="auto"):
        """Rows of CountingRidge, contrasted with one space and decided over the hierarchy."""
        folds = KFold(3, shuffle=True, random_state=0)
        for alpha in alphas:
            started = time.perf_counter()
            model = CountingRidge(
                space, "hamming", kernel=inner, alpha=alpha, contrast=contrast, cv=folds
            )
            model.fit(self.X_train, self.data.Y_train)
            note = f"alpha {model.alpha_:.3g}, {time.perf_counter() - started:.1f} s"
            self.row(f"CountingRidge, {name}", model.predict(self.X_test), note)
        for loss in losses:
            title = f"CountingRidge, {name}, {type(loss).__name__}"
            self.row(title, model.predict(self.X_test, loss=loss))

    def risk(self, name, space):
        """Rows of ConditionalRiskMinimizer, one for each loss."""
        for loss in (Hamming(), HierarchicalLoss(), ZeroOne()):
            started = time.perf_counter()
            model = ConditionalRiskMinimizer(space, loss, kernel="linear")
            model.fit(self.X_train, self.data.Y_train)
            note = f"alpha {model.alpha_:.3g}, {time.perf_counter() - started:.1f} s"
            title = f"ConditionalRisk, {name}, {type(loss).__name__}"
            self.row(title, model.predict(self.X_test), note)

    def peers(self, structured):
        started = time.perf_counter()
        predicted = binary_relevance("linear", self.X_train, self.data, self.X_test, self.space)
        self.row("one SVM per label", predicted, f"{time.perf_counter() - started:.1f} s")
        if not structured:
            return
        started = time.perf_counter()
        model, _ = structured_machine(
            self.space, Hamming(), Hamming(), "linear", self.X_train, np.asarray(self.data.Y_train)
        )
        note = f"gap {model.gap_ / model.objective_:.1%}, {time.perf_counter() - started:.1f} s"
        self.row("structured SVM, Hamming", model.predict(self.X_test), note)
