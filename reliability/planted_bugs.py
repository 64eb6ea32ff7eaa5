# SPDX-License-Identifier: BSD-3-Clause
"""Decoders that are wrong on purpose: what certificates.py looks for must find every one."""

from dataclasses import replace

import numpy as np
from certified_learners import decided
from certified_spaces import Wrong, check_kbest, check_rows
from drawn_costs import costs as drawn_costs
from drawn_losses import DrawnLoss
from drawn_sets import hierarchy


def other_output(drawn, decoded):
    """The first label of one row is turned, its value stays: perhaps not even closed."""
    outputs = decoded.outputs.copy()
    outputs[-1, 0] = 1 - outputs[-1, 0]
    return replace(decoded, outputs=outputs)


def high_bound(drawn, decoded):
    """Bounds are a millionth of the largest value too high."""
    return replace(decoded, bounds=decoded.bounds + 1e-6 * np.abs(decoded.values).max())


def low_value(drawn, decoded):
    return replace(decoded, values=decoded.values - 1e-6 * np.abs(decoded.values).max())


def second_best(drawn, decoded):
    """The empty set in every row, with its right value, as if that were the optimum."""
    zeros = np.zeros_like(decoded.outputs)
    nothing = np.zeros(len(zeros))
    return replace(decoded, outputs=zeros, values=nothing, bounds=nothing - np.inf)


class Bugged:
    """A space whose decoder is bent."""

    def __init__(self, drawn, bend):
        self.drawn, self.bend, self.guarantee = drawn, bend, drawn.space.guarantee

    def argmin(self, costs):
        return self.bend(self.drawn, self.drawn.space.argmin(costs))

    def kbest(self, costs, k):
        found = self.drawn.space.kbest(costs, k)
        return replace(found, outputs=found.outputs[:, ::-1], values=found.values[:, ::-1])


def is_caught(check, *arguments):
    try:
        check(*arguments)
    except Wrong:
        return True
    return False


def missed(seed):
    """Names of planted bugs that were not caught."""
    rng = np.random.default_rng(seed)
    drawn = hierarchy(rng)
    while len(drawn.outputs) < 8:
        drawn = hierarchy(rng)
    Z, everything = drawn.canonical(), np.ones((1, len(drawn.outputs)), bool)
    costs = drawn_costs(rng, 50, drawn.psi.shape[1])
    left = []
    for bend in (other_output, high_bound, low_value, second_best):
        if not is_caught(check_rows, drawn, Z, Bugged(drawn, bend), everything, costs):
            left.append(bend.__name__)
    turned = Bugged(drawn, None)
    if not is_caught(check_kbest, drawn, Z, turned, everything, costs, 3):
        left.append("k-best lists turned round")
    if not is_caught(wrong_loss, drawn, rng):
        left.append("a loss that differs from its definition")
    return left


def wrong_loss(drawn, rng):
    """A model that minimizes another loss than the one it is asked for."""
    from skstruct import ConditionalRiskMinimizer
    from skstruct.kernels import RBF

    at = rng.integers(len(drawn.outputs), size=20)
    X = rng.standard_normal((20, 3))
    model = ConditionalRiskMinimizer(drawn.space, "hamming", kernel=RBF(0.3), alpha=0.1)
    model.fit(X, [drawn.outputs[j] for j in at])
    Z = drawn.psi
    differ = (Z[:, None] != Z[None]).sum(axis=2) * 1.001
    decided(model.decode(X), drawn, DrawnLoss(None, differ), at, model.smoother_.weights(X))
