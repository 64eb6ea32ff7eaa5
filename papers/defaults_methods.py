# SPDX-License-Identifier: BSD-3-Clause
"""The peers of each task in papers/defaults.py, as methods that answer for every measure."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import combinations

import numpy as np
from defaults_decisions import decide
from defaults_label_peers import FORESTS, LABEL_PEERS, LOGISTIC, SVM
from defaults_ours import Answer, Method, cpu_seconds
from defaults_regression_peers import RANK_PEERS, REGRESSION_PEERS
from defaults_token_peers import CLASS_PEERS, crf_answers, token_answers
from scipy.stats import rankdata
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from skstruct.learners import NeighborLabelRanker

# ---------------------------------------------------------------------- labels and hierarchies


def label_method(peer):
    def answers(case, X, Y, X_test):
        start = cpu_seconds()
        left_out, P, setting = peer.probabilities(X, Y, X_test)
        shared = cpu_seconds() - start
        dag = case.space.dag_ if case.task == "hierarchy" else None
        for measure in case.measures:
            start = cpu_seconds()
            predicted, how = decide(left_out, Y, P, measure, dag)
            yield Answer(
                measure.name, predicted, shared + cpu_seconds() - start, f"{setting}; {how}"
            )

    return Method(peer.name, answers, lambda case, X, Y: peer.fits(X, Y))


def set_method(name, peer):
    """A classifier whose classes are the label sets of training."""

    def answers(case, X, Y, X_test):
        start = cpu_seconds()
        sets, number = np.unique(Y, axis=0, return_inverse=True)
        search = peer.search(X, number.ravel()).fit(X, number.ravel())
        predicted = sets[search.predict(X_test)]
        seconds, chosen = cpu_seconds() - start, str(search.best_params_)
        for measure in case.measures:
            if measure.rows is not None:
                yield Answer(measure.name, predicted, seconds, chosen)

    return Method(name, answers)


def one_path_answers(case, X, Y, X_test):
    """HiClass, one classifier per parent; logistic regression or a forest by a held-out third."""
    from one_path import hiclass_predictions

    start, third = cpu_seconds(), len(Y) // 3
    bases = [LogisticRegression(max_iter=300), RandomForestClassifier(100, random_state=0)]

    def right(base):
        found = hiclass_predictions(X[third:], Y[third:], X[:third], case.space, base)
        return (found == Y[:third]).all(axis=1).mean()

    best = max(bases, key=right)
    predicted = hiclass_predictions(X, Y, X_test, case.space, best).astype(int)
    seconds = cpu_seconds() - start
    for measure in case.measures:
        if measure.rows is not None:
            yield Answer(measure.name, predicted, seconds, type(best).__name__)


def has_one_path(case, X, Y):
    """Whether every row is one path from a root to a leaf, and HiClass is there."""
    dag = case.space.dag_
    n_above = np.asarray((dag.ancestors > 0).sum(axis=1)).ravel()  # a label is its own ancestor
    lengths = Y[:, dag.leaves] @ n_above[dag.leaves]
    one_leaf = Y[:, dag.leaves].sum(axis=1) == 1
    return find_spec("hiclass") is not None and bool(
        one_leaf.all() and (lengths == Y.sum(axis=1)).all()
    )


# ---------------------------------------------------------------------- rankings


def pair_method(peer):
    """Ranking by pairwise comparison: a classifier for each pair of items, whose votes add up."""

    def answers(case, X, Y, X_test):
        start = cpu_seconds()
        first, second = np.array(list(combinations(range(Y.shape[1]), 2))).T
        before = (Y[:, first] < Y[:, second]).astype(int)
        _, P, setting = peer.probabilities(X, before, X_test)
        votes = np.zeros((len(P), Y.shape[1]))
        for k, (a, b) in enumerate(zip(first, second)):
            votes[:, a] += P[:, k]
            votes[:, b] += 1 - P[:, k]
        ranks = rankdata(-votes, method="ordinal", axis=1)
        seconds = cpu_seconds() - start
        for measure in case.measures:
            yield Answer(measure.name, ranks, seconds, setting)

    def fits(case, X, Y):
        return X.shape[0] * X.shape[1] * Y.shape[1] ** 2 / 2 <= peer.largest

    return Method(f"pairs, {peer.name}", answers, fits)


def neighbor_ranker_answers(case, X, Y, X_test):
    """Instance-based label ranking; the number of neighbors is chosen by leaving out rows."""
    for measure in case.measures:
        start = cpu_seconds()
        ranks = NeighborLabelRanker(case.space, measure.loss).fit(X, Y).predict(X_test)
        yield Answer(measure.name, ranks, cpu_seconds() - start)


# ---------------------------------------------------------------------- numbers, classes, symbols


def regression_method(peer, finish):
    def answers(case, X, Y, X_test):
        for measure, predicted, seconds, chosen in peer.predictions(
            X, Y, X_test, case.measures, finish, cpu_seconds
        ):
            yield Answer(measure, predicted, seconds, chosen)

    return Method(peer.name, answers, lambda case, X, Y: peer.fits(X, Y))


def ranks_of(scores):
    return rankdata(scores, method="ordinal", axis=1)


def class_method(peer):
    def answers(case, X, Y, X_test):
        start = cpu_seconds()
        search = peer.search(X, Y).fit(X, Y)
        predicted, chosen = search.predict(X_test), str(search.best_params_)
        seconds = cpu_seconds() - start
        for measure in case.measures:
            yield Answer(measure.name, predicted, seconds, chosen)

    return Method(peer.name, answers)


def token_method(name, function, fits):
    def answers(case, X, Y, X_test):
        start = cpu_seconds()
        predicted, chosen = function(X, Y, X_test)
        seconds = cpu_seconds() - start
        for measure in case.measures:
            yield Answer(measure.name, predicted, seconds, chosen)

    return Method(name, answers, fits)


def peers_of(task) -> list[Method]:
    """Those that a user of scikit-learn would pick for a task."""
    if task in ("labels", "hierarchy"):
        found = [label_method(peer) for peer in LABEL_PEERS]
        by_name = {peer.name: peer for peer in CLASS_PEERS}
        found.append(set_method("forest of sets", by_name["random forest"]))
        found.append(set_method("SVM of sets", by_name["kernel SVM"]))
        return found + [Method("HiClass", one_path_answers, has_one_path)] * (task == "hierarchy")
    if task == "ranking":
        found = [pair_method(peer) for peer in (LOGISTIC, SVM, FORESTS[0])]
        found += [regression_method(peer, ranks_of) for peer in RANK_PEERS]
        return [*found, Method("IBLR", neighbor_ranker_answers)]
    if task == "quantities":
        return [regression_method(peer, lambda Z: Z) for peer in REGRESSION_PEERS]
    if task == "classes":
        return [class_method(peer) for peer in CLASS_PEERS]
    found = [
        token_method(f"{peer.name} per token", token_answers(peer), peer.fits_tokens)
        for peer in CLASS_PEERS
    ]
    return [*found, token_method("crfsuite", crf_answers, has_crfsuite)]


def has_crfsuite(case, X, Y):
    return find_spec("pycrfsuite") is not None
