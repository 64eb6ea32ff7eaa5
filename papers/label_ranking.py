# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking: Kendall's tau of all our learners on the 21 classic data sets.

Protocol: five repeats of ten-fold cross-validation, the same folds for all learners,
features standardised on the training part; the number of folds stands beside each set.
The five large sets have one repeat, with 2,000 random rows of each training part and at
most 2,000 of each test part. One configuration per learner for all sets, nothing chosen
by looking at test folds; that of ours was settled on other folds of the same sets.
Ours: kernel ridge regression with a linear kernel or a Laplacian one of default width,
kernel and alpha chosen by leave-one-out on the training part under the Kendall loss, exact
decoding.

The whole takes some three hours on two cores; --cache keeps what is done.

Published figures are those of the authors, with their own folds and choices.

Usage: python papers/label_ranking.py [--sets NAME ...] [--learners NAME ...] [--repeats N]
       [--jobs N] [--cache FILE]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from published_label_ranking import PUBLISHED
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.rankings import load_label_ranking
from skstruct.exceptions import MissingDataError
from skstruct.learners import (
    ConstraintClassification,
    LabelRankingBoosting,
    LabelRankingSVM,
    NeighborLabelRanker,
    OnlineLabelRanker,
    PairwiseComparison,
)
from skstruct.rankings import kendall_tau
from skstruct.smoothing import Forest
from skstruct.spaces import Rankings

LARGE = ("calhousing", "cpu", "elevators", "fried", "pendigits")
SMALL = ("iris", "wine", "glass", "bodyfat", "wisconsin", "housing", "vowel", "authorship",
         "vehicle", "stock")  # fmt: skip
MIDDLE = ("cold", "dtt", "heat", "diau", "segment", "spo")
OURS = "ours"

LEARNERS = {
    OURS: lambda: ConditionalRiskMinimizer(Rankings(), "kendall", kernel=["linear", "laplacian"]),
    "forest": lambda: ConditionalRiskMinimizer(
        Rankings(), "kendall", smoother=Forest(100, random_state=0)
    ),
    "neighbors": lambda: NeighborLabelRanker(),
    "pairwise": lambda: PairwiseComparison(),
    "constraint": lambda: ConstraintClassification(),
    "svm": lambda: LabelRankingSVM(),
    "boosting": lambda: LabelRankingBoosting(random_state=0),
    "online": lambda: OnlineLabelRanker(random_state=0, alpha=1.0),
}


# Other ways of the same learners, run where --learners names them; not in the tables.
VARIANTS = {
    "perceptron": lambda: OnlineLabelRanker(method="perceptron", random_state=0),
    "primal-dual": lambda: OnlineLabelRanker(
        method="primal-dual", decomposition="whole", random_state=0
    ),
    "passive-aggressive": lambda: OnlineLabelRanker(random_state=0),
    "multiplicative": lambda: OnlineLabelRanker(method="multiplicative", random_state=0),
    "svm-feedback": lambda: LabelRankingSVM(margin="feedback"),
    "svm-whole": lambda: LabelRankingSVM(decomposition="whole"),
    "boosting-better": lambda: LabelRankingBoosting(decomposition="better-items", random_state=0),
    "boosting-worse": lambda: LabelRankingBoosting(decomposition="worse-items", random_state=0),
}


def run_fold(name, repeat, fold, learner):
    """Mean tau on one test part, and seconds of fitting and predicting."""
    data, large = load_label_ranking(name), name in LARGE
    splits = KFold(10, shuffle=True, random_state=100 + repeat).split(data.X)
    train, test = list(splits)[fold]
    if large:
        rng = np.random.default_rng([repeat, fold])
        train, test = (rng.permutation(rows)[:2000] for rows in (train, test))
    scaler = StandardScaler().fit(data.X[train])
    X, X_test = scaler.transform(data.X[train]), scaler.transform(data.X[test])
    start = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        predicted = (LEARNERS | VARIANTS)[learner]().fit(X, data.Y[train]).predict(X_test)
    seconds = time.perf_counter() - start
    return float(kendall_tau(predicted, data.Y[test]).mean()), seconds


def run_set(name, learners, repeats, jobs, cache):
    """Taus (repeats * 10,) and mean seconds of every learner."""
    repeats = 1 if name in LARGE else repeats
    todo = [(name, repeat, fold, learner) for learner in learners
            for repeat in range(repeats) for fold in range(10)]  # fmt: skip
    missing = [task for task in todo if key(task) not in cache]
    with Parallel(n_jobs=jobs) as parallel:
        for start in range(0, len(missing), 50):
            some = missing[start : start + 50]
            for task, answer in zip(some, parallel(delayed(run_fold)(*task) for task in some)):
                cache[key(task)] = answer
            cache.save()
    results = {learner: ([], []) for learner in learners}
    for task in todo:
        tau, seconds = cache[key(task)]
        results[task[-1]][0].append(tau)
        results[task[-1]][1].append(seconds)
    return {learner: (np.array(taus), np.mean(spent)) for learner, (taus, spent) in results.items()}


def key(task):
    return "/".join(map(str, task))


class Cache(dict):
    """Results by task; kept in a file, if one is given, so that a run can be continued."""

    def __init__(self, path):
        self.path = None if path is None else Path(path)
        known = self.path is not None and self.path.exists()
        super().__init__(json.loads(self.path.read_text()) if known else {})

    def save(self):
        if self.path is not None:
            partial = self.path.with_suffix(".part")
            partial.write_text(json.dumps(self))
            partial.replace(self.path)


def report(results):
    """Both tables: ours in the same run, and published figures beside ours."""
    print("\nKendall's tau in the same run (* best, + within one standard error of the best)")
    shown = ["Kesler" if name == "constraint" else name for name in LEARNERS]
    print(f"{'':11s}" + "".join(f"{name:>9s} " for name in shown) + "  error folds")
    good = []
    for name, found in results.items():
        means = {learner: taus.mean() for learner, (taus, _) in found.items()}
        best = max(means, key=means.get)
        taus = found[best][0]
        # The folds of one repeat share training rows: the error is that of ten folds.
        error = taus.std(ddof=1) / np.sqrt(10)
        line = f"{name:11s}"
        for learner, mean in means.items():
            near = mean >= means[best] - error
            line += f"{mean:9.4f}" + ("*" if learner == best else "+" if near else " ")
        print(line + f"{error:7.4f}{len(taus):6d}")
        if means[OURS] >= means[best] - error:
            good.append(name)
    print(f"\nOurs is best or within one standard error of the best on {len(good)} of "
          f"{len(results)} sets.")  # fmt: skip
    seconds = {learner: np.sum([found[learner][1] for found in results.values()])
               for learner in LEARNERS}  # fmt: skip
    print("Seconds to fit and predict one fold, summed over the sets:\n   "
          + ", ".join(f"{name} {value:.1f}" for name, value in seconds.items()))  # fmt: skip
    for peer in [name for name in LEARNERS if name != OURS]:
        wins = [np.sign(np.round(found[OURS][0].mean() - found[peer][0].mean(), 4))
                for found in results.values()]  # fmt: skip
        print(f"Ours against {peer}: {count(wins)}")
    report_published(results)


def report_published(results):
    print("\nPublished figures beside ours (other folds, and the large sets in full)")
    print(f"{'':12s}{'ours':>12s}" + "".join(f"{name:>16s}" for name in PUBLISHED))
    for name, found in results.items():
        line = f"{name:12s}{found[OURS][0].mean():12.4f}"
        for figures in PUBLISHED.values():
            line += f"{figures[name]:16.3f}" if name in figures else ""
        print(line)
    for method, figures in PUBLISHED.items():
        wins = [np.sign(np.round(results[name][OURS][0].mean(), 3) - figures[name])
                for name in results if name in figures]  # fmt: skip
        print(f"Ours against {method}: {count(wins)}")


def count(signs):
    signs = np.array(signs)
    return f"{(signs > 0).sum()} wins, {(signs == 0).sum()} ties, {(signs < 0).sum()} losses"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[*SMALL, *MIDDLE, *LARGE])
    parser.add_argument(
        "--learners", nargs="*", default=list(LEARNERS), choices=[*LEARNERS, *VARIANTS]
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--middle-repeats", type=int, default=5, help="sets of 2,400 rows")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cache", help="file to keep results in, to continue a run")
    arguments = parser.parse_args()
    cache, results = Cache(arguments.cache), {}
    for name in arguments.sets:
        try:
            load_label_ranking(name)
        except MissingDataError as error:
            print(error)
            return
        start = time.perf_counter()
        repeats = arguments.middle_repeats if name in MIDDLE else arguments.repeats
        results[name] = run_set(name, arguments.learners, repeats, arguments.jobs, cache)
        taus = ", ".join(f"{k} {v[0].mean():.4f}" for k, v in results[name].items())
        print(f"{name} ({time.perf_counter() - start:.0f} s): {taus}", flush=True)
    if arguments.learners == list(LEARNERS):
        report(results)


if __name__ == "__main__":
    main()
