# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs, between labels and between partial orders."""

from skstruct.kernels.extensions import ExtensionKernel
from skstruct.kernels.inputs import InputKernel
from skstruct.kernels.labels import label_kernel_matrix
from skstruct.kernels.orders import EdgeKernel, PositionKernel, SignedEdgeKernel

__all__ = [
    "EdgeKernel",
    "ExtensionKernel",
    "InputKernel",
    "PositionKernel",
    "SignedEdgeKernel",
    "label_kernel_matrix",
]
