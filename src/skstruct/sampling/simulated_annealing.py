# SPDX-License-Identifier: BSD-3-Clause
"""The best outputs that chains have seen while they grew cold."""

import copy
from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs, is_count
from skstruct.sampling.chains import Chains, uniform_draws, values_of
from skstruct.spaces import (
    Coordinates,
    Decoded,
    Embeddings,
    Guarantee,
    Inference,
    Samplable,
    Solving,
    Targets,
)
from skstruct.spaces.base import EmbeddingView
from skstruct.spaces.constraints import check_n_rows, differs_by_row
from skstruct.spaces.embeddings import EmbeddingsOfViews
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.solving import SolvingWithin
from skstruct.spaces.targets import TargetsOfSpace


def annealed_search(
    space: Any,
    costs: np.ndarray,
    betas: np.ndarray,
    n_chains: int,
    *,
    proposals: str | Proposals = "auto",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """For every row the output of least cost at the start or the end of a sweep of any chain.

    Parameters
    ----------
    space : fitted space, samplable, the same in all rows
    costs : array of shape (n, d)
    betas : array of shape (n_sweeps,)
        Inverse temperatures of the sweeps, of costs whose mean square is one.
    n_chains : int
        Of every row, each begun with a uniform draw.
    moves, rng, n_jobs : see :class:`~skstruct.sampling.Metropolis`

    Returns
    -------
    outputs : array of shape (n, ...)
    """
    rng = np.random.default_rng(rng)
    n, row = len(costs), np.repeat(np.arange(len(costs)), n_chains)
    first = uniform_draws(space, max(len(row), 1), rng)
    width = space.embed(first[:1]).shape[1]
    costs = check_costs(costs, width, used_by=f"SimulatedAnnealing of {type(space).__name__}")
    if not n:
        return first[:0]
    chains = Chains(space, -costs, row, start=first, proposals=proposals, rng=rng, n_jobs=n_jobs)
    best, best_values = np.array(first), chains.values()
    size = size_of(costs)[row]
    for beta in betas:
        chains.beta[:] = beta / size
        chains.advance()
        values = chains.values()
        better = values > best_values
        if better.any():
            best[better], best_values[better] = chains.outputs[better], values[better]
    winner = np.arange(n) * n_chains + best_values.reshape(n, n_chains).argmax(axis=1)
    return best[winner]


def size_of(costs: np.ndarray) -> np.ndarray:
    """Root mean square of the costs that are not zero; 1 where all are; shape (n,)."""
    largest = np.abs(costs).max(axis=1, initial=0.0)
    largest[largest == 0] = 1.0
    scaled = costs / largest[:, None]  # no square overflows
    count = np.maximum((scaled != 0).sum(axis=1), 1)
    size = np.sqrt((scaled**2).sum(axis=1) / count) * largest
    return np.where(size > 0, size, 1.0)


def psi_range(space: Any, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of every coordinate of psi by the space's decoder; (1, d) each, (n, d) by row."""
    if not differs_by_row(space):
        both = np.vstack([np.eye(d), -np.eye(d)])
        least = np.asarray(space.argmin(both).bounds).reshape(2, 1, d)
    else:
        unit = [np.tile(sign * e, (n, 1)) for sign in (1.0, -1.0) for e in np.eye(d)]
        least = np.stack([space.argmin(costs).bounds for costs in unit], axis=1)
        least = least.reshape(n, 2, d).transpose(1, 0, 2)
    return least[0], -least[1]


# Simulated annealing: chains that grow cold, as the decoder of a space.


SCHEDULES = ("geometric", "linear")
BOUNDS = ("range", "decoder")
SHARED = ("enumerate", "stream", "size", "log_size", "mean_embedding", "second_moment",
          "sibling")  # fmt: skip


class SimulatedAnnealing(EmbeddingView):
    r"""A space that is searched by chains which grow cold.

    With f the negative cost, a chain goes from y to a proposal z with probability
    :math:`\min(1, \alpha^{f(z) - f(y)})`, :math:`\alpha = e^\beta` growing from sweep to sweep
    [1]_: its distribution grows narrow around the best outputs. The best output at the end of any
    sweep is the answer. It may be any output: all that is promised is the bound.

    It decodes wherever the space did, as the ``space`` of a learner too, and everything else is
    as in the space. Worth it where that has no exact decoder, or a slow one.

    Parameters
    ----------
    space : space, samplable
    n_sweeps : int, default=100
        Of each chain. With the meta chain, for spaces without local moves, proposals.
    n_chains : int, default=4
        For each row of costs.
    schedule : "geometric" or "linear", default="geometric"
        How inverse temperatures go from the first to the last.
    betas : (first, last), default=(0.1, 20.0)
        Inverse temperatures, of costs that are divided by the root of the mean square of
        those in the row that are not zero. The first of a geometric schedule is above 0.
    chain : "auto", "local" or "meta", default="auto"
        The moves of :class:`~skstruct.sampling.Metropolis`.
    bound : "range" or "decoder", default="range"
        Lower bounds: the sum of what each coordinate could bring at best, its range asked of
        the space's decoder once; or what the decoder of the space proves for these costs.
    rng : int or Generator, default=0
        With a number, the same costs have the same answer.
    n_jobs : int, default=None
        Threads; answers do not depend on them.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       chapter 7; printed there with the sign of the exponent reversed.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> space = SimulatedAnnealing(LabelSets(["beach", "city", "sunset"]))
    >>> space.argmin(np.array([[0.3, -2.0, -0.1]]))
    Decoded(outputs=array([[0, 1, 1]], dtype=int8), values=array([-2.1]), bounds=array([-2.1]))
    """

    guarantee = Guarantee("bound only")

    def __init__(
        self,
        space: Any,
        *,
        n_sweeps: int = 100,
        n_chains: int = 4,
        schedule: str = "geometric",
        betas: tuple[float, float] = (0.1, 20.0),
        chain: str | Proposals = "auto",
        bound: str = "range",
        rng: int | np.random.Generator | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.space = space
        self.n_sweeps = n_sweeps
        self.n_chains = n_chains
        self.schedule = schedule
        self.betas = betas
        self.chain = chain
        self.bound = bound
        self.rng = rng
        self.n_jobs = n_jobs

    # ------------------------------------------------------------- as the space is
    @property
    def embedding(self) -> str:  # type: ignore[override]
        return self.space.embedding

    @property
    def default_loss(self) -> Any:
        return self.space.default_loss

    @property
    def counted(self) -> Any:
        return self.space.counted

    def __getattr__(self, name: str) -> Any:
        # What the space has learned, and what it can do that does not decode.
        if name in SHARED or (name.endswith("_") and not name.startswith("_")):
            return getattr(self.space, name)
        raise AttributeError(f"{type(self).__name__} has no {name!r}")

    def embed(self, Z: np.ndarray) -> np.ndarray:
        return self.space.embed(Z)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.space.sample(n, rng)

    def covariance(self) -> Any:
        return self.space.covariance()

    def fit(self, Y: Any) -> Any:
        self._forget()
        return super().fit(Y)

    def set_params(self, **params: Any) -> Any:
        self._forget()
        return super().set_params(**params)

    def _forget(self) -> None:
        self.__dict__.pop("_range", None)

    def _over(self, space: Any) -> Any:
        view = copy.copy(self)
        view.space = space
        view._forget()
        return view

    # ------------------------------------------------------------- decoding
    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the best output that was seen; costs of shape (n, d)."""
        self._check()
        costs, rng = np.asarray(costs, dtype=np.float64), np.random.default_rng(self.rng)
        if getattr(self.constraints_, "n_rows", None) is None:
            outputs = self._search(self.space, costs, rng)
        else:
            check_n_rows(self.constraints_, len(costs), type(self.space).__name__)
            rows = [self.space.rows([i]) for i in range(len(costs))]
            found = [self._search(space, costs[[i]], rng) for i, space in enumerate(rows)]
            outputs = np.concatenate(found)
        values = values_of(self.space, outputs, costs, np.arange(len(costs)))
        bounds = self._lower_bounds(costs)
        return Decoded(outputs, values, np.minimum(bounds, values))  # but for rounding

    def _search(self, space: Any, costs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        first, last = self.betas
        between = np.geomspace if self.schedule == "geometric" else np.linspace
        betas = between(first, last, int(self.n_sweeps))
        return annealed_search(
            *(space, costs, betas, int(self.n_chains)),
            proposals=self.chain,
            rng=rng,
            n_jobs=self.n_jobs,
        )

    def _check(self) -> None:
        for name in ("n_sweeps", "n_chains"):
            if not is_count(getattr(self, name)):
                raise ValueError(
                    f"SimulatedAnnealing: {name} is a whole number from 1; got "
                    f"{getattr(self, name)!r}."
                )
        for name, known in (("schedule", SCHEDULES), ("bound", BOUNDS)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"SimulatedAnnealing: {name} is one of {', '.join(known)}; got "
                    f"{getattr(self, name)!r}."
                )
        first, last = np.array(self.betas, dtype=np.float64)
        geometric = self.schedule == "geometric"
        if not (0 <= first <= last < np.inf) or (geometric and first == 0):
            raise ValueError(
                f"SimulatedAnnealing: betas are the first and the last, at least as large, and "
                f"above 0 in a geometric schedule; got {self.betas!r}."
            )

    def _lower_bounds(self, costs: np.ndarray) -> Any:
        if self.bound == "decoder":
            return np.asarray(self.space.argmin(costs).bounds)
        low, high = self.__dict__.get("_range") or psi_range(self.space, *costs.shape)
        if len(low) == 1:  # the same in all rows, and next time
            self._range = low, high
        return np.minimum(costs * low, costs * high).sum(axis=1)


Solving.at(SimulatedAnnealing, SolvingWithin)


class CoordinatesWithin(Coordinates):
    """Those of the space that is searched."""

    __slots__ = ()

    def lift(self, costs: np.ndarray, embedding: str) -> np.ndarray:
        return Coordinates.of(self.space.space).lift(costs, embedding)


Coordinates.at(SimulatedAnnealing, CoordinatesWithin)
Targets.at(SimulatedAnnealing, TargetsOfSpace)


class EmbeddingsWithin(EmbeddingsOfViews):
    """The same search in another embedding; one without a uniform sampler decodes by itself."""

    __slots__ = ()

    def view(
        self, name: str, outputs: np.ndarray | None = None, candidates: np.ndarray | None = None
    ) -> Any:
        view = super().view(name, outputs, candidates)
        if view is self.space or not isinstance(view, Samplable):
            return view
        return copy.copy(self.space).set_params(space=view)


Embeddings.at(SimulatedAnnealing, EmbeddingsWithin)


class InferenceWithin(Inference):
    """That of the space that is searched."""

    __slots__ = ()

    def distribution(self, scores: Any) -> Any:
        return Inference.of(self.space.space).distribution(scores)

    def proposals(self) -> Any:
        return Inference.of(self.space.space).proposals()


Inference.at(SimulatedAnnealing, InferenceWithin)
