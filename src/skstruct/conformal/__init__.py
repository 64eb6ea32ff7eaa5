# SPDX-License-Identifier: BSD-3-Clause
"""Predictions with promises: sets, intervals and abstention, calibrated on held-out rows."""

from skstruct.conformal.abstention import Abstention, Kept
from skstruct.conformal.jackknife import jackknife_plus
from skstruct.conformal.levels import conformal_quantile, crc_threshold
from skstruct.conformal.p_values import (
    betting_p_values,
    binomial_p_values,
    fixed_sequence,
    hoeffding_bentkus,
)
from skstruct.conformal.prediction_sets import PredictionSets
from skstruct.conformal.realised import Realised
from skstruct.conformal.risk_control import Nested, RiskControl
from skstruct.conformal.sets import Intervals, OutputSets

__all__ = [
    "Abstention",
    "Intervals",
    "Kept",
    "Nested",
    "OutputSets",
    "PredictionSets",
    "Realised",
    "RiskControl",
    "betting_p_values",
    "binomial_p_values",
    "conformal_quantile",
    "crc_threshold",
    "fixed_sequence",
    "hoeffding_bentkus",
    "jackknife_plus",
]
