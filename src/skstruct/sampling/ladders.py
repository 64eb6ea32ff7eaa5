# SPDX-License-Identifier: BSD-3-Clause
"""Ladders of temperatures: who stands where, how often neighbours change places."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.checks import is_count

LEAST = 1e-3  # rejection that is taken as measured even where all swaps were accepted


def checked_betas(betas, n_temperatures) -> np.ndarray:
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


def evened(betas, rejected) -> np.ndarray:
    """Inverse temperatures between which swaps would be rejected equally often.

    What is rejected adds up along the ladder, wherever the steps are: the steps are put where
    the sum grows by equal parts.

    >>> evened(np.array([1.0, 0.5, 0.0]), np.array([0.2, 0.6])).round(3)
    array([1.   , 0.333, 0.   ])
    """
    upto = np.concatenate([[0.0], np.cumsum(np.maximum(rejected, LEAST))])
    wanted = np.linspace(0.0, upto[-1], len(betas))
    moved = np.interp(wanted, upto, betas)
    moved[0], moved[-1] = betas[0], betas[-1]
    return moved


class Ladder:
    """Chains of each ladder and the temperatures that they are at.

    Attributes
    ----------
    place : int array of shape (n_ladders, K)
        The chain at each temperature, from the lowest temperature up.
    values : array of shape (n_ladders, K)
        Scores of the chains at each temperature.
    round_trips : int array of shape (n_ladders,)
    """

    def __init__(self, n_ladders: int, n_levels: int):
        self.first = n_levels * np.arange(n_ladders)[:, None]  # chain of each ladder
        self.place = np.tile(np.arange(n_levels), (n_ladders, 1))
        self.values = np.zeros(self.place.shape)
        self.odd = False
        self.was_cold = np.zeros(self.place.shape, bool)  # of each chain: and not hot since
        self.was_hot = np.zeros(self.place.shape, bool)  # hot after it was cold
        self.forget_rates()

    @property
    def flat_place(self) -> np.ndarray:
        """The chains at each temperature, numbered across all ladders; (n_ladders, K)."""
        return self.place + self.first

    def forget_rates(self):
        n_ladders, n_levels = self.place.shape
        self.n_rounds = 0
        self.chance, self.tried = np.zeros(n_levels - 1), np.zeros(n_levels - 1)
        self.log_ratios = np.full(n_levels - 1, -np.inf)
        self.round_trips = np.zeros(n_ladders, np.int64)

    def swap(self, values, betas, rng) -> None:
        """Let every other pair of neighbours change places; values by chain, of any shape."""
        at = np.take_along_axis(np.reshape(values, self.place.shape), self.place, axis=1)
        step = betas[:-1] - betas[1:]
        summed = np.logaddexp.reduce(step * at[:, 1:], axis=0)
        self.log_ratios = np.logaddexp(self.log_ratios, summed)
        pairs = np.arange(int(self.odd), len(betas) - 1, 2)
        log_chance = np.minimum(step[pairs] * (at[:, pairs + 1] - at[:, pairs]), 0.0)
        self.chance[pairs] += np.exp(log_chance).sum(axis=0)
        self.tried[pairs] += len(at)
        swapped = -rng.standard_exponential(log_chance.shape) < log_chance
        for array in (self.place, at):
            cold, hot = array[:, pairs].copy(), array[:, pairs + 1].copy()
            array[:, pairs] = np.where(swapped, hot, cold)
            array[:, pairs + 1] = np.where(swapped, cold, hot)
        self.values, self.odd = at, not self.odd
        self.n_rounds += 1
        self._count_trips()

    def _count_trips(self):
        ladder = np.arange(len(self.place))
        cold, hot = (ladder, self.place[:, 0]), (ladder, self.place[:, -1])
        self.was_hot[hot] |= self.was_cold[hot]
        self.round_trips += self.was_hot[cold]
        self.was_hot[cold], self.was_cold[cold] = False, True

    def swap_rates(self) -> np.ndarray:
        """Mean chance that neighbours change places; shape (K - 1,)."""
        return self.chance / np.maximum(self.tried, 1)

    def log_ratio(self) -> float:
        r"""Estimate of :math:`\ln Z(\beta_1) - \ln Z(\beta_K)`, by means at the hotter ones."""
        seen = max(self.n_rounds * len(self.place), 1)
        return float((self.log_ratios - np.log(seen)).sum())
