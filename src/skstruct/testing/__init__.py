# SPDX-License-Identifier: BSD-3-Clause
"""Checks for spaces, losses, decisions, smoothers and systems: for us and for yours."""

from skstruct.testing.decisions import check_decisions
from skstruct.testing.laws import check_law, check_moves
from skstruct.testing.losses import check_loss
from skstruct.testing.smoothers import check_smoother
from skstruct.testing.spaces import check_space
from skstruct.testing.systems import check_system

__all__ = [
    "check_decisions",
    "check_law",
    "check_loss",
    "check_moves",
    "check_smoother",
    "check_space",
    "check_system",
]
