# SPDX-License-Identifier: BSD-3-Clause
"""Generated quantities: a function with outliers, and traffic through a grid of streets."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

_CALM = 0.3  # log of how much likelier it is that all is open than that something is closed


class StreetNetwork:
    r"""Streets that traffic takes from the first crossing to the last, and how it chooses.

    The streets lead east and south on a grid of crossings ``"A1", "A2", ...``; one unit goes
    in at the first and out at the last one. Each day either all crossings are open or one of
    those between is closed,

    .. math:: P(k \mid x) \propto \exp(g_k + \langle h_k, x - 1/2 \rangle),

    and of the traffic the path p, if it is open, takes the share

    .. math:: w_p(x) \propto \exp\bigl(-\textstyle\sum_{a \in p} (c_a +
        \langle b_a, x - 1/2 \rangle)\bigr).

    The flow on a street is the sum of the shares of the paths along it. Given x there are
    hence as many flows as states, with known probabilities: every conditional risk is a
    finite sum.

    Parameters
    ----------
    n_rows, n_columns : int
        Crossings from north to south and from west to east; at least two, one of them three.
    n_features : int, default=20
        Length of x.
    seed : int, default=16
        Draws the delays c, b and the probabilities g, h.

    Attributes
    ----------
    arcs : tuple of (tail, head) pairs
    supply : dict, for :class:`~skstruct.spaces.Flows`
    paths : int array of shape (n_paths, n_arcs)
    states : tuple; None for all open, or the crossing that is closed

    Examples
    --------
    >>> network = StreetNetwork(2, 3, n_features=2)
    >>> network.arcs[:3]
    (('A1', 'A2'), ('A1', 'B1'), ('A2', 'A3'))
    >>> network.states
    (None, 'A2', 'A3', 'B1', 'B2')
    >>> x = np.full((1, 2), 0.5)
    >>> network.probabilities(x).sum().round(12)
    np.float64(1.0)
    >>> network.flows(x)[0, 1].round(2)  # A2 is closed
    array([0., 1., 0., 0., 0., 1., 1.])
    """

    def __init__(
        self, n_rows: int = 3, n_columns: int = 4, n_features: int = 20, *, seed: int = 16
    ) -> None:
        if min(n_rows, n_columns) < 2 or max(n_rows, n_columns) < 3:
            raise ValueError(
                f"A grid of {n_rows} by {n_columns} crossings leaves no way around one that is "
                "closed; both must be at least 2, and one of them 3."
            )
        self.n_features = n_features
        crossings, self.arcs = _grid(n_rows, n_columns)
        first, *between, last = crossings
        self.supply = {first: 1.0, last: -1.0}
        self.states = (None, *between)
        self.paths = _paths(self.arcs, first, last)
        # A path is open unless it leads into the crossing that is closed; shape (K, n_paths).
        into = np.array([[head == state for _, head in self.arcs] for state in self.states])
        self._open = into @ self.paths.T == 0
        self._draw_behaviour(np.random.default_rng(seed))

    def _draw_behaviour(self, rng: np.random.Generator) -> None:
        d, K, p = len(self.arcs), len(self.states), self.n_features
        unit = np.sqrt(12 / p)  # <unit * normal, x - 1/2> has variance one for uniform x
        self._probability = 0.3 * rng.standard_normal(K)
        self._probability[0] = _CALM + np.log(K - 1)
        self._delay = 1.5 * rng.standard_normal(d)
        self._delay_effect = 0.25 * unit * rng.standard_normal((d, p))
        self._probability_effect = 0.35 * unit * rng.standard_normal((K, p))

    # ------------------------------------------------------------------ the distribution
    def probabilities(self, X: Any) -> np.ndarray:
        """Probability of each state for each row of X; shape (n, n_states)."""
        scores = self._probability + (np.asarray(X) - 0.5) @ self._probability_effect.T
        return _softmax(scores)

    def flows(self, X: Any) -> np.ndarray:
        """The flow in each state for each row of X; shape (n, n_states, n_arcs)."""
        delay = (self._delay + (np.asarray(X) - 0.5) @ self._delay_effect.T) @ self.paths.T
        return _softmax(np.where(self._open, -delay[:, None], -np.inf)) @ self.paths

    def sample(self, X: Any, random_state: Any = None) -> np.ndarray:
        """One flow for each row of X; shape (n, n_arcs)."""
        rng = np.random.default_rng(random_state)
        through = self.probabilities(X).cumsum(axis=1)
        state = (rng.random((len(through), 1)) * through[:, -1:] > through).sum(axis=1)
        return self.flows(X)[np.arange(len(state)), state]

    # ------------------------------------------------------------------ what it implies
    def risk(self, Z: np.ndarray, X: Any, loss: Any) -> np.ndarray:
        """Exact conditional risk of predicting Z[i] at X[i] under a loss; shape (n,)."""
        P, Y = self.probabilities(X), self.flows(X)
        Z = np.broadcast_to(np.asarray(Z)[:, None], Y.shape)
        losses = loss(Z.reshape(-1, Y.shape[2]), Y.reshape(-1, Y.shape[2]))
        return (P * losses.reshape(P.shape)).sum(axis=1)

    def mean(self, X: Any) -> np.ndarray:
        """Conditional mean: the best prediction under the squared loss; shape (n, n_arcs)."""
        return np.einsum("nk,nka->na", self.probabilities(X), self.flows(X))

    def median(self, X: Any) -> np.ndarray:
        """The best flow under the absolute loss, by a linear program a row; (n, n_arcs)."""
        pairs = zip(self.probabilities(X), self.flows(X))
        return np.array([_least_absolute(self.paths, p, Y) for p, Y in pairs])


def _grid(n_rows: int, n_columns: int) -> tuple[list[str], tuple[Any, ...]]:
    """Names of the crossings row by row, and the streets in their order."""
    grid = [[f"{_letters(r)}{c + 1}" for c in range(n_columns)] for r in range(n_rows)]
    crossings = [name for row in grid for name in row]
    east = [street for row in grid for street in pairwise(row)]
    south = [street for above, below in pairwise(grid) for street in zip(above, below)]
    index = {name: i for i, name in enumerate(crossings)}
    arcs = sorted(east + south, key=lambda arc: (index[arc[0]], index[arc[1]]))
    return crossings, tuple(arcs)


def _letters(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    before, last = divmod(number, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)


def _paths(arcs: tuple[Any, ...], first: str, last: str) -> np.ndarray:
    """All paths as rows of zeros and ones; shape (n_paths, n_arcs)."""
    rows: list[list[int]] = []
    unfinished: list[tuple[str, tuple[int, ...]]] = [(first, ())]
    while unfinished:
        node, used = unfinished.pop()
        if node == last:
            rows.append([int(k in used) for k in range(len(arcs))])
        unfinished += [(head, (*used, k)) for k, (tail, head) in enumerate(arcs) if tail == node]
    return np.array(rows[::-1])


def _softmax(scores: np.ndarray) -> Any:
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return scores / scores.sum(axis=-1, keepdims=True)


def _least_absolute(paths: np.ndarray, p: np.ndarray, Y: Any) -> Any:
    """argmin over flows z of sum_k p_k |z - Y_k|_1; z is a mixture of paths."""
    from scipy.optimize import linprog

    (K, d), m = Y.shape, len(paths)
    # Variables: shares of the paths, and t_ka >= |z_a - Y_ka|.
    mixed = np.tile(paths.T, (K, 1))
    answer = linprog(
        np.concatenate([np.zeros(m), np.repeat(p, d)]),
        A_ub=np.block([[mixed, -np.eye(K * d)], [-mixed, -np.eye(K * d)]]),
        b_ub=np.concatenate([Y.ravel(), -Y.ravel()]),
        A_eq=np.concatenate([np.ones(m), np.zeros(K * d)])[None],
        b_eq=[1.0],
    )
    return answer.x[:m] @ paths


# Generated quantities that depend on inputs: a function with outliers, flows of traffic.


@dataclass(frozen=True)
class RegressionData:
    """Inputs, outputs, and what the outputs would be without noise.

    Attributes
    ----------
    X : float64 array of shape (n_samples, n_features)
    y : float64 array of shape (n_samples,)
    clean : float64 array of shape (n_samples,)
    """

    X: np.ndarray
    y: np.ndarray
    clean: np.ndarray


def make_outlier_regression(
    n_samples: int = 200,
    *,
    variance: float = 0.1,
    share: float = 0.1,
    reach: float = 3.0,
    random_state: Any = None,
) -> RegressionData:
    r"""Draw a sine with Gaussian noise and outliers [1]_.

    .. math:: y = \sin(6 \pi x) + \varepsilon + \zeta, \qquad x \sim U[-1, 1],
        \quad \varepsilon \sim N(0, \sigma^2)

    where :math:`\zeta` is zero, or with probability ``share`` uniform on
    :math:`[-r, r]`.

    Parameters
    ----------
    n_samples : int
    variance : float, default=0.1
        Of the noise, :math:`\sigma^2`.
    share : float, default=0.1
        Of the outliers among the samples.
    reach : float, default=3.0
        Largest size r of an outlier.
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    RegressionData

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, section 6.

    Examples
    --------
    >>> data = make_outlier_regression(1000, random_state=0)
    >>> data.X.shape, data.y.shape
    ((1000, 1), (1000,))
    >>> bool(np.median(abs(data.y - data.clean)) < 0.3)
    True
    """
    rng = np.random.default_rng(random_state)
    x = rng.uniform(-1, 1, n_samples)
    clean = np.sin(6 * np.pi * x)
    noise = np.sqrt(variance) * rng.standard_normal(n_samples)
    outlier = (rng.random(n_samples) < share) * rng.uniform(-reach, reach, n_samples)
    return RegressionData(x[:, None], clean + noise + outlier, clean)


def make_network_flows(
    n_samples: int = 1000, *, network: StreetNetwork | None = None, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray, StreetNetwork]:
    """Draw flows of traffic through streets in which one crossing may be closed.

    Parameters
    ----------
    n_samples : int
    network : StreetNetwork, default=None
        The grid of three by four crossings when None.
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    X : array of shape (n_samples, n_features), uniform on the unit cube
    Y : array of shape (n_samples, n_arcs), the flow on each of ``network.arcs``
    network : StreetNetwork, which knows the distribution of Y given X

    Examples
    --------
    >>> X, Y, network = make_network_flows(5, random_state=0)
    >>> X.shape, Y.shape
    ((5, 20), (5, 17))
    >>> Y[:, :2].sum(axis=1).round(9)  # both streets out of the first crossing
    array([1., 1., 1., 1., 1.])
    """
    rng = np.random.default_rng(random_state)
    network = StreetNetwork() if network is None else network
    X = rng.random((n_samples, network.n_features))
    return X, network.sample(X, rng), network
