# SPDX-License-Identifier: BSD-3-Clause
"""Ways to solve (K + shift I) A = B."""

from skstruct.smoothing.systems.cholesky import CholeskySystem
from skstruct.smoothing.systems.spectral import SpectralSystem

__all__ = ["CholeskySystem", "SpectralSystem"]
