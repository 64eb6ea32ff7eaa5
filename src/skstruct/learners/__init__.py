# SPDX-License-Identifier: BSD-3-Clause
"""Ways of getting from inputs to costs, and from costs to outputs."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names
from skstruct.learners.conditional_risk import ConditionalRiskMinimizer
from skstruct.learners.explanation import Explanation

if TYPE_CHECKING:
    from skstruct.learners.checkpoints.saving import Checkpoint
    from skstruct.learners.constraint_classification import ConstraintClassification
    from skstruct.learners.counting.ridge import CountingRidge
    from skstruct.learners.exponential.family import ExponentialFamily
    from skstruct.learners.label_ranking_boosting import LabelRankingBoosting
    from skstruct.learners.label_ranking_svm import LabelRankingSVM
    from skstruct.learners.margins.chow_liu import chow_liu_tree
    from skstruct.learners.margins.network import MaxMarginNetwork
    from skstruct.learners.margins.perceptron import StructuredPerceptron
    from skstruct.learners.margins.structured_svm import StructuredSVM
    from skstruct.learners.margins.tree import MaxMarginTree
    from skstruct.learners.neighbor_label_ranker import NeighborLabelRanker
    from skstruct.learners.online_label_ranker import OnlineLabelRanker
    from skstruct.learners.output_kernel import OutputKernelRegressor
    from skstruct.learners.pairwise_comparison import PairwiseComparison
    from skstruct.learners.reductions import Reduction

__getattr__ = lazy_names(
    __name__,
    {
        "Checkpoint": "checkpoints.saving",
        "ConstraintClassification": "constraint_classification",
        "CountingRidge": "counting.ridge",
        "ExponentialFamily": "exponential.family",
        "LabelRankingBoosting": "label_ranking_boosting",
        "LabelRankingSVM": "label_ranking_svm",
        "MaxMarginNetwork": "margins.network",
        "MaxMarginTree": "margins.tree",
        "NeighborLabelRanker": "neighbor_label_ranker",
        "OnlineLabelRanker": "online_label_ranker",
        "OutputKernelRegressor": "output_kernel",
        "PairwiseComparison": "pairwise_comparison",
        "Reduction": "reductions",
        "StructuredPerceptron": "margins.perceptron",
        "StructuredSVM": "margins.structured_svm",
        "chow_liu_tree": "margins.chow_liu",
    },
)

__all__ = [
    "Checkpoint",
    "ConditionalRiskMinimizer",
    "ConstraintClassification",
    "CountingRidge",
    "Explanation",
    "ExponentialFamily",
    "LabelRankingBoosting",
    "LabelRankingSVM",
    "MaxMarginNetwork",
    "MaxMarginTree",
    "NeighborLabelRanker",
    "OnlineLabelRanker",
    "OutputKernelRegressor",
    "PairwiseComparison",
    "Reduction",
    "StructuredPerceptron",
    "StructuredSVM",
    "chow_liu_tree",
]
