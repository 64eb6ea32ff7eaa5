# SPDX-License-Identifier: BSD-3-Clause
"""What an exactly known distribution promises; a softmax over choices or a list of outputs."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np


class Distribution(ABC):
    r"""The distributions :math:`p(y) = \exp(\langle u, \psi(y) \rangle - \ln Z)`, one per row of
    scores u.

    Attributes
    ----------
    log_partition : array of shape (n_rows,)
        :math:`\ln Z = \ln \sum_y \exp \langle u, \psi(y) \rangle`.
    """

    log_partition: np.ndarray

    @abstractmethod
    def marginals(self) -> np.ndarray:
        """E psi(Y) of every row, the gradient of ``log_partition``; shape (n_rows, d)."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` independent outputs of every row in canonical form; shape (n_rows, n, ...)."""

    def means_in(self, view: Any) -> np.ndarray | None:
        """Means of what ``view``, the same outputs under another embedding, regresses; (n_rows, k).

        None where that is not known at once.
        """
        return None

    def covariance_product(self, directions: np.ndarray) -> np.ndarray | None:
        """Cov(psi(Y)) v of every row, the derivative of ``marginals`` in direction v (n_rows, d).

        None where there is no closed form: differences of marginals tell it.
        """
        return None


class StackedDistributions(Distribution):
    """Distributions of different sets of outputs, one after the other.

    Parameters
    ----------
    distributions : list of distributions
    """

    def __init__(self, distributions: list[Any]) -> None:
        self.distributions = distributions
        self.log_partition = np.concatenate(
            [distribution.log_partition for distribution in distributions]
        )

    def marginals(self) -> np.ndarray:
        return np.concatenate([distribution.marginals() for distribution in self.distributions])

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([distribution.sample(n, rng) for distribution in self.distributions])

    def covariance_product(self, directions: np.ndarray) -> np.ndarray | None:
        ends = np.cumsum([len(part.log_partition) for part in self.distributions])[:-1]
        parts = zip(self.distributions, np.split(directions, ends))
        products = [distribution.covariance_product(part) for distribution, part in parts]
        known = [product for product in products if product is not None]
        return np.concatenate(known) if len(known) == len(products) else None


class ChoiceDistribution(Distribution):
    """One of m choices with probabilities proportional to exp(values).

    The caller gives the costs of the choices, and says what their probabilities mean.

    Parameters
    ----------
    values : array of shape (n, m)
        What each choice scores; -inf where it is not allowed.
    marginals_of : callable, default=None
        Probabilities of the choices (n, m) to marginals (n, d); None where these are the same.
    outputs_of : callable, default=None
        Numbers of choices to outputs in canonical form; None where these are the same.

    Examples
    --------
    >>> distribution = ChoiceDistribution(np.log([[1.0, 3.0]]))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals().round(12)
    (array([4.]), array([[0.25, 0.75]]))
    """

    def __init__(
        self,
        values: np.ndarray,
        marginals_of: Callable[..., Any] | None = None,
        outputs_of: Callable[..., Any] | None = None,
    ) -> None:
        self.marginals_of, self.outputs_of = marginals_of, outputs_of
        best = values.max(axis=1, initial=-np.inf)
        shift = np.where(np.isfinite(best), best, 0.0)
        self._weights = np.exp(values - shift[:, None])
        self._totals = self._weights.sum(axis=1)
        with np.errstate(divide="ignore"):  # no choice at all: -inf, which the caller reports
            self.log_partition = shift + np.log(self._totals)

    @cached_property
    def probabilities(self) -> np.ndarray:
        """Of every choice in every row; shape (n, m)."""
        return self._weights / self._totals[:, None]

    def marginals(self) -> np.ndarray:
        probabilities = self.probabilities
        return (
            probabilities.copy() if self.marginals_of is None else self.marginals_of(probabilities)
        )

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        drawn = drawn_columns(self.probabilities, n, rng)
        return drawn if self.outputs_of is None else self.outputs_of(drawn)

    def covariance_product(self, directions: np.ndarray) -> np.ndarray | None:
        """Known where choices are coordinates: those of others are functions of the caller's."""
        return self._spread(directions) if self.marginals_of is None else None

    def _spread(self, values: np.ndarray) -> np.ndarray:
        """p (v - E v) for values v of the choices; shape (n, m)."""
        mean = (self.probabilities * values).sum(axis=1, keepdims=True)
        return self.probabilities * (values - mean)


def drawn_columns(probabilities: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` columns of every row with the probabilities that stand there; int64 (n_rows, n)."""
    upto = np.cumsum(probabilities, axis=1)
    upto /= upto[:, -1:]
    # Rounding may reach past the last column of probability above 0: none is drawn beyond it.
    last = probabilities.shape[1] - 1 - np.argmax(probabilities[:, ::-1] > 0, axis=1)
    # All rows are searched at once: row r lives between 2 r and 2 r + 1.
    rows = np.arange(len(upto))[:, None]
    level = rng.random((len(upto), n)) + 2.0 * rows
    found = np.searchsorted((upto + 2.0 * rows).ravel(), level, "right")
    return np.minimum(found - probabilities.shape[1] * rows, last[:, None])


class ListedDistribution(ChoiceDistribution):
    """Distributions over outputs that are few enough to be listed, with their embeddings.

    Parameters
    ----------
    outputs : array of shape (m, ...)
        All outputs in canonical form.
    psi : array or CSR of shape (m, d)
        Their embeddings.
    scores : array of shape (n, d)

    Examples
    --------
    >>> distribution = ListedDistribution(np.array([[0], [1]]), np.array([[0.0], [1.0]]),
    ...     np.log([[3.0]]))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals()
    (array([4.]), array([[0.75]]))
    """

    def __init__(self, outputs: np.ndarray, psi: Any, scores: np.ndarray) -> None:
        self.outputs, self.psi = np.asarray(outputs), psi
        super().__init__(
            np.asarray(psi @ scores.T).T,
            marginals_of=lambda probabilities: np.asarray(probabilities @ psi),
            outputs_of=lambda drawn: self.outputs[drawn],
        )

    def covariance_product(self, directions: np.ndarray) -> np.ndarray:
        return np.asarray(self._spread(np.asarray(self.psi @ directions.T).T) @ self.psi)
