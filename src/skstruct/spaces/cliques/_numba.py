# SPDX-License-Identifier: BSD-3-Clause
"""Chains among sets of nodes with scores of the pairs inside."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.solvers._numba_markov_chains import below, fraction


@nb.njit(cache=True, nogil=True)
def walk_cliques(sets, nodes, column, scores, row, beta, n_steps, streams, accepted):
    """Any of the open nodes is in or out after it, by a coin: half of the steps are pauses.

    Without these, sets of even and of odd size take turns where every change is accepted.
    """
    if len(nodes) == 0:
        return
    for c in range(len(sets)):
        inside, score = sets[c], scores[row[c]]
        for _ in range(n_steps):
            v = nodes[below(streams, c, len(nodes))]
            if below(streams, c, 2) == inside[v]:
                continue
            gain = 0.0
            for u in range(len(inside)):
                if inside[u] and u != v:
                    gain += score[column[u, v]]
            if inside[v]:
                gain = -gain
            if np.log(fraction(streams, c)) < beta[c] * gain:
                inside[v] = 1 - inside[v]
                accepted[c] += 1
