# SPDX-License-Identifier: BSD-3-Clause
"""JSON nodes and plain arrays back as a model: known classes only, and each one checked."""

from __future__ import annotations

import base64
import datetime
import math
import re
from itertools import pairwise
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.persistence.checks import check_object
from skstruct.persistence.foreign import (
    decode_graph,
    decode_pandas,
    decode_pandas_dtype,
    decode_sparse,
)
from skstruct.persistence.names import MODULE_OF, TYPES, function_named
from skstruct.persistence.rules import build

DEEPEST = 200  # lists within lists
LONGEST = 10**6  # items of a range: each becomes a name
MOST_DIGITS = 10**6  # of a whole number, hexadecimal
_DTYPE = re.compile(r"[<>|=]?[biufcUSO][0-9]{0,6}|[<>=]?[mM]8(\[[a-zA-Z0-9]{1,8}\])?")


class Decoder:
    """Reads the table of objects, in its order; ``value(node)`` is what a node stands for."""

    def __init__(self, objects: list, arrays: dict[str, np.ndarray]):
        self.arrays = arrays
        self.made: list[Any] = []
        if not isinstance(objects, list):
            raise ModelFileError("a table of objects that is none")
        for entry in objects:
            self.made.append(self._entry(entry))

    def _entry(self, entry):
        if set(entry) == {"value"}:
            return self.value(entry["value"])
        if set(entry) != {"class", "state"} or not isinstance(entry["state"], dict):
            raise ModelFileError("an entry of the table that is none")
        name = entry["class"]
        if not isinstance(name, str) or name not in MODULE_OF:
            raise ModelFileError(
                f"the class {name!r:.80}, which this version of skstruct does not know"
            )
        made = build(name, {key: self.value(part) for key, part in entry["state"].items()})
        check_object(name, made)
        return made

    # ------------------------------------------------------------------ nodes
    def value(self, node, depth: int = 0):
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

    def items(self, body, depth) -> list:
        """The items of a list."""
        if isinstance(body, list):
            return [self.value(item, depth + 1) for item in body]
        ((kind, parts),) = body.items()
        if kind == "numbers":
            return self._array(parts, 0).tolist()
        if kind != "texts":
            raise ModelFileError("items of an unknown form")
        joined, lengths = (self._array(name, 0) for name in parts)
        if joined.dtype != np.uint8 or lengths.dtype != np.int64 or (lengths < 0).any():
            raise ModelFileError("texts that are none")
        text, ends = joined.tobytes(), np.concatenate([[0], np.cumsum(lengths)])
        if ends[-1] != len(text) or (np.diff(ends) < 0).any():
            raise ModelFileError("texts that do not add up")
        return [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]

    def _array(self, name, depth):
        if not isinstance(name, str) or name not in self.arrays:
            raise ModelFileError(f"an array {name!r:.40} that is not there")
        return self.arrays[name]

    def _ref(self, number, depth):
        if type(number) is not int or not 0 <= number < len(self.made):
            raise ModelFileError("a reference to an object that has not come yet")
        return self.made[number]

    def _dict(self, body, depth):
        keys, values = (self.items(part, depth) for part in body)
        return dict(zip(keys, values, strict=True))

    def _objects(self, body, depth):
        items = self.items(body["items"], depth)
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = item
        shape = body["shape"]
        if any(type(n) is not int or n < 0 for n in shape):
            raise ModelFileError("an array of an impossible shape")
        return array.reshape(shape)

    def _range(self, body, depth):
        if any(type(part) is not int for part in body):
            raise ModelFileError("a range that is none")
        made = range(*body)
        if (made.stop - made.start) // made.step > LONGEST:
            raise ModelFileError("a range that is too long")
        return made

    def _scalar(self, body, depth):
        dtype, plain = numpy_dtype(body[0]), self.value(body[1])
        if dtype.kind in "mM":
            return np.array(plain, dtype=np.int64).view(dtype)[()]
        if dtype.hasobject:
            raise ModelFileError("a number of no kind")
        return dtype.type(plain)

    def _times(self, body, depth):
        array, dtype = self._array(body[0], depth), numpy_dtype(body[1])
        if dtype.kind not in "mM" or array.dtype != np.int64:
            raise ModelFileError("times that are none")
        return array.view(dtype)


def numpy_dtype(text) -> np.dtype:
    """A dtype of plain data."""
    if not isinstance(text, str) or not _DTYPE.fullmatch(text):
        raise ModelFileError("a dtype that is none")
    return np.dtype(text)


def _int(decoder, body, depth):
    if not isinstance(body, str) or len(body) > MOST_DIGITS:
        raise ModelFileError("a whole number that is none")
    return int(body, 16)


def _float(decoder, body, depth):
    if body not in ("nan", "inf", "-inf"):
        raise ModelFileError("a number that is none")
    return float(body)


def _complex(decoder, body, depth):
    real, imaginary = body
    return complex(float(real), float(imaginary))


def _slice(decoder, body, depth):
    start, stop, step = body
    if any(part is not None and type(part) is not int for part in body):
        raise ModelFileError("a slice that is none")
    return slice(start, stop, step)


def _of_kind(kind):
    return lambda decoder, body, depth: kind(decoder.items(body, depth))


READERS = {
    "array": Decoder._array,
    "bytes": lambda decoder, body, depth: base64.b64decode(body, validate=True),
    "complex": _complex,
    "date": lambda decoder, body, depth: datetime.date.fromisoformat(body),
    "datetime": lambda decoder, body, depth: datetime.datetime.fromisoformat(body),
    "dict": Decoder._dict,
    "dtype": lambda decoder, body, depth: numpy_dtype(body),
    "float": _float,
    "frozenset": _of_kind(frozenset),
    "function": lambda decoder, body, depth: function_named(body),
    "graph": lambda decoder, body, depth: decode_graph(body, decoder.value),
    "int": _int,
    "list": _of_kind(list),
    "objects": Decoder._objects,
    "pandas": lambda decoder, body, depth: decode_pandas(dict(body), decoder.value),
    "pandas dtype": lambda decoder, body, depth: decode_pandas_dtype(body),
    "range": Decoder._range,
    "ref": Decoder._ref,
    "scalar": Decoder._scalar,
    "set": _of_kind(set),
    "slice": _slice,
    "sparse": lambda decoder, body, depth: decode_sparse(body, decoder.value),
    "times": Decoder._times,
    "tuple": _of_kind(tuple),
    "type": lambda decoder, body, depth: TYPES[body],
}
