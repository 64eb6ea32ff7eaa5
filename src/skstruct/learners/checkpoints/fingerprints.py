# SPDX-License-Identifier: BSD-3-Clause
"""Which fit a checkpoint belongs to: its learner, and digests of parameters and data, equal for
equal values in every process.
"""

import copyreg
import dis
import hashlib
import re
import sysconfig
import types
from collections.abc import Callable, Iterator, Mapping, MappingView
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse, special

from skstruct.exceptions import ModelFileError

INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")
PYTHON = sysconfig.get_path("stdlib")
HERE = str(Path(__file__).parents[2])
GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")


def inside(value: Any) -> list[Any]:
    """Parts of an object, the same for equal objects; refused if there is no telling."""
    if isinstance(value, type):
        return []  # its name says all
    if isinstance(value, types.ModuleType):
        return [value.__name__]
    if isinstance(value, types.FunctionType):
        return _function(value)
    if isinstance(value, np.ufunc):
        return _ufunc(value)
    if isinstance(value, types.BuiltinFunctionType):
        return [value.__module__, value.__name__, value.__self__]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    for name in ("py_func", "__wrapped__"):  # compiled by numba; cached
        if hasattr(value, name):
            return [getattr(value, name)]
    try:
        return _data(value)
    except Exception:  # arrays on another device, locks, open files: each has an error of its own
        raise not_identifiable(value) from None


def not_identifiable(value: Any) -> ModelFileError:
    """The error for what has no digest."""
    return ModelFileError(
        f"A checkpoint cannot tell one {type(value).__name__} from another, and so not whose fit "
        "it is: fit without a checkpoint, or give arrays, plain data or functions in its place."
    )


def _function(value: Callable[..., Any]) -> list[Any]:
    """Code, and what it uses; functions of installed libraries use what is theirs."""
    parts = [value.__module__, value.__qualname__, *_code(value.__code__), *_cells(value)]
    if _is_installed(value.__code__.co_filename):
        return parts
    known = value.__globals__
    used = {name: known[name] for name in sorted(_global_names(value.__code__)) if name in known}
    return [*parts, value.__defaults__, value.__kwdefaults__, used]


def _cells(value: Callable[..., Any]) -> list[Any]:
    """Variables around a function."""
    contents: list[Any] = []
    for cell in value.__closure__ or ():
        with suppress(ValueError):  # one that has no value yet
            contents.append(cell.cell_contents)
    return contents


def _is_installed(file: str) -> bool:
    return bool(INSTALLED.search(file)) or file.startswith((PYTHON, HERE, "<frozen"))


def _code(code: Any) -> list[Any]:
    constants = [_code(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return [code.co_code, list(code.co_names), constants]


def _global_names(code: Any) -> set[str]:
    """Of a function and those within it."""
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    names = {step.argval for step in dis.get_instructions(code) if step.opname in GLOBAL}
    return names.union(*map(_global_names, inner))


def _ufunc(value: Callable[..., Any]) -> list[str]:
    """The name, if it is one of numpy or scipy; others may hold any function."""
    if value not in (getattr(np, value.__name__, None), getattr(special, value.__name__, None)):
        raise not_identifiable(value)
    return [value.__name__]


def _data(value: Any) -> list[Any]:
    """What an object holds."""
    if isinstance(value, np.random.RandomState):
        return [value.get_state(legacy=False)]
    if isinstance(value, np.random.Generator):
        return [value.bit_generator.state]
    if hasattr(value, "to_numpy") and (hasattr(value, "dtype") or hasattr(value, "dtypes")):
        return [list(getattr(value, "columns", ())), _types(value), value.to_numpy()]
    if hasattr(value, "__array__"):
        return [np.asarray(value)]
    if hasattr(value, "get_params"):
        return [value.get_params(deep=False)]
    if hasattr(value, "nodes") and hasattr(value, "edges"):  # a graph of networkx
        return [list(value.nodes(data=True)), list(value.edges(data=True))]
    return _reduced(value)


def _types(table: Any) -> list[Any]:
    """Types of the columns of a frame or series, and the categories of those that have some."""
    kinds: Any = getattr(table, "dtypes", None)
    kinds = list(kinds) if hasattr(kinds, "__iter__") else [table.dtype]
    return [
        (str(kind), list(getattr(kind, "categories", ())), getattr(kind, "ordered", None))
        for kind in kinds
    ]


def _reduced(value: Any) -> list[Any]:
    """What would make an object again when it was pickled: dates, decimals, classes of a user."""
    reduce = copyreg.dispatch_table.get(type(value))
    parts = value.__reduce_ex__(2) if reduce is None else reduce(value)
    if isinstance(parts, str):  # a name
        return [getattr(value, "__module__", None), parts]
    return [list(part) if isinstance(part, Iterator) else part for part in parts]


# Digests of values: equal for equal values, in every process, and else not.


MOST_OBJECTS = 1_000_000  # besides arrays and containers; more is the inside of some library
PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


def digest(value: Any) -> str:
    """SHA-256 of a value, the same in every process; sets have no order.

    Objects count by what would make them again, classes and modules by name; functions by
    their code and by the values and functions that they use. What cannot be distinguished in this
    way is refused.

    >>> digest([{"b", "a"}, 1.0]) == digest([{"a", "b"}, 1.0])
    True
    >>> digest([1, 2]) == digest([2, 1]), digest(1) == digest(1.0), digest("1") == digest(1)
    (False, False, False)
    """
    try:
        return _Walk().part(value).hex()
    except RecursionError:
        raise not_identifiable(value) from None


class _Walk:
    """One walk through a value. Each object is entered once, however often it is met."""

    def __init__(self) -> None:
        # By id: the object, kept alive so that no other one gets its id; its digest when it is
        # done, and how many objects it is inside of while it is not.
        self.met: dict[int, tuple[Any, bytes | int]] = {}
        self.n_open = self.n_objects = 0

    def part(self, value: Any) -> bytes:
        hasher = hashlib.sha256()
        self.feed(hasher, value)
        return hasher.digest()

    def feed(self, hasher: Any, value: Any) -> None:
        if type(value) in PLAIN or isinstance(value, (int, float, complex, str, bytes)):
            _say(hasher, type(value).__name__, repr(value))
        elif type(value) in (list, tuple) and all(type(part) in PLAIN for part in value):
            self._feed_structure(hasher, value)  # most data is that, and can hold no loop
        elif id(value) not in self.met:
            hasher.update(self._entered(value))
        else:
            found = self.met[id(value)][1]
            if isinstance(found, bytes):
                hasher.update(found)
            else:  # a loop, which leads so many levels up
                _say(hasher, "up", str(self.n_open - found))

    def _entered(self, value: Any) -> bytes:
        self.met[id(value)] = value, self.n_open
        self.n_open += 1
        hasher = hashlib.sha256()
        self._feed_structure(hasher, value)
        self.n_open -= 1
        self.met[id(value)] = value, hasher.digest()
        return hasher.digest()

    def _feed_structure(self, hasher: Any, value: Any) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            self._feed_array(hasher, np.asarray(value))
            if isinstance(value, np.ma.MaskedArray):
                self._feed_array(hasher, np.ma.getmaskarray(value))
        elif sparse.issparse(value):
            rows = sparse.csr_array(value)
            _say(hasher, "sparse", str(rows.shape))
            for array in (rows.data, rows.indices, rows.indptr):
                self._feed_array(hasher, array)
        elif isinstance(value, (list, tuple, MappingView)):
            _say(hasher, "list", type(value).__name__, str(len(value)))
            self._feed_each(hasher, value)
        elif isinstance(value, (set, frozenset)):
            _say(hasher, "set", *sorted(self.part(part).hex() for part in value))
        elif isinstance(value, Mapping):
            _say(hasher, "mapping", str(len(value)))
            for item in value.items():
                self._feed_each(hasher, item)
        else:
            self.n_objects += 1
            if self.n_objects > MOST_OBJECTS:
                raise not_identifiable(value)
            kind = value if isinstance(value, type) else type(value)
            _say(hasher, "object", kind.__module__, kind.__qualname__)
            self._feed_each(hasher, inside(value))

    def _feed_each(self, hasher: Any, values: Any) -> None:
        for value in values:
            self.feed(hasher, value)

    def _feed_array(self, hasher: Any, array: np.ndarray) -> None:
        _say(hasher, "array", array.dtype.str, str(array.dtype), str(array.shape))
        if array.dtype.names:  # one by one: there may be anything between the fields
            for name in array.dtype.names:
                self._feed_array(hasher, array[name])
        elif array.dtype.hasobject:
            self._feed_each(hasher, array.ravel().tolist())
        else:
            hasher.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _say(hasher: Any, *words: Any) -> None:
    for word in words:
        text = word.encode("utf-8", "surrogatepass")
        hasher.update(b"%d:" % len(text))  # lengths, so that no two lists of words look alike
        hasher.update(text)


# Which fit a checkpoint belongs to: its learner, and digests of parameters and data.


LAYOUT = 1  # of what learners save; a change of any of them counts it up
NO_EFFECT = ("engine", "n_jobs", "verbose")  # parameters on which no result depends


def owner_of(model: Any, data: Mapping[str, Any]) -> dict[str, Any]:
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


def differences(owner: dict[str, Any], other: dict[str, Any]) -> str | None:
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
