# SPDX-License-Identifier: BSD-3-Clause
"""Checks for spaces, losses, decisions, smoothers and systems: for us and for yours."""

from skstruct.testing.losses import check_decisions, check_loss
from skstruct.testing.smoothers import check_smoother, check_system
from skstruct.testing.spaces import check_distribution, check_proposals, check_space

__all__ = [
    "check_decisions",
    "check_distribution",
    "check_loss",
    "check_proposals",
    "check_smoother",
    "check_space",
    "check_system",
]
