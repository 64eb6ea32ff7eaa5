# SPDX-License-Identifier: BSD-3-Clause
"""Left-out risks in closed form, and scorers made from losses."""

from skstruct.model_selection.left_out import left_out_risk
from skstruct.model_selection.scorers import loss_scorer

__all__ = ["left_out_risk", "loss_scorer"]
