# SPDX-License-Identifier: BSD-3-Clause
"""Learners of papers/sampling_models.py: fitted, judged, and laid out in rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from keeping import Figure
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.inspection import MarginalCalibrationDisplay

mpl.use("Agg")
import matplotlib.pyplot as plt

START, STEP, MOST_STEPS = 1e-4, 10**0.5, 8  # of the penalties that are tried


@dataclass(frozen=True, eq=False)
class Part:
    """Rows to learn from and rows to judge by."""

    X_train: Any
    Y_train: np.ndarray
    X_test: Any
    Y_test: np.ndarray


@dataclass(frozen=True, eq=False)
class Row:
    """What one learner did with every test row."""

    title: str
    kernel: str
    log_loss: np.ndarray  # NaN where a learner has no probabilities of outputs
    by_risk: np.ndarray  # loss of the prediction of least risk
    probable: np.ndarray  # the same loss, of the most probable output
    wrong: np.ndarray  # whether the most probable output is wrong
    probabilities: np.ndarray  # of labels, or of pairs in order; shape (n, m)
    happened: np.ndarray  # zeros and ones, (n, m)
    chosen: tuple
    seconds: float

    @classmethod
    def joined(cls, rows):
        """The rows of several folds as one."""
        arrays = ("log_loss", "by_risk", "probable", "wrong", "probabilities", "happened")
        together = {name: np.concatenate([getattr(row, name) for row in rows]) for name in arrays}
        chosen = tuple(value for row in rows for value in row.chosen)
        return replace(rows[0], chosen=chosen, seconds=sum(r.seconds for r in rows), **together)


# ------------------------------------------------------------------ learners
def exponential(title, space, loss, part, **options) -> Row:
    """ExponentialFamily, its penalty by log-loss on left-out training rows."""
    started = time.process_time()
    settings = {"fit_intercept": True, "random_state": 0, **options}
    X, Y, folds = part.X_train, part.Y_train, left_out_rows(len(part.Y_train))

    def left_out(lam):
        models = ((fitted(space, lam, settings, X[kept], Y[kept]), held) for kept, held in folds)
        return -np.mean([model.log_proba(X[held], Y[held]).mean() for model, held in models])

    lam = least(left_out, START)
    model = fitted(space, lam, settings, part.X_train, part.Y_train)
    under = model.problem_.judged_by(loss)
    probabilities = under.means(model.decision_function(part.X_test))
    log_loss = -model.log_proba(part.X_test, part.Y_test)
    return judged(
        title, model, loss, part, log_loss, (under, probabilities), lam, started, settings
    )


def left_out_rows(n):
    """Rows kept and held out: three folds, or a quarter of many rows."""
    if n > 1000:
        return list(KFold(4, shuffle=True, random_state=0).split(np.arange(n)))[:1]
    return list(KFold(3, shuffle=True, random_state=0).split(np.arange(n)))


def fitted(space, lam, settings, X, Y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = ExponentialFamily(space, alpha=lam, **settings).fit(X, Y)
    # Where training drew samples, what was learned is still judged by exact sums.
    return model.set_params(solver="exact")


def least(judge, start):
    """The penalty of least risk, downhill from ``start`` by factors of ``STEP``."""
    found = {0: judge(start)}
    for direction in (1, -1):
        k = 0
        while abs(k) < MOST_STEPS and (k == 0 or found[k] < found[k - direction]):
            k += direction
            found[k] = judge(start * STEP**k)
        if found[direction] < found[0]:
            break
    return start * STEP ** min(found, key=found.get)


def without_inputs(space, loss, part) -> Row:
    """The same distribution for all rows."""
    blind = replace(
        part, X_train=np.zeros((len(part.Y_train), 1)), X_test=np.zeros((len(part.Y_test), 1))
    )
    started, settings = time.process_time(), {"fit_intercept": True}
    model = fitted(space, 1e-5, settings, blind.X_train, blind.Y_train)
    under = model.problem_.judged_by(loss)
    probabilities = under.means(model.decision_function(blind.X_test))
    log_loss = -model.log_proba(blind.X_test, blind.Y_test)
    settings = {"kernel": "none"}
    title = "no inputs"
    return judged(
        title, model, loss, blind, log_loss, (under, probabilities), 1e-5, started, settings
    )


def minimizer(space, loss, part, kernel) -> Row:
    """ConditionalRiskMinimizer, its penalty by leave-one-out on the training rows."""
    started = time.process_time()
    model = ConditionalRiskMinimizer(space, loss, kernel=kernel).fit(part.X_train, part.Y_train)
    under = model.problem_
    probabilities, _ = under.mean_embedding(under.smooth(model.smoother_, part.X_test))
    unknown = np.full(len(part.Y_test), np.nan)
    title, settings = f"ConditionalRiskMinimizer, {kernel}", {"kernel": kernel}
    under = under, probabilities
    return judged(title, model, loss, part, unknown, under, model.alpha_, started, settings)


def judged(title, model, loss, part, log_loss, under, chosen, started, settings) -> Row:
    problem, means = under
    by_risk = model.predict(part.X_test, loss=loss)
    probable = model.predict(part.X_test, loss="zero_one")
    happened = problem.space.embed(problem.space.validate(part.Y_test))
    if problem.space.embedding == "pairs":  # signs
        means, happened = (1 + means) / 2, (1 + happened) / 2
    return Row(
        title, settings.get("kernel", "linear"), log_loss, loss(by_risk, part.Y_test),
        loss(probable, part.Y_test), (probable != part.Y_test).any(axis=1),
        means.clip(0, 1), happened, (chosen,), time.process_time() - started,
    )  # fmt: skip


# ------------------------------------------------------------------ tables and pictures
def show(name, loss_name, rows, figures):
    """The table of one task, its pictures, and where the exponential family loses."""
    print(f"   {'':44s} {'log-loss':>8s} {loss_name + ':':>9s} {'least risk':>16s} {'most':>9s}"
          f" {'wrong':>6s} {'ECE':>6s}   penalty, seconds")  # fmt: skip
    print(f"   {'':44s} {'':8s} {'':9s} {'':>16s} {'probable':>9s}")
    errors = draw(name, rows, figures)
    for row, error in zip(rows, errors):
        log_loss = row.log_loss.mean()
        log_loss = "–" if np.isnan(log_loss) else f"{log_loss:.3f}"
        chosen = f"{np.exp(np.mean(np.log(row.chosen))):.2g}"
        print(f"   {row.title:44s} {log_loss:>8s} {'':9s} {Figure.of(row.by_risk).text(4):>16s}"
              f" {row.probable.mean():9.4f} {row.wrong.mean():6.3f} {error:6.3f}"
              f"   {chosen:>8s} {row.seconds:6.1f}")  # fmt: skip
    compare(rows, loss_name)


def draw(name, rows, figures) -> list[float]:
    """Calibration of every row, drawn to a file if there is a folder; expected errors."""
    n_columns = 3
    n_lines = -(-len(rows) // n_columns)
    figure, panels = plt.subplots(
        n_lines, n_columns, figsize=(4.2 * n_columns, 4.2 * n_lines), layout="constrained",
        squeeze=False,
    )  # fmt: skip
    errors = []
    for row, ax in zip(rows, panels.flat):
        display = MarginalCalibrationDisplay.from_predictions(
            row.happened, row.probabilities, ax=ax
        )
        ax.set_title(row.title, fontsize="medium")
        errors.append(display.expected_error)
    for ax in panels.flat[len(rows) :]:
        ax.remove()
    if figures is not None:
        path = Path(figures) / f"calibration_{name}.png"
        figure.savefig(path, dpi=100)
        print(f"   drawn to {path}")
    plt.close(figure)
    return errors


def compare(rows, loss_name):
    """Losses of least risk beside ConditionalRiskMinimizer's with the same kernel, row by row."""
    peers = {row.kernel: row for row in rows if row.title.startswith("Conditional")}
    for row in rows:
        peer = peers.get(row.kernel)
        if peer is None or row is peer:
            continue
        apart = row.by_risk - peer.by_risk
        mean, error = apart.mean(), apart.std(ddof=1) / np.sqrt(len(apart))
        verdict = "even" if abs(mean) <= 2 * error else "LOSES" if mean > 0 else "wins"
        print(f"   {row.title:44s} {verdict} by {mean:+.4f} +- {error:.4f} of {loss_name}"
              " against ConditionalRiskMinimizer")  # fmt: skip
