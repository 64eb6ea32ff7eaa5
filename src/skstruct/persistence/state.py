# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of an object, and how it is made again, trees of scikit-learn included."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from inspect import getattr_static, signature
from numbers import Integral
from types import FunctionType
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.persistence.names import PREFIX, class_named

LEAF, NOTHING = -1, -2
TREE_INTEGERS = ("left_child", "right_child", "feature", "n_node_samples")
TREE_FLOATS = ("threshold", "impurity", "weighted_n_node_samples")


def tree_state(tree) -> dict:
    """Columns of the table of nodes, by name: their order in memory differs among versions."""
    state = tree.__getstate__()
    nodes = state["nodes"]
    return {
        "n_features": int(tree.n_features),
        "n_classes": np.array(tree.n_classes),
        "max_depth": int(state["max_depth"]),
        "columns": {name: nodes[name].copy() for name in nodes.dtype.names},
        "values": state["values"],
    }


def build_tree(n_features, n_classes, max_depth, columns, values):
    """The tree, if every path in it ends in a leaf and asks for features that are there."""
    from sklearn.tree._tree import NODE_DTYPE, Tree

    if type(n_features) is not int or type(max_depth) is not int:
        raise ModelFileError("a tree whose sizes are no numbers")
    n = _check_columns(columns)
    _check_paths(columns, n, n_features, max_depth)
    _check_values(values, n_classes, n)
    nodes = np.zeros(n, dtype=NODE_DTYPE)
    for name in NODE_DTYPE.names:
        if name in columns:
            nodes[name] = columns[name]
    tree = Tree(n_features, n_classes.astype(np.intp), values.shape[1])
    values = np.ascontiguousarray(values, dtype=np.float64)
    tree.__setstate__({"max_depth": max_depth, "node_count": n, "nodes": nodes, "values": values})
    return tree


def _check_columns(columns) -> int:
    """The number of nodes, when all columns are as long."""
    columns_needed = {**dict.fromkeys(TREE_INTEGERS, "i"), **dict.fromkeys(TREE_FLOATS, "f")}
    n = len(columns["left_child"])
    for name, column in columns.items():
        plain = isinstance(column, np.ndarray) and column.shape == (n,)
        if not plain or column.dtype.kind not in columns_needed.get(name, "biuf"):
            raise ModelFileError("a tree with columns that are not those of one")
    if n == 0 or not columns_needed.keys() <= columns.keys():
        raise ModelFileError("a tree without nodes")
    return n


def _check_paths(columns, n, n_features, max_depth):
    """Children come after their parent, so that every path ends."""
    left, right, feature = (columns[name] for name in TREE_INTEGERS[:3])
    leaf = left == LEAF
    numbers, inner = np.arange(n), ~leaf
    ends = (right[leaf] == LEAF).all()
    goes_on = all(
        (side[inner] > numbers[inner]).all() and (side[inner] < n).all() for side in (left, right)
    )
    asks = (feature[inner] >= 0).all() and (feature[inner] < n_features).all()
    if not (ends and goes_on and asks and 0 <= max_depth <= n):
        raise ModelFileError("a tree with children or features that are not there")


def _check_values(values, n_classes, n):
    """One number per node and output: these are trees of regression."""
    plain = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim == 3
    if not plain or values.shape[0] != n or values.shape[1] < 1 or values.shape[2] != 1:
        raise ModelFileError("a tree with values of a wrong shape")
    plain = isinstance(n_classes, np.ndarray) and n_classes.shape == (values.shape[1],)
    if not plain or n_classes.dtype.kind not in "iu" or (n_classes != 1).any():
        raise ModelFileError("a tree that is none of regression")


# What is kept of an object, and how it is made again.
#
# Most objects are their attributes. What can be computed again is not kept, and what compiled code
# follows without looking (graphs, trees, search indices) is made again by constructors that check.


MOST_JOBS = 256
LARGEST_SIZE = 10**8
# Attributes that say how large something is, and that arrays are made of.
SIZES = {
    "d", "dimension", "length", "length_", "learned_lengths_", "longest", "n", "n_candidates_",
    "n_constants", "n_features", "n_features_", "n_features_in_", "n_seeing", "n_states_",
    "n_symbols_", "q", "top", "width",
}  # fmt: skip
# Attributes that an object makes again when they are asked for, or that one process prepares
# for itself.
DROPPED = {
    "ConditionalRiskMinimizer": ("problem_",),
    "LinearConstraints": ("plans",),
    "NystroemRidge": ("fold_sums_", "folds_", "sample_"),
    "Ordinal": ("_above",),
    "Poset": ("_above",),
}
# Training rows that are kept where they are few.
ROWS_IF_FEW = {
    "LinearRidge": ("X_fit_", "targets_", "sample_weight_", "left_out_rows_"),
    "NystroemRidge": ("rows_", "left_out_rows_"),
}


# ---------------------------------------------------------------------- writing
def state_of(name: str, value) -> dict:
    """What is kept of an object of a known class, by attribute."""
    if name in STATES:
        return STATES[name](value)
    state = value.__getstate__()
    state = {} if state is None else dict(state)
    dropped = {*_cached(type(value)), *DROPPED.get(name, ()), "_sklearn_version"}
    if name in ROWS_IF_FEW and not value.has_few_rows():
        dropped |= set(ROWS_IF_FEW[name])
    state = {key: _portable(key, part) for key, part in state.items() if key not in dropped}
    for key, part in state.items():
        _check_attribute(type(value), key, part)
    return state


def _portable(key, part):
    """Without what belongs to one machine: devices, clients of a cluster."""
    if hasattr(part, "on_host"):
        return part.on_host()
    if key in ("device", "device_") or (key == "engine" and not isinstance(part, str)):
        return None
    return part


def _cached(kind: type) -> frozenset[str]:
    """Properties that are computed once, and can be computed again."""
    return frozenset(
        key
        for parent in kind.__mro__
        for key, part in vars(parent).items()
        if isinstance(part, cached_property)
    )


def _dag_state(dag):
    return {"depth": dag.depth, "parents": dag.parents, "children": dag.children}


def _view_state(view):
    return {"space": view.space, "outputs": view.outputs, "candidates": view.candidates}


def _neighbors_state(index):
    return {"parameters": index.get_params(deep=False), "rows": index._fit_X}


STATES: dict[str, Callable[[Any], dict]] = {
    "Dag": _dag_state,
    "ListedOutputs": _view_state,
    "ListedSequences": _view_state,
    "sklearn.NearestNeighbors": _neighbors_state,
    "sklearn.Tree": tree_state,
}


# ---------------------------------------------------------------------- reading
def build(name: str, state: dict):
    """The object of a known class with this state."""
    if name in BUILDERS:
        return BUILDERS[name](**state)
    kind = class_named(name)
    for key, part in state.items():
        _check_attribute(kind, key, part)
    made: Any = object.__new__(kind)
    # Parameters that were not there when it was written.
    vars(made).update(_defaults(kind) if name.startswith(PREFIX) else _parameters(kind))
    vars(made).update(state)
    return made


def _check_attribute(kind, key, part):
    """An attribute is data: it does not stand in for a method or something computed."""
    there = getattr_static(kind, key, None)
    computed = (FunctionType, classmethod, staticmethod, property, cached_property)
    if not key.isidentifier() or key.startswith("__") or isinstance(there, computed):
        raise ModelFileError(f"an attribute {key!r:.40} of {kind.__name__}, which it has not")
    many = part is not None and not (isinstance(part, Integral) and abs(part) <= MOST_JOBS)
    if key == "n_jobs" and many:
        raise ModelFileError(f"{kind.__name__}.n_jobs is {part!r:.40}; at most {MOST_JOBS} will do")
    if key in SIZES and any(
        type(size) is int and abs(size) > LARGEST_SIZE
        for size in (part if isinstance(part, (list, tuple)) else [part])
    ):
        raise ModelFileError(f"{kind.__name__}.{key} is {part!r:.40}, which is too large")
    if key == "memory" and kind.__name__ == "Pipeline" and part is not None:
        raise ModelFileError("Pipeline.memory is a cache in a folder: set memory=None")


@cache
def _defaults(kind) -> dict:
    try:
        return dict(vars(kind()))
    except TypeError:  # some parameters have no default
        return {}


@cache
def _parameters(kind) -> dict:
    """Defaults of the parameters of a learner."""
    init = kind.__init__
    if not hasattr(kind, "get_params") or not isinstance(init, FunctionType):
        return {}
    known = signature(init).parameters.values()
    return {p.name: p.default for p in known if p.default is not p.empty}


def whole_numbers(array, low: int, high: int, what: str) -> np.ndarray:
    """An array of whole numbers from low to high - 1, or an error."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iu":
        raise ModelFileError(f"{what}: whole numbers are wanted")
    if array.size and (array.min() < low or array.max() >= high):
        raise ModelFileError(f"{what}: numbers outside of {low}..{high - 1}")
    return array


def _build_dag(depth, parents, children):
    """The graph, if its arcs lead from each depth to larger ones and depths are no deeper."""
    from skstruct.solvers.dags import Dag

    n = len(whole_numbers(depth, 0, 2**62, "a graph"))
    ends = [whole_numbers(part, 0, n, "a graph").astype(np.int64) for part in (children, parents)]
    arcs = np.column_stack(ends).reshape(-1, 2)
    longest = np.zeros(n, np.int64)
    np.maximum.at(longest, arcs[:, 0], depth[arcs[:, 1]] + 1)
    if not (np.array_equal(longest, depth) and np.array_equal(np.unique(arcs, axis=0), arcs)):
        raise ModelFileError("a graph that is none, or has a cycle")
    # As Dag makes it, without its loop over levels, of which a file could have a million.
    made = object.__new__(Dag)
    made.n_nodes, made.depth = n, longest
    made.children, made.parents = arcs[:, 0], arcs[:, 1]
    made.order = np.lexsort((np.arange(n), longest))
    made.position = np.empty(n, np.int64)
    made.position[made.order] = np.arange(n)
    for array in (made.children, made.parents, made.order, made.position, made.depth):
        array.setflags(write=False)
    return made


def _build_listed(space, outputs, candidates):
    from skstruct.spaces.base import ListedOutputs

    return ListedOutputs(space, outputs, candidates)


def _build_listed_sequences(space, outputs, candidates):
    from skstruct.spaces.sequence_sets.base import ListedSequences

    return ListedSequences(space, outputs, candidates)


def _build_neighbors(parameters, rows):
    from sklearn.neighbors import NearestNeighbors

    if not isinstance(parameters.get("metric"), str):
        raise ModelFileError("neighbours under a metric without a name")
    _check_attribute(NearestNeighbors, "n_jobs", parameters.get("n_jobs"))
    return NearestNeighbors(**parameters).fit(rows)


def _build_constraints(A_eq, b_eq, A_ub, b_ub):
    from skstruct.solvers.linear_constraints import LinearConstraints

    return LinearConstraints(A_eq, b_eq, A_ub, b_ub)


BUILDERS: dict[str, Callable] = {
    "Dag": _build_dag,
    "LinearConstraints": _build_constraints,
    "ListedOutputs": _build_listed,
    "ListedSequences": _build_listed_sequences,
    "sklearn.NearestNeighbors": _build_neighbors,
    "sklearn.Tree": build_tree,
}
