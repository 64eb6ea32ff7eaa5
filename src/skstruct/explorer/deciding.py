# SPDX-License-Identifier: BSD-3-Clause
"""The decision for one row: drawn, in words, with the next best and what speaks for it."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import Any

import numpy as np

from skstruct.drawings import draw
from skstruct.explorer.asking import Asking
from skstruct.explorer.questions import Question
from skstruct.explorer.state import Explored
from skstruct.explorer.training import Training
from skstruct.tolerances import REPORTED_GAP

N_VOICES = 5  # supporters, and as many opponents


class Decider:
    """Answers questions on single rows, one at a time."""

    def __init__(self, explored: Explored, training: Training) -> None:
        self.explored, self.training, self.asking = explored, training, Asking(explored)
        self._lock = threading.Lock()

    def decide(self, question: Question) -> dict[str, Any]:
        """The answer as JSON has it."""
        start = perf_counter()
        with self._lock:
            answer = self._decided(question)
        return {**answer, "seconds": perf_counter() - start}

    def _decided(self, question: Question) -> dict[str, Any]:
        explored, asking = self.explored, self.asking
        constraints = explored.read_constraints(question.constraints(explored.space))
        decoded = asking.decode(question, constraints)
        z, value, bound = decoded.outputs[0], decoded.values[0], decoded.bounds[0]
        marginals = asking.marginals(question, constraints)
        shown = asking.possible(question, np.array([value, bound]))
        return {
            **self._drawn(question, z, marginals),
            **_certificate(float(value), float(bound), shown),
            "value_name": explored.value_name,
            "prediction": explored.text(z),
            "truth": explored.truth_text(question.row),
            "loss_of_row": explored.loss_of(question.row, z, question.loss),
            "next": self._next(question, constraints, z, float(value)),
            **self._voices(question, constraints, z),
        }

    def _drawn(self, question: Question, z: np.ndarray, marginals: Any) -> dict[str, Any]:
        explored, row = self.explored, question.row
        drawing = draw(
            explored.space,
            z,
            truth=explored.drawn_truth(row, z),
            marginals=marginals,
            coordinates=explored.coordinates,
            words=explored.inputs.words(row),
            constraints=question.fixed,
            title=f"Row {explored.row_name(row)}",
            clickable=bool(explored.fixable),
        )
        return {"drawing": drawing.svg, "text": drawing.text, "parts": drawing.parts}

    def _next(
        self, question: Question, constraints: dict[str, Any], z: np.ndarray, value: float
    ) -> list[dict[str, Any]] | None:
        """The best outputs after the decision; None where nobody knows them."""
        if not question.k or not self.explored.can("kbest"):
            return None
        try:
            best = self.asking.kbest(question, constraints, question.k + 1)
        except (ValueError, NotImplementedError):  # not of this space under this loss
            return None
        others = [r for r, output in enumerate(best.outputs) if not np.array_equal(output, z)]
        shown = self.asking.possible(question, best.values)
        return [
            {
                "prediction": self.explored.text(best.outputs[r]),
                "value": shown[r],
                "difference": best.values[r] - value,
            }
            for r in others[: question.k]
        ]

    # ------------------------------------------------------------------ training rows
    def _voices(
        self, question: Question, constraints: dict[str, Any], z: np.ndarray
    ) -> dict[str, Any]:
        found = self.asking.explanation(question, constraints, z)
        if found is None:
            return {"supporters": None, "opponents": None}
        sides = {"supporters": found.supporters, "opponents": found.opponents}
        weights = found.weights
        weights = weights.toarray()[0] if hasattr(weights, "toarray") else np.asarray(weights)[0]
        return {
            side: [
                {**self.training.told(int(i)), "weight": weights[i]}
                for i in rows(N_VOICES)[0]
                if i >= 0
            ]
            for side, rows in sides.items()
        }


def _certificate(value: float, bound: float, shown: np.ndarray) -> dict[str, Any]:
    """The value and its bound as they are shown; whether they meet, as they were computed."""
    if not np.isfinite(shown).all():
        return {"value": shown[0], "bound": shown[1], "gap": None, "exact": None}
    exact = value - bound <= REPORTED_GAP * max(1.0, abs(value))
    gap = max(0.0, float(shown[0] - shown[1]))
    return {"value": shown[0], "bound": shown[1], "gap": gap, "exact": bool(exact)}
