# SPDX-License-Identifier: BSD-3-Clause
"""Ways to solve (K + shift I) A = B, and its like with a bound on A."""

from skstruct.smoothing.systems.cholesky import CholeskySystem
from skstruct.smoothing.systems.compression import CompressionSystem
from skstruct.smoothing.systems.spectral import SpectralSystem

__all__ = ["CholeskySystem", "CompressionSystem", "SpectralSystem"]
