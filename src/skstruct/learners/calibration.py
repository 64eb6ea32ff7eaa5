# SPDX-License-Identifier: BSD-3-Clause
"""Maps that bring probabilities and risks to what happened on rows that were left out."""

from typing import Any

import numpy as np
from scipy import special

from skstruct.saving import check_floats, savable
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
        found: np.ndarray = np.interp(numbers, self.at, self.value)
        return found


@savable
class LogisticMap:
    r"""Probabilities :math:`\sigma(a + b \, \mathrm{logit}\, p)`, :math:`b \ge 0`.

    Parameters
    ----------
    shift, slope : float
        a and b.
    """

    _saved_arguments = ("shift", "slope")

    def __init__(self, shift: float, slope: float) -> None:
        self.shift, self.slope = shift, slope

    def __call__(self, probabilities: np.ndarray) -> np.ndarray:
        found: np.ndarray = special.expit(self.shift + self.slope * _log_odds(probabilities))
        return found


def _log_odds(probabilities: np.ndarray) -> Any:
    return special.logit(np.clip(probabilities, LEAST, 1.0 - LEAST))


def logistic_map(p: np.ndarray, happened: np.ndarray, weight: np.ndarray) -> LogisticMap:
    """The logistic map under which what happened is most likely, with targets of Platt: one
    more of either kind, so that few rows do not make it too sure.

    Parameters
    ----------
    p, happened, weight : arrays of shape (m,)
        Happened is from 0 to 1: of pairs that were left open, one half.
    """
    odds, total = _log_odds(p), max(float(weight.sum()), SURE)
    n_happened = float(weight @ happened)
    least, most = 1.0 / (total - n_happened + 2.0), (n_happened + 1.0) / (n_happened + 2.0)
    happened = least + (most - least) * happened

    def loss(ab: np.ndarray) -> tuple[float, np.ndarray]:
        u = ab[0] + ab[1] * odds
        likely = happened * special.log_expit(u) + (1.0 - happened) * special.log_expit(-u)
        miss = weight * (special.expit(u) - happened) / total
        return -float(weight @ likely) / total, np.array([miss.sum(), miss @ odds])

    from scipy.optimize import minimize

    found = minimize(
        loss, [0.0, 1.0], jac=True, method="L-BFGS-B", bounds=[(None, None), (0, None)]
    )
    return LogisticMap(float(found.x[0]), float(found.x[1]))


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
    parts = problem.observations.marginal_parts()
    if parts and problem.recalibrates():
        told = problem.marginals(means, rows, parts[0])
        truth = problem.known_marginals(outputs, means, parts[0], rows)
        each = np.repeat(weight, [np.size(part) for part in told])
        p, y = (np.concatenate([np.ravel(part) for part in found]) for found in (told, truth))
        # Of outputs that are known in part; and one half is a pair that a ranking leaves open.
        seen = np.isfinite(y) & ((y != 0.5) | (parts[0] != "pairs"))
        p, y, each = p[seen], y[seen], each[seen]
        logistic, isotonic = logistic_map(p, y, each), strictly(isotonic_map(p, y, each))
        left, happened = _stacked(told), _stacked(truth)
    if problem.for_search() is problem:  # else decisions take long
        decoded = problem.decode(means, rows)
        losses = problem.judged_losses(decoded.outputs, outputs, rows)
        told_of = np.isfinite(losses)
        if np.isfinite(decoded.values).all() and weight[told_of].sum() > 0:
            risks = isotonic_map(decoded.values[told_of], losses[told_of], weight[told_of])
    name = parts[0] if left is not None else None
    return Calibration(logistic, isotonic, risks, n_rows, left, happened, weight, name)


def _evenly(n: int, most: int) -> np.ndarray:
    """Numbers of so many rows of n at most."""
    numbers: np.ndarray = np.linspace(0, n - 1, max(1, min(n, most))).astype(np.int64)
    return numbers


def _stacked(marginals: Any) -> np.ndarray:
    """Rows of marginals, of positions where there is a list of these; float32 (m, k)."""
    rows = np.concatenate(marginals) if isinstance(marginals, list) else np.asarray(marginals)
    rows = rows.reshape(len(rows), -1)
    kept: np.ndarray = rows[_evenly(len(rows), KEPT // max(1, rows.shape[1]))]
    return kept.astype(np.float32)
