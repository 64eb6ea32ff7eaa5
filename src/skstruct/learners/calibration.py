# SPDX-License-Identifier: BSD-3-Clause
"""Maps that bring probabilities and risks to what happened on rows that were left out."""

from typing import Any

import numpy as np
from scipy import special

from skstruct.saving import check_floats, savable
from skstruct.spaces import Marginals
from skstruct.tolerances import SURE

KNOTS = 200  # of a map: more would be noise, and take room in model files
LEAST = 1e-3  # probabilities closer to 0 and 1 than that are taken for as close
METHODS = ("auto", "logistic", "isotonic")
SLOPE = 1e-3  # of maps of probabilities, where they would be flat
KEPT = 10**6  # numbers of left-out marginals that a model keeps
MANY = 1000  # rows from which an isotonic map beats a logistic one


@savable
class MonotoneMap:
    """A piecewise linear map that does not fall.

    Parameters
    ----------
    at, value : arrays of shape (k,)
        Rising; below the first and above the last it is constant.
    """

    _saved_arguments = ("at", "value")

    def __init__(self, at: np.ndarray, value: np.ndarray) -> None:
        self.at, self.value = at, value

    def _check_saved(self) -> None:
        check_floats(self, ["at", "value"], 1)

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        return np.interp(numbers, self.at, self.value)


@savable
class LogisticMap:
    r"""Log odds of parts, :math:`a_j + b \, \mathrm{logit}\, p_j`, :math:`b \ge 0`; of parts that
    exclude each other, logarithms :math:`a_j + b \ln p_j`, which are made to sum to one.

    Parameters
    ----------
    shift : float, or array of shape (k,)
        a, for all parts or for each.
    slope : float
        b.
    one_of : int, default=0
        How many parts in a row exclude each other, one of which is there; 0 for none.
    doubt : float, default=0
        The share of any outcome that was not seen: no probability is 0 or 1.
    """

    _saved_arguments = ("shift", "slope", "one_of", "doubt")

    def __init__(self, shift: Any, slope: float, one_of: int = 0, doubt: float = 0.0) -> None:
        self.shift, self.slope, self.one_of, self.doubt = shift, slope, one_of, doubt

    def __call__(self, probabilities: np.ndarray) -> np.ndarray:
        p = np.reshape(probabilities, (-1, max(1, np.size(self.shift))))
        u = self.shift + self.slope * _log_odds(p, self.one_of)
        found = np.exp(_log_likelihoods(u, self.one_of)[0])
        found = (1.0 - self.doubt) * found + self.doubt / max(2, self.one_of)
        if self.one_of:
            shape = (-1, self.one_of)
            found = _with_likeliest(found.reshape(shape), p.reshape(shape).argmax(axis=1))
        return np.asarray(found.reshape(np.shape(probabilities)))


@savable
class IsotonicMap:
    """Probabilities of a logistic map, moved on by a rising one that is the same for all parts.

    Parameters
    ----------
    first : LogisticMap
    rising : MonotoneMap
    """

    _saved_arguments = ("first", "rising")

    def __init__(self, first: LogisticMap, rising: MonotoneMap) -> None:
        self.first, self.rising = first, rising

    def __call__(self, probabilities: np.ndarray) -> np.ndarray:
        found = self.rising(self.first(probabilities))
        if self.first.one_of:
            shares = found.reshape(-1, self.first.one_of)
            found = (shares / shares.sum(axis=1, keepdims=True)).reshape(found.shape)
        return found


def _log_odds(p: np.ndarray, one_of: int) -> Any:
    """Of parts by themselves; logarithms of those that exclude each other."""
    if one_of:
        return np.log(np.maximum(p, LEAST / one_of))
    return special.logit(np.clip(p, LEAST, 1.0 - LEAST))


def _log_likelihoods(u: np.ndarray, one_of: int) -> tuple[np.ndarray, np.ndarray | float]:
    """ln p of parts that are there, and of parts that are not, where these say more."""
    if not one_of:
        return special.log_expit(u), special.log_expit(-u)
    apart = u.reshape(-1, one_of)
    return (apart - special.logsumexp(apart, axis=1, keepdims=True)).reshape(u.shape), 0.0


def _with_likeliest(shares: np.ndarray, likeliest: np.ndarray) -> np.ndarray:
    """The nearest shares (m, k) in which no part is above the likeliest, by number (m,).

    Decisions are taken before shifts of the parts move their order: the class that is predicted
    stays the most probable one. It shares evenly with those that were above it, but for a hair.
    """
    moved = np.flatnonzero(shares.argmax(axis=1) != likeliest)
    top, some = likeliest[moved, None], shares[moved]
    own = np.take_along_axis(some, top, axis=1)
    np.put_along_axis(some, top, -np.inf, axis=1)
    falling = -np.sort(-some, axis=1)[:, :-1]
    sums = np.cumsum(np.hstack([own, falling]), axis=1)
    level = (sums / np.arange(1, sums.shape[1] + 1)).max(axis=1, keepdims=True)
    some = np.minimum(some, level)
    np.put_along_axis(some, top, level, axis=1)
    some *= 1.0 - SLOPE
    some[np.arange(len(some)), top[:, 0]] += SLOPE
    found = shares.copy()
    found[moved] = some
    return found


def excluding_parts(told: np.ndarray, happened: np.ndarray) -> int:
    """How many parts of the last axis exclude each other, one of which is there; 0 for none."""
    sums = [np.sum(part, axis=-1) for part in (told, happened)]
    one = all(np.allclose(total[np.isfinite(total)], 1.0) for total in sums)
    return int(np.shape(told)[-1]) if one else 0


def logistic_map(
    p: np.ndarray, happened: np.ndarray, weight: np.ndarray, one_of: int = 0
) -> LogisticMap:
    r"""The logistic map under which what happened is most likely, a shift for each part.

    One map for all parts would not do: estimates of means are nearer to each other than what is
    estimated, so that odds are to be spread, b > 1, and around the odds of each part: frequent ones
    would become too probable, rare ones too improbable. With :math:`\bar p_j` the mean estimate of
    a part,

    .. math:: a_j = c + d_j + (1 - b) \, \mathrm{logit}\, \bar p_j,

    and c, d and b - 1 have a standard normal prior, so that few rows change little.

    Parameters
    ----------
    p, happened : arrays of shape (m, k)
        Happened is from 0 to 1; NaN where it is not known.
    weight : array of shape (m,)
    one_of : int, default=0
        As of the map.
    """
    seen = np.isfinite(happened)
    each = np.where(seen, weight[:, None], 0.0)
    happened, total = np.where(seen, happened, 0.0), max(float(each.sum()), SURE)
    odds = _log_odds(p, one_of)
    usual = (each * p).sum(axis=0) / np.maximum(each.sum(axis=0), SURE)
    usual = _log_odds(usual, one_of)
    spread = odds - usual

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        u = usual + theta[:-2] + theta[-2] + theta[-1] * spread
        there, away = _log_likelihoods(u, one_of)
        miss = each * (np.exp(there) - happened)
        likely = each * (happened * there + (1.0 - happened) * away)
        slopes = np.concatenate([miss.sum(axis=0), [miss.sum(), (miss * spread).sum()]])
        away_from = theta - start
        value = away_from @ away_from / 2.0 - float(likely.sum())
        return value / total, (slopes + away_from) / total

    from scipy.optimize import minimize

    start = np.append(np.zeros(p.shape[1] + 1), 1.0)
    free = [(None, None)] * (p.shape[1] + 1)
    theta = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[*free, (0, None)]).x
    shift = theta[:-2] + theta[-2] + (1.0 - theta[-1]) * usual
    return LogisticMap(shift, float(theta[-1]), one_of, 1.0 / (total / max(1, one_of) + 1.0))


def refined(
    first: LogisticMap, p: np.ndarray, happened: np.ndarray, weight: np.ndarray
) -> IsotonicMap:
    """The isotonic map after a logistic one; arguments as of ``logistic_map``.

    What is least probable is taken to have happened once more than it did, and what is most
    probable once less: a part that was never there in a hundred rows may be there.
    """
    seen = np.isfinite(happened)
    moved, each = first(p)[seen], np.broadcast_to(weight[:, None], p.shape)[seen]
    given = np.concatenate([[moved.min()], moved, [moved.max()]])
    happened = np.concatenate([[1.0], happened[seen], [0.0]])
    rising = isotonic_map(given, happened, np.concatenate([[1.0], each, [1.0]]))
    return IsotonicMap(first, strictly(rising))


def isotonic_map(given: np.ndarray, happened: np.ndarray, weight: np.ndarray) -> MonotoneMap:
    """The rising map of least squared error, at ``KNOTS`` places at most.

    Parameters
    ----------
    given, happened, weight : arrays of shape (m,)
    """
    from sklearn.isotonic import IsotonicRegression

    rising = IsotonicRegression(out_of_bounds="clip").fit(given, happened, sample_weight=weight)
    at, value = rising.X_thresholds_, rising.y_thresholds_
    if len(at) > KNOTS:
        kept = np.unique(np.linspace(0, len(at) - 1, KNOTS).round().astype(np.int64))
        at, value = at[kept], value[kept]
    return MonotoneMap(np.asarray(at, np.float64), np.asarray(value, np.float64))


def strictly(rising: MonotoneMap) -> MonotoneMap:
    """A map of probabilities without steps, so that it tells apart what was told apart before."""
    at = np.concatenate([[0.0], rising.at, [1.0]])
    value = np.concatenate([rising.value[:1], rising.value, rising.value[-1:]])
    inner = np.append(np.diff(at) > 0, True)
    return MonotoneMap(at[inner], ((1.0 - SLOPE) * value + SLOPE * at)[inner])


@savable
class Calibration:
    """What left-out rows say of marginals and risks: maps that were fitted to both.

    Parameters
    ----------
    logistic, isotonic : maps of marginals, or None
    risks : map of estimated risks, or None
    n_rows : int
        How many rows they were fitted to.
    left, truth : float32 arrays of shape (m, k), or None
        Marginals of these rows before they were calibrated, and what happened; of some of them,
        where there are many.
    weight : array of shape (m,), or None
        Of these rows.
    parts : str or None
        Of which marginals are; those of other parts have no map.
    """

    _saved_arguments = (
        "logistic", "isotonic", "risks", "n_rows", "left", "truth", "weight", "parts",
    )  # fmt: skip

    def __init__(
        self,
        logistic: Any,
        isotonic: Any,
        risks: Any,
        n_rows: int,
        left: np.ndarray | None = None,
        truth: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        parts: str | None = None,
    ) -> None:
        self.logistic, self.isotonic, self.risks, self.n_rows = logistic, isotonic, risks, n_rows
        self.left, self.truth, self.weight, self.parts = left, truth, weight, parts

    def of_marginals(self, method: str | None, parts: str | None = None) -> Any:
        """The map of a method, or None."""
        if method is None or parts not in (None, self.parts):
            return None
        if method not in METHODS:
            raise ValueError(
                f"calibrated is one of {', '.join(map(repr, METHODS))} or None; got {method!r}."
            )
        if method == "auto":
            method = "isotonic" if self.n_rows >= MANY else "logistic"
        return getattr(self, method)


def fit_calibration(
    problem: Any, means: Any, outputs: np.ndarray, rows: Any, weight: Any
) -> Calibration:
    """Maps from means of rows that were left out, or kept apart, and their true outputs.

    Parameters
    ----------
    problem : RiskProblem
    means : what a smoother gives of the rows, these left out
    outputs : array of their true outputs in canonical form
    rows : numbers of the rows, or slice(None)
        By which constraints that differ from row to row are found.
    weight : array of shape (n,) or None
    """
    weight = np.ones(len(outputs)) if weight is None else np.asarray(weight, dtype=np.float64)
    n_rows = int(np.count_nonzero(weight))
    if isinstance(means, np.ndarray):
        kept = _evenly(len(outputs), KEPT // max(1, problem.width))
        means, outputs, weight = means[kept], outputs[kept], weight[kept]
        rows = kept if isinstance(rows, slice) else np.asarray(rows)[kept]
    logistic = isotonic = risks = left = happened = None
    parts = Marginals.of(problem.observations).parts()
    if parts and problem.recalibrates():
        told = problem.marginals(means, rows, parts[0])
        truth = problem.known_marginals(outputs, means, parts[0], rows)
        each = np.repeat(weight, [len(part) for part in told]) if isinstance(told, list) else weight
        told, truth = _joined(told), _joined(truth)
        one_of = excluding_parts(told, truth)
        p, y = (part.reshape(len(part), -1) for part in (told, truth))
        left, happened = _stacked(p), _stacked(y)
        if parts[0] == "pairs":  # one half is a pair that a ranking leaves open
            y = np.where(y == 0.5, np.nan, y)
        logistic = logistic_map(p, y, each, one_of)
        isotonic = refined(logistic, p, y, each)
    if problem.for_search() is problem:  # else decisions take long
        decoded = problem.decode(means, rows)
        losses = problem.judged_losses(decoded.outputs, outputs, rows)
        # What is known of an output costs less than all of it; NaN is an item that is not ranked.
        told_of = np.isfinite(losses) & _ranked(outputs)
        if problem.known is not None:
            told_of &= problem.known[rows].all(axis=1)
        if np.isfinite(decoded.values).all() and weight[told_of].sum() > 0:
            risks = isotonic_map(decoded.values[told_of], losses[told_of], weight[told_of])
    name = parts[0] if left is not None else None
    return Calibration(logistic, isotonic, risks, n_rows, left, happened, weight, name)


def _ranked(outputs: np.ndarray) -> np.ndarray:
    """Rows without NaN, which is an item that a ranking leaves out; shape (n,)."""
    return np.asarray(np.reshape(outputs == outputs, (len(outputs), -1)).all(axis=1))


def _evenly(n: int, most: int) -> np.ndarray:
    """Numbers of so many rows of n at most."""
    return np.linspace(0, n - 1, max(1, min(n, most))).astype(np.int64)


def _joined(marginals: Any) -> np.ndarray:
    """Rows of marginals, of positions where there is a list of these."""
    return np.concatenate(marginals) if isinstance(marginals, list) else np.asarray(marginals)


def _stacked(rows: np.ndarray) -> np.ndarray:
    """Some of the rows, evenly; float32 (m, k)."""
    kept: np.ndarray = rows[_evenly(len(rows), KEPT // max(1, rows.shape[1]))]
    return kept.astype(np.float32)
