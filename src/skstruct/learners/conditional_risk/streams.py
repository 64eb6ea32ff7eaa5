# SPDX-License-Identifier: BSD-3-Clause
"""Conditional risk minimization from blocks of rows: streams, and further rows."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_consistent_length
from sklearn.utils.metaestimators import available_if

from skstruct._arrays.checks import is_count
from skstruct._arrays.memory import parse_memory
from skstruct._arrays.methods import all_or_nothing
from skstruct._arrays.progress import announce, reported, working
from skstruct.learners.base import widened
from skstruct.learners.checkpoints.saving import resuming
from skstruct.learners.checkpoints.state import NOWHERE
from skstruct.learners.inputs import device_of, on_host, read_inputs
from skstruct.learners.leave_out import alpha_grid, choose, kernel_grid, searched_by
from skstruct.learners.one_pass import (
    ONE_PASS,
    BlockReader,
    check_seen,
    check_settings,
    checked_weight,
    first_rows,
    grow_landmarks,
    number_tried,
    placed_in,
    rows_of,
    seed_of,
)
from skstruct.learners.problem import risk_problem
from skstruct.losses import resolve_loss

FEWEST_JUDGED_ROWS = 200  # rows: with fewer to judge it by, alpha stays as it is


def _goes_on(model) -> bool:
    """Whether further rows can be added to what was learned."""
    plain = model.smoother is None and model.label_kernel is None and not model._precomputed
    if not plain or model.system not in ("auto", *ONE_PASS):
        return False
    return model.loss is None or resolve_loss(model.loss).embedding != "weights"


class StreamedRisk:
    """``partial_fit``, and ``fit`` to a source of blocks, of ConditionalRiskMinimizer."""

    alpha: Any

    # ------------------------------------------------------------------ a source of blocks
    def _fit_source(self, source, groups, checkpoint):
        self._check_streamed(groups)
        with working("drawing a sample of the rows"):
            sample, folds = first_rows(self, source)
        try:
            X = self._open_stream(sample.X, sample.y)
        except (ValueError, TypeError) as error:
            raise placed_in(source, sample, error) from error
        reader, seed = BlockReader(self, self.problem_), seed_of(self)
        read = {"source": source, "sample": sample, "read": reader, "folds": folds}
        data = {"X": X, "y": sample.y, "sample_weight": sample.weight, "n_rows": source.n_rows}
        with resuming(self, checkpoint, **data) as level:
            self.smoother_ = self._fit_stream(X, sample.weight, read, level, seed)
        return self

    def _check_streamed(self, groups):
        parse_memory(self.memory)
        if self.smoother is not None or self.label_kernel is not None:
            raise ValueError("Blocks of rows are learned from without a smoother or label kernel.")
        if self.system not in ("auto", *ONE_PASS):
            raise ValueError(
                f'system="{self.system}" needs all rows at once; rows that come in blocks need '
                'system="nystroem", "fourier" or "auto".'
            )
        single = isinstance(self.leave_out, str) and self.leave_out == "one"
        if groups is not None or not (single or is_count(self.leave_out)):
            raise ValueError(
                "Of rows that come in blocks, single ones or whole parts are left out when alpha "
                'is chosen: leave_out="one" or a number of parts, and no groups.'
            )

    def _open_stream(self, X, y):
        """What is open of the model, learned from the first rows; gives them as inputs."""
        y, self.device_ = on_host(y), device_of(self, X)
        y = y if hasattr(y, "__len__") else np.asarray(y)
        X = read_inputs(self, X, kernel=self.kernel, reset=True)
        if self.tokens_ is not None:
            raise ValueError("Features for every position of a sequence are not read in blocks.")
        check_consistent_length(X, y)
        self.starts_ = None
        self.space_ = (self._inferred(y) if self.space is None else clone(self.space)).fit(y)
        self.loss_ = resolve_loss(self.space_.default_loss if self.loss is None else self.loss)
        self.outputs_ = self.space_.validate(y)
        self.problem_ = risk_problem(self.space_, self.loss_, self.outputs_, some=True)
        self._check_problem()
        self.alpha_ = self.gamma_ = self.kernel_ = self.search_ = None
        self.system_ = self.system if self.system in ONE_PASS else "nystroem"
        return X

    def _fit_stream(self, X, weight, read, level, seed):
        source, search = read["source"], level.below("search")
        # What can be read only once is not tried with a second kernel.
        n_rows = rows_of(source, X.shape[0], self.n_landmarks) if source.again else 0
        pairs = kernel_grid(self._kernels(n_rows, X.shape[1]), self.gamma, X, weight)
        announce(self._stream_plan(source, pairs))

        def made(kernel, gamma, alpha):  # a seed of the checkpoint's own has no part here
            return self._ridge(kernel, gamma, alpha, self.system_).set_params(random_state=seed)

        def fit(smoother):
            number = pairs.index((smoother.kernel, smoother.gamma))
            sums = None if level is NOWHERE else search.below(f"sums {number}")
            return smoother.fit_source(**read, level=sums)

        def refitted(n_landmarks):
            larger = made(smoother.kernel, smoother.gamma, np.inf)
            return larger.set_params(n_landmarks=n_landmarks).fit_source(**read)

        if not (self._is_searched() or len(pairs) > 1):
            return self._settled(fit(made(*pairs[0], self.alpha)), weight)
        if not source.again and len(pairs) > 1:
            raise ValueError("A stream can be read once: give one kernel and one gamma.")
        self.search_, smoother = choose(
            made, pairs, self.alpha, self.problem_, X, None, sample_weight=weight,
            memory=self.memory, verbose=self.verbose, fit=fit, level=search,
        )  # fmt: skip
        if source.again and source.n_rows is not None:
            smoother = grow_landmarks(self, smoother, refitted, source.n_rows, weight)
        return self._settled(smoother, weight)

    def _stream_plan(self, source, pairs) -> str:
        """What will be done with the blocks of a source."""
        rows = "Rows" if source.n_rows is None else f"{source.n_rows:,} rows"
        passes = "one pass" if len(pairs) == 1 else f"{len(pairs)} passes, one for each kernel"
        tried = number_tried(pairs, self.alpha) // len(pairs)
        return (
            f"{rows} in blocks x {self.problem_.width + 1:,} targets, {self.system_}, {passes}; "
            f"{tried} penalties, judged by {len(self.outputs_):,} rows"
        )

    def _is_searched(self) -> bool:
        return isinstance(self.alpha, str) or np.ndim(self.alpha) > 0

    # ------------------------------------------------------------------ further rows
    @available_if(_goes_on)
    @reported
    @all_or_nothing
    def partial_fit(self, X, y, sample_weight=None):
        """Learn from further rows by landmarks, which are those of the first call.

        The first call learns what is open of the space (names), of the kernel (its width) and
        which landmarks there are: give it some thousand rows, of every kind. Sums are kept, rows
        are not; after an exact fit, its rows are the first. An alpha that is searched for is
        chosen anew in each call, by the loss on the last ten thousand rows, each left out.
        """
        first = not hasattr(self, "smoother_")
        check_settings(self)
        if y is None:
            raise ValueError("partial_fit requires y to be passed, but the target y is None.")
        if first:
            self.streamed_ = True
            self._check_streamed(None)
            X = self._open_stream(X, y)
        else:
            X = self._further_rows(X, y)
        problem = self._problem_of(y)
        weight = None
        if sample_weight is not None:
            weight = checked_weight(sample_weight, X.shape[0])
        smoother = self._new_smoother(X, weight) if first else copy.copy(self.smoother_)
        known = 0 if first else smoother.n_judged  # others, of a model from a file, are not kept
        smoother.partial_fit(X, problem.targets(), weight)
        # What the space lists is that of outputs_, the first ones; alpha is judged by the latest.
        outputs = [self.problem_.outputs[len(self.problem_.outputs) - known :], problem.outputs]
        self.problem_ = copy.copy(self.problem_)
        self.problem_.outputs = _joined(outputs)[-smoother.n_judged :]
        if self._is_searched() and (first or smoother.n_judged >= FEWEST_JUDGED_ROWS):
            smoother = self._best_alpha(smoother)
        self.smoother_, self.search_ = self._settled(smoother), None
        return self

    def _further_rows(self, X, y):
        if self.tokens_ is not None:
            raise ValueError("Features for every position of a sequence are not read in blocks.")
        X = read_inputs(self, X, reset=False)
        check_consistent_length(X, y)
        if not hasattr(self.smoother_, "stats_"):
            self._begin_from_rows()
        self._check_problem()
        return X

    def _begin_from_rows(self):
        """Landmarks in place of an exact system, from the rows that it has."""
        exact, self.streamed_ = self.smoother_, True
        self.system_ = self.system if self.system in ONE_PASS else "nystroem"
        self.problem_ = risk_problem(self.space_, self.loss_, self.outputs_, some=True)
        self._check_problem()
        smoother = self._ridge(exact.kernel, exact.gamma, exact.alpha, self.system_)
        targets = self.problem_.targets()
        self.smoother_ = smoother.partial_fit(exact.X_fit_, targets, exact.sample_weight_)

    def _check_problem(self):
        if self.problem_.by_weights:
            raise ValueError(
                f"{type(self.loss_).__name__} needs the weights of all training rows, which are "
                f"not kept: use loss=Listed({type(self.loss_).__name__}()), or arrays."
            )

    def _problem_of(self, y):
        """The problem whose outputs are those of the present rows."""
        problem = copy.copy(self.problem_)
        y = on_host(y)
        problem.outputs = self.space_.validate(y if hasattr(y, "__len__") else np.asarray(y))
        check_seen(problem, problem.outputs)
        return problem

    def _new_smoother(self, X, weight):
        pairs = kernel_grid(self._kernels(0, X.shape[1]), self.gamma, X, weight)
        if len(pairs) > 1:
            raise ValueError("partial_fit takes one kernel and one gamma; got several.")
        return self._ridge(*pairs[0], 1.0 if self._is_searched() else self.alpha, self.system_)

    def _best_alpha(self, smoother):
        alphas, weight = alpha_grid(self.alpha, smoother), smoother.sample_[2]
        judge = searched_by(self.problem_)
        risks = [judge.realized(left, self.memory, weight) for left in smoother.loo_path(alphas)]
        return smoother.with_alpha(float(alphas[int(np.argmin(risks))]))


def _joined(outputs):
    """Outputs in canonical form, one batch after another; sequences as wide as the longest."""
    widths = {Z.shape[-1] for Z in outputs if Z.ndim > 1}
    if len(widths) > 1:
        outputs = [widened(Z, max(widths)) for Z in outputs]
    return np.concatenate(outputs)
