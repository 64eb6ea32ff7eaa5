# SPDX-License-Identifier: BSD-3-Clause
"""Which fit a checkpoint belongs to: digests of the learner, its parameters and its data."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.exceptions import ModelFileError

LAYOUT = 1  # of what learners save; a change of any of them counts it up
NO_EFFECT = ("n_jobs", "verbose")  # parameters on which no result depends


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


def digest(value) -> str:
    """SHA-256 of a value, the same in every process; sets have no order.

    >>> digest([{"b", "a"}, 1.0]) == digest([{"a", "b"}, 1.0])
    True
    >>> digest([1, 2]) == digest([2, 1]), digest(1) == digest(1.0), digest("1") == digest(1)
    (False, False, False)
    """
    hasher = hashlib.sha256()
    _feed(hasher, value, ())
    return hasher.hexdigest()


def _feed(hasher, value, within):
    """Add a value; ``within`` are the objects that hold it, by id."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        _say(hasher, type(value).__name__, repr(value))
    elif id(value) in within:
        _say(hasher, "again", str(within.index(id(value))))
    else:
        _feed_structure(hasher, value, (*within, id(value)))


def _say(hasher, *words):
    for word in words:
        text = word.encode("utf-8", "surrogatepass")
        hasher.update(b"%d:" % len(text))  # lengths, so that no two lists of words look alike
        hasher.update(text)


def _feed_structure(hasher, value, within):
    if isinstance(value, np.ma.MaskedArray):
        _feed_each(hasher, (np.ma.getmaskarray(value), value.filled()), within)
    elif isinstance(value, (np.ndarray, np.generic)):
        _feed_array(hasher, np.asarray(value), within)
    elif sparse.issparse(value):
        rows = sparse.csr_array(value)
        _say(hasher, "sparse", str(rows.shape))
        _feed_each(hasher, (rows.data, rows.indices, rows.indptr), within)
    elif isinstance(value, (list, tuple)):
        _say(hasher, "list", type(value).__name__, str(len(value)))
        _feed_each(hasher, value, within)
    elif isinstance(value, (set, frozenset)):
        _say(hasher, "set", *sorted(map(digest, value)))
    elif isinstance(value, Mapping):
        _say(hasher, "mapping", str(len(value)))
        _feed_each(hasher, [part for item in value.items() for part in item], within)
    else:
        _feed_object(hasher, value, within)


def _feed_each(hasher, values, within):
    for value in values:
        _feed(hasher, value, within)


def _feed_array(hasher, array, within):
    _say(hasher, "array", array.dtype.str, str(array.dtype.names), str(array.shape))
    if array.dtype.hasobject:
        _feed_each(hasher, array.ravel().tolist(), within)
    else:
        hasher.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _feed_object(hasher, value, within):
    kind = value if isinstance(value, type) else type(value)
    _say(hasher, "object", kind.__module__, kind.__qualname__)
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, np.ufunc)):
        _say(hasher, str(getattr(value, "__module__", "")), value.__name__)
        owner = getattr(value, "__self__", None)
        if owner is not None and not isinstance(owner, types.ModuleType):  # a bound method
            _feed(hasher, owner, within)
        code = getattr(value, "__code__", None)
        if code is not None:
            _feed_code(hasher, code, within)
            cells = [cell.cell_contents for cell in value.__closure__ or ()]
            _feed_each(hasher, [*cells, value.__defaults__, value.__kwdefaults__], within)
    elif isinstance(value, type):
        return
    elif isinstance(value, types.MethodType):
        _feed_each(hasher, (value.__func__, value.__self__), within)
    elif isinstance(value, partial):
        _feed_each(hasher, (value.func, value.args, value.keywords), within)
    else:
        _feed(hasher, _inside(value), within)


def _feed_code(hasher, code, within):
    _say(hasher, code.co_code.hex(), *code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _feed_code(hasher, constant, within)
        else:
            _feed(hasher, constant, within)


def _inside(value):
    """What an object is made of, as plain data."""
    if isinstance(value, np.random.RandomState):
        return value.get_state(legacy=False)
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if hasattr(value, "to_numpy"):  # a frame or a series
        columns = list(getattr(value, "columns", ()))
        return [columns, _types(value), value.to_numpy()]
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if hasattr(value, "get_params"):
        return value.get_params(deep=False)
    if hasattr(value, "nodes") and hasattr(value, "edges"):  # a graph of networkx
        return [list(value.nodes(data=True)), list(value.edges(data=True))]
    return dict(vars(value)) if hasattr(value, "__dict__") else _reduced(value)


def _types(table):
    """Types of the columns, and the categories of those that have some."""
    types_ = getattr(table, "dtypes", None)
    types_ = list(types_) if hasattr(types_, "__iter__") else [getattr(table, "dtype", None)]
    return [(str(kind), list(getattr(kind, "categories", ()))) for kind in types_]


def _reduced(value):
    """What would make such an object again: dates, decimals, objects with slots."""
    try:
        return list(value.__reduce_ex__(2))
    except TypeError:
        raise ModelFileError(
            f"A checkpoint cannot tell one {type(value).__name__} from another, and so not whose "
            "fit it is: fit without a checkpoint, or give something else."
        ) from None
