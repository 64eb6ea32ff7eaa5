# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of structured outputs: partition functions, marginals, draws, chains."""

from typing import TYPE_CHECKING

from skstruct._arrays.lazy import lazy_names

if TYPE_CHECKING:
    from skstruct.sampling.convergence import Diagnostics, diagnostics, to_arviz_dict
    from skstruct.sampling.coupling import coupling_from_the_past
    from skstruct.sampling.draws import Draws
    from skstruct.sampling.metropolis import Metropolis
    from skstruct.sampling.partition import LogPartition, log_partition, marginals
    from skstruct.sampling.rejection import rejection_sample
    from skstruct.sampling.simulated_annealing import SimulatedAnnealing
    from skstruct.sampling.tempering import ParallelTempering

__getattr__ = lazy_names(
    __name__,
    {
        "Diagnostics": "convergence",
        "Draws": "draws",
        "LogPartition": "partition",
        "Metropolis": "metropolis",
        "ParallelTempering": "tempering",
        "SimulatedAnnealing": "simulated_annealing",
        "coupling_from_the_past": "coupling",
        "diagnostics": "convergence",
        "log_partition": "partition",
        "marginals": "partition",
        "rejection_sample": "rejection",
        "to_arviz_dict": "convergence",
    },
)

__all__ = [
    "Diagnostics",
    "Draws",
    "LogPartition",
    "Metropolis",
    "ParallelTempering",
    "SimulatedAnnealing",
    "coupling_from_the_past",
    "diagnostics",
    "log_partition",
    "marginals",
    "rejection_sample",
    "to_arviz_dict",
]
