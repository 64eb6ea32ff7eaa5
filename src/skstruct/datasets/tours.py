# SPDX-License-Identifier: BSD-3-Clause
"""Tours of visitors through five cities, read off the photos they published."""

from __future__ import annotations

import csv
from dataclasses import dataclass

import numpy as np

from skstruct.datasets.home import data_file, open_text

_CITIES = ("Edin", "Glas", "Melb", "Osak", "Toro")
_SOURCE = "commit 5f748ed of the GitHub repository computationalmedia/tour-cikm16, folder data"
_PLACE = {"poiID": int, "poiCat": str, "poiLon": float, "poiLat": float}
_VISIT = {"userID": str, "trajID": int, "poiID": int, "startTime": int, "poiDuration": int}


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
    tours: list
    starts: list
    durations: list
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
    path = data_file("flickr_tours", f"poi-{city}.csv", source=_SOURCE)
    places = [row for _, row in _rows(path, _PLACE)]
    numbers = tuple(number for number, *_ in places)
    coordinates = np.array([row[2:] for row in places], dtype=np.float64).reshape(-1, 2)
    path = data_file("flickr_tours", f"traj-{city}.csv", source=_SOURCE)
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


def _tours(path, known):
    """Visits (start, place, duration, user) of every tour, in the order of time."""
    tours: dict[int, list] = {}
    for line, (user, tour, place, start, duration) in _rows(path, _VISIT):
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


def _rows(path, columns):
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


def _cell(path, line, text, name, kind):
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or (kind is float and not np.isfinite(value)):
        expected = "a whole number" if kind is int else "a finite number"
        raise ValueError(f"{path.name}, line {line}: {name} is {expected}, got {text!r}.")
    return value
