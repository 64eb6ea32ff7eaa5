# SPDX-License-Identifier: BSD-3-Clause
"""How sure the default model is of labels, symbols and pairs: promises kept, and their price.

Protocol. Every data set is split at random, half for training, a quarter for calibration and a
quarter for test; models are ConditionalRiskMinimizer(space) with nothing else set but a seed, and
ExponentialFamily(space) for sentences, of at most 1,200 training rows, or 150 sentences. Three
tables, each with standard errors over splits:

1. *Asserted*: RiskControl(risk="wrong") at levels .02, .05 and .10. A part (label, symbol, pair) is
   asserted as there or as not there, or left open; risk is the share of all parts that are asserted
   wrongly on test rows, of which the expectation is promised to be at most the level.
2. *Beside MAPIE* (where it is installed): sets of possible labels with a share of missed labels of
   at most .10, from the same probabilities, by RiskControl(risk="missed") and by MAPIE's
   MultiLabelClassificationController(method="crc"); fewer labels per row are better.
3. *Calibration*: expected error in fifteen bins of equally many probabilities, and Brier score, of
   marginals as they are estimated and as left-out rows of training calibrate them.
"""

import argparse
import warnings

import numpy as np
from defaults_data import all_cases, take

from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.conformal import RiskControl
from skstruct.spaces import Sequences

LEVELS = (0.02, 0.05, 0.10)
MISSED = 0.10
TRAIN, SENTENCES = 1200, 150
SETS = ("yeast", "emotions", "scene", "enron", "pheno_fun", "glass", "vehicle", "iris", "digits",
        "conll2000")  # fmt: skip
BINS = 15


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--splits", type=int, default=5)
    given = parser.parse_args()
    print(__doc__)
    warnings.simplefilter("ignore")
    results = {name: of_set(name, given.splits) for name in given.sets}
    print("Asserted share of parts, and realised risk, at three levels")
    for name, splits in results.items():
        cells = [f"{level:.2f}: {shown(splits, f'asserted {level}')} risk "
                 f"{shown(splits, f'risk {level}')}" for level in LEVELS]  # fmt: skip
        print(f"  {name:10}", "   ".join(cells))
    print(f"\nPossible labels per row with at most {MISSED:.0%} missed")
    for name, splits in results.items():
        if "ours" in splits[0]:
            mine, peer = (shown(splits, key) for key in ("ours", "mapie"))
            risks = [shown(splits, f"{key} missed") for key in ("ours", "mapie")]
            print(f"  {name:10} ours {mine} (missed {risks[0]})   MAPIE {peer} (missed {risks[1]})")
    print("\nExpected calibration error and Brier score of marginals")
    for name, splits in results.items():
        if "ece estimated" not in splits[0]:
            continue
        cells = [f"{kind}: {shown(splits, f'ece {kind}')}, {shown(splits, f'brier {kind}')}"
                 for kind in ("estimated", "calibrated")]  # fmt: skip
        print(f"  {name:10}", "   ".join(cells))


def shown(splits, key):
    """Mean and standard error over splits."""
    values = np.array([split.get(key, np.nan) for split in splits])
    return f"{values.mean():.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def of_set(name, n_splits):
    case = all_cases()[name]()
    return [of_split(case, seed) for seed in range(n_splits)]


def learner(case):
    """The default, or for sentences the model that the default chooses most often."""
    if case.task != "sequence":
        return ConditionalRiskMinimizer(case.space, random_state=0)
    tags = sorted({tag for row in case.Y for tag in row})
    return ExponentialFamily(Sequences(tags))


def of_split(case, seed):
    """All figures of one split."""
    most = SENTENCES if case.task == "sequence" else TRAIN
    order = np.random.default_rng(seed).permutation(len(case))[: 2 * most]
    n = len(order)
    parts = np.split(order, [n // 2, 3 * n // 4])
    (X, y), held, test = ((take(case.X, rows), take(case.Y, rows)) for rows in parts)
    model = learner(case).fit(X, y)
    found = {}
    for level in LEVELS:
        control = RiskControl(model, level, risk="wrong").calibrate(*held)
        realised = control.realised(*test)
        found[f"asserted {level}"], found[f"risk {level}"] = realised.asserted, realised.risk
    if case.task == "labels":
        found |= beside_mapie(model, held, test)
    if case.task == "sequence":
        return found
    truth = np.asarray(model.true_marginals(test[1]))
    for kind, how in (("estimated", None), ("calibrated", "auto")):
        P = np.asarray(model.predict_marginals(test[0], calibrated=how))
        found[f"ece {kind}"] = calibration_error(P.ravel(), truth.ravel())
        found[f"brier {kind}"] = np.mean((P - truth) ** 2)
    return found


def beside_mapie(model, held, test):
    """Possible labels per row, ours and those of MAPIE, from the same probabilities."""
    try:
        from mapie.risk_control import MultiLabelClassificationController
    except ImportError:
        return {}
    truth = np.asarray(model.true_marginals(test[1])) > 0
    control = RiskControl(model, MISSED, risk="missed").calibrate(*held)
    ours = model.space_.validate(control.predict(test[0]).possible) > 0
    some = np.asarray(model.true_marginals(held[1])).sum(axis=1) > 0  # MAPIE wants a label
    X, Y = take(held[0], np.flatnonzero(some)), np.asarray(model.true_marginals(held[1]))[some]
    peer = MultiLabelClassificationController(
        lambda rows: np.asarray(model.predict_marginals(rows)), method="crc", risk="recall",
        target_level=1 - MISSED,
    )  # fmt: skip
    peer.calibrate(X, Y.astype(int))
    theirs = np.asarray(peer.predict(test[0]))[..., 0] > 0
    found = {"ours": ours.sum(axis=1).mean(), "mapie": theirs.sum(axis=1).mean()}
    for key, sets in (("ours", ours), ("mapie", theirs)):
        missed = (truth & ~sets).sum(axis=1) / np.maximum(truth.sum(axis=1), 1)
        found[f"{key} missed"] = missed.mean()
    return found


def calibration_error(p, happened):
    """Mean distance of shares from probabilities, in bins of equally many."""
    bins = np.array_split(np.argsort(p, kind="stable"), BINS)
    gaps = [len(rows) * abs(p[rows].mean() - happened[rows].mean()) for rows in bins]
    return sum(gaps) / len(p)


if __name__ == "__main__":
    main()
