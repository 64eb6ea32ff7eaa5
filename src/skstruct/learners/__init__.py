# SPDX-License-Identifier: BSD-3-Clause
"""Ways of getting from inputs to costs, and from costs to outputs."""

from skstruct.learners.conditional_risk import ConditionalRiskMinimizer
from skstruct.learners.explanation import Explanation

__all__ = ["ConditionalRiskMinimizer", "Explanation"]
