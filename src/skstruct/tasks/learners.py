# SPDX-License-Identifier: BSD-3-Clause
"""Learners by short names, and which one to take when nobody says."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

MANY_ROWS = 5000  # kernel ridge regression takes n^3 operations


@dataclass(frozen=True)
class NamedLearner:
    """A learner of the command line."""

    name: str
    home: str  # module and class
    about: str
    parameters: dict[str, Any] = field(default_factory=dict)
    smoother: str | None = None  # module and class of a smoother


_CRM = "skstruct.learners.conditional_risk:ConditionalRiskMinimizer"
_ALL = (
    NamedLearner("kernel", _CRM, "conditional risk, kernel ridge regression (up to 5,000 rows)"),
    NamedLearner("linear", _CRM, "the same with a linear kernel", {"kernel": "linear"}),
    NamedLearner(
        "forest", _CRM, "conditional risk, randomized trees", {"random_state": 0},
        "skstruct.smoothing:Forest",
    ),
    NamedLearner(
        "neighbors", _CRM, "conditional risk, nearest rows", {}, "skstruct.smoothing:Neighbors"
    ),
    NamedLearner(
        "exponential", "skstruct.learners:ExponentialFamily",
        "log-linear probabilities; on sequences a conditional random field",
        {"random_state": 0},
    ),
    NamedLearner(
        "svm", "skstruct.learners:StructuredSVM", "structured support vector machine",
        {"random_state": 0},
    ),
    NamedLearner(
        "tree", "skstruct.learners:MaxMarginTree", "max-margin labels with a learned tree",
        {"random_state": 0},
    ),
    NamedLearner(
        "perceptron", "skstruct.learners:StructuredPerceptron", "averaged perceptron",
        {"random_state": 0},
    ),
    NamedLearner("counting", "skstruct.learners:CountingRidge", "ridge on counted moments"),
    NamedLearner(
        "output-kernel", "skstruct.learners:OutputKernelRegressor", "regression between kernels"
    ),
)  # fmt: skip
LEARNERS = {learner.name: learner for learner in _ALL}


def default_learner(data) -> tuple[str, str]:
    """The name of a learner that suits a data set, and why.

    Parameters
    ----------
    data : Dataset
    """
    if data.task == "sequence":
        return "exponential", "features for every position: a conditional random field"
    if len(data) <= MANY_ROWS:
        return "kernel", f"{len(data):,} rows: few enough for kernel ridge regression"
    return "forest", f"{len(data):,} rows: too many for kernel ridge regression"


def make_learner(name: str, space, loss=None, verbose=0, **parameters):
    """A learner by its short name, not yet fitted.

    Parameters
    ----------
    name : str
        One of ``LEARNERS``.
    loss : str or loss, default=None
    **parameters
        Of the learner; those of a smoother as ``smoother__name``.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> make_learner("linear", LabelSets(), "f1", alpha=2.0)
    ConditionalRiskMinimizer(alpha=2.0, kernel='linear', loss='f1', space=LabelSets())
    """
    if name not in LEARNERS:
        close = difflib.get_close_matches(name, LEARNERS, 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no learner {name!r}; known are {', '.join(LEARNERS)}.{hint}")
    named = LEARNERS[name]
    learner = _found(named.home)()
    known = learner.get_params(deep=False)
    given = {"space": space, "verbose": verbose, **named.parameters}
    if named.smoother is not None:
        given["smoother"] = _found(named.smoother)()
    if loss is not None:
        given["loss"] = loss
    if "space" not in known and type(space).__name__ != "LabelSets":
        raise ValueError(f"The learner {name!r} is for plain label sets (--task labels).")
    learner.set_params(**{key: value for key, value in given.items() if key in known})
    return learner.set_params(**parameters)


def _found(home):
    module, _, name = home.partition(":")
    return getattr(import_module(module), name)
