# SPDX-License-Identifier: BSD-3-Clause
"""Rows of training that speak for or against a decision, as far as they are known."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from skstruct.explorer.inputs import Inputs, read_inputs
from skstruct.explorer.state import Explored
from skstruct.losses.base import same_width
from skstruct.spaces import Targets
from skstruct.spaces.truth import seen_by


class Training:
    """Rows of training of an explored model: outputs, which it keeps, and inputs where known.

    Parameters
    ----------
    explored : Explored
    X : inputs of training, default=None
        As they were given to the model; cells of the explored rows are taken where these are the
        rows of training themselves.
    """

    def __init__(self, explored: Explored, X: Any = None) -> None:
        self.explored = explored
        self.outputs = np.asarray(explored.learner.outputs_)
        self.inputs: Inputs | None = None
        if X is not None:
            self.inputs = read_inputs(X, lambda rows: rows)
            if len(self.inputs) != len(self.outputs):
                raise ValueError(
                    f"The model was trained on {len(self.outputs):,} rows; X_train has "
                    f"{len(self.inputs):,}."
                )

    def row(self, i: int) -> dict[str, Any]:
        """A row of training, as JSON has it."""
        if not 0 <= i < len(self.outputs):
            raise ValueError(f"A row of training is from 0 to {len(self.outputs) - 1}; got {i}.")
        return {**self.told(i), "cells": self._cells(i)}

    def told(self, i: int) -> dict[str, Any]:
        """Which row it is, and its output."""
        place = self.place(i)
        name = str(i + 1) if place is None else self.explored.row_name(place)
        return {"row": i, "name": name, "output": self.text(i), "explored": place}

    def _cells(self, i: int) -> dict[str, Any] | None:
        if self.inputs is not None:
            return self.inputs.cells(i)
        place = self.place(i)
        return None if place is None else self.explored.inputs.cells(place)

    def text(self, i: int) -> str:
        """The output of a row in words."""
        outputs = Targets.of(seen_by(self.explored.learner)).outputs_of(self.outputs[[i]])
        return self.explored.text(outputs[0])

    def place(self, i: int) -> int | None:
        """The explored row that is row i of training, where that is known."""
        return i if self._is_explored and i < len(self.explored) else None

    @cached_property
    def _is_explored(self) -> bool:
        """Whether the explored rows are those of training, in their order: outputs agree."""
        truth = self.explored.truth
        if truth is None or not truth.is_whole or self.explored.n_given != len(self.outputs):
            return False
        trained, outputs = self.outputs[: len(truth)], truth.outputs
        if trained.ndim == 2:
            trained, outputs = same_width(trained, outputs)
        return np.array_equal(trained, outputs)
