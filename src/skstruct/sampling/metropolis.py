# SPDX-License-Identifier: BSD-3-Clause
"""Metropolis chains on a space, and what Markov chains have drawn."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.progress import track
from skstruct.exceptions import MixingWarning
from skstruct.sampling.chains import Chains, mean_of, values_of
from skstruct.sampling.convergence import Diagnostics, advice
from skstruct.spaces.common.listing import check_scores
from skstruct.spaces.solvers.proposals import Proposals

MANY = 100  # draws of a chain that are enough to tell whether chains have met
LARGE = 10**6  # numbers in the embeddings of all draws that are not looked at unasked
APART = 1.1  # R-hat above which they have not


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of several chains, one after the other.

    Attributes
    ----------
    outputs : array of shape (n_chains, n_draws, ...), in canonical form
    values : array of shape (n_chains, n_draws), scores of the draws
    acceptance : array of shape (n_chains,), shares of proposals that were accepted
    space : the space they are from
    interrupted : bool, whether the user stopped before all were drawn
    details : dict, what a sampler knows besides
    """

    outputs: np.ndarray
    values: np.ndarray
    acceptance: np.ndarray
    space: Any
    interrupted: bool = False
    details: dict[Any, Any] | None = None

    @property
    def n_chains(self) -> int:
        return self.outputs.shape[0]

    @property
    def n_draws(self) -> int:
        """Of every chain."""
        return self.outputs.shape[1]

    @property
    def pooled(self) -> np.ndarray:
        """All draws of all chains, in canonical form; shape (n_chains * n_draws, ...)."""
        return self.outputs.reshape(-1, *self.outputs.shape[2:])

    def restored(self) -> Any:
        """All draws of all chains in the user's own format."""
        return self.space.restore(self.pooled)

    def marginals(self) -> np.ndarray:
        """Mean of psi over all draws; shape (d,)."""
        return mean_of(self.space.embed, self.pooled)

    def diagnostics(
        self,
        *,
        of: str = "score",
        r_hat_limit: float = 1.01,
        ess_limit: float = 400,
        warn: bool = True,
    ) -> Diagnostics:
        """R-hat, effective sizes and acceptance; see :func:`~.convergence.diagnostics`."""
        from skstruct.sampling.convergence import diagnostics

        found = diagnostics(self, of=of, r_hat_limit=r_hat_limit, ess_limit=ess_limit, warn=False)
        if warn and not found.ok:
            warnings.warn(advice(found), MixingWarning, stacklevel=2)
        return found

    def warn_if_apart(self) -> None:
        """Warn where chains of many draws are still at different outputs."""
        if self.n_chains == 1 or self.n_draws < MANY:
            return
        width = self.space.embed(self.outputs[:1, 0]).shape[1]
        for of in ("score", "psi") if width * self.values.size <= LARGE else ("score",):
            found = self.diagnostics(of=of, r_hat_limit=APART, ess_limit=1, warn=False)
            if np.any(np.asarray(found.r_hat) > APART):
                warnings.warn(advice(found), MixingWarning, stacklevel=4)
                return


# Metropolis chains on a space.


class Metropolis:
    r"""Draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle` by Markov chains.

    A chain proposes a local change of its output (a label in or out, two items of a ranking in
    each other's place, a stretch of a tour turned round, one edge of a tree for another) and
    accepts it with probability :math:`\min(1, p(z) / p(y))`.

    Parameters
    ----------
    space : fitted space
    scores : array u of shape (d,) or (1, d)
    proposals : "auto", "local" or "meta", default="auto"
        Local moves where the space has them; ``"meta"`` proposes uniform draws.
    n_chains : int, default=4
    beta : float, default=1.0
        Inverse temperature: scores are multiplied by it.
    start : array (n_chains, ...), default=None
        Outputs in canonical form to begin with; drawn uniformly when None.
    rng : int or Generator, default=None
    n_jobs : int, default=None
        Threads; draws do not depend on them.
    verbose : int, default=0
        Progress on stderr.

    Examples
    --------
    >>> from skstruct.spaces import Inference, Rankings
    >>> space = Rankings(["tea", "milk", "rum"], "pairs")
    >>> chains = Metropolis(space, [0.5, 0.5, 0.5], rng=0)
    >>> draws = chains.sample(1000, n_warmup=100)
    >>> draws.outputs.shape
    (4, 1000, 3)
    >>> exact = Inference.of(space).distribution([0.5, 0.5, 0.5]).marginals()[0]
    >>> bool(np.abs(draws.marginals() - exact).max() < 0.1)
    True
    """

    def __init__(
        self,
        space: Any,
        scores: ArrayLike,
        *,
        proposals: str | Proposals = "auto",
        n_chains: int = 4,
        beta: float = 1.0,
        start: ArrayLike | None = None,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        scores = one_row_of_scores(scores, space)
        if not is_count(n_chains):
            raise ValueError(f"n_chains is a whole number from 1; got {n_chains!r}.")
        if not (is_number(beta) and np.isfinite(beta) and beta >= 0):
            raise ValueError(f"beta is finite and at least zero; got {beta!r}.")
        self.space, self.verbose = space, verbose
        row = np.zeros(int(n_chains), np.int64)
        self.chains = Chains(
            space, scores, row, beta=beta, proposals=proposals, start=start, rng=rng, n_jobs=n_jobs
        )

    def sample(self, n_draws: int = 1000, *, n_warmup: int = 0, thin: int = 1) -> Draws:
        """Go on and keep the output of every chain after every ``thin`` sweeps.

        Warns where chains of many draws have not met. Interrupted from the keyboard, it returns
        what was drawn up to then, with a warning.

        Parameters
        ----------
        n_draws : int
            Draws of every chain.
        n_warmup : int
            Sweeps before the first.
        thin : int
            Sweeps between two draws.
        """
        check_sizes(n_draws, n_warmup, thin)
        chains, kept = self.chains, []
        interrupted = False
        try:
            if n_warmup:
                chains.advance(int(n_warmup))
            chains.accepted[:], chains.n_steps = 0, 0
            for _ in track(range(int(n_draws)), "draws", self.verbose):
                chains.advance(int(thin))
                kept.append(np.array(chains.outputs))
        except KeyboardInterrupt:
            interrupted = True
            if not kept:
                raise
            warn_interrupted(len(kept), n_draws)
        return drawn(self.space, np.stack(kept, axis=1), chains.scores, chains, interrupted)


def drawn(
    space: Any,
    outputs: np.ndarray,
    scores: np.ndarray,
    chains: Chains,
    interrupted: bool,
    details: Any = None,
) -> Draws:
    """Outputs (n_chains, n_draws, ...) with their scores."""
    flat = outputs.reshape(-1, *outputs.shape[2:])
    values = values_of(space, flat, scores, np.zeros(len(flat), np.int64))
    values = values.reshape(outputs.shape[:2])
    draws = Draws(outputs, values, chains.acceptance, space, interrupted, details)
    draws.warn_if_apart()
    return draws


def one_row_of_scores(scores: ArrayLike, space: Any) -> np.ndarray:
    """Scores of a single distribution; shape (1, d)."""
    scores = check_scores(scores, space)
    if len(scores) != 1:
        raise ValueError(
            f"One distribution is sampled at a time, scores of shape (d,); got {scores.shape}."
        )
    return scores


def check_sizes(n_draws: int, n_warmup: int, thin: int) -> None:
    """Raise where nothing would be drawn."""
    for name, value in (("n_draws", n_draws), ("thin", thin)):
        if not is_count(value):
            raise ValueError(f"{name} is a whole number from 1; got {value!r}.")
    if not (is_count(n_warmup) or (n_warmup == 0 and not isinstance(n_warmup, bool))):
        raise ValueError(f"n_warmup is a whole number from 0; got {n_warmup!r}.")


def warn_interrupted(n_kept: int, n_asked: int) -> None:
    """Say how much of what was asked for is there."""
    warnings.warn(
        f"Interrupted after {n_kept} of {n_asked} draws; these are returned.", stacklevel=3
    )
