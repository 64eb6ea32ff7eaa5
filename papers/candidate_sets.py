# SPDX-License-Identifier: BSD-3-Clause
"""Learning from candidate sets: the infimum loss beside the average, under growing corruption.

After the experiments of Cabannes, Rudi and Bach, "Structured prediction with partial labelling
through the infimum loss" (ICML 2020), on sets at hand. Training outputs are corrupted, test
outputs are not. At level c:

classes, uniform: every wrong class joins the candidates with probability c; skewed: the most
frequent class joins with probability c, and no other.
labels, uniform: every label is hidden with probability c; skewed: labels that are there with
probability c, those that are not with half of it.
rankings, uniform: every item is left out with probability c; skewed: with a probability that falls
from min(1, 2 c) for the best item to 0 for the worst. Two items are kept at least.

Protocol: splits at random with at most 150 training and 500 test rows, inputs standardised on the
training part; the same splits and corruptions for all methods. All are kernel ridge regressions
with a Gaussian kernel of default width, whose penalty is chosen on left-out training rows, by what
is known of them; how the infimum chooses it was settled on two other splits of iris.
"full" sees the uncorrupted outputs; "infimum" decides the candidates and is then trained on them;
"random" does so from a random start; "average" is trained on the mean embedding of the candidates
and chooses its penalty by the average loss; "supremum", of classes, learns from the rows that have
one candidate. Figures are mean losses on test rows in percent (zero-one, Hamming per label, share
of discordant pairs); "avg-inf" is the average less the infimum, with its standard error over
splits; "told right" is the share of open rows, or open labels and pairs, that were decided as they
were before the corruption.

Usage: python papers/candidate_sets.py [--sets NAME ...] [--splits N]
"""

from __future__ import annotations

import argparse
import time
import warnings
from functools import cache

import numpy as np
from sklearn import datasets as embedded
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.multilabel import load_multilabel
from skstruct.datasets.rankings import load_label_ranking
from skstruct.exceptions import MissingDataError
from skstruct.learners.conditional_risk.candidates import partial_problem, soft_targets
from skstruct.learners.conditional_risk.disambiguation import disambiguate
from skstruct.losses import resolve_loss
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.penalties import smoother_alphas
from skstruct.spaces import Classes, Known, LabelSets, Rankings, whole_of

LEVELS = (0.2, 0.4, 0.6, 0.8)
N_TRAIN, N_TEST = 150, 500
SETS = {
    "iris": "classes", "wine": "classes", "digits": "classes",
    "emotions": "labels", "scene": "labels", "yeast": "labels",
    "glass": "rankings", "vehicle": "rankings", "stock": "rankings",
}  # fmt: skip
LOSSES = {"classes": "zero_one", "labels": "hamming", "rankings": "kendall"}
METHODS = ("infimum", "random", "average", "supremum")


@cache
def load_set(name):
    """Inputs and outputs: class numbers, indicators or ranks."""
    kind = SETS[name]
    if kind == "labels":
        data = load_multilabel(name)
        return np.vstack([data.X_train, data.X_test]), np.vstack([data.Y_train, data.Y_test])
    if kind == "rankings":
        data = load_label_ranking(name)
        return data.X, np.asarray(data.Y, float)
    return getattr(embedded, f"load_{name}")(return_X_y=True)


def corrupted(Y, kind, level, skewed, rng):
    """Outputs as far as they are still known, and which parts are open."""
    if kind == "classes":
        classes = np.arange(Y.max() + 1)
        joins = rng.random((len(Y), len(classes))) < level
        if skewed:
            joins &= classes == np.bincount(Y).argmax()
        joins[np.arange(len(Y)), Y] = True
        return [set(np.flatnonzero(row).tolist()) for row in joins], joins.sum(axis=1) > 1
    if kind == "labels":
        hidden = rng.random(Y.shape) < np.where((Y == 0) & skewed, level / 2, level)
        return np.where(hidden, np.nan, Y), hidden
    d = Y.shape[1]
    share = np.minimum(1.0, 2 * level) * (d - Y) / (d - 1) if skewed else level
    hidden = rng.random(Y.shape) < share
    full = hidden.sum(axis=1) > d - 2
    spared = np.argsort(rng.random((full.sum(), d)), axis=1)[:, :2]
    np.put_along_axis(some := hidden[full], spared, False, axis=1)
    hidden[full] = some
    return np.where(hidden, np.nan, Y), hidden


def new_space(kind, Y):
    if kind == "classes":
        return Classes(range(int(Y.max()) + 1))
    return LabelSets(range(Y.shape[1])) if kind == "labels" else Rankings(Y.shape[1])


def mean_loss(kind, found, truth):
    """In percent."""
    if kind != "rankings":
        return 100.0 * np.mean(found != truth)
    first, second = np.triu_indices(truth.shape[1], 1)
    turned = (found[:, first] < found[:, second]) != (truth[:, first] < truth[:, second])
    return 100.0 * turned.mean()


def supervised(kind, space, X, Y, X_test):
    """What ordinary training predicts."""
    model = ConditionalRiskMinimizer(space, LOSSES[kind], kernel="rbf", alpha="auto")
    return np.asarray(model.fit(X, Y).predict(X_test))


def by_average(problem, partial, X, X_test):
    """Predictions from means over candidates; the penalty by the average loss."""
    soft = soft_targets(problem, partial)
    path = KernelRidge(alpha=np.inf, solver="spectral").fit(X, soft)
    g, total = soft[:, :-1], soft[:, -1:]
    costs, offset = problem.loss.cost(g, total), problem.loss.offset(g, total)
    best, alphas = (np.inf, None), smoother_alphas(path)
    for alpha, left in zip(alphas, path.loo_path(alphas)):
        psi = problem.space.embed(problem.decide(left))
        psi = psi.toarray() if hasattr(psi, "toarray") else psi
        risk = np.mean(np.einsum("ij,ij->i", costs, psi) + offset)
        if risk < best[0] - 1e-12:
            best = (risk, alpha)
    means = path.with_alpha(best[1]).predict(X_test)
    return whole_of(problem.space).restore(problem.decide(means))


def told_right(kind, found, truth, hidden):
    """Share of what was open that was decided as it had been."""
    if kind == "rankings":
        first, second = np.triu_indices(truth.shape[1], 1)
        hidden = hidden[:, first] | hidden[:, second]
        found, truth = (Z[:, first] < Z[:, second] for Z in (found, truth))
    return 100.0 * np.mean((found == truth)[hidden]) if hidden.any() else np.nan


def run_split(name, split, skewed, level):
    """Losses of all methods, in percent, on one split at one level."""
    kind, (X, Y) = SETS[name], load_set(name)
    rows = np.random.default_rng([split, 7]).permutation(len(X))
    n = min(N_TRAIN, len(X) * 2 // 3)
    train, test = rows[:n], rows[n : n + N_TEST]
    scaler = StandardScaler().fit(X[train])
    Y, Y_test, X, X_test = Y[train], Y[test], *(scaler.transform(X[some]) for some in (train, test))
    found = {"full": supervised(kind, new_space(kind, Y), X, Y, X_test)}
    rng = np.random.default_rng([split, int(skewed), int(100 * level)])
    given, hidden = corrupted(Y, kind, level, skewed, rng)
    space = new_space(kind, Y)
    partial = Known.of(space).read(given)
    problem = partial_problem(space, resolve_loss(LOSSES[kind]), partial)
    right = np.nan
    for method, start in (("infimum", "soft"), ("random", "random")):
        ridge = KernelRidge(alpha="auto")
        decided = disambiguate(problem, ridge, X, partial, start=start, random_state=split)
        outputs = np.asarray(space.restore(decided.outputs))
        if method == "infimum":
            right = told_right(kind, outputs, Y, hidden)
        found[method] = supervised(kind, new_space(kind, Y), X, outputs, X_test)
    found["average"] = np.asarray(by_average(problem, partial, X, X_test))
    if kind == "classes":
        alone = ~hidden
        found["supremum"] = np.full(len(X_test), -1)
        if alone.sum() > 1:
            found["supremum"] = supervised(kind, new_space(kind, Y), X[alone], Y[alone], X_test)
    return {m: mean_loss(kind, Z, Y_test) for m, Z in found.items()} | {"right": right}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    print(__doc__.partition("Usage:")[0].strip(), "\n", flush=True)
    warnings.simplefilter("ignore")
    start = time.process_time()
    columns = ("full", *METHODS)
    print(f"{'':10s}{'corrupted':>10s}{'c %':>5s}" + "".join(f"{c:>10s}" for c in columns)
          + f"{'avg-inf':>9s}{'+-':>6s}{'told right':>12s}")  # fmt: skip
    wins = []
    for name in options.sets:
        for skewed in (False, True):
            for level in LEVELS:
                try:
                    runs = [run_split(name, k, skewed, level) for k in range(options.splits)]
                except MissingDataError as error:
                    print(f"{name:10s} left out: {error}")
                    break
                line = f"{name:10s}{'skewed' if skewed else 'uniform':>10s}{100 * level:5.0f}"
                for column in columns:
                    some = [run.get(column, np.nan) for run in runs]
                    line += f"{np.mean(some):10.1f}" if np.isfinite(some).all() else f"{'-':>10s}"
                gain = np.array([run["average"] - run["infimum"] for run in runs])
                error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else np.nan
                right = np.nanmean([run["right"] for run in runs])
                print(line + f"{gain.mean():9.1f}{error:6.1f}{right:12.1f}", flush=True)
                wins.append((gain.mean(), error))
    better = sum(gain > 2 * error for gain, error in wins)
    worse = sum(gain < -2 * error for gain, error in wins)
    print(f"\nOf {len(wins)} settings the infimum is better than the average by more than two "
          f"standard errors in {better}, and worse in {worse}.")  # fmt: skip
    print(f"{options.splits} splits; {(time.process_time() - start) / 60:.1f} minutes of CPU.")


if __name__ == "__main__":
    main()
