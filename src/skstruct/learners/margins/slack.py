# SPDX-License-Identifier: BSD-3-Clause
"""Slack rescaling: rivals by the product of their loss and their margin."""

from __future__ import annotations

import numpy as np

from skstruct.learners.margins.dual import Atoms
from skstruct.learners.margins.loss_levels import loss_levels
from skstruct.learners.margins.problem import MarginProblem, dense
from skstruct.learners.margins.products import ProductSearch
from skstruct.spaces.base import Enumerable
from skstruct.spaces.limits import differs_by_row
from skstruct.spaces.listed import ListView

MOST_LISTED, MOST_NUMBERS = 20_000, 2 * 10**6  # outputs that are compared one by one; their psi
FEW = 2_000  # the same where losses have known levels, with which searches mostly end exact


class SlackRescaling:
    r"""The oracle of slack rescaling,

    .. math:: \max_z \ell(z, y)\, H(z), \qquad H(z) = 1 + \langle s, \psi(z) - \psi(y) \rangle

    with atoms :math:`u = \ell(z, y) (\psi(z) - \psi(y))` of loss :math:`\ell(z, y)` [1]_.

    Over spaces of few outputs all are compared. Otherwise rivals that maximize
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

    def __init__(self, problem: MarginProblem):
        self.problem = problem
        self.step, self.least = loss_levels(problem)
        self.listed = list_of_outputs(problem, FEW if self.step else MOST_LISTED)
        if self.listed is not None:
            self.psi = dense(problem.scored.embed(self.listed))
            self.loss_psi = problem.view.embed(self.listed)
        self.omega = np.ones(len(problem.outputs))  # where the last search of an example ended

    @property
    def remembered(self) -> tuple[np.ndarray, ...]:
        """What the answer to a call depends on besides its arguments."""
        return (self.omega,)

    def __call__(self, scores, constants, examples) -> Atoms:
        if self.listed is not None:
            return self._compare(scores, constants, examples)
        levels = self.step, self.least[examples]
        search = ProductSearch(self.problem, scores, constants, examples, levels)
        self.omega[examples] = search.run(self.omega[examples])
        return search.atoms()

    def _compare(self, scores, constants, examples) -> Atoms:
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
        return Atoms(
            found[:, None] * (psi[:, :q] - seeing), found[:, None] * (psi[:, q:] - fixed),
            found, np.maximum(products[at], 0.0),
        )  # fmt: skip

    def _losses(self, examples):
        """Losses of all outputs for some examples; shape (B, outputs)."""
        costs, offset = self.problem.loss_costs(examples)
        losses = (self.loss_psi @ costs.T).T  # psi may be sparse
        return np.maximum(losses + offset[:, None], 0.0)


def list_of_outputs(problem, most) -> np.ndarray | None:
    """All outputs that may be rivals in training; None where they are too many."""
    if hasattr(problem, "lengths"):  # sequences of several lengths: other outputs in every row
        return None
    space = problem.scored if problem.by_rank else problem.decoder
    if differs_by_row(space):
        return None
    if isinstance(space, ListView):
        listed = space.listed_[space.allowed()[0]]
    else:
        listed = _enumerated(getattr(space, "space", space), most)  # a view lists what it views
    if listed is None or len(listed) > most:
        return None
    return listed if len(listed) * problem.width <= MOST_NUMBERS else None


def _enumerated(space, most):
    if not isinstance(space, Enumerable):
        return None
    try:
        listed = space.enumerate(limit=most)
    except ValueError:  # there are more
        return None
    allowed = getattr(space, "allowed_", None)
    return listed if allowed is None else listed[allowed]
