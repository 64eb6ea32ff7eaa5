# SPDX-License-Identifier: BSD-3-Clause
r"""Maximum a posteriori by stochastic gradients, where partition functions are not known.

Every training row has Markov chains of its own, at the law of the current weights; the mean of psi
over them stands for the gradient of ln Z. Steps are those of Newton's method at W = 0, where the
Hessian is known,

.. math:: (F^\top w F) \otimes S + 2 \lambda I, \qquad S = \mathrm{Cov}_{\text{uniform}}\, \psi,

and shrink with time. Weights are averaged over windows, each twice as long as the one before, until
the averaged gradient says that the objective is close to its minimum.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.progress import ticker
from skstruct.learners.exponential.exact import Solution
from skstruct.sampling.chains import Chains, uniform_draws

WIDE = 1500  # features or coordinates of which no eigenvectors are taken
LEVELS = 20  # temperatures between the uniform law and the model's, where chains are annealed


class StochasticGradients:
    """Gradients from chains, and the steps that they are good for.

    Parameters
    ----------
    model : RowModel
    n_chains : int
        Chains of every training row.
    n_sweeps : int
        Sweeps between two gradients.
    annealed : bool
        Whether chains begin anew, from the uniform law, for every gradient; else they go on.
    """

    def __init__(self, model, *, n_chains, n_sweeps, annealed, moves, rng, n_jobs):
        self.model, self.n_sweeps, self.annealed = model, n_sweeps, annealed
        self.rng, self.n_chains = rng, n_chains
        n = len(model.weight)
        self.row = np.repeat(np.arange(n), n_chains)
        self.chains = Chains(
            model.space, np.zeros((n, model.shape[1])), self.row, moves=moves, rng=rng,
            n_jobs=n_jobs,
        )  # fmt: skip
        self._prepare_steps()

    def _prepare_steps(self):
        """Eigenvectors of both factors of the Hessian at zero, or bounds where they are wide."""
        model = self.model
        p, d = model.shape
        F, w = model.features, model.weight
        self.left = self.right = None
        if p <= WIDE:
            inner = F.T @ (F.multiply(w[:, None]) if sparse.issparse(F) else F * w[:, None])
            inner = inner.toarray() if sparse.issparse(inner) else inner
            a, self.left = np.linalg.eigh(inner)
        else:
            squares = F.multiply(F) if sparse.issparse(F) else F**2
            a = np.full(p, float(np.asarray(squares.T @ w).sum()))
        drawn = model.space.embed(uniform_draws(model.space, max(1000, 2 * min(d, WIDE)), self.rng))
        drawn = drawn.toarray() if sparse.issparse(drawn) else np.asarray(drawn, dtype=np.float64)
        drawn = drawn - drawn.mean(axis=0)
        if d <= WIDE:
            e, self.right = np.linalg.eigh(drawn.T @ drawn / len(drawn))
        else:
            e = np.full(d, np.linalg.norm(drawn, 2) ** 2 / len(drawn))
        curvature = np.multiply.outer(a.clip(min=0), e.clip(min=0))
        self.curvature = curvature + 2.0 * model.lam

    def step(self, gradient) -> np.ndarray:
        """The Newton step at zero."""
        G = gradient if self.left is None else self.left.T @ gradient
        G = (G if self.right is None else G @ self.right) / self.curvature
        G = G if self.left is None else self.left @ G
        return G if self.right is None else G @ self.right.T

    def gradient(self, W) -> np.ndarray:
        """The gradient at W, by draws; shape (p, d)."""
        model, chains = self.model, self.chains
        chains.scores = model.scores(W)
        if self.annealed:
            chains.states = chains.moves.start(uniform_draws(model.space, len(self.row), self.rng))
            for level in range(1, LEVELS):
                chains.beta[:] = level / LEVELS
                chains.advance(1)
            chains.beta[:] = 1.0
        chains.advance(self.n_sweeps)
        outputs, total = chains.outputs, 2.0 * model.lam * W - model.data
        for rows in model.blocks:
            held = slice(rows.start * self.n_chains, rows.stop * self.n_chains)
            psi = model.space.embed(outputs[held])
            total += model.pulled_back(self._row_means(psi, rows.stop - rows.start), rows)
        return total

    def _row_means(self, psi, n_rows):
        if not sparse.issparse(psi):
            return np.asarray(psi).reshape(n_rows, self.n_chains, -1).mean(axis=1)
        groups = np.repeat(np.arange(n_rows), self.n_chains)
        share = np.full(len(groups), 1.0 / self.n_chains)
        mean = sparse.csr_array((share, (groups, np.arange(len(groups)))))
        return mean @ sparse.csr_array(psi)


def averaged_descent(gradients, W, *, tol: float, max_iter: int, verbose: int = 0) -> Solution:
    """Descend until the averaged gradient promises less than ``tol`` of the objective."""
    tick = ticker(max_iter, "stochastic gradients", verbose)
    done, window = 0, 16
    while True:
        window = min(window, max_iter - done)
        mean_W, mean_G = np.zeros_like(W), np.zeros_like(W)
        for t in range(done, done + window):
            G = gradients.gradient(W)
            mean_W += W / window
            mean_G += G / window
            W = W - gradients.step(G) / np.sqrt(1.0 + t / 16.0)
            tick()
        if not np.isfinite(W).all():
            raise ValueError("Stochastic gradients diverged: scale the inputs, or raise lam.")
        done += window
        promise = 0.5 * float(np.vdot(mean_G, gradients.step(mean_G)))
        if promise <= tol or done >= max_iter:
            break
        W, window = mean_W, 2 * window
    if promise > tol:
        warnings.warn(
            f"Stochastic gradients stopped after {done} steps while the objective may still fall "
            f"by {promise:.2g}, above tol = {tol:.2g}: raise max_iter or n_chains.",
            ConvergenceWarning,
            stacklevel=4,
        )
    norm = float(np.abs(mean_G).max(initial=0.0))
    return Solution(mean_W.ravel(), float("nan"), norm, done, promise <= tol)
