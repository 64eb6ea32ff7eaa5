# SPDX-License-Identifier: BSD-3-Clause
"""All that is listed of a model is asked once, so that no client waits for compiled code."""

import contextlib
from time import monotonic
from typing import Any

from skstruct.serving.answers import answer
from skstruct.serving.asked import Asked
from skstruct.serving.examples import example_constraints
from skstruct.serving.served import ABILITIES
from skstruct.serving.settings import QUESTIONS

LONGEST = 60.0  # seconds; where decisions take long, clients wait for these anyway
ROWS = (1, 2)  # code for one row and for several may differ


def warm(served: Any) -> None:
    """Ask for every loss and constraint, and for every ability.

    An error says that the model cannot even predict; what else goes wrong is told to the client
    that asks for it.
    """
    if served.fitted.verbose:
        served.learner.verbose = 0
    inputs = [served.inputs(served.example_rows(n)) for n in ROWS]
    for X in inputs:
        answer("predict", served, X)
    end = monotonic() + LONGEST
    wanted = [Asked(loss=loss) for loss in served.losses()]
    wanted += [Asked(restrict=constraint) for constraint in example_constraints(served)]
    for question in ("predict", *filter(served.can, QUESTIONS[1:])):
        for asked in wanted:
            for X in inputs:
                if monotonic() > end:
                    return
                with contextlib.suppress(Exception):
                    answer(question, served, X, asked)
    for ability in ABILITIES:
        served.can(ability)
