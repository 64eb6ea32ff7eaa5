# SPDX-License-Identifier: BSD-3-Clause
"""Methods of papers/missing_labels.py: of a case, inputs, outputs with gaps, and new inputs."""

import numpy as np
from scipy import sparse

from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.spaces import LabelSets, Sequences


def ours(case, X, Z, X_test, kept):
    loss = "f1" if case.task in ("labels", "hierarchy") else None
    return ConditionalRiskMinimizer(case.space, loss, random_state=0).fit(X, Z).predict(X_test)


def zeros(case, X, Z, X_test, kept):
    return ours(case, X, np.nan_to_num(Z).astype(int), X_test, kept)


def closed_zeros(case, X, Z, X_test, kept):
    """Labels of a hierarchy without those whose parents are not in."""
    Z = np.nan_to_num(Z).astype(int)
    for child, parent in _downwards(case.space.dag_):
        Z[:, child] &= Z[:, parent]
    return ours(case, X, Z, X_test, kept)


def _downwards(dag):
    return [(j, p) for j in dag.order for p in dag.parents_of[j]]


def whole_rows(case, X, Z, X_test, kept):
    whole = np.flatnonzero(~np.isnan(np.asarray(Z, dtype=float)).any(axis=1))
    if len(whole) < 20:
        return None
    return ours(case, X[whole], np.asarray(Z)[whole].astype(int), X_test, kept)


def majority(case, X, Z, X_test, kept):
    Z = np.array(Z, dtype=float)
    more = np.nanmean(Z, axis=0) > 0.5
    Z = np.where(np.isnan(Z), more, Z).astype(int)
    if case.task == "hierarchy":
        return closed_zeros(case, X, Z, X_test, kept)
    return ours(case, X, Z, X_test, kept)


def imputed(case, X, Z, X_test, kept):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    Z = np.array(Z, dtype=float)
    X, X_test = dense(X), dense(X_test)
    if np.isnan(Z).any():
        if X.shape[1] > 200 or Z.shape[1] > 100:
            return None  # it regresses every column on all others
        both = IterativeImputer(max_iter=5, random_state=0).fit_transform(np.hstack([X, Z]))
        Z = both[:, X.shape[1] :] > 0.5
    forest = RandomForestClassifier(200, n_jobs=1, random_state=0)
    return forest.fit(X, np.asarray(Z).astype(int)).predict(X_test)


def boosting(case, X, Z, X_test, kept):
    from sklearn.ensemble import HistGradientBoostingClassifier

    Z, X, X_test = np.array(Z, dtype=float), dense(X), dense(X_test)
    if Z.shape[1] > 100:
        return None  # a model for each label
    found = np.zeros((len(X_test), Z.shape[1]), int)
    for j, z in enumerate(Z.T):
        known = ~np.isnan(z)
        if len(np.unique(z[known])) < 2:
            found[:, j] = z[known][:1].astype(int) if known.any() else 0
            continue
        model = HistGradientBoostingClassifier(max_iter=50, random_state=0)
        found[:, j] = model.fit(X[known], z[known].astype(int)).predict(X_test)
    return found


def with_propensity(case, X, Z, X_test, kept):
    space = LabelSets(propensity=kept)
    return ConditionalRiskMinimizer(space, "f1", random_state=0).fit(X, Z).predict(X_test)


def smile(case, X, Z, X_test, kept):
    try:
        from skmultilearn.missing import SMiLE
    except ImportError:
        return None
    model = SMiLE().fit(dense(X), np.asarray(Z))
    # As its predict(), which arrays of NumPy 2 stop.
    return (dense(X_test) @ model.P + np.ravel(model.b) > 0.5).astype(int)


def dense(X):
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


# ---------------------------------------------------------------------- rankings, sentences


def whole_rankings(case, X, Z, X_test, kept):
    whole = np.flatnonzero(~np.isnan(np.asarray(Z, dtype=float)).any(axis=1))
    return ours(case, X[whole], np.asarray(Z)[whole], X_test, kept) if len(whole) >= 10 else None


def last_ranks(case, X, Z, X_test, kept):
    """Items that are not ranked come last."""
    Z = np.array(Z, dtype=float)
    return ours(case, X, np.where(np.isnan(Z), float(Z.shape[1]), Z), X_test, kept)


def tags(case, X, Z, X_test, kept):
    return _tagger(case).fit(X, Z).predict(X_test)


def _tagger(case):
    symbols = sorted({tag for row in case.Y for tag in row})
    return ExponentialFamily(Sequences(symbols), alpha=1e-4)


def most_frequent_tag(case, X, Z, X_test, kept):
    values, counts = np.unique([t for row in Z for t in row if t is not None], return_counts=True)
    common = str(values[counts.argmax()])
    filled = [[common if t is None else t for t in row] for row in Z]
    return tags(case, X, filled, X_test, kept)


def whole_sentences(case, X, Z, X_test, kept):
    whole = [i for i, row in enumerate(Z) if None not in row]
    if len(whole) < 5:
        return None
    return _tagger(case).fit([X[i] for i in whole], [Z[i] for i in whole]).predict(X_test)


LABELS = {"ours": ours, "zeros": zeros, "whole rows": whole_rows, "majority": majority,
          "imputed": imputed, "boosting": boosting}  # fmt: skip
AT_RANDOM = {
    "labels": LABELS,
    "hierarchy": {**LABELS, "zeros": closed_zeros},
    "ranking": {"ours": ours, "last": last_ranks, "whole rows": whole_rankings},
    "sequence": {"ours": tags, "frequent tag": most_frequent_tag, "whole rows": whole_sentences},
}
POSITIVES = {"ours": with_propensity, "zeros": ours, "SMiLE": smile}
