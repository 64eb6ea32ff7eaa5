# SPDX-License-Identifier: BSD-3-Clause
"""Classes of scikit-learn that a model file may name, how they are kept, and what is checked."""

from collections.abc import Callable, Sized
from numbers import Integral
from typing import Any

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.persistence import text_vectorizers
from skstruct.saving import check_numbered, check_tree, check_trees, require

PREFIX = "sklearn."  # of names in files
# Module: names of its classes.
HOMES = {
    "sklearn.ensemble": "ExtraTreesRegressor RandomForestRegressor",
    "sklearn.feature_extraction": "DictVectorizer",
    text_vectorizers.HOME: text_vectorizers.NAMES,
    "sklearn.impute": "SimpleImputer",
    "sklearn.kernel_approximation": "RBFSampler",
    "sklearn.linear_model": "LinearRegression LogisticRegression Ridge RidgeClassifier",
    "sklearn.neighbors": "NearestNeighbors",
    "sklearn.pipeline": "Pipeline",
    "sklearn.preprocessing": "MaxAbsScaler MinMaxScaler OneHotEncoder StandardScaler",
    "sklearn.svm": "LinearSVC",
    "sklearn.tree": "DecisionTreeRegressor ExtraTreeRegressor",
    "sklearn.tree._tree": "Tree",
}
CLASSES = {PREFIX + name: home for home, names in HOMES.items() for name in names.split()}
WORK = {"sklearn.NearestNeighbors": 300}  # of making one, in plain objects

MOST_JOBS = 256
LEAF, NOTHING = -1, -2
TREE_INTEGERS = ("left_child", "right_child", "feature", "n_node_samples")
TREE_FLOATS = ("threshold", "impurity", "weighted_n_node_samples")


def tree_state(tree: Any) -> dict[Any, Any]:
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


def build_tree(
    n_features: int,
    n_classes: np.ndarray,
    max_depth: int,
    columns: dict[str, Any],
    values: np.ndarray,
) -> Any:
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


def _check_columns(columns: dict[str, Any]) -> int:
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


def _check_paths(columns: dict[str, Any], n: int, n_features: int, max_depth: int) -> None:
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


def _check_values(values: np.ndarray, n_classes: np.ndarray, n: int) -> None:
    """One number per node and output: these are trees of regression."""
    plain = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim == 3
    if not plain or values.shape[0] != n or values.shape[1] < 1 or values.shape[2] != 1:
        raise ModelFileError("a tree with values of a wrong shape")
    plain = isinstance(n_classes, np.ndarray) and n_classes.shape == (values.shape[1],)
    if not plain or n_classes.dtype.kind not in "iu" or (n_classes != 1).any():
        raise ModelFileError("a tree that is none of regression")


# ---------------------------------------------------------------------- neighbours
def _neighbors_state(index: Any) -> dict[str, Any]:
    return {"parameters": index.get_params(deep=False), "rows": index._fit_X}


def _build_neighbors(parameters: Any, rows: Any) -> Any:
    from sklearn.neighbors import NearestNeighbors

    if not isinstance(parameters.get("metric"), str):
        raise ModelFileError("neighbours under a metric without a name")
    check_jobs("NearestNeighbors", parameters.get("n_jobs"))
    return NearestNeighbors(**parameters).fit(rows)


def check_jobs(owner: str, n_jobs: int | None) -> None:
    """Raise for more threads than any machine will do well with."""
    few = n_jobs is None or (isinstance(n_jobs, Integral) and abs(int(n_jobs)) <= MOST_JOBS)
    require(few, f"{owner}.n_jobs is {n_jobs!r:.40}; at most {MOST_JOBS} will do")


STATES: dict[str, Callable[[Any], dict[Any, Any]]] = {
    "sklearn.NearestNeighbors": _neighbors_state,
    "sklearn.Tree": tree_state,
    **text_vectorizers.TEXT_STATES,
}
BUILDERS: dict[str, Callable[..., Any]] = {
    "sklearn.NearestNeighbors": _build_neighbors,
    "sklearn.Tree": build_tree,
}


def growth(name: str, state: dict[Any, Any]) -> int:
    """Bytes that are made from the state of an object, beside it."""
    if name == "sklearn.Tree":
        return 2 * array_bytes(*state["columns"].values(), state["values"])
    return 4 * array_bytes(*state.values()) if name in BUILDERS else 0


def array_bytes(*arrays: Any) -> int:
    """Bytes of arrays and sparse arrays; of anything else as much as its items."""
    total = 0
    for array in arrays:
        if isinstance(array, np.ndarray):
            total += array.nbytes
        elif hasattr(array, "indptr"):
            total += array.data.nbytes + array.indices.nbytes + array.indptr.nbytes
        elif isinstance(array, Sized):
            total += 8 * len(array)
    return total


# ---------------------------------------------------------------------- checks
def _check_forest(model: Any) -> None:
    check_trees(model)
    for estimator in getattr(model, "estimators_", ()):
        require(estimator.n_outputs_ == model.n_outputs_, "trees of other outputs")


def _check_numbers_come(encoder: Any) -> None:
    """Encoders that fill arrays of a dtype: a wide text would be as wide in every cell."""
    require(np.dtype(encoder.dtype).kind in "biuf", "an encoder to something else than numbers")


def _check_dict_vectorizer(vectorizer: Any) -> None:
    _check_numbers_come(vectorizer)
    if hasattr(vectorizer, "vocabulary_"):
        check_numbered(vectorizer.vocabulary_)
        require(len(vectorizer.feature_names_) == len(vectorizer.vocabulary_), "features unnamed")


CHECKS: dict[str, Callable[..., Any]] = {
    "sklearn.DecisionTreeRegressor": check_tree,
    "sklearn.DictVectorizer": _check_dict_vectorizer,
    "sklearn.ExtraTreeRegressor": check_tree,
    "sklearn.ExtraTreesRegressor": _check_forest,
    "sklearn.OneHotEncoder": _check_numbers_come,
    "sklearn.RandomForestRegressor": _check_forest,
    **text_vectorizers.TEXT_CHECKS,
}
