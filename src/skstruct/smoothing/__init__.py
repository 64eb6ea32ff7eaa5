# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means: weighted averages of training targets."""

from skstruct.smoothing.additive import AdditiveKernelRidge
from skstruct.smoothing.base import LinearSmoother, WeightedMean
from skstruct.smoothing.forest import Forest
from skstruct.smoothing.kernel_ridge import KernelRidge
from skstruct.smoothing.nadaraya_watson import NadarayaWatson
from skstruct.smoothing.neighbors import Neighbors
from skstruct.smoothing.sample_compression import SampleCompression

__all__ = [
    "AdditiveKernelRidge",
    "Forest",
    "KernelRidge",
    "LinearSmoother",
    "NadarayaWatson",
    "Neighbors",
    "SampleCompression",
    "WeightedMean",
]
