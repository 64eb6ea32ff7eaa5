# SPDX-License-Identifier: BSD-3-Clause
"""Learners with their defaults under limits of memory and of time: done, or a clear error.

    python reliability/limits.py [--cases 200] [--minutes M] [--seed 0] [--rows 100000]

A case is a learner, a number of rows between 10 and --rows, some memory beyond what the process has
(RLIMIT_AS), and seconds of CPU (RLIMIT_CPU), all drawn. A forked child fits and predicts, or has
fitted a few rows before and predicts all within the limits. It may be done; it may raise a
MemoryError that says what to do, and then has to fit a small problem all the same; it may run out
of time, which SIGXCPU says as Ctrl-C would, and must then end within GRACE seconds. A child that is
killed, breaks down, hangs or raises anything else is a failure. A learner that takes memory outside
of Python and one that does not hear a signal have to be caught first.
"""

import ctypes
import os
import random
import resource
import signal
import sys
import time
import warnings
from collections import Counter

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: children are forked

import numpy as np
from children import DIED, INTERRUPTED, Child
from summary import Tries, arguments, finish

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
from skstruct.learners import (
    ConstraintClassification,
    LabelRankingBoosting,
    LabelRankingSVM,
    NeighborLabelRanker,
    OnlineLabelRanker,
    PairwiseComparison,
)
from skstruct.spaces import LabelSets, Rankings, Sequences

GRACE = 60  # seconds of CPU after SIGXCPU: what one product of large matrices takes at most
ROWS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
MEGABYTES = (4, 16, 64, 256, 1024)
SECONDS = (1, 2, 5)
PARTS = ("both", "predict")  # within limits: fitting and predicting, or the second alone


def label_sets(n):
    X = np.random.default_rng(n).standard_normal((n, 6))
    return X, (X[:, :5] + X[:, 1:] > 0).astype(int)


def classes(n):
    X, sets = label_sets(n)
    return X, np.array(["a", "b", "c", "d"])[sets[:, 0] + 2 * sets[:, 2]]


def rankings(n):
    X = np.random.default_rng(n).standard_normal((n, 6))
    return X, np.argsort(np.argsort(X[:, :4] - X[:, 1:5], axis=1), axis=1) + 1


def chains(n):
    X = np.random.default_rng(n).standard_normal((n, 3, 2))
    return list(X), [["ab"[int(v > 0)] for v in x[:, 0]] for x in X]


LEARNERS = {
    "risk, classes": (lambda: ConditionalRiskMinimizer(), classes),
    "risk, label sets": (lambda: ConditionalRiskMinimizer(LabelSets()), label_sets),
    "risk, rankings": (lambda: ConditionalRiskMinimizer(Rankings()), rankings),
    "risk, f1": (lambda: ConditionalRiskMinimizer(LabelSets(), "f1"), label_sets),
    "counting": (lambda: CountingRidge(LabelSets()), label_sets),
    "exponential": (lambda: ExponentialFamily(), classes),
    "exponential, chains": (lambda: ExponentialFamily(Sequences()), chains),
    "network": (lambda: MaxMarginNetwork(), label_sets),
    "tree": (lambda: MaxMarginTree(), label_sets),
    "output kernel": (lambda: OutputKernelRegressor(), classes),
    "perceptron": (lambda: StructuredPerceptron(LabelSets()), label_sets),
    "svm": (lambda: StructuredSVM(LabelSets()), label_sets),
    "svm, chains": (lambda: StructuredSVM(Sequences()), chains),
    "constraint": (lambda: ConstraintClassification(), rankings),
    "boosting": (lambda: LabelRankingBoosting(), rankings),
    "ranking svm": (lambda: LabelRankingSVM(), rankings),
    "neighbours": (lambda: NeighborLabelRanker(), rankings),
    "online": (lambda: OnlineLabelRanker(), rankings),
    "pairwise": (lambda: PairwiseComparison(), rankings),
}


class Breaks:
    """Planted: memory that C code takes without asking whether it got it."""

    def fit(self, X, y):
        address = ctypes.CDLL(None).malloc
        address.restype, address.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        ctypes.memset(address(1 << 40) or 0, 1, 100)

    def predict(self, X):
        return X


class Deaf(Breaks):
    """Planted: goes on, whatever signal comes."""

    def fit(self, X, y):
        while True:
            try:
                while True:
                    sum(range(10**6))
            except KeyboardInterrupt:
                pass


class Unclear(Breaks):
    """Planted: an error that nobody has declared."""

    def fit(self, X, y):
        raise RuntimeError("out of it")


PLANTED = {
    "breaks down": (Breaks, classes),
    "hears no signal": (Deaf, classes),
    "unclear error": (Unclear, classes),
}


def used():
    """Bytes of addresses that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def work(case, n, megabytes, seconds, part, grace):
    """Fit and predict within limits, or predict alone: what became of it, in words."""
    make, data = case
    X, y = data(n)
    small, warm, model = data(20), make(), make()
    if part == "predict":
        model.fit(*small)
    limit = used() + megabytes * 2**20
    free = resource.getrlimit(resource.RLIMIT_AS)
    signal.signal(signal.SIGXCPU, signal.default_int_handler)
    spent = int(time.process_time()) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (spent + seconds, spent + seconds + grace))
    resource.setrlimit(resource.RLIMIT_AS, (limit, free[1]))
    warnings.simplefilter("ignore")
    try:
        if part == "both":
            model.fit(X, y)
        model.predict(X if part == "predict" else X[:1000])
    except MemoryError as error:
        said = str(error)
    else:
        return "done"
    resource.setrlimit(resource.RLIMIT_AS, free)
    warm.fit(*small)  # nothing is broken for good
    clear = len(said) > 40 and any(word in said.lower() for word in ("give", "take", "use"))
    return f"memory: {said}" if clear else f"failed: MemoryError: {said or 'without a word'}"


def judged(case, n, megabytes, seconds, part="both", grace=GRACE):
    """Kind of end, and what was wrong or None."""
    child = Child(lambda: work(case, n, megabytes, seconds, part, grace))
    answer = child.answer(100 * (seconds + grace))  # of a machine that is busy
    if answer is None:
        child.send(signal.SIGKILL)
        answer = "failed: it hangs"
    number = child.end()
    if answer in (INTERRUPTED, DIED) and number == 0:
        return "out of time", None
    if answer == DIED:
        name = signal.Signals(number).name if number else "an exit"
        return "killed", f"ended by {name}"
    if answer.startswith("failed"):
        return "failed", answer[:600]
    return answer.partition(":")[0], None


def planted(seed):
    """What is said of each planted bug; None where it was not caught."""
    caught = {}
    for name, case in PLANTED.items():
        caught[name] = judged(case, 10, 1024, 1, grace=1)[1]
        print(f"planted bug, {name}: {caught[name] or 'NOT CAUGHT'}", flush=True)
    return caught


def main():
    given = arguments(__doc__, 200, ("--rows", {"type": int, "default": 100_000}),
                      ("--only", {"nargs": "*", "default": list(LEARNERS)}),
                      ("--first", {"type": int, "default": 0}))  # fmt: skip
    warnings.simplefilter("ignore")
    caught, ends, names = planted(given.seed), Counter(), given.only
    tries, sizes, warm = Tries(given), [n for n in ROWS if n <= given.rows], set()
    for number in tries:
        number += given.first
        rng = random.Random(f"{given.seed} {number}")
        name = names[number % len(names)]
        if name not in warm:  # all is compiled, and BLAS has its buffers
            make, data = LEARNERS[name]
            make().fit(*data(20)).predict(data(20)[0])
            warm.add(name)
        drawn = rng.choice(sizes), rng.choice(MEGABYTES), rng.choice(SECONDS), rng.choice(PARTS)
        end, why = judged(LEARNERS[name], *drawn)
        ends[end.replace(" ", "_")] += 1
        print(number, name, *drawn, end, flush=True)
        if why:
            again = f"judged(LEARNERS[{name!r}], {', '.join(map(repr, drawn))})"
            tries.fail(number, f"{name}: {why}", again)
    return finish("limits", tries.counts(planted_caught=all(caught.values()), **ends))


if __name__ == "__main__":
    sys.exit(main())
