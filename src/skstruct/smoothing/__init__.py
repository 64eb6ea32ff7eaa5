# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means: weighted averages of training targets."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names
from skstruct.smoothing.base import LinearSmoother, WeightedMean
from skstruct.smoothing.kernel_ridge import KernelRidge

if TYPE_CHECKING:
    from skstruct.smoothing.additive import AdditiveKernelRidge
    from skstruct.smoothing.classifiers import ClassifierMeans
    from skstruct.smoothing.forest import Forest
    from skstruct.smoothing.linear import LinearRidge
    from skstruct.smoothing.nadaraya_watson import NadarayaWatson
    from skstruct.smoothing.neighbors import Neighbors
    from skstruct.smoothing.onepass.ridge import NystroemRidge
    from skstruct.smoothing.sample_compression import SampleCompression

__getattr__ = lazy_names(
    __name__,
    {
        "AdditiveKernelRidge": "additive",
        "ClassifierMeans": "classifiers",
        "Forest": "forest",
        "LinearRidge": "linear",
        "NadarayaWatson": "nadaraya_watson",
        "Neighbors": "neighbors",
        "NystroemRidge": "onepass.ridge",
        "SampleCompression": "sample_compression",
    },
)

__all__ = [
    "AdditiveKernelRidge",
    "ClassifierMeans",
    "Forest",
    "KernelRidge",
    "LinearRidge",
    "LinearSmoother",
    "NadarayaWatson",
    "Neighbors",
    "NystroemRidge",
    "SampleCompression",
    "WeightedMean",
]
