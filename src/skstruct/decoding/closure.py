# SPDX-License-Identifier: BSD-3-Clause
"""Sets closed under taking parents, in any acyclic graph: one min-cut for every row."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.dag import Dag


def dag_closed_sets(costs: np.ndarray, dag: Dag) -> tuple[np.ndarray, ...]:
    """Cheapest ancestor-closed set of every row, its cost, and a lower bound from the flow."""
    from skstruct.decoding._compiled_closure import closures

    return closures(np.ascontiguousarray(costs), dag.order, dag.position, *dag.arc_arrays)
