# SPDX-License-Identifier: BSD-3-Clause
"""Judging models: losses with intervals, comparisons, left-out risks, scorers."""

from skstruct.model_selection.comparison import ComparedLearner, Comparison, compare
from skstruct.model_selection.evaluation import LossEstimate, evaluate, loss_scorer
from skstruct.model_selection.left_out import left_out_risk

__all__ = [
    "ComparedLearner",
    "Comparison",
    "LossEstimate",
    "compare",
    "evaluate",
    "left_out_risk",
    "loss_scorer",
]
