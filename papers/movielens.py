# SPDX-License-Identifier: BSD-3-Clause
"""Ranking movies: Table 1 of Ciliberto, Rudi and Rosasco (2016) on MovieLens-100k.

Protocol: 643 users drawn at random to train, the other 300 to test, ten trials. All 1,682
movies are put in order for every test user, by linear ordering of the rating differences of
the training users, weighted by kernel ridge regression with a linear kernel on features
of the users. The loss is normalised: 0 is perfect, 1 the reverse, 1/2 a random order. Alpha
is chosen by leave-one-out on the training users, each judged as a test user would be; only
the movies on which he is judged are put in order for that.

The paper does not say which ratings its features saw. Two readings are run:
 "profile": age, gender, occupation and region only; all ratings of a test user count;
 "history": half of each user's ratings, centred and of unit length, and 0.3 times his profile
            of unit length; the loss of a test user is taken over the other half.
Beside them stands one order for all: movies by their mean rating, shrunk towards the mean of
all by five ratings.

Usage: python papers/movielens.py FOLDER [--protocols NAME ...] [--trials N] [--jobs N]
FOLDER holds the original files u.data and u.user; MovieLens-100k may not be passed on, get it
from its makers, GroupLens.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import RankLoss
from skstruct.smoothing import KernelRidge
from skstruct.solvers._numba_linear_ordering import insert
from skstruct.spaces import Rankings

N_USERS, N_MOVIES, N_TRAIN = 943, 1682, 643
ALPHAS = np.array([300.0, 100.0, 30.0, 10.0])
PAPER = {"linear surrogate": "0.430 ± 0.004", "hinge": "0.432 ± 0.008",
         "logistic": "0.432 ± 0.012", "SVM struct": "0.451 ± 0.008",
         "the paper's algorithm 1": "0.396 ± 0.003"}  # fmt: skip


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


def left_out_loss(weights, ratings, judged):
    """Mean loss of the users if only each one's own judged movies are put in order.

    Row n of ``weights`` holds the weights of all users for user n, his own being zero.
    """
    rated, stars = (~np.isnan(ratings)).astype(float), np.nan_to_num(ratings)
    losses, loss = [], RankLoss(normalize=True)
    for user, w in enumerate(weights):
        own = np.flatnonzero(~np.isnan(judged[user]))
        # Cost of i above j: sum over users n who rated both of w_n (r_nj - r_ni).
        liked = (rated[:, own] * w[:, None]).T @ stars[:, own]
        pair = liked - liked.T
        order = np.argsort(pair.sum(axis=1), kind="stable")
        insert(pair, order, 100)
        losses.append(loss(np.argsort(order)[None], -judged[user, own][None])[0])
    return np.mean(losses)


def choose_alpha(X, ratings, judged):
    """The alpha of least leave-one-out loss; means of the identity are the weights."""
    smoother = KernelRidge("linear", np.inf, solver="spectral").fit(X, np.eye(len(X)))
    losses = [left_out_loss(weights, ratings, judged) for weights in smoother.loo_path(ALPHAS)]
    return ALPHAS[int(np.argmin(losses))]


def popularity(ratings):
    """One score for each movie: its mean rating, shrunk by five ratings at the mean of all."""
    rated = (~np.isnan(ratings)).sum(axis=0)
    return (np.nansum(ratings, axis=0) + 5 * np.nanmean(ratings)) / (rated + 5)


def run_trial(ratings, profile, trial, protocols, jobs):
    """Losses by protocol and method, one trial."""
    rng = np.random.default_rng(trial)
    users = rng.permutation(N_USERS)
    train, test = users[:N_TRAIN], users[N_TRAIN:]
    seen, hidden = split_history(ratings, rng)
    inputs = {
        "profile": (profile, ratings),
        "history": (np.hstack([taste(seen), 0.3 * unit(profile)]), hidden),
    }
    judge, found = RankLoss(normalize=True), {}
    for protocol in protocols:
        X, judged = inputs[protocol]
        start = time.perf_counter()
        alpha = choose_alpha(X[train], ratings[train], judged[train])
        space = Rankings(range(N_MOVIES), scores=True)
        model = ConditionalRiskMinimizer(space, "rank", kernel="linear", alpha=alpha, n_jobs=jobs)
        decoded = model.fit(X[train], ratings[train]).decode(X[test])
        ours = judge(-decoded.outputs, -judged[test]).mean()
        order = np.broadcast_to(-popularity(ratings[train]), decoded.outputs.shape)
        # Movies with equal means may not be tied: a tie costs one half.
        one_for_all = judge(np.argsort(np.argsort(order, axis=1, kind="stable")), -judged[test])
        gap = np.median((decoded.values - decoded.bounds) / np.abs(decoded.values))
        found[protocol] = ours, one_for_all.mean(), alpha, gap, time.perf_counter() - start
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--protocols", nargs="*", default=["history", "profile"])
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.folder is None or not (Path(arguments.folder) / "u.data").exists():
        print("movielens.py needs the folder of the original files u.data and u.user of")
        print("MovieLens-100k as its argument; get them from GroupLens.")
        return
    ratings, profile = load(arguments.folder)
    results = {protocol: [] for protocol in arguments.protocols}
    for trial in range(arguments.trials):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Rankings.*ranked in no row")
            found = run_trial(ratings, profile, trial, arguments.protocols, arguments.jobs)
        for protocol, (ours, constant, alpha, gap, seconds) in found.items():
            results[protocol].append((ours, constant))
            print(
                f"trial {trial}, {protocol}: ours {ours:.4f}, one order for all {constant:.4f}, "
                f"alpha {alpha:g}, median gap {gap:.1%} of the risk, {seconds:.0f} s",
                flush=True,
            )
    print(f"\nNormalised rank loss, {arguments.trials} trials (mean ± standard deviation)")
    for name, figure in PAPER.items():
        print(f"   {name:44s} {figure}   (published)")
    for protocol, losses in results.items():
        for name, column in zip(("ours", "one order for all"), np.array(losses).T):
            print(f"   {name + ', ' + protocol:44s} {column.mean():.3f} ± {column.std(ddof=1):.3f}")


if __name__ == "__main__":
    main()
