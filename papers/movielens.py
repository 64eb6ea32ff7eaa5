# SPDX-License-Identifier: BSD-3-Clause
"""Ranking movies: Table 1 of Ciliberto, Rudi and Rosasco (2016) on MovieLens-100k.

Protocol: 643 users drawn at random to train, the other 300 to test, ten trials. All 1,682
movies are put in order for every test user, by linear ordering of the rating differences of
the training users, weighted by kernel ridge regression with a linear kernel on features
of the users. The loss is normalised: 0 is perfect, 1 the reverse, 1/2 a random order. Alpha
is chosen by leave-one-out on the training users, each judged as a test user would be; only
the movies on which he is judged are put in order for that.

The paper does not say which ratings its features saw: its figures and ours are not of the same
task. Two readings are run:
 "history": half of each user's ratings, centred and of unit length, and 0.3 times his profile
            of unit length; the loss of a test user is taken over the other half;
 "profile": age, gender, occupation and region only; all ratings of a test user count.
In both all methods have the same features, users and ratings. Beside ours stand
 the paper's four: rankers with linear scores under a linear, hinge or logistic loss of pairs, and
            a structured SVM, written anew (papers/movielens_peers.py), penalties by five folds;
 one order for all: movies by their mean rating, shrunk towards the mean of all by five ratings.
± is the standard error of the mean of trials; the paper's is not explained. There is no row for
ConditionalRiskMinimizer(space, "rank") with nothing else said: several smoothers would regress on
all 1.4 million pairs of movies, which takes more than 15 GB.

Usage: python papers/movielens.py FOLDER [--trials N] [--jobs N]
FOLDER holds the original files u.data and u.user; MovieLens-100k may not be passed on, get it
from its makers, GroupLens.
"""

from keeping import Figure, arguments, results, summary  # first: it sets the number of threads

# isort: split
import warnings
from argparse import Namespace
from itertools import product
from pathlib import Path

import numpy as np
from movielens_data import N_MOVIES, losses_of, popularity, searched_order, trial_users
from movielens_peers import PENALTIES, fitted_scores, folds_loss

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import RankLoss
from skstruct.smoothing import KernelRidge
from skstruct.spaces import Rankings

PROTOCOLS = ("history", "profile")
ALPHAS = np.array([300.0, 100.0, 30.0, 10.0])
PARTS = 6  # tasks that the test users of a trial are shared among
OURS, CONSTANT = "ours", "one order for all"
PEERS = tuple(PENALTIES)
METHODS = (*PEERS, OURS, CONSTANT)
PAPER = {"linear": "0.430 ± 0.004", "hinge": "0.432 ± 0.008", "logistic": "0.432 ± 0.012",
         "SVM struct": "0.451 ± 0.008", OURS: "0.396 ± 0.003"}  # fmt: skip


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
        order = searched_order(liked - liked.T)
        losses.append(loss(np.argsort(order)[None], -judged[user, own][None])[0])
    return np.mean(losses)


def choose_alpha(X, ratings, judged):
    """The alpha of least leave-one-out loss; means of the identity are the weights."""
    smoother = KernelRidge("linear", np.inf, solver="spectral").fit(X, np.eye(len(X)))
    losses = [left_out_loss(weights, ratings, judged) for weights in smoother.loo_path(ALPHAS)]
    return ALPHAS[int(np.argmin(losses))]


def run_ours(folder, trial, protocol, part):
    """Losses of a part of the test users, the median gap, and the alpha that was chosen."""
    train, test = trial_users(folder, trial, protocol)
    test = test.rows(np.array_split(np.arange(len(test)), PARTS)[part])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Rankings.*ranked in no row")
        alpha = choose_alpha(train.X, train.ratings, train.judged)
        space = Rankings(range(N_MOVIES), scores=True)
        model = ConditionalRiskMinimizer(space, "rank", kernel="linear", alpha=alpha)
        model.fit(train.X, train.ratings)
        decoded = model.decode(test.X)
    gap = np.median((decoded.values - decoded.bounds) / np.abs(decoded.values))
    losses = losses_of(decoded.outputs, test.judged)
    return {"losses": losses.tolist(), "gap": float(gap), "chosen": float(alpha)}


def run_folds(folder, trial, protocol, method, penalty):
    return folds_loss(trial_users(folder, trial, protocol)[0], method, penalty)


def run_peer(folder, trial, protocol, method, penalty):
    """Losses of the test users."""
    train, test = trial_users(folder, trial, protocol)
    if method == CONSTANT:
        scores = np.broadcast_to(popularity(train.ratings), test.judged.shape)
    else:
        scores = fitted_scores(train, test.X, method, penalty)
    return {"losses": losses_of(scores, test.judged).tolist(), "chosen": penalty}


def tuned_peers(folder, trials, given):
    """The penalty of least five-fold loss, by (trial, protocol, method)."""
    kinds = list(product(range(trials), PROTOCOLS, PEERS))
    tasks = {
        f"folds/{protocol}/{method}/{trial}/{penalty:g}": (
            run_folds, folder, trial, protocol, method, penalty)
        for trial, protocol, method in kinds for penalty in PENALTIES[method]
    }  # fmt: skip
    found = results("movielens", tasks, Namespace(**{**vars(given), "only": None}))
    given.anew = False  # what was found just now is to stay
    return {
        kind: min(PENALTIES[kind[2]], key=lambda penalty, kind=kind:
                  found[f"folds/{kind[1]}/{kind[2]}/{kind[0]}/{penalty:g}"])
        for kind in kinds
    }  # fmt: skip


def tasks_of(folder, trials, tuned):
    tasks = {}
    for trial, protocol in product(range(trials), PROTOCOLS):
        for part in range(PARTS):
            tasks[f"{protocol}/{OURS}/{trial}/{part}"] = run_ours, folder, trial, protocol, part
        for method in (*PEERS, CONSTANT):
            penalty = tuned.get((trial, protocol, method))
            key = f"{protocol}/{method}/{trial}/0"
            tasks[key] = run_peer, folder, trial, protocol, method, penalty
    return tasks


def means_of_trials(found, trials, protocol, method):
    """Mean test loss of every trial, and the results of its tasks."""
    parts = [[found[key] for part in range(PARTS)
              if (key := f"{protocol}/{method}/{trial}/{part}") in found]
             for trial in range(trials)]  # fmt: skip
    return [np.mean(np.concatenate([one["losses"] for one in trial])) for trial in parts], parts


def table(protocol, means, details):
    print(f"\nNormalised rank loss, {protocol} (mean ± standard error of "
          f"{len(means[OURS])} trials; the paper's task is another one)")  # fmt: skip
    print(f"   {'':20s}{'here':>16s}{'paper':>16s}   ours less this one   chosen in the trials")
    for method in METHODS:
        away = Figure.of(np.subtract(means[OURS], means[method])).text(4)
        print(f"   {method:20s}{Figure.of(means[method]).text():>16s}{PAPER.get(method, ''):>16s}"
              f"{'' if method == OURS else away:>21s}   {details[method]}".rstrip())  # fmt: skip


def told(parts):
    """What was chosen, how often, and the median gap."""
    chosen = [trial[0]["chosen"] for trial in parts if trial[0]["chosen"] is not None]
    values, counts = np.unique(chosen, return_counts=True)
    text = ", ".join(f"{value:g} ({count})" for value, count in zip(values, counts))
    gaps = [one["gap"] for trial in parts for one in trial if "gap" in one]
    return text + (f"; median gap {np.median(gaps):.1%} of the risk" if gaps else "")


def main():
    given = arguments(__doc__, ("folder", {"nargs": "?"}),
                      ("--trials", {"type": int, "default": 10}))  # fmt: skip
    if given.folder is None or not (Path(given.folder) / "u.data").exists():
        raise SystemExit(
            "movielens.py needs the folder of the original files u.data and u.user of "
            "MovieLens-100k as its argument; get them from GroupLens."
        )
    folder, trials = given.folder, given.trials
    found = results(
        "movielens", tasks_of(folder, trials, tuned_peers(folder, trials, given)), given
    )
    rows = []
    for protocol in PROTOCOLS:
        pairs = {method: means_of_trials(found, trials, protocol, method) for method in METHODS}
        means = {method: losses for method, (losses, _) in pairs.items()}
        table(protocol, means, {method: told(parts) for method, (_, parts) in pairs.items()})
        rows += [
            (f"Table 1, {method}, {protocol}", 3, float(PAPER[method].split()[0]),
             Figure.of(means[method]), None)
            for method in PAPER
        ]  # fmt: skip
    summary(rows, instead="another task")
    print("The paper's features and judged ratings are not known: levels are of different tasks")


if __name__ == "__main__":
    main()
