# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs, labels, partial orders and strings, and between outputs of any kind."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names
from skstruct.kernels.inputs import (
    RBF,
    AdditiveChiSquareKernel,
    CallableKernel,
    ChiSquareKernel,
    Cosine,
    InputKernel,
    KernelSum,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    resolve_kernel,
)
from skstruct.kernels.labels import label_kernel_matrix

if TYPE_CHECKING:
    from skstruct.kernels.orders import (
        EdgeKernel,
        ExtensionKernel,
        PositionKernel,
        SignedEdgeKernel,
    )
    from skstruct.kernels.outputs.base import (
        OutputKernel,
        ProductKernel,
        SumKernel,
        resolve_output_kernel,
    )
    from skstruct.kernels.outputs.matches import Dirac, HammingKernel
    from skstruct.kernels.outputs.moments import MomentErrors
    from skstruct.kernels.outputs.paths import PathKernel
    from skstruct.kernels.outputs.space import KernelSpace
    from skstruct.kernels.projections import KernelProjection, projection_dimension
    from skstruct.kernels.spectrum import RepairedKernel, repair_kernel
    from skstruct.kernels.strings.kernels import (
        BlendedSpectrumKernel,
        SpectrumKernel,
        WeightedDegreeKernel,
    )

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BlendedSpectrumKernel": "strings.kernels",
        "Dirac": "outputs.matches",
        "EdgeKernel": "orders",
        "ExtensionKernel": "orders",
        "HammingKernel": "outputs.matches",
        "KernelSpace": "outputs.space",
        "MomentErrors": "outputs.moments",
        "KernelProjection": "projections",
        "OutputKernel": "outputs.base",
        "PathKernel": "outputs.paths",
        "PositionKernel": "orders",
        "ProductKernel": "outputs.base",
        "RepairedKernel": "spectrum",
        "SignedEdgeKernel": "orders",
        "SpectrumKernel": "strings.kernels",
        "SumKernel": "outputs.base",
        "WeightedDegreeKernel": "strings.kernels",
        "projection_dimension": "projections",
        "repair_kernel": "spectrum",
        "resolve_output_kernel": "outputs.base",
    },
)

__all__ = [
    "RBF",
    "AdditiveChiSquareKernel",
    "BlendedSpectrumKernel",
    "CallableKernel",
    "ChiSquareKernel",
    "Cosine",
    "Dirac",
    "EdgeKernel",
    "ExtensionKernel",
    "HammingKernel",
    "InputKernel",
    "KernelProjection",
    "KernelSpace",
    "KernelSum",
    "Laplacian",
    "Linear",
    "MomentErrors",
    "OutputKernel",
    "PathKernel",
    "Polynomial",
    "PositionKernel",
    "Precomputed",
    "ProductKernel",
    "RepairedKernel",
    "Sigmoid",
    "SignedEdgeKernel",
    "SpectrumKernel",
    "SumKernel",
    "WeightedDegreeKernel",
    "label_kernel_matrix",
    "projection_dimension",
    "repair_kernel",
    "resolve_kernel",
    "resolve_output_kernel",
]
