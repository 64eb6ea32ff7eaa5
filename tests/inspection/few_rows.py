# SPDX-License-Identifier: BSD-3-Clause
"""A few rows of every task, whose outputs are looked at."""

import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.spaces import (
    Box,
    Classes,
    Hierarchy,
    Interval,
    LabelSets,
    Ordinal,
    Rankings,
    Sequences,
)

N = 14
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 2))
U = X + 0.7 * RNG.standard_normal((N, 2))
TOKENS = [RNG.standard_normal((T, 2)) for T in RNG.integers(1, 4, N)]
EDGES = [("pet", "cat"), ("pet", "dog")]


def family(u):
    return {"pet", "cat" if u[0] > 0 else "dog"} if u[1] > -0.5 else set()


TASKS = {  # space, loss, inputs, outputs
    "classes": (Classes(), None, X, [("abc")[int(u[0] > 0) + int(u[1] > 0)] for u in U]),
    "labels": (LabelSets(), "hamming", X, (U > 0).astype(int)),
    "f1": (LabelSets(), "f1", X, (U > 0).astype(int)),
    "zero_one": (LabelSets(), "zero_one", X, (U > 0).astype(int)),
    "hierarchy": (Hierarchy(EDGES), "hierarchical", X, [family(u) for u in U]),
    "ordinal": (Ordinal(), None, X, (1 + (U[:, 0] > -0.5) + (U[:, 0] > 0.5)).astype(int)),
    "kendall": (Rankings("abc"), "kendall", X, [[*"abc"] if u[0] > 0 else [*"bca"] for u in U]),
    "footrule": (Rankings("abc"), "footrule", X, [[*"abc"] if u[0] > 0 else [*"bca"] for u in U]),
    "tokens": (Sequences("ab"), None, TOKENS,
               [["ab"[int(t[0] > 0.3)] for t in x] for x in TOKENS]),
    "words": (Sequences("ab", length=2), "hamming", X, [["ab"[int(v > 0)] for v in u] for u in U]),
    "interval": (Interval(), "squared", X, U[:, 0] + U[:, 1]),
    "box": (Box(), "squared", X, U),
    "absolute": (Interval(), "absolute", X, U[:, 0]),
}  # fmt: skip


def learner(task):
    space, loss, *_ = TASKS[task]
    return ConditionalRiskMinimizer(space, loss, kernel=RBF(0.5), alpha=0.3)


def rows_of(values, rows):
    return values[rows] if isinstance(values, np.ndarray) else [values[i] for i in rows]
