# SPDX-License-Identifier: BSD-3-Clause
"""A space that is restricted row by row, from a dictionary for each row."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from inspect import signature
from typing import Any

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.contracts import Restrictable


def restricted_to(space: Any, row: Mapping[str, Any], i: int, used_by: str) -> Any:
    """The space as one row has it."""
    if not isinstance(space, Restrictable):
        raise ValueError(
            f"{used_by}: Y[{i}] is a dictionary, and {used_by} cannot be restricted. Give "
            "OneOf([...]) with the outputs that may be true."
        )
    allowed = list(signature(space.restrict).parameters)
    if not set(row) <= set(allowed):
        raise ValueError(
            f"{used_by}: a dictionary in Y has some of {', '.join(allowed)}; Y[{i}] is {row!r}."
        )
    try:
        return space.restrict(**row)
    except InfeasibleError as error:
        raise InfeasibleError(
            f"{used_by}: nothing is left by Y[{i}] = {row!r}: {error}", i
        ) from None
    except ValueError as error:
        raise ValueError(f"Y[{i}] = {row!r}: {error}") from None


def stacked(narrowed: dict[int, Any]) -> list[tuple[np.ndarray, Any]]:
    """Rows whose constraints differ in arrays alone are decoded together."""
    groups: dict[Any, list[int]] = {}
    for i, part in narrowed.items():
        groups.setdefault(_key(part, i), []).append(i)
    found = []
    for members in groups.values():
        limits = [_limits(narrowed[i]) for i in members]
        part = narrowed[members[0]]
        if limits[0] is not None and len(members) > 1:
            values = {f.name: getattr(limits[0], f.name) for f in fields(limits[0])}
            for name, value in values.items():
                if isinstance(value, np.ndarray):
                    values[name] = np.concatenate([getattr(limit, name) for limit in limits])
            part = part._limited(type(limits[0])(**values))
        found.append((np.array(members), part))
    return found


def _given(space: Any) -> Any:
    """Constraints that ``restrict`` has set; None where there are none."""
    return getattr(space, "constraints", None)


def _limits(space: Any) -> Any:
    """Constraints that ``restrict`` keeps in arrays of one row, or None."""
    limits = _given(space)
    if not is_dataclass(limits) or isinstance(limits, type):
        return None
    arrays = [v for f in fields(limits) if isinstance(v := getattr(limits, f.name), np.ndarray)]
    return limits if arrays and all(len(v) == 1 for v in arrays) else None


def _key(space: Any, i: int) -> Any:
    limits = _limits(space)
    if limits is None:
        return () if _given(space) is None else (i,)
    values = [getattr(limits, f.name) for f in fields(limits)]
    return tuple(v.shape[1:] if isinstance(v, np.ndarray) else repr(v) for v in values)
