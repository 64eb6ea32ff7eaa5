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
from skstruct.learners.problem import RiskProblem, WeightProblem
from skstruct.losses import pair
from skstruct.saving import savable
from skstruct.smoothing.penalties import alpha_grid, open_to_any, smoother_alphas
from skstruct.spaces.common.choices import joined
from skstruct.spaces.partial import PartialOutputs
from skstruct.tolerances import TIE

SHOWN = 20  # outputs of a row that are known to a loss of listed outputs


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


def partial_problem(space: Any, loss: Any, partial: PartialOutputs) -> RiskProblem:
    """The problem of one loss on one space, where only some of the outputs are known.

    A loss without an embedding of its own is decided among outputs that are known or may be true.
    """
    seen = partial.outputs[partial.complete]
    examples = partial.outputs
    if loss.embedding_on(space) == "outputs" != space.embedding:
        examples = _examples(partial)
    view, bound = pair(loss, space, examples, seen if len(seen) else examples)
    if bound.embedding_on(view) == "weights":
        return WeightProblem(view, bound, partial.outputs)
    return RiskProblem(view, bound, partial.outputs, some=True)


def _examples(partial: PartialOutputs) -> np.ndarray:
    """Outputs that are known, and some of those that may be true."""
    found = [partial.outputs[partial.complete]]
    for i in np.flatnonzero(~partial.complete):
        row = partial.allowed.rows([i])
        try:
            found.append(row.enumerate(SHOWN))
        except ValueError:  # there are more
            found.append(row.sample(SHOWN, np.random.default_rng(0)))
    numbers = np.split(np.arange(sum(map(len, found))), np.cumsum([len(Z) for Z in found])[:-1])
    return joined(list(zip(numbers, found)), sum(map(len, found)))


def soft_targets(problem: RiskProblem, partial: PartialOutputs) -> np.ndarray:
    """What to smooth before anything is decided: means of psi over what each row allows.

    In the form of ``problem.targets()``, and ``psi`` of what stands there for outputs that are
    known and for numbers, or the outputs themselves for losses without an embedding.

    Returns
    -------
    targets : array of shape (n, q)
    """
    given = _given(problem, partial.outputs)
    if _is_by_weights(problem):
        return given.targets()
    psi = dense(problem.space.targets(partial.outputs)).astype(np.float64)
    for rows, part in _allowed(partial).in_parts(len(partial)):
        open_rows = np.flatnonzero(~partial.complete[rows])
        if len(open_rows) and part.discrete:
            narrowed = part.rows(open_rows).as_seen_by(problem.space)
            psi[rows[open_rows]] = narrowed.uniform_means(len(open_rows))
    return np.hstack([psi, np.ones((len(psi), psi.shape[1] if problem.joint else 1))])


def infimum_losses(problem: RiskProblem, outputs: np.ndarray, partial: PartialOutputs) -> Any:
    r"""Loss of each output against the nearest one that its row allows; shape (n,).

    .. math:: L(z, S) = \inf_{y \in S} \ell(z, y)

    For losses that are symmetric; of others, the loss against that which is nearest the other way
    round.
    """
    rows = np.arange(len(outputs))
    weights = np.zeros((len(rows), len(rows)))
    weights[rows, rows] = 1.0
    nearest = _decided(problem, outputs, weights, partial)
    return problem.loss(outputs, nearest)


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
        Of a symmetric loss on the space that has read the outputs; see :func:`partial_problem`.
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
    >>> from skstruct.losses import ZeroOne
    >>> from skstruct.smoothing import KernelRidge
    >>> from skstruct.spaces import Classes
    >>> X = np.array([[0.0], [0.1], [0.2], [2.0], [2.1], [2.2]])
    >>> space = Classes()
    >>> partial = space.read_partial(["a", {"a", "b"}, None, "b", {"a", "b"}, {"b", "c"}])
    >>> problem = partial_problem(space, ZeroOne(), partial)
    >>> found = disambiguate(problem, KernelRidge(alpha=0.1), X, partial)
    >>> space.restore(found.outputs).tolist(), found.converged
    (['a', 'a', 'a', 'b', 'b', 'b'], True)
    """
    if not problem.rows_stand_alone:
        raise ValueError("Inputs for every position of a sequence do not decide candidates.")
    _allowed(partial)
    soft = soft_targets(problem, partial)
    descent = _Descent(problem, X, partial, sample_weight, soft, start, max_iter, random_state)
    alpha = getattr(smoother, "alpha", None)
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
    for value in alpha_grid(alpha, lambda: smoother_alphas(path)).tolist():
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
        alpha = getattr(fitted, "alpha", None)
        return Disambiguation(Y, np.array(trace), len(trace) - 1, converged, alpha)

    def left_out_loss(self, fitted: Any, outputs: np.ndarray, groups: Any) -> float:
        """Mean infimum loss of predictions for rows that are left out, from outputs decided."""
        plain = copy.copy(self.problem)
        plain.outputs = outputs
        targets = np.eye(len(outputs))
        if not _is_by_weights(self.problem):
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
    risks = _risks(problem, Y, Y, weights.deciding)
    trace = [float(weights.row @ risks)]
    size = np.abs(weights.deciding).sum(axis=1) * max(1.0, float(np.abs(risks).max(initial=0.0)))
    for number in range(max_iter + 1):
        Z = _decided(problem, Y, weights.deciding, partial)
        gains = risks - _risks(problem, Z, Y, weights.deciding)
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
        risks = _risks(problem, there, there, weights.deciding)
        if weights.row @ risks < objective or (idle.all() and count == len(moving)):
            return there, risks
        count //= 2
    return None


def _allowed(partial: PartialOutputs) -> Any:
    if partial.allowed is None:
        raise ValueError("The space cannot be narrowed to outputs that agree with these rows.")
    return partial.allowed


def _is_by_weights(problem: RiskProblem) -> bool:
    return bool(problem.loss.embedding_on(problem.space) == "weights")


def _given(problem: RiskProblem, outputs: np.ndarray) -> RiskProblem:
    """The problem with other outputs of training, decided from weights of these."""
    other = copy.copy(problem)
    other.outputs = outputs
    return other if _is_by_weights(problem) else other.from_weights()


def _decided(
    problem: RiskProblem, outputs: np.ndarray, weights: np.ndarray, partial: PartialOutputs
) -> np.ndarray:
    """The output of least risk among those each row allows, given outputs and their weights."""
    given, found = _given(problem, outputs), []
    for rows, part in _allowed(partial).in_parts(len(partial)):
        given.space = part.as_seen_by(problem.space)
        if _is_by_weights(problem):  # the least of such a risk is at an output or a limit
            given.space = given.space.within_range(outputs)
        found.append((rows, given.decode(weights[rows]).outputs))
    return joined(found, len(partial))


def _risks(
    problem: RiskProblem, Z: np.ndarray, outputs: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Estimated risk of the output in each row, given outputs and their weights; shape (n,)."""
    given = _given(problem, outputs)
    if _is_by_weights(problem):
        losses = problem.loss.pairwise(Z, outputs)
        return np.asarray(np.einsum("ij,ij->i", weights, losses))
    g, total = given.mean_embedding(weights)
    costs = given.loss.cost(g, total)
    psi = dense(problem.space.embed(Z))
    return np.asarray(np.einsum("ij,ij->i", costs, psi) + given.loss.offset(g, total))


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
        return _kept(partial, _decided(problem, partial.outputs, rng.normal(size=(n, n)), partial))
    if _is_by_weights(problem):
        return _kept(partial, _decided(problem, partial.outputs, weights.deciding, partial))
    means, found = weights.deciding @ soft, []
    plain = copy.copy(problem)
    plain.by_weights, plain.used = False, None
    for rows, part in partial.allowed.in_parts(n):
        plain.space = part.as_seen_by(problem.space)
        found.append((rows, plain.decode(means[rows]).outputs))
    return _kept(partial, joined(found, n))


def _kept(partial: PartialOutputs, Z: np.ndarray) -> np.ndarray:
    """What was decided, and what is known in its place."""
    known, left = np.flatnonzero(partial.complete), np.flatnonzero(~partial.complete)
    return joined([(left, Z[left]), (known, partial.outputs[known])], len(Z))
