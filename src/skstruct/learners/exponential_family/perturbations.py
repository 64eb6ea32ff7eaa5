# SPDX-License-Identifier: BSD-3-Clause
r"""Perturbed maximization in place of sums over all outputs.

With noise Z of independent normal entries, the perturbed maximum and its gradient are

.. math:: F(u) = \mathbf E \max_y \langle u + \sigma Z, \psi(y) \rangle, \qquad
          \nabla F(u) = \mathbf E\, \psi(y^*), \quad
          y^* = \arg\max_y \langle u + \sigma Z, \psi(y) \rangle,

both estimated from the same draws in every step of training: a mean of maxima is convex, and its
gradient is that of this mean.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.rows import dense
from skstruct.saving import savable
from skstruct.spaces import Inference, Targets
from skstruct.spaces.constraints import constraints_of
from skstruct.spaces.solvers.distributions import Distribution


@savable
class Perturbations(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Outputs of the largest perturbed score, as a distribution that every decoder can draw from.

    What ``solver="perturbed"`` of :class:`~skstruct.learners.ExponentialFamily` stands for: the
    likelihood gives way to the perturbed Fenchel–Young loss [1]_

    .. math:: \mathbf E \max_z \langle u + \sigma Z, \psi(z) \rangle - \langle u, \psi(y) \rangle,

    which needs no partition function, only the best outputs under other scores.

    Parameters
    ----------
    n_draws : int, default=10
        Draws of the noise for each row, the same in every step.
    sigma : float, default=1.0
        Size of the noise, in units of scores. These are found by training, so that it matters
        only beside the penalty.

    References
    ----------
    .. [1] Q. Berthet, M. Blondel, O. Teboul, M. Cuturi, J.-P. Vert, F. Bach, "Learning with
       differentiable perturbed optimizers", NeurIPS 2020.

    Examples
    --------
    >>> from skstruct.learners import ExponentialFamily
    >>> from skstruct.spaces import LabelSets
    >>> X, C = [[0.0], [0.1], [0.9], [1.0]], [[-1, 2], [-2, 1], [1, -1], [2, -3]]
    >>> model = ExponentialFamily(LabelSets(), "regret", alpha=0.01, solver="perturbed")
    >>> model.fit(X, C).predict([[0.0], [1.0]])
    array([[1, 0],
           [0, 1]])
    """

    kind = "perturbed"
    # What is asked of chains, and means nothing here.
    n_warmup, eps, delta, proposals = 1, None, 0.1, "auto"

    def __init__(self, n_draws: int = 10, sigma: float = 1.0) -> None:
        self.n_draws = n_draws
        self.sigma = sigma

    def check(self) -> None:
        """Raise where a parameter is not what it should be."""
        if not is_count(self.n_draws):
            raise ValueError(f"n_draws is a whole number from 1; got {self.n_draws!r}.")
        if not (is_number(self.sigma) and 0 < self.sigma < np.inf):
            raise ValueError(f"sigma is a positive number; got {self.sigma!r}.")


class PerturbedMaximum(Distribution):
    """The outputs of the largest perturbed score of every row.

    Parameters
    ----------
    space : space
        For as many rows as there are scores.
    scores : array of shape (n, d)
    noise : array of shape (n, m, d)
    sigma : float
    """

    def __init__(self, space: Any, scores: np.ndarray, noise: np.ndarray, sigma: float) -> None:
        self.space, self.scores, self.sigma = space, scores, sigma
        found = self._best(noise)
        self._outputs = found.outputs
        self.log_partition = -found.values.reshape(noise.shape[:2]).mean(axis=1)

    def _best(self, noise: np.ndarray) -> Any:
        n, m, d = noise.shape
        perturbed = self.scores[:, None, :] + self.sigma * noise
        each = self.space.rows(np.repeat(np.arange(n), m))
        return each.argmin(-np.ascontiguousarray(perturbed.reshape(n * m, d)))

    def marginals(self) -> np.ndarray:
        """Mean psi of the best outputs; shape (n, d)."""
        return self._mean(self.space.embed(self._outputs))

    def means_in(self, view: Any) -> np.ndarray:
        return self._mean(Targets.of(view).targets(self._outputs))

    def _mean(self, psi: Any) -> np.ndarray:
        n = len(self.scores)
        return dense(psi, np.float64).reshape(n, -1, psi.shape[1]).mean(axis=1)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.standard_normal((len(self.scores), n, self.scores.shape[1]))
        outputs: np.ndarray = self._best(noise).outputs
        return outputs.reshape(len(self.scores), n, *outputs.shape[1:])


class PerturbedSpace:
    """A space whose distributions are those of perturbed maxima, from the same noise every time.

    Parameters
    ----------
    space : space
    perturbations : Perturbations
    seed : int
    first : int, default=0
        Number of its first row: what noise rows have depends on it.
    """

    def __init__(self, space: Any, perturbations: Any, seed: int, first: int = 0) -> None:
        self.space, self.perturbations, self.seed, self.first = space, perturbations, seed, first
        self.constraints_ = constraints_of(space)

    def rows(self, index: Any) -> "PerturbedSpace":
        first = index.start or 0 if isinstance(index, slice) else int(index[0])
        return PerturbedSpace(self.space.rows(index), self.perturbations, self.seed, first)


class InferenceByMaxima(Inference):
    """Distributions of perturbed maxima."""

    __slots__ = ()

    def distribution(self, scores: np.ndarray) -> PerturbedMaximum:
        """Of scores (n, d)."""
        space = self.space
        rng = np.random.default_rng([space.seed, space.first])
        noise = rng.standard_normal((len(scores), space.perturbations.n_draws, scores.shape[1]))
        return PerturbedMaximum(space.space, scores, noise, space.perturbations.sigma)


Inference.at(PerturbedSpace, InferenceByMaxima)
