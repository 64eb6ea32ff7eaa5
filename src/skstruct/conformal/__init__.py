# SPDX-License-Identifier: BSD-3-Clause
"""Predictions with promises: sets, intervals and abstention, calibrated on held-out rows."""

from skstruct.conformal.levels import conformal_quantile, crc_threshold
from skstruct.conformal.p_values import binomial_p_values, fixed_sequence, hoeffding_bentkus
from skstruct.conformal.risk_control import Nested, RiskControl

__all__ = [
    "Nested",
    "RiskControl",
    "binomial_p_values",
    "conformal_quantile",
    "crc_threshold",
    "fixed_sequence",
    "hoeffding_bentkus",
]
