# SPDX-License-Identifier: BSD-3-Clause
"""Choosing penalty and kernel by the structured loss on left-out rows."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from skstruct._arrays.foreign import on_host
from skstruct._arrays.progress import announce, track
from skstruct._arrays.rows import copied_rows, distinct
from skstruct.kernels import resolve_kernel
from skstruct.learners.checkpoints.saving import NOWHERE
from skstruct.learners.judging import FINALISTS, Judgement
from skstruct.learners.problem import search_targets_for, targets_for
from skstruct.saving import savable
from skstruct.smoothing import Learning, Penalties
from skstruct.smoothing.penalties import alpha_grid, smoother_alphas, squared_error
from skstruct.tolerances import SAME_RISK, TIE

MEASURES = ("alpha", "risk", "squared error")


@savable
@dataclass
class LeaveOutSearch:
    """What was tried: one entry per kernel, gamma and alpha, and the best of them.

    ``loss`` is the loss of the risks where another than that of the model stood in for it, because
    it is faster to decide; None where the risks are those of the model's own loss. ``constant`` is
    the risk of the best answer that is the same for all rows, where it is known.
    """

    trials: list[dict[str, Any]] = field(default_factory=list)
    best: Any = None  # the entry of least risk; None as long as nothing was tried
    loss: Any = None
    constant: float | None = None

    @property
    def no_better(self) -> str | None:
        """What is said of a model that is no better than one answer for all rows; None of others.

        >>> search = LeaveOutSearch.of_trials([{"alpha": 1.0, "risk": 0.5}])
        >>> search.constant = 0.4
        >>> print(search.no_better.partition(":")[0])
        On rows left out, the loss of the model is 0.5, and that of the best constant answer 0.4
        """
        constant = self.constant
        if constant is None or constant <= 0:
            return None
        risk = self.best["risk"]
        if risk < constant * (1.0 - SAME_RISK):
            return None
        return (
            f"On rows left out, the loss of the model is {risk:.4g}, and that of the best constant "
            f"answer {constant:.4g}: nothing was learned from the inputs."
        )

    @classmethod
    def of_trials(cls, trials: list[dict[str, Any]] | None) -> "LeaveOutSearch | None":
        """A search from its trials, or None where there was none."""
        if trials is None:
            return None
        search = cls()
        for trial in trials:
            search.add(trial)
        return search

    def add(self, trial: dict[str, Any]) -> bool:
        """Keep a trial; True when it is the best so far: by risk, then by squared error."""
        self.trials.append(trial)
        better = self.best is None or _is_better(trial, self.best)
        if better:
            self.best = trial
        return better

    def ties(self, risk: float) -> bool:
        """Whether a trial of this risk is just as good as the best so far."""
        return self.best is not None and abs(risk - self.best["risk"]) <= TIE

    def state(self) -> dict[str, Any]:
        """The numbers of all trials, for a search that is saved on the way."""
        trials = [{name: t[name] for name in MEASURES if name in t} for t in self.trials]
        return {"trials": trials, "best": [t is self.best for t in self.trials].index(True)}


def _is_better(trial: dict[str, Any], best: dict[str, Any]) -> Any:
    if abs(trial["risk"] - best["risk"]) > TIE:
        return trial["risk"] < best["risk"]
    return trial.get("squared error", 0.0) < best.get("squared error", 0.0)


def group_numbers(cv: Any, outputs: np.ndarray, groups: Any, X: Any = None) -> np.ndarray | None:
    """One group per row that is left out together, or None for each row by itself.

    Parameters
    ----------
    cv : None, "output", int or scikit-learn splitter
        Each row, together with copies of it, for None; all rows with the same output; so many
        contiguous blocks; the test sets of the splitter, or of a list of pairs (train, test).
    outputs : array
    groups : array or None
        Given by the user: overrides ``cv``, or goes to a splitter.
    X : array, sparse array or TokenBatch, default=None
        Inputs; None where they are not known, and every row is on its own.
    """
    n, groups = len(outputs), on_host(groups)
    check_groups(groups, n)
    if are_splits(cv):
        return _several(_test_sets(cv, outputs, groups))
    if groups is not None:
        return _several(np.unique(np.asarray(groups), return_inverse=True)[1].reshape(-1))
    if cv is None:
        return None if X is None else twins(X, outputs)
    if isinstance(cv, str) and cv == "output":
        return _several(distinct(outputs)[1])
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv needs at least 2 blocks; got {cv}.")
        return _several(np.arange(n) * min(int(cv), n) // n)
    raise ValueError(
        'cv is None for each row, "output", a number of contiguous blocks or a splitter; got '
        f"{cv!r}."
    )


def are_splits(cv: Any) -> bool:
    """Whether rows are told by number: a splitter, or a list of pairs (train, test)."""
    return (hasattr(cv, "split") or np.iterable(cv)) and not isinstance(cv, str)


def twins(X: Any, outputs: np.ndarray) -> np.ndarray | None:
    """A number for each row, the same for copies of one row; see ``copied_rows``.

    A row that is left out alone would be predicted by its copy: to follow every row would look
    right.
    """
    batch = hasattr(X, "tokens")
    return copied_rows(X.tokens if batch else X, outputs, starts=X.starts if batch else None)


def check_groups(groups: Any, n: int) -> None:
    """One entry for each row, or none at all."""
    if groups is not None and len(groups) != n:
        raise ValueError(f"groups has {len(groups)} entries for {n} rows.")


def _test_sets(splitter: Any, outputs: np.ndarray, groups: Any) -> np.ndarray:
    """The test set of each row; splitters that stratify see equal outputs as one class."""
    n = len(outputs)
    number = np.full(n, -1)
    splits = splitter  # pairs of training and test rows
    if hasattr(splitter, "split"):
        splits = splitter.split(np.zeros((n, 1)), distinct(outputs)[1], groups)
    for k, (_, test) in enumerate(splits):
        twice = test[number[test] >= 0]
        if len(twice):
            raise ValueError(f"Row {twice[0]} is in two test sets of the splitter.")
        number[test] = k
    if (number < 0).any():
        raise ValueError(f"Row {np.flatnonzero(number < 0)[0]} is in no test set of the splitter.")
    return number


def _several(number: np.ndarray) -> np.ndarray:
    if len(np.unique(number)) < 2:
        raise ValueError("All rows are in one group: leaving it out leaves nothing to learn from.")
    return number


def kernel_grid(kernel: Any, X: Any, sample_weight: Any) -> list[tuple[Any, Any]]:
    """Pairs of a kernel, as it was given, and a width to try; None for its default."""
    kernels = list(kernel) if isinstance(kernel, (list, tuple)) else [kernel]
    pairs = [
        (given, gamma)
        for given in kernels
        for gamma in resolve_kernel(given).widths(X, sample_weight)
    ]
    if not pairs:
        raise ValueError(f"Nothing to try: kernel is {kernel!r}.")
    return pairs


def choose(
    make_smoother: Callable[..., Any],
    pairs: list[Any],
    alpha: Any,
    problem: Any,
    X: Any,
    groups: Any,
    *,
    sample_weight: Any,
    memory: Any,
    verbose: int,
    level: Any = NOWHERE,
    fit: Callable[..., Any] | None = None,
) -> tuple[LeaveOutSearch, Any]:
    """Fit one smoother per kernel and gamma, and pick the alpha of least left-out loss.

    Alphas run from large to small, so that ties go to the smoother model, unless the problem
    has targets of which the left-out squared error decides.

    Parameters
    ----------
    make_smoother : callable (kernel, gamma, alpha) -> unfitted smoother
        Where its penalties are judged by some of the rows, the loss on these decides.
    level : Level
        Where a search that is saved goes on: trials are kept, and smoothers are fitted again.
    fit : callable (smoother, number of its pair) -> fitted smoother, default=None
        Where ``X`` are not all rows that are learned from.
    """
    judge, tie_targets = searched_by(problem), problem.tie_targets()
    search_loss = stand_in(judge, problem)
    judge = judge if fit else judge.alone()  # of fewer targets, where it stands in

    targets: dict[bool, Any] = {}  # the same array for all kernels: workers hold what was sent

    def fitted(number: int) -> Any:
        smoother = make_smoother(*pairs[number], np.inf)
        if fit is not None:
            return fit(smoother, number)
        thin = Learning.of(smoother).takes_sparse_targets
        if thin not in targets:
            targets[thin] = search_targets_for(smoother, judge)
        return smoother.fit(X, targets[thin], sample_weight)

    search, of_pair, chosen = _stopped_search(level, pairs)  # chosen: the pair of the best trial
    search.loss = search_loss
    judged: dict[int, Judgement] = {}
    first, winner = level.found.get("n_done", 0), None  # the smoother of that pair
    for number, (kernel, gamma) in enumerate(
        track(pairs, "kernels", verbose) if len(pairs) > 1 else pairs
    ):
        if number < first:
            continue
        smoother = fitted(number)
        winner = smoother if number == chosen else winner  # of a search that goes on
        alphas = alpha_grid(alpha, partial(smoother_alphas, smoother))[of_pair.count(number) :]
        n_trials = len(pairs) * max(1, len(alphas))
        judgement = judged[number] = Judgement(judge, smoother, sample_weight, memory, n_trials)
        paths = Penalties.of(smoother).left_out(alphas, groups)
        for value in track(alphas.tolist(), "alphas", verbose):
            risk = judgement.risk(next(paths))
            trial = {"kernel": kernel, "gamma": gamma, "alpha": value, "risk": risk}
            if tie_targets is not None and search.ties(risk):
                if winner is None:
                    winner = smoother if chosen == number else fitted(chosen)
                _tell_apart(search.best, winner, tie_targets, groups, sample_weight)
                _tell_apart(trial, smoother, tie_targets, groups, sample_weight)
            of_pair.append(number)
            if search.add(trial):
                winner, chosen = smoother, number
            level.reached(search=search, of_pair=of_pair, chosen=chosen, n_done=number)
    winner = fitted(chosen) if winner is None else winner
    if any(judgement.by_some for judgement in judged.values()):
        if chosen in judged and judged[chosen].drawn is not None:
            Penalties.of(winner).judge_by(judged[chosen].drawn)
        best = [t for t, number in zip(search.trials, of_pair) if number == chosen]
        _compare_finalists(search, best, winner, groups, judge, sample_weight, memory)
    if problem.by_weights or (fit is None and judge is not problem):
        winner = winner.with_targets(targets_for(winner, problem))
    return search, winner.with_alpha(search.best["alpha"])


def _compare_finalists(
    search: LeaveOutSearch,
    trials: list[dict[str, Any]],
    smoother: Any,
    groups: Any,
    judge: Any,
    sample_weight: Any,
    memory: Any,
) -> None:
    """The best few penalties of a kernel once more, by more rows."""
    finalists = sorted(trials, key=lambda trial: trial["risk"])[:FINALISTS]
    judgement = Judgement(judge, smoother, sample_weight, memory, len(finalists))
    alphas = [trial["alpha"] for trial in finalists]
    for trial, left in zip(finalists, Penalties.of(smoother).left_out(alphas, groups)):
        trial["risk"] = judgement.risk(left)
    announce(f"The best {len(finalists)} penalties are compared by {judgement.n_rows:,} rows.")
    search.best = min(finalists, key=lambda trial: (trial["risk"], -trial["alpha"]))


def searched_by(problem: Any) -> Any:
    """The problem that compares penalties; it is announced where it is another."""
    judge = problem.for_search()
    loss = stand_in(judge, problem)
    if loss is not None:
        announce(
            f"Penalties are compared by {loss!r}, which is faster to decide than {problem.loss!r}."
        )
    return judge


def stand_in(judge: Any, problem: Any) -> Any:
    """The loss that stands in for that of a problem, as it was before it met a space, or None."""
    return None if judge is problem else clone(judge.loss)


def _stopped_search(level: Any, pairs: list[Any]) -> tuple[LeaveOutSearch, list[int], Any]:
    """What a search had come to: trials, the pair of each, and the pair of the best."""
    search, stopped = LeaveOutSearch(), level.found
    if not stopped:
        return search, [], None
    for number, measures in zip(stopped["of_pair"], stopped["search"]["trials"]):
        kernel, gamma = pairs[number]
        search.trials.append({"kernel": kernel, "gamma": gamma, **measures})
    search.best = search.trials[stopped["search"]["best"]]
    return search, list(stopped["of_pair"]), stopped["chosen"]


def _tell_apart(
    trial: dict[str, Any], smoother: Any, targets: np.ndarray, groups: Any, sample_weight: Any
) -> None:
    """Measure the squared error of a trial, where that was not done before."""
    if "squared error" not in trial:
        path = Penalties.of(smoother.with_targets(targets))
        left, numbers = next(path.left_out([trial["alpha"]], groups)), path.judged
        if numbers is not None:
            targets = targets[numbers]
            sample_weight = None if sample_weight is None else sample_weight[numbers]
        trial["squared error"] = squared_error(left, targets, sample_weight)
