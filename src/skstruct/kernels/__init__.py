# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs, labels, partial orders and strings, and between outputs of any kind."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names
from skstruct.kernels.inputs import InputKernel
from skstruct.kernels.labels import label_kernel_matrix

if TYPE_CHECKING:
    from skstruct.kernels.combined import ProductKernel, SumKernel
    from skstruct.kernels.dirac import Dirac
    from skstruct.kernels.extensions import ExtensionKernel
    from skstruct.kernels.orders import EdgeKernel, PositionKernel, SignedEdgeKernel
    from skstruct.kernels.output_paths import PathKernel
    from skstruct.kernels.output_strings import HammingKernel
    from skstruct.kernels.outputs import OutputKernel, resolve_output_kernel
    from skstruct.kernels.strings import BlendedSpectrumKernel, SpectrumKernel
    from skstruct.kernels.weighted_degree import WeightedDegreeKernel

__getattr__ = lazy_names(
    __name__,
    {
        "BlendedSpectrumKernel": "strings",
        "Dirac": "dirac",
        "EdgeKernel": "orders",
        "ExtensionKernel": "extensions",
        "HammingKernel": "output_strings",
        "OutputKernel": "outputs",
        "PathKernel": "output_paths",
        "PositionKernel": "orders",
        "ProductKernel": "combined",
        "SignedEdgeKernel": "orders",
        "SpectrumKernel": "strings",
        "SumKernel": "combined",
        "WeightedDegreeKernel": "weighted_degree",
        "resolve_output_kernel": "outputs",
    },
)

__all__ = [
    "BlendedSpectrumKernel",
    "Dirac",
    "EdgeKernel",
    "ExtensionKernel",
    "HammingKernel",
    "InputKernel",
    "OutputKernel",
    "PathKernel",
    "PositionKernel",
    "ProductKernel",
    "SignedEdgeKernel",
    "SpectrumKernel",
    "SumKernel",
    "WeightedDegreeKernel",
    "label_kernel_matrix",
    "resolve_output_kernel",
]
