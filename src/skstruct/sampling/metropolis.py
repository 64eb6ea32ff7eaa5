# SPDX-License-Identifier: BSD-3-Clause
"""Metropolis chains on a space."""

from __future__ import annotations

import warnings

import numpy as np

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.progress import track
from skstruct.sampling.chains import Chains
from skstruct.sampling.draws import Draws
from skstruct.sampling.values import values_of
from skstruct.spaces.listed_laws import check_scores


class Metropolis:
    r"""Draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle` by Markov chains.

    A chain proposes a local change of its output (a label in or out, two items of a ranking in
    each other's place, a stretch of a tour turned round, one edge of a tree for another) and
    accepts it with probability :math:`\min(1, p(z) / p(y))`.

    Parameters
    ----------
    space : fitted space
    scores : array u of shape (d,) or (1, d)
    moves : "auto", "local" or "meta", default="auto"
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
    >>> from skstruct.spaces import Rankings
    >>> space = Rankings(["tea", "milk", "rum"], "pairs")
    >>> chains = Metropolis(space, [0.5, 0.5, 0.5], rng=0)
    >>> draws = chains.sample(1000, n_warmup=100)
    >>> draws.outputs.shape
    (4, 1000, 3)
    >>> exact = space.law([0.5, 0.5, 0.5]).marginals()[0]
    >>> bool(np.abs(draws.marginals() - exact).max() < 0.1)
    True
    """

    def __init__(
        self, space, scores, *, moves="auto", n_chains=4, beta=1.0, start=None, rng=None,
        n_jobs=None, verbose=0,
    ):  # fmt: skip
        scores = one_row_of_scores(scores, space)
        if not is_count(n_chains):
            raise ValueError(f"n_chains is a whole number from 1; got {n_chains!r}.")
        if not (is_number(beta) and np.isfinite(beta) and beta >= 0):
            raise ValueError(f"beta is finite and at least zero; got {beta!r}.")
        self.space, self.verbose = space, verbose
        row = np.zeros(int(n_chains), np.int64)
        shared = {"beta": beta, "moves": moves, "start": start, "rng": rng, "n_jobs": n_jobs}
        self.chains = Chains(space, scores, row, **shared)

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


def drawn(space, outputs, scores, chains, interrupted, details=None) -> Draws:
    """Outputs (n_chains, n_draws, ...) with their scores."""
    flat = outputs.reshape(-1, *outputs.shape[2:])
    values = values_of(space, flat, scores, np.zeros(len(flat), np.int64))
    values = values.reshape(outputs.shape[:2])
    draws = Draws(outputs, values, chains.acceptance, space, interrupted, details)
    draws.warn_if_apart()
    return draws


def one_row_of_scores(scores, space) -> np.ndarray:
    """Scores of a single law; shape (1, d)."""
    scores = check_scores(scores, space)
    if len(scores) != 1:
        raise ValueError(f"One law is sampled at a time, scores of shape (d,); got {scores.shape}.")
    return scores


def check_sizes(n_draws, n_warmup, thin) -> None:
    """Raise where nothing would be drawn."""
    for name, value in (("n_draws", n_draws), ("thin", thin)):
        if not is_count(value):
            raise ValueError(f"{name} is a whole number from 1; got {value!r}.")
    if not (is_count(n_warmup) or (n_warmup == 0 and not isinstance(n_warmup, bool))):
        raise ValueError(f"n_warmup is a whole number from 0; got {n_warmup!r}.")


def warn_interrupted(n_kept: int, n_asked) -> None:
    """Say how much of what was asked for is there."""
    warnings.warn(
        f"Interrupted after {n_kept} of {n_asked} draws; these are returned.", stacklevel=3
    )
