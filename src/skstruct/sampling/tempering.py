# SPDX-License-Identifier: BSD-3-Clause
"""Parallel tempering: chains at several temperatures that change places."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.checks import is_count
from skstruct._arrays.progress import track
from skstruct.sampling.chains import Chains, uniform_draws
from skstruct.sampling.draws import Draws
from skstruct.sampling.ladders import Ladder, checked_betas, evened
from skstruct.sampling.metropolis import check_sizes, one_row_of_scores, warn_interrupted

AT_ONCE = 4096  # uniform draws that are made for rounds to come
FIRST_ROUNDS = 16  # after which the ladder is first looked at; then after twice as many


class ParallelTempering:
    r"""Draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle` where chains would be stuck.

    Every chain is a ladder of chains at the inverse temperatures
    :math:`1 = \beta_1 > \dots > \beta_K`, each approaching
    :math:`\exp(\beta_k \langle u, \psi \rangle)`. Neighbours change places with chance
    :math:`\min(1, e^{(\beta_k - \beta_{k+1})(f_{k+1} - f_k)})`, odd and even pairs in turn [1]_.
    At :math:`\beta = 0`, the uniform law, outputs are drawn anew each round: what comes up the
    ladder from there has forgotten where it was.

    Parameters
    ----------
    space : fitted space, samplable
    scores : array u of shape (d,) or (1, d)
    betas : array of shape (K,), default=None
        From 1 down to 0, or to a little more. When None, ``n_temperatures`` from 1 to 0, set
        during warm-up so that all neighbours change places about as often [2]_.
    n_temperatures : int, default=8
    n_chains : int, default=4
        Ladders.
    swap_every : int, default=1
        Sweeps before each attempt to change places: together a round.
    moves : "auto", "local" or "meta", default="auto"
        As in :class:`~skstruct.sampling.Metropolis`.
    rng : int or Generator, default=None
    n_jobs : int, default=None
        Threads; draws do not depend on them.
    verbose : int, default=0
        Progress on stderr.

    References
    ----------
    .. [1] C. Geyer, "Markov chain Monte Carlo maximum likelihood", Interface Proceedings, 1991.
    .. [2] S. Syed, A. Bouchard-Côté, G. Deligiannidis and A. Doucet, "Non-reversible parallel
       tempering", Journal of the Royal Statistical Society B 84, 2022.

    Examples
    --------
    Eight labels that are all in or all out; single labels can hardly change.

    >>> from skstruct.spaces import PairwiseLabels
    >>> space = PairwiseLabels(labels=range(8))
    >>> scores = np.repeat([-6.9, 2.0], [8, 28])
    >>> draws = ParallelTempering(space, scores, rng=0).sample(2000, n_warmup=200)
    >>> print(draws.outputs.mean().round(1))
    0.7
    >>> print((1 / (1 + np.exp(-0.8))).round(1))  # the share of the full set
    0.7
    """

    def __init__(
        self, space, scores, *, betas=None, n_temperatures=8, n_chains=4, swap_every=1,
        moves="auto", rng=None, n_jobs=None, verbose=0,
    ):  # fmt: skip
        scores = one_row_of_scores(scores, space)
        for name, value in (("n_chains", n_chains), ("swap_every", swap_every)):
            if not is_count(value):
                raise ValueError(f"{name} is a whole number from 1; got {value!r}.")
        self.space, self.verbose, self.swap_every = space, verbose, int(swap_every)
        self.adapts = betas is None
        self.betas = checked_betas(betas, n_temperatures)
        self.rng = np.random.default_rng(rng)
        self.n_chains, n_levels = int(n_chains), len(self.betas)
        row = np.zeros(self.n_chains * n_levels, np.int64)
        self.chains = Chains(space, scores, row, moves=moves, rng=self.rng, n_jobs=n_jobs)
        self.ladder = Ladder(self.n_chains, n_levels)
        self.ahead: list[np.ndarray] = []

    def sample(self, n_draws: int = 1000, *, n_warmup: int = 0, thin: int = 1) -> Draws:
        """Go on and keep the outputs at beta = 1 after every ``thin`` rounds.

        Warns where ladders of many draws have not met. Interrupted from the keyboard, it
        returns what was drawn up to then, with a warning.

        Parameters
        ----------
        n_draws : int
            Draws of every ladder.
        n_warmup : int
            Rounds before the first, in which temperatures are set; they stay as they are then.
        thin : int
            Rounds between two draws.

        Returns
        -------
        draws : Draws
            With ``details``: ``betas`` (K,), ``swaps`` (K - 1,) the mean chance that neighbours
            change places, ``round_trips`` (n_chains,) how often one went from the lowest
            temperature to the highest and back, and ``log_partition`` by the ratios between
            neighbours, nan where the space cannot be counted.
        """
        check_sizes(n_draws, n_warmup, thin)
        kept, values, interrupted = [], [], False
        try:
            self._warm_up(int(n_warmup))
            self.ladder.forget_rates()
            accepted = np.zeros(self.n_chains, np.int64)
            for _ in track(range(int(n_draws)), "draws", self.verbose):
                for _ in range(int(thin)):
                    accepted += self._round()
                coldest = self.ladder.flat_place[:, 0]
                here = np.array(self.chains.outputs[coldest])
                values.append(self.ladder.values[:, 0].copy())
                kept.append(here)
        except KeyboardInterrupt:
            interrupted, values = True, values[: len(kept)]
            if not kept:
                raise
            warn_interrupted(len(kept), n_draws)
        n_steps = self.ladder.n_rounds * self.swap_every * self.chains.moves.sweep
        draws = Draws(
            np.stack(kept, axis=1), np.stack(values, axis=1), accepted / max(n_steps, 1),
            self.space, interrupted, self._details(),
        )  # fmt: skip
        draws.warn_if_apart()
        return draws

    def _warm_up(self, n_rounds: int):
        """Rounds after which temperatures are set anew, each time after twice as many."""
        ahead = FIRST_ROUNDS
        while n_rounds > 0:
            for _ in range(min(ahead, n_rounds)):
                self._round()
            if self.adapts and n_rounds >= ahead:
                self.betas = evened(self.betas, 1.0 - self.ladder.swap_rates())
            self.ladder.forget_rates()
            n_rounds, ahead = n_rounds - ahead, 2 * ahead

    def _round(self) -> np.ndarray:
        """Walk, then change places; accepted proposals at beta = 1, shape (n_chains,)."""
        chains, ladder = self.chains, self.ladder
        coldest = ladder.flat_place[:, 0]
        before = chains.accepted[coldest]
        chains.beta[ladder.flat_place] = self.betas
        chains.advance(self.swap_every)
        accepted = chains.accepted[coldest] - before
        if self.betas[-1] == 0:
            chains.states[ladder.flat_place[:, -1]] = chains.moves.start(self._fresh())
        ladder.swap(chains.values(), self.betas, self.rng)
        return accepted

    def _fresh(self) -> np.ndarray:
        """Uniform draws, one for each ladder."""
        if not self.ahead:
            n_rounds = max(1, AT_ONCE // self.n_chains)
            drawn = uniform_draws(self.space, n_rounds * self.n_chains, self.rng)
            self.ahead = list(drawn.reshape(n_rounds, self.n_chains, *drawn.shape[1:]))
        return self.ahead.pop()

    def _details(self) -> dict:
        size = self.space.log_size() if hasattr(self.space, "log_size") else np.nan
        uniform = size if self.betas[-1] == 0 else np.nan
        return {
            "betas": self.betas,
            "swaps": self.ladder.swap_rates(),
            "round_trips": self.ladder.round_trips.copy(),
            "log_partition": float(uniform + self.ladder.log_ratio()),
        }
