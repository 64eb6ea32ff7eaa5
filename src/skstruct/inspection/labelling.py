# SPDX-License-Identifier: BSD-3-Clause
"""Which rows to label next."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import is_count
from skstruct.fitted import Fitted
from skstruct.learners.token_problem import sums_of_sequences
from skstruct.spaces import Targets


def label_next(model: Any, X: Any, k: int = 10, by: str = "risk") -> tuple[np.ndarray, np.ndarray]:
    r"""The k rows without outputs of which a fitted model is least sure.

    By ``"risk"``, rows are ordered by what the model expects to lose on them,
    :math:`\min_z \hat r(z \mid x)`: least confidence [1]_ under the zero-one loss. By
    ``"disagreement"``, by how far the parts of a stack are from each other [2]_,

    .. math:: \sum_t \frac{\sum_k c_k \big(\hat f_{kt}(x) - \hat f_t(x)\big)^2}{\sum_k c_k},

    summed over targets t that decide, and averaged over the positions of a sequence. Risk is also
    high where outputs are random, and another label teaches nothing; disagreement is not.

    Parameters
    ----------
    model : fitted learner with ``predict_risk`` or ``log_proba``, or pipeline that ends in one
        For ``"disagreement"`` with a stack of smoothers, as by default.
    X : inputs, n rows
    k : int, default=10
        All rows where there are fewer. Rows that are alike are chosen together: label a few, fit
        again, ask again.
    by : "risk" or "disagreement"

    Returns
    -------
    rows : int array of shape (k,)
        Numbers of the rows, the least sure first.
    scores : array of shape (k,)

    References
    ----------
    .. [1] B. Settles, "Active learning literature survey", 2009, section 3.1.
    .. [2] A. Krogh and J. Vedelsby, "Neural network ensembles, cross validation, and active
       learning", 1995.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> X = np.arange(12.0)[:, None]
    >>> y = np.where(X[:, 0] < 6, "low", "high")
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit(X, y)
    >>> rows, risks = label_next(model, [[0.0], [5.5], [11.0]], k=1)
    >>> rows
    array([1])
    """
    if not is_count(k):
        raise ValueError(f"label_next: k is a whole number from 1; got {k!r}.")
    known = {"risk": _risks, "disagreement": _disagreement}
    if by not in known:
        raise ValueError(f'label_next: by is "risk" or "disagreement"; got {by!r}.')
    fitted = Fitted.of(model)
    scores = known[by](fitted, fitted.inputs(X))
    rows = np.argsort(-scores, kind="stable")[:k]
    return rows, scores[rows]


def _risks(fitted: Fitted, X: Any) -> np.ndarray:
    """What is expected to be lost; the probability to be wrong where there is only that."""
    model = fitted.learner
    if fitted.estimates_risks:
        return np.asarray(model.predict_risk(X), dtype=np.float64)
    if fitted.can("log_proba"):
        return 1.0 - np.exp(np.asarray(model.log_proba(X, model.predict(X)), dtype=np.float64))
    raise ValueError(
        f"label_next: {fitted.name} does not estimate risks or probabilities of outputs; "
        "ConditionalRiskMinimizer and ExponentialFamily do."
    )


def _disagreement(fitted: Fitted, X: Any) -> np.ndarray:
    model, smoother = fitted.learner, fitted.smoother
    if not hasattr(smoother, "disagreement"):
        name = "no smoother" if smoother is None else type(smoother).__name__
        raise ValueError(
            'label_next: by="disagreement" is for a stack of smoothers; the model has '
            f'{name}. Give by="risk".'
        )
    (read, _), problem = model._checked(X), model.problem_
    first = None
    if not problem.by_weights:  # no squares of quantities, no optimum of costs
        first = Targets.of(problem.observations).n_deciding(problem.width)
    if not hasattr(read, "tokens"):
        return np.asarray(smoother.disagreement(read, first))
    sums = sums_of_sequences(smoother.disagreement(read.tokens, first), read.starts)
    return np.asarray(sums / np.maximum(np.diff(read.starts), 1))
