# SPDX-License-Identifier: BSD-3-Clause
"""What a first fit and predict cost, for every structure: how long its kernels are compiled.

Each structure has a process of its own with an empty cache of kernels. Compiling is the CPU time
of the first fit and predict minus that of the second; the kernels are listed by the time numba
takes for each, without those that it calls. Where the usual loss is decided symbol by symbol, or
label by label, the decoder of the space is called as well, with costs drawn at random.

    python benchmarks/bench_first_calls.py                    all structures
    python benchmarks/bench_first_calls.py --only rank        those with such names
    python benchmarks/bench_first_calls.py --kernels 8        the longest kernels of each
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import warnings

from harness import Table, at_most, in_fresh_process

N_ROWS = 30
LONGEST = 5.0  # CPU seconds
TREE = [("a", "b"), ("a", "c"), ("c", "d"), ("e", "f")]
DAG = [("a", "b"), ("a", "c"), ("c", "d"), ("b", "d"), ("e", "d")]
CHAINS = [(i, i + step) for i in range(40) for step in (1, 7)]
LADDER = [(i, i + 1) for i in range(19)]
DIAMOND = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]


def _drawn(space, rng):
    """Outputs drawn at random, as a user gives them."""
    return space.restore(space.sample(N_ROWS, rng))


def _risk(space, **settings):
    """The main learner, under the default loss of the space."""
    from skstruct import ConditionalRiskMinimizer

    return lambda rng: (ConditionalRiskMinimizer(space(), **settings), _drawn(space(), rng))


def _decoded(space):
    """The decoder of a space alone, with costs for every coordinate of its embedding."""
    return lambda rng: (Decoder(space()), _drawn(space(), rng))


class Decoder:
    """Decodes costs drawn at random, as a learner would that knows nothing."""

    def __init__(self, space):
        self.space = space

    def fit(self, X, Y):
        self.shape_ = self.space.embed(self.space.validate(Y)).shape[1:]

    def predict(self, X):
        import numpy as np

        costs = np.random.default_rng(0).normal(size=(len(X), *self.shape_))
        return self.space.argmin(costs)


def _quantities(space, draw, **settings):
    """The same for quantities, whose outputs are drawn by ``draw(rng)``."""
    from skstruct import ConditionalRiskMinimizer

    return lambda rng: (ConditionalRiskMinimizer(space(), **settings), draw(rng))


def _learner(name, space, **settings):
    import skstruct

    return lambda rng: (getattr(skstruct, name)(space(), **settings), _drawn(space(), rng))


def _chains(rng):
    from skstruct import ExponentialFamily
    from skstruct.spaces import Sequences

    return ExponentialFamily(Sequences("abc", 4)), _drawn(Sequences("abc", 4), rng)


def _trees(rng):
    from skstruct import MaxMarginTree
    from skstruct.spaces import LabelSets

    return MaxMarginTree(), _drawn(LabelSets(range(5)), rng)


def cases():
    """Learners and outputs by the name of the structure."""
    from skstruct import spaces as s

    def flows(rng):
        shares = rng.dirichlet([1, 1, 1], N_ROWS)
        paths = [[1.0, 0, 0, 1, 0], [0, 1, 0, 0, 1], [1, 0, 1, 0, 1]]
        return 2.0 * shares @ paths

    return {
        "Classes": _risk(lambda: s.Classes(list("abcd"))),
        "Candidates": _risk(lambda: s.Candidates(["x", "y", "z"]), loss="zero_one"),
        "GraphNodes": _risk(lambda: s.GraphNodes([[0, 1, 0], [1, 0, 1], [0, 1, 0]])),
        "LabelSets": _risk(lambda: s.LabelSets(range(6))),
        "LabelSets, F1": _risk(lambda: s.LabelSets(range(6)), loss="f1"),
        "Hierarchy, tree": _risk(lambda: s.Hierarchy(TREE)),
        "Hierarchy, DAG": _risk(lambda: s.Hierarchy(DAG)),
        "Poset": _risk(lambda: s.Poset(CHAINS)),
        "Ordinal": _risk(lambda: s.Ordinal("abcd")),
        "Rankings, Kendall": _risk(lambda: s.Rankings(range(5), "pairs")),
        "Rankings, footrule": _risk(lambda: s.Rankings(range(5), "positions")),
        "Rankings, squared": _risk(lambda: s.Rankings(range(5), "ranks")),
        "Sequences": _risk(lambda: s.Sequences("abc", 4)),
        "Sequences, bigrams": _risk(lambda: s.Sequences("abcdefgh", 12, "bigrams")),
        "Sequences, bigrams, decoded": _decoded(lambda: s.Sequences("abcdefgh", 12, "bigrams")),
        "Strings": _risk(lambda: s.Strings("ACGT", (5, 12), 3)),
        "Strings, decoded": _decoded(lambda: s.Strings("ACGT", (5, 12), 3)),
        "PairwiseLabels, full, decoded": _decoded(lambda: s.PairwiseLabels("full", range(20))),
        "PairwiseLabels, tree, decoded": _decoded(lambda: s.PairwiseLabels(LADDER, range(20))),
        "Cliques, decoded": _decoded(lambda: s.Cliques(30)),
        "Poset, decoded": _decoded(lambda: s.Poset(CHAINS)),
        "PairwiseLabels, full": _risk(lambda: s.PairwiseLabels("full", range(20))),
        "PairwiseLabels, tree": _risk(lambda: s.PairwiseLabels(LADDER, range(20))),
        "PairwiseStates": _risk(lambda: s.PairwiseStates([(0, 1), (1, 2)], "abc", range(3))),
        "Cliques": _risk(lambda: s.Cliques(30)),
        "Cycles": _risk(lambda: s.Cycles(5)),
        "Cycles, directed": _risk(lambda: s.Cycles(5, directed=True)),
        "SpanningTrees": _risk(lambda: s.SpanningTrees(5)),
        "Matchings": _risk(lambda: s.Matchings(5)),
        "Matchings, bipartite": _risk(lambda: s.Matchings(3, [10, 11, 12])),
        "Tournaments": _risk(lambda: s.Tournaments(9)),
        "Graphs": _risk(lambda: s.Graphs(4)),
        "Graphs, acyclic": _risk(lambda: s.Graphs(4, directed=True, property="acyclic")),
        "Graphs, bipartite": _risk(lambda: s.Graphs(4, property="bipartite")),
        "BinaryPolytope": _risk(lambda: s.BinaryPolytope(A_ub=[[3, 2, 2, 4] * 8], b_ub=[30])),
        "Box": _quantities(lambda: s.Box([0, 0], [1, 1]), lambda rng: rng.random((N_ROWS, 2))),
        "Interval": _quantities(lambda: s.Interval(0, 1), lambda rng: rng.random(N_ROWS)),
        "Interval, absolute": _quantities(
            lambda: s.Interval(0, 1), lambda rng: rng.random(N_ROWS), loss="absolute"
        ),
        "Simplex": _quantities(s.Simplex, lambda rng: rng.dirichlet([1, 1, 1], N_ROWS)),
        "Sphere": _quantities(s.Sphere, directions),
        "Polytope": _quantities(
            lambda: s.Polytope(A_ub=[[1, -1]], b_ub=[0], bounds=(0, 1)),
            sorted_pairs,
        ),
        "Flows": _quantities(lambda: s.Flows(DIAMOND, {"s": 2.0, "t": -2.0}), flows),
        "CountingRidge": _learner("CountingRidge", lambda: s.Hierarchy(TREE)),
        "ExponentialFamily, labels": _learner(
            "ExponentialFamily", lambda: s.LabelSets(range(4))),
        "ExponentialFamily, rankings": _learner(
            "ExponentialFamily", lambda: s.Rankings(range(5), "pairs")),
        "ExponentialFamily, chains": _chains,
        "StructuredSVM": _learner("StructuredSVM", lambda: s.Hierarchy(TREE)),
        "StructuredPerceptron": _learner("StructuredPerceptron", lambda: s.Hierarchy(TREE)),
        "MaxMarginNetwork": _learner(
            "MaxMarginNetwork", lambda: s.PairwiseLabels("full", range(4))),
        "MaxMarginTree": _trees,
        "OutputKernelRegressor": _learner("OutputKernelRegressor", lambda: s.Rankings(range(5))),
        "OutputKernelRegressor, strings": _learner(
            "OutputKernelRegressor", lambda: s.Strings("ACGT", (5, 12), 3)),
    }  # fmt: skip


def directions(rng):
    """Points of the unit sphere."""
    points = rng.normal(size=(N_ROWS, 3))
    return points / (points**2).sum(axis=1, keepdims=True) ** 0.5


def sorted_pairs(rng):
    """Points of the unit square below its diagonal, as (least, largest)."""
    import numpy as np

    return np.sort(rng.random((N_ROWS, 2)), axis=1)


def watch_compiling():
    """CPU seconds of compiling by kernel, without the kernels that it calls, and how often."""
    from numba.core import event

    found, open_now = {}, []

    class Clock(event.Listener):
        def on_start(self, event):
            open_now.append([time.process_time(), 0.0])

        def on_end(self, event):
            start, inner = open_now.pop()
            spent = time.process_time() - start
            function = event.data["dispatcher"].py_func
            calls = found.setdefault(f"{function.__module__}.{function.__qualname__}", [0, 0.0])
            calls[0] += 1
            calls[1] += spent - inner
            if open_now:
                open_now[-1][1] += spent

    event.register("numba:compile", Clock())
    return found


def first_call(name):
    """CPU seconds of two fits and predictions in this process, and of the kernels."""
    import numpy as np

    warnings.simplefilter("ignore")
    model, Y = cases()[name](np.random.default_rng(0))
    kernels = watch_compiling()
    X = np.random.default_rng(1).normal(size=(N_ROWS, 3))
    seconds = []
    for _ in range(2):
        start = time.process_time()
        model.fit(X, Y)
        model.predict(X[:5])
        seconds.append(time.process_time() - start)
    return {"first": seconds[0], "second": seconds[1], "kernels": kernels}


def in_empty_cache(name):
    """The same in a process of its own, with no kernel compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        return in_fresh_process(__file__, "--case", name)


def main(only, n_kernels):
    table = Table("First fit and predict, empty cache, CPU time", "none, targets are times")
    for name in cases():
        if only.lower() not in name.lower():
            continue
        found = in_empty_cache(name)
        table.add(name, found["first"] - found["second"], target=at_most(LONGEST))
        longest = sorted(found["kernels"].items(), key=lambda item: -item[1][1])
        for kernel, (n_versions, seconds) in longest[:n_kernels]:
            table.note(f"{seconds:5.2f} s, {n_versions} versions: {kernel}")
        if n_kernels:
            table.note(f"{found['second']:.2f} s second call, {len(longest)} kernels")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="names that hold this text")
    parser.add_argument("--kernels", type=int, default=0, help="list so many kernels of each")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.case is None:
        main(asked.only, asked.kernels)
    else:
        json.dump(first_call(asked.case), sys.stdout)
