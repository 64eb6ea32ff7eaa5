# SPDX-License-Identifier: BSD-3-Clause
"""Text chunking: the shared task of CoNLL-2000 (Tjong Kim Sang and Buchholz, 2000).

Train on 8,936 sentences, test on 2,012; 22 tags such as B-NP and I-NP; the measure is the F1 of
whole chunks. Both methods see the same features of each token: words and parts of speech two to
each side, their pairs at most two apart, runs of three parts of speech, suffixes, a prefix and
the shape of the word. Features that only one token has are dropped.

* ours: ridge regression of the tag and of the bigram of tags on the features of a token; the
  chain of least estimated wrong tags + w * wrong bigrams, by the Viterbi recursion. Bigrams that
  do not occur in training are forbidden, and I-X anywhere but behind B-X or I-X;
* crfsuite: a linear-chain conditional random field with python-crfsuite, L-BFGS. Left out where
  python-crfsuite is missing.

The penalty and w, and the penalty c2 of crfsuite, are chosen by training on 3,000 of the training
sentences and predicting 1,500 others of them. Times are CPU seconds, which include reading
the features into the form that each method needs.

Published, for comparison (F1 in percent): 93.48 by Kudo and Matsumoto (2000), the best system of
the task, 93.91 by the same (2001), 94.13 by Zhang, Damerau and Johnson (2001).

Usage: python papers/chunking.py [--quick] [--sentences N] [--methods NAME ...]
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import tempfile
import time
from collections import Counter
from functools import partial
from itertools import chain, combinations, pairwise
from pathlib import Path

import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.sequences import load_conll2000
from skstruct.exceptions import MissingDataError
from skstruct.losses import SequenceHamming
from skstruct.smoothing import LinearRidge
from skstruct.spaces import Sequences

TOL = 0.03  # far from solved to the end; more steps do not decide better
ALPHAS, BIGRAMS = (1.0, 2.0, 4.0), (0.1, 0.25, 0.5, 1.0)
C2S, CRF_STEPS = (0.1, 0.3, 1.0), 100
N_CHOICE = 4500
REACH = 2  # tokens to each side
# Pairs of positions in words (0 to 4), then parts of speech (5 to 9): at most two apart, two words
# only when next to each other.
PAIRS = [
    (a, b)
    for a, b in combinations(range(10), 2)
    if abs(a % 5 - b % 5) <= (1 if b < 5 else 2)
]  # fmt: skip


def features(sentence):
    """Names of the features of each (word, part of speech)."""
    before, behind = [("<", "<")] * REACH, [(">", ">")] * REACH
    padded = before + [(word.lower(), speech) for word, speech in sentence] + behind
    tokens = []
    for t, (word, _) in enumerate(sentence):
        around = padded[t : t + 2 * REACH + 1]
        near = [f"w{k}={w}" for k, (w, _) in enumerate(around)]
        near += [f"p{k}={p}" for k, (_, p) in enumerate(around)]
        lower = around[REACH][0]
        own = [f"word={word}", f"shape={shape(word)}", f"prefix={lower[:2]}"]
        own += [f"suffix{k}={lower[-k:]}" for k in (1, 2, 3)]
        pairs = [near[a] + "|" + near[b] for a, b in PAIRS]
        runs = ["|".join(near[k : k + 3]) for k in (5, 6, 7)]
        tokens.append(near + own + pairs + runs)
    return tokens


def shape(word):
    """Kinds of characters, runs of a kind once.

    >>> shape("McDonald's"), shape("1,250-seat")
    ("XxXx'x", 'd,d-x')
    """
    kinds = re.sub(r"[a-z]+", "x", word)
    return re.sub(r"[A-Z]+", "X", re.sub(r"\d+", "d", kinds))


def frequent(X, least=2):
    """The features that at least so many tokens have."""
    counts = Counter(chain.from_iterable(chain.from_iterable(X)))
    names = {name: name for name, count in counts.items() if count >= least}  # one copy of each
    return [[[names[name] for name in token if name in names] for token in x] for x in X]


# ---------------------------------------------------------------------- what counts


def chunks(tags):
    """First position, position behind the end, and kind of each chunk, as conlleval counts.

    A chunk begins at B-X, and at I-X behind anything but B-X or I-X.

    >>> sorted(chunks(["B-NP", "I-NP", "B-NP", "O", "I-VP", "I-PP"]))
    [(0, 2, 'NP'), (2, 3, 'NP'), (4, 5, 'VP'), (5, 6, 'PP')]
    """
    found, first, inside = set(), 0, None
    for t, tag in enumerate([*tags, "O"]):
        prefix, _, kind = tag.partition("-")
        if inside is not None and (prefix != "I" or kind != inside):
            found.add((first, t, inside))
            inside = None
        if prefix != "O" and inside is None:
            first, inside = t, kind
    return found


def chunk_f1(true, predicted):
    """Precision, recall and F1 of chunks over all sentences.

    >>> chunk_f1([["B-NP", "I-NP", "B-VP"]], [["B-NP", "B-NP", "B-VP"]])
    (0.3333333333333333, 0.5, 0.4)
    """
    pairs = [(chunks(y), chunks(z)) for y, z in zip(true, predicted, strict=True)]
    right = sum(len(y & z) for y, z in pairs)
    n_true, n_predicted = (sum(map(len, sets)) for sets in zip(*pairs))
    return right / n_predicted, right / n_true, 2 * right / (n_true + n_predicted)


def accuracy(true, predicted):
    return np.mean([a == b for y, z in zip(true, predicted) for a, b in zip(y, z)])


# ---------------------------------------------------------------------- conditional risk


def forbidden(Y):
    """Bigrams of tags that do not occur, or make no chunk; None stands for the beginning."""
    tags = sorted(set(chain.from_iterable(Y)))
    seen = {pair for y in Y for pair in pairwise(y)}
    goes_on = {tag: {"B" + tag[1:], tag} for tag in tags if tag[0] == "I"}
    pairs = [
        (a, b) for a in tags for b in tags
        if (a, b) not in seen or a not in goes_on.get(b, {a})
    ]  # fmt: skip
    return pairs + [(None, tag) for tag in goes_on]


def fit_risk(X, Y, alpha, bigrams=0.5):
    smoother = LinearRidge(alpha, tol=TOL, dtype=np.float32, n_jobs=2)
    loss = SequenceHamming(bigrams=bigrams)
    model = ConditionalRiskMinimizer(Sequences(), loss, smoother=smoother).fit(X, Y)
    return partial(model.predict, restrict={"forbidden": forbidden(Y)})


def choose_risk(train, held):
    """Alpha and w of highest F1 on the sentences held out."""
    trials = []
    for alpha in ALPHAS:
        predict = fit_risk(*train, alpha)
        for bigrams in BIGRAMS:
            predicted = predict(held[0], loss=SequenceHamming(bigrams=bigrams))
            trials.append((chunk_f1(held[1], predicted)[2], alpha, bigrams))
            print("  held out: F1 {:.4f} with alpha {:g}, w {:g}".format(*trials[-1]), flush=True)
    return max(trials)[1:]


# ---------------------------------------------------------------------- conditional random field


def fit_crf(X, Y, c2):
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(X, Y):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    trainer.set_params({"c1": 0.0, "c2": c2, "max_iterations": CRF_STEPS})
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger.open(path)
    return lambda X: [tagger.tag(x) for x in X]


def choose_crf(train, held):
    trials = []
    for c2 in C2S:
        predict = fit_crf(*train, c2)
        trials.append((chunk_f1(held[1], predict(held[0]))[2], c2))
        print("  held out: F1 {:.4f} with c2 {:g}".format(*trials[-1]), flush=True)
    return max(trials)[1:]


# ---------------------------------------------------------------------- all of them


def timed(call, *arguments):
    start = time.process_time()
    return call(*arguments), time.process_time() - start


def compare(methods, parts):
    """Choose on the sentences held out, train on all, test."""
    whole, train, held, test = parts
    plans = {
        "ours": (choose_risk, fit_risk),
        "crfsuite": (choose_crf, fit_crf),
    }
    lines = []
    for name in methods:
        choose, fit = plans[name]
        print(f"\n{name}")
        parameters, spent = timed(choose, train, held)
        predict, fitting = timed(fit, *whole, *parameters)
        predicted, testing = timed(predict, test[0])
        measures = *chunk_f1(test[1], predicted), accuracy(test[1], predicted)
        line = f"{name:12s}" + "".join(f"{value:10.4f}" for value in measures)
        lines.append(line + "".join(f"{value:10.1f}" for value in (spent, fitting, testing)))
        print(lines[-1], flush=True)
    return lines


def parts_of(data, n_sentences):
    """Features and tags of: training, a part of it, another part held out, testing."""
    X, Y = [features(x) for x in data.train[:n_sentences]], data.train_tags[:n_sentences]
    chosen = np.random.default_rng(0).permutation(len(X))[:N_CHOICE]
    third = len(chosen) // 3
    held, train = (
        ([X[i] for i in rows], [Y[i] for i in rows]) for rows in (chosen[:third], chosen[third:])
    )
    test = [features(x) for x in data.test], data.test_tags
    return (frequent(X), Y), (frequent(train[0]), train[1]), held, test


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="1,000 training sentences")
    parser.add_argument("--sentences", type=int, help="training sentences")
    parser.add_argument("--methods", nargs="+", default=["ours", "crfsuite"])
    arguments = parser.parse_args()
    print(__doc__.partition("Usage:")[0].strip(), "\n", flush=True)
    try:
        data = load_conll2000()
    except MissingDataError as error:
        print(error)
        return
    methods = arguments.methods
    if "crfsuite" in methods and importlib.util.find_spec("pycrfsuite") is None:
        print("python-crfsuite is not installed: left out")
        methods = [name for name in methods if name != "crfsuite"]
    n_sentences = arguments.sentences or (1000 if arguments.quick else None)
    parts, seconds = timed(parts_of, data, n_sentences)
    print(f"Features of {len(parts[0][0])} training and {len(parts[3][0])} test sentences: "
          f"{seconds:.0f} s")  # fmt: skip
    lines = compare(methods, parts)
    heads = ("precision", "recall", "F1", "tags", "choose, s", "train, s", "test, s")
    print("\n" + " " * 12 + "".join(f"{head:>10s}" for head in heads))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
