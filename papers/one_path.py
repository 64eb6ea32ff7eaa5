# SPDX-License-Identifier: BSD-3-Clause
"""Exactly one path: IMCLEF07A beside HiClass, which always answers with one.

Protocol: 2,000 (or the number given) training rows drawn at random, the published test
rows, features standardised. Ours: a Gaussian kernel; width and alpha chosen by
leave-one-out on the training rows under the Hamming loss; predictions over all closed
sets, and restricted to exactly one path to a leaf. HiClass: one local classifier per
parent node, logistic regression or a forest of 100 trees, in the same run.

Usage: python papers/one_path.py [n_rows]
"""

import sys
import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.exceptions import MissingDataError
from skstruct.kernels import RBF
from skstruct.spaces import Hierarchy


def report(name, predicted, truth, seconds):
    exact = (predicted == truth).all(axis=1).mean()
    hierarchical_f1 = 2 * (predicted & truth).sum() / (predicted.sum() + truth.sum())
    print(f"   {name:34s} {exact:8.4f} {hierarchical_f1:8.4f} {seconds:8.1f} s", flush=True)


def hiclass_predictions(X, Y, X_test, space, base):
    """HiClass takes one column per level; here the path to the leaf of each row."""
    from hiclass import LocalClassifierPerParentNode

    names, depth = np.array(space.labels_, dtype=object), space.dag_.depth
    levels = np.full((len(Y), depth.max() + 1), "", dtype=object)
    row, label = np.nonzero(Y)
    levels[row, depth[label]] = names[label]
    model = LocalClassifierPerParentNode(local_classifier=base).fit(X, levels)
    predicted = np.zeros((len(X_test), len(names)), np.int8)
    for i, path in enumerate(model.predict(X_test)):
        predicted[i, [space.edges.number[name] for name in path if name in space.edges.number]] = 1
    return predicted


def main(n_rows=2000):
    try:
        picked = np.random.default_rng(0).permutation(10_000)[:n_rows]
        data = load_hierarchical("imclef07a", picked)
    except MissingDataError as error:
        print(error)
        return
    scaler = StandardScaler().fit(data.X_train)
    X, X_test = scaler.transform(data.X_train), scaler.transform(data.X_test)
    space = Hierarchy(data.edges, data.labels)
    print(f"IMCLEF07A, {n_rows} random training rows: exact accuracy, hierarchical F1, time")
    started = time.perf_counter()
    model = ConditionalRiskMinimizer(space, "hamming", kernel=RBF("auto")).fit(X, data.Y_train)
    spent = time.perf_counter() - started
    report("ours, any closed set", model.predict(X_test), data.Y_test, spent)
    paths = model.predict(X_test, restrict={"one_path": True})
    report("ours, exactly one path", paths, data.Y_test, spent)
    peers = {
        "HiClass, logistic per parent": LogisticRegression(max_iter=300),
        "HiClass, forest per parent": RandomForestClassifier(100, random_state=0),
    }
    for name, base in peers.items():
        started = time.perf_counter()
        try:
            predicted = hiclass_predictions(X, data.Y_train, X_test, space, base)
        except ImportError:
            print("   HiClass is not installed: pip install hiclass")
            return
        report(name, predicted, data.Y_test, time.perf_counter() - started)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
