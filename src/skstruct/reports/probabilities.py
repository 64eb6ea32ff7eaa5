# SPDX-License-Identifier: BSD-3-Clause
"""Whether probabilities mean what they say, before and after they are calibrated."""

from typing import Any

import numpy as np

from skstruct.fitted import Fitted
from skstruct.inspection import MarginalCalibrationDisplay
from skstruct.inspection.calibration import AFTER, BEFORE, is_recalibrated
from skstruct.inspection.marginals import happened_and_predicted, known_pairs
from skstruct.reports.pages import Beside, Brief, Section, Table, Text, left_out
from skstruct.reports.pictures import drawn_display
from skstruct.spaces import Marginals, whole_of

TITLE, ANCHOR = "Whether its probabilities are right", "probabilities"
NUMBERS = ("quantities", "flow")  # kinds of outputs that have means and no probabilities
CALIBRATE = "call calibrate(X, y) with rows that the model was not fitted to."


def marginals(subject: Any) -> Section:
    """Whether what is given thirty per cent happens thirty times in a hundred."""
    learner = subject.learner
    if not subject.fitted.can("predict_marginals"):
        return left_out(TITLE, ANCHOR, f"{subject.fitted.name} has no probabilities.")
    if subject.kind in NUMBERS:
        return left_out(TITLE, ANCHOR, "outputs are numbers: these have means, not probabilities.")
    if subject.has_gaps:
        return left_out(TITLE, ANCHOR, "parts of the truth are not known.")
    methods = {BEFORE: None, AFTER: "auto"} if is_recalibrated(learner) else {"": "auto"}
    pictures, rows = [], []
    try:
        for name, method in methods.items():
            drawn, row = _curve(subject, name, method)
            pictures.append(drawn)
            rows.append(row)
    except (ValueError, NotImplementedError) as error:
        return left_out(TITLE, ANCHOR, str(error))
    header = ["", "parts", "expected calibration error", "Brier score"]
    table = Table(header, rows, "lower is better", narrow=True)
    shown: list[Any] = [Beside([*pictures, table])]
    if len(pictures) > 1:
        shown = [Beside(pictures), table]
    return Section(TITLE, ANCHOR, [Text(_in_words(learner)), *shown])


def _curve(subject: Any, name: str, method: str | None) -> tuple[Any, list[Any]]:
    """A reliability diagram, and its row of the table."""
    learner = subject.learner
    found = happened_and_predicted(learner, subject.inner, subject.y, method)
    happened, predicted = known_pairs(learner.space_, *found)
    drawn, display = drawn_display(
        lambda: MarginalCalibrationDisplay.from_predictions(happened, predicted, name=name or None),
        f"Observed shares against predicted probabilities{name and ', '}{name}",
    )
    brier = float(np.mean((predicted - happened) ** 2))
    counted = int(display.counts.sum())
    row = [name or "as predicted", counted, Brief(display.expected_error), Brief(brier)]
    return drawn, row


def _in_words(learner: Any) -> str:
    """What is pooled, and where calibration comes from."""
    text = (
        "Of what is given a probability of 0.3, three in ten should happen. All parts of all rows "
        "are pooled; the Brier score is the mean of (probability - what happened)²."
    )
    if is_recalibrated(learner):
        return (
            f"{text} Probabilities were calibrated by {learner.calibration_.n_rows} rows that were "
            "left out, or kept apart, when the model was fitted."
        )
    fitted = Fitted.of(learner)
    if fitted.temperature is not None:
        return f"{text} Scores were calibrated by a temperature of {fitted.temperature:.3g}."
    known = fitted.calibration
    if known is not None and known.parts is not None:
        return f"{text} They are as estimated: what is calibrated are {known.parts}."
    if fitted.estimates_risks and Marginals.of(whole_of(learner.problem_.space)).recalibrates:
        return f"{text} They are as estimated: no rows are known to calibrate them by; {CALIBRATE}"
    return text
