# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of structured outputs: partition functions, marginals, draws, chains."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names

if TYPE_CHECKING:
    from skstruct.sampling.draws import Draws
    from skstruct.sampling.metropolis import Metropolis
    from skstruct.sampling.partition import LogPartition, log_partition, marginals
    from skstruct.sampling.rejection import rejection_sample

__getattr__ = lazy_names(
    __name__,
    {
        "Draws": "draws",
        "LogPartition": "partition",
        "Metropolis": "metropolis",
        "log_partition": "partition",
        "marginals": "partition",
        "rejection_sample": "rejection",
    },
)

__all__ = [
    "Draws",
    "LogPartition",
    "Metropolis",
    "log_partition",
    "marginals",
    "rejection_sample",
]
