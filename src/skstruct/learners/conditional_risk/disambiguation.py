# SPDX-License-Identifier: BSD-3-Clause
r"""Outputs of which only candidates are known, decided for each other: the infimum loss.

Row i has a set :math:`S_i` of outputs that may be true. With weights :math:`w_j(x_i)` of a
smoother, those are taken that agree best with each other,

.. math:: \min_{y_i \in S_i}\; Q(y) = \sum_i s_i \sum_{j \ne i} w_j(x_i)\, \ell(y_i, y_j).

It is the training part of the estimator of Cabannes, Rudi and Bach, whose prediction then is that
of ordinary conditional risk minimization from the outputs found.

The weights enter by :math:`a_{ij} = (s_i w_j(x_i) + s_j w_i(x_j)) / 2`, and the loss is
symmetric: so moving one row from y to z, all others as they are, changes Q by
:math:`2 \sum_{j \ne i} a_{ij} (\ell(z, y_j) - \ell(y, y_j))`, whatever the signs of the weights.
Its best move is one decision of the space, within :math:`S_i`. All rows are decided at once. If Q
does not fall when all of them move, those of the smaller half of the gains stay, and so on until
it does; a single row always does. The trace of Q therefore never rises, and where it ends no row
can lower Q by itself.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from skstruct._arrays.progress import announce
from skstruct._arrays.rows import dense
from skstruct.learners.conditional_risk.candidates import (
    allowed_outputs,
    decided_within,
    estimated_risks,
    infimum_losses,
    is_by_weights,
    partial_problem,
    soft_targets,
)
from skstruct.learners.inputs import TrainingData
from skstruct.learners.problem import RiskProblem
from skstruct.saving import savable
from skstruct.smoothing import KernelRidge, Penalties, Scaled
from skstruct.smoothing.penalties import alpha_grid, open_to_any, smoother_alphas
from skstruct.spaces import Known
from skstruct.spaces.common.choices import joined
from skstruct.spaces.partial import PartialOutputs
from skstruct.tolerances import TIE

MOST_ROWS = 10_000  # whose weights for each other are held


@savable
@dataclass(frozen=True, eq=False)
class Disambiguation:
    """Outputs that were decided for rows of which only candidates are known.

    Attributes
    ----------
    outputs : array of n outputs in canonical form
    trace : array of shape (n_iter + 1,)
        Of the objective, which never rises.
    n_iter : int
    converged : bool
        Whether no row can lower the objective by itself.
    alpha : float or None
        The penalty of the weights.
    """

    outputs: np.ndarray
    trace: np.ndarray
    n_iter: int
    converged: bool
    alpha: float | None = None


def disambiguate(
    problem: RiskProblem,
    smoother: Any,
    X: Any,
    partial: PartialOutputs,
    sample_weight: Any = None,
    *,
    start: str | np.ndarray = "soft",
    groups: Any = None,
    max_iter: int = 100,
    verbose: int = 0,
    random_state: Any = None,
) -> Disambiguation:
    """Decide what is left open in the outputs of training, so that rows that are alike agree.

    Parameters
    ----------
    problem : RiskProblem
        Of a symmetric loss on the space that has read the outputs: ``partial_problem`` makes it.
    smoother : smoother that is not fitted
        Whose weights are known. Of several penalties, or ``"auto"``, that one is taken with which
        predictions of left-out rows, from what was decided for the others, have the least infimum
        loss.
    X : array of shape (n, p)
    partial : PartialOutputs of n rows
    sample_weight : array of shape (n,), default=None
    start : "soft", "random" or array of n outputs
        Where to begin: outputs decided from means over all candidates, or drawn by random costs.
    groups : array of shape (n,), default=None
        Rows that are left out together when a penalty is chosen.
    max_iter : int, default=100
    verbose : int, default=0
    random_state : int or Generator, default=None

    References
    ----------
    V. Cabannes, A. Rudi, F. Bach, "Structured prediction with partial labelling through the
    infimum loss", ICML 2020.

    Examples
    --------
    >>> from skstruct.learners.conditional_risk.candidates import partial_problem
    >>> from skstruct.losses import ZeroOne
    >>> from skstruct.smoothing import KernelRidge
    >>> from skstruct.spaces import Classes
    >>> X = np.array([[0.0], [0.1], [0.2], [2.0], [2.1], [2.2]])
    >>> space = Classes()
    >>> partial = Known.of(space).read(["a", {"a", "b"}, None, "b", {"a", "b"}, {"b", "c"}])
    >>> problem = partial_problem(space, ZeroOne(), partial)
    >>> found = disambiguate(problem, KernelRidge(alpha=0.1), X, partial)
    >>> space.restore(found.outputs).tolist(), found.converged
    (['a', 'a', 'a', 'b', 'b', 'b'], True)
    """
    if not problem.rows_stand_alone:
        raise ValueError("Inputs for every position of a sequence do not decide candidates.")
    allowed_outputs(partial)
    soft = soft_targets(problem, partial)
    descent = _Descent(problem, X, partial, sample_weight, soft, start, max_iter, random_state)
    alpha: Any = Penalties.of(smoother).given
    if not isinstance(alpha, str) and np.ndim(alpha) == 0:
        return descent.run(clone(smoother).fit(X, soft, sample_weight))
    return _best_penalty(descent, open_to_any(clone(smoother)), alpha, groups, verbose)


def _best_penalty(
    descent: _Descent, smoother: Any, alpha: Any, groups: Any, verbose: int
) -> Disambiguation:
    """What is decided with the penalty whose left-out predictions are nearest to the candidates.

    Rows that agree with each other but not with what is known of them are found out by this, as
    they would be where a large penalty makes all rows neighbors.
    """
    path = smoother.fit(descent.X, descent.soft, descent.sample_weight)
    best, least = None, np.inf
    # One for each power of ten: every one takes a descent.
    for value in alpha_grid(alpha, lambda: smoother_alphas(path)[::3]).tolist():
        fitted = path.with_alpha(value)
        found = descent.run(fitted)
        risk = descent.left_out_loss(fitted, found.outputs, groups)
        if verbose:
            announce(f"alpha {value:.4g}: left-out infimum loss {risk:.4g}")
        if best is None or risk < least - TIE:
            best, least = found, risk
    assert best is not None
    return best


class _PairWeights:
    """Symmetric weights of pairs of rows, none on a row itself, and those that decide a row."""

    def __init__(self, W: np.ndarray, sample_weight: Any) -> None:
        self.row = np.ones(len(W)) if sample_weight is None else np.asarray(sample_weight, float)
        pairs = self.row[:, None] * W
        pairs = (pairs + pairs.T) / 2.0
        weighed = self.row[:, None] > 0
        # A row of weight zero is decided by the others and changes none of them.
        self.deciding = np.where(weighed, pairs / np.where(weighed, self.row[:, None], 1.0), W)
        np.fill_diagonal(self.deciding, 0.0)


@dataclass
class _Descent:
    """Decides the candidates of rows, given a fitted smoother."""

    problem: RiskProblem
    X: Any
    partial: PartialOutputs
    sample_weight: Any
    soft: np.ndarray
    start: str | np.ndarray
    max_iter: int
    random_state: Any

    def run(self, fitted: Any) -> Disambiguation:
        weights = _PairWeights(dense(fitted.weights(self.X)), self.sample_weight)
        Y = _start(self.problem, weights, self.partial, self.soft, self.start, self.random_state)
        Y, trace, converged = _descend(self.problem, weights, self.partial, Y, self.max_iter)
        alpha = Penalties.of(fitted).given
        return Disambiguation(Y, np.array(trace), len(trace) - 1, converged, alpha)

    def left_out_loss(self, fitted: Any, outputs: np.ndarray, groups: Any) -> float:
        """Mean infimum loss of predictions for rows that are left out, from outputs decided."""
        plain = copy.copy(self.problem)
        plain.outputs = outputs
        targets = np.eye(len(outputs))
        if not is_by_weights(self.problem):
            plain.by_weights, plain.used = False, None
            targets = plain.targets_of(outputs)
        left = plain.decide(fitted.with_targets(targets).loo(groups))
        losses = infimum_losses(self.problem, left, self.partial)
        return float(np.average(losses, weights=self.sample_weight))


def _descend(
    problem: RiskProblem,
    weights: _PairWeights,
    partial: PartialOutputs,
    Y: np.ndarray,
    max_iter: int,
) -> tuple[np.ndarray, list[float], bool]:
    """Outputs, the trace of the objective, and whether no row can lower it."""
    risks = estimated_risks(problem, Y, Y, weights.deciding)
    trace = [float(weights.row @ risks)]
    size = np.abs(weights.deciding).sum(axis=1) * max(1.0, float(np.abs(risks).max(initial=0.0)))
    for number in range(max_iter + 1):
        Z = decided_within(problem, Y, weights.deciding, partial)
        gains = risks - estimated_risks(problem, Z, Y, weights.deciding)
        moving = np.flatnonzero((gains > TIE * size) & ~partial.complete)
        if not len(moving):
            return Y, trace, True
        if number == max_iter:
            break
        moving = moving[np.argsort(-(weights.row * gains)[moving], kind="stable")]
        tried = _lowered(problem, weights, Y, Z, moving, trace[-1])
        if tried is None:  # only losses that are not symmetric, and rounding
            return Y, trace, True
        Y, risks = tried
        trace.append(float(weights.row @ risks))
    return Y, trace, False


def _lowered(
    problem: RiskProblem,
    weights: _PairWeights,
    Y: np.ndarray,
    Z: np.ndarray,
    moving: np.ndarray,
    objective: float,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Outputs and risks once as many rows have moved as lower the objective; None for none."""
    idle = weights.row[moving] == 0
    count = len(moving)
    while count:
        there = Y.copy()
        some = np.union1d(moving[:count], moving[idle])
        there[some] = Z[some]
        risks = estimated_risks(problem, there, there, weights.deciding)
        if weights.row @ risks < objective or (idle.all() and count == len(moving)):
            return there, risks
        count //= 2
    return None


def _start(
    problem: RiskProblem,
    weights: _PairWeights,
    partial: PartialOutputs,
    soft: np.ndarray,
    start: str | np.ndarray,
    random_state: Any,
) -> np.ndarray:
    """Where the descent begins: what is known stays."""
    if not isinstance(start, str):
        return np.asarray(start)
    if start not in ("soft", "random"):
        raise ValueError(f'start is "soft", "random" or outputs; got {start!r}.')
    n = len(partial)
    if start == "random":
        rng = np.random.default_rng(random_state)
        return _kept(
            partial, decided_within(problem, partial.outputs, rng.normal(size=(n, n)), partial)
        )
    if is_by_weights(problem):
        return _kept(partial, decided_within(problem, partial.outputs, weights.deciding, partial))
    means, found = weights.deciding @ soft, []
    plain = copy.copy(problem)
    plain.by_weights, plain.used = False, None
    for rows, part in Known.of(partial.allowed).in_parts(n):
        plain.space = Known.of(part).seen_by(problem.space)
        found.append((rows, plain.decode(means[rows]).outputs))
    return _kept(partial, joined(found, n))


def _kept(partial: PartialOutputs, Z: np.ndarray) -> np.ndarray:
    """What was decided, and what is known in its place."""
    known, left = np.flatnonzero(partial.complete), np.flatnonzero(~partial.complete)
    return joined([(left, Z[left]), (known, partial.outputs[known])], len(Z))


def decide_candidates(model: Any, data: TrainingData, partial: PartialOutputs) -> Disambiguation:
    """Outputs of training, decided among candidates by kernel ridge regression of scaled inputs.

    With the kernel and the penalty that a model is given, or else the Gaussian kernel and the
    penalty of least left-out infimum loss.
    """
    if len(partial) > MOST_ROWS:
        raise ValueError(
            f"Candidates of {len(partial):,} rows: they are decided from weights of all pairs of "
            f"rows, of up to {MOST_ROWS:,}. Fit to some of the rows."
        )
    kernel = "rbf" if model.kernel == "auto" else model.kernel
    problem = partial_problem(model.space_, model.loss_, partial)
    smoother = Scaled(KernelRidge(kernel, model.alpha, fit_intercept=model.fit_intercept))
    given = {"groups": data.groups, "verbose": model.verbose, "random_state": 0}
    return disambiguate(problem, smoother, data.rows, partial, data.row_weight, **given)
