# SPDX-License-Identifier: BSD-3-Clause
"""What objects and functions are made of, as far as the result of a fit may depend on it."""

from __future__ import annotations

import copyreg
import dis
import re
import sysconfig
import types
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from skstruct.exceptions import ModelFileError

INSTALLED = re.compile(r"[\\/](site|dist)-packages[\\/]")
PYTHON = sysconfig.get_path("stdlib")
HERE = str(Path(__file__).parents[2])
GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")


def inside(value) -> list[Any]:
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
        raise untold(value) from None


def untold(value) -> ModelFileError:
    """The error for what has no digest."""
    return ModelFileError(
        f"A checkpoint cannot tell one {type(value).__name__} from another, and so not whose fit "
        "it is: fit without a checkpoint, or give arrays, plain data or functions in its place."
    )


def _function(value):
    """Code, and what it uses; functions of installed libraries use what is theirs."""
    parts = [value.__module__, value.__qualname__, *_code(value.__code__), *_cells(value)]
    if _is_installed(value.__code__.co_filename):
        return parts
    known = value.__globals__
    used = {name: known[name] for name in sorted(_global_names(value.__code__)) if name in known}
    return [*parts, value.__defaults__, value.__kwdefaults__, used]


def _cells(value):
    """Variables around a function."""
    contents: list[Any] = []
    for cell in value.__closure__ or ():
        with suppress(ValueError):  # one that has no value yet
            contents.append(cell.cell_contents)
    return contents


def _is_installed(file: str) -> bool:
    return bool(INSTALLED.search(file)) or file.startswith((PYTHON, HERE, "<frozen"))


def _code(code):
    constants = [_code(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return [code.co_code, list(code.co_names), constants]


def _global_names(code) -> set[str]:
    """Of a function and those within it."""
    inner = [part for part in code.co_consts if isinstance(part, types.CodeType)]
    names = {step.argval for step in dis.get_instructions(code) if step.opname in GLOBAL}
    return names.union(*map(_global_names, inner))


def _ufunc(value):
    """The name, if it is one of numpy or scipy; others may hold any function."""
    if value not in (getattr(np, value.__name__, None), getattr(special, value.__name__, None)):
        raise untold(value)
    return [value.__name__]


def _data(value):
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


def _types(table):
    """Types of the columns of a frame or series, and the categories of those that have some."""
    kinds = getattr(table, "dtypes", None)
    kinds = list(kinds) if hasattr(kinds, "__iter__") else [table.dtype]
    return [
        (str(kind), list(getattr(kind, "categories", ())), getattr(kind, "ordered", None))
        for kind in kinds
    ]


def _reduced(value):
    """What would make an object again when it was pickled: dates, decimals, classes of a user."""
    reduce = copyreg.dispatch_table.get(type(value))
    parts = value.__reduce_ex__(2) if reduce is None else reduce(value)
    if isinstance(parts, str):  # a name
        return [getattr(value, "__module__", None), parts]
    return [list(part) if isinstance(part, Iterator) else part for part in parts]
