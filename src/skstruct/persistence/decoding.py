# SPDX-License-Identifier: BSD-3-Clause
"""JSON nodes and plain arrays back as a model: known classes only, and each one checked."""

import base64
import datetime
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.persistence.budget import (
    CALL,
    HASHED,
    ITEM,
    NUMBER,
    OBJECT,
    TEXT,
    TOUCH,
    Budget,
    charge_object,
)
from skstruct.persistence.known_types import decode_known
from skstruct.persistence.names import TYPES, function_named, unknown_names
from skstruct.persistence.state import build
from skstruct.persistence.third_party import (
    check_fields,
    decode_graph,
    decode_pandas,
    decode_pandas_dtype,
    decode_sparse,
)

DEEPEST = 200  # lists within lists, also through references
LONGEST = 10**6  # items of a range: each becomes a name
MOST_DIGITS = 10**6  # of a whole number, hexadecimal
_DTYPE = re.compile(r"[<>|=]?[biufcUSO][0-9]{0,4}|[<>=]?[mM]8(\[[a-zA-Z0-9]{1,8}\])?")


@dataclass(frozen=True)
class _Size:
    """How large an entry of the table is when everything that it shares is written out."""

    items: int = 0  # that are hashed or compared with it
    objects: int = 0  # that may be asked something when it is
    depth: int = 0

    def __add__(self, other: "_Size") -> "_Size":
        depth = max(self.depth, other.depth)
        return _Size(self.items + other.items, self.objects + other.objects, depth)


class Decoder:
    """Reads the table of objects, in its order; ``value(node)`` is what a node stands for.

    Objects are shared, so a few references to references may stand for more than any memory holds.
    Every node is charged to a budget before it is made, references by what they stand for.

    Parameters
    ----------
    objects : list of entries
    arrays : dict of arrays
    budget : Budget
    """

    def __init__(self, objects: list[Any], arrays: dict[str, np.ndarray], budget: Budget) -> None:
        self.arrays, self.budget = arrays, budget
        self.made: list[Any] = []
        self._sizes: list[_Size] = []
        self._size = _Size()  # of the entry that is being read
        budget.take(sum(array.nbytes for array in arrays.values()))
        if not isinstance(objects, list):
            raise ModelFileError("a table of objects that is none")
        _check_classes(objects)
        for entry in objects:
            self._size = _Size()
            made = self._entry(entry)
            self.made.append(made)
            self._sizes.append(self._closed(made, "class" in entry))

    def _closed(self, made: Any, is_object: bool) -> _Size:
        """The size of an entry; what compares by identity is never looked into."""
        size, deeper = self._size, self._size.depth + 1
        if deeper > DEEPEST:
            raise ModelFileError("objects that are nested too deeply")
        if not is_object:
            return _Size(size.items, size.objects, deeper)
        kind: Any = type(made)
        compares = kind.__eq__ is not object.__eq__
        return _Size(size.items * compares, size.objects + 1, deeper)

    def _entry(self, entry: dict[str, Any]) -> Any:
        if set(entry) == {"value"}:
            return self.value(entry["value"])
        if set(entry) != {"class", "state"} or not isinstance(entry["state"], dict):
            raise ModelFileError("an entry of the table that is none")
        name = entry["class"]
        state = {key: self.value(part) for key, part in entry["state"].items()}
        self.budget.take(OBJECT + HASHED * len(state))
        charge_object(name, state, self.budget)
        return build(name, state)

    # ------------------------------------------------------------------ nodes
    def value(self, node: Any, depth: int = 0) -> Any:
        """What a node stands for."""
        if node is None or isinstance(node, (bool, int, str)):
            return node
        if isinstance(node, float):
            if not math.isfinite(node):
                raise ModelFileError("a number that is too large")
            return node
        if not isinstance(node, dict) or len(node) != 1 or depth > DEEPEST:
            raise ModelFileError("a value of an unknown form")
        ((kind, body),) = node.items()
        if kind not in READERS:
            raise ModelFileError(f"a value of the unknown kind {kind!r:.40}")
        return READERS[kind](self, body, depth)

    def items(self, body: Any, depth: int) -> list[Any]:
        """The items of a list."""
        if isinstance(body, list):
            self._charge(len(body), ITEM)
            return [self.value(item, depth + 1) for item in body]
        ((kind, parts),) = body.items()
        if kind == "numbers":
            return self._numbers(parts)
        if kind != "texts":
            raise ModelFileError("items of an unknown form")
        return self._texts(*(self._array(name, 0) for name in parts))

    def _charge(self, n: int, each: int) -> None:
        """Charge a container of n items of so many bytes each."""
        self.budget.take_items(n, each)
        self.budget.work(TOUCH * n)
        self._size += _Size(n)

    def _numbers(self, name: str) -> list[Any]:
        array = self._array(name, 0)
        if array.dtype.kind not in "if" or array.ndim != 1:
            raise ModelFileError("a list of numbers that is none")
        self._charge(len(array), ITEM + NUMBER)
        return list(array.tolist())

    def _texts(self, joined: np.ndarray, lengths: np.ndarray) -> list[str]:
        if joined.dtype != np.uint8 or lengths.dtype != np.int64 or (lengths < 0).any():
            raise ModelFileError("texts that are none")
        # One letter beyond the first 65,536 makes all letters of its text four bytes wide.
        wide = 4 if joined.max(initial=0) > 127 else 1
        self._charge(len(lengths), ITEM + TEXT)
        self.budget.take((1 + wide) * joined.size + 3 * lengths.nbytes)
        text, ends = joined.tobytes(), np.concatenate([[0], np.cumsum(lengths)])
        # Lengths of more than 63 bits together turn to ends that fall; their differences do not.
        if ends[-1] != len(text) or (ends[1:] < ends[:-1]).any():
            raise ModelFileError("texts that do not add up")
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]

    def _array(self, name: str, depth: int) -> np.ndarray:
        if not isinstance(name, str) or name not in self.arrays:
            raise ModelFileError(f"an array {name!r:.40} that is not there")
        self.budget.work(self.arrays[name].nbytes)  # whoever gets it will look at it
        return self.arrays[name]

    def _ref(self, number: int, depth: int) -> Any:
        if type(number) is not int or not 0 <= number < len(self.made):
            raise ModelFileError("a reference to an object that has not come yet")
        size = self._sizes[number]
        self.budget.work(TOUCH * (1 + size.items) + CALL * size.objects)
        self._size += size
        return self.made[number]

    def _dict(self, body: list[list[Any]], depth: int) -> dict[Any, Any]:
        keys, values = (self.items(part, depth) for part in body)
        self.budget.take_items(len(keys), HASHED)
        return dict(zip(keys, values, strict=True))

    def _objects(self, body: dict[str, Any], depth: int) -> np.ndarray:
        check_fields(body, {"shape", "items"}, "an array of objects")
        items = self.items(body["items"], depth)
        self.budget.take_items(len(items))
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = item
        shape = body["shape"]
        if any(type(n) is not int or n < 0 for n in shape):
            raise ModelFileError("an array of an impossible shape")
        return array.reshape(shape)

    def _range(self, body: list[int], depth: int) -> range:
        if any(type(part) is not int for part in body):
            raise ModelFileError("a range that is none")
        made = range(*body)
        if (made.stop - made.start) // made.step > LONGEST:
            raise ModelFileError("a range that is too long")
        self._charge(len(made), ITEM + NUMBER)  # whoever gets it will list it
        return made

    def _scalar(self, body: list[Any], depth: int) -> Any:
        name, number = body
        dtype, plain = numpy_dtype(name), self.value(number)
        if dtype.kind in "mM":
            return np.array(plain, dtype=np.int64).view(dtype)[()]
        if dtype.hasobject:
            raise ModelFileError("a number of no kind")
        return dtype.type(plain)

    def _times(self, body: Any, depth: int) -> Any:
        name, unit = body
        array, dtype = self._array(name, depth), numpy_dtype(unit)
        if dtype.kind not in "mM" or array.dtype != np.int64:
            raise ModelFileError("times that are none")
        return array.view(dtype)


def _check_classes(objects: list[dict[str, Any]]) -> None:
    """Raise where an entry names a class that nobody has registered; import those that are."""
    names = [entry["class"] for entry in objects if "class" in entry]
    strange = [name for name in names if not isinstance(name, str)]
    for name in strange or unknown_names(dict.fromkeys(names)):
        raise ModelFileError(
            f"the class {name!r:.80} is not known here: the package that defines it must be "
            "installed or imported before, in a version that has this class"
        )


def numpy_dtype(text: str) -> np.dtype:
    """A dtype of plain data."""
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise ModelFileError("a dtype that is none")
    return np.dtype(text)


def _int(decoder: Decoder, body: str, depth: int) -> int:
    if not isinstance(body, str) or len(body) > MOST_DIGITS:
        raise ModelFileError("a whole number that is none")
    decoder.budget.take(NUMBER + len(body) // 2)
    return int(body, 16)


def _float(decoder: Any, body: Any, depth: int) -> Any:
    if body not in ("nan", "inf", "-inf"):
        raise ModelFileError("a number that is none")
    return float(body)


def _complex(decoder: Any, body: Any, depth: int) -> Any:
    real, imaginary = body
    return complex(float(real), float(imaginary))


def _slice(decoder: Any, body: Any, depth: int) -> Any:
    start, stop, step = body
    if any(part is not None and type(part) is not int for part in body):
        raise ModelFileError("a slice that is none")
    return slice(start, stop, step)


def _of_kind(kind: type[Any], each: int) -> Callable[..., Any]:
    """A reader of containers that take so many bytes for each item, beside a list of them."""

    def read(decoder: Decoder, body: list[Any], depth: int) -> Any:
        items = decoder.items(body, depth)
        decoder.budget.take_items(len(items), each)
        return kind(items)

    return read


def _bytes(decoder: Decoder, body: str, depth: int) -> bytes:
    decoder.budget.take(len(body))
    return base64.b64decode(body, validate=True)


READERS: dict[str, Callable[[Decoder, Any, int], Any]] = {
    "array": Decoder._array,
    "bytes": _bytes,
    "complex": _complex,
    "date": lambda decoder, body, depth: datetime.date.fromisoformat(body),
    "datetime": lambda decoder, body, depth: datetime.datetime.fromisoformat(body),
    "dict": Decoder._dict,
    "dtype": lambda decoder, body, depth: numpy_dtype(body),
    "float": _float,
    "frozenset": _of_kind(frozenset, HASHED),
    "function": lambda decoder, body, depth: function_named(body),
    "graph": lambda decoder, body, depth: decode_graph(body, decoder.value, decoder.budget),
    "int": _int,
    "known": lambda decoder, body, depth: decode_known(body),
    "list": _of_kind(list, 0),
    "objects": Decoder._objects,
    "pandas": lambda decoder, body, depth: decode_pandas(dict(body), decoder.value, decoder.budget),
    "pandas dtype": lambda decoder, body, depth: decode_pandas_dtype(body),
    "range": Decoder._range,
    "ref": Decoder._ref,
    "scalar": Decoder._scalar,
    "set": _of_kind(set, HASHED),
    "slice": _slice,
    "sparse": lambda decoder, body, depth: decode_sparse(body, decoder.value, decoder.budget),
    "times": Decoder._times,
    "tuple": _of_kind(tuple, ITEM),
    "type": lambda decoder, body, depth: TYPES[body],
}
