# SPDX-License-Identifier: BSD-3-Clause
"""Tagging words: the default pipeline beside python-crfsuite, with the same features.

* ours: ``make_pipeline(TokenFeatures(), ExponentialFamily(Sequences()))``, nothing set;
* crfsuite: a conditional random field by L-BFGS, without c1; c2 of 0.01, 0.1 and 1 are compared by
  the share of right tags in a fifth of the training sentences, and the best one is trained on all.
  Once with weights for the pairs of feature and tag that training has, as it does by default, and
  once with all pairs, as ours does. Left out where python-crfsuite is missing.

Both read words and parts of speech through TokenFeatures. Chunks of CoNLL-2000, right tags and F1
of whole chunks on its 2,012 test sentences; CPU seconds of training, the choice of the penalty and
the features included, and of predicting the test sentences.

With ``--race`` both are trained on features that are made already, of sentences of CoNLL-2000, of
a Turkish treebank and of generated tokens: at the same penalty, c2 = 1 and 0.1, each until it stops
by itself. CPU seconds of training, steps of L-BFGS, the penalised log-likelihood that is reached
(of crfsuite with all pairs it is that of the same model), and ratios, in all and by step. Then ours
with its search for the penalty beside crfsuite that compares three, and beside one fit of it with a
penalty of absolute values, too, of 100 steps at most, which is another and sparser model; tagging.
With ``--dense`` tokens of 384 numbers.

Usage: python benchmarks/bench_tokens.py [--quick | --race | --dense] [--sentences N ...]
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
import tracemalloc
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

from skstruct import ExponentialFamily, TokenFeatures
from skstruct.datasets import read_data
from skstruct.datasets.files import data_file
from skstruct.datasets.sequences import load_conll2000
from skstruct.exceptions import MissingDataError
from skstruct.spaces import Sequences

C2S = (0.01, 0.1, 1.0)
ALL_PAIRS = {"feature.possible_states": True, "feature.possible_transitions": True}


class Crfsuite:
    """A random field of python-crfsuite on the features of TokenFeatures.

    Parameters
    ----------
    options : dict, of the trainer
    """

    def __init__(self, options):
        self.options = options

    def fit(self, X, y):
        self.features = TokenFeatures().fit(X)
        return self.fit_named(self._named(X), y)

    def fit_named(self, names, y):
        """Choose the penalty and train, on names of features."""
        left = np.random.default_rng(0).permutation(len(names)) % 5 == 0
        scores = {}
        for c2 in C2S:
            tagger = self._trained(_some(names, ~left), _some(y, ~left), c2)
            scores[c2] = accuracy(_some(y, left), map(tagger.tag, _some(names, left)))
        self.c2 = max(scores, key=scores.get)
        self.tagger = self._trained(names, y, self.c2)
        return self

    def predict(self, X):
        return [self.tagger.tag(x) for x in self._named(X)]

    def _named(self, X):
        """The names of the features of every token, in the form of python-crfsuite."""
        import pycrfsuite

        names = [str(name) for name in self.features.get_feature_names_out()]
        return [
            pycrfsuite.ItemSequence(
                [
                    [names[j] for j in x.indices[first:end]]
                    for first, end in zip(x.indptr[:-1], x.indptr[1:])
                ]
            )
            for x in self.features.transform(X)
        ]

    def _trained(self, names, y, c2):
        import pycrfsuite

        trainer = pycrfsuite.Trainer(verbose=False)
        for x, tags in zip(names, y):
            trainer.append(x, tags)
        trainer.set_params({"c1": 0.0, "c2": c2, "max_iterations": 1000, **self.options})
        tagger = pycrfsuite.Tagger()
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            trainer.train(path)
            tagger.open(path)
        last = trainer.logparser.last_iteration
        self.loss, self.n_iter = last["loss"], last["num"]
        return tagger


def _some(rows, chosen):
    return [rows[i] for i in np.flatnonzero(chosen)]


def accuracy(true, predicted):
    """Share of right tags."""
    return np.mean([a == b for y, z in zip(true, predicted) for a, b in zip(y, z)])


def spans(tags):
    """Chunks as (first position, position behind the end, kind).

    >>> sorted(spans(["B-NP", "I-NP", "O", "I-VP"]))
    [(0, 2, 'NP'), (3, 4, 'VP')]
    """
    found, first = set(), 0
    for t in range(1, len(tags) + 1):
        kind = tags[t - 1].partition("-")[2]
        if t < len(tags) and tags[t] == f"I-{kind}":
            continue
        if kind:
            found.add((first, t, kind))
        first = t
    return found


def chunk_f1(true, predicted):
    """F1 of whole chunks over all sentences."""
    pairs = [(spans(y), spans(z)) for y, z in zip(true, predicted)]
    right, total = (sum(len(f(y, z)) for y, z in pairs) for f in (set.intersection, _both))
    return 2 * right / total


def _both(y, z):
    return [*y, *z]


def small_corpus():
    """Phrases of a few words, where data are missing or time is short."""
    kinds = {"the": "DT", "old": "JJ", "cat": "NN", "dog": "NN", "sees": "VB", "runs": "VB"}
    chunk = {"DT": "B-NP", "JJ": "I-NP", "NN": "I-NP", "VB": "B-VP"}
    rows = product(("the old cat", "the dog"), ("sees", "runs"), ("the cat", "the old dog"))
    X = [[(word, kinds[word]) for word in " ".join(row).split()] for row in rows] * 4
    y = [[chunk[kind] for _, kind in x] for x in X]
    return X, y, X, y


def methods(n_peers):
    """Models by name, ours first."""
    found = {"ours, all defaults": make_pipeline(TokenFeatures(), ExponentialFamily(Sequences()))}
    peers = {"crfsuite": Crfsuite({}), "crfsuite, all pairs": Crfsuite(ALL_PAIRS)}
    if importlib.util.find_spec("pycrfsuite"):
        found |= dict(list(peers.items())[:n_peers])
    return found


def compare(X, y, X_test, y_test, n_peers=2):
    """A line for every method."""
    print(f"\n{len(X):,} training sentences, {sum(map(len, X)):,} tokens")
    print(f"{'':22}{'right tags':>12}{'chunk F1':>12}{'penalty':>12}{'fit s':>10}{'test s':>10}")
    for name, model in methods(n_peers).items():
        start = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        Z = model.predict(X_test)
        done = time.process_time()
        c2 = model.c2 if isinstance(model, Crfsuite) else model[-1].alpha_ * len(X)
        figures = f"{accuracy(y_test, Z):12.2%}{chunk_f1(y_test, Z):12.2%}{c2:12.3g}"
        print(f"{name:22}{figures}{fitted - start:10.1f}{done - fitted:10.1f}", flush=True)


def treebank(n):
    """The first sentences of the Turkish treebank IMST: words, and their parts of speech."""
    source = "the UD_Turkish-IMST repository of Universal Dependencies"
    found = [read_data(data_file("ud_turkish_imst", f"tr_imst-{part}.conll.xz", source=source))
             for part in ("train", "test")]  # fmt: skip
    return found[0].inputs[:n], found[0].outputs[:n], found[1].inputs


def generated(n, n_words=2000, n_tags=10):
    """Sentences of a hidden Markov chain; each tag has words of its own and some of all."""
    rng = np.random.default_rng(0)
    step = rng.dirichlet(np.full(n_tags, 0.3), n_tags).cumsum(axis=1)
    word = rng.dirichlet(np.full(n_words, 0.02), n_tags).cumsum(axis=1)
    X, y = [], []
    for length in rng.integers(5, 25, 2 * n):
        tags = [int(rng.integers(n_tags))]
        for u in rng.random(length - 1):
            tags.append(min(int(np.searchsorted(step[tags[-1]], u)), n_tags - 1))
        X.append([(f"w{np.searchsorted(word[k], rng.random()):04d}",) for k in tags])
        y.append([f"T{k}" for k in tags])
    return X[:n], y[:n], X[n:]


def race(name, X, y, X_test, n_peers=2):
    """Training at the same penalties, and with a search for it; tagging."""
    features = TokenFeatures().fit(X)
    A, B = features.transform(X), features.transform(X_test)
    has_peers = importlib.util.find_spec("pycrfsuite") is not None
    peers = {n: Crfsuite(o) for n, o in (("all pairs", ALL_PAIRS), ("seen pairs", {}))}
    peers = dict(list(peers.items())[:n_peers]) if has_peers else {}
    for peer in peers.values():
        peer.features = features
    named = next(iter(peers.values()))._named(X) if peers else None
    n_tags, n_features = len({tag for tags in y for tag in tags}), A[0].shape[1]
    print(f"\n{name}: {len(X):,} sentences, {sum(map(len, X)):,} tokens, {n_tags} tags, "
          f"{n_features:,} features")  # fmt: skip
    for c2 in (1.0, 0.1):
        crf = ExponentialFamily(Sequences(), alpha=c2 / len(X), fit_intercept=False)
        fit = seconds(lambda: crf.fit(A, y))  # noqa: B023
        objective = crf.objective_ * len(X)
        line(f"c2 = {c2:g}: ours", fit, crf.n_iter_, objective)
        for peer_name, peer in peers.items():
            took = seconds(lambda: peer._trained(named, y, c2))  # noqa: B023
            ratios = fit / took, fit / crf.n_iter_ / (took / peer.n_iter)
            line(f"  crfsuite, {peer_name}", took, peer.n_iter, peer.loss, ratios)
    chosen = ExponentialFamily(Sequences())
    fit = seconds(lambda: chosen.fit(A, y))
    line(f"ours, c2 = {chosen.alpha_ * len(X):.3g} chosen", fit)
    if peers:
        sparse = Crfsuite({"c1": 0.1, "max_iterations": 100})  # as its users often set it
        took = seconds(lambda: sparse._trained(named, y, 0.1))
        line(
            "  crfsuite, seen pairs, c1 = c2 = 0.1", took, sparse.n_iter, sparse.loss, (fit / took,)
        )
        peer_name, peer = list(peers.items())[-1]
        took = seconds(lambda: peer.fit_named(named, y))
        line(f"  crfsuite, {peer_name}, c2 = {peer.c2:g} of {len(C2S)}", took, ratios=(fit / took,))
        predict, tests = seconds(lambda: chosen.predict(B)), peer._named(X_test)
        took = seconds(lambda: [peer.tagger.tag(x) for x in tests])
        line(f"  tagging {len(X_test):,} sentences (ours {predict:.2f} s)", took,
             ratios=(predict / took,))  # fmt: skip


def line(what, fit, steps=None, objective=None, ratios=()):
    """CPU seconds, of a peer with the ratio of ours to them, in all and by step."""
    figures = "" if steps is None else f"{steps:6} steps  objective {objective:10.2f}"
    words = zip(("  ours / theirs", ", by step"), ratios)
    shown = "".join(f"{word} {ratio:.2f}" for word, ratio in words)
    print(f"{what:42}{fit:7.2f} s{figures}{shown}", flush=True)


def race_dense(n, length=10, p=384, q=20, tol=1e-3):
    """Dense tokens: training, and the peak of what it allocates over the size of the input."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, length, p))
    y = (X @ rng.standard_normal((p, q)) / 4 + rng.gumbel(size=(n, length, q))).argmax(axis=2)
    crf = ExponentialFamily(Sequences(range(q)), alpha=1 / n, tol=tol)
    tracemalloc.start()
    fit = seconds(lambda: crf.fit(X, y))
    peak = tracemalloc.get_traced_memory()[1] / X.nbytes
    tracemalloc.stop()
    predict = seconds(lambda: crf.predict(X))
    print(f"\n{n * length:,} dense tokens of {p}: fit {fit:.2f} s, {crf.n_iter_} steps, allocates "
          f"{peak:.2f} of the input; predict {predict:.2f} s", flush=True)  # fmt: skip


def seconds(call):
    """CPU seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few phrases only")
    parser.add_argument("--race", action="store_true", help="equal penalties, features made before")
    parser.add_argument("--dense", action="store_true", help="tokens of 384 numbers")
    parser.add_argument("--sentences", type=int, nargs="+", default=[1000], help="of training")
    parser.add_argument("--peers", type=int, default=2, help="how many of them take part")
    options = parser.parse_args()
    small = small_corpus()
    compiled = make_pipeline(TokenFeatures(), ExponentialFamily(Sequences(), alpha=0.1))
    compiled.fit(*small[:2]).predict(small[2])  # compiles
    if options.quick:
        compare(*small, options.peers)
        race("phrases", *small[:3], n_peers=options.peers)
        race_dense(50)
        return
    if options.dense:
        race_dense(20_000)
        return
    try:
        data = load_conll2000()
    except MissingDataError as error:
        print(error)
        return
    for n in options.sentences:
        train = data.train[:n], data.train_tags[:n]
        if options.race:
            race("CoNLL-2000", *train, data.test, options.peers)
            race("Turkish IMST", *treebank(3 * n), options.peers)  # its sentences are short
            race("generated", *generated(n), options.peers)
        else:
            compare(*train, data.test, data.test_tags, options.peers)


if __name__ == "__main__":
    main()
