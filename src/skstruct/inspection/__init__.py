# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what a model predicts and how it was chosen."""

from skstruct.inspection.alpha_path import AlphaPathDisplay
from skstruct.inspection.calibration import MarginalCalibrationDisplay
from skstruct.inspection.hierarchy import HierarchyDisplay
from skstruct.inspection.rankings import RankingDisplay
from skstruct.inspection.risk_curve import RiskCurve, RiskCurveDisplay
from skstruct.inspection.sequences import SequenceDisplay
from skstruct.inspection.tours import TourDisplay
from skstruct.inspection.traces import TraceDisplay
from skstruct.inspection.trees import TreeDisplay

__all__ = [
    "AlphaPathDisplay",
    "HierarchyDisplay",
    "MarginalCalibrationDisplay",
    "RankingDisplay",
    "RiskCurve",
    "RiskCurveDisplay",
    "SequenceDisplay",
    "TourDisplay",
    "TraceDisplay",
    "TreeDisplay",
]
