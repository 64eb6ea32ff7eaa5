# SPDX-License-Identifier: BSD-3-Clause
"""Predicted probabilities of parts of outputs beside what happened, whatever shape they have."""

from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.fitted import Fitted
from skstruct.learners.token_problem import check_lengths
from skstruct.spaces import Description
from skstruct.spaces.truth import read_truth
from skstruct.tolerances import SURE

METHODS = ("auto", "logistic", "isotonic")
Pair = tuple[np.ndarray, np.ndarray]


def happened_and_predicted(
    estimator: Any, X: Any, y: Any, calibrated: str | None = "auto"
) -> tuple[Any, Any]:
    """True outputs in the form of marginals, and the marginals that were predicted for them.

    Parameters
    ----------
    estimator : fitted learner with ``predict_marginals``
        Of this library; of others with a ``space_``, marginals are those of psi.
    X, y : inputs and true outputs
    calibrated : "auto", "logistic", "isotonic" or None, default="auto"
        As in ``predict_marginals``; learners without that choice have ``"auto"`` and None.

    Returns
    -------
    happened, predicted : arrays of one shape (n, ...), or two lists of arrays (T, q)
    """
    fitted = Fitted.of(estimator)
    estimator, X = fitted.decider(X)
    if not fitted.can("predict_marginals"):
        raise ValueError(f"{fitted.name} has no predict_marginals to look at.")
    predicted = estimator.predict_marginals(X, **_choice(estimator, calibrated))
    if not fitted.can("true_marginals"):
        return _of_psi(estimator.space_, y, predicted)
    happened = estimator.true_marginals(y)
    if isinstance(predicted, list):  # sequences with features for every position
        predicted = [np.asarray(part, dtype=np.float64) for part in predicted]
        starts = np.cumsum([0, *map(len, predicted)])
        check_lengths(read_truth(estimator.space_, y).outputs, starts)
        return happened, predicted
    happened, predicted = _dense(happened), _dense(predicted)
    if happened.size == predicted.size:  # frames have two axes in one
        predicted = predicted.reshape(happened.shape)
    return happened, predicted


def known_pairs(space: Any, happened: Any, predicted: Any) -> Pair:
    """What is known to have happened or not, and its probability; both of shape (m,) or (m, d).

    Of rankings, each pair of items counts once, and only where its order is known. Of sequences,
    positions beyond the end of the true one do not count, and at others probabilities of symbols
    are those given that there is one.

    Examples
    --------
    >>> from skstruct.spaces import Sequences
    >>> space = Sequences("ab", length=(1, 2))
    >>> happened = np.array([[[1.0, 0.0], [0.0, 0.0]]])  # "a", and no second symbol
    >>> known_pairs(space, happened, np.array([[[0.6, 0.4], [0.2, 0.2]]]))
    (array([[1., 0.]]), array([[0.6, 0.4]]))
    """
    if isinstance(predicted, list):
        return np.concatenate(happened), np.concatenate(predicted)
    kind = Description.of(space).output_kind if happened.shape == predicted.shape else None
    if kind == "ranking" and happened.ndim == 3:
        if of_pairs(happened):
            i, j = np.triu_indices(happened.shape[1], 1)
            happened, predicted = happened[:, i, j], predicted[:, i, j]
        known = (happened == 0) | (happened == 1)
        return happened[known], predicted[known]
    if kind == "sequence" and happened.ndim == 3:
        inside = happened.any(axis=2)
        total = np.maximum(predicted.sum(axis=2, keepdims=True), SURE)
        return happened[inside], (predicted / total)[inside]
    return happened, predicted


def of_pairs(happened: np.ndarray) -> bool:
    """Whether marginals of rankings (n, d, d) are of pairs: an item and itself are at one half."""
    return bool((happened.diagonal(axis1=1, axis2=2) == 0.5).all())


def _choice(estimator: Any, calibrated: str | None) -> dict[str, Any]:
    """What ``predict_marginals`` is to be told."""
    if calibrated is not None and calibrated not in METHODS:
        raise ValueError(
            f"calibrated is one of {', '.join(map(repr, METHODS))} or None; got {calibrated!r}."
        )
    if "calibrated" in signature(estimator.predict_marginals).parameters:
        return {"calibrated": calibrated}
    if calibrated in (None, "auto"):
        return {}
    raise ValueError(
        f"{type(estimator).__name__} has probabilities that are not moved by a map: "
        f"calibrated={calibrated!r} is not for it."
    )


def _of_psi(space: Any, y: Any, predicted: Any) -> tuple[Any, Any]:
    """Of a learner of another library: coordinates of psi, or symbols of sequences."""
    outputs = space.validate(y)
    if isinstance(predicted, list):
        check_lengths(outputs, np.cumsum([0, *map(len, predicted)]))
        table = np.eye(np.shape(predicted[0])[1])
        return [table[row[row >= 0]] for row in outputs], predicted
    return _dense(space.embed(outputs)), _dense(predicted)


def _dense(numbers: Any) -> np.ndarray:
    held = numbers.toarray() if sparse.issparse(numbers) else numbers
    return np.asarray(held, dtype=np.float64)
