# SPDX-License-Identifier: BSD-3-Clause
"""Decisions for single rows, where what does not change is not computed again.

A learner smooths first and decides then. Means of a row depend on its input and on the loss; limits
and fixed parts change the decision alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np

from skstruct.explorer.recent import Recent
from skstruct.explorer.state import Explored
from skstruct.fitted import Staged
from skstruct.learners import Explanation
from skstruct.learners.conditional_risk.prediction import weighing_of
from skstruct.smoothing import Weighing
from skstruct.spaces import Decoded

KEPT = 64  # inputs whose means are kept
MOST_OPPONENTS = 200  # training rows of negative weight whose losses are computed


class Asking:
    """The learner of an Explored, asked for one row at a time; outputs are canonical."""

    def __init__(self, explored: Explored) -> None:
        self.explored, self.learner = explored, explored.learner
        self._stages: dict[str, Any] = {}
        self._means, self._inputs = Recent(KEPT), Recent(KEPT)
        self._marginals, self._explained = Recent(KEPT), Recent(KEPT)

    def decode(self, question: Any, constraints: dict[str, Any]) -> Decoded:
        """The best output, its value and bound."""
        if not Staged.of(self.learner).in_stages:
            return self._predicted(question, constraints)
        problem, means = self._begun(question, constraints)
        return problem.decode(means, slice(0, 1))

    def kbest(self, question: Any, constraints: dict[str, Any], k: int) -> Decoded:
        """The k best: outputs (k, ...), values and bounds (k,), those that there are."""
        problem, means = self._begun(question, constraints)
        best = problem.kbest(means, k, slice(0, 1))
        there = np.isfinite(best.values[0])
        return Decoded(best.outputs[0][there], best.values[0][there], best.bounds[0][there])

    def possible(self, question: Any, values: np.ndarray) -> np.ndarray:
        """Estimated risks within what the loss can be; costs as they are."""
        if not self.explored.served.fitted.can("possible_risks"):
            return np.asarray(values, dtype=np.float64)
        return self._prepared(question.loss).problem.possible(values)

    def marginals(self, question: Any, constraints: dict[str, Any]) -> Any:
        """Probabilities of the parts given the constraints, or None where nobody knows."""
        if not self.explored.can("marginals"):
            return None
        key = *question.inputs, _key(constraints)
        return self._marginals(key, lambda: self._told(question, constraints))

    def explanation(self, question: Any, constraints: dict[str, Any], z: np.ndarray) -> Any:
        """An Explanation of the decision z, or None; rows far from weighing against it most have no
        loss there, since those of all rows take long.
        """
        found = self._weights(question, constraints)
        if found is None or found.losses is not None:
            return found
        negative = replace(found, losses=np.ones(found.weights.shape))
        near = negative.opponents(MOST_OPPONENTS)[0]
        near = near[near >= 0]
        losses = np.zeros(found.weights.shape)
        loss = self._prepared(question.loss).problem.loss
        losses[:, near] = loss.pairwise(z[None], self.learner.outputs_[near])
        return replace(found, losses=losses)

    def _weights(self, question: Any, constraints: dict[str, Any]) -> Any:
        """An Explanation, without losses where it is the same for all decisions, or None."""
        if not self.explored.can("explain"):
            return None
        # Where a loss may be given, weights are those of inputs, whatever is decided: then losses
        # to all rows of training, which take long, are left out.
        by_inputs = "loss" in signature(self.learner.explain).parameters
        asked = {} if by_inputs or not constraints else {"restrict": constraints}
        key = *question.inputs, _key(asked)

        def explained() -> Any:
            X, learner = self._input(question), self.learner
            if by_inputs:
                linear = weighing_of(learner)
                weight = Weighing.of(linear).sample_weight
                return _or_none(
                    lambda: Explanation(linear.weights(learner._checked(X)[0]), None, weight)
                )
            return _or_none(lambda: learner.explain(X, **asked))

        return self._explained(key, explained)

    # ------------------------------------------------------------------ stages
    def _prepared(self, loss: str) -> Any:
        if loss not in self._stages:
            self._stages[loss] = Staged.of(self.learner).stages(self.explored.options(loss))
        return self._stages[loss]

    def _begun(self, question: Any, constraints: dict[str, Any]) -> tuple[Any, Any]:
        """The problem within constraints, and the means of the row."""
        stages = self._prepared(question.loss)
        key = *question.inputs, question.loss
        means = self._means(key, lambda: stages.begin(self._input(question))[1])
        return stages.problem.restricted(constraints or None), means

    def _input(self, question: Any) -> Any:
        """One row as the learner takes it."""
        inputs = self.explored.inputs
        return self._inputs(question.inputs, lambda: inputs.encoded(question.row, question.values))

    def _predicted(self, question: Any, constraints: dict[str, Any]) -> Decoded:
        """Of a learner that tells no values."""
        options = self.explored.options(question.loss)
        options |= {"restrict": constraints} if constraints else {}
        outputs = self.learner.predict(self._input(question), **options)
        nothing = np.full(1, np.nan)
        return Decoded(self.explored.space.validate(outputs), nothing, nothing)

    def _told(self, question: Any, constraints: dict[str, Any]) -> Any:
        learner = self.learner
        known = signature(learner.predict_marginals).parameters
        asked: dict[str, Any] = {}
        if constraints and "restrict" in known:
            asked["restrict"] = constraints
        parts = self.explored.drawn_parts()
        asked |= {} if parts is None else {"parts": parts}
        X = self._input(question)
        return first_row(_or_none(lambda: learner.predict_marginals(X, **asked)))


def _or_none(ask: Callable[[], Any]) -> Any:
    """An answer that is shown beside the decision; None where there is none."""
    try:
        return ask()
    except (ValueError, NotImplementedError):
        return None


def first_row(marginals: Any) -> Any:
    """The marginals of the only row as an array, whatever holds them."""
    if marginals is None:
        return None
    if isinstance(marginals, list):
        return np.asarray(marginals[0])
    if hasattr(marginals, "columns"):
        levels = getattr(marginals.columns, "levels", None)
        shape = (-1,) if levels is None else [len(level) for level in levels]
        return marginals.to_numpy()[0].reshape(shape)
    return np.asarray(marginals)[0]


def _key(constraints: dict[str, Any]) -> str:
    return json.dumps(sorted(map(repr, constraints.items())))
