# SPDX-License-Identifier: BSD-3-Clause
"""Decoding numbers: breakpoint scans and certified search against loops over SciPy."""

from __future__ import annotations

from functools import partial

import numpy as np
from harness import Table, at_least, compare, median, ratio
from scipy.optimize import minimize_scalar

from skstruct.losses import Absolute, Cauchy, GemanMcClure, Huber, Pinball
from skstruct.spaces import Interval

ROWS = 1000  # decoded at once
FEW = 10  # by the peers, which take long
GRID = 1000


def weights_of_ridge(n_rows, n, rng):
    """Weights that sum to one, about a third of them negative, as kernel ridge has them."""
    W = rng.dirichlet(np.full(n, 0.3), n_rows) + rng.normal(0, 0.3 / n, (n_rows, n))
    return W / W.sum(axis=1, keepdims=True)


def by_bounded_search(loss, W, y, low, high):
    """One local minimum of each row, by Brent's method."""
    return [local_minimum(loss, w, y, (low, high)) for w in W]


def local_minimum(loss, w, y, constraints):
    return minimize_scalar(lambda t: w @ loss.rho(t, y), bounds=constraints, method="bounded").fun


def by_grid(loss, W, y, low, high):
    """The best point of a grid, polished: mostly the global minimum."""
    grid = np.linspace(low, high, GRID + 1)
    values = []
    for w in W:
        risks = np.array([w @ loss.rho(t, y) for t in grid])
        k = int(risks.argmin())
        around = grid[max(k - 1, 0)], grid[min(k + 1, GRID)]
        values.append(min(risks[k], local_minimum(loss, w, y, around)))
    return values


def bench_numbers():
    table = Table("One number, CPU time per row on one thread", "peer / ours")
    rng = np.random.default_rng(0)
    for n in (30, 100, 1000):
        y = np.sort(rng.standard_t(3, n) + 4.0 * rng.integers(0, 2, n))  # two valleys
        W, few = weights_of_ridge(ROWS, n, rng), slice(FEW)
        space = Interval().fit(y)
        low, high = y[0], y[-1]
        for loss in (Absolute(), Pinball(0.9), Huber(0.5), Cauchy(0.5), GemanMcClure()):
            ours = partial(loss.minimize, W, y[:, None], space)
            decided = ours()
            gap = (decided.values - decided.bounds).max()
            best = by_grid(loss, W[few], y, low, high)
            missed = (
                by_bounded_search(loss, W[few], y, low, high) > decided.values[few] + 1e-6
            ).sum()
            assert (decided.values[few] <= np.array(best) + 1e-9).all()
            calls = {
                "ours": ours,
                "brent": partial(by_bounded_search, loss, W[few], y, low, high),
                "grid": partial(by_grid, loss, W[few], y, low, high),
                "sort": partial(np.sort, W, axis=1),
            }
            times = compare(
                calls, {"ours": ROWS, "brent": FEW, "grid": FEW, "sort": ROWS}, budget=6
            )
            name = f"{loss!r}, {n} outputs"
            table.add(f"{name}: ours, largest gap {gap:.1e}", median(times, "ours"))
            table.add(f"{name}: grid of {GRID}, polished", median(times, "grid"),
                      ratio(times, "grid", "ours"), at_least(100))  # fmt: skip
            table.add(f"{name}: Brent, local ({missed} of {FEW} missed)",
                      median(times, "brent"), ratio(times, "brent", "ours"))  # fmt: skip
            table.add(f"{name}: sorting as many numbers", median(times, "sort"),
                      ratio(times, "sort", "ours"))  # fmt: skip


if __name__ == "__main__":
    bench_numbers()
