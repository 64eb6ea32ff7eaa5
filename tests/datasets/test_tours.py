# SPDX-License-Identifier: BSD-3-Clause
"""The reader of tours: small files by eye, bad files by their message, real ones by size."""

import lzma

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.datasets.tours import TourData, load_flickr_tours
from skstruct.exceptions import MissingDataError

# Places, users, tours, and tours of three places and more, as papers print them.
SIZES = {
    "Edin": (28, 1454, 5028, 634),
    "Glas": (27, 601, 2227, 112),
    "Melb": (88, 1000, 5106, 442),
    "Osak": (27, 450, 1115, 47),
    "Toro": (29, 1395, 6057, 335),
}
PLACES = "poiID,poiCat,poiLon,poiLat\n7,Museum,-3.5,55\n2,Park,0.25,-90\n9,Park,1,2\n"
VISITS = """userID,trajID,poiID,startTime,endTime,#photo,trajLen,poiDuration
u1,5,9,300,310,1,3,10
u1,5,7,100,160,2,3,60
u1,5,2,300,301,1,3,1
u2,1,2,50,50,1,2,0
u2,1,7,40,45,1,2,5
"""


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    folder = tmp_path / "flickr_tours"
    folder.mkdir()
    (folder / "poi-Osak.csv").write_text(PLACES)
    (folder / "traj-Osak.csv").write_text(VISITS)
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_small_file(folder, packed):
    if packed:
        (folder / "traj-Osak.csv").unlink()
        (folder / "traj-Osak.csv.xz").write_bytes(lzma.compress(VISITS.encode()))
    data = load_flickr_tours("Osak", min_places=1)
    assert isinstance(data, TourData)
    assert (data.city, data.places, data.themes) == ("Osak", (7, 2, 9), ("Museum", "Park", "Park"))
    assert_array_equal(data.coordinates, [[-3.5, 55], [0.25, -90], [1, 2]])
    # In the order of time; 9 and 2 began in the same second and stay as they are.
    assert data.tours == [[7, 9, 2], [7, 2]]
    assert [start.tolist() for start in data.starts] == [[100, 300, 300], [40, 50]]
    assert [duration.tolist() for duration in data.durations] == [[60, 10, 1], [5, 0]]
    assert data.users == ("u1", "u2")


@pytest.mark.parametrize(("min_places", "users"), [(2, ("u1", "u2")), (3, ("u1",)), (4, ())])
def test_short_tours_are_left_out(folder, min_places, users):
    data = load_flickr_tours("Osak", min_places=min_places)
    assert data.users == users
    assert len(data.tours) == len(data.starts) == len(data.durations) == len(users)
    assert data.places == (7, 2, 9)


def test_distances():
    # A quarter of the equator; London to Paris is 343.6 km by the same formula.
    points = np.array([[0, 0], [90, 0], [-0.1278, 51.5074], [2.3522, 48.8566]])
    data = TourData("x", (1, 2, 3, 4), ("",) * 4, points, [], [], [], ())
    distances = data.distances()
    assert_allclose(distances, distances.T)
    assert_allclose(np.diag(distances), 0)
    assert_allclose(distances[0, 1], 6371.0088 * np.pi / 2)
    assert_allclose(distances[2, 3], 343.6, atol=0.1)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("poi-Osak.csv", "poiLon", "lon", "line 1: expected the column 'poiLon'"),
        ("poi-Osak.csv", "0.25", "west", "line 3: poiLon is a finite number, got 'west'"),
        ("poi-Osak.csv", "55", "nan", "line 2: poiLat is a finite number, got 'nan'"),
        ("poi-Osak.csv", "9,Park,", "9,", "line 4: expected 4 cells, got 3"),
        ("traj-Osak.csv", "u2,1,7", "u2,1,8", "line 6: no place has the number 8"),
        ("traj-Osak.csv", "u2,1,7", "u3,1,7", "line 6: the tour 1 is of two users"),
        ("traj-Osak.csv", "u2,1,7", "u2,1,2", "line 6: the tour 1 visits the place 2 twice"),
        ("traj-Osak.csv", "100", "1.5", "line 3: startTime is a whole number, got '1.5'"),
    ],
)
def test_bad_files(folder, file, old, new, message):
    path = folder / file
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=f"{file}, {message}"):
        load_flickr_tours("Osak")


def test_missing_file(folder):
    with pytest.raises(MissingDataError, match=r"No file 'flickr_tours/poi-Glas.csv'.*tour-cikm16"):
        load_flickr_tours("Glas")


def test_unknown_city():
    with pytest.raises(ValueError, match=r"knows Edin, .*, Toro; got 'Rome'"):
        load_flickr_tours("Rome")


@pytest.mark.slow
@pytest.mark.parametrize("city", SIZES)
def test_real_data(real_data, city):
    data, every = real_data(load_flickr_tours, city), load_flickr_tours(city, min_places=1)
    n_places, n_users, n_tours, n_long = SIZES[city]
    assert len(data.places) == len(set(data.places)) == len(data.themes) == n_places
    assert (len(set(every.users)), len(every.tours), len(data.tours)) == (n_users, n_tours, n_long)
    assert data.tours == [tour for tour in every.tours if len(tour) >= 3]
    assert all((np.diff(starts) >= 0).all() for starts in every.starts)
    assert min(duration.min() for duration in every.durations) >= 0
    # All in one city, but for one place of Osaka whose coordinates are wrong.
    far = np.median(data.distances(), axis=1) > 50
    assert [data.places[j] for j in np.flatnonzero(far)] == ([26] if city == "Osak" else [])
