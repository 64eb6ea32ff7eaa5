# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking: Kendall's tau of all our learners on the 21 classic data sets.

Protocol: five repeats of ten-fold cross-validation, the same folds for all learners,
features standardised on the training part; the number of folds stands beside each set.
Sets of some 2,400 rows have two repeats; the five large sets have one, with 2,000 random rows of
each training part and at most 2,000 of each test part. One configuration per learner for all sets,
nothing chosen by looking at test folds; that of ours was settled on other folds of the same sets.
Ours: kernel ridge regression with a linear kernel or a Laplacian one of default width,
kernel and alpha chosen by leave-one-out on the training part under the Kendall loss, exact
decoding. "default" is ConditionalRiskMinimizer(Rankings()) and nothing else, on the first
repeat.

Errors are those of a mean over ten folds, as the folds of one repeat share their training rows.
Published figures are those of the authors, with their own folds and choices, and the large sets
in full. Seconds are CPU seconds of one fold.

Usage: python papers/label_ranking.py [--jobs N] [--only WORD] [--kept FOLDER] [--anew]
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from keeping import NOISE, Figure, arguments, results, summary
from published_label_ranking import PUBLISHED
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.rankings import load_label_ranking
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
OURS, DEFAULT = "ours", "default"
N_FOLDS, REPEATS = 10, 5

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
    DEFAULT: lambda: ConditionalRiskMinimizer(Rankings()),
}


def run_fold(name, repeat, fold, learner):
    """Mean tau on one test part, and seconds of fitting and predicting."""
    data, large = load_label_ranking(name), name in LARGE
    splits = KFold(N_FOLDS, shuffle=True, random_state=100 + repeat).split(data.X)
    train, test = list(splits)[fold]
    if large:
        rng = np.random.default_rng([repeat, fold])
        train, test = (rng.permutation(rows)[:2000] for rows in (train, test))
    scaler = StandardScaler().fit(data.X[train])
    X, X_test = scaler.transform(data.X[train]), scaler.transform(data.X[test])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        predicted = LEARNERS[learner]().fit(X, data.Y[train]).predict(X_test)
    seconds = time.process_time() - start
    return [float(kendall_tau(predicted, data.Y[test]).mean()), seconds]


def tasks(sets=(*SMALL, *MIDDLE, *LARGE), repeats=REPEATS, learners=tuple(LEARNERS)):
    return {
        f"{name}/{repeat}/{fold}/{learner}": (run_fold, name, repeat, fold, learner)
        for name in sets
        for learner in learners
        for repeat in range(n_repeats(name, learner, repeats))
        for fold in range(N_FOLDS)
    }


def n_repeats(name, learner, repeats):
    if name in LARGE or learner == DEFAULT:
        return 1
    return min(repeats, 2) if name in MIDDLE else repeats


def gathered(found):
    """{set: {learner: (taus of its folds, mean seconds)}}."""
    values = {}
    for key, answer in found.items():
        name, _, _, learner = key.split("/")
        values.setdefault(name, {}).setdefault(learner, []).append(answer)
    return {
        name: {
            learner: (np.array(answers)[:, 0], np.array(answers)[:, 1].mean())
            for learner, answers in of_set.items()
        }
        for name, of_set in values.items()
    }


def figure_of(taus):
    """Its error is that of ten folds: those of several repeats share their rows."""
    n = min(N_FOLDS, len(taus))
    return Figure(float(taus.mean()), float(taus.std(ddof=1) / np.sqrt(n)))


def report(results):
    """Both tables: ours in the same run, and published figures beside ours."""
    print(f"Kendall's tau in the same run (* best, + within {NOISE} standard errors of the best)")
    shown = ["Kesler" if name == "constraint" else name for name in LEARNERS]
    print(f"{'':11s}" + "".join(f"{name:>9s} " for name in shown) + "  error folds")
    good = []
    for name, found in results.items():
        figures = {learner: figure_of(taus) for learner, (taus, _) in found.items()}
        best = max(figures, key=lambda learner: figures[learner].mean)
        least = figures[best].mean - NOISE * figures[best].error
        line = f"{name:11s}"
        for learner, figure in figures.items():
            mark = "*" if learner == best else "+" if figure.mean >= least else " "
            line += f"{figure.mean:9.4f}{mark}"
        print(line + f"{figures[best].error:7.4f}{len(found[best][0]):6d}")
        good += [learner for learner, figure in figures.items() if figure.mean >= least]
    print(f"\nBest, or within {NOISE} standard errors of the best, of {len(results)} sets:")
    print("   " + ", ".join(f"{name} {good.count(name)}" for name in LEARNERS))
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
    print(f"{'':12s}{'ours':>18s}" + "".join(f"{name:>16s}" for name in PUBLISHED))
    for name, found in results.items():
        line = f"{name:12s}{figure_of(found[OURS][0]).text(4):>18s}"
        for figures in PUBLISHED.values():
            line += f"{figures[name]:16.3f}" if name in figures else ""
        print(line)
    for method, figures in PUBLISHED.items():
        wins = [np.sign(np.round(results[name][OURS][0].mean(), 3) - figures[name])
                for name in results if name in figures]  # fmt: skip
        print(f"Ours against {method}: {count(wins)}")
    lines = []
    for name, found in results.items():
        best = max(PUBLISHED, key=lambda method: PUBLISHED[method].get(name, -1))
        if name in PUBLISHED[best]:
            ours = (figure_of(found[learner][0]) for learner in (OURS, DEFAULT))
            lines.append((f"{name}, {best}", 3, PUBLISHED[best][name], *ours))
    summary(lines, lower=False)


def count(signs):
    signs = np.array(signs)
    return f"{(signs > 0).sum()} wins, {(signs == 0).sum()} ties, {(signs < 0).sum()} losses"


def main():
    given = arguments(__doc__)
    found = results("label_ranking", tasks(), given)
    if found:
        report(gathered(found))


if __name__ == "__main__":
    main()
