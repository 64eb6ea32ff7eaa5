# SPDX-License-Identifier: BSD-3-Clause
"""What the default makes of many rows, beside a linear ridge regression cut at one half.

Two made data sets of label sets: words (sparse inputs, labels that are linear in them) and dense
inputs with rare labels. Train rows choose everything; the figures are of 2,000 rows apart.

    python benchmarks/many_rows.py             # 50,000 rows, 500 labels: some minutes
    python benchmarks/many_rows.py --rows 22000 --labels 20
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from skstruct import ConditionalRiskMinimizer
from skstruct.smoothing import LinearRidge
from skstruct.spaces import LabelSets

TEST_ROWS = 2_000


def words(n, d, rng):
    """Rows of 40 words of 20,000; a label is there where the words it likes weigh enough."""
    p = 20_000
    X = sparse.random_array((n, p), density=0.002, rng=rng, format="csr")
    W = np.zeros((p, d))
    for j in range(d):
        W[rng.choice(p, 400, replace=False), j] = rng.standard_normal(400)
    return X, _rarest(X @ W, 0.03)


def dense(n, d, rng):
    """200 inputs; labels are rare, and bent functions of ten directions."""
    X = rng.standard_normal((n, 200))
    bent = np.tanh(2.0 * X @ rng.standard_normal((200, 10)) / np.sqrt(200))
    scores = bent @ rng.standard_normal((10, d)) + 0.2 * rng.standard_normal((n, d))
    return X, _rarest(scores, 0.066)


def _rarest(scores, share):
    return (scores > np.quantile(scores, 1.0 - share, axis=0)).astype(np.int8)


def figures(name, Z, Y, seconds, note=""):
    wrong = np.abs(Z.astype(int) - Y).sum(axis=1)
    error = wrong.std(ddof=1) / np.sqrt(len(wrong))
    f1 = 2.0 * (Z & Y).sum() / max(1, Z.sum() + Y.sum())
    print(
        f"  {name:26} {wrong.mean():8.3f} ± {error:.3f}  micro F1 {f1:.3f} {seconds:7.1f} s {note}",
        flush=True,
    )


def run(name, make, n, d):
    X, Y = make(n + TEST_ROWS, d, np.random.default_rng(0))
    train, test = slice(0, n), slice(n, None)
    print(
        f"\n{name}: {n:,} rows, {X.shape[1]:,} inputs, {d} labels, {Y.sum(axis=1).mean():.1f} a row"
    )
    print("  model                      wrong labels a row (± standard error), CPU seconds of fit")
    figures("the empty set", np.zeros_like(Y[test]), Y[test], 0.0)

    start = time.process_time()
    ridge = LinearRidge(1.0).fit(X[train], Y[train].astype(float))
    spent = time.process_time() - start
    figures(
        "linear ridge, alpha 1, 1/2", (ridge.predict(X[test]) > 0.5).astype(np.int8), Y[test], spent
    )

    start = time.process_time()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother="kernel_ridge").fit(
            X[train], Y[train]
        )
    spent = time.process_time() - start
    smoother = model.smoother_
    note = f"{model.kernel_}, {model.solver_}, alpha {model.alpha_:.3g}"
    if hasattr(smoother, "n_landmarks_"):
        note += f", {smoother.n_landmarks_:,} features, {smoother.residual_:.0%} of the trace left"
    figures("ours, default", model.predict(X[test]).astype(np.int8), Y[test], spent, note)
    for warning in warned:
        print(f"    warned: {str(warning.message)[:110]} ...")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--labels", type=int, default=500)
    parser.add_argument("--only", choices=["words", "dense"])
    options = parser.parse_args()
    with threadpool_limits(limits=1):
        for name, make in (("words", words), ("dense", dense)):
            if options.only in (None, name):
                run(name, make, options.rows, options.labels)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\npeak memory {peak:.2f} GB")


if __name__ == "__main__":
    main()
