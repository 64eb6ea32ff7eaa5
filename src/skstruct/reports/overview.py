# SPDX-License-Identifier: BSD-3-Clause
"""What was trained on what, what took how long, and with which versions."""

import datetime
import platform
from collections.abc import Iterator, Mapping
from importlib import metadata
from typing import Any

import numpy as np

from skstruct.inspection.drawing import written
from skstruct.reports.pages import Facts, Section, number
from skstruct.reports.subject import len_of_rows, row_of
from skstruct.spaces import Description

CHOSEN = ("alpha_", "gamma_", "radius_", "kernel_", "n_neighbors_")
WARNINGS = ("converged_",)


def overview_section(subject: Any) -> Section:
    """The learner, its data, what it chose for itself, and all its parameters."""
    learner = subject.learner
    facts = [("learner", type(learner).__name__)]
    if subject.model is not learner:
        steps = [type(step).__name__ for _, step in subject.model.steps]
        facts.append(("pipeline", " → ".join(steps)))
    facts += [
        ("outputs", _space_in_words(subject)),
        ("loss", written(repr(subject.loss), 120)),
        ("training rows", number(len(np.asarray(learner.outputs_)))),
        ("rows of this report", number(subject.n)),
        ("inputs", _inputs_in_words(subject)),
    ]
    data = subject.options.get("data_name")
    if data is not None:
        facts.insert(0, ("data", written(data, 200)))
    if subject.unknown:
        facts.append(("truth", subject.unknown))
    facts += [
        (name.rstrip("_"), f"{value_in_words(chosen)} (chosen)")
        for name, chosen in chosen_values(learner)
    ]
    facts += [("decisions", promise_in_words(subject.space))]
    facts += [("written on", datetime.datetime.now().strftime("%d %B %Y, %H:%M"))]
    given = learner.get_params(deep=False)
    parameters = [(name, value_in_words(value)) for name, value in sorted(given.items())]
    blocks = [Facts(facts), Facts(parameters, folded=f"all {len(parameters)} parameters")]
    return Section("What it learned from", "overview", blocks)


def chosen_values(learner: Any) -> Iterator[tuple[str, Any]]:
    """Parameters that the learner chose for itself."""
    for name in CHOSEN:
        value = getattr(learner, name, None)
        asked = getattr(learner, name.rstrip("_"), None)
        if (
            value is not None
            and not callable(value)
            and value_in_words(asked) != value_in_words(value)
        ):
            yield name, value


def value_in_words(value: Any) -> str:
    """A parameter as text."""
    if isinstance(value, (float, np.floating)):
        return number(value)
    return written(repr(value), 160)


def _space_in_words(subject: Any) -> str:
    space = subject.space
    description, text = Description.of(space), type(space).__name__
    names = description.part_names()
    if names is None:
        return text
    one, many = description.part_words
    return f"{text}, {number(len(names))} {one if len(names) == 1 else many}"


def _inputs_in_words(subject: Any) -> str:
    X, encoder = subject.X, subject.fitted.encoder
    if encoder is not None:
        return str(encoder.describe())
    if hasattr(X, "shape") and len(X.shape) == 2:
        return f"{number(X.shape[1])} features"
    first = row_of(X, 0)
    if isinstance(first, str):
        return "texts"
    if isinstance(first, Mapping):
        return "features by name"
    if hasattr(first, "shape") and len(first.shape) == 2:
        return f"sequences of rows of {number(first.shape[1])} features"
    if not hasattr(first, "__len__"):
        return "single values"
    lengths = [len_of_rows(x) for x in X]
    least, most = number(min(lengths)), number(max(lengths))
    return f"sequences of {least if least == most else f'{least} to {most}'} positions"


def promise_in_words(space: Any) -> str:
    """How good decisions are."""
    promise = space.guarantee
    if promise.kind == "exact":
        return "exact: no output has less estimated risk, or more score"
    if promise.kind == "ratio":
        return f"at least {promise.ratio:.0%} of the way from the worst output to the best"
    return "as good as their bounds say"


# What took how long, and with which versions.


PACKAGES = ("skstruct", "numpy", "scipy", "scikit-learn", "numba", "joblib", "matplotlib", "jinja2")


def timing_section(subject: Any) -> Section:
    """Seconds of each step, and the versions of what they were taken with."""
    rows = [(written(name, 60), _seconds(value)) for name, value in _timings(subject)]
    per_row = subject.seconds["prediction"] / subject.n
    rows.append(("prediction of one row, on average", f"{number(1000 * per_row)} ms"))
    versions = [(name, _version(name)) for name in PACKAGES]
    versions = [("Python", platform.python_version()), *versions]
    versions.append(("system", f"{platform.system()} {platform.machine()}"))
    return Section("Times and versions", "times", [Facts(rows), Facts(versions)])


def _timings(subject: Any) -> Iterator[tuple[str, Any]]:
    yield from (subject.options.get("timings") or {}).items()
    for name, value in subject.seconds.items():
        yield f"{name} of {number(subject.n)} rows, for this report", value


def _seconds(value: float | str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{number(float(value))} s"
    return written(value, 60)


def _version(name: str) -> str:
    if name == "skstruct":
        import skstruct

        return skstruct.__version__
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
