# SPDX-License-Identifier: BSD-3-Clause
"""What a calibrated model promises: parts that are certain and possible, sets, intervals."""

from typing import Any

import numpy as np

from skstruct.datasets.formats.cells import NUMBERS
from skstruct.serving.outputs import json_value
from skstruct.tasks.promises import at_level


def promised(served: Any, X: Any, level: float) -> list[dict[str, Any]]:
    """For every row what is certain and possible at a level.

    Returns
    -------
    list of dict
        ``certain`` and ``possible``; a ``set`` of classes; or ``low`` and ``high`` by target,
        None where an interval has no end.
    """
    model = served.model
    control = at_level(model.control_, level)
    told = control.predict(X)
    if hasattr(told, "certain"):
        certain, possible = (_parts(part) for part in (told.certain, told.possible))
        return [{"certain": a, "possible": b} for a, b in zip(certain, possible)]
    if model.task_ not in NUMBERS:
        return [{"set": [str(name) for name in names]} for names in told]
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    ends = (np.asarray(end, dtype=np.float64).reshape(n, -1) for end in (told.lower, told.upper))
    low, high = ([dict(zip(model.targets_, row)) for row in json_value(end)] for end in ends)
    return [{"low": a, "high": b} for a, b in zip(low, high)]


def _parts(rows: Any) -> list[Any]:
    """Parts of outputs: names, pairs of names, or names by position."""
    return [_names(row) for row in rows]


def _names(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_names(part) for part in value]
    return str(value)
