# SPDX-License-Identifier: BSD-3-Clause
"""Ways to solve (K + shift I) A = B, and its like with a bound on A."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names
from skstruct.smoothing.systems.cholesky import CholeskySystem
from skstruct.smoothing.systems.spectral import SpectralSystem

if TYPE_CHECKING:
    from skstruct.smoothing.systems.compression import CompressionSystem
    from skstruct.smoothing.systems.mixed import MixedSystem
    from skstruct.smoothing.systems.packed import PackedCholeskySystem

__getattr__ = lazy_names(
    __name__,
    {
        "CompressionSystem": "compression",
        "MixedSystem": "mixed",
        "PackedCholeskySystem": "packed",
    },
)

__all__ = [
    "CholeskySystem",
    "CompressionSystem",
    "MixedSystem",
    "PackedCholeskySystem",
    "SpectralSystem",
]
