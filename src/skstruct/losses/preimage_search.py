# SPDX-License-Identifier: BSD-3-Clause
"""The search for outputs whose features are nearest to a weighted sum of features."""

from __future__ import annotations

import contextlib

import numpy as np

from skstruct.decoding.preimages.climbing import climb_gaussians, descend, feature_bounds
from skstruct.decoding.preimages.gaussian_cells import GaussianCells
from skstruct.losses.squared import Squared
from skstruct.spaces.base import Decoded
from skstruct.spaces.limits import held_by

UNIT = ("rbf", "laplacian")  # h(z, z) = 1 and h >= 0
BLOCK = 1024  # columns of the kernel of all pairs that are held at a time


class PreImages:
    """Outputs of least risk under a kernel loss, for rows of weights of any sign.

    Parameters
    ----------
    loss : KernelLoss
        Its kernel, ``matrix(A, B)``, ``diagonal(A)``, ``width`` and ``n_starts``.
    W : array of shape (B, n)
    Y : array of shape (n, d)
    space : space of quantities
    """

    def __init__(self, loss, W, Y, space):
        self.loss, self.W, self.Y, self.space = loss, W, Y, space
        self.diagonal = loss.diagonal(Y)
        self.totals, self.constants = W.sum(axis=1), W @ self.diagonal
        # <m, phi(y_i)>, m = sum_i w_i phi(y_i); columns in blocks, for the kernel of all pairs
        # may not fit.
        blocks = [slice(start, start + BLOCK) for start in range(0, len(Y), BLOCK)]
        self.inner = np.hstack([W @ loss.matrix(Y, Y[block]) for block in blocks])

    def values(self, points, rows):
        """The risk of one point for each of some rows, less a constant of the row."""
        terms = self.W[rows] * self.loss.matrix(points, self.Y)
        return self.totals[rows] * self.loss.diagonal(points) - 2.0 * terms.sum(axis=1)

    def project(self, points, rows):
        """The nearest points of the space."""
        view = self.space.rows(rows).with_embedding("squares")
        return view.argmin(Squared().cost(view.embed(points), np.ones((len(points), 1)))).outputs

    def best(self, certify=True) -> Decoded:
        """The best points found; with bounds from a search of all cells only if asked for."""
        at_outputs = self.totals[:, None] * self.diagonal - 2.0 * self.inner
        allowed = np.where(held_by(self.space, self.Y), at_outputs, np.inf)
        first = allowed.argmin(axis=1)
        every = np.arange(len(self.W))
        points, values = self.Y[first].copy(), allowed[every, first]
        n_starts = max(self.loss.n_starts, 0 if np.isfinite(values).all() else 1)
        starts = [
            self.project(self.Y[start], every) for start in self._starts(at_outputs, n_starts)
        ]
        if self.loss.n_starts and (self.W < 0).any():
            starts += self._extremes()
        for start in starts:
            new = self._improved(start)
            new_values = self.values(new, every)
            better = new_values < values
            points[better], values[better] = new[better], new_values[better]
        bounds = self._bounds()
        if certify and self.loss.kernel == "rbf" and self.Y.shape[1] <= 3:
            points, values, bounds = self._certified(points, values, bounds)
        bounds = np.minimum(bounds, values)
        return Decoded(points, values + self.constants, bounds + self.constants)

    def _starts(self, at_outputs, n_starts):
        """Numbers of good training outputs that are not all near each other; each (B,)."""
        left = at_outputs.copy()
        for _ in range(min(n_starts, len(self.Y))):
            start = left.argmin(axis=1)
            yield start
            near = self.loss.matrix(self.Y[start], self.Y)
            near -= 0.5 * np.sqrt(self.diagonal[start][:, None] * self.diagonal)
            left[near >= 0] = np.inf
            left[np.arange(len(left)), start] = np.inf
            if not np.isfinite(left).any():
                return

    def _extremes(self):
        """A vertex in the way that the weights pull: negative ones make outputs the worst."""
        pull = self.W @ (self.Y - self.Y.mean(axis=0))
        view = self.space.with_embedding("coordinates")
        try:
            return [view.argmin(-pull).outputs]
        except ValueError:  # no limits that way
            return []

    def _improved(self, starts):
        if self.loss.kernel == "rbf":
            return climb_gaussians(self.W, self.Y, starts, self.loss.width, self.project)[0]
        size = np.sqrt(self.Y.var(axis=0).sum()) or 1.0
        return descend(self.values, starts, self.project, size=size)[0]

    def _certified(self, points, values, bounds):
        """Few dimensions are searched in full, as far as the budget goes."""
        low, high = self._box()
        cells = GaussianCells(self.W, self.Y, self.loss.width, self.project, low, high)
        points, sums, most = cells.run(points, 0.5 * (self.totals - values))
        rounding = 1e-13 * np.abs(self.W).sum(axis=1)
        lower = self.totals - 2.0 * most - rounding
        return points, self.totals - 2.0 * sums, np.maximum(bounds, lower)

    def _box(self):
        """A box around the space, over all rows; infinite where the space is."""
        d, n = self.Y.shape[1], len(self.W)
        view = self.space.with_embedding("coordinates")
        sides = np.full((2, d), np.inf)
        for sign in (0, 1):
            for j in range(d):
                costs = np.zeros((n, d))
                costs[:, j] = 1.0 - 2.0 * sign
                with contextlib.suppress(ValueError):  # no limit on this side
                    sides[sign, j] = -view.argmin(costs).bounds.min(initial=np.inf)
        return -sides[0], sides[1]

    def _bounds(self):
        """Lower bounds from |m|, and for h >= 0 from the positive weights alone."""
        squares = np.einsum("bi,bi->b", self.W, self.inner)
        sizes = np.abs(self.W).sum(axis=1) * np.sqrt(np.abs(self.diagonal).max())
        lengths = np.sqrt(np.maximum(squares, 0.0) + 1e-13 * sizes**2)  # safe from rounding
        if self.loss.kernel in UNIT:
            most = np.minimum(lengths, np.maximum(self.W, 0.0).sum(axis=1))
            return feature_bounds(self.totals, most, 1.0, 1.0)
        low, high = 0.0, 1.0 if self.loss.kernel == "cosine" else self._longest()
        return feature_bounds(self.totals, lengths, low, high)

    def _longest(self):
        """Largest length of features in the space: known for polynomials, else infinite."""
        if callable(self.loss.kernel) or (self.totals > 0).all():
            return np.inf
        view, d = self.space.with_embedding("squares"), self.Y.shape[1]
        origin = view.embed(np.zeros((1, d)))[0, :d]  # minus the centre c of the embedding
        # |z|^2 = |z - c|^2 + 2 <c, z - c> + |c|^2
        costs = np.hstack([2.0 * origin, -np.ones(d)])
        try:
            farthest = view.argmin(np.tile(costs, (len(self.W), 1))).bounds
        except ValueError:  # no limits
            return np.inf
        norms = np.maximum(origin @ origin - farthest, 0.0)
        base = self.loss.width * norms + self.loss.coef0
        return np.sqrt(base**self.loss.degree)
