# SPDX-License-Identifier: BSD-3-Clause
"""Structured hinges whose vertices are listed, and their optima by an independent solver."""

import clarabel
import numpy as np
from scipy import sparse

from skstruct.learners.max_margin.dual import Vertices


class ListedVertices:
    """Examples of several rows, each with a few vertices of its own; the oracle compares all.

    Parameters
    ----------
    X : array (N, p), starts : array (M + 1,)
    seeing : for every example an array (n_vertices, T, q)
    constants : for every example an array (n_vertices, r)
    losses : for every example an array (n_vertices,)
    share : array (M,)
    """

    def __init__(self, X, starts, seeing, constants, losses, share):
        self.X, self.starts, self.share = np.asarray(X, dtype=float), np.asarray(starts), share
        self.seeing, self.constants, self.losses = seeing, constants, losses
        self.sizes = self.X.shape[1], seeing[0].shape[2], constants[0].shape[1]

    @classmethod
    def random(cls, seed, lengths, p=2, q=2, r=2, n_vertices=3):
        rng = np.random.default_rng(seed)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        X = rng.normal(size=(starts[-1], p))
        seeing = [rng.integers(-1, 2, size=(n_vertices, T, q)).astype(float) for T in lengths]
        constants = rng.integers(-1, 2, size=(len(lengths), n_vertices, r)).astype(float)
        losses = rng.random((len(lengths), n_vertices))
        weight = rng.random(len(lengths)) + 0.1
        return cls(X, starts, seeing, constants, losses, weight / weight.sum())

    def values(self, m, scores, w):
        """Loss plus score of every vertex of example m, and of the truth, whose is zero."""
        seen = np.einsum("atk,tk->a", self.seeing[m], scores)
        return np.append(seen + self.constants[m] @ w + self.losses[m], 0.0)

    def __call__(self, scores, w, examples):
        directions, constants, losses, bounds, at = [], [], [], [], 0
        for m in examples:
            T = self.seeing[m].shape[1]
            values = self.values(m, scores[at : at + T], w)
            best, at = int(values.argmax()), at + T
            zero = best == len(self.losses[m])
            directions.append(np.zeros(self.seeing[m].shape[1:]) if zero else self.seeing[m][best])
            constants.append(np.zeros(len(w)) if zero else self.constants[m][best])
            losses.append(0.0 if zero else self.losses[m][best])
            bounds.append(values.max())
        return Vertices(
            np.concatenate(directions), np.array(constants), np.array(losses), np.array(bounds)
        )

    def objective(self, W, w, lam, l1, shift):
        hinge = sum(
            h * self.values(m, self.X[a:b] @ W, w).max()
            for m, (h, a, b) in enumerate(zip(self.share, self.starts[:-1], self.starts[1:]))
        )
        kept = np.isfinite(l1)
        priced = l1[kept] @ np.abs(w[kept]) - shift @ w
        return lam / 2 * ((W**2).sum() + w @ w) + priced + hinge

    def optimum(self, lam, l1, shift):
        """Smallest objective, by an interior point method over v = (W, w+, w-, slacks)."""
        p, q, r = self.sizes
        M, kept = len(self.share), np.isfinite(l1)
        rows, right = [], []
        for m in range(M):
            X = self.X[self.starts[m] : self.starts[m + 1]]
            for a in range(len(self.losses[m]) + 1):
                zero = a == len(self.losses[m])  # the truth
                W = np.zeros(p * q) if zero else (X.T @ self.seeing[m][a]).ravel()
                w = np.zeros(r) if zero else self.constants[m][a] * kept
                rows.append(np.concatenate([W, w, -w, -np.eye(M)[m]]))
                right.append(0.0 if zero else -self.losses[m][a])
        signs = np.hstack([np.zeros((2 * r, p * q)), -np.eye(2 * r), np.zeros((2 * r, M))])
        P = np.zeros((p * q + 2 * r + M,) * 2)
        P[: p * q, : p * q] = lam * np.eye(p * q)
        both = np.kron([[1.0, -1.0], [-1.0, 1.0]], lam * np.diag(kept.astype(float)))
        P[p * q : -M, p * q : -M] = both
        cost, tilt = np.where(kept, l1, 1.0), shift * kept
        c = np.concatenate([np.zeros(p * q), cost - tilt, cost + tilt, self.share])
        A, b = np.vstack([*rows, signs]), np.concatenate([right, np.zeros(2 * r)])
        options = clarabel.DefaultSettings()
        options.verbose = False
        cones = [clarabel.NonnegativeConeT(len(b))]
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(P), c, sparse.csc_matrix(A), b, cones, options
        )
        v = np.array(solver.solve().x)
        W, w = v[: p * q].reshape(p, q), (v[p * q :][:r] - v[p * q + r :][:r]) * kept
        return self.objective(W, w, lam, l1, shift)
