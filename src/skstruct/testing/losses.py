# SPDX-License-Identifier: BSD-3-Clause
"""A loss against its own definition, and decisions against many members of a space."""

from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from skstruct.learners.problem import risk_problem
from skstruct.losses import pair
from skstruct.spaces import Targets
from skstruct.tolerances import CHECKED_COST, CHECKED_EXACTLY, CHECKED_RISK


def check_loss(
    loss: Any,
    space: Any,
    outputs: np.ndarray,
    *,
    observed: np.ndarray | None = None,
    n_weights: int = 30,
    seed: int = 0,
) -> None:
    """Costs and definition agree, and decoding signed weights finds the least risk.

    For weights w of any sign, the estimated risk sum_i w_i loss(z, y_i) is minimized once
    through ``cost`` and ``space.argmin`` and once by trying every output.

    Parameters
    ----------
    loss : loss
    space : fitted space
    outputs : array
        All outputs of the space in canonical form.
    observed : array, default=None
        Training outputs, where these may be of another kind (partial rankings, ratings);
        the outputs themselves when None.

    Examples
    --------
    >>> from skstruct.losses import Hamming
    >>> from skstruct.spaces import LabelSets
    >>> space = LabelSets(["a", "b"])
    >>> check_loss(Hamming(), space, space.enumerate())
    """
    outputs = np.asarray(outputs)
    observed = outputs if observed is None else np.asarray(observed)
    view, loss = pair(loss, space, observed)
    psi, targets = _dense(view.embed(outputs)), _dense(Targets.of(view).targets(observed))
    by_definition = loss.pairwise(outputs, observed)  # [z, y]
    scale = 1 + np.abs(by_definition).max()
    one = np.ones((len(observed), 1))
    by_cost = psi @ loss.cost(targets, one).T + loss.offset(targets, one)
    assert_allclose(by_cost, by_definition, atol=CHECKED_COST * scale)
    low, high = loss.range()
    assert (by_definition >= low - CHECKED_COST * scale).all(), "losses are below their range()"
    assert (by_definition <= high + CHECKED_COST * scale).all(), "losses are above their range()"
    both = range(min(len(outputs), len(observed)))
    one_by_one = [loss(outputs[i : i + 1], observed[i : i + 1])[0] for i in both]
    assert_allclose(one_by_one, np.diagonal(by_definition), atol=CHECKED_EXACTLY * scale)

    weights = np.random.default_rng(seed).standard_normal((n_weights, len(observed)))
    g, total = weights @ targets, weights.sum(axis=1, keepdims=True)
    decoded, offset = view.argmin(loss.cost(g, total)), loss.offset(g, total)
    risk = weights @ by_definition.T  # [weights, z]
    slack = CHECKED_RISK * (1 + np.abs(risk).max())
    assert (decoded.bounds + offset <= risk.min(axis=1) + slack).all()
    if view.guarantee.kind == "exact":
        assert_allclose(decoded.values + offset, risk.min(axis=1), atol=slack)


def _dense(psi: Any) -> np.ndarray:
    return psi.toarray() if sparse.issparse(psi) else np.asarray(psi)


def check_decisions(
    loss: Any,
    space: Any,
    outputs: np.ndarray,
    others: np.ndarray,
    *,
    n_weights: int = 20,
    gap: float | None = None,
    seed: int = 0,
) -> Any:
    """No other output is better than a bound allows, and every value is the risk of its output.

    For weights of any sign, the estimated risk sum_i w_i loss(z, y_i) is minimized over the
    space, and compared with the risk of every other one, from the definition of the loss. Rows
    of weights that are all zero, all on one output, none negative, and none positive are
    among them.

    Parameters
    ----------
    loss : loss
    space : fitted space
    outputs : array
        Training outputs in canonical form.
    others : array
        Members of the space: a fine grid, or points that other solvers found.
    gap : float, default=None
        Most that ``values - bounds`` may be, relative to the size of the risks; not asked
        for when None.

    Returns
    -------
    Decoded
        What was decided, for further questions.

    Examples
    --------
    >>> from skstruct.losses import Squared
    >>> from skstruct.spaces import Interval
    >>> y = np.array([[0.0], [1.0], [5.0]])
    >>> decided = check_decisions(
    ...     Squared(), Interval().fit(y), y, np.linspace(0, 5, 101)[:, None], gap=1e-12
    ... )
    """
    outputs, others = np.asarray(outputs), np.asarray(others)
    assert space.contains(others).all(), "an output of others is not in the space"
    problem = risk_problem(space, loss, outputs, by_weights=True)
    weights = _weights(np.random.default_rng(seed), n_weights, len(outputs))
    means = weights if problem.by_weights else weights @ problem.targets()
    decided = problem.decode(means)
    assert space.contains(decided.outputs).all(), "a decision leaves the space"
    against = problem.loss.pairwise(decided.outputs, outputs)  # [row, training output]
    risk = (weights * against).sum(axis=1)
    other_risk = weights @ problem.loss.pairwise(others, outputs).T  # [row, other]
    size = np.maximum(np.abs(other_risk).max(axis=1), (np.abs(weights) * np.abs(against)).sum(1))
    slack = CHECKED_COST * np.maximum(size, 1e-3)
    assert (np.abs(decided.values - risk) <= slack).all(), "values are not the risks of outputs"
    assert (decided.bounds <= decided.values + slack).all(), "a bound exceeds its value"
    assert (decided.bounds <= other_risk.min(axis=1) + slack).all(), (
        "an output of others beats a bound"
    )
    if gap is not None:
        off = (decided.values - decided.bounds) / np.maximum(size, np.finfo(float).tiny)
        assert (off <= gap).all(), f"the largest gap is {off.max():.3g}"
    return decided


def _weights(rng: np.random.Generator, n_rows: int, n: int) -> np.ndarray:
    """Signed weights, then rows that decoders stumble over."""
    signed = rng.standard_normal((n_rows, n))
    summing_to_one = signed + (1.0 - signed.sum(axis=1, keepdims=True)) / n
    one = np.eye(n)[rng.integers(n)]
    special = np.vstack([np.zeros(n), one, -one, rng.random(n), -rng.random(n)])
    return np.vstack([signed, summing_to_one, special])
