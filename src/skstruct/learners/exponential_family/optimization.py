# SPDX-License-Identifier: BSD-3-Clause
"""Maximum a posteriori: by L-BFGS where gradients are exact, else by stochastic gradients."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.progress import ticker
from skstruct._arrays.rows import dense
from skstruct.learners.checkpoints.saving import NOWHERE, set_stream
from skstruct.learners.exponential_family.quasi_newton import Descent
from skstruct.sampling.chains import Chains, uniform_draws
from skstruct.tolerances import SMALLEST_PENALTY

ROUNDING_STEPS = 64  # of the last digit of the objective: what falls by less has stopped


# Maximum a posteriori by L-BFGS, where gradients are exact.


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, and how good they are known to be."""

    theta: np.ndarray
    objective: float  # NaN where it is not known
    gradient_norm: float  # largest entry
    n_iter: int
    converged: bool
    trace: tuple[float, ...] = ()  # objectives, step by step, where they are known


def lbfgs(
    model: Any,
    theta: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    verbose: int = 0,
    level: Any = NOWHERE,
    warn: bool = True,
) -> Solution:
    """Minimise a model's convex objective until no entry of the gradient exceeds ``tol``.

    It also ends when the objective moves by rounding alone.
    """
    descent = Descent(model.value_and_gradient, theta)
    if level.found:
        descent.restore(level.found["descent"])
    else:
        descent.begin()
    if not len(theta):  # a kernel of zeros has no features
        return Solution(theta, float(descent.value), 0.0, 0, True)
    with ticker(max_iter, "L-BFGS", verbose) as tick:
        still = _descended_until(descent, tol, max_iter, level, tick)
    norm = float(np.abs(descent.gradient).max())
    # A search that ends because the objective moves by rounding alone has found what there is.
    converged = norm <= tol or (still and np.isfinite(descent.value))
    if warn and not converged:
        warnings.warn(
            f"L-BFGS stopped after {descent.n_iter} iterations with a gradient of {norm:.2g}, "
            f"above tol = {tol:.2g}: raise max_iter, scale the inputs, or raise alpha.",
            ConvergenceWarning,
            stacklevel=4,
        )
    ended = descent.n_iter, converged, tuple(descent.trace)
    return Solution(descent.theta, float(descent.value), norm, *ended)


def _descended_until(
    descent: Descent, tol: float, max_iter: int, level: Any, tick: Callable[..., Any]
) -> bool:
    """Step until a gradient is small; whether the objective stands still before that."""
    while np.abs(descent.gradient).max() > tol and descent.n_iter < max_iter:
        before = descent.value
        if not descent.step():
            return not descent.failed
        tick()
        level.reached(descent=descent)
        rounding = ROUNDING_STEPS * np.finfo(float).eps * max(abs(before), 1.0)
        if before - descent.value <= rounding:
            return True
    return False


# Maximum a posteriori by stochastic gradients, where partition functions are not known.
#
# Every training row has Markov chains of its own, at the distribution of the current weights; the
# mean of psi over them stands for the gradient of ln Z. Steps are those of Newton's method for the
# Hessian
#
# .. math:: (F^\top w F) \otimes S + 2 \alpha I, \qquad S = \sum_i w_i\, \mathrm{Cov}_i\, \psi,
#
# which would be right if the covariance of psi was the same in all rows: at first that of the
# uniform distribution, later that of the chains. Where there are few weights, the Hessian itself is
# taken from the chains. Steps shrink with time. Weights are averaged over windows, each twice as
# long as the one before, until the decrement :math:`g^\top H^{-1} g / 2` of the averaged gradient
# says that the objective is close to its minimum.


WIDE = 1500  # features or coordinates of which no eigenvectors are taken
LOOKED = 2 * 10**8  # operations that a look at the Hessian may take
SMALL = 500  # weights of which the Hessian is written down
NEW = 0.3  # share of a look among all looks
LEVELS = (
    20  # temperatures between the uniform distribution and the model's, where chains are annealed
)


class StochasticGradients:
    """Gradients from chains, and the steps that they are good for.

    Parameters
    ----------
    model : RowModel
    n_chains : int
        Chains of every training row.
    n_sweeps : int
        Sweeps between two gradients, and at each temperature where chains are annealed.
    annealed : bool
        Whether chains begin anew, from the uniform distribution, for every gradient; else they go
        on.
    """

    seen: Any  # the Hessian from chains that were looked at, or None
    hessian: Any  # its factor, or None
    left: np.ndarray | None
    right: np.ndarray | None

    def __init__(
        self,
        model: Any,
        *,
        n_chains: int,
        n_sweeps: int,
        annealed: bool,
        proposals: str,
        rng: np.random.Generator,
        n_jobs: int | None,
    ) -> None:
        self.model, self.n_sweeps, self.annealed = model, n_sweeps, annealed
        self.rng, self.n_chains = rng, n_chains
        self.seen = self.hessian = None
        n = len(model.weight)
        self.row = np.repeat(np.arange(n), n_chains)
        self.chains = Chains(
            model.space, np.zeros((n, model.shape[1])), self.row, proposals=proposals, rng=rng,
            n_jobs=n_jobs,
        )  # fmt: skip
        self._prepare_steps()

    def state(self) -> dict[str, Any]:
        """Where chains and steps are."""
        chains = {name: getattr(self.chains, name) for name in ("states", "streams", "accepted")}
        steps = {name: getattr(self, name) for name in ("seen", "curvature", "right")}
        streams = {"rng": self.rng, "n_steps": self.chains.n_steps}
        return {"chains": chains, "steps": steps, **streams}

    def restore(self, state: dict[str, Any]) -> None:
        """Be where others of the same model were."""
        set_stream(self.rng, state["rng"])
        self.chains.n_steps = state["n_steps"]
        for name, value in state["chains"].items():
            setattr(self.chains, name, value)
        for name, value in state["steps"].items():
            setattr(self, name, value)
        if self.seen is not None:
            self._factor()

    def _prepare_steps(self) -> None:
        """Eigenvectors of the features' part of the Hessian, or a bound where it is wide."""
        model = self.model
        (p, d), F, w = model.shape, model.features, model.weight
        self.left = None
        if p <= WIDE:
            inner = F.T @ (F.multiply(w[:, None]) if sparse.issparse(F) else F * w[:, None])
            inner = dense(inner)
            self.of_features, self.left = np.linalg.eigh(inner)
        else:
            squares = F.multiply(F) if sparse.issparse(F) else F**2
            self.of_features = np.full(p, float(np.asarray(squares.T @ w).sum()))
        n_draws = max(1000, 2 * min(d, WIDE))
        drawn = model.space.embed(uniform_draws(model.space, n_draws, self.rng))
        drawn = dense(drawn, np.float64)
        self._curve(drawn - drawn.mean(axis=0), 1.0 / len(drawn))

    def _curve(self, deviations: np.ndarray, share: float | np.ndarray) -> None:
        """The Hessian from deviations of psi (m, d) from their means, each of so much weight."""
        if deviations.shape[1] <= WIDE:
            e, self.right = np.linalg.eigh(deviations.T @ (deviations * share))
        else:
            e = np.full(deviations.shape[1], np.linalg.norm(deviations * share**0.5, 2) ** 2)
            self.right = None
        self.curvature = np.multiply.outer(self.of_features.clip(min=0), e.clip(min=0))
        self.curvature += 2.0 * self.model.lam.max()

    def look(self) -> None:
        """Take the Hessian from where the chains of each row are now, with what was seen before."""
        c, (p, d) = self.n_chains, self.model.shape
        if c == 1:
            return
        full = p * d <= SMALL
        n_rows = max(2, LOOKED // (c * (p * d) ** 2 if full else c * d))
        some = np.sort(self.rng.permutation(len(self.model.weight))[:n_rows])
        weight = self.model.weight[some] / max(self.model.weight[some].sum(), 1e-300)
        deviations = self._deviations(some)  # (rows, c, d)
        share = np.repeat(weight / (c - 1), c)[:, None]
        if not full:
            self._curve(deviations.reshape(-1, d), share)
            return
        F = self.model.features[some]
        F = dense(F)
        J = np.einsum("rp,rcd->rcpd", F, deviations).reshape(-1, p * d)
        seen = J.T @ (J * share)
        self.seen = seen if self.seen is None else (1 - NEW) * self.seen + NEW * seen
        self._factor()

    def _factor(self) -> None:
        penalty = np.repeat(2.0 * self.model.lam.ravel(), self.model.shape[1])
        self.hessian = _factored(self.seen, penalty)

    def _deviations(self, some: np.ndarray) -> Any:
        """psi of the chains of some rows, less the mean of each row; shape (rows, c, d)."""
        c, outputs = self.n_chains, self.chains.outputs
        at = (some[:, None] * c + np.arange(c)).ravel()
        psi = self.model.space.embed(outputs[at])
        psi = dense(psi, np.float64)
        psi = psi.reshape(len(some), c, -1)
        return psi - psi.mean(axis=1, keepdims=True)

    def step(self, gradient: np.ndarray) -> Any:
        """The Newton step of this Hessian."""
        if self.hessian is not None:
            return cho_solve(self.hessian, gradient.ravel()).reshape(gradient.shape)
        G = gradient if self.left is None else self.left.T @ gradient
        G = (G if self.right is None else G @ self.right) / self.curvature
        G = G if self.left is None else self.left @ G
        return G if self.right is None else G @ self.right.T

    def short(self, step: np.ndarray) -> Any:
        """The step, shortened where scores of training rows would change by more than one."""
        change = self.model.features @ step
        spread = np.sqrt(float(self.model.weight @ (np.asarray(change) ** 2).max(axis=1)))
        return step / max(1.0, spread)

    def gradient(self, W: np.ndarray) -> Any:
        """The gradient at W, by draws; shape (p, d)."""
        model, chains = self.model, self.chains
        chains.scores = model.scores(W)
        if self.annealed:
            chains.states = chains.proposals.start(
                uniform_draws(model.space, len(self.row), self.rng)
            )
            for level in range(1, LEVELS):
                chains.beta[:] = level / LEVELS
                chains.advance(self.n_sweeps)
            chains.beta[:] = 1.0
        chains.advance(self.n_sweeps)
        outputs, total = chains.outputs, 2.0 * model.lam * W - model.data
        for rows in model.blocks:
            here = slice(rows.start * self.n_chains, rows.stop * self.n_chains)
            psi = model.space.embed(outputs[here])
            total += model.pulled_back(self._row_means(psi, rows.stop - rows.start), rows)
        return total

    def _row_means(self, psi: Any, n_rows: int) -> Any:
        if not sparse.issparse(psi):
            return np.asarray(psi).reshape(n_rows, self.n_chains, -1).mean(axis=1)
        groups = np.repeat(np.arange(n_rows), self.n_chains)
        share = np.full(len(groups), 1.0 / self.n_chains)
        mean = sparse.csr_array((share, (groups, np.arange(len(groups)))))
        return mean @ sparse.csr_array(psi)


def _factored(seen: np.ndarray, penalty: np.ndarray) -> Any:
    """A Cholesky factor; the constant, which has no penalty, gets as little as makes one exist."""
    least = SMALLEST_PENALTY
    while True:
        try:
            return cho_factor(seen + np.diag(np.maximum(penalty, least)))
        except LinAlgError:
            least *= 100.0


def averaged_descent(
    gradients: StochasticGradients,
    W: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    verbose: int = 0,
    level: Any = NOWHERE,
    warn: bool = True,
) -> Solution:
    """Descend until the averaged gradient promises less than ``tol`` of the objective."""
    with ticker(max_iter, "stochastic gradients", verbose) as tick:
        mean_W, mean_G, done, promise = _descended(gradients, W, tol, max_iter, level, tick)
    if warn and promise > tol:
        warnings.warn(
            f"Stochastic gradients stopped after {done} steps while the objective may still fall "
            f"by {promise:.2g}, above tol = {tol:.2g}: raise max_iter or n_chains.",
            ConvergenceWarning,
            stacklevel=4,
        )
    norm = float(np.abs(mean_G).max(initial=0.0))
    return Solution(mean_W.ravel(), float("nan"), norm, done, promise <= tol)


def _descended(
    gradients: StochasticGradients,
    W: np.ndarray,
    tol: float,
    max_iter: int,
    level: Any,
    tick: Callable[..., Any],
) -> tuple[np.ndarray, np.ndarray, int, float]:
    """Means of weights and gradients, steps, and by how much the objective may still fall."""
    done, window, first = 0, 16, 0
    stopped = level.found
    while True:
        window = min(window, max_iter - done)
        mean_W, mean_G = np.zeros_like(W), np.zeros_like(W)
        if stopped:
            gradients.restore(stopped["gradients"])
            W, mean_W, mean_G = stopped["W"], stopped["mean_W"], stopped["mean_G"]
            done, window, first = stopped["done"], stopped["window"], stopped["first"]
            stopped = {}
        for t in range(first, done + window):
            G = gradients.gradient(W)
            mean_W += W / window
            mean_G += G / window
            W = W - gradients.short(gradients.step(G)) / np.sqrt(1.0 + t / 16.0)
            if t % 16 == 15:
                gradients.look()
            tick()
            first = t + 1
            means = {"mean_W": mean_W, "mean_G": mean_G, "done": done, "window": window}
            level.reached(gradients=gradients, W=W, first=first, **means)
        if not np.isfinite(W).all():
            raise ValueError("Stochastic gradients diverged: scale the inputs, or raise alpha.")
        done += window
        promise = 0.5 * float(np.vdot(mean_G, gradients.step(mean_G)))
        if promise <= tol or done >= max_iter:
            return mean_W, mean_G, done, promise
        W, window = mean_W, 2 * window
