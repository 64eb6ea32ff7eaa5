# SPDX-License-Identifier: BSD-3-Clause
"""Ways of getting from inputs to costs, and from costs to outputs."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names
from skstruct.learners.base import Explanation
from skstruct.learners.conditional_risk.learner import ConditionalRiskMinimizer

if TYPE_CHECKING:
    from skstruct.learners.checkpoints.saving import Checkpoint
    from skstruct.learners.counting_ridge.exponential import ExponentialLoss
    from skstruct.learners.counting_ridge.learner import CountingRidge
    from skstruct.learners.counting_ridge.objective import NewtonCG
    from skstruct.learners.counting_ridge.online import StochasticGradient
    from skstruct.learners.exponential_family.chains import AnnealedChains, PersistentChains
    from skstruct.learners.exponential_family.learner import ExponentialFamily
    from skstruct.learners.exponential_family.perturbations import Perturbations
    from skstruct.learners.label_ranking.boosting import LabelRankingBoosting
    from skstruct.learners.label_ranking.classification import (
        ConstraintClassification,
        PairwiseComparison,
    )
    from skstruct.learners.label_ranking.neighbors import NeighborLabelRanker
    from skstruct.learners.label_ranking.online import OnlineLabelRanker
    from skstruct.learners.label_ranking.online_bounds import MistakeBound
    from skstruct.learners.label_ranking.reductions import Reduction
    from skstruct.learners.label_ranking.svm import LabelRankingSVM
    from skstruct.learners.max_margin.chow_liu import chow_liu_tree
    from skstruct.learners.max_margin.circuit_rank import CircuitRank
    from skstruct.learners.max_margin.network import MaxMarginNetwork
    from skstruct.learners.max_margin.perceptron import StructuredPerceptron
    from skstruct.learners.max_margin.structured_svm import StructuredSVM
    from skstruct.learners.max_margin.tree import MaxMarginTree
    from skstruct.learners.output_kernel.components import PrincipalComponents
    from skstruct.learners.output_kernel.learner import OutputKernelRegressor

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AnnealedChains": "exponential_family.chains",
        "Checkpoint": "checkpoints.saving",
        "CircuitRank": "max_margin.circuit_rank",
        "ConstraintClassification": "label_ranking.classification",
        "CountingRidge": "counting_ridge.learner",
        "ExponentialFamily": "exponential_family.learner",
        "ExponentialLoss": "counting_ridge.exponential",
        "LabelRankingBoosting": "label_ranking.boosting",
        "LabelRankingSVM": "label_ranking.svm",
        "MaxMarginNetwork": "max_margin.network",
        "MaxMarginTree": "max_margin.tree",
        "MistakeBound": "label_ranking.online_bounds",
        "NeighborLabelRanker": "label_ranking.neighbors",
        "NewtonCG": "counting_ridge.objective",
        "OnlineLabelRanker": "label_ranking.online",
        "OutputKernelRegressor": "output_kernel.learner",
        "PairwiseComparison": "label_ranking.classification",
        "PersistentChains": "exponential_family.chains",
        "Perturbations": "exponential_family.perturbations",
        "PrincipalComponents": "output_kernel.components",
        "Reduction": "label_ranking.reductions",
        "StochasticGradient": "counting_ridge.online",
        "StructuredPerceptron": "max_margin.perceptron",
        "StructuredSVM": "max_margin.structured_svm",
        "chow_liu_tree": "max_margin.chow_liu",
    },
)

__all__ = [
    "AnnealedChains",
    "Checkpoint",
    "CircuitRank",
    "ConditionalRiskMinimizer",
    "ConstraintClassification",
    "CountingRidge",
    "Explanation",
    "ExponentialFamily",
    "ExponentialLoss",
    "LabelRankingBoosting",
    "LabelRankingSVM",
    "MaxMarginNetwork",
    "MaxMarginTree",
    "MistakeBound",
    "NeighborLabelRanker",
    "NewtonCG",
    "OnlineLabelRanker",
    "OutputKernelRegressor",
    "PairwiseComparison",
    "PersistentChains",
    "Perturbations",
    "PrincipalComponents",
    "Reduction",
    "StochasticGradient",
    "StructuredPerceptron",
    "StructuredSVM",
    "chow_liu_tree",
]
