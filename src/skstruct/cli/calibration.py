# SPDX-License-Identifier: BSD-3-Clause
"""Calibrating a model of the command line, and what is said about it."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from skstruct.cli.calibrated_columns import interval_ends
from skstruct.cli.exit_codes import bad_data
from skstruct.conformal import Abstention, PredictionSets, RiskControl
from skstruct.conformal.calibration import Calibrated
from skstruct.conformal.risks import RISKS
from skstruct.datasets.formats.cells import NUMBERS, ONE_NAME
from skstruct.fitted import Fitted
from skstruct.losses import ZeroOne
from skstruct.spaces import Description


def calibrated(
    task_model: Any,
    data_name: str,
    X: Any,
    y: Any,
    level: float,
    risk: str | None,
    abstain: str | None,
    delta: float | None,
) -> dict[str, Calibrated]:
    """Promises that were asked for, which the model keeps from here on, by name.

    Parameters
    ----------
    X, y : as the learner reads them
    level, risk, abstain, delta : as in ``skstruct calibrate``
    """
    learner, found = task_model.learner_, {}
    with bad_data(f"{data_name}: "):
        if risk is not None or abstain is None:
            control = _control(task_model, level, risk, delta).calibrate(X, y)
            task_model.control_ = found["control"] = control
        if abstain is not None:
            abstention = _abstention(learner, level, abstain, delta).calibrate(X, y)
            task_model.abstention_ = found["abstention"] = abstention
    for name, one in found.items():
        key = "promise" if name == "control" else name
        told = f"{one.promise_} Calibrated on {one.n_calibration_:,} rows of {data_name}."
        task_model.about_ = {**task_model.about_, key: told}
    return found


def _control(task_model: Any, level: float, risk: str | None, delta: float | None) -> Any:
    learner, task = task_model.learner_, task_model.task_
    if risk is None and (task in NUMBERS or task in ONE_NAME):
        return PredictionSets(learner, level)
    return RiskControl(learner, level, risk=risk or "missed", delta=delta)


def _abstention(learner: Any, level: float, of: str, delta: float | None) -> Abstention:
    """By estimated risks and the loss of the learner where it has them."""
    fitted = Fitted.of(learner)
    by, known = "risk" if fitted.estimates_risks else "marginals", fitted.loss
    loss = "zero_one" if known is None or isinstance(known, ZeroOne) else "learner"
    delta = 0.1 if delta is None else delta
    return Abstention(learner, level, delta=delta, of=of, by=by, loss=loss)


# ---------------------------------------------------------------------- what is said
def summary_of(found: Any, X: Any) -> dict[str, Any]:
    """Numbers of a promise, for machines."""
    shared = {
        "thresholds": found.thresholds_,
        "vacuous": found.vacuous_[0],
        "promise": found.promise_,
    }
    if isinstance(found, RiskControl):
        return {"risk": found.risk, "delta": found.delta_, "withheld": found.withheld_, **shared}
    if isinstance(found, Abstention):
        withheld = 1.0 - found.kept_share_
        return {"of": found.of, "delta": found.delta, "withheld": withheld, **shared}
    return {**dict(_sizes(found, X)), **shared}


def facts_of(found: Any, X: Any) -> Iterator[tuple[str, Any]]:
    """The same for people, thresholds in words."""
    if isinstance(found, RiskControl):
        yield "risk", found.risk
        yield _threshold(found)
        yield "withheld", f"{found.withheld_:.4g} of all parts are possible and not certain"
    elif isinstance(found, Abstention):
        yield _threshold(found)
        yield "withheld", f"{1.0 - found.kept_share_:.4g} of all {found.of}"
    else:
        for what, size in _sizes(found, X):
            words = {"mean_width": "width", "mean_names": "names in a set"}
            yield words[what], f"{size:.4g} on average"
    yield "promise", found.promise_


def _threshold(found: Any) -> tuple[str, str]:
    """What is asserted from which probability, or kept up to which risk."""
    t = float(found.thresholds_[0])
    if isinstance(found, Abstention) and found.of == "rows":
        doubt = "an estimated risk" if found.by == "risk" else "a doubt"
        ends = {-np.inf: "nothing", np.inf: "all rows"}
        return "kept", ends.get(t, f"up to {doubt} of {t:.4g}")
    moves = "certain" if isinstance(found, Abstention) else RISKS[found.risk].moves
    if moves == "possible" and Description.of(found.learner.space_).output_kind != "ranking":
        return "possible", "all" if t == np.inf else f"from a probability of {max(-t, 0.0):.4g}"
    what = "kept" if isinstance(found, Abstention) else "certain"
    return what, "nothing" if t == np.inf else f"above a probability of {max(t, 0.0):.4g}"


def _sizes(found: PredictionSets, X: Any) -> Iterator[tuple[str, float]]:
    """How large sets and intervals of the calibration rows are on average."""
    if Description.of(found.learner.space_).output_kind == "quantities":
        lower, upper = interval_ends(found, X)
        known = (upper - lower)[np.isfinite(upper - lower)]
        yield "mean_width", float(known.mean()) if len(known) else float("nan")
    else:
        yield "mean_names", float(np.mean([len(names) for names in found.predict(X)]))
