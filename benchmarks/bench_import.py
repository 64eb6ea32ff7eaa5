# SPDX-License-Identifier: BSD-3-Clause
"""Starting up: imports, first calls of compiled code, and how a large model shows itself."""

from __future__ import annotations

import json
import statistics
import sys
import time

from harness import Table, at_most, compare, cpu_of_python, in_fresh_process

ROUNDS = 7
PAIRS = {
    "import skstruct": "import sklearn",
    "from skstruct import ConditionalRiskMinimizer": "import sklearn.kernel_ridge",
}


def first_calls():
    """CPU seconds of the first and the second call of two compiled decoders."""
    import numpy as np

    from skstruct.spaces import Hierarchy

    spaces = {
        "forest": Hierarchy([(0, 1), (0, 2)]),
        "acyclic graph": Hierarchy([(0, 1), (0, 2), (1, 3), (2, 3)]),
    }
    seconds = {}
    for name, space in spaces.items():
        costs = np.ones((2, len(space.labels_)))
        for call in ("first", "second"):
            start = time.process_time()
            space.argmin(costs)
            seconds[f"{name}, {call} call"] = time.process_time() - start
    return seconds


def bench_imports(table):
    codes = [*PAIRS, *PAIRS.values()]
    rounds = [{code: cpu_of_python(code) for code in codes} for _ in range(ROUNDS)]
    for ours, base in PAIRS.items():
        for code in (base, ours):
            table.add(code, statistics.median(times[code] for times in rounds))
        over = statistics.median(times[ours] - times[base] for times in rounds)
        table.add(f"  over {base}", over, target=at_most(0.1))


def bench_first_calls(table):
    in_fresh_process(__file__, "first")  # fills the cache on disk
    rounds = [in_fresh_process(__file__, "first") for _ in range(3)]
    for name in rounds[0]:
        label = f"argmin, {name}, compiled before"
        table.add(label, statistics.median(times[name] for times in rounds))


def bench_displays(table):
    import numpy as np
    from sklearn.base import clone
    from sklearn.utils import estimator_html_repr

    from skstruct import ConditionalRiskMinimizer
    from skstruct.spaces import Hierarchy

    d = 23_000
    parents = np.random.default_rng(0).integers(0, np.arange(1, d))
    edges = [(f"node {p}", f"node {v}") for v, p in enumerate(parents, 1)]
    model = ConditionalRiskMinimizer(Hierarchy(edges), smoother="kernel_ridge")
    times = compare(
        {
            "repr": lambda: repr(model),
            "HTML": lambda: estimator_html_repr(model),
            "clone": lambda: clone(model),
            "Hierarchy(edges)": lambda: Hierarchy(edges),
        }
    )
    for name, figures in times.items():
        bar = None if name.startswith("Hierarchy") else at_most(0.05)
        table.add(f"23,000 labels: {name}", statistics.median(figures), target=bar)


def main():
    table = Table("Starting up, CPU time", "none, targets are times")
    bench_imports(table)
    bench_first_calls(table)
    bench_displays(table)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(first_calls()))
    else:
        main()
