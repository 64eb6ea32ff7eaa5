# SPDX-License-Identifier: BSD-3-Clause
"""Laws of a trained model: exact where they are known, else by Markov chains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.sampling.partition import LogPartition, chain_draws, exact_law, log_partition
from skstruct.sampling.values import mean_psi
from skstruct.summing.listed import ListedLaw

PARTITIONS = ("auto", "exact", "annealed", "contrastive")


@dataclass(frozen=True, eq=False)
class ModelLaws:
    """How partition functions, means and draws of a model come about.

    Attributes
    ----------
    partition : "auto", "exact", "annealed" or "contrastive"
        Exact laws are used by the first two.
    n_draws, n_warmup : int
        Draws of a row for its means, and sweeps of the chains that they are the ends of.
    eps, delta : float
        What annealed partition functions promise; nothing where eps is None.
    moves : str
    seed : int
        Predictions of the same rows are the same every time.
    n_jobs : int or None
    """

    partition: str
    n_draws: int
    n_warmup: int
    eps: float | None
    delta: float
    moves: Any
    seed: int
    n_jobs: Any = None

    def law(self, space, scores):
        """The exact law, or None."""
        if self.partition not in ("auto", "exact"):
            return None
        return exact_law(space, scores, required=self.partition == "exact")

    def draws(self, space, scores, n: int, rng=None) -> np.ndarray:
        """``n`` draws of every row; shape (n_rows, n, ...)."""
        rng = np.random.default_rng(self.seed if rng is None else rng)
        law = self.law(space, scores)
        if law is not None:
            return law.sample(n, rng)
        options = {"n_warmup": self.n_warmup, "moves": self.moves, "n_jobs": self.n_jobs}
        if not _differs(space):
            return chain_draws(space, scores, n, rng=rng, **options)
        each = range(len(scores))
        drawn = [chain_draws(space.rows([i]), scores[[i]], n, rng=rng, **options) for i in each]
        return np.concatenate(drawn)

    def means(self, space, scores, view=None) -> np.ndarray:
        """Means of the embedding of ``view``, the space under another one; shape (n, d)."""
        view = space if view is None else view
        law = self.law(space, scores)
        if law is None:
            drawn = self.draws(space, scores, self.n_draws)
        elif view.embedding == space.embedding and _is_psi(view, space):
            return law.marginals()
        else:
            means = self._other_means(law, space, view, scores)
            if means is not None:
                return means
            drawn = law.sample(self.n_draws, np.random.default_rng(self.seed))
        return np.array([mean_psi(view, outputs) for outputs in drawn])

    @staticmethod
    def _other_means(law, space, view, scores):
        """Exact means of another embedding, where one is written in the other or all is listed."""
        if isinstance(law, ListedLaw):
            return np.asarray(law.probabilities @ view.embed(law.outputs))
        try:  # the same law in the view's own coordinates
            other = view.law(view.lift(scores, space.embedding))
            if other is not None:
                return other.marginals()
        except (AttributeError, ValueError):
            pass
        try:  # psi' = P psi where costs of psi' can be written as costs of psi
            some = law.sample(1, np.random.default_rng(0))[:1, 0]
            width = view.embed(some).shape[1]
            return law.marginals() @ space.lift(np.eye(width), view.embedding).T
        except (AttributeError, ValueError):
            return None

    def log_partition(self, space, scores) -> LogPartition:
        """ln Z of every row with its interval."""
        method = self.partition if self.partition in ("auto", "exact") else "annealed"
        options = {"delta": self.delta, "return_interval": True, "moves": self.moves}
        options |= {"n_jobs": self.n_jobs}
        options |= {"n_draws": self.n_draws} if self.eps is None else {"eps": self.eps}
        if method == "exact" or not _differs(space) or self.law(space, scores) is not None:
            return log_partition(space, scores, method=method, rng=self.seed, **options)
        each = [
            log_partition(space.rows([i]), scores[[i]], method=method, rng=self.seed, **options)
            for i in range(len(scores))
        ]
        return LogPartition.joined(each)


def _differs(space) -> bool:
    """Whether the limits of a space differ from row to row."""
    return getattr(getattr(space, "limits_", None), "n_rows", None) is not None


def _is_psi(view, space) -> bool:
    """Whether a view embeds as the space does; lists of outputs go by one name for all."""
    return view is space or type(view) is type(space)
