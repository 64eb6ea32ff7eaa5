# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means: weighted averages of training targets."""

from skstruct.smoothing.additive import AdditiveKernelRidge
from skstruct.smoothing.base import LinearSmoother
from skstruct.smoothing.kernel_ridge import KernelRidge

__all__ = [
    "AdditiveKernelRidge",
    "KernelRidge",
    "LinearSmoother",
]
