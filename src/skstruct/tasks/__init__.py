# SPDX-License-Identifier: BSD-3-Clause
"""From a data file to a fitted model and back: what the command line is made of."""

from skstruct.datasets.tasks import outputs_for_learning, space_for
from skstruct.encoding import TableEncoder
from skstruct.tasks.learners import LEARNERS, default_learner, make_learner
from skstruct.tasks.model import TaskModel

__all__ = [
    "LEARNERS",
    "TableEncoder",
    "TaskModel",
    "default_learner",
    "make_learner",
    "outputs_for_learning",
    "space_for",
]
