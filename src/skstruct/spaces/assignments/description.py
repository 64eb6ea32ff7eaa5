# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of assignments."""

import numpy as np

from skstruct.spaces.description import DrawnGraph
from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets


class DescriptionOfAssignments(DescriptionOfLabelSets):
    """Pairs of an agent and a task, drawn as two columns that are joined."""

    __slots__ = ()
    drawn_as = "assignment"

    def drawn_graph(self) -> DrawnGraph:
        """Agents first, then tasks."""
        a, t = len(self.space.agents_), len(self.space.tasks_)
        agents, tasks = np.repeat(np.arange(a), t), a + np.tile(np.arange(t), a)
        nodes = (*self.space.agents_, *self.space.tasks_)
        return DrawnGraph(nodes, np.column_stack([agents, tasks]))
