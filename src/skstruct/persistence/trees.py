# SPDX-License-Identifier: BSD-3-Clause
"""Trees of scikit-learn, whose compiled code follows children and features without looking."""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import ModelFileError

LEAF, NOTHING = -1, -2
WHOLE = ("left_child", "right_child", "feature", "n_node_samples")
REAL = ("threshold", "impurity", "weighted_n_node_samples")


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
    columns_needed = {**dict.fromkeys(WHOLE, "i"), **dict.fromkeys(REAL, "f")}
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
    left, right, feature = (columns[name] for name in WHOLE[:3])
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
