# SPDX-License-Identifier: BSD-3-Clause
"""Scores of outputs, and the range that they can have."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct._arrays.memory import row_blocks
from skstruct.spaces import Inference, Samplable
from skstruct.spaces.common.listing import check_width
from skstruct.spaces.constraints import differs_by_row
from skstruct.spaces.solvers.proposals import Proposals, new_streams


def values_of(space: Any, outputs: np.ndarray, scores: np.ndarray, row: np.ndarray) -> np.ndarray:
    """<scores[row(i)], psi(outputs[i])>; shape (len(outputs),)."""
    values = np.empty(len(outputs))
    for part in row_blocks(len(outputs), 24 * scores.shape[1], "100MB"):
        psi = space.embed(outputs[part])
        if len(scores) == 1:
            values[part] = np.asarray(psi @ scores[0]).ravel()
        elif sparse.issparse(psi):
            values[part] = np.asarray(psi.multiply(scores[row[part]]).sum(axis=1)).ravel()
        else:
            values[part] = np.einsum("nd,nd->n", psi, scores[row[part]])
    return values


def value_range(space: Any, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds low <= <u, psi(y)> <= high of all outputs y, by the space's decoder; (n,) each."""
    return space.argmin(scores).bounds, -space.argmin(-scores).bounds


def mean_of(embed: Callable[..., Any], outputs: np.ndarray) -> np.ndarray:
    """Mean of what ``embed`` makes of outputs (m, ...); shape (d,)."""
    sums = [
        np.asarray(embed(outputs[part]).sum(axis=0)).ravel()
        for part in row_blocks(len(outputs), 10**5, "100MB")
    ]
    return np.sum(sums, axis=0) / len(outputs)


class MetaProposals(Proposals):
    r"""Propose an output drawn uniformly, accept by the ratio of probabilities [1]_.

    With :math:`f_{max}` the largest score, the distance to the distribution after t steps is
    :math:`(1 - Z / (|\mathcal Y| e^{f_{max}}))^t` in total variation: independent of where it
    starts, but slow where few outputs hold most of the probability.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       section 6.6.2.
    """

    sweep = 1

    def __init__(self, space: Any) -> None:
        self.space = space

    def start(self, outputs: Any) -> np.ndarray:
        return np.array(outputs)

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return states

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        rng = np.random.default_rng(streams.ravel())
        here = values_of(self.space, states, scores, row)
        accepted = np.zeros(len(states), np.int64)
        for _ in range(n_steps):
            proposed = np.asarray(self.space.sample(len(states), rng))
            there = values_of(self.space, proposed, scores, row)
            with np.errstate(divide="ignore"):
                better = np.log(rng.random(len(states))) < beta * (there - here)
            states[better], here[better] = proposed[better], there[better]
            accepted += better
        streams[...] = rng.integers(1, 2**64, size=streams.shape, dtype=np.uint64)
        return accepted

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray:
        return np.full((len(outputs), len(outputs)), 1.0 / len(outputs))


# Many Markov chains on one space, each after a row of scores and at a temperature of its own.


PROPOSALS = ("auto", "local", "meta")
CHAINS_PER_THREAD = 64  # chains that are not worth a thread


class Chains:
    r"""Chains c that approach :math:`\exp(\beta_c \langle u_{row(c)}, \psi \rangle)`.

    Parameters
    ----------
    space : fitted space
    scores : array of shape (r, d)
    row : int array of shape (n_chains,)
        The row of scores that each chain follows.
    beta : float or array of shape (n_chains,), default=1.0
    proposals : "auto", "local", "meta" or Proposals, default="auto"
        Local moves of the space; ``"meta"`` proposes outputs that are drawn uniformly.
    start : array (n_chains, ...), default=None
        Outputs in canonical form to begin with; drawn uniformly when None.
    rng : int or Generator, default=None
    n_jobs : int, default=None
        Threads. What is drawn does not depend on them.
    """

    def __init__(
        self,
        space: Any,
        scores: np.ndarray,
        row: np.ndarray,
        *,
        beta: ArrayLike = 1.0,
        proposals: str | Proposals = "auto",
        start: ArrayLike | None = None,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ) -> None:
        rng = np.random.default_rng(rng)
        self.space, self.n_jobs = space, n_jobs
        self.proposals = chosen_proposals(space, proposals)
        self.scores = np.ascontiguousarray(scores, dtype=np.float64)
        self.row = np.ascontiguousarray(row, dtype=np.int64)
        self.beta = np.broadcast_to(np.asarray(beta, dtype=np.float64), self.row.shape).copy()
        first = uniform_draws(space, len(self.row), rng) if start is None else np.asarray(start)
        if len(first) != len(self.row):
            raise ValueError(f"start has {len(first)} outputs for {len(self.row)} chains.")
        if start is not None and not space.contains(first).all():
            raise ValueError(f"start: some output is none of {type(space).__name__}.")
        if len(first):  # compiled steps trust their arrays
            check_width(self.scores, space.embed(first[:1]).shape[1], space)
        self.states = self.proposals.start(first)
        self.streams = new_streams(len(self.row), rng)
        self.accepted = np.zeros(len(self.row), np.int64)
        self.n_steps = 0

    def advance(self, n_sweeps: int = 1) -> None:
        """Go on for so many sweeps."""
        n_steps, n = n_sweeps * self.proposals.sweep, len(self.row)
        jobs = min(effective_n_jobs(self.n_jobs), max(1, n // CHAINS_PER_THREAD))
        if jobs == 1 or isinstance(self.proposals, MetaProposals):
            self.accepted += self._walk(slice(0, n), n_steps)
        else:
            cuts = np.linspace(0, n, jobs + 1).astype(int)
            parts = [slice(a, b) for a, b in pairwise(cuts)]
            with ThreadPoolExecutor(jobs) as pool:
                accepted = pool.map(lambda part: self._walk(part, n_steps), parts)
                self.accepted += np.concatenate(list(accepted))
        self.n_steps += n_steps

    def _walk(self, part: slice, n_steps: int) -> np.ndarray:
        return self.proposals.walk(
            self.states[part], self.scores, self.row[part], self.beta[part], n_steps,
            self.streams[part],
        )  # fmt: skip

    @property
    def outputs(self) -> np.ndarray:
        """Where the chains are, in canonical form; shape (n_chains, ...)."""
        return self.proposals.outputs(self.states)

    def values(self) -> np.ndarray:
        """Scores of where the chains are; shape (n_chains,)."""
        return values_of(self.space, self.outputs, self.scores, self.row)

    @property
    def acceptance(self) -> np.ndarray:
        """Shares of proposals that were accepted; shape (n_chains,)."""
        return self.accepted / max(self.n_steps, 1)


def chosen_proposals(space: Any, proposals: str | Proposals) -> Proposals:
    """Proposals by name; local ones where the space has them and nothing else is asked for."""
    if isinstance(proposals, Proposals):
        return proposals
    if proposals not in PROPOSALS:
        raise ValueError(
            f"proposals is one of {', '.join(PROPOSALS)}, or Proposals; got {proposals!r}."
        )
    local: Proposals | None = None if proposals == "meta" else Inference.of(space).proposals()
    if local is not None:
        return local
    name = type(space).__name__
    if proposals == "local":
        raise ValueError(
            f"{name} has no local moves within these constraints: use proposals='meta'."
        )
    check_samplable(space)
    return MetaProposals(space)


def check_samplable(space: Any) -> None:
    """Raise where a space draws no uniform outputs."""
    if not isinstance(space, Samplable):
        raise ValueError(
            f"{type(space).__name__} is not Samplable: it has no sample(n, rng) that draws "
            "outputs uniformly, which chains begin with."
        )
    if differs_by_row(space):
        raise ValueError(
            f"The constraints of {type(space).__name__} differ from row to row: take rows(i) of it."
        )


def uniform_draws(space: Any, n: int, rng: np.random.Generator) -> np.ndarray:
    """Outputs in canonical form, drawn uniformly."""
    check_samplable(space)
    return np.asarray(space.sample(n, rng))
