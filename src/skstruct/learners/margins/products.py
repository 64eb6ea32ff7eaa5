# SPDX-License-Identifier: BSD-3-Clause
"""The largest product of loss and margin, by rivals of several weighted sums of the two."""

from __future__ import annotations

import numpy as np

from skstruct.learners.margins.dual import Atoms

MOST_CALLS, NEAR = 15, 1e-10


class Points:
    """One output per example, and the line it was found by: ``losses + omega H <= b``."""

    def __init__(self, seeing, constants, losses, heights, omega, b):
        self.seeing, self.constants = seeing, constants  # psi, shapes: (R, q) and (B, r)
        self.losses, self.heights = losses, heights  # loss and H, shape: (B,)
        self.omega, self.b = omega, b  # shape: (B,)

    def value(self, omega):
        return self.losses + omega * self.heights

    def take(self, which, rows, other):
        """Some examples from another; ``which`` and ``rows`` are masks."""
        self.seeing[rows], self.constants[which] = other.seeing[rows], other.constants[which]
        for name in ("losses", "heights", "omega", "b"):
            getattr(self, name)[which] = getattr(other, name)[which]

    def copy(self):
        return Points(*(getattr(self, name).copy() for name in vars(self)))


class ProductSearch:
    r"""Maximizes :math:`\ell H` for a batch of examples; see ``SlackRescaling``.

    As :math:`\omega` grows, the rival of :math:`\ell + \omega H` has a larger H and a smaller
    loss. On the hull the product is largest where :math:`\omega = \ell / H`. Two rivals
    bracket that point: ``left``, with :math:`\ell / H` above its omega, and ``right``, with
    :math:`\ell / H` below; it begins with the truth, which is known. The next omega is the
    slope of the line between the two, cut to what can still be the best one. When no rival is
    above that line, it is an edge of the hull and the search is over.

    Parameters
    ----------
    problem : MarginProblem
    scores, constants, examples : arrays, as an oracle gets them
    levels : pair of a float and an array of shape (B,), see ``loss_levels``
    """

    def __init__(self, problem, scores, constants, examples, levels):
        self.problem, self.scores, self.constants = problem, scores, constants
        self.examples = np.asarray(examples)
        self.step, self.least = levels
        B = len(self.examples)
        lengths = problem.lengths[examples] if hasattr(problem, "lengths") else np.ones(B, int)
        self.owner = np.repeat(np.arange(B), lengths)  # the example of every row
        seeing, fixed = problem.truth(self.examples)
        self.own = self._scores(seeing, fixed, np.ones(B, bool))
        free = np.full(B, np.inf)
        self.truth = Points(seeing, fixed, np.zeros(B), np.ones(B), np.ones(B), free)
        self.left, self.right, self.best = (self.truth.copy() for _ in range(3))
        self.has_left = np.zeros(B, bool)
        self.ceiling, self.upper = free.copy(), free.copy()  # of losses, and of products

    def _scores(self, seeing, fixed, which):
        inner = (self.scores[which[self.owner]] * seeing).sum(axis=1)
        return self.problem.totals(inner, self.examples[which]) + fixed @ self.constants

    # ------------------------------------------------------------------ searching
    def run(self, omega) -> np.ndarray:
        """Search from a guess; returns the last positive omega of every example."""
        omega, last = np.array(omega), np.array(omega)
        still = np.ones(len(omega), bool)
        for call in range(MOST_CALLS):
            found = self._ask(omega, still)
            self._bound(found)
            over = self._known(found, still)
            last = np.where(still & (omega > 0), omega, last)
            self._keep(found, still)
            products = self.best.losses * self.best.heights
            still &= ~over & (products < (1.0 - NEAR) * self.upper)
            if not still.any():
                break
            omega = self._next(call)
        if self.problem.relaxed:
            self._mix()
        return last

    def _ask(self, omega, which) -> Points:
        """The rivals of some examples; the others keep the truth and a line that says nothing."""
        found, rows, weight = self.truth.copy(), which[self.owner], omega[which]
        rivals = self.problem.rivals(
            self.scores[rows], self.constants, self.examples[which], weight
        )
        found.seeing[rows], found.constants[which] = rivals.seeing, rivals.constants
        found.losses[which] = np.maximum(rivals.losses, 0.0)
        heights = self._scores(rivals.seeing, rivals.constants, which) - self.own[which]
        found.heights[which] = 1.0 + heights
        found.omega[which] = weight
        found.b[which] = rivals.bounds + weight * (1.0 - self.own[which])
        return found

    def _bound(self, found):
        """What the new lines say; one with omega zero bounds the losses alone."""
        flat = found.omega == 0.0
        self.ceiling = np.where(flat, np.minimum(self.ceiling, found.b), self.ceiling)
        line = np.where(flat, 1.0, found.omega), np.where(flat, np.inf, found.b)
        for other in (self.left, self.right):
            both = line, (other.omega, other.b)
            largest = largest_product(*both, self.least, self.ceiling, self.step)
            self.upper = np.minimum(self.upper, largest)

    def _known(self, found, still):
        """Where no rival beats the two that are known: these are ends of an edge of the hull."""
        known = np.maximum(self.left.value(found.omega), self.right.value(found.omega))
        new = found.value(found.omega) > known + NEAR * (np.abs(known) + found.omega)
        return still & ~new & (self.has_left | (found.omega == 0.0))

    def _keep(self, found, still):
        """The best point so far, and the two that bracket omega."""
        products = self.best.losses * self.best.heights
        better = still & (found.losses * found.heights > products)
        left = still & (found.losses > found.omega * found.heights)
        for points, which in ((self.best, better), (self.left, left), (self.right, still & ~left)):
            points.take(which, which[self.owner], found)
            # A level line bounds losses, which is kept apart: with H it says nothing.
            flat = points.omega == 0.0
            points.omega[flat], points.b[flat] = 1.0, np.inf
        self.has_left |= left

    def _next(self, call):
        """Where to look next; shape (B,)."""
        left, right = self.left, self.right
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (left.losses - right.losses) / (right.heights - left.heights)
            slope = np.where(right.heights > left.heights, slope, np.inf)
            most = np.where(left.heights > 0, left.losses / left.heights, np.inf)
            least = np.where(right.losses > 0, right.losses / right.heights, 0.0)
        smaller = right.omega / 8 if call < 3 else 0.0  # towards rivals that are not the truth
        alone = np.where(least > 0, least, smaller)
        omega = np.where(self.has_left, np.clip(slope, least, most), alone)
        return np.where(np.isfinite(omega), omega, 1.0)

    # ------------------------------------------------------------------ results
    def _mix(self):
        """In a relaxation the best point of the edge is allowed: a mixture of its ends."""
        left, right = self.left, self.right
        a, b = left.losses - right.losses, left.heights - right.heights
        # The product of right + t (left - right) is a parabola in t.
        curve, slope = a * b, a * right.heights + b * right.losses
        t = np.where(curve < 0, slope / np.where(curve < 0, -2.0 * curve, 1.0), 0.0).clip(0.0, 1.0)
        mixed = self.truth.copy()
        for name in ("losses", "heights", "constants", "seeing"):
            ends = getattr(right, name), getattr(left, name)
            share = t[self.owner] if name == "seeing" else t
            share = share.reshape(-1, *(1,) * (ends[0].ndim - 1))
            setattr(mixed, name, ends[0] + share * (ends[1] - ends[0]))
        better = mixed.losses * mixed.heights > self.best.losses * self.best.heights
        better &= self.has_left
        self.best.take(better, better[self.owner], mixed)

    def atoms(self) -> Atoms:
        """What was found, with the products that no output exceeds."""
        best, truth = self.best, self.truth
        products = best.losses * best.heights
        loss = np.where(products > 0.0, best.losses, 0.0)  # else the truth itself
        return Atoms(
            loss[self.owner][:, None] * (best.seeing - truth.seeing),
            loss[:, None] * (best.constants - truth.constants),
            loss, np.maximum(np.maximum(self.upper, products), 0.0),
        )  # fmt: skip


def largest_product(line, other, least, ceiling, step) -> np.ndarray:
    """The largest l H with l + omega H <= b on two lines (omega, b), and a loss l that may be.

    That is the largest l * min((b - l) / omega), concave in l: at the top of one parabola or
    where the two lines meet, or next to it where losses are multiples of ``step``.
    """
    (p, b), (q, c) = line, other
    with np.errstate(invalid="ignore", divide="ignore"):
        losses = np.stack([0.5 * b, 0.5 * c, (b * q - c * p) / (q - p)])
    losses = np.where(np.isfinite(losses), losses, np.where(np.isfinite(ceiling), ceiling, 1.0))
    losses = np.minimum(np.maximum(losses, least), ceiling)
    if step:
        whole = np.floor(losses / step) * step
        losses = np.concatenate([whole, whole + step])
    heights = np.minimum((b - losses) / p, (c - losses) / q)
    possible = (losses >= least * (1.0 - NEAR)) & (losses <= ceiling * (1.0 + NEAR))
    products = np.where(possible & (losses > 0) & (heights > 0), losses, 0.0)
    products = products * np.where(products > 0, heights, 0.0)
    return products.max(axis=0)
