# SPDX-License-Identifier: BSD-3-Clause
"""What a model is for and what it cannot do, in sentences that follow from facts."""

from typing import Any

import numpy as np

from skstruct.fitted import Fitted
from skstruct.inspection.drawing import written
from skstruct.model_selection.evaluation import takes_loss, usual_losses
from skstruct.reports.card_model import output_names, training_rows
from skstruct.reports.overview import promise_in_words
from skstruct.spaces import Description

FEW_ROWS = 10  # of training, for each name of an output


def intended(learner: Any) -> list[str]:
    """What the model can be used for."""
    told = [
        "Rows like those of training: the same columns, measured in the same way, from the same "
        "source."
    ]
    if takes_loss(learner):
        names = ", ".join(usual_losses(learner))
        told.append(f"Decisions for other losses without a new fit (loss=); usual are {names}.")
    names = ", ".join(Fitted.of(learner).constraints)
    if names:
        told.append(f"Decisions under constraints (restrict=): {names}.")
    return told


def limits(model: Any, learner: Any, about: dict[str, Any], is_judged: bool) -> list[str]:
    """What must be known before the model is used."""
    told = [f"Decisions are {promise_in_words(learner.space_)}."]
    told += _of_training(model, learner, about)
    told += _of_columns(model)
    known = Fitted.of(model)
    if known.control is None and known.abstention is None:
        told.append(
            "Nothing is promised about how often it is wrong, and its probabilities were not "
            "compared with rows kept apart here."
        )
    if not is_judged:
        told.append("It was not judged on rows for this card.")
    told.append(
        "Nothing here tells whether the rows of training stand for those that it will meet: other "
        "places, later times and groups that were rare in training may have larger losses."
    )
    return told


def _of_training(model: Any, learner: Any, about: dict[str, Any]) -> list[str]:
    told, rows, names = [], training_rows(learner, about), output_names(model, learner)
    if rows is not None and names and rows < FEW_ROWS * len(names):
        told.append(
            f"There were {rows:,} rows of training for {len(names):,} "
            f"{Description.of(learner.space_).part_words[1]}: fewer than {FEW_ROWS} for each."
        )
    fitted = Fitted.of(learner)
    known = None if fitted.partial is None else fitted.partial.known
    if known is not None and not np.asarray(known).all():
        told.append(
            f"Of the outputs of training {1 - np.asarray(known).mean():.1%} of all parts were "
            "missing; the model learned from the others."
        )
    if fitted.search is not None and fitted.search.no_better:
        told.append(fitted.search.no_better)
    if fitted.converged is False:
        told.append("Fitting ended before it had converged.")
    return told


def _of_columns(model: Any) -> list[str]:
    """What becomes of cells that training did not have."""
    encoder = Fitted.of(model).encoder
    if encoder is None:
        return ["Inputs far from those of training are extrapolated, and nothing warns of that."]
    told = []
    if any(values is None for values in encoder.values_):
        told.append(
            "Numbers far from those of training (see the table of columns) are extrapolated, and "
            "nothing warns of that."
        )
    if any(values is not None for values in encoder.values_):
        told.append("A name that training did not have counts as none of the known names.")
    flagged = [written(name, 60) for name in encoder.flagged_]
    if flagged:
        told.append(
            f"Missing cells were learned from in {', '.join(flagged[:20])}"
            f"{' and others' if len(flagged) > 20 else ''}; in other columns a missing number is "
            "taken for the median."
        )
    else:
        told.append(
            "Training had no missing cells: a missing number is taken for the median, and nothing "
            "was learned from gaps."
        )
    return told
