# SPDX-License-Identifier: BSD-3-Clause
"""Choosing the radius of sample compression by cross-validation."""

from typing import Any

import numpy as np
from sklearn.base import clone

from skstruct._arrays.progress import track
from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.learners.output_kernel.folds import fold_losses, fold_part, splitter

N_RADII = 20


def choose_radius(
    smoothers: list[Any],
    pairs: list[Any],
    radius: Any,
    problem: Any,
    X: Any,
    *,
    groups: Any,
    cv: int,
    memory: Any,
    verbose: int,
    random_state: Any,
    level: Any = NOWHERE,
) -> tuple[LeaveOutSearch | None, Any]:
    """Fit the smoother and radius of least loss on held-out rows.

    A is close to (K + c I)^-1 for some c, with an entry of up to 1 / c on the diagonal of each
    row: the sum of their squares grows like m, and a radius for m rows is sqrt(m' / m) times
    as large for m' of them. Ties go to the smaller squared error on held-out rows.

    Parameters
    ----------
    smoothers, pairs : lists of SampleCompression, and of the kernel and gamma of each
    radius : float, several or None
    level : Level
        Where a search that is saved goes on, fold by fold.

    Returns
    -------
    LeaveOutSearch or None, fitted SampleCompression
    """
    gram, number = problem.output_gram()
    m = len(number)
    if radius is not None and np.ndim(radius) == 0 and len(smoothers) == 1:
        smoother = smoothers[0].set_params(radius=radius)
        return None, smoother.fit(X, problem.targets(), output_gram=gram, number=number)
    if m < 2:
        given = 1.0 if radius is None else float(np.max(radius))
        return None, smoothers[0].set_params(radius=given).fit(X, problem.targets(), gram, number)
    ties, q = problem.tie_targets(), problem.search_targets().shape[1]
    targets = np.hstack([problem.search_targets(), ties])
    whole = [smoother.fit(X, targets, gram, number) for smoother in smoothers]
    radii = [_grid(radius, smoother) for smoother in whole]
    splits = list(splitter(cv, groups, m, random_state).split(np.zeros((m, 1)), None, groups))
    measured = [np.empty((len(tried), 2, m)) for tried in radii]  # losses and squared errors
    measured = level.found.get("measured", measured)
    for n_done, (train, test) in enumerate(track(splits, "folds", verbose), 1):
        if n_done <= level.found.get("n_done", 0):
            continue
        for smoother, tried, measures in zip(smoothers, radii, measured):
            fold = clone(smoother).fit(
                fold_part(X, train, train, smoother), targets[train], gram, number[train]
            )
            left_out = fold_part(X, test, train, smoother)
            for value, row in zip(tried, measures):
                means = fold.with_radius(value * np.sqrt(len(train) / m)).predict(left_out)
                row[0, test] = fold_losses(problem, means[:, :q], test, memory)
                row[1, test] = ((means[:, q:] - ties[test]) ** 2).sum(axis=1)
        level.reached(measured=measured, n_done=n_done)
    search = LeaveOutSearch()
    for smoother, (kernel, gamma), tried, measures in zip(whole, pairs, radii, measured):
        for value, (risk, error) in zip(tried.tolist(), measures.mean(axis=2)):
            trial = {"kernel": kernel, "gamma": gamma, "radius": value}
            if search.add(trial | {"risk": float(risk), "squared error": float(error)}):
                winner = smoother
    assert search.best is not None
    return search, winner.with_radius(search.best["radius"]).with_targets(problem.targets())


def _grid(radius: list[float] | None, smoother: Any) -> np.ndarray:
    """The radii to try: from almost nothing to where the bound no longer binds."""
    if radius is not None:
        radii = np.unique([] if isinstance(radius, str) else np.asarray(radius, dtype=np.float64))
        if not len(radii) or not (np.isfinite(radii) & (radii >= 0)).all():
            raise ValueError(f"radius is a number of at least 0, or several; got {radius!r}.")
        return radii
    system = smoother.system_
    if not len(system.e_) or not len(system.k_):
        return np.array([1.0])
    top = float(system.e_.max() * system.k_.max() ** 2) / len(system.U_)
    betas = top * np.logspace(2, -10, N_RADII)
    return np.sqrt([system.square_norm(beta)[0] for beta in betas])
