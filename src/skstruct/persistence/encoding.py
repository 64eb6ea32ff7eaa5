# SPDX-License-Identifier: BSD-3-Clause
"""A model as JSON nodes and plain arrays.

A node is a JSON scalar, or an object with a single key that says what it is: ``{"tuple": [...]}``,
``{"array": "a3"}``, ``{"ref": 7}``. Objects stand in one table, each after all that it refers to,
so that shared parts stay shared and reading needs no recursion from object to object.
"""

import base64
import datetime
import json
import math
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.persistence.known_types import encode_known
from skstruct.persistence.names import KERNEL_FUNCTIONS, TYPES, function_named, name_of
from skstruct.persistence.state import state_of
from skstruct.persistence.third_party import encode_foreign

DEEPEST = 60  # lists within lists
INLINE_ENTRIES = 8  # longer containers stand in the table, once each
MANY = 64  # longer lists of texts or numbers are written as arrays
WHOLE = 2**63
DATA = "biufcUS"  # letters of dtypes that are written as they are
TYPE_NAMES = {kind: name for name, kind in TYPES.items()}


class Encoder:
    """Collects objects and arrays; ``node(value, path)`` returns what stands for a value.

    >>> Encoder().node([1, ("a", None)], "model")
    {'list': [1, {'tuple': ['a', None]}]}
    """

    def __init__(self) -> None:
        self.objects: list[dict[Any, Any]] = []
        self.arrays: dict[str, np.ndarray] = {}
        self._nodes: dict[int, Any] = {}  # by id
        self._alive: list[Any] = []  # nothing that has an id here may go before we are done
        self._open: set[int] = set()

    # ------------------------------------------------------------------ any value
    def node(self, value: Any, path: str, depth: int = 0) -> Any:
        """What stands for a value; ``path`` is where it was found, for messages."""
        if depth > DEEPEST:
            raise ModelFileError(f"{path} is nested too deeply to be saved.")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if -WHOLE < value < WHOLE else {"int": hex(value)}
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if id(value) in self._nodes:
            return self._nodes[id(value)]
        if id(value) in self._open:
            raise ModelFileError(f"{path} refers to something that holds it: a circle.")
        self._open.add(id(value))
        node = self._new(value, path, depth)
        self._open.discard(id(value))
        self._alive.append(value)
        self._nodes[id(value)] = node
        return node

    def _new(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        for encode in (_simple, self._numpy, self._container):
            node = encode(value, path, depth)
            if node is not None:
                return node
        node = encode_foreign(value, lambda part, name: self.node(part, f"{path}.{name}"))
        return self._object(value, path) if node is None else node

    # ------------------------------------------------------------------ numpy
    def _numpy(self, value: Any, path: str, depth: int) -> dict[str, Any] | None:
        if isinstance(value, np.generic):
            return self._scalar(value, path)
        if isinstance(value, np.dtype):
            return {"dtype": value.str}
        if not isinstance(value, np.ndarray):
            return None
        if type(value) is not np.ndarray:
            raise ModelFileError(f"{path} is a {type(value).__name__}: give a plain array.")
        if value.dtype == object:
            items = self._items(list(value.ravel()), path, depth)
            return {"objects": {"shape": list(value.shape), "items": items}}
        if value.dtype.kind in "mM":
            return {"times": [self._array(value.view(np.int64)), value.dtype.str]}
        if value.dtype.kind not in DATA:
            raise ModelFileError(f"{path} is an array of {value.dtype}, which is not plain data.")
        return {"array": self._array(value)}

    def _array(self, array: np.ndarray) -> str:
        name = f"a{len(self.arrays)}"
        by_columns = array.ndim == 2 and abs(array.strides[0]) < abs(array.strides[1])
        # In the order in which it lies: a product of matrices may depend on it in its last bit.
        self.arrays[name] = np.asarray(array, order="F" if by_columns else "C")
        return name

    def _scalar(self, value: Any, path: str) -> dict[str, Any]:
        kind = value.dtype.kind
        if kind not in "biufcUSmM":
            raise ModelFileError(f"{path} is a {type(value).__name__}, which is not plain data.")
        plain = int(value.view(np.int64)) if kind in "mM" else value.item()
        if kind == "f" and value.dtype.itemsize > 8:
            raise ModelFileError(f"{path} has more than 64 bits: give a plain float.")
        return {"scalar": [value.dtype.str, self.node(plain, path)]}

    # ------------------------------------------------------------------ containers
    def _container(self, value: Any, path: str, depth: int) -> dict[str, Any] | None:
        kind = type(value)
        if kind in (list, tuple):
            node = {kind.__name__: self._items(value, path, depth)}
        elif kind in (set, frozenset):
            items = [self.node(item, f"{path}{{}}", depth + 1) for item in value]
            node = {kind.__name__: sorted(items, key=json.dumps)}  # no order of its own
        elif kind is dict:
            keys = self._items(list(value), f"{path}.keys()", depth)
            node = {"dict": [keys, self._items(list(value.values()), path, depth, list(value))]}
        else:
            return None
        return node if len(value) <= INLINE_ENTRIES else self._entry({"value": node})

    def _items(self, values: Any, path: str, depth: int, keys: list[str] | None = None) -> Any:
        """The items of a list; many texts or many numbers go into an array."""
        kinds = set(map(type, values)) if len(values) > MANY else set()
        if kinds == {str}:
            texts = [text.encode("utf-8", "surrogatepass") for text in values]
            lengths = np.array([len(text) for text in texts], dtype=np.int64)
            joined = np.frombuffer(b"".join(texts), dtype=np.uint8)
            return {"texts": [self._array(joined), self._array(lengths)]}
        if kinds == {float} or (kinds == {int} and all(-WHOLE < v < WHOLE for v in values)):
            return {"numbers": self._array(np.array(values))}
        places = range(len(values)) if keys is None else keys
        return [
            self.node(v, f"{path}[{place!r:.40}]", depth + 1) for place, v in zip(places, values)
        ]

    # ------------------------------------------------------------------ objects
    def _object(self, value: Any, path: str) -> dict[str, Any]:
        name = name_of(type(value))
        if name is None:
            raise ModelFileError(f"{path} is {_described(value)}")
        state = state_of(name, value)
        return self._entry(
            {
                "class": name,
                "state": {key: self.node(part, f"{path}.{key}") for key, part in state.items()},
            }
        )

    def _entry(self, entry: dict[str, Any]) -> dict[str, Any]:
        self.objects.append(entry)
        return {"ref": len(self.objects) - 1}


def _simple(value: Any, path: str, depth: int) -> dict[str, Any] | None:
    kind = type(value)
    if kind is complex:
        return {"complex": [repr(value.real), repr(value.imag)]}
    if kind is bytes:
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if kind is range:
        return {"range": [value.start, value.stop, value.step]}
    if kind is slice:
        parts = value.start, value.stop, value.step
        return {"slice": parts} if all(p is None or type(p) is int for p in parts) else None
    if kind is datetime.date or (kind is datetime.datetime and _is_plain(value)):
        return {kind.__name__: value.isoformat()}
    known = encode_known(value)
    if known is not None:
        return {"known": known}
    if isinstance(value, type) and value in TYPE_NAMES:
        return {"type": TYPE_NAMES[value]}
    name = getattr(value, "__name__", None)
    if name in KERNEL_FUNCTIONS and value is function_named(name):
        return {"function": name}
    return None


def _is_plain(time: datetime.datetime) -> bool:
    """Whether a time has no zone, or one that is a fixed time off."""
    return time.tzinfo is None or type(time.tzinfo) is datetime.timezone


def _described(value: Any) -> str:
    """Why something is not saved, and what to do."""
    kind = type(value)
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return "a generator of random numbers: give a whole number, and fit again."
    if callable(value) and hasattr(value, "__name__"):
        return (
            f"a function or class ({value.__name__}), and model files hold no code: give a name or "
            "an object of skstruct in its place, or keep this model with pickle."
        )
    return (
        f"of the class {kind.__module__}.{kind.__qualname__}, which model files do not know: use "
        "one of skstruct, decorate your own with skstruct.saving.savable, or keep this model with "
        "pickle."
    )
