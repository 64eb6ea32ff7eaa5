# SPDX-License-Identifier: BSD-3-Clause
"""Round trips through a made-up town."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PLACES = (
    "abbey", "bakery", "castle", "docks", "eyrie", "forge", "gate", "harbour", "inn", "jetty",
    "keep", "library", "mill", "nunnery", "orchard", "park", "quarry", "ruin", "school", "tower",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class TownTours:
    """Visitors and their round trips.

    Attributes
    ----------
    X : float64 array of shape (n_samples, n_features)
        What is known of each visitor.
    tours : list of lists of places
        In order of travel; a tour and its reverse are the same.
    places : tuple of str
    coordinates : array of shape (n_places, 2)
    tastes : array of shape (n_features, n_places)
        Prize of every place for one unit of every feature.
    """

    X: np.ndarray
    tours: list
    places: tuple
    coordinates: np.ndarray
    tastes: np.ndarray


def make_tours(
    n_samples: int,
    n_places: int = 10,
    n_features: int = 3,
    *,
    town: TownTours | None = None,
    noise: float = 0.0,
    random_state=None,
) -> TownTours:
    r"""Draw visitors who make the round trip that pays most.

    A place j is worth :math:`\langle x, w_j \rangle` to a visitor x, and the way costs its
    length: visitors take the undirected cycle of the largest sum of prizes less its length,
    found exactly.

    Parameters
    ----------
    n_samples : int
    n_places : int from 3 to 16
    n_features : int
    town : TownTours, default=None
        Earlier data, to draw visitors of the same town from.
    noise : float, default=0.0
        Standard deviation of what every place is worth beyond that.
    random_state : int or numpy.random.Generator, default=None

    Examples
    --------
    >>> town = make_tours(100, n_places=6, random_state=0)
    >>> town.X.shape, town.tours[0]
    ((100, 3), ['abbey', 'castle', 'eyrie', 'docks'])
    """
    from skstruct.spaces import Cycles

    _check_whole("n_samples", n_samples, 1)
    if town is None:
        _check_whole("n_places", n_places, 3, 16)
        _check_whole("n_features", n_features, 1)
    elif not isinstance(town, TownTours):
        raise ValueError(f"make_tours: town is what make_tours gave before; got {town!r}.")
    if not (isinstance(noise, (int, float, np.number)) and 0 <= noise < np.inf):
        raise ValueError(f"make_tours: noise is finite and not negative; got {noise!r}.")
    rng = np.random.default_rng(random_state)
    if town is None:
        coordinates = rng.random((n_places, 2))
        tastes = rng.standard_normal((n_features, n_places))
        places = PLACES[:n_places]
    else:
        coordinates, tastes, places = town.coordinates, town.tastes, town.places
    X = rng.standard_normal((n_samples, len(tastes)))
    prizes = X @ tastes + noise * rng.standard_normal((n_samples, len(places)))
    u, v = np.triu_indices(len(places), 1)
    way = np.linalg.norm(coordinates[u] - coordinates[v], axis=1)
    space = Cycles(places, directed=False)
    best = space.argmin(way - (prizes[:, u] + prizes[:, v]) / 2).outputs
    tours = [[places[j] for j in tour if j >= 0] for tour in space.tours(best)]
    return TownTours(X, tours, places, coordinates, tastes)


def _check_whole(name: str, value, lowest: int, highest: float = np.inf):
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not lowest <= value <= highest:
        most = "" if highest == np.inf else f" and at most {highest}"
        raise ValueError(
            f"make_tours: {name} is a whole number, at least {lowest}{most}; got {value!r}."
        )
