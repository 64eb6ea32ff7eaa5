# SPDX-License-Identifier: BSD-3-Clause
"""Tours: photographed ones through five cities, and generated ones."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.datasets.files import data_file, open_text

_CITIES = ("Edin", "Glas", "Melb", "Osak", "Toro")
_FLICKR_SOURCE = (
    "commit 5f748ed of the GitHub repository computationalmedia/tour-cikm16, folder data"
)
_PLACE_COLUMNS = {"poiID": int, "poiCat": str, "poiLon": float, "poiLat": float}
_VISIT_COLUMNS = {"userID": str, "trajID": int, "poiID": int, "startTime": int, "poiDuration": int}


@dataclass(frozen=True)
class TourData:
    """Places of a city, and tours through them.

    Attributes
    ----------
    city : str
    places : tuple of int
        Numbers of the places of interest; the data give no names.
    themes : tuple of str
        What kind of place each one is, ``"Museum"``.
    coordinates : float64 array of shape (n_places, 2)
        Longitude and latitude in degrees.
    tours : list of lists of int
        Numbers of the places in the order of visit; none comes twice in one tour.
    starts : list of int64 arrays
        When each visit began (the first photo there), in seconds since 1970.
    durations : list of int64 arrays
        How long each visit took (from the first photo to the last), in seconds.
    users : tuple of str
        Whose tour it is.
    """

    city: str
    places: tuple[int, ...]
    themes: tuple[str, ...]
    coordinates: np.ndarray
    tours: list[Any]
    starts: list[Any]
    durations: list[Any]
    users: tuple[str, ...]

    def distances(self) -> np.ndarray:
        """Kilometres between places along great circles; shape (n_places, n_places).

        Examples
        --------
        >>> poles = np.array([[0.0, 90.0], [0.0, -90.0]])
        >>> data = TourData("none", (1, 2), ("Pole", "Pole"), poles, [], [], [], ())
        >>> data.distances().round()
        array([[    0., 20015.],
               [20015.,     0.]])
        """
        longitude, latitude = np.radians(self.coordinates.T)
        # The haversine formula, which stays exact where places are near each other.
        chord = (
            np.sin((latitude[:, None] - latitude) / 2) ** 2
            + np.cos(latitude[:, None])
            * np.cos(latitude)
            * np.sin((longitude[:, None] - longitude) / 2) ** 2
        )
        return 2 * 6371.0088 * np.arcsin(np.sqrt(np.minimum(chord, 1.0)))


def load_flickr_tours(city: str = "Edin", *, min_places: int = 3) -> TourData:
    """Load tours through a city, from geotagged photos on Flickr [1]_ [2]_.

    Reads ``flickr_tours/poi-CITY.csv``, one place per line, and ``flickr_tours/traj-CITY.csv``,
    one visit per line; a tour is what one user visited on one trip. Nothing is repaired: place
    26 of Osaka, which 135 tours visit, has coordinates in Tokyo.

    Parameters
    ----------
    city : {"Edin", "Glas", "Melb", "Osak", "Toro"}, default="Edin"
        Edinburgh, Glasgow, Melbourne, Osaka or Toronto.
    min_places : int, default=3
        Shorter tours are left out. Published figures are of tours with three places and
        more; shorter ones still tell how popular places are.

    Returns
    -------
    TourData
        Tours in the order of the file.

    Raises
    ------
    MissingDataError
        If the files are not on this machine; the message says where to get them.
    ValueError
        If a file is not as expected; tells file and line.

    References
    ----------
    .. [1] K. H. Lim, J. Chan, C. Leckie, S. Karunasekera, "Personalized tour recommendation
       based on user interests and points of interest visit durations", IJCAI 2015.
    .. [2] D. Chen, C. S. Ong, L. Xie, "Learning points and routes to recommend
       trajectories", CIKM 2016.

    Examples
    --------
    >>> data = load_flickr_tours("Edin")  # doctest: +SKIP
    >>> len(data.places), len(data.tours)  # doctest: +SKIP
    (28, 634)
    >>> data.tours[0]  # doctest: +SKIP
    [10, 28, 17]
    """
    if city not in _CITIES:
        raise ValueError(f"load_flickr_tours knows {', '.join(_CITIES)}; got {city!r}.")
    path = data_file("flickr_tours", f"poi-{city}.csv", source=_FLICKR_SOURCE)
    places = [row for _, row in _rows(path, _PLACE_COLUMNS)]
    numbers = tuple(number for number, *_ in places)
    coordinates = np.array([row[2:] for row in places], dtype=np.float64).reshape(-1, 2)
    path = data_file("flickr_tours", f"traj-{city}.csv", source=_FLICKR_SOURCE)
    visits = [tour for tour in _tours(path, set(numbers)) if len(tour) >= min_places]
    return TourData(
        city,
        numbers,
        tuple(theme for _, theme, *_ in places),
        coordinates,
        [[place for _, place, _, _ in tour] for tour in visits],
        [np.array([start for start, *_ in tour], dtype=np.int64) for tour in visits],
        [np.array([duration for *_, duration, _ in tour], dtype=np.int64) for tour in visits],
        tuple(tour[0][-1] for tour in visits),
    )


def _tours(path: Any, known: set[Any]) -> list[list[tuple[Any, ...]]]:
    """Visits (start, place, duration, user) of every tour, in the order of time."""
    tours: dict[int, list[Any]] = {}
    for line, (user, tour, place, start, duration) in _rows(path, _VISIT_COLUMNS):
        if place not in known:
            raise ValueError(f"{path.name}, line {line}: no place has the number {place}.")
        visits = tours.setdefault(tour, [])
        if visits and visits[0][-1] != user:
            raise ValueError(f"{path.name}, line {line}: the tour {tour} is of two users.")
        if any(place == other for _, other, _, _ in visits):
            raise ValueError(
                f"{path.name}, line {line}: the tour {tour} visits the place {place} twice."
            )
        visits.append((start, place, duration, user))
    # Visits that began in the same second keep the order of the file.
    return [sorted(visits, key=lambda visit: visit[0]) for visits in tours.values()]


def _rows(path: Any, columns: dict[str, Any]) -> Iterator[tuple[int, list[Any]]]:
    """Line number and the wanted cells of every line below the header, in their types."""
    with open_text(path) as file:
        reader = csv.reader(file)
        header = next(reader, [])
        missing = [name for name in columns if name not in header]
        if missing:
            raise ValueError(f"{path.name}, line 1: expected the column {missing[0]!r}.")
        wanted = [(header.index(name), name, kind) for name, kind in columns.items()]
        for cells in reader:
            if len(cells) != len(header):
                raise ValueError(
                    f"{path.name}, line {reader.line_num}: expected {len(header)} cells, got "
                    f"{len(cells)}."
                )
            yield reader.line_num, [_cell(path, reader.line_num, cells[j], *w) for j, *w in wanted]


def _cell(path: Any, line: int, text: str, name: str, kind: type[Any]) -> Any:
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or (kind is float and not np.isfinite(value)):
        expected = "a whole number" if kind is int else "a finite number"
        raise ValueError(f"{path.name}, line {line}: {name} is {expected}, got {text!r}.")
    return value


# Round trips of made-up visitors.


PLACES = (
    "abbey", "bakery", "castle", "docks", "eyrie", "forge", "gate", "harbour", "inn", "jetty",
    "keep", "library", "mill", "nunnery", "orchard", "park", "quarry", "ruin", "school", "tower",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class GeneratedTours:
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
    tours: list[Any]
    places: tuple[Any, ...]
    coordinates: np.ndarray
    tastes: np.ndarray


def make_tours(
    n_samples: int,
    n_places: int = 10,
    n_features: int = 3,
    *,
    model: GeneratedTours | None = None,
    noise: float = 0.0,
    random_state: Any = None,
) -> GeneratedTours:
    r"""Draw visitors who make the round trip that pays most.

    A place j is worth :math:`\langle x, w_j \rangle` to a visitor x, and the way costs its
    length: visitors take the undirected cycle of the largest sum of prizes less its length,
    found exactly.

    Parameters
    ----------
    n_samples : int
    n_places : int from 3 to 16
    n_features : int
    model : GeneratedTours, default=None
        Earlier data, to draw visitors of the same model from.
    noise : float, default=0.0
        Standard deviation of what every place is worth beyond that.
    random_state : int or numpy.random.Generator, default=None

    Examples
    --------
    >>> data = make_tours(100, n_places=6, random_state=0)
    >>> data.X.shape, data.tours[0]
    ((100, 3), ['abbey', 'castle', 'eyrie', 'docks'])
    """
    from skstruct.spaces import Cycles

    _check_whole("n_samples", n_samples, 1)
    if model is None:
        _check_whole("n_places", n_places, 3, 16)
        _check_whole("n_features", n_features, 1)
    elif not isinstance(model, GeneratedTours):
        raise ValueError(f"make_tours: model is what make_tours gave before; got {model!r}.")
    if not (isinstance(noise, (int, float, np.number)) and 0 <= noise < np.inf):
        raise ValueError(f"make_tours: noise is finite and not negative; got {noise!r}.")
    rng = np.random.default_rng(random_state)
    if model is None:
        coordinates = rng.random((n_places, 2))
        tastes = rng.standard_normal((n_features, n_places))
        places = PLACES[:n_places]
    else:
        coordinates, tastes, places = model.coordinates, model.tastes, model.places
    X = rng.standard_normal((n_samples, len(tastes)))
    prizes = X @ tastes + noise * rng.standard_normal((n_samples, len(places)))
    u, v = np.triu_indices(len(places), 1)
    way = np.linalg.norm(coordinates[u] - coordinates[v], axis=1)
    space = Cycles(places, directed=False)
    best = space.argmin(way - (prizes[:, u] + prizes[:, v]) / 2).outputs
    tours = [[places[j] for j in tour if j >= 0] for tour in space.tours(best)]
    return GeneratedTours(X, tours, places, coordinates, tastes)


def _check_whole(name: str, value: float, lowest: int, highest: float = np.inf) -> None:
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not lowest <= value <= highest:
        most = "" if highest == np.inf else f" and at most {highest}"
        raise ValueError(
            f"make_tours: {name} is a whole number, at least {lowest}{most}; got {value!r}."
        )


# Two simulations of structured ridge regression: tours by a hidden policy, bits that stay.


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
    rewards: np.ndarray | None = None,
    random_state: Any = None,
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


def make_identity_labels(
    n_samples: int = 100, n_labels: int = 5, *, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
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
