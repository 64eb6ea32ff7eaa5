# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical data as scripts on hierarchies take them: rows, scalings of inputs, losses.

Results of all tasks on them have the same form, an ``Answer`` as a dictionary: the losses of every
test row, what was chosen on training rows, and CPU seconds.
"""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.preprocessing import StandardScaler, normalize

from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.losses import Hamming, HierarchicalLoss
from skstruct.spaces import Hierarchy

LOSSES = {"hamming": Hamming, "hierarchical": HierarchicalLoss}
IMAGES = ("imclef07a", "imclef07d")
ONTOLOGIES = ("pheno_go", "spo_go")  # labels with several parents: no trees

# What the rule of "ours" chooses among by left-out risk; one entry: nothing to choose.
SCALINGS = {
    "enron": ("raw", "unit length", "tf-idf"),
    **dict.fromkeys((*IMAGES, "spo_fun", "spo_go"), ("standardised",)),
    **dict.fromkeys(("reuters", "wipo", "pheno_fun", "pheno_go"), ("raw",)),
}
FIRST_ROWS = (
    "The first 2,000 of 10,000 training rows, sorted by label; the paper has the first 2,000 of an "
    "order that is not known."
)
# What may be chosen among if nothing of the scaling is settled beforehand.
ALL_SCALINGS = ("raw", "standardised", "unit length")


@dataclass
class Rows:
    """A data set with its space."""

    name: str
    X_train: object
    Y_train: np.ndarray
    X_test: object
    Y_test: np.ndarray
    space: Hierarchy
    note: str

    @property
    def kernel(self):
        """As in the paper."""
        return "rbf" if self.name in IMAGES else "linear"

    @property
    def cv(self):
        """What is left out together: test images are of label paths that training has not."""
        return "output" if self.name in IMAGES else None

    def judged(self, predicted):
        """Losses of every test row, as lists."""
        return judged(self.space, predicted, self.Y_test)


@lru_cache(2)
def rows_of(name, scaling="raw"):
    """A data set by name; of the images, the first 2,000 rows."""
    data = load_hierarchical(name, 2000 if name in IMAGES else None)
    X_train, X_test = scaled(data.X_train, data.X_test, scaling)
    space = Hierarchy(data.edges, data.labels)
    note = FIRST_ROWS if name in IMAGES else data.note
    return Rows(name, X_train, np.asarray(data.Y_train), X_test, data.Y_test, space, note)


def scaled(X_train, X_test, scaling):
    """Both halves, by what training rows say."""
    if scaling == "standardised":
        return standardised((X_train, X_test))
    if scaling == "tf-idf":  # of word occurrences: log(n / document frequency), unit length
        rarity = np.log(X_train.shape[0] / np.maximum(X_train.sum(axis=0), 1))
        X_train, X_test = X_train * rarity, X_test * rarity
    if scaling in ("tf-idf", "unit length"):
        return normalize(X_train), normalize(X_test)
    return X_train, X_test


def standardised(halves):
    scaler = StandardScaler().fit(halves[0])
    return tuple(map(scaler.transform, halves))


def judged(space, predicted, truth):
    """Hamming, hierarchical (sibling weights) and zero-one loss of every row."""
    predicted, truth = np.asarray(predicted), np.asarray(truth)
    found = {
        "hamming": (predicted != truth).sum(axis=1),
        "hierarchical": HierarchicalLoss().bind(space)(predicted, truth),
        "zero_one": (predicted != truth).any(axis=1),
    }
    return {name: np.round(np.asarray(values, float), 7).tolist() for name, values in found.items()}


def answer(rows, fit, predict=None, risk=None, **chosen):
    """Fits and predicts: losses of test rows, CPU seconds of both, and what was chosen.

    ``fit()`` gives a model; ``predict(model, X)`` its outputs; ``chosen`` are functions of the
    model, and so is ``risk``, its loss on left-out training rows.
    """
    predict = predict or (lambda model, X: model.predict(X))
    start = time.process_time()
    model = fit()
    fitted = time.process_time()
    predict(model, rows.X_test[:2])  # what is compiled, or built once, is not counted
    warm = time.process_time()
    predicted = predict(model, rows.X_test)
    seconds = time.process_time() - warm
    return {
        "losses": rows.judged(predicted),
        "note": rows.note,
        "fit_seconds": fitted - start,
        "predict_ms": 1000 * seconds / rows.X_test.shape[0],
        "risk": None if risk is None else float(risk(model)),
        "chosen": {name: function(model) for name, function in chosen.items()},
    }
