# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of any space as JSON has them, in the names of the user."""

import math
from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.spaces import Description


def json_outputs(served: Any, outputs: Any, restrict: Any = None) -> list[Any]:
    """Outputs, as a learner gives them within constraints, as JSON values.

    A class is its name, a label set a list of names, a ranking a list from the best to the worst
    with tied items in lists of their own, a sequence a list of symbols; quantities are numbers by
    name, and paths, trees and matchings lists of edges. What the space has no names for is a plain
    value: numbers, texts, lists.
    """
    if served.kind in IN_PARTS:
        return _in_parts(served, outputs, restrict)
    return _WRITERS.get(served.kind, _whole)(served, outputs)


def json_value(value: Any) -> Any:
    """Numbers, texts, lists and dictionaries from whatever holds them; None for NaN.

    >>> json_value({"a": np.float64(1.0), "b": (np.nan, {2})})
    {'a': 1.0, 'b': [None, [2]]}
    """
    if isinstance(value, str) or value is None or isinstance(value, (bool, int)):
        return value if type(value) is not np.str_ else str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name_text(key): json_value(item) for key, item in value.items()}
    if hasattr(value, "edges") and hasattr(value, "nodes"):  # a graph
        return [json_value(edge) for edge in value.edges]
    if sparse.issparse(value):
        return json_value(value.toarray().tolist())
    if hasattr(value, "tolist"):
        return json_value(value.tolist())
    if isinstance(value, (set, frozenset)):
        return sorted(map(json_value, value), key=str)
    if isinstance(value, (list, tuple)):
        return [json_value(item) for item in value]
    return str(value)


def name_text(name: Any) -> str:
    """A name of an output or of a part of it as text; an edge by its ends."""
    return " → ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _array(outputs: Any) -> Any:
    """An array of a frame, of sparse rows or of whatever they are."""
    if sparse.issparse(outputs):
        return outputs.toarray()
    return outputs.to_numpy() if hasattr(outputs, "to_numpy") else outputs


def _one_name(served: Any, outputs: Any) -> list[Any]:
    names = np.asarray(_array(outputs))
    if names.dtype.kind not in "biufU":  # names of several kinds, dates
        return [json_value(name) for name in names.tolist()]
    found: list[Any] = names.tolist()
    return [str(name) for name in found] if served.is_task else found


def _label_sets(served: Any, outputs: Any) -> list[Any]:
    outputs = _array(outputs)
    labels = [json_value(label) for label in served.space.labels_]
    if isinstance(outputs, np.ndarray) and outputs.ndim == 2:
        row, column = np.nonzero(outputs)
        ends = np.searchsorted(row, np.arange(1, len(outputs)))
        return [[labels[j] for j in part.tolist()] for part in np.split(column, ends)]
    if isinstance(outputs, np.ndarray) and outputs.dtype != object:  # one node of a graph each
        return _one_name(served, outputs)
    if served.is_task:  # tuples of texts, in the order of the labels
        return [list(row) for row in outputs]
    number = {label: j for j, label in enumerate(served.space.labels_)}
    try:
        return [[labels[j] for j in sorted(number[name] for name in row)] for row in outputs]
    except (KeyError, TypeError):  # outputs that are not written as sets of their labels
        return _in_parts(served, outputs)


def _ranking(served: Any, outputs: Any) -> list[Any]:
    ranks = np.asarray(served.space.validate(outputs), dtype=np.float64)
    named = served.is_task and served.model.targets_
    items = [json_value(item) for item in (named or served.space.items_)]
    return [_groups(row, items) for row in ranks.tolist()]


def _groups(ranks: list[float], items: list[Any]) -> list[Any]:
    """Items from the best to the worst, tied ones together.

    >>> _groups([2.0, math.nan, 1.0, 2.0], ["a", "b", "c", "d"])
    ['c', ['a', 'd']]
    """
    known = sorted((rank, k) for k, rank in enumerate(ranks) if not math.isnan(rank))
    found: list[Any] = []
    for _, group in groupby(known, key=lambda pair: pair[0]):
        names = [items[k] for _, k in group]
        found.append(names[0] if len(names) == 1 else names)
    return found


def _quantities(served: Any, outputs: Any) -> list[Any]:
    numbers = np.asarray(served.space.validate(outputs), dtype=np.float64)
    numbers = numbers.reshape(len(numbers), -1)
    names = _quantity_names(served, numbers.shape[1])
    rows: list[Any] = json_value(numbers) if not np.isfinite(numbers).all() else numbers.tolist()
    if names is not None:
        return [dict(zip(names, row)) for row in rows]
    return [row[0] for row in rows] if numbers.shape[1] == 1 else rows


def _quantity_names(served: Any, width: int) -> list[str] | None:
    """Names of the numbers; None where they are counted only."""
    own = Description.of(served.space).part_names()
    names = served.model.targets_ if served.is_task else own
    if names is None or len(names) != width:
        return None
    if list(names) == list(range(width)) or (width == 1 and not served.is_task):
        return None
    return [name_text(name) for name in names]


def _in_parts(served: Any, outputs: Any, restrict: Any = None) -> list[Any]:
    """The names of the parts, such as nodes in the order of travel, or arcs."""
    try:
        space = served.space.restrict(**restrict) if restrict else served.space  # of other ends
        parts_of = Description.of(space).parts_of
        return [
            [json_value(part.name) for part in parts_of(z).parts]
            for z in space.validate(outputs)
        ]  # fmt: skip
    except (ValueError, TypeError):  # ends that differ from row to row
        return _whole(served, outputs)


def _whole(served: Any, outputs: Any) -> list[Any]:
    if hasattr(outputs, "to_numpy"):
        if getattr(outputs, "ndim", 1) == 2:
            return [json_value(row) for row in outputs.to_dict("records")]
        outputs = outputs.to_numpy()
    if sparse.issparse(outputs):
        outputs = outputs.toarray()
    return [json_value(output) for output in outputs]


IN_PARTS = ("tour", "parts")
_WRITERS: dict[str, Callable[[Any, Any], list[Any]]] = {
    "classes": _one_name,
    "ordinal": _one_name,
    "labels": _label_sets,
    "hierarchy": _label_sets,
    "ranking": _ranking,
    "sequence": _whole,
    "quantities": _quantities,
    "flow": _quantities,
}
