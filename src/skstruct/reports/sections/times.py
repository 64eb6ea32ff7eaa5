# SPDX-License-Identifier: BSD-3-Clause
"""What took how long, and with which versions."""

from __future__ import annotations

import platform
from importlib import metadata

from skstruct.inspection.drawing import written
from skstruct.reports.pages import Facts, Section, number

PACKAGES = ("skstruct", "numpy", "scipy", "scikit-learn", "numba", "joblib", "matplotlib", "jinja2")


def section(subject) -> Section:
    """Seconds of each step, and the versions of what they were taken with."""
    rows = [(written(name, 60), _seconds(value)) for name, value in _timings(subject)]
    per_row = subject.seconds["prediction"] / subject.n
    rows.append(("prediction of one row, on average", f"{number(1000 * per_row)} ms"))
    versions = [(name, _version(name)) for name in PACKAGES]
    versions = [("Python", platform.python_version()), *versions]
    versions.append(("system", f"{platform.system()} {platform.machine()}"))
    return Section("Timings and versions", "times", [Facts(rows), Facts(versions)])


def _timings(subject):
    yield from (subject.options.get("timings") or {}).items()
    for name, value in subject.seconds.items():
        yield f"{name} of {number(subject.n)} rows, for this report", value


def _seconds(value) -> str:
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
