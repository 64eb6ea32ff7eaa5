# SPDX-License-Identifier: BSD-3-Clause
"""How much memory and work a model file may ask for, in proportion to its size.

Everything that is decoded is charged here before it is made, so that no file, however it refers
to its own parts again and again, becomes much more than it is.
"""

from numbers import Integral
from typing import Any

from skstruct.exceptions import ModelFileError
from skstruct.persistence.names import class_named
from skstruct.persistence.scikit_learn import PREFIX, WORK, array_bytes, growth
from skstruct.persistence.state import SIZES

# Bytes that CPython takes, rounded up.
ITEM = 8  # the place of an item in a list
NUMBER = 32  # a number of its own
TEXT = 80  # a text of its own, without its letters
CONTAINER = 64
HASHED = 112  # an item of a set or a dictionary, with the room that these leave free
OBJECT = 256
TABLE = 4096  # a series, a frame, an index or a sparse array, without what is in it
CELL = 80  # of a table, where it becomes a text
NODE = 640  # of a graph: dictionaries of neighbours and of attributes

# Work in units of about a nanosecond.
TOUCH = 64  # an item that is hashed or compared
CALL = 10_000  # an object that is built, or asked something

LEAST_BYTES, BYTES_PER_BYTE = 64 * 2**20, 100  # names in dictionaries take about 20 times as much
LEAST_WORK, WORK_PER_BYTE = 3 * 10**8, 32


class Budget:
    """Bytes and work that are left for what a file stands for.

    Parameters
    ----------
    file_bytes : int
        Of the file: whatever the cap, a small file makes nothing large.
    max_bytes : int
        The cap that the user gave.

    Examples
    --------
    >>> budget = Budget(1000, 10**6)
    >>> budget.take(900_000)
    >>> budget.take(900_000)
    Traceback (most recent call last):
        ...
    skstruct.exceptions.ModelFileError: what it holds takes more than 1,000,000 bytes (max_bytes)
    """

    def __init__(self, file_bytes: int, max_bytes: int) -> None:
        fair = LEAST_BYTES + BYTES_PER_BYTE * file_bytes
        self.most, self.is_cap = min(max_bytes, fair), max_bytes <= fair
        self.max_bytes, self.left, self.reserved = max_bytes, self.most, 0
        self.work_left = LEAST_WORK + WORK_PER_BYTE * file_bytes

    def take(self, n_bytes: int) -> None:
        """Charge memory; raise where more is asked for than is left."""
        self.left -= int(n_bytes)
        if self.left < 0:
            why = "(max_bytes)" if self.is_cap else "once it is read, far more than the file has"
            raise ModelFileError(f"what it holds takes more than {self.most:,} bytes {why}")

    def reserve(self, n_bytes: int) -> None:
        """Charge what a model computes from itself, which only the cap of the user limits."""
        self.reserved += int(n_bytes)
        if self.reserved > self.max_bytes:
            raise ModelFileError(f"using it takes more than {self.max_bytes:,} bytes (max_bytes)")

    def work(self, amount: int) -> None:
        """Charge work; raise where more is asked for than is left."""
        self.work_left -= int(amount)
        if self.work_left < 0:
            raise ModelFileError("reading it takes far longer than its size tells")

    def take_items(self, n: int, each: int = ITEM) -> None:
        """Charge a container of so many items."""
        self.take(CONTAINER + n * each)


def charge_object(name: str, state: dict[Any, Any], budget: Budget) -> None:
    """Charge what an object of this class takes beside its state, and will take when it is used."""
    if name.startswith(PREFIX):
        budget.work(CALL * WORK.get(name, 1))
        budget.take(growth(name, state))
    else:
        kind: Any = class_named(name)
        budget.work(CALL * kind._work_when_read)
        if kind._saved_arguments:
            budget.take(4 * array_bytes(*state.values()))
        budget.reserve(kind._bytes_when_used(state))
    for key in SIZES & state.keys():
        budget.reserve(3 * 8 * _largest(state[key]))  # rows of the stored predictions


def _largest(size: Any) -> int:
    sizes = size if isinstance(size, (list, tuple)) else [size]
    return max((abs(int(n)) for n in sizes if isinstance(n, Integral)), default=0)
