# SPDX-License-Identifier: BSD-3-Clause
"""How prediction sets are made, one rule for each kind of output."""

from typing import Any

from skstruct.conformal.sets.base import SetRule
from skstruct.conformal.sets.classes import ClassRule, LevelRule
from skstruct.conformal.sets.intervals import IntervalRule, Intervals
from skstruct.conformal.sets.outputs import LabelSetRule, OutputSets, RankingRule, SequenceRule
from skstruct.spaces import Description

RULES: dict[str, type[SetRule]] = {
    "quantities": IntervalRule,
    "classes": ClassRule,
    "ordinal": LevelRule,
    "labels": LabelSetRule,
    "hierarchy": LabelSetRule,
    "ranking": RankingRule,
    "sequence": SequenceRule,
}


def rule_for(learner: Any, score: str, nonempty: bool) -> SetRule:
    """The rule for the outputs of a fitted learner, or an error that names the kinds."""
    kind = Description.of(learner.space_).output_kind
    if kind not in RULES:
        raise ValueError(
            f"PredictionSets: there are no sets for outputs of kind {kind!r}; there are for "
            f"{', '.join(RULES)}."
        )
    return RULES[kind](learner, score, nonempty)


__all__ = ["RULES", "Intervals", "OutputSets", "SetRule", "rule_for"]
