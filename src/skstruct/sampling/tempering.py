# SPDX-License-Identifier: BSD-3-Clause
"""Ladders of temperatures: which chain is where, how often neighbours are exchanged."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.checks import is_count
from skstruct._arrays.progress import track
from skstruct.sampling.chains import Chains, uniform_draws
from skstruct.sampling.metropolis import Draws, check_sizes, one_row_of_scores, warn_interrupted
from skstruct.spaces.solvers.proposals import Proposals

LEAST = 1e-3  # rejection that is taken as measured even where all swaps were accepted


def checked_betas(betas: ArrayLike | None, n_temperatures: int) -> np.ndarray:
    """Inverse temperatures from 1 downwards; shape (K,)."""
    if betas is None:
        if not (is_count(n_temperatures) and n_temperatures >= 2):
            raise ValueError(
                f"n_temperatures is a whole number from 2; got {n_temperatures!r}."
            )  # fmt: skip
        return np.linspace(1.0, 0.0, int(n_temperatures))
    given = np.array(betas, dtype=np.float64)
    falls = given.ndim == 1 and len(given) >= 2 and bool((np.diff(given) < 0).all())
    if not (falls and given[0] == 1.0 and given[-1] >= 0.0):
        raise ValueError(f"betas fall from 1 to 0 or above, two at least; got {betas!r}.")
    return given


def evened(betas: np.ndarray, rejected: np.ndarray) -> np.ndarray:
    """Inverse temperatures between which swaps would be rejected equally often.

    What is rejected adds up along the ladder, wherever the steps are: the steps are put where
    the sum grows by equal parts.

    >>> evened(np.array([1.0, 0.5, 0.0]), np.array([0.2, 0.6])).round(3)
    array([1.   , 0.333, 0.   ])
    """
    upto = np.concatenate([[0.0], np.cumsum(np.maximum(rejected, LEAST))])
    wanted = np.linspace(0.0, upto[-1], len(betas))
    moved: np.ndarray = np.interp(wanted, upto, betas)
    moved[0], moved[-1] = betas[0], betas[-1]
    return moved


class Ladder:
    """Chains of each ladder and the temperatures that they are at.

    Attributes
    ----------
    chain_at : int array of shape (n_ladders, K)
        The chain at each temperature, from the lowest temperature up.
    values : array of shape (n_ladders, K)
        Scores of the chains at each temperature.
    round_trips : int array of shape (n_ladders,)
    """

    def __init__(self, n_ladders: int, n_levels: int) -> None:
        self.first = n_levels * np.arange(n_ladders)[:, None]  # chain of each ladder
        self.chain_at = np.tile(np.arange(n_levels), (n_ladders, 1))
        self.values = np.zeros(self.chain_at.shape)
        self.odd = False
        self.was_cold = np.zeros(self.chain_at.shape, bool)  # of each chain: and not hot since
        self.was_hot = np.zeros(self.chain_at.shape, bool)  # hot after it was cold
        self.forget_rates()

    @property
    def flat_chains(self) -> np.ndarray:
        """The chains at each temperature, numbered across all ladders; (n_ladders, K)."""
        return self.chain_at + self.first

    def forget_rates(self) -> None:
        n_ladders, n_levels = self.chain_at.shape
        self.n_rounds = 0
        self.probability, self.tried = np.zeros(n_levels - 1), np.zeros(n_levels - 1)
        self.log_ratios = np.full(n_levels - 1, -np.inf)
        self.round_trips = np.zeros(n_ladders, np.int64)

    def swap(self, values: np.ndarray, betas: np.ndarray, rng: np.random.Generator) -> None:
        """Let every other pair of neighbours change places; values by chain, of any shape."""
        at = np.take_along_axis(np.reshape(values, self.chain_at.shape), self.chain_at, axis=1)
        step = betas[:-1] - betas[1:]
        summed = np.logaddexp.reduce(step * at[:, 1:], axis=0)
        self.log_ratios = np.logaddexp(self.log_ratios, summed)
        pairs = np.arange(int(self.odd), len(betas) - 1, 2)
        log_probability = np.minimum(step[pairs] * (at[:, pairs + 1] - at[:, pairs]), 0.0)
        self.probability[pairs] += np.exp(log_probability).sum(axis=0)
        self.tried[pairs] += len(at)
        swapped = -rng.standard_exponential(log_probability.shape) < log_probability
        for array in (self.chain_at, at):
            cold, hot = array[:, pairs].copy(), array[:, pairs + 1].copy()
            array[:, pairs] = np.where(swapped, hot, cold)
            array[:, pairs + 1] = np.where(swapped, cold, hot)
        self.values, self.odd = at, not self.odd
        self.n_rounds += 1
        self._count_trips()

    def _count_trips(self) -> None:
        ladder = np.arange(len(self.chain_at))
        cold, hot = (ladder, self.chain_at[:, 0]), (ladder, self.chain_at[:, -1])
        self.was_hot[hot] |= self.was_cold[hot]
        self.round_trips += self.was_hot[cold]
        self.was_hot[cold], self.was_cold[cold] = False, True

    def swap_rates(self) -> np.ndarray:
        """Mean probability that neighbours change places; shape (K - 1,)."""
        return self.probability / np.maximum(self.tried, 1)

    def log_ratio(self) -> float:
        r"""Estimate of :math:`\ln Z(\beta_1) - \ln Z(\beta_K)`, by means at the hotter ones."""
        seen = max(self.n_rounds * len(self.chain_at), 1)
        return float((self.log_ratios - np.log(seen)).sum())


# Parallel tempering: chains at several temperatures that change places.


AT_ONCE = 4096  # uniform draws that are made for rounds to come
FIRST_ROUNDS = 16  # after which the ladder is first looked at; then after twice as many


class ParallelTempering:
    r"""Draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle` where chains would be stuck.

    Every chain is a ladder of chains at the inverse temperatures
    :math:`1 = \beta_1 > \dots > \beta_K`, each approaching
    :math:`\exp(\beta_k \langle u, \psi \rangle)`. Neighbours change places with probability
    :math:`\min(1, e^{(\beta_k - \beta_{k+1})(f_{k+1} - f_k)})`, odd and even pairs in turn [1]_.
    At :math:`\beta = 0`, the uniform distribution, outputs are drawn anew each round: what comes up
    the ladder from there has forgotten where it was.

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
    proposals : "auto", "local" or "meta", default="auto"
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
        self,
        space: Any,
        scores: ArrayLike,
        *,
        betas: ArrayLike | None = None,
        n_temperatures: int = 8,
        n_chains: int = 4,
        swap_every: int = 1,
        proposals: str | Proposals = "auto",
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
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
        self.chains = Chains(space, scores, row, proposals=proposals, rng=self.rng, n_jobs=n_jobs)
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
            With ``details``: ``betas`` (K,), ``swaps`` (K - 1,) the mean probability that
            neighbours change places, ``round_trips`` (n_chains,) how often one went from the lowest
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
                coldest = self.ladder.flat_chains[:, 0]
                here = np.array(self.chains.outputs[coldest])
                values.append(self.ladder.values[:, 0].copy())
                kept.append(here)
        except KeyboardInterrupt:
            interrupted, values = True, values[: len(kept)]
            if not kept:
                raise
            warn_interrupted(len(kept), n_draws)
        n_steps = self.ladder.n_rounds * self.swap_every * self.chains.proposals.sweep
        draws = Draws(
            np.stack(kept, axis=1), np.stack(values, axis=1), accepted / max(n_steps, 1),
            self.space, interrupted, self._details(),
        )  # fmt: skip
        draws.warn_if_apart()
        return draws

    def _warm_up(self, n_rounds: int) -> None:
        """Rounds after which temperatures are set anew, each time after twice as many."""
        ahead = FIRST_ROUNDS
        while n_rounds > 0:
            for _ in range(min(ahead, n_rounds)):
                self._round()
            if self.adapts and n_rounds >= ahead:
                self.betas = evened(self.betas, 1.0 - self.ladder.swap_rates())
            self.ladder.forget_rates()
            n_rounds, ahead = n_rounds - ahead, 2 * ahead

    def _round(self) -> Any:
        """Walk, then change places; accepted proposals at beta = 1, shape (n_chains,)."""
        chains, ladder = self.chains, self.ladder
        coldest = ladder.flat_chains[:, 0]
        before = chains.accepted[coldest]
        chains.beta[ladder.flat_chains] = self.betas
        chains.advance(self.swap_every)
        accepted = chains.accepted[coldest] - before
        if self.betas[-1] == 0:
            chains.states[ladder.flat_chains[:, -1]] = chains.proposals.start(self._fresh())
        ladder.swap(chains.values(), self.betas, self.rng)
        return accepted

    def _fresh(self) -> np.ndarray:
        """Uniform draws, one for each ladder."""
        if not self.ahead:
            n_rounds = max(1, AT_ONCE // self.n_chains)
            drawn = uniform_draws(self.space, n_rounds * self.n_chains, self.rng)
            self.ahead = list(drawn.reshape(n_rounds, self.n_chains, *drawn.shape[1:]))
        return self.ahead.pop()

    def _details(self) -> dict[Any, Any]:
        size = self.space.log_size() if hasattr(self.space, "log_size") else np.nan
        uniform = size if self.betas[-1] == 0 else np.nan
        return {
            "betas": self.betas,
            "swaps": self.ladder.swap_rates(),
            "round_trips": self.ladder.round_trips.copy(),
            "log_partition": float(uniform + self.ladder.log_ratio()),
        }
