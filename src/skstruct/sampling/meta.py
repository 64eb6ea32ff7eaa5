# SPDX-License-Identifier: BSD-3-Clause
"""The meta chain: proposals drawn uniformly, for every space with a uniform sampler."""

from __future__ import annotations

import numpy as np

from skstruct.sampling.values import values_of
from skstruct.walking.base import Moves


class MetaMoves(Moves):
    r"""Propose an output drawn uniformly, accept by the ratio of chances [1]_.

    With :math:`f_{max}` the largest score, the distance to the law after t steps is
    :math:`(1 - Z / (|\mathcal Y| e^{f_{max}}))^t` in total variation: independent of where it
    starts, but slow where few outputs hold most of the chance.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       section 6.6.2.
    """

    sweep = 1

    def __init__(self, space):
        self.space = space

    def start(self, outputs):
        return np.array(outputs)

    def outputs(self, states):
        return states

    def walk(self, states, scores, row, beta, n_steps, streams):
        rng = np.random.default_rng(streams.ravel())
        here = values_of(self.space, states, scores, row)
        accepted = np.zeros(len(states), np.int64)
        for _ in range(n_steps):
            proposed = np.asarray(self.space.sample(len(states), rng))
            there = values_of(self.space, proposed, scores, row)
            with np.errstate(divide="ignore"):
                better = np.log(rng.random(len(states))) < beta * (there - here)
            states[better], here[better] = proposed[better], there[better]
            accepted += better
        streams[...] = rng.integers(1, 2**64, size=streams.shape, dtype=np.uint64)
        return accepted
