# SPDX-License-Identifier: BSD-3-Clause
"""How much memory and work a model file may ask for, in proportion to its size.

Everything that is decoded is charged here before it is made, so that no file, however it refers
to its own parts again and again, becomes much more than it is.
"""

from __future__ import annotations

from collections.abc import Sized
from numbers import Integral
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.persistence.state import BUILDERS, SIZES

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

    def __init__(self, file_bytes: int, max_bytes: int):
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


def array_bytes(*arrays: Any) -> int:
    """Bytes of arrays and sparse arrays; of anything else as much as its items."""
    total = 0
    for array in arrays:
        if isinstance(array, np.ndarray):
            total += array.nbytes
        elif hasattr(array, "indptr"):
            total += array.data.nbytes + array.indices.nbytes + array.indptr.nbytes
        elif isinstance(array, Sized):
            total += ITEM * len(array)
    return total


# What an object takes beside its state: asked before it is built, completed or used.


# Spaces that make a table of all pairs of their names when they are first used, and the attributes
# that hold these names, or their number.
_NODES = ("nodes", "other", "learned_nodes_")
_LEVELS = ("levels", "labels", "learned_", "_given_graph")
ATTRIBUTES_OF_NAMES = {
    **dict.fromkeys(("Cliques", "Cycles", "Graphs", "Matchings", "SpanningTrees"), _NODES),
    **dict.fromkeys(("Ordinal", "Poset"), _LEVELS),
    **dict.fromkeys(("Sequences", "Strings"), ("alphabet", "learned_symbols_")),
    **dict.fromkeys(("Tournaments", "TournamentStates"), ("items", "learned_items_")),
    "PairwiseStates": ("states", "learned_states_"),
    "Rankings": ("items", "learned_"),
}
# Embeddings of rankings that have an entry for every pair of items, or of item and rank.
SQUARED = ("pairs", "pair shares", "positions", "rating differences", "rating shares")
PAIR = 24  # bytes of a pair: two ends and a number
PRODUCTS = ("F1", "FBeta")  # losses that regress on products of labels
# As much work as so many plain objects.
CALLS_BY_CLASS = {"ConditionalRiskMinimizer": 500, "sklearn.NearestNeighbors": 300}


def charge_object(name: str, state: dict, budget: Budget) -> None:
    """Charge what an object of this class takes beside its state, and will take when it is used."""
    budget.work(CALL * CALLS_BY_CLASS.get(name, 1))
    if name == "sklearn.Tree":
        budget.take(2 * array_bytes(*state["columns"].values(), state["values"]))
    elif name in BUILDERS:
        budget.take(4 * array_bytes(*state.values()))
    for key in SIZES & state.keys():
        budget.reserve(3 * 8 * _largest(state[key]))  # rows of the rehearsal
    if name == "KernelCandidates":  # compares outputs of training and candidates, in blocks
        table = 8 * len(state["distinct_"]) * len(state["listed_"])
        budget.reserve(min(table, _largest(state["budget_"])))
    budget.reserve(PAIR * _n_names(name, state) ** 2)
    if name == "ConditionalRiskMinimizer" and "smoother_" in state:
        budget.reserve(_embedded_bytes(state))


def _n_names(name, state) -> int:
    if state.get("graph") is not None:  # which has the pairs that there are
        return 0
    return max((_number(state.get(key)) for key in ATTRIBUTES_OF_NAMES.get(name, ())), default=0)


def _number(names: Any) -> int:
    """How many names there are, given as such, as a graph, or by their number."""
    names = getattr(names, "names", names)
    if isinstance(names, Integral):
        return abs(int(names))
    return len(names) if isinstance(names, Sized) else 0


def _largest(size: Any) -> int:
    sizes = size if isinstance(size, (list, tuple)) else [size]
    return max((abs(int(n)) for n in sizes if isinstance(n, Integral)), default=0)


def _embedded_bytes(state) -> int:
    """Bytes of psi of the training outputs, from which a risk minimizer decides."""
    outputs, space, loss = (state.get(key) for key in ("outputs_", "space_", "loss_"))
    if not isinstance(outputs, np.ndarray):
        return 0
    total = 8 * outputs.size
    if outputs.ndim == 2 and type(loss).__name__ in PRODUCTS:
        total += 16 * int((np.count_nonzero(outputs, axis=1) ** 2).sum())
    if hasattr(loss, "embedding_on") and loss.embedding_on(space) in SQUARED:
        total += 8 * len(outputs) * outputs.shape[-1] ** 2
    return total
