# SPDX-License-Identifier: BSD-3-Clause
"""MovieLens-100k as papers/movielens.py has it: users, features, ratings, and the loss of a user.

Users are split anew in every trial, by its number.
"""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from skstruct.losses import RankLoss
from skstruct.spaces.solvers._numba_order_components import insert

N_USERS, N_MOVIES, N_TRAIN = 943, 1682, 643


@lru_cache
def load(folder):
    """Ratings (users, movies), NaN where there is none, and the profile of every user."""
    ratings = np.full((N_USERS, N_MOVIES), np.nan)
    for user, movie, rating, _ in np.loadtxt(Path(folder) / "u.data", dtype=np.int64):
        ratings[user - 1, movie - 1] = rating
    lines = (Path(folder) / "u.user").read_text(encoding="latin-1").splitlines()
    _, age, gender, job, postcode = zip(*(line.split("|") for line in lines))
    years = np.array(age, dtype=float)
    region = np.array([code[0] if code[0].isdigit() else "abroad" for code in postcode])
    columns = [((years - years.mean()) / years.std())[:, None], np.array(gender)[:, None] == "M"]
    columns += [np.array(values)[:, None] == np.unique(values) for values in (job, region)]
    return ratings, np.hstack([np.asarray(column, float) for column in columns])


@dataclass
class Users:
    """Features of users, all their ratings, and those on which they are judged."""

    X: np.ndarray  # shape: (n, p)
    ratings: np.ndarray  # shape: (n, movies), NaN where there is none
    judged: np.ndarray  # shape: (n, movies)

    def rows(self, chosen):
        return Users(self.X[chosen], self.ratings[chosen], self.judged[chosen])

    def __len__(self):
        return len(self.X)


def trial_users(folder, trial, protocol):
    """Training and test users of a trial."""
    ratings, profile = load(folder)
    rng = np.random.default_rng(trial)
    order = rng.permutation(N_USERS)
    seen, hidden = split_history(ratings, rng)
    if protocol == "profile":
        users = Users(profile, ratings, ratings)
    else:
        users = Users(np.hstack([taste(seen), 0.3 * unit(profile)]), ratings, hidden)
    return users.rows(order[:N_TRAIN]), users.rows(order[N_TRAIN:])


def split_history(ratings, rng):
    """Half of every user's ratings, and the other half."""
    seen, hidden = ratings.copy(), ratings.copy()
    for user in range(len(ratings)):
        movies = rng.permutation(np.flatnonzero(~np.isnan(ratings[user])))
        seen[user, movies[len(movies) // 2 :]] = np.nan
        hidden[user, movies[: len(movies) // 2]] = np.nan
    return seen, hidden


def taste(seen):
    """Ratings less the user's mean, of unit length: products are the usual similarity."""
    return unit(np.nan_to_num(seen - np.nanmean(seen, axis=1, keepdims=True)))


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def losses_of(scores, judged):
    """Normalised rank loss of every user; the higher the score, the better; ties by number.

    Movies that a user did not rate change nothing, and are left out.
    """
    judge, losses = RankLoss(normalize=True), []
    for row, truth in zip(scores, judged):
        own = np.flatnonzero(~np.isnan(truth))
        places = np.argsort(np.argsort(-row[own], kind="stable"))
        losses.append(judge(places[None], -truth[own][None])[0])
    return np.array(losses)


def popularity(ratings):
    """One score for each movie: its mean rating, shrunk by five ratings at the mean of all."""
    rated = (~np.isnan(ratings)).sum(axis=0)
    return (np.nansum(ratings, axis=0) + 5 * np.nanmean(ratings)) / (rated + 5)


def searched_order(pair):
    """An order of little cost, ``pair[i, j]`` being half that of i above j, less j above i."""
    order = np.argsort(pair.sum(axis=1), kind="stable")
    insert(pair, order, 0, len(order), np.zeros(len(order), np.bool_), 100)
    return order
