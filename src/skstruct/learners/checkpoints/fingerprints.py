# SPDX-License-Identifier: BSD-3-Clause
"""Which fit a checkpoint belongs to: its learner, and digests of parameters and data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skstruct.learners.checkpoints.digests import digest

LAYOUT = 1  # of what learners save; a change of any of them counts it up
NO_EFFECT = ("engine", "n_jobs", "verbose")  # parameters on which no result depends


def owner_of(model, data: Mapping[str, Any]) -> dict[str, Any]:
    """What tells one fit from another; texts only."""
    from skstruct import __version__

    kind = type(model)
    parameters = model.get_params(deep=False).items()
    return {
        "learner": f"{kind.__module__}.{kind.__qualname__}",
        "version": f"{__version__}, layout {LAYOUT}",
        "parameters": {name: digest(v) for name, v in parameters if name not in NO_EFFECT},
        "data": {name: digest(value) for name, value in data.items()},
    }


def differences(owner, other) -> str | None:
    """How the fit of a checkpoint differs from another one, in words; None if it does not."""
    if owner["learner"] != other["learner"]:
        return f"it was a {owner['learner'].rpartition('.')[2]}"
    if owner["version"] != other["version"]:
        return f"it was written by version {owner['version']}"
    names = [
        name
        for part in ("parameters", "data")
        for name in sorted({*owner[part], *other[part]})
        if owner[part].get(name) != other[part].get(name)
    ]
    return f"{', '.join(names)} differed" if names else None
