# SPDX-License-Identifier: BSD-3-Clause
"""Slack rescaling: the most violating output by the product of loss and margin."""

from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.learners.max_margin.dual import Vertices
from skstruct.learners.max_margin.problem import MarginProblem
from skstruct.losses import Levels
from skstruct.spaces import Uniform
from skstruct.spaces.constraints import differs_by_row
from skstruct.tolerances import LOSS_LEVEL

RESCALINGS = ("margin", "slack")


def loss_levels(problem: MarginProblem) -> Any:
    """Levels of the loss, an entry per example; a relaxation mixes outputs, so their losses."""
    if problem.relaxed:
        return 0.0, np.zeros(len(problem.outputs))
    return Levels.of(problem.loss).steps(problem.outputs)


# The largest product of loss and margin, by maximizers of several weighted sums of the two.


MOST_CALLS = 15


class Points:
    """One output per example, and the line it was found by: ``losses + omega H <= b``."""

    def __init__(
        self,
        seeing: np.ndarray,
        constants: np.ndarray,
        losses: np.ndarray,
        heights: np.ndarray,
        omega: np.ndarray,
        b: np.ndarray,
    ) -> None:
        self.seeing, self.constants = seeing, constants  # psi, shapes: (R, q) and (B, r)
        self.losses, self.heights = losses, heights  # loss and H, shape: (B,)
        self.omega, self.b = omega, b  # shape: (B,)

    def value(self, omega: np.ndarray) -> Any:
        return self.losses + omega * self.heights

    def take(self, which: np.ndarray, rows: np.ndarray, other: "Points") -> None:
        """Some examples from another; ``which`` and ``rows`` are masks."""
        self.seeing[rows], self.constants[which] = other.seeing[rows], other.constants[which]
        for name in ("losses", "heights", "omega", "b"):
            getattr(self, name)[which] = getattr(other, name)[which]

    def copy(self) -> "Points":
        return Points(*(getattr(self, name).copy() for name in vars(self)))


class ProductSearch:
    r"""Maximizes :math:`\ell H` for a batch of examples; see ``SlackRescaling``.

    As :math:`\omega` grows, the maximizer of :math:`\ell + \omega H` has a larger H and a smaller
    loss. On the hull the product is largest where :math:`\omega = \ell / H`. Two such
    outputs bracket that point: ``left``, with :math:`\ell / H` above its omega, and ``right``, with
    :math:`\ell / H` below; it begins with the truth, which is known. The next omega is the
    slope of the line between the two, cut to what can still be the best one. When no output is
    above that line, it is an edge of the hull and the search is over.

    Parameters
    ----------
    problem : MarginProblem
    scores, constants, examples : arrays, as an oracle gets them
    levels : pair of a float and an array of shape (B,), see ``loss_levels``
    """

    def __init__(
        self,
        problem: MarginProblem,
        scores: np.ndarray,
        constants: np.ndarray,
        examples: np.ndarray,
        levels: tuple[float, np.ndarray],
    ) -> None:
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

    def _scores(self, seeing: np.ndarray, fixed: np.ndarray, which: np.ndarray) -> Any:
        inner = (self.scores[which[self.owner]] * seeing).sum(axis=1)
        return self.problem.totals(inner, self.examples[which]) + fixed @ self.constants

    # ------------------------------------------------------------------ searching
    def run(self, omega: np.ndarray) -> np.ndarray:
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
            still &= ~over & (products < (1.0 - LOSS_LEVEL) * self.upper)
            if not still.any():
                break
            omega = self._next(call)
        if self.problem.relaxed:
            self._mix()
        return last

    def _ask(self, omega: np.ndarray, which: np.ndarray) -> Points:
        """Maximizers of some examples; the others keep the truth and a line that says nothing."""
        found, rows, weight = self.truth.copy(), which[self.owner], omega[which]
        violating = self.problem.most_violating(
            self.scores[rows], self.constants, self.examples[which], weight
        )
        found.seeing[rows], found.constants[which] = violating.seeing, violating.constants
        found.losses[which] = np.maximum(violating.losses, 0.0)
        heights = self._scores(violating.seeing, violating.constants, which) - self.own[which]
        found.heights[which] = 1.0 + heights
        found.omega[which] = weight
        found.b[which] = violating.bounds + weight * (1.0 - self.own[which])
        return found

    def _bound(self, found: Points) -> None:
        """What the new lines say; one with omega zero bounds the losses alone."""
        flat = found.omega == 0.0
        self.ceiling = np.where(flat, np.minimum(self.ceiling, found.b), self.ceiling)
        line = np.where(flat, 1.0, found.omega), np.where(flat, np.inf, found.b)
        for other in (self.left, self.right):
            both = line, (other.omega, other.b)
            largest = largest_product(*both, self.least, self.ceiling, self.step)
            self.upper = np.minimum(self.upper, largest)

    def _known(self, found: Points, still: np.ndarray) -> Any:
        """Where no output beats the two that are known: these are ends of an edge of the hull."""
        known = np.maximum(self.left.value(found.omega), self.right.value(found.omega))
        new = found.value(found.omega) > known + LOSS_LEVEL * (np.abs(known) + found.omega)
        return still & ~new & (self.has_left | (found.omega == 0.0))

    def _keep(self, found: Points, still: np.ndarray) -> None:
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

    def _next(self, call: int) -> np.ndarray:
        """Where to look next; shape (B,)."""
        left, right = self.left, self.right
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = (left.losses - right.losses) / (right.heights - left.heights)
            slope = np.where(right.heights > left.heights, slope, np.inf)
            most = np.where(left.heights > 0, left.losses / left.heights, np.inf)
            least = np.where(right.losses > 0, right.losses / right.heights, 0.0)
        smaller = right.omega / 8 if call < 3 else 0.0  # towards outputs that are not the truth
        alone = np.where(least > 0, least, smaller)
        omega = np.where(self.has_left, np.clip(slope, least, most), alone)
        return np.where(np.isfinite(omega), omega, 1.0)

    # ------------------------------------------------------------------ results
    def _mix(self) -> None:
        """In a relaxation the best point of the edge is allowed: a mixture of its ends."""
        left, right = self.left, self.right
        a, b = left.losses - right.losses, left.heights - right.heights
        # The product of right + t (left - right) is a parabola in t.
        curve, slope = a * b, a * right.heights + b * right.losses
        t = np.where(curve < 0, slope / np.where(curve < 0, -2.0 * curve, 1.0), 0.0).clip(0.0, 1.0)
        mixed = self.truth.copy()
        for name in ("losses", "heights", "constants", "seeing"):
            ends = getattr(right, name), getattr(left, name)
            weight = t[self.owner] if name == "seeing" else t
            weight = weight.reshape(-1, *(1,) * (ends[0].ndim - 1))
            setattr(mixed, name, ends[0] + weight * (ends[1] - ends[0]))
        better = mixed.losses * mixed.heights > self.best.losses * self.best.heights
        better &= self.has_left
        self.best.take(better, better[self.owner], mixed)

    def vertices(self) -> Vertices:
        """What was found, with the products that no output exceeds."""
        best, truth = self.best, self.truth
        products = best.losses * best.heights
        loss = np.where(products > 0.0, best.losses, 0.0)  # else the truth itself
        return Vertices(
            loss[self.owner][:, None] * (best.seeing - truth.seeing),
            loss[:, None] * (best.constants - truth.constants),
            loss, np.maximum(np.maximum(self.upper, products), 0.0),
        )  # fmt: skip


def largest_product(
    line: tuple[np.ndarray, np.ndarray],
    other: tuple[np.ndarray, np.ndarray],
    least: np.ndarray,
    ceiling: np.ndarray,
    step: float,
) -> Any:
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
    possible = (losses >= least * (1.0 - LOSS_LEVEL)) & (losses <= ceiling * (1.0 + LOSS_LEVEL))
    products = np.where(possible & (losses > 0) & (heights > 0), losses, 0.0)
    products = products * np.where(products > 0, heights, 0.0)
    return products.max(axis=0)


# Slack rescaling: most violating outputs by the product of loss and margin.


MOST_LISTED, MOST_NUMBERS = 20_000, 2 * 10**6  # outputs that are compared one by one; their psi
MOST_LISTED_WITH_LEVELS = (
    2_000  # the same where losses have known levels, with which searches mostly end exact
)


class SlackRescaling:
    r"""The oracle of slack rescaling,

    .. math:: \max_z \ell(z, y)\, H(z), \qquad H(z) = 1 + \langle s, \psi(z) - \psi(y) \rangle

    with vertices :math:`u = \ell(z, y) (\psi(z) - \psi(y))` of loss :math:`\ell(z, y)` [1]_.

    Over spaces of few outputs all are compared. Otherwise outputs that maximize
    :math:`\ell + \omega H` are asked for, which is decoding with other costs, and
    :math:`\omega` is searched [2]_. They are corners of the convex hull of all points
    :math:`(H, \ell)`. A product may well be largest at a point *inside* the hull: of (1, 3),
    (1.9, 1.9) and (3, 1) the second has the largest product, and for no :math:`\omega` the
    largest sum. So the best corner is an answer with a certificate, not always the exact one:
    every :math:`\omega` says that :math:`\ell + \omega H \le b(\omega)` for all outputs, and
    ``bounds`` are the largest product under these lines. Where the levels that a loss may
    take are known, such as whole numbers, only these count.

    Parameters
    ----------
    problem : MarginProblem

    References
    ----------
    .. [1] I. Tsochantaridis, T. Joachims, T. Hofmann, Y. Altun, "Large margin methods for
       structured and interdependent output variables", JMLR 6, 2005.
    .. [2] S. Sarawagi, R. Gupta, "Accurate max-margin training for structured output spaces",
       ICML 2008.
    """

    def __init__(self, problem: MarginProblem) -> None:
        self.problem = problem
        self.step, self.least = loss_levels(problem)
        self.listed = list_of_outputs(
            problem, MOST_LISTED_WITH_LEVELS if self.step else MOST_LISTED
        )
        if self.listed is not None:
            self.psi = dense(problem.scored.embed(self.listed), np.float64)
            self.loss_psi = problem.view.embed(self.listed)
        self.omega = np.ones(len(problem.outputs))  # where the last search of an example ended

    @property
    def remembered(self) -> tuple[np.ndarray, ...]:
        """What the answer to a call depends on besides its arguments."""
        return (self.omega,)

    def __call__(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Vertices:
        if self.listed is not None:
            return self._compare(scores, constants, examples)
        levels = self.step, self.least[examples]
        search = ProductSearch(self.problem, scores, constants, examples, levels)
        self.omega[examples] = search.run(self.omega[examples])
        return search.vertices()

    def _compare(self, scores: np.ndarray, constants: np.ndarray, examples: np.ndarray) -> Vertices:
        """The best of all outputs."""
        q = scores.shape[1]
        seeing, fixed = self.problem.truth(examples)
        own = (scores * seeing).sum(axis=1) + fixed @ constants
        totals = scores @ self.psi[:, :q].T + constants @ self.psi[:, q:].T
        losses = self._losses(examples)
        products = losses * (1.0 + totals - own[:, None])  # shape: (B, outputs)
        best = products.argmax(axis=1)
        at = np.arange(len(best)), best
        found = np.where(products[at] > 0.0, losses[at], 0.0)  # else the truth itself
        psi = self.psi[best]
        return Vertices(
            found[:, None] * (psi[:, :q] - seeing), found[:, None] * (psi[:, q:] - fixed),
            found, np.maximum(products[at], 0.0),
        )  # fmt: skip

    def _losses(self, examples: np.ndarray) -> Any:
        """Losses of all outputs for some examples; shape (B, outputs)."""
        costs, offset = self.problem.loss_costs(examples)
        losses = (self.loss_psi @ costs.T).T  # psi may be sparse
        return np.maximum(losses + offset[:, None], 0.0)


def list_of_outputs(problem: MarginProblem, most: int) -> np.ndarray | None:
    """All outputs that may violate a margin in training; None where they are too many."""
    if hasattr(problem, "lengths"):  # sequences of several lengths: other outputs in every row
        return None
    space = problem.scored if problem.by_rank else problem.decoder
    if differs_by_row(space):
        return None
    listed = Uniform.of(space).all_outputs(most)
    if listed is None or len(listed) > most:
        return None
    return listed if len(listed) * problem.width <= MOST_NUMBERS else None


def oracle_of(problem: MarginProblem, rescaling: str) -> Any:
    """The oracle of the structured hinge."""
    return SlackRescaling(problem) if rescaling == "slack" else problem.vertices
