# SPDX-License-Identifier: BSD-3-Clause
"""Small spaces and rows of scores that papers/sampling.py measures on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import logsumexp

from skstruct.spaces import Hierarchy, LabelSets, PairwiseLabels, Rankings


@dataclass(frozen=True, eq=False)
class Case:
    """A space small enough to list, and a row of scores."""

    name: str
    space: Any
    scale: float
    scores: np.ndarray  # (1, d)

    @cached_property
    def outputs(self):
        return np.asarray(list(self.space.enumerate()))

    @cached_property
    def psi(self):
        psi = self.space.embed(self.outputs)
        return psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi)

    @cached_property
    def f(self):
        return self.psi @ self.scores[0]

    @property
    def BR(self):
        return np.linalg.norm(self.scores) * np.linalg.norm(self.psi, axis=1).max()

    @property
    def expected_trials(self):
        """|Y| e^{fmax} / Z."""
        return len(self.f) * math.exp(self.f.max() - logsumexp(self.f))


def small_spaces():
    return {
        "8 labels": LabelSets(range(8)),
        "5 items ranked, pairs": Rankings(range(5), "pairs"),
        "12 labels in a tree": Hierarchy(random_tree(12), range(12)),
    }


def random_tree(n):
    """(parent, child) pairs, labels in an order in which parents come first."""
    rng = np.random.default_rng(7)
    return [(int(rng.integers(child)), child) for child in range(1, n)]


def cases(scales):
    for name, space in small_spaces().items():
        d = space.embed(space.sample(1, 0)).shape[1]
        direction = np.random.default_rng(1).standard_normal((1, d))
        for scale in scales:
            yield Case(name, space, scale, scale * direction)


def two_modes(d=8, strength=1.0, tilt=0.5):
    """f = strength ((|y| - d/2)^2 - d^2/4) + tilt |y|, two modes: all labels, or none."""
    space = PairwiseLabels("full", range(d))
    label = strength * (1 - d) + tilt
    scores = np.r_[np.full(d, label), np.full(d * (d - 1) // 2, 2 * strength)]
    return Case("8 labels, two modes", space, strength, scores[None])
