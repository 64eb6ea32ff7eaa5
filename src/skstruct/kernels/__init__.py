# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs, between labels and between partial orders."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names
from skstruct.kernels.inputs import InputKernel
from skstruct.kernels.labels import label_kernel_matrix

if TYPE_CHECKING:
    from skstruct.kernels.extensions import ExtensionKernel
    from skstruct.kernels.orders import EdgeKernel, PositionKernel, SignedEdgeKernel

__getattr__ = lazy_names(
    __name__,
    {
        "EdgeKernel": "orders",
        "ExtensionKernel": "extensions",
        "PositionKernel": "orders",
        "SignedEdgeKernel": "orders",
    },
)

__all__ = [
    "EdgeKernel",
    "ExtensionKernel",
    "InputKernel",
    "PositionKernel",
    "SignedEdgeKernel",
    "label_kernel_matrix",
]
