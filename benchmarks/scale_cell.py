# SPDX-License-Identifier: BSD-3-Clause
"""One measurement of scale, in a process of its own: time, peak memory, loss on rows held out.

Labels are smooth functions of four hidden numbers, seen through 80 noisy features. Rows are the
same for every method, and the first ones of a larger sample are those of a smaller one.

Usage: python benchmarks/scale_cell.py '{"method": "onepass", "n": 1000, "d": 100, "m": 500}'
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from harness import bytes_before, peak_bytes
from scale_peers import BareExact, FalkonStyle
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge as SklearnKernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.kernels import RBF
from skstruct.smoothing import KernelRidge, NystroemRidge
from skstruct.spaces import LabelSets

P, HIDDEN, ROWS = 80, 4, 5000  # features, numbers behind them, rows that are made at once
GAMMA, ALPHA = 2.0 / P, 1.0
ITERATIONS = 20
HELD_OUT = 2000
AGAIN = 5.0  # a fit that takes less seconds is timed three times


# ---------------------------------------------------------------------- rows
def make_rows(n, d, *, held_out=False):
    """Inputs (n, 80) and label sets (n, d) of one byte each; made in blocks, in place."""
    X, Y = np.empty((n, P)), np.empty((n, d), dtype=np.int8)
    for number, start in enumerate(range(0, n, ROWS)):
        rows = slice(start, min(start + ROWS, n))
        x, y, _ = _block([int(held_out), number], d)
        X[rows], Y[rows] = x[: rows.stop - start], y[: rows.stop - start]
    return X, Y


def _block(seed, d):
    """Features, labels and the probabilities of labels for 5,000 rows."""
    distribution = np.random.default_rng(0)  # what does not depend on rows
    mixing, shift = distribution.standard_normal((HIDDEN, P)), distribution.uniform(0, 2 * np.pi, P)
    rng = np.random.default_rng(seed)
    U = rng.standard_normal((ROWS, HIDDEN))
    X = np.sin(U @ mixing + shift) + 0.15 * rng.standard_normal((ROWS, P))
    waves = 1.2 * distribution.standard_normal((HIDDEN, d))
    height = np.sin(U @ waves + distribution.uniform(0, 2 * np.pi, d)) + distribution.normal(
        -0.3, 0.5, d
    )
    probabilities = 1.0 / (1.0 + np.exp(-4.0 * height))
    return X, (rng.random(probabilities.shape) < probabilities).astype(np.int8), probabilities


def loss_levels(d):
    """Mean Hamming loss of the best constant answer, and of who knows the distribution."""
    _, Y, probabilities = _block([1, 0], d)
    Y, probabilities = Y[:HELD_OUT], probabilities[:HELD_OUT]
    share = Y.mean(axis=0)
    best = ((probabilities > 0.5) != Y).mean()
    return float(np.minimum(share, 1.0 - share).mean()), float(best)


# ---------------------------------------------------------------------- methods
@dataclass(frozen=True)
class Method:
    """What is measured, and what it is expected to take.

    Flops and bytes are functions of n, d, m; they decide what is left out, and flops are the
    floor of a method: nobody who goes this way computes less.
    """

    title: str
    make: Callable  # m -> estimator
    kind: str  # "exact": doubles as targets; "pass": label sets as they are
    flops: Callable
    bytes: Callable
    settings: dict = field(default_factory=dict)  # of the machine


def _exact_flops(n, d, m):
    return n**3 / 3 + n**2 * P + 2 * n**2 * d


def _pass_flops(n, d, m):
    """Whitening and square n m^2 each, kernel, products with targets; factors and solves of m."""
    return 2 * n * m**2 + 2 * n * m * (P + d) + 2 * m**3 / 3 + 3 * m**2 * d


def _falkon_flops(n, d, m):
    return (
        ITERATIONS * (n * m * (2 * P + 4 * d) + 4 * m**2 * d) + 2 * n * m * (P + d) + 5 * m**3 / 3
    )


def _sklearn_pass_flops(n, d, m):
    """Features times the root of K_mm, their square, and a singular value decomposition."""
    return 3 * n * m**2 + 2 * n * m * (P + d) + 10 * m**3


def _exact_bytes(matrices):
    return lambda n, d, m: 8 * (matrices * n**2 + 3 * n * d + n * P)


def _pass_bytes(n, d, m):
    return 8 * (4 * m**2 + 4 * m * d + n * (P + d)) + 1e9


def _ridge(**settings):
    return lambda m: KernelRidge(RBF(GAMMA), alpha=ALPHA, fit_intercept=False, **settings)


def _sklearn_pass(m):
    features = Nystroem(kernel="rbf", gamma=GAMMA, n_components=m, random_state=0)
    return make_pipeline(features, Ridge(alpha=ALPHA, fit_intercept=False))


def _one_pass(m):
    return NystroemRidge(RBF(GAMMA), alpha=ALPHA, n_landmarks=m, fit_intercept=False)


def _learner(m):
    settings = {"kernel": RBF(GAMMA), "alpha": ALPHA, "solver": "nystroem", "n_landmarks": m}
    return ConditionalRiskMinimizer(LabelSets(), "hamming", random_state=0, **settings)


METHODS = {
    "bare": Method("bare potrf + potrs", lambda m: BareExact(GAMMA, ALPHA),
                   "exact", _exact_flops, _exact_bytes(1.1)),
    "cholesky": Method("ours, exact", _ridge(solver="cholesky"),
                       "exact", _exact_flops, _exact_bytes(1.2)),
    "packed": Method("ours, exact, packed", _ridge(solver="packed"),
                     "exact", _exact_flops, _exact_bytes(0.7)),
    "mixed": Method("ours, exact, packed, mixed", _ridge(solver="packed"),
                    "exact", _exact_flops, _exact_bytes(0.5), {"precision": "mixed"}),
    "sklearn": Method("scikit-learn KernelRidge",
                      lambda m: SklearnKernelRidge(alpha=ALPHA, kernel="rbf", gamma=GAMMA),
                      "exact", _exact_flops, _exact_bytes(3.3)),
    "onepass": Method("ours, one pass", _one_pass, "pass", _pass_flops, _pass_bytes),
    "learner": Method("ours, one pass, learner", _learner, "pass", _pass_flops, _pass_bytes),
    "sklearn_pass": Method("scikit-learn Nystroem, Ridge", _sklearn_pass, "pass",
                           _sklearn_pass_flops, lambda n, d, m: 8 * n * (2.5 * m + 3 * d + P)),
    "falkon": Method("Falkon-style, 20 steps", lambda m: FalkonStyle(GAMMA, ALPHA, m,
                     iterations=ITERATIONS), "pass", _falkon_flops, _pass_bytes),
}  # fmt: skip


# ---------------------------------------------------------------------- measuring
def measured(method, n, d, m):
    """All figures of one cell, as they are kept."""
    with config_context(**METHODS[method].settings):
        return _measured(method, METHODS[method], n, d, m)


def _measured(method, how, n, d, m):
    X, Y = make_rows(n, d)
    targets = Y.astype(np.float64) if how.kind == "exact" else Y
    X_test, Y_test = make_rows(HELD_OUT, d, held_out=True)
    warm = how.make(min(m, 20)).fit(X[:50], targets[:50])
    means_or_sets(warm, X_test[:5])  # what is loaded and compiled once does not count
    rates = [gemm_rate()]
    before, times, model = bytes_before(), [], None
    while not times or (len(times) < 3 and times[0]["wall"] < AGAIN):
        del model
        wall, cpu = time.perf_counter(), time.process_time()
        model = how.make(m).fit(X, targets)
        spent = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        for clock in ("wall", "cpu"):
            spent[f"lapack_{clock}"] = getattr(model, f"lapack_{clock}_", None)
        times.append(spent)
    peak = peak_bytes()
    rates.append(gemm_rate())  # the better one is the harder floor
    loss = float((means_or_sets(model, X_test) != Y_test).mean())
    middle = {name: _median(times, name) for name in times[0]}
    return {
        "method": method, "n": n, "d": d, "m": m, **middle, "fits": len(times),
        "gemm_wall": max(r["wall"] for r in rates), "gemm_cpu": max(r["cpu"] for r in rates),
        "flops": how.flops(n, d, m),
        "before": before, "peak": peak, "growth": peak - before, "loss": loss,
    }  # fmt: skip


def _median(times, name):
    values = [spent[name] for spent in times]
    return None if None in values else statistics.median(values)


def means_or_sets(model, X):
    """Label sets of least Hamming loss: labels that are likelier than not."""
    found = model.predict(X)
    return found if isinstance(model, ConditionalRiskMinimizer) else found > 0.5


def gemm_rate(size=1200, rounds=3):
    """Operations per second of products of doubles, by wall and CPU time: medians."""
    A = np.random.default_rng(0).standard_normal((size, size))
    product, seconds = np.empty_like(A), []
    for _ in range(rounds + 1):
        wall, cpu = time.perf_counter(), time.process_time()
        np.matmul(A, A, out=product)
        seconds.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = (statistics.median(column) for column in zip(*seconds[1:]))
    return {"wall": 2 * size**3 / wall, "cpu": 2 * size**3 / cpu}


if __name__ == "__main__":
    print(json.dumps(measured(**json.loads(sys.argv[1]))))
