# SPDX-License-Identifier: BSD-3-Clause
"""What proposals of Markov chains promise; proposals among a few choices."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np


class Proposals(ABC):
    """Local moves among the outputs of one structure: the steps of a Metropolis chain.

    Attributes
    ----------
    sweep : int
        Proposals after which everything was proposed about once.
    """

    sweep: int

    @abstractmethod
    def start(self, outputs: Any) -> np.ndarray:
        """Outputs (n, ...) in canonical form as states of chains, in an array of their own."""

    @abstractmethod
    def outputs(self, states: np.ndarray) -> np.ndarray:
        """States as outputs in canonical form."""

    @abstractmethod
    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        r"""Make ``n_steps`` proposals in every chain; states and streams change in place.

        Chain c approaches the distribution :math:`\exp(\beta_c \langle u_{row(c)}, \psi \rangle)`.

        Parameters
        ----------
        states : array of shape (n, ...), made by ``start``
        scores : C-contiguous float64 array of shape (r, d)
        row : int64 array of shape (n,)
            The row of scores that each chain follows.
        beta : float64 array of shape (n,)
            Inverse temperatures; 0 is the uniform distribution.
        streams : uint64 array of shape (n, 4)
            Random streams of the chains, see :mod:`skstruct.spaces.solvers.proposals`.

        Returns
        -------
        accepted : int64 array of shape (n,)
        """

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray | None:
        """With what probability a step proposes v at u, for all outputs; None where not told.

        ``outputs`` are all those of the structure, in canonical form; shape (n, n), symmetric. What
        is missing to one in a row is the probability of a step that proposes nothing.
        """
        return None


class ChoiceProposals(Proposals):
    """Every proposal is any of the choices, all alike.

    Parameters
    ----------
    numbers : int array of shape (m,)
        Choices that are allowed.
    values_of : callable
        Scores (r, d) to the values of all choices (r, M), allowed or not.
    numbers_of, outputs_of : callables, default=None
        Outputs in canonical form to numbers of choices, and back; None where these are the same.

    Examples
    --------
    >>> proposals = ChoiceProposals([1, 4], np.asarray)
    >>> proposals.outputs(proposals.start([4, 1]))
    array([4, 1])
    """

    def __init__(
        self,
        numbers: Any,
        values_of: Callable[..., Any],
        numbers_of: Callable[..., Any] | None = None,
        outputs_of: Callable[..., Any] | None = None,
    ) -> None:
        self.numbers, self.values_of = np.asarray(numbers, dtype=np.int64), values_of
        self.numbers_of, self.outputs_of = numbers_of, outputs_of
        self.sweep = len(self.numbers)

    def start(self, outputs: Any) -> np.ndarray:
        outputs = np.asarray(outputs)
        chosen = outputs if self.numbers_of is None else self.numbers_of(outputs)
        return np.searchsorted(self.numbers, chosen).astype(np.int64)

    def outputs(self, states: np.ndarray) -> np.ndarray:
        chosen = self.numbers[states]
        return chosen if self.outputs_of is None else self.outputs_of(chosen)

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.solvers._numba_markov_chains import walk_choices

        values = np.ascontiguousarray(self.values_of(scores)[:, self.numbers])
        return walk_choices(states, values, row, beta, n_steps, streams)

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray:
        return np.full((len(outputs), len(outputs)), 1.0 / self.sweep)


def n_columns_changed(outputs: np.ndarray) -> np.ndarray:
    """In how many columns any two outputs (n, d) differ; shape (n, n).

    >>> n_columns_changed(np.array([[0, 0], [1, 1]]))
    array([[0, 2],
           [2, 0]])
    """
    outputs = np.asarray(outputs)
    changed = np.zeros((len(outputs), len(outputs)), np.int64)
    for column in outputs.T:
        changed += column[:, None] != column
    return changed


def new_streams(n: int, rng: Any) -> np.ndarray:
    """States of ``n`` independent generators; uint64 of shape (n, 4).

    >>> new_streams(2, 0).shape
    (2, 4)
    """
    rng = np.random.default_rng(rng)
    return rng.integers(1, 2**64, size=(n, 4), dtype=np.uint64)
