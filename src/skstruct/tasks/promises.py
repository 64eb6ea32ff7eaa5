# SPDX-License-Identifier: BSD-3-Clause
"""Calibrated predictors at other levels than that of their calibration."""

from copy import copy
from typing import Any

import numpy as np


def at_level(control: Any, level: float | None) -> Any:
    """A calibrated predictor at another level, where calibration rows tell of all of them.

    Parameters
    ----------
    control : RiskControl or PredictionSets, calibrated
    level : float or None
        None for the level of calibration.

    Raises
    ------
    ValueError
        If calibration was by tests that hold for one level alone.
    """
    if level is None or level == control.level:
        return control
    if getattr(control, "delta_", None) is not None or control.weighted_:
        raise ValueError(
            f"level {level:g}: the model was calibrated at level {control.level:g} by tests that "
            f"hold for that level alone; use skstruct calibrate MODEL DATA --level {level:g}."
        )
    other = copy(control)
    other.level = level
    other.thresholds_ = np.array([float(curve.threshold(level)) for curve in control.curves_])
    other.vacuous_ = (other.thresholds_ == np.inf).tolist()
    del other.promise_  # of the level of calibration
    return other
