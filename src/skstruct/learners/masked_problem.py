# SPDX-License-Identifier: BSD-3-Clause
"""One loss on one space, where outputs of training are known in part."""

import copy
from dataclasses import replace
from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.learners.problem import RiskProblem, StandInProblem
from skstruct.losses import Deciding, Observed, PartlyKnown, pair
from skstruct.saving import savable
from skstruct.smoothing.base import column_means
from skstruct.spaces import Known, Targets, whole_of
from skstruct.spaces.partial import PartialOutputs


class _JudgedByParts:
    """Decisions are judged by what is known of the truth; some outputs may say nothing."""

    has_gaps = True
    partial: PartialOutputs

    def output_weights(self, sample_weight: Any, numbers: Any = None) -> Any:
        """Weights of outputs: none of those that say nothing."""
        says = np.asarray(self.partial.known.any(axis=1), dtype=np.float64)
        says = says if numbers is None else says[numbers]
        weight: Any = super().output_weights(sample_weight, numbers)  # type: ignore[misc]
        return says if weight is None else weight * says


@savable
class MaskedProblem(_JudgedByParts, RiskProblem):
    r"""Regresses each coordinate of psi on the rows in which it was observed.

    Targets are NaN elsewhere: a smoother that takes gaps learns
    :math:`E[\psi_j(Y) \mid x]` from the rows that were looked at for it, which are a fair sample
    if looking had nothing to do with what was seen.

    Parameters
    ----------
    space : fitted space, under the embedding of the loss
    loss : loss
    partial : PartialOutputs
    observed : bool array of shape (n, width of psi)
    """

    def __init__(
        self, space: Any, loss: Any, partial: PartialOutputs, observed: np.ndarray
    ) -> None:
        self.partial, self.observed, self.filling = partial, observed, None
        self.filled_by: Any = None  # the regression that targets were filled by
        self.known = partial.observed  # what follows from values is no fair sample
        super().__init__(space, loss, partial.outputs, some=True)

    def targets(self) -> np.ndarray:
        """psi(y_i), NaN where it was not observed, and a column of ones; (n, q + 1)."""
        psi = dense(Targets.of(self.observations).targets(self.outputs))
        fill = np.nan if self.filling is None else self.filling
        psi = np.where(self.observed, psi, fill)
        return np.hstack([psi, np.ones((len(psi), 1))])

    def unknown_in(self, rows: np.ndarray) -> "MaskedProblem":
        """The same problem where nothing is known of some rows, a mask (n,), and none is filled."""
        other, rest = copy.copy(self), ~rows[:, None]
        known, observed = self.partial.known & rest, self.partial.observed & rest
        other.partial = replace(self.partial, known=known, observed=observed)
        other.observed, other.filling = self.observed & rest, None
        return other

    def masked_targets(self, partial: PartialOutputs) -> np.ndarray:
        """The same of other outputs, of which nothing is filled."""
        psi = dense(Targets.of(self.observations).targets(partial.outputs))
        seen = Known.of(self.observations).columns(partial.observed, psi.shape[1])
        return np.hstack([np.where(seen, psi, np.nan), np.ones((len(psi), 1))])

    def without_rows(self) -> "MaskedProblem":
        """The same, as it is needed to read further outputs: nothing of those it has."""
        other = copy.copy(self)
        other.outputs, other.observed = self.outputs[:0], self.observed[:0]
        other.partial = None  # type: ignore[assignment]
        return other

    def fill(self, means: np.ndarray) -> np.ndarray | None:
        """Targets given what is known of each output, by means given the inputs; NaN where
        nothing is known; None where parts say nothing of each other.
        """
        found: np.ndarray | None = Known.of(self.observations).filled(
            self.mean_embedding(means)[0], self.partial
        )
        if found is not None:
            found[~self.partial.known.any(axis=1)] = np.nan
        return found

    def thin_targets(self) -> Any:
        return self.targets()

    def deciding_targets(self) -> np.ndarray:
        targets = self.targets()
        n_deciding = Targets.of(self.observations).n_deciding(self.width)
        return targets if n_deciding is None else targets[:, :n_deciding]

    def stand_in(self, loss: Any) -> RiskProblem:
        return _MaskedStandIn(self, loss)

    def mean_targets(self, weight: np.ndarray) -> np.ndarray:
        return column_means(self.targets(), weight)[None]

    def constant_risk(self, sample_weight: Any = None) -> float | None:
        n = len(self.outputs)
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight)
        known: Any = self.known
        answer = np.repeat(self.decide(self.mean_targets(weight)), n, axis=0)
        losses = PartlyKnown.of(self.loss).losses(answer, self.outputs, known)
        told = np.isfinite(losses) & (weight > 0)
        return float(np.average(losses[told], weights=weight[told])) if told.any() else None


class _MaskedStandIn(_JudgedByParts, StandInProblem):
    """Another loss that compares penalties, from what is smoothed for a masked problem."""

    def __init__(self, problem: MaskedProblem, loss: Any) -> None:
        self.partial, self.known = problem.partial, problem.known
        super().__init__(problem, loss)

    def constant_risk(self, sample_weight: Any = None) -> float | None:
        return None

    def alone(self) -> RiskProblem:
        found = masked_problem(whole_of(self.space), self.loss, self.partial)
        return self if found is None else found


def masked_problem(space: Any, loss: Any, partial: PartialOutputs) -> MaskedProblem | None:
    """The problem of a loss on outputs that are known in part; None where it needs whole ones."""
    space, loss = pair(loss, space, partial.outputs)
    if Deciding.of(loss).needs_weights(space) or not partial.by_parts:
        return None
    if not partial.observed.any():
        raise ValueError(f"{type(whole_of(space)).__name__}: no row of Y says anything.")
    observed = Known.of(Observed.of(loss).space_of(space)).targets(partial.observed)
    if observed is None:
        return None
    return MaskedProblem(space, loss, partial, observed)


@savable
class OpenPairsProblem(RiskProblem):
    r"""Regresses each pair of items on the rows that order it.

    A ranking that leaves a pair open says nothing of :math:`P(a \text{ before } b \mid x)`: as one
    half it would draw this towards one half. Left out, it is estimated without bias where who
    comes first has nothing to do with whether that is told: where items are missing at random, and
    for the first few items of rankings by the model of Plackett and Luce, in which the winner of a
    pair is independent of when the first of the two is chosen.

    Parameters
    ----------
    space : fitted Rankings, under pairs
    loss : loss
    outputs : array of shape (n, d)
    """

    has_gaps = True

    def targets_of(self, outputs: np.ndarray) -> np.ndarray:
        """Signs of the pairs, NaN where a pair is open, and a column of ones."""
        targets = super().targets_of(outputs)
        return np.where(targets == 0, np.nan, targets)

    def thin_targets(self) -> Any:
        return self.targets()

    def fill(self, means: np.ndarray) -> None:
        """Pairs are not filled by what others say of them."""

    def mean_targets(self, weight: np.ndarray) -> np.ndarray:
        return column_means(self.targets(), weight)[None]
