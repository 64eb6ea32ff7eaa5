# SPDX-License-Identifier: BSD-3-Clause
"""How a learner's predictions are made in stages, and what columns of a table they become."""

from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skstruct.exceptions import restated
from skstruct.fitted import Staged
from skstruct.spaces import Decoded, Description
from skstruct.spaces.common.formats import LabelSetFormat
from skstruct.spaces.constraints import differs_by_row
from skstruct.streaming.blocks import count_rows
from skstruct.streaming.prediction import TypedColumn, output_columns, plain_output

_EXAMPLES = 1000  # outputs of training that the type of a column is taken from


def prepared(model: Any, choices: dict[Any, Any]) -> Any:
    """The problem and the smoother of some choices of ``predict``, all of them known."""
    known = [name for name in signature(model.decode).parameters if name != "X"]
    for name in choices:
        if name not in known:
            raise TypeError(
                f"{type(model).__name__} has no choice {name!r} of prediction; it has "
                f"{', '.join(known)}."
            )
    return model._prepared(**{**dict.fromkeys(known), **choices})


def check_same_constraints(model: Any, problem: Any) -> None:
    """Raise where constraints differ from row to row: nobody says which batch they belong to."""
    if differs_by_row(problem.space):
        raise ValueError(
            f"{type(model.space_).__name__}: constraints that differ from row to row cannot be "
            "given for batches or files. Give constraints that are the same for all rows, or give "
            "predict some rows with their own constraints at a time."
        )


class PredictionStages:
    """A batch is read and smoothed, then decided: two stages that may overlap.

    Parameters
    ----------
    model : fitted learner
    choices : dict
        Arguments of its ``decode``. Constraints must be the same for all rows.
    """

    def __init__(self, model: Any, choices: dict[str, Any]) -> None:
        self.model = model
        self.problem, self.smoother = prepared(model, choices)
        check_same_constraints(model, self.problem)

    def begin(self, batch: Any) -> tuple[Any, Any, int]:
        """The index of the rows, their smoothed means, and how many they are."""
        if count_rows(batch) == 0:
            return getattr(batch, "index", None), None, 0
        X, index = self.model._checked(batch)
        self.model._check_constraints(self.problem, X.shape[0])
        return index, self.problem.smooth(self.smoother, X), X.shape[0]

    def finish(self, begun: tuple[Any, Any, int]) -> Decoded:
        """The decisions, in the user's format."""
        index, means, n = begun
        decoded = self.problem.decode(means, slice(0, n)) if n else self._nothing()
        outputs = self.model.space_.restore(np.asarray(decoded.outputs), index)
        return Decoded(outputs, decoded.values, decoded.bounds)

    def _nothing(self) -> Decoded:
        """The decisions of a batch without rows."""
        return Decoded(np.asarray(self.model.outputs_)[:0], np.empty(0), np.empty(0))


class PredictedColumns:
    """Called with a block of rows, gives the columns of its predictions; it can be pickled.

    Parameters
    ----------
    model : fitted learner
    choices : dict
        Arguments of its ``decode``. Constraints must be the same for all rows.
    """

    def __init__(self, model: Any, choices: dict[str, Any]) -> None:
        self.model, self.choices = model, choices
        # Constraints do not depend on the loss, and another loss may take long to prepare.
        constraints = {name: choices[name] if name == "restrict" else None for name in choices}
        problem, _ = prepared(model, constraints)
        check_same_constraints(model, problem)
        self.typed = TypedColumn(example_outputs(model))

    def __call__(self, block: Any) -> dict[Any, Any]:
        try:
            decoded = self.model.decode(block.X, **self.choices)
        except (ValueError, TypeError) as error:
            raise restated(error, f"In {block.where}: {error}") from error
        row = np.arange(block.start, block.start + len(block))
        columns = output_columns(decoded.outputs, self.model.space_)
        if isinstance(columns.get("prediction"), list):
            columns["prediction"] = self.typed(columns["prediction"])
        return {"row": row, **columns, "risk": decoded.values, "bound": decoded.bounds}


class StagedPredictor(Staged):
    """Of learners that decide from means."""

    __slots__ = ()
    in_stages = True

    def stages(self, choices: dict[str, Any]) -> PredictionStages:
        check_is_fitted(self.model)
        return PredictionStages(self.model, choices)

    def columns(self, choices: dict[str, Any]) -> PredictedColumns:
        check_is_fitted(self.model)
        return PredictedColumns(self.model, choices)


def example_outputs(model: Any) -> list[Any]:
    """Outputs, as entries of a column, that tell which values may come; none for tables."""
    space = model.space_
    outputs = Description.of(space).examples(np.asarray(model.outputs_)[:_EXAMPLES])
    columns = output_columns(outputs, space)
    examples = columns.get("prediction")
    if not isinstance(examples, list):
        return []
    # Sets of names may all be empty.
    if isinstance(getattr(space, "_format", None), LabelSetFormat):
        examples = [[plain_output(label) for label in space.labels_], []]
    return examples
