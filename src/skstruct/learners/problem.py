# SPDX-License-Identifier: BSD-3-Clause
"""One loss on one space: what to regress on, and what to decide from it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import snap
from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import dense
from skstruct.losses import Deciding, Effort, Form, Observed, PartlyKnown, pair
from skstruct.saving import savable
from skstruct.smoothing import Learning
from skstruct.smoothing.nystroem.landmarks import most_landmarks
from skstruct.smoothing.planning import SPECTRAL_ROWS
from skstruct.spaces import (
    Coordinates,
    Decoded,
    KBest,
    Known,
    Marginals,
    Restrictable,
    Solving,
    Targets,
    whole_of,
)
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.truth import told_mean

RATE = 1e10  # operations a second of products, nominally
JUDGED = 10_000  # rows that a constant answer is judged by
THIN = 0.05  # share of nonzero numbers below which sparse products are faster than dense ones


@savable
class RiskProblem:
    """Turns outputs into regression targets, and their conditional means into decisions.

    Parameters
    ----------
    space : fitted space
    loss : loss
    outputs : array
        Outputs of training in canonical form.
    joint : bool
        Whether labels borrow from each other (a label kernel): then every column
        matters, and the total weight is a column per label.
    by_weights : bool
        Whether the smoother is linear whatever its targets. Where psi is wider than there
        are rows, the weights of the training rows then take the place of means, and psi is
        applied to them.
    some : bool
        Whether these are only some of the outputs: others may use other columns of psi.
    """

    smooths_means = True  # what is smoothed are means of psi: losses may decide from these
    known: np.ndarray | None = None  # parts of outputs that were looked at, (n, d); None for all
    has_gaps = False  # targets are NaN where they are not known
    rows_stand_alone = True  # a row of left-out means is one decision
    used: np.ndarray | None = None  # columns of psi that are not zero for all rows; None for all
    n_kept: int | None = None  # rows that the smoother keeps, if not all

    def __init__(
        self,
        space: Any,
        loss: Any,
        outputs: np.ndarray,
        *,
        joint: bool = False,
        by_weights: bool = False,
        some: bool = False,
    ) -> None:
        self.space, self.loss, self.outputs, self.joint = space, loss, outputs, joint
        psi = Targets.of(self.observations).targets(outputs)
        self.width = psi.shape[1]
        # Columns that are zero for all training rows have mean zero: they cost nothing.
        self.used = None
        if not joint and not some and sparse.issparse(psi):
            seen = np.zeros(self.width, bool)
            seen[psi.indices] = True
            self.used = np.flatnonzero(seen)
        n_columns = self.width if self.used is None else len(self.used)
        self.by_weights = by_weights and not joint and n_columns > len(outputs)
        self._psi = _thin(psi) if self.by_weights else None
        self._measure(psi)
        seen = self.observations
        self.key: tuple[Any, ...] = (seen.embedding, joint, Coordinates.of(seen).key())
        if self.by_weights:
            self.key = ("weights",)

    @property
    def observations(self) -> Any:
        """The space that truths are from, as the loss sees them: mostly that of outputs."""
        return Observed.of(self.loss).space_of(self.space)

    def _measure(self, psi: Any) -> None:
        """Size of a cost where all weight is on one output, and of the numbers it comes from."""
        few = max(1, min(50, 10**7 // max(1, self.width)))
        some = dense(psi[:few])
        self.unit = float(np.abs(self.loss.cost(some, np.ones((len(some), 1)))).max(initial=0.0))
        size = float(np.abs(some).max(initial=0.0))
        self.size = size if size > 0 else 1.0

    def targets(self) -> np.ndarray:
        """psi(y_i) and a column of ones, which learns the total weight; (n, q + 1)."""
        if self.by_weights:
            return np.ones((len(self.outputs), 1))  # the smoother's weights are all that is used
        return self.targets_of(self.outputs)

    def targets_of(self, outputs: np.ndarray) -> np.ndarray:
        """The same of any outputs in canonical form."""
        psi = Targets.of(self.observations).targets(outputs)
        psi = psi if self.used is None else psi[:, self.used]
        psi = dense(psi)
        ones = np.ones((len(psi), psi.shape[1] if self.joint else 1))
        return np.hstack([psi, ones])

    def without_rows(self) -> RiskProblem:
        """The same, as it is needed to read further outputs: nothing of those it has."""
        other = copy.copy(self)
        other.outputs = self.outputs[:0]
        return other

    def thin_targets(self) -> Any:
        """The targets, as a sparse array where hardly any number is other than zero."""
        plain = self.smooths_means and self.rows_stand_alone and not self.by_weights
        if self.used is None or not plain:
            return self.targets()
        psi = Targets.of(self.observations).targets(self.outputs)[:, self.used]
        if psi.nnz > THIN * psi.shape[0] * psi.shape[1]:
            return self.targets()
        return sparse.csr_array(sparse.hstack([psi, np.ones((psi.shape[0], 1))]))

    def deciding_targets(self) -> np.ndarray:
        """Those of the targets that decisions depend on."""
        targets = self.targets()
        if self.by_weights or self.joint or self.used is not None:
            return targets
        return targets[:, : Targets.of(self.observations).n_deciding(self.width)]

    def target_blocks(self) -> np.ndarray | None:
        """Blocks of the targets, by the space; None for none, or for fewer than two."""
        blocks = None if self.by_weights or self.joint else Targets.of(self.observations).blocks()
        if blocks is None or len(blocks) != self.width or blocks.max(initial=0) < 1:
            return None
        blocks = blocks if self.used is None else blocks[self.used]
        return np.append(blocks, 0)  # the column of ones

    def n_targets(self, *, compared: bool) -> int:
        """Columns of ``targets``, or of ``search_targets`` where penalties are ``compared``."""
        if self.by_weights:
            return len(self.outputs) if compared else self.targets().shape[1]
        q = self.width if self.used is None else len(self.used)
        return 2 * q if self.joint else q + 1

    def costs(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of the embedding's coordinates and the part of the risk no output changes."""
        g, total = self.mean_embedding(means)
        costs = np.array(self.loss.cost(g, total), order="C")
        largest = np.abs(costs).max(axis=1, initial=0.0)
        terms = np.maximum(self._terms(means, g, total), largest)
        costs = snap(costs, terms) if Solving.of(self.space).discrete else costs
        return costs, self.loss.offset(g, total)

    def _snapped(self, costs: np.ndarray) -> np.ndarray:
        """Costs that are scores or sums of them, (n, d): those that tie do so in every batch."""
        costs = np.array(costs, dtype=np.float64, order="C")
        if not Solving.of(self.space).discrete:
            return costs
        return snap(costs, np.abs(costs).max(axis=1, initial=0.0))

    def _terms(self, means: np.ndarray, g: np.ndarray, total: np.ndarray) -> Any:
        """Size of the terms that the costs of a row are differences of; shape (n,)."""
        if self.by_weights:
            return np.abs(means).max(axis=1) * self.unit  # weights of one training output
        weight = np.abs(g).max(axis=1, initial=0.0) / self.size
        return np.maximum(weight, np.abs(total).max(axis=1)) * self.unit

    def row_costs(self, means: np.ndarray, rows: Any) -> tuple[np.ndarray, np.ndarray]:
        """Costs of some rows, and the part of their risk that no output changes."""
        return self.costs(means)

    def mean_embedding(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean embedding (n, d) and total weight (n, 1) from what the smoother gives."""
        if self.by_weights:
            return np.asarray(means @ self._psi), means.sum(axis=1, keepdims=True)
        q = self.width if self.used is None else len(self.used)
        g, total = means[:, :q], means[:, q:]
        if self.used is not None:
            full = np.zeros((len(g), self.width))
            full[:, self.used] = g
            g = full
        return g, total

    def _used_means(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Means of the columns that are not zero (n, q), which these are, and total weights."""
        if self.by_weights:
            psi = sparse.csr_array(self._psi)
            columns = np.unique(psi.indices) if self.used is None else self.used
            return np.asarray(means @ psi[:, columns]), columns, means.sum(axis=1, keepdims=True)
        columns = np.arange(self.width) if self.used is None else self.used
        return means[:, : len(columns)], columns, means[:, len(columns) :]

    def _decides_from_means(self, space: Any) -> bool:
        """Whether the loss needs no costs of all coordinates over a space."""
        plain = self.smooths_means and not self.joint
        return plain and Form.of(self.loss).decides_from_means(space)

    def recalibrates(self) -> bool:
        """Whether left-out rows calibrate marginals."""
        return Marginals.of(whole_of(self.observations)).recalibrates

    def left_out(self, left: np.ndarray, rows: np.ndarray | None) -> Any:
        """Left-out means in the form of ``smooth``; None where some rows are no whole outputs."""
        return left

    def from_means(self) -> RiskProblem:
        """The same problem where a smoother gives means, however many these are."""
        return RiskProblem(self.space, self.loss, self.outputs, joint=self.joint)

    def from_weights(self) -> RiskProblem:
        """The same problem where a smoother gives the weights of training rows."""
        weighing = copy.copy(self)
        weighing.by_weights, weighing.used = True, None
        weighing._psi = _thin(Targets.of(self.observations).targets(self.outputs))
        return weighing

    def marginals(
        self,
        means: Any,
        rows: Any,
        parts: str | None,
        within: Any = None,
        raw: bool = False,
        recalibrate: Any = None,
    ) -> Any:
        """Probabilities of the parts of outputs; arguments as of :meth:`.Marginals.marginals`."""
        space, g = self.space.rows(rows), self.mean_embedding(means)[0]
        narrowed = None if within is None else within.space.rows(rows)
        return Marginals.of(space).marginals(g, parts, narrowed, raw, recalibrate)

    def true_marginals(self, outputs: np.ndarray, means: Any, parts: str | None) -> Any:
        """What ``marginals`` would be of outputs that are known."""
        psi = dense(Targets.of(self.space).targets(outputs))
        return Marginals.of(self.space).marginals(psi, parts, raw=True)

    def judging(self, known: np.ndarray | None) -> RiskProblem:
        """The same problem for other rows, of whose outputs these parts (n, d) were looked at; None
        for all.
        """
        other = copy.copy(self)
        other.known = known
        return other

    def known_marginals(self, outputs: np.ndarray, means: Any, parts: str | None, rows: Any) -> Any:
        """``true_marginals`` of rows by number: NaN where they are not known."""
        found = self.true_marginals(outputs, means, parts)
        if self.known is None:
            return found
        view = Marginals.of(whole_of(self.space)).view(parts)
        return Known.of(view).where_known(found, self.known[rows])

    def judged_losses(self, decided: np.ndarray, outputs: np.ndarray, rows: Any) -> np.ndarray:
        """Losses of decisions for rows by number on what is known; NaN where nothing is."""
        losses: np.ndarray
        if self.known is None:
            losses = self.loss(decided, outputs)
        else:
            losses = PartlyKnown.of(self.loss).losses(decided, outputs, self.known[rows])
        return losses

    def decode(self, means: Any, rows: Any = slice(None)) -> Decoded:
        """Outputs of least estimated risk, with that risk and its bound."""
        space = self.space.rows(rows)
        if self._decides_from_means(space):
            g, columns, total = self._used_means(means)
            terms = self._terms(means, g, total)
            return Form.of(self.loss).minimize_means(space, g, columns, total, terms)
        costs, offset = self.row_costs(means, rows)
        decoded = space.argmin(costs)
        return Decoded(decoded.outputs, decoded.values + offset, decoded.bounds + offset)

    def risks_of(self, means: Any, outputs: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        """Estimated risks of any outputs, in canonical form, one for each row; shape (n,)."""
        costs, offset = self.row_costs(means, rows)
        psi = self.space.rows(rows).embed(outputs)
        if sparse.issparse(psi):
            sums = np.asarray(psi.multiply(costs).sum(axis=1)).reshape(-1)
        else:
            sums = np.einsum("ij,ij->i", psi, costs)
        return sums + offset

    def kbest(self, means: np.ndarray, k: int, rows: slice = slice(None)) -> Decoded:
        space = self.space.rows(rows)
        if not Solving.of(self.space).discrete:
            raise ValueError(
                "There is no second best among numbers; give candidates: loss=Listed(...)."
            )
        if not isinstance(space, KBest):
            raise ValueError(
                f"The k best outputs are not known under {self.loss!r}: {type(space).__name__} "
                f"lists only the best. {self._other_ways(space)}"
            )
        costs, offset = self.row_costs(means, rows)
        best = space.kbest(costs, k)
        offset = offset[:, None]
        return Decoded(best.outputs, best.values + offset, best.bounds + offset)

    def _other_ways(self, space: Any) -> str:
        """What lists the k best where a space does not."""
        whole = whole_of(space)
        if whole is not space and isinstance(whole, KBest):
            return f"{type(whole).__name__} lists more: give a loss such as loss='hamming'."
        method = f"{type(whole).__name__} needs a method kbest(costs, k) (protocol KBest)"
        if np.ndim(self.outputs) != 2:
            return f"{method}."
        return f"{method}; loss=Listed({self.loss!r}) lists those among outputs of training."

    def smooth(self, smoother: Any, X: Any) -> Any:
        """Means of the targets at the rows of X, or the weights of the training rows."""
        if not self.by_weights:
            return np.asarray(smoother.predict(X), dtype=np.float64).reshape(X.shape[0], -1)
        weights = smoother.weights(X)
        return dense(weights)

    def possible(self, values: np.ndarray) -> np.ndarray:
        """Estimated risks, moved to the nearest numbers that the loss can have on average."""
        values = np.asarray(values, dtype=np.float64)
        return np.where(np.isfinite(values), np.clip(values, *self.loss.range()), values)

    def search_targets(self) -> np.ndarray:
        """What to smooth where rows are left out: left-out means of the identity are weights."""
        return np.eye(len(self.outputs)) if self.by_weights else self.targets()

    def for_search(self) -> RiskProblem:
        """The problem by which penalties are compared: this one, or that of a faster loss."""
        loss = Effort.of(self.loss).stand_in(self.space)
        return self if loss is self.loss else self.stand_in(loss)

    def stand_in(self, loss: Any) -> RiskProblem:
        """Another loss, decided from what is smoothed for this one."""
        return StandInProblem(self, loss)

    def alone(self) -> RiskProblem:
        """The same decisions from targets of its own; those of a problem are its own."""
        return self

    def target_bytes(self) -> int:
        """Roughly what the targets take, each of three numbers where they are sparse."""
        q = self.n_targets(compared=False)
        filled = np.count_nonzero(self.outputs) if self.used is not None else len(self.outputs) * q
        return int(8 * min(3 * (filled + len(self.outputs)), len(self.outputs) * q))

    def decision_seconds(self) -> float:
        """What a decision takes, nominally, by the loss."""
        return Effort.of(self.loss).seconds(self.space)

    def prediction_seconds(self, n_rows: int, *, fitted: bool) -> float:
        """What predicting so many rows takes, nominally: means, decisions, and unless targets of
        this kind are ``fitted``, a solution for them.
        """
        n, q = len(self.outputs), self.n_targets(compared=False)
        m = n if n <= SPECTRAL_ROWS else min(n, most_landmarks("auto", n))
        products = 2.0 * m * q * (n_rows if fitted else n_rows + n)
        return n_rows * self.decision_seconds() + products / RATE

    def groups_of_rows(self, groups: Any) -> Any:
        """The groups that are left out together, for every row that is smoothed."""
        return groups

    def tie_targets(self) -> np.ndarray | None:
        """Targets whose left-out squared error tells equal losses apart; None for none."""
        return None

    def check_truth(self, X: Any, outputs: np.ndarray) -> None:
        """Raise where outputs cannot be the truth of these inputs."""

    def decide(self, means: Any, rows: Any = slice(None)) -> Any:
        """Outputs alone, where nobody asks how good they are."""
        space = Solving.of(self.space).quick()
        if space is self.space:
            return self.decode(means, rows).outputs
        quick = copy.copy(self)
        quick.space = space
        return quick.decode(means, rows).outputs

    def realized(
        self, means: np.ndarray, memory: str | int, sample_weight: Any = None, numbers: Any = None
    ) -> float:
        """Mean loss on training rows, all or those ``numbers``, of decisions from left-out means.

        ``means`` and ``sample_weight`` have an entry for each of these rows.
        """
        losses = self.realized_losses(means, memory, numbers)
        own = self.has_gaps and self.rows_stand_alone  # weights of these rows, as they are
        return told_mean(losses, sample_weight if own else self.output_weights(sample_weight))

    def realized_losses(
        self, means: np.ndarray, memory: str | int, numbers: Any = None
    ) -> np.ndarray:
        """The loss of each output, decided from left-out means; shape (n,)."""
        losses = np.empty(len(means))
        for rows in row_blocks(len(means), self.bytes_per_row(), memory):
            here = rows if numbers is None else numbers[rows]
            decided, true = self.decide(means[rows], here), self.outputs[here]
            if self.known is None:
                losses[rows] = self._true_losses(decided, true)
            else:
                losses[rows] = self.judged_losses(decided, true, here)
        return losses

    def _true_losses(self, decided: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Losses, or where outputs lack what was overlooked, estimates that have their mean."""
        losses: np.ndarray
        seen = self.observations
        estimated = Known.of(whole_of(seen)).estimates_targets and seen.embedding == "indicators"
        if not estimated:
            losses = self.loss(decided, outputs)
            return losses
        g, total = dense(Targets.of(self.space).targets(outputs)), np.ones((len(outputs), 1))
        psi = dense(self.space.embed(decided))
        losses = (self.loss.cost(g, total) * psi).sum(axis=1) + self.loss.offset(g, total)
        return losses

    def output_weights(self, sample_weight: Any, numbers: Any = None) -> Any:
        """Weights of outputs, of all rows or of rows by number, given those of what is smoothed.

        None for none.
        """
        if sample_weight is None or numbers is None:
            return sample_weight
        return np.asarray(sample_weight)[numbers]

    def constant_risk(self, sample_weight: Any = None) -> float | None:
        """Mean loss on training rows of the best answer that is the same for all of them.

        None where rows have constraints of their own. Of many rows, some ten thousand are judged.
        """
        constraints = (
            getattr(self.space, "constraints", None),
            getattr(self.space, "constraints_", None),
        )
        if any(getattr(limit, "n_rows", None) is not None for limit in constraints):
            return None
        n = len(self.outputs)
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight)
        answer = self.decide(self.mean_targets(weight))
        rows = np.unique(np.linspace(0, n - 1, min(n, JUDGED)).astype(np.int64))
        losses = self._true_losses(np.repeat(answer, len(rows), axis=0), self.outputs[rows])
        return float(np.average(losses, weights=weight[rows])) if weight[rows].any() else None

    def mean_targets(self, weight: np.ndarray) -> np.ndarray:
        """What a smoother would give that weighs rows by ``weight`` (n,) everywhere; one row."""
        weight = weight / weight.sum()
        if self.by_weights:
            return weight[None, :]
        psi = Targets.of(self.observations).targets(self.outputs)
        psi = psi if self.used is None else psi[:, self.used]
        mean = np.asarray(weight @ psi).reshape(1, -1)
        return np.hstack([mean, np.ones((1, mean.shape[1] if self.joint else 1))])

    def bytes_per_row(self) -> Any:
        """Roughly what the decision of one row takes: its weights, costs and copies of them."""
        all_rows = self.by_weights or self.n_kept is None
        kept = len(self.outputs) if all_rows else self.n_kept
        n_columns = self.width
        if self.used is not None and self._decides_from_means(self.space):
            n_columns = len(self.used)
        return 8 * (kept + 4 * n_columns)

    def restricted(self, restrict: dict[str, Any] | None) -> Any:
        """The same problem over a narrower space."""
        if not restrict:
            return self
        whole = whole_of(self.space)
        if not isinstance(whole, Restrictable):
            raise ValueError(f"{type(whole).__name__} cannot be restricted.")
        known = signature(whole.restrict).parameters
        takes_any = any(part.kind is Parameter.VAR_KEYWORD for part in known.values())
        if not isinstance(restrict, Mapping) or not (takes_any or set(restrict) <= set(known)):
            raise ValueError(
                f"restrict is a dictionary with some of {', '.join(known)}; got {restrict!r}."
            )
        narrowed = copy.copy(self)
        narrowed.space = self.space.restrict(**restrict)
        return narrowed


class StandInProblem(RiskProblem):
    """Decisions of another loss from what is smoothed for a problem: to compare penalties.

    Parameters
    ----------
    problem : RiskProblem
        Whose targets are smoothed.
    loss : loss
        Whose embedding can be read off that of the problem.
    """

    def __init__(self, problem: RiskProblem, loss: Any) -> None:
        self.problem, self.outputs = problem, problem.outputs
        self.space, self.loss = pair(loss, whole_of(problem.space), problem.outputs)
        self.joint, self.by_weights = problem.joint, problem.by_weights
        self.rows_stand_alone, self.n_kept = problem.rows_stand_alone, problem.n_kept
        psi = self._projected(Targets.of(problem.observations).targets(problem.outputs))
        self.width = psi.shape[1]
        self._psi = _thin(psi) if self.by_weights else None
        self._measure(psi)

    def alone(self) -> RiskProblem:
        return RiskProblem(self.space, self.loss, self.outputs)

    def n_targets(self, *, compared: bool) -> int:
        return self.problem.n_targets(compared=compared)

    def _projected(self, means: np.ndarray) -> Any:
        return Coordinates.of(self.problem.space).project(means, self.space.embedding)

    def mean_embedding(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.by_weights:
            return super().mean_embedding(means)
        g, total = self.problem.mean_embedding(means)
        return self._projected(g), total

    def mean_targets(self, weight: np.ndarray) -> np.ndarray:
        return self.problem.mean_targets(weight)


@savable
class WeightProblem(RiskProblem):
    """One loss without a finite embedding on one space: decided from the weights themselves."""

    def __init__(self, space: Any, loss: Any, outputs: np.ndarray) -> None:
        self.space, self.loss, self.outputs, self.joint = space, loss, outputs, False
        self.by_weights, self.key = True, ("weights",)
        self.width = int(np.prod(np.shape(outputs)[1:]))

    def targets(self) -> np.ndarray:
        """The outputs: what a smoother that looks at its targets should look at."""
        return np.asarray(self.outputs, dtype=np.float64).reshape(len(self.outputs), -1)

    def true_marginals(self, outputs: np.ndarray, means: Any, parts: str | None) -> Any:
        return np.asarray(outputs, dtype=np.float64).reshape(len(outputs), -1)

    def mean_embedding(self, means: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean outputs (n, d), and total weights (n, 1)."""
        mean = means @ np.asarray(self.outputs, dtype=np.float64).reshape(len(self.outputs), -1)
        return mean, means.sum(axis=1, keepdims=True)

    def decode(self, means: Any, rows: Any = slice(None)) -> Any:
        return self.loss.minimize(means, self.outputs, self.space.rows(rows))

    def risks_of(self, means: Any, outputs: np.ndarray, rows: Any = slice(None)) -> np.ndarray:
        return Deciding.of(self.loss).risks(means, outputs, self.outputs)

    def decide(self, means: Any, rows: Any = slice(None)) -> Any:
        space = self.space.rows(rows)
        return Effort.of(self.loss).decide(means, self.outputs, space).outputs


def targets_for(smoother: Any, problem: RiskProblem) -> Any:
    """The targets of a problem: sparse ones for a smoother that sums over them as they are."""
    sums = Learning.of(smoother).takes_sparse_targets
    return problem.thin_targets() if sums else problem.targets()


def search_targets_for(smoother: Any, problem: RiskProblem) -> Any:
    """The same of ``search_targets``."""
    targets = targets_for(smoother, problem)
    return targets if sparse.issparse(targets) else problem.search_targets()


def _thin(psi: Any) -> Any:
    """Embeddings as they are, or sparse where hardly any number is other than zero."""
    if sparse.issparse(psi) or np.count_nonzero(psi) > THIN * psi.size:
        return psi
    return sparse.csr_array(psi)


def risk_problem(
    space: Any,
    loss: Any,
    outputs: np.ndarray,
    *,
    joint: bool = False,
    by_weights: bool = False,
    some: bool = False,
) -> RiskProblem:
    """The problem of one loss on one space; parameters as of :class:`RiskProblem`."""
    space, loss = pair(loss, space, outputs)
    if Deciding.of(loss).needs_weights(space):
        return WeightProblem(space, loss, outputs)
    return RiskProblem(space, loss, outputs, joint=joint, by_weights=by_weights, some=some)


def best_constant(view: Any, loss: Any, outputs: np.ndarray, weight: np.ndarray) -> float | None:
    """Mean loss of the best answer that is the same for all rows, of a space and a loss that were
    paired; None where rows have constraints of their own, or the loss no mean embedding.
    """
    if differs_by_row(view) or Deciding.of(loss).needs_weights(view):
        return None
    share = weight / weight.sum()
    psi = Targets.of(Observed.of(loss).space_of(view)).targets(outputs)
    mean = np.asarray(share @ psi).reshape(1, -1)
    answer = view.argmin(np.ascontiguousarray(loss.cost(mean, np.ones((1, 1))))).outputs
    return float(share @ loss(np.repeat(answer, len(outputs), axis=0), outputs))
