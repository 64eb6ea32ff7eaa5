# SPDX-License-Identifier: BSD-3-Clause
"""What must hold of objects that were read, since compiled code will follow their numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skstruct.exceptions import ModelFileError
from skstruct.persistence.state import whole_numbers


def check_limits(space) -> None:
    """Raise where the limits of a space are not limits of that space."""
    limits, kind = space.limits, type(space.limits).__name__
    if kind not in SHAPES:
        raise ModelFileError(f"limits of an unknown kind, {kind!r:.40}")
    for name, (letter, shape, low, high) in SHAPES[kind](space).items():
        _check_part(getattr(limits, name), letter, shape, low, high)
    if kind == "Limits":
        for group in limits.groups:
            _check_part(np.asarray(group)[None], "i", (None,), 0, len(space.labels_))
        if type(limits.smallest) is not int or type(limits.largest) is not int:
            raise ModelFileError("sizes of label sets that are no numbers")
    if kind == "RankLimits" and not (limits.top is None or _within(limits.top, space)):
        raise ModelFileError("the top of a ranking that has not so many places")


def _within(top, space) -> bool:
    return isinstance(top, (int, np.integer)) and 0 <= int(top) <= len(space.items_)


def _check_part(array, letter, shape, low, high):
    """One array of limits: (rows, *shape), None for any width."""
    plain = isinstance(array, np.ndarray) and array.dtype.kind == letter
    fits = plain and array.ndim == 1 + len(shape) and len(array) > 0
    if not fits or any(n is not None and m != n for m, n in zip(array.shape[1:], shape)):
        raise ModelFileError("limits that do not fit their space")
    if letter == "i" and array.size and (array.min() < low or array.max() >= high):
        raise ModelFileError("limits with numbers that their space has not")


def _n_columns(space) -> int:
    """Columns of canonical outputs; labels name those of the embedding, which may be fewer."""
    return space.dag_.n_nodes if hasattr(space, "dag_") else len(space.labels_)


def _label_limits(space):
    d = _n_columns(space)
    return {"low": ("b", (d,), 0, 0), "high": ("b", (d,), 0, 0)}


def _rank_limits(space):
    d = len(space.items_)
    return {"fixed": ("i", (d,), 0, d + 1), "before": ("b", (d, d), 0, 0)}


def _cycle_limits(space):
    places = len(space.nodes_)
    nodes = ("b", (places,), 0, 0)
    size = ("i", (), 0, 2**31)
    return {
        **_label_limits(space), "visited": nodes, "open": nodes, "smallest": size, "largest": size
    }  # fmt: skip


def _sequence_limits(space):
    q, length = len(space.symbols_), ("i", (), -1, 2**31)
    known, forbidden = ("i", (None,), -1, q), ("b", (q + 1, q + 1), 0, 0)
    return {"shortest": length, "longest": length, "known": known, "forbidden": forbidden}


def _state_limits(space):
    states = (len(space.states_),) if hasattr(space, "states_") else ()
    return {"allowed": ("b", (len(space.labels_), *states), 0, 0)}


def _sign_limits(space):
    return {"allowed": ("b", (len(space.labels_), None), 0, 0)}


# ---------------------------------------------------------------------- quantities
def check_range(limits) -> None:
    """Raise where lower and upper limits are not those of rows of numbers."""
    for side in (limits.low, limits.high):
        _check_part(side, "f", (None,), 0, 0)
    if limits.low.shape[1] != limits.high.shape[1]:
        raise ModelFileError("limits of different widths")


def check_constraints(made) -> None:
    """Raise where linear constraints have sides that are not theirs."""
    for A, b in ((made.A_eq, made.b_eq), (made.A_ub, made.b_ub)):
        rows = isinstance(b, np.ndarray) and b.dtype == np.float64 and b.ndim in (1, 2)
        fits = rows and getattr(A, "format", "") == "csr" and A.shape[0] == b.shape[-1]
        if not fits or A.shape[1] != made.A_eq.shape[1]:
            raise ModelFileError("linear constraints that do not fit together")


def check_quantities(space) -> None:
    """Raise where a space of numbers is not as wide as its names are many."""
    d, limits = len(space.labels_), getattr(space, "limits_", None)
    for name in ("mean_", "variance_", "low_", "high_"):
        part = getattr(space, name, None)
        if part is not None and not (isinstance(part, np.ndarray) and part.shape == (d,)):
            raise ModelFileError("a space of numbers of a wrong width")
    if limits is None:
        return
    limits, columns = getattr(limits, "range", limits), getattr(limits, "constraints", None)
    wide = limits.low.shape[1] == d and (columns is None or columns.n_columns == d)
    if not wide:
        raise ModelFileError("limits that do not fit their space")


SHAPES = {
    "CycleLimits": _cycle_limits,
    "Limits": _label_limits,
    "RankLimits": _rank_limits,
    "SequenceLimits": _sequence_limits,
    "SignLimits": _sign_limits,
    "StateLimits": _state_limits,
}


def check_outputs(space, outputs) -> None:
    """Raise where training outputs in canonical form are not such of the space."""
    if not isinstance(outputs, np.ndarray) or outputs.dtype.kind not in "iuf":
        raise ModelFileError("outputs that are no array of numbers")
    if outputs.ndim not in (1, 2):
        raise ModelFileError("outputs of a wrong shape")
    low, high, width = _bounds(space)
    if width is not None and (outputs.ndim != 2 or outputs.shape[1] != width):
        raise ModelFileError("outputs of a wrong width")
    if low is None:
        return
    if outputs.dtype.kind == "f" or (
        outputs.size and (outputs.min() < low or outputs.max() >= high)
    ):
        raise ModelFileError("outputs with numbers that their space has not")


def _bounds(space):
    """Smallest number, one above the largest, and width; None where any will do."""
    if hasattr(space, "symbols_"):
        return -1, len(space.symbols_), None
    if hasattr(space, "items_") and space.embedding not in ("signs", "indicators"):
        return None, None, len(space.items_)
    if hasattr(space, "states_"):
        return -1, max(len(space.states_), 2), len(space.labels_)
    if hasattr(space, "n_known_"):
        return 0, space.n_known_, None
    if not hasattr(space, "labels_"):
        return None, None, None
    if hasattr(space, "mean_"):
        return None, None, len(space.labels_)
    if hasattr(space, "number_"):
        return 0, len(space.labels_), None
    return -1, 2, _n_columns(space)


# What must hold of objects that were read, since compiled code will follow their numbers.


MOST_SYMBOLS = 10**4  # of an n-gram


def check_object(name: str, made) -> None:
    """Raise where an object is not one that this library could have made; complete it."""
    if getattr(made, "limits", None) is not None:
        check_limits(made)
    if hasattr(made, "outputs_") and hasattr(made, "space_"):
        check_outputs(made.space_, made.outputs_)
    if name in CHECKS:
        CHECKS[name](made)


def require(good, what: str) -> None:
    """Raise unless something holds."""
    if not good:
        raise ModelFileError(what)


def _check_label_graph(graph):
    fits = type(graph.names) is tuple and type(graph.dag).__name__ == "Dag"
    require(fits and len(graph.names) == graph.dag.n_nodes, "a graph of labels that is none")


def _check_numbers(space):
    if hasattr(space, "labels_"):
        check_quantities(space)


def _check_scores(scores):
    """Weights are a table, whatever they are weights of."""
    if hasattr(scores, "weights_"):
        _check_floats(scores, ["weights_"], 2)


# ---------------------------------------------------------------------- learners
def _complete_risk_minimizer(model):
    """What to regress on and how to decide follows from the space, the loss and the outputs."""
    if hasattr(model, "smoother_"):
        model.problem_ = None
        model.problem_ = model._problem(model.loss_)


def _check_perceptron(model):
    if not hasattr(model, "weights_"):
        return
    problem = model.problem_
    _check_floats(model, ["weights_", "moments_", "coefficients_"], 2)
    _check_floats(model, ["constants_", "constant_moments_"], 1)
    pairs = [model.coefficients_, model.weights_][model.coefficients_.size == 0], model.moments_
    same = pairs[0].shape == pairs[1].shape and pairs[0].shape[1] == problem.n_seeing
    constants = model.constants_.shape == model.constant_moments_.shape == (problem.n_constants,)
    require(same and constants, "weights of a perceptron that do not fit its outputs")


def _check_online_ranker(model):
    if hasattr(model, "weights_"):
        _check_floats(model, ["weights_", "moments_"], 2)
        same = model.weights_.shape == model.moments_.shape
        fits = len(model.space_.items_) in model.weights_.shape
        require(same and fits, "weights of a ranker that do not fit its items")


def _check_floats(model, names, ndim):
    for name in names:
        array = getattr(model, name)
        plain = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.ndim == ndim
        require(plain, f"{type(model).__name__}.{name} is no array of numbers")


# ---------------------------------------------------------------------- trees
def _check_tree(model):
    if hasattr(model, "tree_"):
        require(type(model.tree_).__name__ == "Tree", "a tree that is none")
        same = model.n_features_in_ == model.tree_.n_features
        require(same and model.n_outputs_ == model.tree_.n_outputs, "a tree of other inputs")


def _check_trees(model):
    """Several trees, which read inputs without checking them again."""
    if not hasattr(model, "estimators_"):
        return
    for estimator in model.estimators_:
        _check_tree(estimator)
        require(estimator.n_features_in_ == model.n_features_in_, "trees of other inputs")


def _check_sklearn_forest(model):
    _check_trees(model)
    for estimator in getattr(model, "estimators_", ()):
        require(estimator.n_outputs_ == model.n_outputs_, "trees of other outputs")


def _check_forest(model):
    if not hasattr(model, "estimators_"):
        return
    _check_trees(model)
    model._number_leaves()
    n, n_trees = len(model.targets_), len(model.estimators_)
    leaves = whole_numbers(model.leaves_, 0, model.n_leaves_, "leaves of a forest")
    draws = whole_numbers(model.draws_, 0, 2**31, "draws of a forest")
    require(leaves.shape == draws.shape == (n, n_trees), "a forest of other rows")
    require(model.shares_.shape == (model.n_leaves_, n), "shares of a forest of other leaves")
    require(len(model.leaf_means_) == model.n_leaves_, "means of a forest of other leaves")


# ---------------------------------------------------------------------- inputs
def _check_columns(numbers: dict):
    """Names are numbered from zero: the numbers become columns of a sparse array."""
    columns = list(numbers.values())
    plain = all(type(column) is int for column in columns)
    require(plain and sorted(columns) == list(range(len(columns))), "names without columns")


def _check_vocabulary(vocabulary):
    _check_columns(vocabulary.columns_)


def _check_numbers_come(encoder):
    """Encoders that fill arrays of a dtype: a wide text would be as wide in every cell."""
    require(np.dtype(encoder.dtype).kind in "biuf", "an encoder to something else than numbers")


def _check_dict_vectorizer(vectorizer):
    _check_numbers_come(vectorizer)
    if hasattr(vectorizer, "vocabulary_"):
        _check_columns(vectorizer.vocabulary_)
        require(len(vectorizer.feature_names_) == len(vectorizer.vocabulary_), "features unnamed")


def _check_tokens(batch):
    starts = whole_numbers(batch.starts, 0, batch.tokens.shape[0] + 1, "starts of sequences")
    require(starts.ndim == 1 and (np.diff(starts) >= 0).all(), "sequences that run backwards")


def _check_ngrams(ngrams):
    steps = [0] + [step for level in ngrams.levels for step in (level.start, level.stop)]
    steps.append(ngrams.n)
    plain = all(type(step) is int for step in [*steps, ngrams.n_offsets])
    require(plain and steps == sorted(steps), "n-grams that are none")
    small = ngrams.n <= MOST_SYMBOLS and ngrams.n_offsets <= MOST_SYMBOLS
    require(small and ngrams.levels, "n-grams that are too long")


CHECKS: dict[str, Callable] = {
    **dict.fromkeys(("Box", "Flows", "Interval", "Polytope", "Simplex", "Sphere"), _check_numbers),
    "ConditionalRiskMinimizer": _complete_risk_minimizer,
    "Forest": _check_forest,
    "LabelGraph": _check_label_graph,
    "LabelRankingBoosting": _check_trees,
    "LinearConstraints": check_constraints,
    "LinearScores": _check_scores,
    "NGrams": _check_ngrams,
    "NameVocabulary": _check_vocabulary,
    "OnlineLabelRanker": _check_online_ranker,
    "Range": check_range,
    "ScoreFunction": _check_scores,
    "Scores": _check_scores,
    "StructuredPerceptron": _check_perceptron,
    "TokenBatch": _check_tokens,
    "sklearn.DecisionTreeRegressor": _check_tree,
    "sklearn.DictVectorizer": _check_dict_vectorizer,
    "sklearn.ExtraTreeRegressor": _check_tree,
    "sklearn.ExtraTreesRegressor": _check_sklearn_forest,
    "sklearn.OneHotEncoder": _check_numbers_come,
    "sklearn.RandomForestRegressor": _check_sklearn_forest,
}
