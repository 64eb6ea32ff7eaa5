# SPDX-License-Identifier: BSD-3-Clause
"""What all calibrated predictors share: rows, groups and weights, and how they are checked."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import _num_samples

from skstruct._arrays.checks import is_number
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.methods import warn_caller
from skstruct.fitted import Fitted
from skstruct.learners.whole_rows import whole_rows
from skstruct.losses.observed import check_outputs_observed

ROWS = (
    "It rests on calibration rows that the learner has not seen and that are exchangeable with "
    "new rows"
)
ALL = "all rows"  # the one group where none are given


@dataclass(frozen=True)
class Rows:
    """Rows by group, with weights."""

    names: list[Any]  # of the groups
    numbers: np.ndarray  # shape: (n,); the group of every row
    weights: np.ndarray  # shape: (n,)

    def by_group(self) -> Iterable[tuple[Any, np.ndarray]]:
        """Names of the groups, each with the numbers of its rows."""
        for g, name in enumerate(self.names):
            yield name, np.flatnonzero(self.numbers == g)


class Calibrated(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A fitted learner, with thresholds that were calibrated on other rows.

    A clone has the same learner, fitted as it is, and is not calibrated.
    """

    learner: Any
    level: float
    calibrate: Any  # of every child
    groups_: list[Any] | None
    thresholds_: np.ndarray  # one per group
    curves_: list[Any]  # likewise, where thresholds depend on weights
    n_left_out_: int  # calibration rows of which parts are missing

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))

    def fit(self, X: Any, y: Any, **rows: Any) -> Self:
        """The same as ``calibrate``, for what calls estimators by scikit-learn's names."""
        return self.calibrate(X, y, **rows)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "groups_")

    def _space(self) -> Any:
        """The space of the fitted learner."""
        space = Fitted.of(self.learner).space
        if space is None:
            raise NotFittedError(
                f"{type(self).__name__}: the learner is not fitted; call its fit first."
            )
        check_outputs_observed(self.learner, type(self).__name__)
        return space

    def _whole_rows(self, X: Any, y: Any, *others: Any) -> tuple[Any, ...]:
        """Calibration rows of which all parts were looked at; counts those that are left out."""
        kept = whole_rows(type(self).__name__, self._space(), X, y, *others)
        self.n_left_out_ = _num_samples(X) - _num_samples(kept[0])
        return kept

    def _left_out(self) -> str:
        """What a promise adds where rows were left out."""
        if not self.n_left_out_:
            return ""
        n = self.n_left_out_ + self.n_calibration_
        return (
            f" {self.n_left_out_:,} of {n:,} calibration rows were left out, since parts of their "
            "outputs are missing: all this is about rows like the others, and about all new rows "
            "only if what is missing has nothing to do with inputs and outputs."
        )

    def _each(self) -> str:
        """What a promise of probability adds where there are groups."""
        return "" if self.groups_ is None else ", for each group by itself and not for all at once"

    def _check_calibrated(self) -> None:
        if not hasattr(self, "groups_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not calibrated yet. Call 'calibrate' "
                "with rows that the learner has not seen."
            )

    def _check_level(self) -> float:
        if not is_number(self.level) or not 0 <= float(self.level) <= 1:
            raise ValueError(
                f"{type(self).__name__}: level is a number from 0 to 1; got {self.level!r}."
            )
        return float(self.level)

    def _read_rows(self, n: int, groups: Any, sample_weight: Any) -> Rows:
        """Calibration rows; learns the names of the groups."""
        used_by = type(self).__name__
        if n == 0:
            raise ValueError(f"{used_by}: there are no calibration rows.")
        names = [ALL] * n if groups is None else _group_names(groups, n, used_by)
        distinct = list(dict.fromkeys(names))
        number = {name: g for g, name in enumerate(distinct)}
        numbers = np.array([number[name] for name in names])
        return Rows(distinct, numbers, _weights(sample_weight, n, used_by, "sample_weight"))

    def _keep_groups(self, rows: Rows, groups: Any, sample_weight: Any) -> None:
        self.groups_ = None if groups is None else list(rows.names)
        self.weighted_ = sample_weight is not None
        self.n_calibration_ = len(rows.numbers)

    def _new_rows(self, n: int, groups: Any, weights: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Of new rows: numbers of their groups, and their weights."""
        used_by = type(self).__name__
        if (groups is None) != (self.groups_ is None):
            was, now = ("without", "leave out") if self.groups_ is None else ("with", "give")
            raise ValueError(f"{used_by}: calibrated {was} groups; {now} groups of new rows.")
        if (weights is None) != (not self.weighted_):
            was = "with" if self.weighted_ else "without"
            raise ValueError(
                f"{used_by}: calibrated {was} sample_weight; new rows have weights if, and only "
                "if, calibration rows have."
            )
        weights = _weights(weights, n, used_by, "weights")
        if groups is None:
            return np.zeros(n, np.int64), weights
        number = {name: g for g, name in enumerate(self.groups_ or [])}
        names = _group_names(groups, n, used_by)
        unknown = [i for i, name in enumerate(names) if name not in number]
        if unknown:
            raise ValueError(
                f"{used_by}: row {unknown[0]} is of group {names[unknown[0]]!r}, of which there "
                f"was no calibration row; known groups are {self.groups_!r:.80}."
            )
        return np.array([number[name] for name in names]), weights

    def _row_thresholds(self, n: int, groups: Any, weights: Any = None) -> np.ndarray:
        """The thresholds of n new rows; shape (n,)."""
        numbers, new_weights = self._new_rows(n, groups, weights)
        if not self.weighted_:
            return self.thresholds_[numbers]
        found = np.empty(n)
        for g, curve in enumerate(self.curves_):
            found[numbers == g] = curve.threshold(self.level, new_weights[numbers == g])
        return found

    def _warn_vacuous(self, rows: Rows, vacuous: float, instead: str) -> None:
        """Note and say of which groups nothing can be promised but what is always true."""
        self.vacuous_ = (self.thresholds_ == vacuous).tolist()
        if any(self.vacuous_):
            g = self.vacuous_.index(True)
            of = "" if self.groups_ is None else f" of group {rows.names[g]!r}"
            warn_caller(
                f"{type(self).__name__}: level {self.level:g} cannot be met with "
                f"{int((rows.numbers == g).sum())} calibration rows{of}; {instead} More rows or a "
                "larger level help."
            )


def row_index(X: Any) -> Any:
    """The index of inputs that have one."""
    return X.index if is_pandas(X, "DataFrame", "Series") else None


def _group_names(groups: Any, n: int, used_by: str) -> list[Any]:
    names = groups.tolist() if hasattr(groups, "tolist") else list(groups)
    if len(names) != n:
        raise ValueError(f"{used_by}: groups has {len(names)} entries; there are {n} rows.")
    for i, name in enumerate(names):
        if name is None or name != name:
            raise ValueError(f"{used_by}: groups[{i}] is {name}; every row is of some group.")
    return names


def _weights(weights: Any, n: int, used_by: str, called: str) -> np.ndarray:
    if weights is None:
        return np.ones(n)
    numbers = np.asarray(weights, dtype=np.float64)
    if numbers.shape != (n,) or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ValueError(
            f"{used_by}: {called} has a finite number of at least 0 for each of {n} rows; got "
            f"shape {numbers.shape}, {weights!r:.60}."
        )
    return numbers
