# SPDX-License-Identifier: BSD-3-Clause
"""Our learner as it comes, for papers/defaults.py, and what a method of the comparison is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct import ConditionalRiskMinimizer

OURS = "default"
KERNEL_RIDGE = "kernel ridge"
ERRORS = (ValueError, TypeError, MemoryError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Answer:
    """What a method says of the test rows for one measure, its CPU seconds and its choices."""

    measure: str
    predicted: Any
    seconds: float
    chosen: str = ""
    refused: str = ""  # why there is no prediction


@dataclass(frozen=True)
class Method:
    """``answers(case, X, Y, X_test)`` gives an Answer for each measure of the case."""

    name: str
    answers: Callable[..., Iterator[Answer]]
    fits: Callable[..., bool] = lambda case, X, Y: True


def cpu_seconds():
    """Of this process with all its threads, and of its children that have ended."""
    return sum(os.times()[:4])


# ---------------------------------------------------------------------- ours


def our_methods():
    """The default, and kernel ridge regression where a smoother of this name is known."""
    found = [Method(OURS, our_answers({}))]
    if takes_kernel_ridge():
        found.append(Method(KERNEL_RIDGE, our_answers({"smoother": "kernel_ridge"})))
    return found


def takes_kernel_ridge():
    """Whether it can be asked for by name; if not, it is the default itself."""
    try:
        ConditionalRiskMinimizer(smoother="kernel_ridge").fit(np.eye(4), list("abab"))
    except (TypeError, ValueError, AttributeError):
        return False
    return True


def our_answers(settings):
    """One model for each measure, with nothing set but space, loss and seed."""

    def answers(case, X, Y, X_test):
        for measure in case.measures:
            start = cpu_seconds()
            model = ConditionalRiskMinimizer(case.space, measure.loss, random_state=0, **settings)
            try:
                predicted = our_prediction(model.fit(X, Y), measure, X_test, Y)
            except ERRORS as error:  # one loss that is refused leaves the others
                yield Answer(measure.name, None, cpu_seconds() - start, refused=told(error))
                continue
            yield Answer(measure.name, predicted, cpu_seconds() - start, described(model))

    return answers


def our_prediction(model, measure, X_test, Y):
    if measure.rows is None:  # the last of the means is the sum of the weights
        return np.asarray(model.smoother_.predict(X_test))[:, : Y.shape[1]]
    return model.predict(X_test)


def told(error):
    return f"{type(error).__name__}: {str(error)[:200]}"


def described(model):
    """What the model chose, in a few words."""
    words = [type(model.smoother_).__name__]
    for name in ("kernel_", "alpha_"):
        value = getattr(model, name, None)
        if value is not None:
            words.append(f"{value:.3g}" if isinstance(value, float) else str(value))
    return ", ".join(words)


def warm_up(method, case, X, Y, X_test):
    """Compile what a method needs, on few rows, so that its seconds are those of the data."""
    n = min(len(Y), 40)
    with suppress(*ERRORS):  # so few rows may be too few; compiling is in the seconds then
        for _ in method.answers(case, X[:n], Y[:n], X_test[:2]):
            pass
