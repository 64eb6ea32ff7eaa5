# SPDX-License-Identifier: BSD-3-Clause
"""Labels that are missing: what is lost when 25 to 90 % of the parts of training outputs are.

Protocol. Every set is split at random, two thirds for training (at most 1,500 rows, or 400
sentences) and the rest for test; all methods see the same rows and the same gaps, drawn with the
number of the split for a seed. Test outputs are whole. Means and standard errors over splits.

1. *At random*: every part (label, position of a ranking, tag) is removed with the same probability.
   Label sets and hierarchies are judged by F1 per example, rankings by Kendall's tau, sentences by
   the share of right tags.
   - ours: ConditionalRiskMinimizer(space, loss="f1" for labels) as it is, gaps as NaN;
     for sentences ExponentialFamily(space), gaps as None;
   - zeros: the same with every gap taken for "out" (for sentences for the most frequent tag);
   - whole rows: the same, fitted to the rows that have no gap;
   - majority: the same with gaps filled by the more frequent value of the label;
   - imputed: IterativeImputer of inputs and labels together, then a forest, cut at one half;
   - boosting: HistGradientBoostingClassifier for each label, on the rows that know it.
2. *Positives only*: labels that apply are removed with the same probability and look like labels
   that do not, as in practice.
   - ours: as above, with LabelSets(propensity=the share of labels that is left);
   - zeros: the same without it;
   - SMiLE: scikit-multilearn-ng's, where it is installed, with its defaults.
"""

import argparse
import time
import warnings

import numpy as np
from defaults_data import all_cases, take
from missing_methods import AT_RANDOM, POSITIVES

LEVELS = (0.25, 0.5, 0.75, 0.9)
SETS = ("yeast", "scene", "enron", "spo_fun", "vehicle", "glass", "conll2000")
TRAIN, SENTENCES, TEST = 1500, 400, 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--levels", type=float, nargs="+", default=list(LEVELS))
    given = parser.parse_args()
    print(__doc__)
    warnings.simplefilter("ignore")
    for name in given.sets:
        case = all_cases()[name]()
        show(f"{name}, at random", case, AT_RANDOM[case.task], given, at_random)
        if case.task == "labels":
            show(f"{name}, positives only", case, POSITIVES, given, positives)


def show(title, case, methods, given, corrupt):
    """One table: methods in rows, shares of missing parts in columns."""
    start = time.process_time()
    scores = {method: [] for method in methods}
    for split in range(given.splits):
        X, Y, X_test, Y_test = parts(case, split)
        for method, run in methods.items():
            row = []
            for level in [0.0, *given.levels]:
                Z = corrupt(case, Y, level, np.random.default_rng(1000 * split + int(100 * level)))
                found = run(case, X, Z, X_test, 1.0 - level) if applies(method, level) else None
                row.append(np.nan if found is None else measure(case, found, Y_test))
            scores[method].append(row)
    print(f"\n{title} ({len(Y)} rows, {given.splits} splits)")
    print(f"  {'missing':12}" + "".join(f"{level:>17.0%}" for level in [0.0, *given.levels]))
    for method, rows in scores.items():
        print(f"  {method:12}" + "".join(cell(np.array(rows)[:, k]) for k in range(len(rows[0]))))
    full, most = (np.mean(np.array(scores["ours"])[:, k]) for k in (0, _at(given.levels, 0.75)))
    print(f"  ours at 75 %: {most / full:.1%} of what it is with nothing missing; "
          f"{time.process_time() - start:.0f} CPU s", flush=True)  # fmt: skip


def _at(levels, wanted):
    return 1 + int(np.argmin(np.abs(np.asarray(levels) - wanted)))


def applies(method, level):
    """With nothing missing all ways of filling are one."""
    return level > 0 or method in ("ours", "imputed", "boosting", "SMiLE")


def cell(values):
    if np.isnan(values).all():
        return f"{'-':>17}"
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):>8.3f} ± {error:5.3f} "


def parts(case, split):
    """Training and test rows; inputs are scaled by those of training."""
    rows = np.random.default_rng(split).permutation(len(case))
    cut = 2 * len(case) // 3
    most = SENTENCES if case.task == "sequence" else TRAIN
    train, test = rows[:cut][:most], rows[cut:][:TEST]
    X, X_test = case.scaled(train, test)
    return X, take(case.Y, train), X_test, take(case.Y, test)


# ---------------------------------------------------------------------- what is removed


def at_random(case, Y, level, rng):
    """Outputs with gaps: NaN in tables, None in sequences; nothing where nothing is missing."""
    if level == 0:
        return Y
    if case.task == "sequence":
        return [[None if rng.random() < level else tag for tag in row] for row in Y]
    Z = np.array(Y, dtype=float)
    Z[rng.random(Z.shape) < level] = np.nan
    if case.task == "ranking":  # one item alone says nothing, none at all is no ranking
        lost = np.isnan(Z).all(axis=1)
        Z[lost, rng.integers(Z.shape[1], size=lost.sum())] = 1.0
        return Z
    for j in np.flatnonzero(np.isnan(Z).all(axis=0)):  # somebody knows every label
        Z[rng.integers(len(Z)), j] = 0.0
    return Z


def positives(case, Y, level, rng):
    """Labels that apply, kept with probability 1 - level."""
    return np.asarray(Y) * (rng.random(np.shape(Y)) >= level)


# ---------------------------------------------------------------------- what is measured


def measure(case, found, truth):
    if case.task == "sequence":
        right = [np.mean([a == b for a, b in zip(p, t)]) for p, t in zip(found, truth)]
        return float(np.average(right, weights=[len(t) for t in truth]))
    found, truth = np.asarray(found), np.asarray(truth)
    if case.task == "ranking":
        signs = [np.sign(Z[:, :, None] - Z[:, None, :]) for Z in (found, truth)]
        pairs = truth.shape[1] * (truth.shape[1] - 1)
        return float((signs[0] * signs[1]).sum(axis=(1, 2)).mean() / pairs)
    common, size = (found * truth).sum(axis=1), found.sum(axis=1) + truth.sum(axis=1)
    return float(np.where(size > 0, 2 * common / np.maximum(size, 1), 1.0).mean())


if __name__ == "__main__":
    main()
