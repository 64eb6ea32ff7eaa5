# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs and between labels."""

from skstruct.kernels.inputs import InputKernel
from skstruct.kernels.labels import label_kernel_matrix

__all__ = ["InputKernel", "label_kernel_matrix"]
