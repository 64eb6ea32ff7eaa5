# SPDX-License-Identifier: BSD-3-Clause
"""Losses as bilinear forms on an embedding, or by their own decoders."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names
from skstruct.losses.base import BaseLoss, BilinearLoss
from skstruct.losses.names import HOMES, pair, resolve_loss

if TYPE_CHECKING:
    from skstruct.losses.cost_matrix import CostMatrix
    from skstruct.losses.deciding import BilinearForm, Deciding, Effort, Form
    from skstruct.losses.decisions import Cost, Regret
    from skstruct.losses.diffusion import Diffusion
    from skstruct.losses.f_measures import F1, FBeta
    from skstruct.losses.hamming import Hamming
    from skstruct.losses.hierarchical import HierarchicalLoss
    from skstruct.losses.histograms import ChiSquare, RootAbsolute, SquaredHellinger
    from skstruct.losses.kernel_induced import KernelLoss
    from skstruct.losses.levels import Levels, Tokens
    from skstruct.losses.newsvendor import Newsvendor, PiecewiseLinear
    from skstruct.losses.observed import Observed, PartlyKnown
    from skstruct.losses.of_scores import auc_loss, exponential_loss
    from skstruct.losses.piecewise import Absolute, EpsilonInsensitive, Hinge, Huber, Pinball
    from skstruct.losses.rankings import Footrule, Kendall, PositionLoss, RankLoss, Spearman
    from skstruct.losses.scenarios import Scenarios
    from skstruct.losses.separable import SeparableLoss
    from skstruct.losses.sequence_hamming import SequenceHamming
    from skstruct.losses.smooth import L2L1, Cauchy, Fair, GemanMcClure, Logistic
    from skstruct.losses.squared import Squared
    from skstruct.losses.tail_risk import ConditionalValueAtRisk
    from skstruct.losses.zero_one import Listed, ZeroOne

FUNCTIONS = {"auc_loss": "of_scores", "exponential_loss": "of_scores"}

FACETS = {  # what may be asked of a loss beside its core
    "BilinearForm": "deciding",
    "Deciding": "deciding",
    "Effort": "deciding",
    "Form": "deciding",
    "Levels": "levels",
    "Observed": "observed",
    "PartlyKnown": "observed",
    "Tokens": "levels",
}

__getattr__, __dir__ = lazy_names(__name__, {**HOMES, **FACETS, **FUNCTIONS})

__all__ = [
    "F1",
    "L2L1",
    "Absolute",
    "BaseLoss",
    "BilinearForm",
    "BilinearLoss",
    "Cauchy",
    "ChiSquare",
    "ConditionalValueAtRisk",
    "Cost",
    "CostMatrix",
    "Deciding",
    "Diffusion",
    "Effort",
    "EpsilonInsensitive",
    "FBeta",
    "Fair",
    "Footrule",
    "Form",
    "GemanMcClure",
    "Hamming",
    "HierarchicalLoss",
    "Hinge",
    "Huber",
    "Kendall",
    "KernelLoss",
    "Levels",
    "Listed",
    "Logistic",
    "Newsvendor",
    "Observed",
    "PartlyKnown",
    "PiecewiseLinear",
    "Pinball",
    "PositionLoss",
    "RankLoss",
    "Regret",
    "RootAbsolute",
    "Scenarios",
    "SeparableLoss",
    "SequenceHamming",
    "Spearman",
    "Squared",
    "SquaredHellinger",
    "Tokens",
    "ZeroOne",
    "auc_loss",
    "exponential_loss",
    "pair",
    "resolve_loss",
]
