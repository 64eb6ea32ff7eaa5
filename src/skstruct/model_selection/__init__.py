# SPDX-License-Identifier: BSD-3-Clause
"""Judging models: losses with intervals, comparisons, left-out risks, measures and scorers."""

from skstruct.learners.best_thresholds import best_thresholds
from skstruct.model_selection.chunk_measures import (
    ChunkCounts,
    chunk_counts,
    chunk_f1_score,
    chunk_scorer,
    token_accuracy,
)
from skstruct.model_selection.comparison import ComparedLearner, Comparison, compare
from skstruct.model_selection.completions import completion_bounds
from skstruct.model_selection.decision_measures import decision_scorer, regrets, relative_regret
from skstruct.model_selection.evaluation import LossEstimate, evaluate, loss_scorer
from skstruct.model_selection.left_out import left_out_risk
from skstruct.model_selection.ranking_measures import (
    area_under_prc,
    label_ranking_average_precision,
    macro_average_precision,
    micro_average_precision,
)
from skstruct.model_selection.scorers import marginal_scorer
from skstruct.model_selection.set_measures import (
    hierarchical_f,
    hierarchical_precision,
    hierarchical_recall,
)
from skstruct.model_selection.tag_evaluation import TagEstimates, TagMeasure, evaluate_tags
from skstruct.model_selection.tail_measures import tail_cost
from skstruct.model_selection.top_measures import (
    label_propensities,
    precision_at,
    propensity_scored_precision_at,
)

__all__ = [
    "ChunkCounts",
    "ComparedLearner",
    "Comparison",
    "LossEstimate",
    "TagEstimates",
    "TagMeasure",
    "area_under_prc",
    "best_thresholds",
    "chunk_counts",
    "chunk_f1_score",
    "chunk_scorer",
    "compare",
    "completion_bounds",
    "decision_scorer",
    "evaluate",
    "evaluate_tags",
    "hierarchical_f",
    "hierarchical_precision",
    "hierarchical_recall",
    "label_propensities",
    "label_ranking_average_precision",
    "left_out_risk",
    "loss_scorer",
    "macro_average_precision",
    "marginal_scorer",
    "micro_average_precision",
    "precision_at",
    "propensity_scored_precision_at",
    "regrets",
    "relative_regret",
    "tail_cost",
    "token_accuracy",
]
