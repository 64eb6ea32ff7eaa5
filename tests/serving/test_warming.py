# SPDX-License-Identifier: BSD-3-Clause
"""After a server is ready nothing that it lists waits for compiled code."""

import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np
from skstruct import ConditionalRiskMinimizer
from skstruct._arrays import compiling

made, dispatcher = [], compiling._dispatcher
compiling._dispatcher = lambda *given: made.append(dispatcher(*given)) or made[-1]

from skstruct.serving import Asked, Served, answers
from skstruct.serving.examples import example_constraints
from skstruct.serving.settings import QUESTIONS
from skstruct.serving.warming import warm
from skstruct.spaces import Hierarchy, LabelSets, ShortestPaths

def compiled():  # kernels and types of their arguments, compiled here or read from the cache
    return sum(len(kernel.overloads) for kernel in made)

rng = np.random.default_rng(0)
X, grid = rng.standard_normal((20, 3)), ShortestPaths.grid(2, 3)
tree = Hierarchy([("a", "b"), ("a", "c")])
for space, y, loss in (
    (LabelSets(), X > 0, None),
    (tree, tree.enumerate()[rng.integers(5, size=20)], None),
    (grid, 1 + rng.random((20, len(grid.labels_))), "regret"),
):
    served = Served("m", ConditionalRiskMinimizer(space, loss, alpha=0.1).fit(X, y))
    answers.predict(served, served.inputs(served.example_rows(1)))
    cold = compiled()
    warm(served)
    ready = compiled()
    assert ready > cold, "nothing was left to be compiled, and nothing is tested"
    for n in (1, 5):
        rows = served.inputs(served.example_rows(n))
        for question in ("predict", *filter(served.can, QUESTIONS)):
            for loss in (None, *served.losses()) if question != "marginals" else (None,):
                for restrict in (None, *example_constraints(served)):
                    asked = Asked(loss=loss, restrict=restrict)
                    try:
                        answers.answer(question, served, rows, asked)
                    except ValueError:  # not with each other
                        pass
                    assert compiled() == ready, (space, question, n, asked)
"""


@pytest.mark.subprocess
@pytest.mark.slow
def test_what_is_listed_is_compiled():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
