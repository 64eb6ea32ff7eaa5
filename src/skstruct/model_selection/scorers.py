# SPDX-License-Identifier: BSD-3-Clause
"""Measures of probabilities and of predicted sets as scorers of scikit-learn."""

import re
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from skstruct._arrays.methods import warn_caller
from skstruct.fitted import Fitted
from skstruct.model_selection.ranking_measures import (
    area_under_prc,
    label_ranking_average_precision,
    macro_average_precision,
    micro_average_precision,
)
from skstruct.model_selection.set_measures import (
    hierarchical_f,
    hierarchical_precision,
    hierarchical_recall,
)
from skstruct.model_selection.top_measures import (
    label_propensities,
    precision_at,
    propensity_scored_precision_at,
)
from skstruct.spaces import Known
from skstruct.spaces.truth import read_truth

OF_MARGINALS: dict[str, Callable[..., float]] = {
    "micro_average_precision": micro_average_precision,
    "macro_average_precision": macro_average_precision,
    "label_ranking_average_precision": label_ranking_average_precision,
    "area_under_prc": area_under_prc,
    "precision_at": precision_at,
    "propensity_scored_precision_at": propensity_scored_precision_at,
}
OF_SETS: dict[str, Callable[..., float]] = {
    "hierarchical_precision": hierarchical_precision,
    "hierarchical_recall": hierarchical_recall,
    "hierarchical_f1": hierarchical_f,
}
AT_K = re.compile(r"(precision_at|propensity_scored_precision_at)_([1-9][0-9]*)")


def marginal_scorer(
    measure: str | Callable[..., float],
    *,
    response_method: str = "predict_marginals",
    **options: Any,
) -> "MarginalScorer":
    """A scorer that judges a model's probabilities, or its sets, by one number: higher is better.

    Pass the result as ``scoring`` to ``cross_val_score``, ``GridSearchCV`` and their like, or
    several by name to :func:`compare`. The model may be the last step of a pipeline.

    Parameters
    ----------
    measure : str or function
        Of ``predict_marginals(X)`` and the embedding of y, both of shape (n, d):
        ``"micro_average_precision"``, ``"macro_average_precision"``,
        ``"label_ranking_average_precision"``, ``"area_under_prc"``, ``"precision_at_5"``,
        ``"propensity_scored_precision_at_5"`` (any number from 1), or a function of both that
        returns a number. Of ``predict(X)`` and y: ``"hierarchical_precision"``,
        ``"hierarchical_recall"``, ``"hierarchical_f1"``.
    response_method : str, default="predict_marginals"
        The model's method of which scores of shape (n, d) are; ``"decision_function"`` does where
        only their order counts.
    **options
        Of the measure, such as ``interpolation`` or ``beta``. ``propensities`` are those of the
        model's training outputs where none are given; ``root`` of the hierarchical measures is the
        name of a label, or a list of names.

    Returns
    -------
    callable
        Of ``(model, X, y, known=None)``; can be pickled as far as its measure can. Where parts of y
        are missing, a measure sees what is known by its own parameter ``known``; one that has none
        is NaN, with a warning.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skstruct import ExponentialFamily
    >>> from skstruct.spaces import LabelSets
    >>> X, Y = [[0.0], [0.1], [1.0], [1.1]] * 3, [[1, 0], [1, 0], [0, 1], [0, 1]] * 3
    >>> model = ExponentialFamily(LabelSets(), alpha=0.01)
    >>> cross_val_score(model, X, Y, cv=3, scoring=marginal_scorer("micro_average_precision"))
    array([1., 1., 1.])
    """
    if callable(measure):
        return MarginalScorer(measure, options, response_method)
    found = AT_K.fullmatch(measure)
    if found is not None:
        options["k"] = int(found[2])
        return MarginalScorer(OF_MARGINALS[found[1]], options, response_method)
    if measure not in OF_MARGINALS | OF_SETS:
        raise ValueError(
            f"measure is one of {', '.join([*OF_MARGINALS, *OF_SETS])}, or a function; "
            f"got {measure!r}."
        )
    return MarginalScorer((OF_MARGINALS | OF_SETS)[measure], options, response_method)


class MarginalScorer:
    """What :func:`marginal_scorer` returns: a measure and its options.

    Attributes
    ----------
    measure : callable
    options : dict
    response_method : str
    """

    def __init__(
        self, measure: Callable[..., float], options: dict[str, Any], response_method: str
    ) -> None:
        self.measure = measure
        self.options = options
        self.response_method = response_method

    def __repr__(self) -> str:
        name = getattr(self.measure, "__name__", repr(self.measure))
        given = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"marginal_scorer({name}{given})"

    def __call__(self, model: Any, X: Any, y: Any, known: Any = None) -> float:
        learner, inputs = Fitted.of(model).decider(X)
        space, options = learner.space_, dict(self.options)
        read = read_truth(space, y, known)
        truth = space.embed(read.outputs)
        if read.partial is not None:
            if "known" not in signature(self.measure).parameters:
                warn_caller(
                    f"{self!r} needs whole outputs, and is left out. {read.in_words(space)}"
                )
                return float("nan")
            options["known"] = Known.of(space).columns(read.partial.known, truth.shape[1])
        if self.measure in OF_SETS.values():
            predicted = space.embed(space.validate(learner.predict(inputs)))
            if options.get("root") is not None:
                options["root"] = _columns(space, options["root"])
            return float(self.measure(predicted, truth, **options))
        if self.measure is propensity_scored_precision_at:
            options.setdefault("propensities", _training_propensities(learner))
        scores = _responses(learner, inputs, self.response_method)
        return float(self.measure(scores, truth, **options))


def _responses(learner: Any, X: Any, method: str) -> np.ndarray:
    if not Fitted.of(learner).can(method):
        raise ValueError(f"{type(learner).__name__} has no {method} to judge.")
    scores = getattr(learner, method)(X)
    if isinstance(scores, list):
        raise ValueError(
            "Marginals of sequences with features for every position are a list; a measure of "
            "labels needs one array (n, d)."
        )
    return np.asarray(scores)


def _training_propensities(learner: Any) -> np.ndarray:
    outputs = Fitted.of(learner).outputs
    if outputs is None:
        raise ValueError(
            f"{type(learner).__name__} does not keep its training outputs; give propensities, as "
            "of label_propensities."
        )
    counts = np.asarray(learner.space_.embed(outputs).sum(axis=0)).ravel()
    return label_propensities(counts, len(outputs))


def _columns(space: Any, names: Any) -> list[int]:
    """Columns of labels by name; one name, or a list of them."""
    position = {name: column for column, name in enumerate(space.labels_)}
    wanted = names if isinstance(names, list) else [names]
    unknown = [name for name in wanted if name not in position]
    if unknown:
        raise ValueError(f"root is a label of the space, or a list of labels; got {unknown[0]!r}.")
    return [position[name] for name in wanted]
