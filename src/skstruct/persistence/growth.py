# SPDX-License-Identifier: BSD-3-Clause
"""What an object takes beside its state: asked before it is built, completed or used."""

from __future__ import annotations

from collections.abc import Sized
from numbers import Integral
from typing import Any

import numpy as np

from skstruct.persistence.budget import CALL, Budget, array_bytes
from skstruct.persistence.rules import BUILDERS, SIZES

# Spaces that make a table of all pairs of their names when they are first used, and the attributes
# that hold these names, or their number.
_NODES = ("nodes", "other", "learned_nodes_")
_LEVELS = ("levels", "labels", "learned_", "_given_graph")
NAMES = {
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
CALLS = {"ConditionalRiskMinimizer": 500, "sklearn.NearestNeighbors": 300}


def charge_object(name: str, state: dict, budget: Budget) -> None:
    """Charge what an object of this class takes beside its state, and will take when it is used."""
    budget.work(CALL * CALLS.get(name, 1))
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
    return max((_number(state.get(key)) for key in NAMES.get(name, ())), default=0)


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
