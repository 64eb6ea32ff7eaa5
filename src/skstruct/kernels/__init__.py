# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs, labels, partial orders and strings, and between outputs of any kind."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names
from skstruct.kernels.inputs import InputKernel
from skstruct.kernels.labels import label_kernel_matrix

if TYPE_CHECKING:
    from skstruct.kernels.extensions import ExtensionKernel
    from skstruct.kernels.orders import EdgeKernel, PositionKernel, SignedEdgeKernel
    from skstruct.kernels.outputs.base import OutputKernel, resolve_output_kernel
    from skstruct.kernels.outputs.combined import ProductKernel, SumKernel
    from skstruct.kernels.outputs.dirac import Dirac
    from skstruct.kernels.outputs.hamming import HammingKernel
    from skstruct.kernels.outputs.paths import PathKernel
    from skstruct.kernels.strings.spectrum import BlendedSpectrumKernel, SpectrumKernel
    from skstruct.kernels.strings.weighted_degree import WeightedDegreeKernel

__getattr__ = lazy_names(
    __name__,
    {
        "BlendedSpectrumKernel": "strings.spectrum",
        "Dirac": "outputs.dirac",
        "EdgeKernel": "orders",
        "ExtensionKernel": "extensions",
        "HammingKernel": "outputs.hamming",
        "OutputKernel": "outputs.base",
        "PathKernel": "outputs.paths",
        "PositionKernel": "orders",
        "ProductKernel": "outputs.combined",
        "SignedEdgeKernel": "orders",
        "SpectrumKernel": "strings.spectrum",
        "SumKernel": "outputs.combined",
        "WeightedDegreeKernel": "strings.weighted_degree",
        "resolve_output_kernel": "outputs.base",
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
