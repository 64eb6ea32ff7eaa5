# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of structured outputs: partition functions, marginals, draws, chains."""

from typing import TYPE_CHECKING

from skstruct._arrays.imports import lazy_names

if TYPE_CHECKING:
    from skstruct.sampling.convergence import Diagnostics, diagnostics, to_arviz_dict
    from skstruct.sampling.coupling import Coalescence, coupling_from_the_past
    from skstruct.sampling.metropolis import Draws, Metropolis
    from skstruct.sampling.mixing import MixingBounds, mixing_bounds
    from skstruct.sampling.partition import LogPartition, log_partition, marginals
    from skstruct.sampling.rejection import rejection_sample
    from skstruct.sampling.simulated_annealing import SimulatedAnnealing
    from skstruct.sampling.tempering import ParallelTempering
    from skstruct.spaces.solvers.distributions import Distribution
    from skstruct.spaces.solvers.proposals import Proposals

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Coalescence": "sampling.coupling",
        "Diagnostics": "sampling.convergence",
        "Draws": "sampling.metropolis",
        "Distribution": "spaces.solvers.distributions",
        "LogPartition": "sampling.partition",
        "Metropolis": "sampling.metropolis",
        "MixingBounds": "sampling.mixing",
        "Proposals": "spaces.solvers.proposals",
        "ParallelTempering": "sampling.tempering",
        "SimulatedAnnealing": "sampling.simulated_annealing",
        "coupling_from_the_past": "sampling.coupling",
        "diagnostics": "sampling.convergence",
        "log_partition": "sampling.partition",
        "marginals": "sampling.partition",
        "mixing_bounds": "sampling.mixing",
        "rejection_sample": "sampling.rejection",
        "to_arviz_dict": "sampling.convergence",
    },
    package="skstruct",
)

__all__ = [
    "Coalescence",
    "Diagnostics",
    "Distribution",
    "Draws",
    "LogPartition",
    "Metropolis",
    "MixingBounds",
    "ParallelTempering",
    "Proposals",
    "SimulatedAnnealing",
    "coupling_from_the_past",
    "diagnostics",
    "log_partition",
    "marginals",
    "mixing_bounds",
    "rejection_sample",
    "to_arviz_dict",
]
