# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of a model beside its rows: loss, constraints, threshold, level."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

MOST_BEST = 1000  # outputs of one row, and training rows that explain it
MEASURES = ("micro_f1", "macro_f1")


@dataclass(frozen=True)
class Asked:
    """How predictions are chosen.

    Parameters
    ----------
    loss : str, default=None
        By name, with parameters as in ``"hamming(miss=5)"``; that of training when None.
    restrict : dict, or list of dicts, default=None
        Constraints of all rows, or one dictionary for each row.
    threshold : float, list of float, dict of float or str, default=None
        Labels at least so probable, in the place of a loss: a number, one for each label, in their
        order or by name, ``"micro_f1"``, ``"macro_f1"``, ``"recall=0.9"`` or ``"precision=0.9"``.
    level : float, default=None
        Of what is certain and possible, for a model that was calibrated.
    k : int, default=None
        Outputs for each row, where the best are asked for; three when None.
    n : int, default=None
        Training rows for and against, where these are asked for; five when None.

    Examples
    --------
    >>> Asked.from_dict({"loss": "f1", "restrict": {"max_size": 3}})
    Asked(loss='f1', restrict={'max_size': 3}, threshold=None, level=None, k=None, n=None)
    >>> Asked.from_dict({"lost": "f1"})
    Traceback (most recent call last):
        ...
    ValueError: Asked for 'lost'; known are loss, restrict, threshold, level, k, n.
    """

    loss: str | None = None
    restrict: Any = None
    threshold: float | list[float] | dict[str, float] | str | None = None
    level: float | None = None
    k: int | None = None
    n: int | None = None

    @classmethod
    def from_dict(cls, asked: Mapping[str, Any]) -> Self:
        """What a request asks for; a ValueError says what is wrong with it."""
        known = [field.name for field in fields(cls)]
        for key in asked:
            if key not in known:
                raise ValueError(f"Asked for {key!r}; known are {', '.join(known)}.")
        given = {key: value for key, value in asked.items() if value is not None}
        for key, value in given.items():
            _CHECKS[key](value)
        if "loss" in given and "threshold" in given:
            raise ValueError("Give a loss or a threshold, not both.")
        return cls(**given)

    @property
    def key(self) -> str:
        """The same text for what asks for the same; rows that differ in it are not joined."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return json.dumps(values, sort_keys=True, default=repr)

    @property
    def by_row(self) -> bool:
        """Whether every row has its own constraints."""
        return isinstance(self.restrict, list)


def _check_loss(value: Any) -> None:
    if not isinstance(value, str):
        raise ValueError(f"loss is a name, such as 'hamming'; got {value!r}.")


def _check_restrict(value: Any) -> None:
    rows = value if isinstance(value, list) else [value]
    for i, row in enumerate(rows):
        where = f"restrict[{i}]" if isinstance(value, list) else "restrict"
        if not isinstance(row, Mapping) and not (row is None and isinstance(value, list)):
            raise ValueError(
                f"{where} is a dictionary of constraints, such as {{'max_size': 3}}; got {row!r}."
            )


def check_threshold(value: Any) -> None:
    """A ValueError, unless these are numbers from 0 to 1, or the name of a measure."""
    numbers = value if isinstance(value, list) else [value]
    numbers = list(value.values()) if isinstance(value, Mapping) else numbers
    good = all(
        not isinstance(number, bool) and isinstance(number, (int, float)) and 0 <= number <= 1
        for number in numbers
    )
    if isinstance(value, str):
        measure, equals, number = value.rpartition("=")
        good = value in MEASURES
        if equals and measure in ("recall", "precision"):
            try:
                good = 0 < float(number) <= 1
            except ValueError:
                good = False
    if not good:
        raise ValueError(
            "threshold is a number from 0 to 1, one for each label as a list or by name, micro_f1, "
            f"macro_f1, recall=0.9 or precision=0.9; got {value!r:.200}."
        )


def _check_level(value: Any) -> None:
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1
    if not good:
        raise ValueError(f"level is a number between 0 and 1; got {value!r}.")


def _count(name: str) -> Any:
    def check(value: Any) -> None:
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not 1 <= value <= MOST_BEST:
            raise ValueError(f"{name} is a whole number from 1 to {MOST_BEST}; got {value!r}.")

    return check


_CHECKS = {
    "loss": _check_loss,
    "restrict": _check_restrict,
    "threshold": check_threshold,
    "level": _check_level,
    "k": _count("k"),
    "n": _count("n"),
}
