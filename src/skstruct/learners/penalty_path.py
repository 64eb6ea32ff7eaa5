# SPDX-License-Identifier: BSD-3-Clause
r"""Penalties chosen on left-out rows, along a path from strong to weak.

A learner brings a :class:`PenaltyPath`: how it is trained on some rows at one penalty, begun
where training at the penalty before has ended, and the losses of other rows. What is shared is
here: which penalties are tried, which rows are left out, when a path ends, which penalty is
taken.

* Penalties go by half decades from one at which weights hardly differ from zero, told by the
  scale of the data, so that inputs in other units are no other problem.
* Up to a thousand rows are left out in five folds, of more a fifth is left out once. Copies of
  a row are left out together, and folds depend on what rows hold, not on their order or number.
* A path goes to its end: losses of decisions may fall, rise and fall again. Where weights are so
  small that all rows have nearly one answer, some weights may be worse than none.
* The least mean left-out loss wins, and of equal ones the strongest penalty.
* Where one answer for all rows, the best for those of training, has no larger loss, ``fit`` says
  so. That answer is no candidate itself: no penalty stands for it, since weights near zero give
  what is best for the margin or likelihood that is trained, not what has the least loss.
  Likelihoods are not held against that of one distribution for all rows.

Where a learner knows a penalty that is usually good, and compares likelihoods, which fall and rise
once, the search begins there, and goes on to weaker ones as long as that helps, or else to stronger
ones.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import is_number, repeatable
from skstruct._arrays.methods import warn_caller
from skstruct._arrays.progress import announce, track
from skstruct.learners.leave_out import LeaveOutSearch, twins
from skstruct.learners.tokens import TokenBatch
from skstruct.smoothing.folds import projected

N_FOLDS, MANY_ROWS = 5, 1000  # of more rows than these a fifth is left out, and once only
DECADES, PER_DECADE = 5, 2
LEAST_SPREAD = 1e-4  # share of inputs that vary: with less, the path is no longer
WITHOUT_SEARCH = 0.01  # of the strongest penalty, where no rows can be left out
LOOSER = 5.0  # times the tolerance of training, along the path
WORSE_IN_A_ROW = 2
STRONGER, WEAKER = 4, 4  # decades around a penalty that is usually good

Fold = tuple[np.ndarray, np.ndarray]  # rows to train on, rows to judge by


class PenaltyPath(Protocol):
    """What the choice of a penalty needs to know of a learner."""

    def scale(self) -> tuple[float, float]:
        """The penalty at which weights hardly differ from zero, and the spread of the inputs."""

    def fit_at(self, alpha: float, rows: np.ndarray, start: Any) -> tuple[Any, Any]:
        """What was learned of some rows, and what the next weaker penalty begins with."""

    def left_out_losses(self, fitted: Any, rows: np.ndarray) -> np.ndarray:
        """Losses of other rows (n,); NaN for a row that says nothing."""

    def constant_risk(self) -> float | None:
        """Mean loss of the best answer that is the same for all rows; None where nobody knows."""


def check_alpha(alpha: Any) -> None:
    """Raise unless alpha is "auto", a positive number, or several."""
    if isinstance(alpha, str):
        if alpha != "auto":
            raise ValueError(f'alpha is a positive number, several, or "auto"; got {alpha!r}.')
        return
    values = np.asarray(alpha)
    numbers = values.dtype.kind in "fiu" and values.size > 0 and values.ndim <= 1
    if not numbers or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(
            f'alpha is a positive and finite number, several, or "auto"; got {alpha!r}.'
        )


def is_given(alpha: Any) -> bool:
    """Whether alpha is one number, so that there is nothing to choose."""
    return is_number(alpha) or (not isinstance(alpha, str) and np.ndim(alpha) == 0)


def penalty_grid(alpha: Any, top: float, spread: float = 1.0) -> np.ndarray:
    """The penalties to try, strongest first.

    Parameters
    ----------
    alpha : "auto" or several numbers
    top : float
        At which weights hardly differ from zero.
    spread : float
        Share of the inputs' mean square that is not the same in all rows: where it is small, what
        matters comes at weaker penalties.

    >>> penalty_grid([0.1, 10.0, 1.0], 5.0)
    array([10. ,  1. ,  0.1])
    >>> penalty_grid("auto", 1.0)[[0, 1, 2, -1]].round(5)
    array([1.0000e+00, 3.1623e-01, 1.0000e-01, 1.0000e-05])
    """
    if not isinstance(alpha, str):
        return np.unique(np.asarray(alpha, dtype=np.float64))[::-1]
    more = -np.log10(np.clip(spread, LEAST_SPREAD, 1.0))
    n_steps = int(np.ceil(PER_DECADE * (DECADES + more)))
    return strongest(top) * 10.0 ** (-np.arange(n_steps + 1) / PER_DECADE)


def strongest(top: float) -> float:
    """The strongest penalty, where the data tell one."""
    return float(top) if np.isfinite(top) and top > 0 else 1.0


def mean_square(X: Any, weight: np.ndarray) -> tuple[float, float]:
    """Mean of :math:`|x|^2` over rows, and which share of it is not that of their mean.

    >>> np.round(mean_square(np.array([[3.0, 0.0], [3.0, 4.0]]), np.ones(2)), 3).tolist()
    [17.0, 0.235]
    """
    share = weight / weight.sum()
    if sparse.issparse(X):
        total = float((share @ X.multiply(X)).sum())
    else:
        total = float(share @ np.einsum("np,np->n", X, X))  # without a table of squares
    mean = np.asarray(share @ X).ravel()
    return total, 1.0 - float((mean**2).sum()) / total if total > 0 else 1.0


def split_rows(
    outputs: np.ndarray,
    weight: np.ndarray,
    random_state: Any,
    X: Any = None,
    many: int = MANY_ROWS,
    most: int | None = None,
) -> list[Fold]:
    """Folds of the rows that have weight, copies together; none where there are too few.

    Rows are shuffled by ``random_state``, and always in the same way where that is None. They come
    in the order of what they hold: the folds of rows in another order, or of copies in place of
    weights, are the same.

    Parameters
    ----------
    X : array, sparse array or TokenBatch, default=None
        Tells copies apart; None where every row is on its own.
    many : int
        Of more rows a fifth is left out, and once only.
    most : int, default=None
        How many rows are left out then, where a fifth is more.
    """
    rows = np.flatnonzero(weight)
    if len(rows) < N_FOLDS or _all_equal(outputs[rows]):
        return []
    group = np.arange(len(rows))
    if X is not None:
        rows = rows[_content_order(rows_of(X, rows), outputs[rows])]
        same = twins(rows_of(X, rows), outputs[rows])
        group = group if same is None else same
    n_groups = int(group.max()) + 1
    if n_groups < N_FOLDS:
        return []
    place = np.random.default_rng(repeatable(random_state)).permutation(n_groups)[group]
    fold = place % N_FOLDS
    if n_groups > many:
        left = fold == 0 if most is None else (fold == 0) & (place < N_FOLDS * most)
        return [(rows[~left], rows[left])]
    return [(rows[fold != k], rows[fold == k]) for k in range(N_FOLDS)]


def _content_order(X: Any, outputs: np.ndarray) -> np.ndarray:
    """The order of rows by their inputs, and by outputs among equal ones; as they are for names."""
    values = X.tokens if isinstance(X, TokenBatch) else X
    if values.dtype.kind not in "fiub":
        return np.arange(len(outputs))
    key = projected(values)
    if isinstance(X, TokenBatch):  # a sum in which places count
        place = np.arange(len(key)) - X.starts[X.sequence]
        key = np.bincount(X.sequence, key * np.sqrt(1.0 + place), minlength=len(outputs))
    return np.lexsort((projected(outputs.reshape(len(outputs), -1)), key))


def without_copies(X: Any, outputs: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weights of rows, where one of several copies has the weight of all and the others none.

    Copies take part in training alike; what is trained for a comparison need not see them all.

    >>> X, y = np.array([[0.1], [0.1], [0.2]]), np.array([1, 1, 0])
    >>> without_copies(X, y, np.array([1.0, 3.0, 1.0]))
    array([4., 0., 1.])
    """
    rows = np.flatnonzero(weight)
    same = None if X is None else twins(rows_of(X, rows), outputs[rows])
    if same is None:
        return weight
    gathered = np.zeros(len(weight))
    gathered[rows[np.unique(same, return_index=True)[1]]] = np.bincount(same, weight[rows])
    return gathered


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Some rows, which are sequences where X is a TokenBatch."""
    if not isinstance(X, TokenBatch):
        return X[rows]
    lengths = np.diff(X.starts)[rows]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    shift = np.repeat(X.starts[:-1][rows] - starts[:-1], lengths)
    return TokenBatch(X.tokens[np.arange(starts[-1]) + shift], starts)


def _all_equal(outputs: np.ndarray) -> bool:
    same = (outputs == outputs[:1]) | ((outputs != outputs) & (outputs[:1] != outputs[:1]))
    return bool(np.all(same))


class _Trials:
    """Penalties that were tried, and how the next one compares with the best so far."""

    def __init__(self, path: PenaltyPath, folds: list[Fold], weight: np.ndarray) -> None:
        self.path, self.folds, self.search = path, folds, LeaveOutSearch()
        self.share = weight[np.concatenate([left for _, left in folds])]
        self.best = np.zeros(0)  # losses of the left-out rows

    def add(self, alpha: float, starts: list[Any]) -> tuple[str, list[Any]]:
        """How a penalty compares with the best so far, and what the next one begins with.

        It is "better", "worse" by more than the standard error, or "equal".
        """
        losses, ends = [], []
        for (rows, left), start in zip(self.folds, starts):
            fitted, end = self.path.fit_at(alpha, rows, start)
            losses.append(self.path.left_out_losses(fitted, left))
            ends.append(end)
        here = np.concatenate(losses)
        risk, error = weighted_mean(here, self.share)
        if self.search.add({"alpha": alpha, "risk": risk, "standard error": error}):
            self.best = here
            return "better", ends
        behind, error = weighted_mean(here - self.best, self.share)
        return "worse" if behind > error else "equal", ends


def follow_path(
    path: PenaltyPath, alphas: np.ndarray, folds: list[Fold], weight: np.ndarray, verbose: int = 0
) -> LeaveOutSearch:
    """Train along the path on every fold, from the first penalty to the last."""
    trials, starts = _Trials(path, folds, weight), [None] * len(folds)
    for alpha in track(alphas.tolist(), "alphas", verbose):
        _, starts = trials.add(alpha, starts)
    return trials.search


def search_around(
    path: PenaltyPath, usual: float, folds: list[Fold], weight: np.ndarray
) -> LeaveOutSearch:
    """Train at a usual penalty, then by half decades at weaker ones, or at stronger ones.

    A direction ends with the first penalty that is worse, or the second that is not better. The
    stronger ones are left out where weaker ones were better: losses fall, then rise.
    """
    trials = _Trials(path, folds, weight)
    _, begun = trials.add(usual, [None] * len(folds))
    for decades in (-WEAKER, STRONGER):
        starts, n_behind = begun, 0
        for step in range(1, abs(decades) * PER_DECADE + 1):
            alpha = usual * 10.0 ** (np.sign(decades) * step / PER_DECADE)
            verdict, starts = trials.add(float(alpha), starts)
            n_behind = 0 if verdict == "better" else n_behind + 1
            if verdict == "worse" or n_behind == WORSE_IN_A_ROW:
                break
        best = trials.search.best
        if best is not None and best["alpha"] < usual:
            break
    found = LeaveOutSearch.of_trials(sorted(trials.search.trials, key=lambda t: -t["alpha"]))
    assert found is not None
    return found


def weighted_mean(losses: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Mean and standard error over the rows that say something.

    >>> losses, weight = np.array([0.0, 1.0, np.nan, 1.0]), np.array([2.0, 1.0, 5.0, 1.0])
    >>> np.round(weighted_mean(losses, weight), 3).tolist()
    [0.5, 0.306]
    """
    told = ~np.isnan(losses)
    values, weight = losses[told], weight[told]
    total = weight.sum()
    if not total > 0:
        return 0.0, 0.0
    mean = float(weight @ values / total)
    return mean, float(np.sqrt((weight**2) @ (values - mean) ** 2) / total)


def choose_alpha(
    alpha: Any,
    path: PenaltyPath,
    folds: Callable[[], list[Fold]],
    weight: np.ndarray,
    verbose: int = 0,
    usual: float | None = None,
) -> tuple[float, LeaveOutSearch | None]:
    """The penalty to train with, and how it was found; None where nothing was searched.

    Parameters
    ----------
    alpha : float, several, or "auto"
    path : PenaltyPath
    folds : callable -> rows to train on and rows to judge by
    weight : array of shape (n,)
        Of the rows.
    usual : float, default=None
        A penalty that is usually good, at which the search of "auto" begins.
    """
    if is_given(alpha):
        return float(alpha), None
    if usual is not None and isinstance(alpha, str):
        return _around_usual(path, usual, folds(), weight)
    top, spread = path.scale()
    alphas, parts = penalty_grid(alpha, top, spread), folds()
    if len(alphas) == 1:
        return float(alphas[0]), None
    if not parts:
        fixed = WITHOUT_SEARCH * strongest(top)
        nearest = alphas[np.argmin(np.abs(np.log(alphas / fixed)))]
        announce(f"Too few rows, or outputs, to leave any out: alpha is {nearest:.3g}.")
        return float(nearest), None
    announce(f"alpha: {len(alphas)} penalties on {len(parts)} split(s) of the rows")
    search = follow_path(path, alphas, parts, weight, verbose)
    assert search.best is not None
    search.constant = path.constant_risk()
    if search.no_better:
        warn_caller(f"{search.no_better} Try another kernel, or other inputs.")
    return float(search.best["alpha"]), search


def _around_usual(
    path: PenaltyPath, usual: float, parts: list[Fold], weight: np.ndarray
) -> tuple[float, LeaveOutSearch | None]:
    if not parts:
        announce(f"Too few rows, or outputs, to leave any out: alpha is {usual:.3g}.")
        return usual, None
    announce(f"alpha: penalties around {usual:.3g} on {len(parts)} split(s) of the rows")
    search = search_around(path, usual, parts, weight)
    assert search.best is not None
    return float(search.best["alpha"]), search


def chosen_once(
    level: Any, choose: Callable[[], tuple[float, LeaveOutSearch | None]]
) -> tuple[float, LeaveOutSearch | None]:
    """What was chosen, also before a fit was stopped that now goes on at ``level``."""
    if found := level.found.get("alpha"):
        alpha, search = found, LeaveOutSearch.of_trials(level.found["trials"])
        if search is not None:
            search.constant = level.found.get("constant")
    else:
        alpha, search = choose()
    told = {} if search is None else {"trials": search.trials, "constant": search.constant}
    level.keep(alpha=alpha, **{"trials": None, "constant": None, **told})
    return alpha, search
