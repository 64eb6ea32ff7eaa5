# SPDX-License-Identifier: BSD-3-Clause
"""Constraints as JSON has them, brought to what a space takes; those that differ from row to row
are decided together where that can be.
"""

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.encoding.columns import fail
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.common.fixing import json_name

LISTS = ("include", "exclude")  # constraints that a space takes row by row


def constraints_for(served: Any, given: Any) -> dict[str, Any] | None:
    """The arguments of ``restrict``, once every name is known.

    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.serving.served import Served
    >>> served = Served("m", ConditionalRiskMinimizer(alpha=1.0).fit([[0], [1]], [{"a"}, {"b"}]))
    >>> constraints_for(served, {"size": 1})
    Traceback (most recent call last):
        ...
    ValueError: LabelSets cannot be restricted by 'size'; known are include, exclude, ...
    """
    if not given:
        return None
    known = served.constraints()
    for key in given:
        if key not in known:
            raise ValueError(
                f"{type(served.space).__name__} cannot be restricted by {key!r}; known are "
                f"{', '.join(known) or 'none'}."
            )
    of_positions = served.kind == "sequence"
    return {key: _named(value, served.by_text, of_positions) for key, value in given.items()}


def _named(value: Any, names: dict[Any, Any], of_positions: bool) -> Any:
    """A value of JSON with the names that it means: tuples are lists there, keys and dates texts.

    Parameters
    ----------
    names : dict
        Names by what JSON makes of them.
    of_positions : bool
        Whether keys are positions, which are numbers.
    """
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, dict):
        keys = (_position(key) if of_positions else names.get(key, key) for key in value)
        items = (_named(item, names, of_positions) for item in value.values())
        return dict(zip(keys, items))
    if not isinstance(value, list):
        return value
    found = [_named(item, names, of_positions) for item in value]
    as_name = json_name(value)
    if as_name in names:
        return names[as_name]
    return tuple(found) if as_name[::-1] in names else found  # an edge from its other end


def _position(key: Any) -> Any:
    return int(key) if isinstance(key, str) and key.isdecimal() else key


def by_constraints(
    served: Any, X: Any, given: list[Any], ask: Callable[[Any, Any], list[Any]]
) -> list[Any]:
    """Answers for rows that each have constraints of their own, in the order of the rows.

    Parameters
    ----------
    ask : callable (X, restrict) -> list
        Answers of some rows under constraints that ``restrict`` of the space takes.
    """
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if len(given) != n:
        raise ValueError(f"restrict has {len(given)} dictionaries, and there are {n} rows.")
    joined = _joined(served, given)
    if joined is not None:
        return ask(X, constraints_for(served, joined))
    groups: dict[str, list[int]] = {}
    for i, row in enumerate(given):
        groups.setdefault(json.dumps(row or {}, sort_keys=True, default=repr), []).append(i)
    found: list[Any] = [None] * n
    for rows in groups.values():
        try:
            answers = ask(taken(X, rows), constraints_for(served, given[rows[0]]))
        except InfeasibleError as error:
            row = rows[error.row or 0]
            said = str(error).replace(f"row {error.row}", f"row {row}", 1)
            raise InfeasibleError(said, row) from None
        except ValueError as error:
            raise fail(f"restrict: {str(error).removesuffix('.')}", rows[0]) from None
        for i, answer in zip(rows, answers):
            found[i] = answer
    return found


def _joined(served: Any, given: list[Any]) -> dict[str, Any] | None:
    """One dictionary with a list of names for each row, where rows differ in such alone."""
    if served.kind not in ("labels", "hierarchy") or len(given) < 2:
        return None
    keys = sorted({key for row in given for key in row or ()})
    if not keys or not set(keys) <= set(LISTS):
        return None
    if any(not isinstance(row.get(key, []), list) for row in given if row for key in keys):
        return None
    return {key: [(row or {}).get(key, []) for row in given] for key in keys}


def taken(X: Any, rows: list[int]) -> Any:
    """Some rows of inputs as a learner takes them."""
    if hasattr(X, "rows") and hasattr(X, "values"):  # a table
        return X.rows(rows)
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[np.array(rows)] if hasattr(X, "shape") else [X[i] for i in rows]
