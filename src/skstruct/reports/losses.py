# SPDX-License-Identifier: BSD-3-Clause
"""Mean losses with intervals, and estimated risks against realised losses."""

from typing import Any

import numpy as np

from skstruct.inspection import (
    AlphaPathDisplay,
    CalibrationDisplay,
    RiskCoverageDisplay,
)
from skstruct.inspection.calibration import AFTER, BEFORE
from skstruct.inspection.drawing import written
from skstruct.reports.pages import Bars, Beside, Brief, Section, Share, Table, Text, left_out
from skstruct.reports.pictures import drawn_display, picture

TITLE, ANCHOR = "How good it is", "losses"
ENDS = (
    "Losses are on what is known. Least and most: the mean over all rows lies between these, "
    "whatever the rest is."
)


def loss_section(subject: Any) -> Section:
    """One line for each loss that makes sense for the space."""
    from skstruct.model_selection import evaluate
    from skstruct.model_selection.evaluation import affordable_losses, left_out_text

    options, costly = subject.options, list[str]()
    shared = {"losses": options.get("losses"), "random_state": options.get("random_state", 0)}
    if shared["losses"] is None:
        usual, costly = affordable_losses(subject.learner, subject.n)
        shared["losses"] = list(usual.values()) if costly else None
    try:
        missing = "known" if subject.known is None else "bounds"
        found = evaluate(subject.learner, *subject.every, missing=missing, **shared)
    except (ValueError, NotImplementedError) as error:
        if options.get("losses") is not None:
            raise  # asked for by name
        return left_out(TITLE, ANCHOR, str(error))
    trained = _on_training(subject, shared)
    header = ["loss", "mean", "95 % interval from", "to", "best constant output", "ratio", ""]
    header += ["mean on training rows"] if trained else []
    header += ["least", "most"] if subject.known is not None else []
    top = [max(one.high, one.baseline if np.isfinite(one.baseline) else 0.0) for one in found]
    rows = []
    for one, most in zip(found, top):
        ratio = one.mean / one.baseline if one.baseline > 0 else np.nan
        row = [written(one.loss, 60), one.mean, one.low, one.high, one.baseline, Share(ratio)]
        row.append(_bar(one, most))
        row += [trained.get(one.loss, np.nan)] if trained else []
        rows.append(row + ([one.lower, one.upper] if subject.known is not None else []))
    about = (
        "Intervals are of the bootstrap over rows. The best constant output does not look at the "
        "inputs: what a model is worth is what it loses less. Bars: loss of the model on that of "
        "the constant."
    )
    if not all(getattr(one, "aimed", True) for one in found):
        names = ", ".join(written(one.loss, 60) for one in found if not one.aimed)
        about += f" Predictions were not chosen for: {names}."
    if subject.known is not None:
        about += f" {subject.unknown} {ENDS}"
    if costly:
        about += " " + left_out_text(costly, f"losses=[..., {costly[0]!r}]")
    return Section(TITLE, ANCHOR, [Table(header, rows), Text(about)])


def _bar(one: Any, most: float) -> Any:
    if not most > 0:
        return ""
    own = max(one.mean, 0.0) / most
    base = max(one.baseline if np.isfinite(one.baseline) else 0.0, 0.0) / most
    return Bars(((min(own, 1.0), "own"), (max(0.0, base - own), "rest")))


def _on_training(subject: Any, shared: dict[str, Any]) -> dict[Any, Any]:
    """Mean losses on the rows of training, where they were given."""
    from skstruct.model_selection import evaluate

    X, y = subject.options.get("X_train"), subject.options.get("y_train")
    if X is None or y is None or subject.fitted.several_outputs:
        return {}
    model = subject.model
    inner = model[:-1].transform(X) if model is not subject.learner and len(model) > 1 else X
    try:
        found = evaluate(subject.learner, inner, y, **shared, n_bootstrap=1)
    except (ValueError, NotImplementedError):
        return {}
    return {one.loss: one.mean for one in found}


# Estimated risk against realised loss, what abstaining gains, and what was searched.


UNDER_ZERO_ONE = (
    "The most probable output is predicted: its risk is the probability that anything in it is "
    "wrong, and the loss here is one where that is so. "
)
SEARCHED = {
    "alpha": "the penalty",
    "radius": "the radius",
    "n_neighbors": "the number of neighbors",
    "smoother": "the smoother",
}
SHARES = (1.0, 0.9, 0.8, 0.7, 0.5, 0.25, 0.1)


def calibration(subject: Any) -> Section:
    """Whether the model loses what it expects to."""
    title, anchor = "How sure it is", "calibration"
    if subject.risks is None:
        return left_out(title, anchor, subject.why_no_risks)
    calibrated = _calibrated_risks(subject)
    after: list[Any] = []

    def draw() -> Any:
        name = None if calibrated is None else BEFORE
        display = CalibrationDisplay.from_predictions(subject.risks, subject.risk_losses, name=name)
        if calibrated is not None:
            after.append(
                CalibrationDisplay.from_predictions(
                    calibrated, subject.risk_losses, name=AFTER, ax=display.ax_
                )
            )
        return display

    drawn, shown = drawn_display(draw, "Realised mean loss against estimated risk, in bins")
    rows = [
        [f"{b + 1}", count, *map(Brief, (estimated, realised, low, high))]
        for b, (count, estimated, realised, (low, high)) in enumerate(
            zip(shown.counts, shown.estimated, shown.realised, shown.intervals)
        )
    ]
    header = ["bin", "rows", "estimated", "realised", "95 % from", "to"]
    means = np.mean(subject.risks), np.mean(subject.risk_losses)
    text = UNDER_ZERO_ONE if _whole_outputs(subject) else ""
    text += (
        f"The model expected to lose {means[0]:.4g} per row and lost {means[1]:.4g}. Bins are off "
        f"by {shown.expected_error:.4g} on average. Above the dotted line the model is too bold."
    )
    if calibrated is not None:
        text += (
            f" Calibrated by rows that it was not fitted to, it expected {np.mean(calibrated):.4g}"
            f", and bins are off by {after[0].expected_error:.4g}: predict_risk(X, "
            "calibrated=True). The table has risks as estimated."
        )
    return Section(title, anchor, [Text(text), Beside([drawn, Table(header, rows, narrow=True)])])


def _calibrated_risks(subject: Any) -> Any:
    """Risks moved to the losses of left-out rows, where these are known; else None."""
    known = subject.fitted.calibration
    if known is None or known.risks is None:
        return None
    risks = subject.learner.predict_risk(subject.inner, calibrated=True)
    return risks if np.isfinite(risks).all() else None


def _whole_outputs(subject: Any) -> bool:
    """Whether risks are of the zero-one loss, and the learner is judged by another one."""
    return not np.array_equal(subject.risk_losses, subject.losses)


def coverage(subject: Any) -> Section:
    """What is lost on rows of which the model is surest."""
    title, anchor = "What leaving out unsure rows gains", "coverage"
    if subject.risks is None:
        return left_out(title, anchor, subject.why_no_risks)
    drawn, shown = drawn_display(
        lambda: RiskCoverageDisplay.from_predictions(subject.risks, subject.risk_losses),
        "Mean loss of the rows kept against the share kept",
    )
    rows = []
    for share in SHARES:
        kept = max(1, round(share * subject.n))
        rows.append([f"{share:.0%}", kept, shown.risk[kept - 1], shown.oracle[kept - 1]])
    header = ["kept", "rows", "mean loss", "of an oracle"]
    text = UNDER_ZERO_ONE if _whole_outputs(subject) else ""
    text += (
        "Rows of large estimated risk are handed to somebody else, and the mean loss is that of "
        f"the others. Area below the curve {shown.area:.4g}; dropping rows at random "
        f"{shown.area_random:.4g}, an oracle {shown.area_oracle:.4g}."
    )
    return Section(title, anchor, [Text(text), Beside([drawn, Table(header, rows, narrow=True)])])


def search(subject: Any) -> Section:
    """All penalties, radii or numbers of neighbors that were tried, and all kernels."""
    anchor = "search"
    found = subject.fitted.search
    trials = None if found is None else found.trials
    if not trials:
        why = "nothing was searched when the model was fitted."
        return left_out(f"How {SEARCHED['alpha']} was chosen", anchor, why)
    display = AlphaPathDisplay(found)
    name = display.searched
    title = f"How {SEARCHED.get(name, written(name))} was chosen"
    mark = "the blue bar" if name == "smoother" else "the circle"
    about, caption = f"Left-out risk against {name}", f"{mark} is what was chosen"
    drawn = picture(display.plot, about, caption)
    known = ("kernel", "gamma", name, "risk", "squared error", "weight", "seconds")
    shown = known if name == "smoother" else known[:4]
    keys = [key for key in shown if key in trials[0]]
    ordered = sorted(trials, key=lambda trial: trial["risk"])
    rows = [[_cell(trial[key]) for key in keys] for trial in ordered]
    header = ["left-out risk" if key == "risk" else key for key in keys]
    caption = f"{len(rows)} trials, the best first"
    told = [] if found is None or found.no_better is None else [Text(found.no_better)]
    return Section(
        title, anchor, [*told, Beside([drawn, Table(header, rows, caption, 8, narrow=True)])]
    )


def _cell(value: str | float | None) -> str | float:
    if value is None:
        return "default"
    return value if isinstance(value, (int, float, np.number)) else written(value, 40)
