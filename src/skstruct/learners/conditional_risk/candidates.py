# SPDX-License-Identifier: BSD-3-Clause
"""One loss on one space where outputs are known to be one of several: means, decisions, losses."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.learners.problem import RiskProblem, WeightProblem
from skstruct.losses import pair
from skstruct.spaces import Known, Solving, Targets, Uniform
from skstruct.spaces.common.choices import joined
from skstruct.spaces.partial import PartialOutputs

SHOWN = 20  # outputs of a row that are known to a loss of listed outputs


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
        row = Uniform.of(partial.allowed.rows([i]))
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
    given = given_problem(problem, partial.outputs)
    if is_by_weights(problem):
        return given.targets()
    psi = dense(Targets.of(problem.space).targets(partial.outputs)).astype(np.float64)
    for rows, part in Known.of(allowed_outputs(partial)).in_parts(len(partial)):
        open_rows = np.flatnonzero(~partial.complete[rows])
        if len(open_rows) and Solving.of(part).discrete:
            narrowed = Known.of(part.rows(open_rows)).seen_by(problem.space)
            psi[rows[open_rows]] = Uniform.of(narrowed).uniform_means(len(open_rows))
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
    nearest = decided_within(problem, outputs, weights, partial)
    return problem.loss(outputs, nearest)


def allowed_outputs(partial: PartialOutputs) -> Any:
    """The space, narrowed row by row, or the lists of rows; an error where there is neither."""
    if partial.allowed is None:
        raise ValueError("The space cannot be narrowed to outputs that agree with these rows.")
    return partial.allowed


def is_by_weights(problem: RiskProblem) -> bool:
    """Whether the loss has no finite embedding and is decided from weights of outputs."""
    return bool(problem.loss.embedding_on(problem.space) == "weights")


def given_problem(problem: RiskProblem, outputs: np.ndarray) -> RiskProblem:
    """The problem with other outputs of training, decided from weights of these."""
    other = copy.copy(problem)
    other.outputs = outputs
    return other if is_by_weights(problem) else other.from_weights()


def decided_within(
    problem: RiskProblem, outputs: np.ndarray, weights: np.ndarray, partial: PartialOutputs
) -> np.ndarray:
    """The output of least risk among those each row allows, given outputs and their weights."""
    given, found = given_problem(problem, outputs), []
    for rows, part in Known.of(allowed_outputs(partial)).in_parts(len(partial)):
        given.space = Known.of(part).seen_by(problem.space)
        if is_by_weights(problem):  # the least of such a risk is at an output or a limit
            given.space = Known.of(given.space).within_range(outputs)
        found.append((rows, given.decode(weights[rows]).outputs))
    return joined(found, len(partial))


def estimated_risks(
    problem: RiskProblem, Z: np.ndarray, outputs: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Estimated risk of the output in each row, given outputs and their weights; shape (n,)."""
    given = given_problem(problem, outputs)
    if is_by_weights(problem):
        losses = problem.loss.pairwise(Z, outputs)
        return np.asarray(np.einsum("ij,ij->i", weights, losses))
    g, total = given.mean_embedding(weights)
    costs = given.loss.cost(g, total)
    psi = dense(problem.space.embed(Z))
    return np.asarray(np.einsum("ij,ij->i", costs, psi) + given.loss.offset(g, total))
