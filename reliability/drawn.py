# SPDX-License-Identifier: BSD-3-Clause
"""A space drawn at random, beside the list of its outputs that an oracle made."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

LETTERS = "abcdefghijklmnop"


@dataclass
class Drawn:
    """A space of the library, and what it is by definition.

    ``narrow(rng, n)`` draws constraints for n rows: arguments of ``restrict``, and which outputs
    meet them, a mask of shape (1 or n, m).
    """

    name: str
    space: Any  # fitted
    outputs: list[Any]  # all, in the user's format, those of constraints of the space itself
    psi: np.ndarray  # shape: (m, d), by definition
    key: Callable[[Any], Any]  # of an output in the user's format: equal if and only if the same
    narrow: Callable[..., tuple[dict[str, Any], np.ndarray]] | None = None
    facts: dict[str, Any] = field(default_factory=dict)  # that definitions of losses need
    trains: list[Any] | None = None  # outputs to fit with, where these are not ``outputs``

    def canonical(self):
        return np.asarray(self.space.validate(self.outputs))


def some(rng, names, share=0.3):
    """A few of several things, often none."""
    return [name for name in names if rng.random() < share * rng.random()]


def in_and_out(Z, names, share=0.35, words=("include", "exclude"), meets=None):
    """Draws what must be in and what must be out, for all rows or row by row.

    ``meets(include, exclude)`` tells by numbers of ``names`` which outputs do; by default columns
    of Z are one and zero.
    """

    def both(inside, outside):
        if meets is not None:
            return meets(inside, outside)
        return (Z[:, inside] == 1).all(axis=1) & (Z[:, outside] == 0).all(axis=1)

    def narrow(rng, n):
        numbers = range(len(names))
        inside, outside = words
        if rng.random() < 0.5:
            first, second = some(rng, numbers, share), some(rng, numbers, share)
            chosen = {inside: [names[j] for j in first], outside: [names[j] for j in second]}
            return chosen, both(first, second)[None]
        first = [some(rng, numbers, share) for _ in range(n)]
        second = [some(rng, numbers, share) for _ in range(n)]
        chosen = {
            inside: [[names[j] for j in row] for row in first],
            outside: [[names[j] for j in row] for row in second],
        }
        return chosen, np.array([both(*row) for row in zip(first, second)])

    return narrow


def together(*narrows):
    """Constraints of several kinds, each drawn or left out."""

    def narrow(rng, n):
        chosen, mask = {}, np.ones((1, 1), bool)
        for one in narrows:
            if rng.random() < 0.7:
                more, met = one(rng, n)
                chosen, mask = {**chosen, **more}, mask & met
        return chosen, mask

    return narrow
