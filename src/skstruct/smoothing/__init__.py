# SPDX-License-Identifier: BSD-3-Clause
"""Conditional means: weighted averages of training targets."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names
from skstruct.smoothing.base import WeightedMean
from skstruct.smoothing.facets import (
    Gaps,
    Learning,
    LeavingOut,
    LinearSmoother,
    Penalties,
    Weighing,
)
from skstruct.smoothing.kernel_ridge import KernelRidge

if TYPE_CHECKING:
    from skstruct.smoothing.additive import AdditiveKernelRidge
    from skstruct.smoothing.classifiers import ClassifierMeans
    from skstruct.smoothing.cross_fitting import CrossFitted
    from skstruct.smoothing.forest import Forest
    from skstruct.smoothing.gaps import ByPattern, MaskedAverage
    from skstruct.smoothing.largest_weights import LargestWeights
    from skstruct.smoothing.linear import LinearRidge
    from skstruct.smoothing.local_averages import NadarayaWatson, Neighbors
    from skstruct.smoothing.masked_ridge import MaskedRidge
    from skstruct.smoothing.neural_network import NeuralNetwork
    from skstruct.smoothing.nystroem.ridge import NystroemRidge
    from skstruct.smoothing.sample_compression import SampleCompression
    from skstruct.smoothing.scaled import Scaled
    from skstruct.smoothing.stacked import Stacked

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "AdditiveKernelRidge": "additive",
        "ByPattern": "gaps",
        "ClassifierMeans": "classifiers",
        "CrossFitted": "cross_fitting",
        "Forest": "forest",
        "LargestWeights": "largest_weights",
        "LinearRidge": "linear",
        "MaskedAverage": "gaps",
        "MaskedRidge": "masked_ridge",
        "NadarayaWatson": "local_averages",
        "Neighbors": "local_averages",
        "NeuralNetwork": "neural_network",
        "NystroemRidge": "nystroem.ridge",
        "SampleCompression": "sample_compression",
        "Scaled": "scaled",
        "Stacked": "stacked",
    },
)

__all__ = [
    "AdditiveKernelRidge",
    "ByPattern",
    "ClassifierMeans",
    "CrossFitted",
    "Forest",
    "Gaps",
    "KernelRidge",
    "LargestWeights",
    "Learning",
    "LeavingOut",
    "LinearRidge",
    "LinearSmoother",
    "MaskedAverage",
    "MaskedRidge",
    "NadarayaWatson",
    "Neighbors",
    "NeuralNetwork",
    "NystroemRidge",
    "Penalties",
    "SampleCompression",
    "Scaled",
    "Stacked",
    "Weighing",
    "WeightedMean",
]
