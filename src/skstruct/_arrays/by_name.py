# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that are given by name: of labels, items, arcs, nodes or columns."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas

FEW = 5  # names that a message lists


def are_named(given: Any) -> bool:
    """Whether numbers come with names: a dict, a Series, or a frame with a column for each."""
    return isinstance(given, Mapping) or is_pandas(given, "Series", "DataFrame")


def by_position(
    given: Any, names: Sequence[Any] | None, *, what: str, used_by: str, default: Any = None
) -> Any:
    """What is given by name, in the order of the names; anything else as it is.

    Parameters
    ----------
    given : dict, Series, DataFrame with a column for each name, or anything else
    names : sequence or None
        None where there are no names: what comes with some is refused.
    what, used_by : str
        The parameter and its owner, for messages.
    default : object, default=None
        For names that are left out; None refuses these.

    Returns
    -------
    A list (d,) of a dict or a Series, an array (n, d) of a frame.

    Examples
    --------
    >>> by_position({"b": 2.0}, ["a", "b"], what="miss", used_by="Hamming", default=1.0)
    [1.0, 2.0]
    >>> by_position([3.0, 4.0], ["a", "b"], what="miss", used_by="Hamming")
    [3.0, 4.0]
    """
    given = in_memory(given)
    if not are_named(given):
        return given
    of_columns = is_pandas(given, "DataFrame")
    own = list(given.columns if of_columns else given.keys())
    place = {name: j for j, name in enumerate(own)}
    _check_names(own, names, what, used_by, complete=of_columns or default is None)
    order = [place.get(name) for name in names or ()]
    if of_columns:
        return _table(given.iloc[:, order])
    values = [value for _, value in given.items()]
    return [default if j is None else values[j] for j in order]


def _table(frame: Any) -> Any:
    """The cells of a frame of pandas: NaN for NA, which columns of its own numbers have."""
    own = [not isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in frame.dtypes]
    return frame.to_numpy(dtype=object, na_value=np.nan) if any(own) else frame.to_numpy()


def _check_names(
    own: list[Any], names: Sequence[Any] | None, what: str, used_by: str, *, complete: bool
) -> None:
    """Raise unless names are known, each there once, and all of them where that is asked for."""
    if names is None:
        raise ValueError(
            f"{used_by}: {what} has names ({_listed(own)}), and nothing here is called so; give an "
            "array."
        )
    known = set(names)
    for j, name in enumerate(own):
        if name not in known:
            near = difflib.get_close_matches(str(name), map(str, names), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            if own == list(range(len(own))):
                hint = " Numbers by position are a list or an array: to_numpy() makes one."
            raise ValueError(f"{used_by}: {what} names {name!r}; known are {_listed(names)}.{hint}")
        if name in own[:j]:
            raise ValueError(f"{used_by}: {what} has two entries for {name!r}.")
    if complete and len(own) < len(known):
        left = next(name for name in names if name not in set(own))
        raise ValueError(f"{used_by}: {what} has no entry for {left!r}.")


def _listed(names: Sequence[Any]) -> str:
    few = ", ".join(map(repr, list(names)[:FEW]))
    return few + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
