# SPDX-License-Identifier: BSD-3-Clause
"""Ways to solve (K + shift I) A = B, and its like with a bound on A."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names
from skstruct.smoothing.systems.direct import CholeskySystem, SpectralSystem

if TYPE_CHECKING:
    from skstruct.smoothing.systems.compression import CompressionSystem
    from skstruct.smoothing.systems.direct import PackedCholeskySystem
    from skstruct.smoothing.systems.mixed_precision import MixedSystem

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CompressionSystem": "compression",
        "MixedSystem": "mixed_precision",
        "PackedCholeskySystem": "direct",
    },
)

__all__ = [
    "CholeskySystem",
    "CompressionSystem",
    "MixedSystem",
    "PackedCholeskySystem",
    "SpectralSystem",
]
