# SPDX-License-Identifier: BSD-3-Clause
"""Fits that take many steps, one per learner that can be stopped, and what they end with."""

from __future__ import annotations

import hashlib
import warnings

import numpy as np

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    MaxMarginNetwork,
    MaxMarginTree,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.kernels import RBF, Laplacian
from skstruct.learners import AnnealedChains, CircuitRank, PersistentChains
from skstruct.spaces import Classes, LabelSets, Rankings, Sequences


def label_sets(seed=0, n=60, n_labels=5, n_features=4):
    """Rows, and labels of which neighbours go together; (n, f) and (n, l)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    noise = rng.standard_normal((n, n_labels))
    scores = X @ rng.standard_normal((n_features, n_labels)) + noise
    scores[:, 1:] += 0.7 * noise[:, :-1]
    return X, (scores > 0).astype(int)


def classes(seed=1, n=50):
    """Rows, and one of eight classes for each."""
    X, Y = label_sets(seed, n)
    return X, (Y @ [1, 2, 4, 0, 0]).tolist()


def rankings(seed=2, n=40, n_items=4):
    """Rows, and ranks of items that depend on them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    scores = X @ rng.standard_normal((3, n_items)) + rng.standard_normal((n, n_items))
    return X, np.argsort(np.argsort(-scores, axis=1), axis=1) + 1


def sentences(seed=3, n=25):
    """Sequences with a row of features per position, and their symbols."""
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((rng.integers(2, 6), 3)) for _ in range(n)]
    return X, [["abc"[k] for k in np.abs(x).argmax(axis=1)] for x in X]


def _tree(method, **settings):
    method = CircuitRank(n_restarts=3) if method == "crank" else method
    settings = {"alpha": 0.01, "tol": 1e-3, "random_state": 0} | settings
    return lambda: (MaxMarginTree(method=method, **settings), *label_sets(n=40, n_labels=4))


OWN_SEED = "svm, seed of its own"
CASES = {
    "svm": lambda: (
        StructuredSVM(LabelSets(), alpha=5e-3, tol=1e-3, random_state=0),
        *label_sets(),
    ),
    "svm, kernel": lambda: (
        StructuredSVM(LabelSets(), alpha=1e-3, kernel="rbf", tol=1e-3, random_state=0),
        *label_sets(),
    ),
    "svm, slack": lambda: (
        StructuredSVM(
            Rankings(), "spearman", rescaling="slack", alpha=0.01, max_iter=25, random_state=0
        ),
        *rankings(),
    ),
    "svm, chains": lambda: (
        StructuredSVM(Sequences(), alpha=0.01, tol=0.02, random_state=0),
        *sentences(),
    ),
    OWN_SEED: lambda: (
        StructuredSVM(
            LabelSets(), alpha=1e-3, kernel="rbf", n_landmarks=20, tol=1e-3, random_state=None
        ),
        *label_sets(),
    ),
    "network": lambda: (
        MaxMarginNetwork(alpha=5e-3, l1=0.01, tol=2e-3, random_state=0),
        *label_sets(),
    ),
    "tree, crank": _tree("crank"),
    "tree, crank, threads": _tree("crank", n_jobs=2),
    "tree, greedy": _tree("greedy"),
    "tree, mst": _tree("mst"),
    "tree, project": _tree("project"),
    "tree, chow-liu": _tree("chow-liu"),
    "tree, full": _tree("full"),
    "tree, empty": _tree("empty"),
    "perceptron": lambda: (StructuredPerceptron(LabelSets(), random_state=0), *label_sets()),
    "perceptron, kernel": lambda: (
        StructuredPerceptron(LabelSets(), kernel="rbf", random_state=np.random.RandomState(5)),
        *label_sets(),
    ),
    "exponential": lambda: (
        ExponentialFamily(Classes(), alpha=1e-4, random_state=0, fit_intercept=False),
        *classes(),
    ),
    "exponential, chains": lambda: (
        ExponentialFamily(Sequences(), alpha=1e-3, random_state=0, fit_intercept=False),
        *sentences(),
    ),
    "exponential, contrastive": lambda: (
        ExponentialFamily(
            Rankings(),
            alpha=1e-3,
            solver=PersistentChains(n_chains=4),
            max_iter=60,
            random_state=0,
            fit_intercept=False,
        ),
        *rankings(),
    ),
    "exponential, annealed": lambda: (
        ExponentialFamily(
            LabelSets(),
            alpha=1e-3,
            solver=AnnealedChains(n_chains=3),
            max_iter=20,
            random_state=0,
            fit_intercept=False,
        ),
        *label_sets(n=20),
    ),
    "risk": lambda: (
        ConditionalRiskMinimizer(
            LabelSets(), "f1", kernel=[RBF([0.1, 0.4]), Laplacian([0.1, 0.4])], alpha=[1, 0.1, 0.01]
        ),
        *label_sets(n=40),
    ),
    "output kernel": lambda: (
        OutputKernelRegressor(
            kernel=RBF([0.1, 0.5, 1.0]), output_kernel="dirac", alpha=[10.0, 1.0, 0.1]
        ),
        *classes(n=40),
    ),
    "output kernel, radius": lambda: (
        OutputKernelRegressor(
            kernel="rbf", output_kernel="dirac", method="sample_compression", cv=7, random_state=0
        ),
        *classes(n=40),
    ),
    "counting": lambda: (
        CountingRidge(LabelSets(), solver="newton-cg", random_state=0, cv=4),
        *label_sets(n=30),
    ),
    "counting, one by one": lambda: (
        CountingRidge(LabelSets(), kernel="rbf", random_state=3, n_landmarks=10),
        *label_sets(n=30),
    ),
}


def outcome(name, checkpoint=None, seed=0) -> str:
    """SHA-256 of all that the model of a case has learned, bit by bit, and of its predictions.

    ``seed`` is that of the generator which models without a seed take theirs from.
    """
    np.random.seed(seed)  # noqa: NPY002
    model, X, y = CASES[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # short of tol is as good here
        model.fit(X, y, checkpoint=checkpoint)
    return learned(model, X)


def learned(model, X) -> str:
    """SHA-256 of all numbers in a model, and of what it predicts."""
    found = [("predicted", str(list(model.predict(X)))), *_numbers("", model, set())]
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def _numbers(path, value, seen):
    """Paths and bytes of all arrays and numbers in an object."""
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield path, f"{value.dtype}{value.shape}" + hashlib.sha256(value.tobytes()).hexdigest()
    elif isinstance(value, (bool, int, str, type(None), np.generic)):
        yield path, repr(value)
    elif isinstance(value, float):
        yield path, value.hex()
    elif id(value) not in seen:
        seen = {*seen, id(value)}
        if isinstance(value, dict):
            parts = value.items()
        elif isinstance(value, (list, tuple)):
            parts = enumerate(value)
        elif isinstance(value, np.random.RandomState):
            parts = value.get_state(legacy=False).items()
        else:
            parts = getattr(value, "__dict__", {}).items()
        for name, part in parts:
            yield from _numbers(f"{path}/{name}", part, seen)
