# SPDX-License-Identifier: BSD-3-Clause
"""Round trips of made-up visitors against the list of all of them."""

from itertools import combinations, permutations

import numpy as np
import pytest

from skstruct.datasets import make_tours


def worth(data, tour, prizes):
    """Prizes of the places less the length of the way around."""
    stops = [data.places.index(name) for name in tour]
    at = data.coordinates[stops]
    return prizes[stops].sum() - np.linalg.norm(at - np.roll(at, 1, axis=0), axis=1).sum()


@pytest.mark.parametrize("n_places", [3, 4, 5])
def test_no_tour_is_worth_more(n_places):
    data = make_tours(20, n_places, 2, random_state=n_places)
    every = [
        tour
        for size in range(3, n_places + 1)
        for chosen in combinations(data.places, size)
        for tour in permutations(chosen)
    ]
    for x, tour in zip(data.X, data.tours, strict=True):
        prizes = x @ data.tastes
        best = max(worth(data, other, prizes) for other in every)
        assert worth(data, tour, prizes) == pytest.approx(best)


def test_the_same_again():
    first, second = (make_tours(10, 6, noise=0.5, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    assert first.tours == second.tours
    assert make_tours(10, 6, noise=0.5, random_state=4).tours != first.tours


def test_more_visitors_of_a_model():
    data = make_tours(5, 6, 4, random_state=0)
    more = make_tours(7, model=data, random_state=1)
    assert more.X.shape == (7, 4)
    assert more.places == data.places
    assert more.coordinates is data.coordinates
    assert more.tastes is data.tastes
    assert {name for tour in more.tours for name in tour} <= set(data.places)


def test_noise_changes_what_places_are_worth():
    plain, noisy = (make_tours(30, 6, noise=noise, random_state=0) for noise in (0.0, 2.0))
    np.testing.assert_array_equal(plain.X, noisy.X)
    assert plain.tours != noisy.tours


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": -1}, "n_samples is a whole number, at least 1; got -1"),
        ({"n_samples": 2.5}, "n_samples is a whole number, at least 1; got 2.5"),
        ({"n_places": 2}, "n_places is a whole number, at least 3 and at most 16; got 2"),
        ({"n_places": 17}, "at most 16; got 17"),
        ({"n_places": 5.0}, "n_places is a whole number"),
        ({"n_features": 0}, "n_features is a whole number, at least 1; got 0"),
        ({"noise": -1}, "noise is finite and not negative; got -1"),
        ({"noise": np.nan}, "noise is finite and not negative; got nan"),
        ({"noise": "x"}, "noise is finite and not negative; got 'x'"),
        ({"model": "x"}, "model is what make_tours gave before; got 'x'"),
    ],
)
def test_parameters_that_are_wrong(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_tours(**({"n_samples": 3} | wrong))
