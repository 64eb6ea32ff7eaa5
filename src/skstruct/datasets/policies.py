# SPDX-License-Identifier: BSD-3-Clause
"""Two simulations of structured ridge regression: tours by a hidden policy, bits that stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class PolicyTours:
    """People and the directed tours of largest reward to them.

    Attributes
    ----------
    X : float64 array of shape (n_samples, n_features)
    Y : int8 array of shape (n_samples, n_places * (n_places - 1))
        Steps of directed cycles, as ``Cycles(n_places)`` has them, whose ``tours(Y)`` are the
        places in order.
    rewards : float64 array of shape (n_features, n_pairs)
        What one unit of each feature makes of a step from u to v, for all u < v in the order of
        ``numpy.triu_indices``. The step back costs as much.
    """

    X: np.ndarray
    Y: np.ndarray
    rewards: np.ndarray

    @property
    def policies(self) -> np.ndarray:
        """Reward of every step u < v to every person; shape (n_samples, n_pairs)."""
        return self.X @ self.rewards


def make_policy_tours(
    n_samples: int = 100,
    n_places: int = 10,
    n_features: int = 15,
    *,
    rewards=None,
    random_state=None,
) -> PolicyTours:
    r"""Draw people who take the directed tour that a hidden policy rewards most [1]_.

    .. math:: y = \arg\max_{y} \sum_{(u, v) \in y} \sum_j x_j A^{(j)}_{uv}, \qquad
        x_j \sim U[0, 1], \quad A^{(j)}_{uv} = -A^{(j)}_{vu} \sim U[-1, 1]

    found exactly, among all directed cycles through three places or more.

    Parameters
    ----------
    n_samples : int
    n_places : int
    n_features : int
    rewards : array of shape (n_features, n_pairs), default=None
        Those of earlier data, to draw people with the same policy from.
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    PolicyTours

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", 2010, section 5.5, "Dicycle
       policy estimation".

    Examples
    --------
    >>> train = make_policy_tours(50, n_places=6, random_state=0)
    >>> train.X.shape, train.Y.shape, train.rewards.shape
    ((50, 15), (50, 30), (15, 15))
    >>> test = make_policy_tours(20, n_places=6, rewards=train.rewards, random_state=1)
    >>> test.policies.shape
    (20, 15)
    """
    from skstruct.spaces import Cycles

    rng = np.random.default_rng(random_state)
    n_pairs = n_places * (n_places - 1) // 2
    if rewards is None:
        rewards = rng.uniform(-1, 1, (n_features, n_pairs))
    rewards = np.asarray(rewards, dtype=np.float64)
    if rewards.ndim != 2 or rewards.shape[1] != n_pairs:
        raise ValueError(
            f"make_policy_tours: rewards has shape (n_features, {n_pairs}) for {n_places} places; "
            f"got {rewards.shape}."
        )
    X = rng.uniform(0, 1, (n_samples, len(rewards)))
    return PolicyTours(X, Cycles(n_places).argmin(-X @ rewards).outputs, rewards)


def make_identity_labels(n_samples: int = 100, n_labels: int = 5, *, random_state=None):
    """Draw bits, equally likely, and label sets that are the same bits [1]_.

    Parameters
    ----------
    n_samples, n_labels : int
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    X : float64 array of shape (n_samples, n_labels)
    Y : int8 array of shape (n_samples, n_labels)

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", 2010, section 5.5,
       "Stochastic gradient descent".

    Examples
    --------
    >>> X, Y = make_identity_labels(3, random_state=0)
    >>> Y
    array([[1, 1, 1, 0, 0],
           [0, 0, 0, 0, 1],
           [1, 1, 1, 1, 1]], dtype=int8)
    """
    X = np.random.default_rng(random_state).integers(0, 2, (n_samples, n_labels))
    return X.astype(np.float64), X.astype(np.int8)
