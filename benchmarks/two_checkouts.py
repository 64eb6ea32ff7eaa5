# SPDX-License-Identifier: BSD-3-Clause
"""Has a change made something slower? Hot paths of two checkouts, in turns.

    python benchmarks/two_checkouts.py OLD NEW [--rounds 5]

OLD and NEW are folders with a ``src/``. Every round starts a fresh process for each of them, the
order changing from round to round; a process compiles first, then takes the least of three times
of every call. The ratio is that of the medians over rounds, CPU time on one thread. Calls use
public names only, which both checkouts must have.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
SLOWER = 1.05  # ratios above it are marked


def decoders(rng):
    """One call of ``argmin`` for each structure: name, function."""
    from skstruct import spaces

    names = [f"l{j}" for j in range(60)]
    edges = [(names[(j - 1) // 2], names[j]) for j in range(1, 60)]
    nodes = list("abcdefghij")
    made = {
        "Classes": (spaces.Classes(list("abcdefgh")), 20_000),
        "LabelSets": (spaces.LabelSets(names, min_size=2, max_size=9), 5_000),
        "Hierarchy": (spaces.Hierarchy(edges), 5_000),
        "Rankings positions": (spaces.Rankings(nodes, "positions"), 1_000),
        "Rankings pairs": (spaces.Rankings(nodes, "pairs"), 200),
        "Cycles": (spaces.Cycles(nodes[:9]), 200),
        "SpanningTrees": (spaces.SpanningTrees(nodes), 2_000),
        "Matchings": (spaces.Matchings(nodes), 500),
        "Tournaments": (spaces.Tournaments(nodes[:6]), 2_000),
        "Cliques": (spaces.Cliques(nodes), 300),
        "Sequences": (spaces.Sequences(list("abcdef"), length=30), 300),
        "Simplex": (spaces.Simplex(1.0), 2_000),
    }
    for name, (space, n) in made.items():
        if name == "Simplex":
            space = space.fit(rng.dirichlet(np.ones(10), size=20))
        elif hasattr(space, "fit") and not hasattr(space, "labels_"):
            space = space.fit([])
        costs = rng.standard_normal((n, space.embed(space.sample(1, rng)).shape[1]))
        yield name, lambda space=space, costs=costs: space.argmin(costs)


def learners(rng):
    """Fits and predictions of the main learners: name, function."""
    from skstruct import ConditionalRiskMinimizer, spaces
    from skstruct.learners import CountingRidge, StructuredSVM

    X = rng.standard_normal((600, 8))
    Y = (X @ rng.standard_normal((8, 12)) + rng.standard_normal((600, 12)) > 0.5).astype(int)
    model = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, Y)
    yield (
        "ConditionalRiskMinimizer.fit",
        lambda: ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, Y),
    )
    yield "ConditionalRiskMinimizer.predict", lambda: model.predict(X)
    yield "predict of one row", lambda: model.predict(X[:1])
    space = spaces.LabelSets([f"l{j}" for j in range(12)])
    yield "CountingRidge.fit", lambda: CountingRidge(space, alpha=1.0).fit(X, Y)
    yield (
        "StructuredSVM.fit",
        lambda: StructuredSVM(space, alpha=0.01, loss="hamming", max_iter=20).fit(X[:200], Y[:200]),
    )


def worker():
    """Times of all calls in this process, as JSON."""
    start = time.process_time()
    from skstruct import ConditionalRiskMinimizer, losses, spaces  # noqa: F401  what is timed

    times = {"import": time.process_time() - start}
    rng = np.random.default_rng(0)
    for make in (decoders, learners):
        for name, call in make(rng):
            call()
            times[name] = min(_seconds(call) for _ in range(3))
    print(json.dumps(times))


def _seconds(call, least=0.05):
    n_calls, start, spent = 0, time.process_time(), 0.0
    while spent < least:
        call()
        n_calls, spent = n_calls + 1, time.process_time() - start
    return spent / n_calls


def times_of(checkout: Path) -> dict[str, float]:
    """What a fresh process measures with the package of a checkout."""
    environment = os.environ | ONE_THREAD | {"PYTHONPATH": str(checkout / "src")}
    command = [sys.executable, "-W", "ignore", __file__, "--worker"]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(made.stdout.splitlines()[-1])


def main():
    """Print a line for every call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="*", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--worker", action="store_true")
    options = parser.parse_args()
    if options.worker:
        return worker()
    old, new = (path.resolve() for path in options.checkouts)
    found: dict[Path, list[dict]] = {old: [], new: []}
    for path in (old, new):
        times_of(path)  # compiles and fills caches
    for done in range(options.rounds):
        for path in (old, new) if done % 2 else (new, old):
            found[path].append(times_of(path))
    print(f"{'call':34}{'old':>12}{'new':>12}{'new / old':>12}")
    for name in found[old][0]:
        before, after = (statistics.median(each[name] for each in found[p]) for p in (old, new))
        mark = "  slower" if after > SLOWER * before else ""
        print(f"{name:34}{1e3 * before:9.2f} ms{1e3 * after:9.2f} ms{after / before:12.3f}{mark}")


if __name__ == "__main__":
    main()
