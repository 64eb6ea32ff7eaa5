# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of what a model predicts and how it was chosen; labels that look wrong, or are worth
asking for.
"""

from skstruct.inspection.calibration import MarginalCalibrationDisplay
from skstruct.inspection.flows import FlowDisplay
from skstruct.inspection.hierarchies import HierarchyDisplay
from skstruct.inspection.hierarchy_errors import HierarchyErrorsDisplay
from skstruct.inspection.labelling import label_next
from skstruct.inspection.rankings import RankingDisplay
from skstruct.inspection.risk_curve import RiskCurve, RiskCurveDisplay
from skstruct.inspection.risks import CalibrationDisplay, RiskCoverageDisplay
from skstruct.inspection.selection import AlphaPathDisplay, ComparisonDisplay
from skstruct.inspection.sequences import SequenceDisplay
from skstruct.inspection.suspicious import SuspiciousOutputs, suspicious_outputs
from skstruct.inspection.suspicious_display import SuspiciousOutputsDisplay
from skstruct.inspection.tours import TourDisplay
from skstruct.inspection.traces import TraceDisplay
from skstruct.inspection.trees import TreeDisplay

__all__ = [
    "AlphaPathDisplay",
    "CalibrationDisplay",
    "ComparisonDisplay",
    "FlowDisplay",
    "HierarchyDisplay",
    "HierarchyErrorsDisplay",
    "MarginalCalibrationDisplay",
    "RankingDisplay",
    "RiskCoverageDisplay",
    "RiskCurve",
    "RiskCurveDisplay",
    "SequenceDisplay",
    "SuspiciousOutputs",
    "SuspiciousOutputsDisplay",
    "TourDisplay",
    "TraceDisplay",
    "TreeDisplay",
    "label_next",
    "suspicious_outputs",
]
