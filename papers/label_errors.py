# SPDX-License-Identifier: BSD-3-Clause
"""Labels that were made wrong, and who finds them: inspection.suspicious_outputs beside the
multi-label score of Thyagarajan, Snorrason, Northcutt and Mueller (2022).

Protocol. 500 rows drawn at random by the seed, of label sets (yeast, scene) and of a hierarchy
(enron); inputs as they are. Of as many labels as 5 % or 10 % of those that rows have,
*uniform*: cells of the table are drawn among all, and are flipped (mostly a label too many);
*sibling*: labels that rows have are drawn, each of which is swapped for a label of the same parent
that the row has not (without a hierarchy, any other). In the hierarchy a label comes with its
ancestors and goes with its descendants; all cells that differ in the end count as wrong, and all
rows with such a cell. Methods know the wrong table only.

Parts (cells) are ordered by the probability of what is given, lowest first (ours where that is
equal by the margin of the row); rows by
  margin   the estimated risk of what is given less that of the decision (ours);
  average  the exponential moving average, alpha = .8, of the row's probabilities of what is given,
           from the highest to the lowest (the published multi-label score; the formula is written
           here anew from the paper, since the authors' package, cleanlab, was released under the
           AGPL and is no dependency of ours).
Probabilities:
  closed   ours, ConditionalRiskMinimizer(space) with rows taken out of one fit (cv=None);
  folds    ours, fitted to five folds (cv=5; on scene with 10 % of siblings alone, for its time);
  logistic LogisticRegression(max_iter=1000) for each label of scaled inputs, five folds;
  forest   RandomForestClassifier() for all labels, five folds.
precision is that of the first k, where k is the number of wrong parts or rows; AP is average
precision. Both are means over seeds with standard errors. The last table is Hamming loss on 500
other rows, with labels as they were given: fitted to the right table, to the wrong one (10 %), and
to the rows that the closed form keeps when it leaves out as many rows as are wrong.
"""

import argparse
import warnings

import numpy as np
from defaults_data import all_cases
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.inspection import suspicious_outputs
from skstruct.spaces import Description

SETS = ("yeast", "scene", "enron")
N = 500
RATES = (0.05, 0.10)
KINDS = ("uniform", "sibling")
IN_FOLDS = ("scene", "sibling", 0.10)
ALPHA = 0.8


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(__doc__)
    warnings.simplefilter("ignore")
    refits = {}
    for name in given.sets:
        case = all_cases()[name]()
        for kind in KINDS:
            for rate in RATES:
                found = [of_seed(case, kind, rate, seed) for seed in range(given.seeds)]
                show(name, kind, rate, found)
                if "refit" in found[0]:
                    refits[name, kind] = found
    print("Hamming loss on other rows, 10 % of labels wrong, fitted to")
    for (name, kind), found in refits.items():
        cells = [
            f"{key} {shown([one['refit'][key] for one in found])}" for key in found[0]["refit"]
        ]
        print(f"  {name:6} {kind:8}", "   ".join(cells))


def show(name, kind, rate, found):
    """The tables of parts and rows of one way to make labels wrong."""
    sizes = [shown([one[what] for one in found], 0) for what in ("wrong parts", "wrong rows")]
    print(f"{name}, {kind}, {rate:.0%}: {sizes[0]} parts and {sizes[1]} rows of {N} are wrong")
    for what in ("parts", "rows"):
        for method in found[0][what]:
            numbers = np.array([one[what][method] for one in found])
            precision, average = (shown(column) for column in numbers.T)
            print(f"  {what:5} {method:17} precision {precision}   AP {average}")
    print(flush=True)


def shown(values, digits=3):
    """Mean and standard error over seeds."""
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.{digits}f} ± {error:.{digits}f}"


# ---------------------------------------------------------------------- wrong labels
def spoiled(Y, space, kind, rate, rng):
    """A table of labels with so many of them made wrong."""
    dag = Description.of(space.fit(Y)).output_dag()
    Y = Y.copy()
    parents = [set() for _ in range(Y.shape[1])]
    for parent, child in zip(dag.parents.tolist(), dag.children.tolist()):
        parents[child].add(parent)
    present = np.argwhere(Y == 1)
    k = round(rate * len(present))
    if kind == "uniform":
        cells = rng.choice(Y.size, k, replace=False)
        cells = np.column_stack(np.unravel_index(cells, Y.shape))
        for i, j in cells:
            put(Y[i], j, 1 - Y[i, j], parents)
        return Y
    for i, j in present[rng.choice(len(present), k, replace=False)]:
        others = [s for s in range(Y.shape[1]) if not Y[i, s] and parents[s] == parents[j]]
        if Y[i, j] and others:
            put(Y[i], j, 0, parents)
            put(Y[i], int(rng.choice(others)), 1, parents)
    return Y


def put(row, j, value, parents):
    """Set a label, with its ancestors; or unset it, with its descendants."""
    row[j] = value
    if value:
        related = parents[j]
    else:
        related = {c for c, above in enumerate(parents) if j in above}
    for other in related:
        if row[other] != value:
            put(row, other, value, parents)


# ---------------------------------------------------------------------- who finds them
def of_seed(case, kind, rate, seed):
    """All figures of one draw of rows and of wrong labels."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(case))
    X, Y = dense(case.X[order[:N]]), case.Y[order[:N]]
    given = spoiled(Y, case.space, kind, rate, rng)
    wrong = given != Y
    found = {"wrong parts": wrong.sum(), "wrong rows": wrong.any(axis=1).sum()}
    found |= {"parts": {}, "rows": {}}
    model = ConditionalRiskMinimizer(case.space, random_state=0)
    closed = suspicious_outputs(model, X, given, cv=None)
    ours = {"closed": closed}
    if (case.name, kind, rate) == IN_FOLDS:
        ours["folds"] = suspicious_outputs(model, X, given)
    for name, one in ours.items():
        score = np.zeros(Y.shape)
        score[one.parts["row"], one.parts["part"]] = one.parts["score"]
        found["rows"][f"{name}, margin"] = judged(one.scores, wrong.any(axis=1))
        keep(found, name, score, wrong)
        place = np.zeros(Y.shape)
        place[one.parts["row"], one.parts["part"]] = -np.arange(Y.size)
        found["parts"][name] = judged(place.ravel(), wrong.ravel())
    for name, peer in (("logistic", logistic), ("forest", forest)):
        p = peer(X, given)
        keep(found, name, np.where(given == 1, 1 - p, p), wrong)
    if (case.name, kind, rate) == IN_FOLDS:
        new = dense(case.X[order[N : 2 * N]]), case.Y[order[N : 2 * N]]
        found["refit"] = refitted(model, X, Y, given, closed, new)
    return found


def keep(found, name, score, wrong):
    """Figures of parts, and of rows by the moving average."""
    found["parts"][name] = judged(score.ravel(), wrong.ravel())
    found["rows"][f"{name}, average"] = judged(1 - moving_average(1 - score), wrong.any(axis=1))


def moving_average(confidence):
    """S_1 = s_1, S_t = alpha s_t + (1 - alpha) S_{t-1} over s from the highest to the lowest."""
    falling = -np.sort(-confidence, axis=1)
    total = falling[:, 0]
    for column in falling.T[1:]:
        total = ALPHA * column + (1 - ALPHA) * total
    return total


def judged(score, wrong):
    """Precision of the first k, and average precision; shape (2,)."""
    first = np.argsort(-score, kind="stable")[: wrong.sum()]
    return wrong[first].mean(), average_precision_score(wrong, score)


def logistic(X, Y):
    """Probabilities of labels, each by itself; of a label that all or no rows have, its share."""
    P = np.tile(Y.mean(axis=0), (len(Y), 1))
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    for j in range(Y.shape[1]):
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            if 0 < Y[train, j].sum() < len(train):
                P[test, j] = model.fit(X[train], Y[train, j]).predict_proba(X[test])[:, 1]
    return P


def forest(X, Y):
    """Probabilities of all labels by one forest."""
    varied = np.flatnonzero((Y.sum(axis=0) > 0) & (Y.sum(axis=0) < len(Y)))
    P = np.tile(Y.mean(axis=0), (len(Y), 1))
    folds = KFold(5, shuffle=True, random_state=0)
    trees = RandomForestClassifier(random_state=0)
    found = cross_val_predict(trees, X, Y[:, varied], cv=folds, method="predict_proba")
    for j, p in zip(varied, found):
        P[:, j] = p[:, 1]
    return P


def refitted(model, X, Y, given, closed, new):
    """Hamming loss on other rows of models of the right table, the wrong one, and without rows."""
    wrong = (given != Y).any(axis=1)
    kept = closed.without(int(wrong.sum()))
    tables = {"right": (X, Y), "wrong": (X, given), "kept": (X[kept], given[kept])}
    return {
        name: float((np.asarray(model.fit(*table).predict(new[0])) != new[1]).mean())
        for name, table in tables.items()
    }


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


if __name__ == "__main__":
    main()
