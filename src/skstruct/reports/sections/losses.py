# SPDX-License-Identifier: BSD-3-Clause
"""Mean losses with intervals, beside those of the best constant output."""

from __future__ import annotations

import numpy as np

from skstruct.inspection.drawing import written
from skstruct.reports.pages import Bars, Section, Share, Table, Text, left_out

TITLE, ANCHOR = "Losses", "losses"


def section(subject) -> Section:
    """One line for each loss that makes sense for the space."""
    from skstruct.model_selection import evaluate

    options = subject.options
    shared = {"losses": options.get("losses"), "random_state": options.get("random_state", 0)}
    try:
        found = evaluate(subject.learner, subject.inner, subject.y, **shared)
    except (ValueError, NotImplementedError) as error:
        if options.get("losses") is not None:
            raise  # asked for by name
        return left_out(TITLE, ANCHOR, str(error))
    trained = _on_training(subject, shared)
    header = ["loss", "mean", "95 % interval from", "to", "best constant output", "ratio", ""]
    header += ["mean on training rows"] if trained else []
    top = [max(one.high, one.baseline if np.isfinite(one.baseline) else 0.0) for one in found]
    rows = []
    for one, most in zip(found, top):
        ratio = one.mean / one.baseline if one.baseline > 0 else np.nan
        row = [written(one.loss, 60), one.mean, one.low, one.high, one.baseline, Share(ratio)]
        row.append(_bar(one, most))
        rows.append(row + ([trained.get(one.loss, np.nan)] if trained else []))
    about = (
        "Intervals are of the bootstrap over rows. The best constant output does not look at the "
        "inputs: what a model is worth is what it loses less. Bars: loss of the model on that of "
        "the constant."
    )
    if not all(getattr(one, "aimed", True) for one in found):
        names = ", ".join(written(one.loss, 60) for one in found if not one.aimed)
        about += f" Predictions were not chosen for: {names}."
    return Section(TITLE, ANCHOR, [Table(header, rows), Text(about)])


def _bar(one, most):
    if not most > 0:
        return ""
    own = max(one.mean, 0.0) / most
    base = max(one.baseline if np.isfinite(one.baseline) else 0.0, 0.0) / most
    return Bars(((min(own, 1.0), "own"), (max(0.0, base - own), "rest")))


def _on_training(subject, shared) -> dict:
    """Mean losses on the rows of training, where they were given."""
    from skstruct.model_selection import evaluate

    X, y = subject.options.get("X_train"), subject.options.get("y_train")
    if X is None or y is None or getattr(subject.learner, "several_outputs", False):
        return {}
    model = subject.model
    inner = model[:-1].transform(X) if model is not subject.learner and len(model) > 1 else X
    try:
        found = evaluate(subject.learner, inner, y, **shared, n_bootstrap=1)
    except (ValueError, NotImplementedError):
        return {}
    return {one.loss: one.mean for one in found}
