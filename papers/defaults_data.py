# SPDX-License-Identifier: BSD-3-Clause
"""Data sets of papers/defaults.py: inputs, outputs, space, measures, and splits into rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from defaults_measures import (
    CLASS_MEASURES,
    LABEL_MEASURES,
    QUANTITY_MEASURES,
    RANKING_MEASURES,
    TOKEN_MEASURES,
    hierarchy_measures,
)
from scipy import sparse
from sklearn import datasets as embedded
from sklearn.preprocessing import StandardScaler

from skstruct.datasets import load, make_digit_chains, names
from skstruct.spaces import Box, Classes, Hierarchy, Interval, LabelSets, Rankings, Sequences

FEW_ROWS = 3000  # up to here random splits of all rows, beyond one split
N_SPLITS = 10
LARGE = ("calhousing", "cpu", "elevators", "fried", "pendigits", "imclef07a", "imclef07d",
         "spo_fun", "spo_go", "reuters", "usps", "ocr_words", "conll2000")  # fmt: skip
# Words, grey values, latent semantic features: columns of one scale, which others have not.
ONE_SCALE = ("enron", "medical", "pheno_fun", "pheno_go", "reuters", "wipo", "digit_shapes",
             "digit_halves", "usps", "digits")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Case:
    """A data set as every method gets it; the first ``n_given`` rows are for training, if given."""

    name: str
    task: str  # labels, hierarchy, ranking, sequence, quantities or classes
    X: Any  # (n, p) array or csr_array; for sequences a list, with features for every position
    Y: Any
    space: Any
    measures: tuple[Any, ...]
    n_given: int | None = None

    def __len__(self):
        return len(self.Y)

    @property
    def one_split(self):
        return len(self) > FEW_ROWS or self.task == "sequence"

    def split(self, number):
        """Rows for training and for testing; the published ones of large sets, where there are."""
        if self.one_split and self.n_given is not None:
            rows = np.arange(len(self))
            return rows[: self.n_given], rows[self.n_given :]
        rows = np.random.default_rng(number).permutation(len(self))
        n_train = round(2 * len(self) / 3)
        return rows[:n_train], rows[n_train:]

    def parts(self, number):
        """Inputs and outputs of both parts; inputs are scaled by what the first part shows."""
        train, test = self.split(number)
        X, X_test = self.scaled(train, test)
        return X, take(self.Y, train), X_test, take(self.Y, test)

    def scaled(self, train, test):
        """Inputs of both parts, scaled by what the first one shows."""
        X, X_test = take(self.X, train), take(self.X, test)
        if self.name in ONE_SCALE or self.task == "sequence" or sparse.issparse(self.X):
            return X, X_test
        scaler = StandardScaler().fit(X)
        return scaler.transform(X), scaler.transform(X_test)


def take(values, rows):
    """Rows of an array or of a list."""
    return [values[i] for i in rows] if isinstance(values, list) else values[rows]


def stacked(first, second):
    return sparse.vstack([first, second], "csr") if sparse.issparse(first) else np.vstack(
        [first, second]
    )  # fmt: skip


# ---------------------------------------------------------------------- by task


def label_case(name):
    data = load(name)
    X, Y = stacked(data.X_train, data.X_test), np.vstack([data.Y_train, data.Y_test])
    return Case(name, "labels", X, Y.astype(int), LabelSets(), LABEL_MEASURES, len(data.Y_train))


def hierarchy_case(name):
    data = load(name)
    X, Y = stacked(data.X_train, data.X_test), np.vstack([data.Y_train, data.Y_test])
    space = Hierarchy(data.edges, data.labels)
    measures = hierarchy_measures(space)
    return Case(name, "hierarchy", X, Y.astype(int), space, measures, len(data.Y_train))


def ranking_case(name):
    """Sets of this task; two of them have namesakes among the classes."""
    data = load(name)
    title = f"{name}_ranking" if name in ("iris", "wine") else name
    return Case(title, "ranking", data.X, data.Y, Rankings(), RANKING_MEASURES)


def class_case(name):
    X, y = getattr(embedded, f"load_{name}")(return_X_y=True)
    X = X / 16.0 if name == "digits" else X
    return Case(name, "classes", X, y, Classes(), CLASS_MEASURES)


def quantity_case(name):
    """One or three numbers per row, or the lower half of an image from the upper one."""
    n_given = None
    if name in ("diabetes", "linnerud"):
        X, Y = getattr(embedded, f"load_{name}")(return_X_y=True)
    else:
        if name == "usps":
            data = load(name)
            grey, n_given = (np.vstack([data.train, data.test]) + 1) / 2, len(data.train)
        else:
            grey = embedded.load_digits(return_X_y=True)[0] / 16.0
        X, Y = np.hsplit(grey, 2)
    space = Interval() if Y.ndim == 1 else Box()
    return Case(name, "quantities", X, Y, space, QUANTITY_MEASURES, n_given)


def token_case(name):
    """Symbols for all positions; the first ``n_given`` sequences are for training."""
    if name == "digit_chains":
        data = make_digit_chains()
        X, Y, n_given = data.X_train + data.X_test, data.y_train + data.y_test, len(data.X_train)
    elif name == "ocr_words":  # one of ten parts is for training, as Taskar et al. (2004) do
        data = load(name)
        order = np.argsort(data.folds, kind="stable")
        X, Y = [windows(data.images[i]) for i in order], [data.words[i] for i in order]
        n_given = int((data.folds == 0).sum())
    else:
        from chunking import features, frequent

        data = load(name)
        train = frequent([features(x) for x in data.train])
        kept = {name for x in train for token in x for name in token}
        test = [[[f for f in token if f in kept] for token in features(x)] for x in data.test]
        X, Y, n_given = train + test, [*data.train_tags, *data.test_tags], len(train)
    return Case(name, "sequence", X, Y, Sequences(), TOKEN_MEASURES, n_given)


def windows(images, reach=2):
    """Each letter's image beside those of so many letters to each side; zeros beyond the word."""
    padded = np.pad(images, [(reach, reach), (0, 0)])
    return np.hstack([padded[k : k + len(images)] for k in range(2 * reach + 1)])


# ---------------------------------------------------------------------- all of them


EMBEDDED: dict[str, Callable[[], Case]] = {
    **{name: partial(class_case, name) for name in ("iris", "wine", "breast_cancer", "digits")},
    **{name: partial(quantity_case, name) for name in ("linnerud", "diabetes", "digit_halves")},
    "digit_shapes": partial(hierarchy_case, "digit_shapes"),
    "digit_chains": partial(token_case, "digit_chains"),
}


def all_cases() -> dict[str, Callable[[], Case]]:
    """Functions that load each data set, by name; those of one large split come last."""
    known = names()
    found = dict(EMBEDDED)
    for name in known["ranking"]:
        title = f"{name}_ranking" if name in EMBEDDED else name
        found[title] = partial(ranking_case, name)
    found |= {name: partial(label_case, name) for name in known["labels"]}
    # Enzymes are texts without features; they have a script of their own, papers/enzymes.py.
    found |= {name: partial(hierarchy_case, name) for name in known["hierarchy"]
              if name not in ("enzymes", "digit_shapes")}  # fmt: skip
    found["usps"] = partial(quantity_case, "usps")
    found |= {name: partial(token_case, name) for name in known["sequence"]}
    return dict(sorted(found.items(), key=lambda item: item[0] in LARGE))
