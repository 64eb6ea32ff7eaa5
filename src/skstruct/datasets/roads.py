# SPDX-License-Identifier: BSD-3-Clause
"""A town with a river: travel times of its roads, which hour and weather tell in advance."""

from dataclasses import dataclass
from typing import Any

import numpy as np

COLUMNS, ROWS = 9, 6  # crossings from west to east, and from south to north
RIVER = 4  # the river flows before this column of crossings
BRIDGES = (0, 2, 5)  # rows with a bridge
CENTRE = np.array([3.0, 2.5])


@dataclass(frozen=True, eq=False)
class RoadData:
    """Hours with their weather, and how long each road took.

    Attributes
    ----------
    X : DataFrame with the columns hour, rain and market
    times : DataFrame of shape (n, n_roads), minutes; a column for each road (from, to)
    graph : networkx.DiGraph
        Crossings with their position ``pos``; columns of ``times`` are its edges, in their order.
    """

    X: Any
    times: Any
    graph: Any


def make_travel_times(
    n_samples: int = 600, *, noise: float = 0.15, random_state: int | None = None
) -> RoadData:
    """Travel times in a town with a river, three bridges and a market.

    Roads to the centre are slow in the morning and those from it in the evening, streets by the
    river in the rain, and those around the market on its days: which way is the shortest depends on
    the hour.

    Parameters
    ----------
    n_samples : int, default=600
    noise : float, default=0.15
        Standard deviation of the logarithm of a travel time, given the inputs.
    random_state : int, default=None
        For the rows; the town is always the same.

    Returns
    -------
    RoadData

    Examples
    --------
    >>> data = make_travel_times(4, random_state=0)
    >>> data.X.columns.tolist(), data.times.shape, data.graph.number_of_nodes()
    (['hour', 'rain', 'market'], (4, 180), 54)
    """
    import pandas

    if n_samples < 1:
        raise ValueError(f"n_samples is a whole number from 1; got {n_samples!r}.")
    graph, rng = _town(), np.random.default_rng(random_state)
    hour = rng.uniform(5, 22, n_samples)
    rain = rng.gamma(0.6, 2.0, n_samples) * (rng.random(n_samples) < 0.5)
    market = (rng.random(n_samples) < 0.3).astype(int)
    X = pandas.DataFrame({"hour": hour, "rain": rain, "market": market})
    minutes = expected_times(graph, X)
    minutes = minutes * rng.lognormal(-0.5 * noise**2, noise, minutes.shape)
    roads = pandas.Index(list(graph.edges), tupleize_cols=False)
    return RoadData(X, pandas.DataFrame(minutes, columns=roads), graph)


def expected_times(graph: Any, X: Any) -> np.ndarray:
    """Mean minutes of every road of the town at the rows of X; shape (n, n_roads)."""
    names = ("hour", "rain", "market")
    hour, rain, market = (np.asarray(X[name], dtype=np.float64)[:, None] for name in names)
    ends = np.array([(graph.nodes[u]["pos"], graph.nodes[v]["pos"]) for u, v in graph.edges])
    middle, way = ends.mean(axis=1), ends[:, 1] - ends[:, 0]
    length = np.hypot(*way.T)
    to_centre = ((CENTRE - middle) * way).sum(axis=1) / length
    near = np.exp(-0.15 * ((middle - CENTRE) ** 2).sum(axis=1))
    rush = np.exp(-((hour - 8) ** 2) / 3) * np.clip(to_centre, 0, 2)
    rush = rush + np.exp(-((hour - 17.5) ** 2) / 4) * np.clip(-to_centre, 0, 2)
    bridge = (ends[:, 0, 0] < RIVER - 0.5) != (ends[:, 1, 0] < RIVER - 0.5)
    by_river = np.abs(middle[:, 0] - RIVER + 0.5) < 1.1
    crowd = market * np.exp(-((middle - (2.0, 3.0)) ** 2).sum(axis=1))
    speed = np.where((middle[:, 1] < 0.3) | (middle[:, 1] > ROWS - 1.3), 0.8, 1.0)  # ring roads
    slow = 1 + rush * (2.0 * near + 1.5 * bridge) + 0.3 * rain * by_river + 4.0 * crowd
    return np.asarray(2.0 * length * speed * slow)


def _town() -> Any:
    """Crossings on a bent grid; roads in both directions, and the river in between."""
    import networkx

    graph, rng = networkx.DiGraph(), np.random.default_rng(7)
    for row in range(ROWS):
        for column in range(COLUMNS):
            shift = rng.uniform(-0.22, 0.22, 2)
            graph.add_node((column, row), pos=(column + shift[0], row + shift[1]))
    for column, row in list(graph.nodes):
        east, north = (column + 1, row), (column, row + 1)
        across = column + 1 == RIVER and row not in BRIDGES
        for other in (east, north):
            if other in graph and not (other == east and across):
                graph.add_edge((column, row), other)
                graph.add_edge(other, (column, row))
    return graph
