# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of a trained model: exact where they are known, else by Markov chains."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.learners.exponential_family.perturbations import PerturbedSpace
from skstruct.sampling import LogPartition, log_partition
from skstruct.sampling.chains import mean_of
from skstruct.sampling.partition import chain_draws, exact_distribution
from skstruct.saving import savable
from skstruct.spaces import Coordinates, Inference, Targets
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.inference import listed_distribution
from skstruct.spaces.solvers.distributions import ListedDistribution


def exact_means(distribution: Any, space: Any, view: Any, scores: np.ndarray) -> Any:
    """Means of the targets of a view for every row; None where only draws can tell.

    Parameters
    ----------
    distribution : Distribution, of ``space`` at the scores
    space : fitted space
    view : the same space under the embedding of a loss
    scores : array (n, d)
    """
    known = distribution.means_in(view)
    if known is not None:
        return np.asarray(known)
    if differs_by_row(space):
        each = [_of_row(space, view, scores, i) for i in range(len(scores))]
        return None if any(means is None for means in each) else np.concatenate(each)
    drawn = distribution.sample(3, np.random.default_rng(0))
    some = drawn[0]
    targets = dense(Targets.of(view).targets(some), np.float64)
    if np.array_equal(targets, dense(view.embed(some), np.float64)):
        means = _linear(distribution, space, view, scores, view.embed(some).shape[1])
        if means is not None:
            return means
    listed = (
        distribution
        if isinstance(distribution, ListedDistribution)
        else listed_distribution(space, scores)
    )
    if not isinstance(listed, ListedDistribution):
        return None
    return np.asarray(listed.probabilities @ Targets.of(view).targets(listed.outputs))


def _of_row(space: Any, view: Any, scores: np.ndarray, i: int) -> Any:
    space, view, scores = space.rows([i]), view.rows([i]), scores[i : i + 1]
    distribution = Inference.of(space).distribution(scores)
    return None if distribution is None else exact_means(distribution, space, view, scores)


def _linear(distribution: Any, space: Any, view: Any, scores: np.ndarray, width: int) -> Any:
    """Means where one embedding is written in the other."""
    keys = [(part.embedding, Coordinates.of(part).key()) for part in (view, space)]
    same = keys[0] == keys[1]
    if view is space or same:
        return distribution.marginals()
    try:  # the same distribution in the view's own coordinates
        other = Inference.of(view).distribution(Coordinates.of(view).lift(scores, space.embedding))
        if other is not None:
            return other.marginals()
    except (AttributeError, ValueError):
        pass
    try:  # psi' = P psi where costs of psi' can be written as costs of psi
        return (
            distribution.marginals() @ Coordinates.of(space).lift(np.eye(width), view.embedding).T
        )
    except (AttributeError, ValueError):
        return None


# Distributions of a trained model: exact where they are known, else by Markov chains.


@savable
@dataclass(frozen=True, eq=False)
class ModelDistributions:
    """How partition functions, means and draws of a model come about.

    Attributes
    ----------
    solver : "auto", "exact", "annealed", "contrastive" or "perturbed"
        Exact distributions are used by the first two.
    n_draws, n_warmup : int
        Draws of a row for its means, and sweeps of the chains that they are the ends of.
    eps, delta : float
        What annealed partition functions promise; nothing where eps is None.
    proposals : str
    seed : int
        Predictions of the same rows are the same every time.
    n_jobs : int or None
    """

    solver: str
    n_draws: int
    n_warmup: int
    eps: float | None
    delta: float
    proposals: Any
    seed: int
    n_jobs: Any = None
    perturbations: Any = None  # where outputs of the largest perturbed score are the distribution

    def distribution(self, space: Any, scores: np.ndarray) -> Any:
        """The exact distribution, or None; that of perturbed maxima where the model is of these."""
        if self.perturbations is not None:
            return Inference.of(PerturbedSpace(space, self.perturbations, self.seed)).exact(scores)
        if self.solver not in ("auto", "exact"):
            return None
        return exact_distribution(space, scores, required=self.solver == "exact")

    def draws(
        self, space: Any, scores: np.ndarray, n: int, rng: np.random.Generator | None = None
    ) -> Any:
        """``n`` draws of every row; shape (n_rows, n, ...)."""
        rng = np.random.default_rng(self.seed if rng is None else rng)
        distribution = self.distribution(space, scores)
        if distribution is not None:
            return distribution.sample(n, rng)
        options = {"n_warmup": self.n_warmup, "proposals": self.proposals, "n_jobs": self.n_jobs}
        if not differs_by_row(space):
            return chain_draws(space, scores, n, rng=rng, **options)
        each = range(len(scores))
        drawn = [chain_draws(space.rows([i]), scores[[i]], n, rng=rng, **options) for i in each]
        return np.concatenate(drawn)

    def means(self, space: Any, scores: np.ndarray, view: Any = None) -> Any:
        """Means of what a loss is bilinear in: the targets of ``view``; shape (n, d).

        The view is the space under another embedding, or None for the marginals of its own.
        """
        distribution = self.distribution(space, scores)
        if view is None:
            view = space
            if distribution is not None:
                return distribution.marginals()
        if distribution is None:
            drawn = self.draws(space, scores, self.n_draws)
        else:
            means = exact_means(distribution, space, view, scores)
            if means is not None:
                return means
            drawn = distribution.sample(self.n_draws, np.random.default_rng(self.seed))
        return np.array([mean_of(Targets.of(view).targets, outputs) for outputs in drawn])

    def log_partition(self, space: Any, scores: np.ndarray) -> Any:
        """ln Z of every row with its interval."""
        if self.perturbations is not None:
            raise ValueError(
                "A model of perturbed maxima has no partition function, and no probabilities of "
                "single outputs; predict_marginals and sample are known."
            )
        method = self.solver if self.solver in ("auto", "exact") else "annealed"
        options = {"delta": self.delta, "return_interval": True, "proposals": self.proposals}
        options |= {"n_jobs": self.n_jobs}
        options |= {"n_draws": self.n_draws} if self.eps is None else {"eps": self.eps}
        if (
            method == "exact"
            or not differs_by_row(space)
            or self.distribution(space, scores) is not None
        ):
            return log_partition(space, scores, method=method, rng=self.seed, **options)
        each = [
            log_partition(space.rows([i]), scores[[i]], method=method, rng=self.seed, **options)
            for i in range(len(scores))
        ]
        return LogPartition.joined(each)
