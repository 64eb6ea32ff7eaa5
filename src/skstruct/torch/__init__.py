# SPDX-License-Identifier: BSD-3-Clause
"""Layers and losses for PyTorch over any space: the last step of a network that predicts structure.

Needs torch: ``pip install "skstruct[torch]"``. Nothing else in this library imports this package.
"""

from skstruct._arrays.imports import require

require("torch", used_by="skstruct.torch", extra="torch")

from skstruct.torch.fenchel_young import FenchelYoungLoss  # noqa: E402
from skstruct.torch.moments import Marginals, log_partition, marginals  # noqa: E402
from skstruct.torch.perturbed import PerturbedArgmin  # noqa: E402
from skstruct.torch.spo_plus import SPOPlusLoss  # noqa: E402

__all__ = [
    "FenchelYoungLoss",
    "Marginals",
    "PerturbedArgmin",
    "SPOPlusLoss",
    "log_partition",
    "marginals",
]
