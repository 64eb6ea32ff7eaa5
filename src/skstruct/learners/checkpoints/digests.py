# SPDX-License-Identifier: BSD-3-Clause
"""Digests of values: equal for equal values, in every process, and else not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, MappingView
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.learners.checkpoints.insides import inside, untold

MOST_OBJECTS = 1_000_000  # besides arrays and containers; more is the inside of some library
PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


def digest(value) -> str:
    """SHA-256 of a value, the same in every process; sets have no order.

    Objects count by what would make them again, classes and modules by name; functions by
    their code and by the values and functions that they use. What cannot be told apart in this
    way is refused.

    >>> digest([{"b", "a"}, 1.0]) == digest([{"a", "b"}, 1.0])
    True
    >>> digest([1, 2]) == digest([2, 1]), digest(1) == digest(1.0), digest("1") == digest(1)
    (False, False, False)
    """
    try:
        return _Walk().part(value).hex()
    except RecursionError:
        raise untold(value) from None


class _Walk:
    """One walk through a value. Each object is entered once, however often it is met."""

    def __init__(self):
        # By id: the object, kept alive so that no other one gets its id; its digest when it is
        # done, and how many objects it is inside of while it is not.
        self.met: dict[int, tuple[Any, bytes | int]] = {}
        self.n_open = self.n_objects = 0

    def part(self, value) -> bytes:
        hasher = hashlib.sha256()
        self.feed(hasher, value)
        return hasher.digest()

    def feed(self, hasher, value) -> None:
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

    def _entered(self, value) -> bytes:
        self.met[id(value)] = value, self.n_open
        self.n_open += 1
        hasher = hashlib.sha256()
        self._feed_structure(hasher, value)
        self.n_open -= 1
        self.met[id(value)] = value, hasher.digest()
        return hasher.digest()

    def _feed_structure(self, hasher, value):
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
                raise untold(value)
            kind = value if isinstance(value, type) else type(value)
            _say(hasher, "object", kind.__module__, kind.__qualname__)
            self._feed_each(hasher, inside(value))

    def _feed_each(self, hasher, values):
        for value in values:
            self.feed(hasher, value)

    def _feed_array(self, hasher, array):
        _say(hasher, "array", array.dtype.str, str(array.dtype), str(array.shape))
        if array.dtype.names:  # one by one: there may be anything between the fields
            for name in array.dtype.names:
                self._feed_array(hasher, array[name])
        elif array.dtype.hasobject:
            self._feed_each(hasher, array.ravel().tolist())
        else:
            hasher.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def _say(hasher, *words):
    for word in words:
        text = word.encode("utf-8", "surrogatepass")
        hasher.update(b"%d:" % len(text))  # lengths, so that no two lists of words look alike
        hasher.update(text)
