# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between outputs; importing them registers their names."""

from skstruct.kernels.outputs import matches, paths, precomputed, vectors

__all__ = ["matches", "paths", "precomputed", "vectors"]
