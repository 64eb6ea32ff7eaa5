# SPDX-License-Identifier: BSD-3-Clause
"""How Markov chains stand in for sums over all outputs, where these are not known."""

from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from skstruct._arrays.checks import is_count
from skstruct.learners.exponential_family.perturbations import Perturbations
from skstruct.sampling.annealed_estimates import check_accuracy
from skstruct.saving import savable

SOLVERS = ("auto", "exact", "annealed", "contrastive", "perturbed")


class MarkovChains(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Settings that both kinds of chains have."""

    kind: ClassVar[str]

    def __init__(
        self,
        n_chains: int = 10,
        n_sweeps: int = 5,
        *,
        n_draws: int = 1000,
        n_warmup: int = 50,
        eps: float | None = None,
        delta: float = 0.1,
        proposals: Any = "auto",
        prefer_exact: bool = False,
    ) -> None:
        self.n_chains = n_chains
        self.n_sweeps = n_sweeps
        self.n_draws = n_draws
        self.n_warmup = n_warmup
        self.eps = eps
        self.delta = delta
        self.proposals = proposals
        self.prefer_exact = prefer_exact

    def check(self) -> None:
        """Raise where a parameter is not what it should be."""
        for name in ("n_chains", "n_sweeps", "n_draws", "n_warmup"):
            if not is_count(getattr(self, name)):
                raise ValueError(f"{name} is a whole number from 1; got {getattr(self, name)!r}.")
        check_accuracy(0.5 if self.eps is None else self.eps, self.delta)


@savable
class PersistentChains(MarkovChains):
    r"""Chains that go on from step to step of training: persistent contrastive divergence.

    What ``solver="contrastive"`` of :class:`~skstruct.learners.ExponentialFamily` stands for.

    Parameters
    ----------
    n_chains : int, default=10
        Chains of every training row.
    n_sweeps : int, default=5
        Sweeps of these between two steps. Distributions of few outputs take more: chains
        that do not mix bend the gradient, which no stopping rule sees.
    n_draws : int, default=1000
        Draws of a row that its marginals are the mean of, where they are not exact, and chains
        that its partition function is estimated with.
    n_warmup : int, default=50
        Sweeps of the chains that these draws are the ends of.
    eps : float, default=None
        Annealed partition functions are right up to a factor :math:`1 \pm \epsilon` with
        probability :math:`1 - \delta`, as far as chains mix, whatever number of draws that takes;
        None for ``n_draws`` and intervals by their standard error.
    delta : float, default=0.1
    proposals : "auto", "local" or "meta", default="auto"
        See :class:`~skstruct.sampling.Metropolis`.
    prefer_exact : bool, default=False
        Use exact sums where they are known, and chains elsewhere.

    Examples
    --------
    >>> from skstruct.learners import ExponentialFamily
    >>> from skstruct.spaces import Rankings
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> chains = PersistentChains(n_chains=20, n_draws=200)
    >>> model = ExponentialFamily(Rankings(), alpha=0.01, solver=chains, random_state=0)
    >>> model.fit(X, y).predict([[0.0], [1.0]]).tolist()
    [[1, 2], [2, 1]]
    """

    kind = "contrastive"


@savable
class AnnealedChains(MarkovChains):
    r"""Chains that begin anew for every step of training, annealed from the uniform distribution.

    What ``solver="annealed"`` of :class:`~skstruct.learners.ExponentialFamily` stands for.

    Parameters
    ----------
    n_chains : int, default=10
        Chains of every training row.
    n_sweeps : int, default=5
        Sweeps of these between two steps, and at each temperature. Distributions of few outputs
        take more: chains that do not mix bend the gradient, which no stopping rule sees.
    n_draws : int, default=1000
        Draws of a row that its marginals are the mean of, where they are not exact, and chains
        that its partition function is estimated with.
    n_warmup : int, default=50
        Sweeps of the chains that these draws are the ends of.
    eps : float, default=None
        Annealed partition functions are right up to a factor :math:`1 \pm \epsilon` with
        probability :math:`1 - \delta`, as far as chains mix, whatever number of draws that takes;
        None for ``n_draws`` and intervals by their standard error.
    delta : float, default=0.1
    proposals : "auto", "local" or "meta", default="auto"
        See :class:`~skstruct.sampling.Metropolis`.
    prefer_exact : bool, default=False
        Use exact sums where they are known, and chains elsewhere.

    Examples
    --------
    >>> from skstruct.learners import ExponentialFamily
    >>> from skstruct.spaces import Rankings
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]], [[1, 2], [1, 2], [2, 1], [2, 1]]
    >>> chains = AnnealedChains(n_chains=20, n_sweeps=1)
    >>> model = ExponentialFamily(Rankings(), alpha=0.01, solver=chains, random_state=0)
    >>> model.fit(X, y).predict([[0.0], [1.0]]).tolist()
    [[1, 2], [2, 1]]
    """

    kind = "annealed"


def resolve_solver(solver: Any) -> tuple[str, Any]:
    """One of ``SOLVERS``, and the chains or perturbations that it uses where sums are not exact."""
    if isinstance(solver, MarkovChains):
        solver.check()
        return "auto" if solver.prefer_exact else solver.kind, solver
    if isinstance(solver, Perturbations):
        solver.check()
        return solver.kind, solver
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise ValueError(
            f"solver is one of {', '.join(SOLVERS)}, PersistentChains, AnnealedChains or "
            f"Perturbations; got {solver!r}."
        )
    if solver == "perturbed":
        return solver, Perturbations()
    return solver, AnnealedChains() if solver == "annealed" else PersistentChains()
