# SPDX-License-Identifier: BSD-3-Clause
"""The decision for one row under another loss, constraints or inputs, with what speaks for it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from skstruct.explorer.state import Explored
from skstruct.tolerances import REPORTED_GAP

MOST_NEXT = 10  # best outputs that may be asked for
N_VOICES = 5  # supporters, and as many opponents


@dataclass(frozen=True)
class Question:
    """What is asked of one row."""

    row: int
    loss: str
    values: Mapping[str, Any] = field(default_factory=dict)
    restrict: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    k: int = 3

    @classmethod
    def from_json(cls, asked: Any, explored: Explored) -> Question:
        """Read what the page sends; raises a ValueError with the remedy."""
        if not isinstance(asked, Mapping):
            raise ValueError(f"Expected an object with a row; got {asked!r:.80}.")
        names = ("row", "values", "loss", "restrict", "fixed", "k")
        unknown = [name for name in asked if name not in names]
        if unknown:
            raise ValueError(f"There is no {unknown[0]!r:.80}; known are {', '.join(names)}.")
        parts = {name: asked.get(name) or {} for name in ("values", "restrict", "fixed")}
        for name, part in parts.items():
            if not isinstance(part, Mapping):
                raise ValueError(f"{name} is an object by name; got {part!r:.80}.")
        for key, state in parts["fixed"].items():
            if state not in ("in", "out"):
                raise ValueError(f"fixed: {key!r:.80} is 'in' or 'out'; got {state!r:.80}.")
        row = _whole("row", asked.get("row"), 0, len(explored) - 1)
        k = _whole("k", asked.get("k", 3), 1, MOST_NEXT)
        return cls(row, explored.check_loss(asked.get("loss")), **parts, k=k)


def _whole(name: str, value: Any, low: int, high: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{name} is a whole number from {low} to {high}; got {value!r:.80}.")
    return value


class Decider:
    """Answers questions on single rows."""

    def __init__(self, explored: Explored) -> None:
        self.explored = explored
        self._lock = threading.Lock()

    def decide(self, question: Question) -> dict[str, Any]:
        """The answer as JSON has it."""
        start = perf_counter()
        with self._lock:
            answer = self._decided(question)
        return {**answer, "seconds": perf_counter() - start}

    def _decided(self, question: Question) -> dict[str, Any]:
        explored, learner = self.explored, self.explored.learner
        X = explored.inputs.encoded(question.row, question.values)
        options = explored.options(question.loss)
        restrict = dict(question.restrict)
        if restrict:
            options = {**options, "restrict": restrict}
        decoded = learner.decode(X, **options)
        z = explored.space.validate(decoded.outputs)[0]
        value, bound = float(decoded.values[0]), float(decoded.bounds[0])
        text = explored.text(z)
        return {
            "drawing": "",
            "text": text,
            "parts": [],
            "value": value,
            "value_name": explored.value_name,
            "bound": bound,
            "gap": value - bound,
            "exact": value - bound <= REPORTED_GAP,
            "prediction": text,
            "truth": explored.truth_text(question.row),
            "loss_of_row": self._loss(question, z),
            "next": None,
            "supporters": None,
            "opponents": None,
        }

    def _loss(self, question: Question, z: np.ndarray) -> float | None:
        """What the decision loses on what is known of the row."""
        truth = self.explored.truth
        if truth is None or not truth.says[question.row]:
            return None
        return None
