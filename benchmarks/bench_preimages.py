# SPDX-License-Identifier: BSD-3-Clause
"""Pre-images of n-gram counts: rows per second, share proven, gaps; brute force, plain Python."""

from __future__ import annotations

from functools import partial

import numpy as np
from harness import Table, at_most, compare, median, ratio

from skstruct.spaces import Strings

SMALL = [(2, 2, 16), (4, 2, 8), (4, 3, 8)]  # symbols, n, length: brute force lists them all
LARGE = [
    (4, 2, 20), (4, 3, 20), (4, 3, 50), (4, 4, 50), (10, 2, 40),
    (20, 2, 15), (20, 3, 15), (20, 3, 40), (26, 2, 12), (26, 3, 12), (26, 3, 30),
]  # fmt: skip


def votes(space, n_rows, rng, n_strings=30, noise=0.4):
    """g as kernel ridge makes it: signed weights on noisy copies of one string per row."""
    q, T = len(space.symbols_), space.length_
    g = np.empty((n_rows, q**space.n))
    for row in g:
        Z = np.repeat(space.sample(1, rng), n_strings, axis=0)
        changed = rng.random(Z.shape) < noise
        Z[changed] = rng.integers(0, q, int(changed.sum()))
        weights = rng.normal(1 / n_strings, 2 / n_strings, n_strings)
        row[:] = weights @ space.embed(Z.reshape(-1, T)).toarray()
    return g


def by_brute_force(space, psi, squares, g):
    return (squares - 2 * g @ psi.T).min(axis=1)


def by_beam(space, g, width):
    """Values of a beam search in plain Python on what beginnings cost; width 1 is greedy."""
    return np.array([_beam(row.tolist(), len(space.symbols_), space.n, space.length_, width)
                     for row in g])  # fmt: skip


def _beam(g, q, n, length, width):
    states = q ** (n - 1)
    beam = [(0.0, s, ()) for s in range(states)]
    for _ in range(length - n + 1):
        longer = []
        for value, s, grams in beam:
            for c in range(s * q, s * q + q):
                step = 2 * grams.count(c) + 1 - 2 * g[c]
                longer.append((value + step, c % states, (*grams, c)))
        longer.sort()
        beam = longer[:width]
    return beam[0][0]


def described(decoded):
    gap = decoded.values - decoded.bounds
    return (
        f"{(gap == 0).mean():.0%} proven, gap {gap.mean():.2g} on average, {gap.max():.2g} at most"
    )


def bench_small(n_rows=20):
    table = Table("Few strings: the nearest of all, CPU time per row", "peer / ours")
    rng = np.random.default_rng(0)
    for q, n, T in SMALL:
        space = Strings(range(q), T, n)
        g = votes(space, n_rows, rng)
        psi = space.embed(space.enumerate()).toarray()
        squares = (psi**2).sum(axis=1)
        calls = {
            "ours": partial(space.nearest, g),
            "all": partial(by_brute_force, space, psi, squares, g),
        }
        decoded = calls["ours"]()
        np.testing.assert_allclose(decoded.values, calls["all"](), atol=1e-9)
        times = compare(calls, dict.fromkeys(calls, n_rows), budget=5)
        name = f"{q} symbols, {n}-grams, length {T}"
        table.add(f"{name}: Strings", median(times, "ours"), target=at_most(0.1))
        table.add(f"{name}: all {len(psi)} strings", median(times, "all"),
                  ratio(times, "all", "ours"))  # fmt: skip
        table.note(described(decoded))


def bench_large(n_rows=10, few=3):
    table = Table("Too many strings to list, CPU time per row", "peer / ours")
    rng = np.random.default_rng(1)
    for q, n, T in LARGE:
        space = Strings(range(q), T, n)
        g = votes(space, n_rows, rng)
        width = 100
        calls = {
            "ours": partial(space.nearest, g),
            "greedy": partial(by_beam, space, g[:few], 1),
            "beam": partial(by_beam, space, g[:few], width),
        }
        decoded = calls["ours"]()
        times = compare(calls, {"ours": n_rows, "greedy": few, "beam": few}, rounds=3, budget=3)
        name = f"{q} symbols, {n}-grams, length {T}"
        table.add(f"{name}: Strings", median(times, "ours"), target=at_most(0.1))
        table.note(f"{1 / median(times, 'ours'):.0f} rows per second; {described(decoded)}")
        excess = {}
        for peer in ("greedy", "beam"):
            excess[peer] = (calls[peer]() - decoded.values[:few]).mean()
            table.add(f"{name}: {peer} in Python", median(times, peer), ratio(times, peer, "ours"))
        table.note(f"dearer than ours by {excess['greedy']:.2g} (greedy), {excess['beam']:.2g} "
                   f"(beam of {width}); ours is {decoded.values[:few].mean():.3g}")  # fmt: skip


def bench_linear(n_rows=200):
    table = Table("Linear costs: the minimum-cost string, CPU time per row", "")
    rng = np.random.default_rng(2)
    for q, n, T in LARGE:
        space = Strings(range(q), T, n)
        costs = rng.normal(0, 1, (n_rows, q**n))
        times = compare({"ours": partial(space.argmin, costs)}, {"ours": n_rows}, budget=2)
        table.add(f"{q} symbols, {n}-grams, length {T}: Strings", median(times, "ours"))


if __name__ == "__main__":
    bench_small()
    bench_large()
    bench_linear()
