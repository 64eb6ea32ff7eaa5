# SPDX-License-Identifier: BSD-3-Clause
"""Exactly one path: IMCLEF07A beside HiClass, which always answers with one.

Protocol: 2,000 (or the number given) training rows drawn at random, the published test rows. Ours:
features standardised, a Gaussian kernel; width and alpha chosen by leave-one-out on the training
rows under the Hamming loss; predictions over all closed sets, and restricted to exactly one path to
a leaf. The default: ConditionalRiskMinimizer(space, "hamming", random_state=0) on raw features,
predicting both ways too. HiClass: one local classifier per parent node, logistic regression or a
forest of 100 trees, on standardised features. ± is the standard error over test rows (that of F1,
which is pooled over rows and labels, by linearisation); "less ours" is the paired difference of
exact answers with "ours, exactly one path". CPU seconds of one thread: of ours to fit, of HiClass
to fit and predict.

Usage: python papers/one_path.py [--rows N] [--jobs N] [--only WORD] [--anew]
"""

import time

import numpy as np
from keeping import Figure, arguments, results
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.exceptions import MissingDataError
from skstruct.kernels import RBF
from skstruct.spaces import Hierarchy

FIRST = "ours, exactly one path"
HICLASS = {
    "HiClass, logistic per parent": LogisticRegression(max_iter=300),
    "HiClass, forest per parent": RandomForestClassifier(100, random_state=0),
}


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


def drawn(n_rows):
    """Random training rows, and the space."""
    data = load_hierarchical("imclef07a", np.random.default_rng(0).permutation(10_000)[:n_rows])
    return data, Hierarchy(data.edges, data.labels)


def ours(n_rows, default):
    """Any closed set, and exactly one path, of one model."""
    data, space = drawn(n_rows)
    scaler = StandardScaler().fit(data.X_train)
    scale = np.asarray if default else scaler.transform
    settings = {"random_state": 0} if default else {"kernel": RBF("auto")}
    start = time.process_time()
    model = ConditionalRiskMinimizer(space, "hamming", **settings)
    model.fit(scale(data.X_train), data.Y_train)
    seconds, X_test = time.process_time() - start, scale(data.X_test)
    found = {
        "any closed set": model.predict(X_test),
        "exactly one path": model.predict(X_test, restrict={"one_path": True}),
    }
    chosen = model.search_.best["smoother"] if default else (
        f"alpha {model.alpha_:.3g}, gamma {model.gamma_:.3g}")  # fmt: skip
    return {how: told(predicted, data.Y_test, seconds, chosen) for how, predicted in found.items()}


def hiclass(n_rows, title):
    data, space = drawn(n_rows)
    scaler = StandardScaler().fit(data.X_train)
    X, X_test = scaler.transform(data.X_train), scaler.transform(data.X_test)
    start = time.process_time()
    try:
        predicted = hiclass_predictions(X, data.Y_train, X_test, space, HICLASS[title])
    except ImportError:  # said, and not kept
        raise MissingDataError("pip install hiclass") from None
    return told(predicted, data.Y_test, time.process_time() - start, "")


def told(predicted, truth, seconds, chosen):
    predicted, truth = np.asarray(predicted, int), np.asarray(truth, int)
    return {
        "exact": (predicted == truth).all(axis=1).tolist(),
        "common": (predicted & truth).sum(axis=1).tolist(),
        "sizes": (predicted.sum(axis=1) + truth.sum(axis=1)).tolist(),
        "seconds": seconds,
        "chosen": chosen,
    }


def pooled_f1(common, sizes):
    """2 |common| / |sizes|, both summed over rows, with the error of a ratio of means."""
    common, sizes = np.asarray(common, float), np.asarray(sizes, float)
    value = 2 * common.sum() / sizes.sum()
    spread = Figure.of((2 * common - value * sizes) / sizes.mean())
    return Figure(float(value), spread.error)


def rows_of(found, n_rows):
    for who, key in (("ours", "ours"), ("ours, default", "default")):
        for how, row in found.get(f"{n_rows}/{key}", {}).items():
            yield f"{who}, {how}", row
    for title in HICLASS:
        if row := found.get(f"{n_rows}/{title}"):
            yield title, row


def main():
    given = arguments(__doc__, ("--rows", {"type": int, "default": 2000}))
    tasks = {f"{given.rows}/{key}": (ours, given.rows, key == "default")
             for key in ("ours", "default")}  # fmt: skip
    tasks |= {f"{given.rows}/{title}": (hiclass, given.rows, title) for title in HICLASS}
    rows = dict(rows_of(results("one_path", tasks, given), given.rows))
    if FIRST not in rows:
        return
    print(f"IMCLEF07A, {given.rows} random training rows")
    print(f"   {'':34s} {'exact':>16s} {'less ours':>17s} {'hierarchical F1':>16s} {'CPU s':>8s}"
          "   chosen")  # fmt: skip
    for title, row in rows.items():
        less = Figure.of(np.subtract(row["exact"], rows[FIRST]["exact"], dtype=float))
        text = "" if title == FIRST else f"{less.mean:+.4f} ± {less.error:.4f}"
        print(f"   {title:34s} {Figure.of(row['exact']).text(4):>16s} {text:>17s} "
              f"{pooled_f1(row['common'], row['sizes']).text(4):>16s} {row['seconds']:8.1f}   "
              f"{row['chosen']}".rstrip())  # fmt: skip


if __name__ == "__main__":
    main()
