# SPDX-License-Identifier: BSD-3-Clause
"""The four methods that Table 1 of Ciliberto, Rudi and Rosasco compares with, written anew.

All score movie i for user x by f_i(x) = <w_i, (x, 1)>, and sort by that: the scores that kernel
ridge regression with a linear kernel can give too. With a_ij = r_i - r_j for movies that a
user rated r_i > r_j, divided by their sum, they minimise penalty / 2 |w|^2 plus the mean over
users of

* linear (Duchi, Mackey and Jordan, equation 13): sum_ij a_ij (f_j - f_i) + sum_i f_i^2 / 2, which
  is a ridge regression;
* hinge (Herbrich, Graepel and Obermayer): sum_ij a_ij max(0, 1 - f_i + f_j);
* logistic (Dekel, Singer and Manning): sum_ij a_ij log(1 + exp(f_j - f_i));
* SVM struct (Tsochantaridis et al.): the largest sum of a_ij (1 - f_i + f_j) over the pairs that
  an order of the movies has the wrong way round. Finding that order is a linear ordering problem;
  it is searched by insertion, as the paper's is by a heuristic.

The last three by stochastic subgradients of step 1 / (penalty t), the mean of the second half of
the passes. Penalties are chosen by five folds of the training users, each user judged as a test
user would be.
"""

import numpy as np
from movielens_data import losses_of, searched_order
from numba import njit
from sklearn.model_selection import KFold

PASSES = 12
PENALTIES = {
    "linear": (300.0, 100.0, 30.0, 10.0, 3.0),
    **dict.fromkeys(("hinge", "logistic", "SVM struct"), (1e-2, 1e-3, 1e-4, 1e-5)),
}


def folds_loss(users, method, penalty):
    """Mean loss of left-out users, five folds."""
    losses = []
    for kept, left in KFold(5, shuffle=True, random_state=0).split(users.X):
        scores = fitted_scores(users.rows(kept), users.X[left], method, penalty)
        losses.append(losses_of(scores, users.judged[left]))
    return float(np.mean(np.concatenate(losses)))


def fitted_scores(users, X_new, method, penalty):
    """Scores of all movies for new users, (n_new, movies)."""
    K, K_new = users.X @ users.X.T + 1.0, X_new @ users.X.T + 1.0
    if method == "linear":
        net = np.array([net_worth(row) for row in users.ratings])
        return K_new @ np.linalg.solve(K + penalty * np.eye(len(K)), net)
    return K_new @ subgradient_descent(K, users.ratings, method, penalty)


def net_worth(ratings):
    """sum_j a_ij - a_ji of each movie, zero where there is no rating."""
    rated = ~np.isnan(ratings)
    r, worth = ratings[rated], np.zeros(len(ratings))
    size = np.abs(r[:, None] - r).sum() / 2
    worth[rated] = (len(r) * r - r.sum()) / max(size, 1.0)
    return worth


def subgradient_descent(K, ratings, method, penalty, passes=PASSES, seed=0):
    """Coefficients C (n, movies) of scores K C: w_t is the sum of all steps over penalty t."""
    direction = {"hinge": hinge_direction, "logistic": logistic_direction,
                 "SVM struct": order_direction}[method]  # fmt: skip
    n, rng = len(K), np.random.default_rng(seed)
    own = [np.flatnonzero(~np.isnan(row)) for row in ratings]
    total, mean, t = np.zeros(ratings.shape), np.zeros(ratings.shape), 0
    late = passes - passes // 2
    for number in range(passes):
        for user in rng.permutation(n):
            t += 1
            movies = own[user]
            scores = K[user] @ total[:, movies] / (penalty * t)
            total[user, movies] += direction(scores, ratings[user, movies])
            if number >= late and t % 100 == 0:
                mean += total / (penalty * t)
    counted = sum(1 for step in range(late * n + 1, passes * n + 1) if step % 100 == 0)
    return mean / counted if counted else total / (penalty * t)


@njit(cache=True)
def hinge_direction(scores, ratings):
    """Minus a subgradient of the user's loss in the scores."""
    away, size = np.zeros(len(scores)), 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            worth = ratings[i] - ratings[j]
            if worth > 0:
                size += worth
                if scores[i] - scores[j] < 1.0:
                    away[i] += worth
                    away[j] -= worth
    return away / max(size, 1.0)


@njit(cache=True)
def logistic_direction(scores, ratings):
    away, size = np.zeros(len(scores)), 0.0
    for i in range(len(scores)):
        for j in range(len(scores)):
            worth = ratings[i] - ratings[j]
            if worth > 0:
                size += worth
                push = worth / (1.0 + np.exp(min(scores[i] - scores[j], 500.0)))
                away[i] += push
                away[j] -= push
    return away / max(size, 1.0)


def order_direction(scores, ratings):
    """That of the order which is the most wrong, by loss and scores together."""
    worth = np.maximum(ratings[:, None] - ratings, 0.0)  # a_ij
    gain = worth * (1.0 - scores[:, None] + scores)  # of j above i
    place = np.argsort(searched_order((gain - gain.T) / 2))
    wrong = worth * (place[:, None] > place)
    if (wrong * gain).sum() <= 0:  # no order is worse than the true one
        return np.zeros(len(scores))
    return (wrong.sum(axis=1) - wrong.sum(axis=0)) / max(worth.sum(), 1.0)
