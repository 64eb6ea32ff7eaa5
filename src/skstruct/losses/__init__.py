# SPDX-License-Identifier: BSD-3-Clause
"""What a mistake costs: losses as bilinear forms on the embedding of a space."""

from skstruct.losses.base import BaseLoss, BilinearLoss
from skstruct.losses.f_measures import F1, FBeta
from skstruct.losses.hamming import Hamming
from skstruct.losses.hierarchical import HierarchicalLoss
from skstruct.losses.names import pair, resolve_loss
from skstruct.losses.ranking_pairs import Kendall, RankLoss
from skstruct.losses.ranking_positions import Footrule, PositionLoss, Spearman
from skstruct.losses.squared import Squared
from skstruct.losses.zero_one import Listed, ZeroOne

__all__ = [
    "F1",
    "BaseLoss",
    "BilinearLoss",
    "FBeta",
    "Footrule",
    "Hamming",
    "HierarchicalLoss",
    "Kendall",
    "Listed",
    "PositionLoss",
    "RankLoss",
    "Spearman",
    "Squared",
    "ZeroOne",
    "pair",
    "resolve_loss",
]
