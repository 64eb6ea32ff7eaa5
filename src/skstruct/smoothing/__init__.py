# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means: weighted averages of training targets."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names
from skstruct.smoothing.base import LinearSmoother, WeightedMean
from skstruct.smoothing.kernel_ridge import KernelRidge

if TYPE_CHECKING:
    from skstruct.smoothing.additive import AdditiveKernelRidge
    from skstruct.smoothing.classifiers import ClassifierMeans
    from skstruct.smoothing.forest import Forest
    from skstruct.smoothing.linear import LinearRidge
    from skstruct.smoothing.local_averages import NadarayaWatson, Neighbors
    from skstruct.smoothing.nystroem.ridge import NystroemRidge
    from skstruct.smoothing.sample_compression import SampleCompression

__getattr__ = lazy_names(
    __name__,
    {
        "AdditiveKernelRidge": "additive",
        "ClassifierMeans": "classifiers",
        "Forest": "forest",
        "LinearRidge": "linear",
        "NadarayaWatson": "local_averages",
        "Neighbors": "local_averages",
        "NystroemRidge": "nystroem.ridge",
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
