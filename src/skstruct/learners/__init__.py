# SPDX-License-Identifier: BSD-3-Clause
"""Ways of getting from inputs to costs, and from costs to outputs."""

from skstruct.learners.conditional_risk import ConditionalRiskMinimizer
from skstruct.learners.constraint_classification import ConstraintClassification
from skstruct.learners.explanation import Explanation
from skstruct.learners.label_ranking_boosting import LabelRankingBoosting
from skstruct.learners.label_ranking_svm import LabelRankingSVM
from skstruct.learners.neighbor_label_ranker import NeighborLabelRanker
from skstruct.learners.online_label_ranker import OnlineLabelRanker
from skstruct.learners.pairwise_comparison import PairwiseComparison
from skstruct.learners.reductions import Reduction

__all__ = [
    "ConditionalRiskMinimizer",
    "ConstraintClassification",
    "Explanation",
    "LabelRankingBoosting",
    "LabelRankingSVM",
    "NeighborLabelRanker",
    "OnlineLabelRanker",
    "PairwiseComparison",
    "Reduction",
]
