# SPDX-License-Identifier: BSD-3-Clause
"""Other ways to decode chains: NumPy row by row, NumPy length by length, python-crfsuite."""

from __future__ import annotations

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np


def chains_row_by_row(unary, starts, transitions):
    """A loop over rows and positions; all symbols of a position at once."""
    symbols = np.empty(len(unary), np.int64)
    for first, end in pairwise(starts):
        value, back = unary[first], []
        for i in range(first + 1, end):
            sums = value[:, None] + transitions[min(i, len(transitions) - 1)]
            back.append(sums.argmin(axis=0))
            value = sums.min(axis=0) + unary[i]
        symbols[end - 1] = value.argmin()
        for i in range(end - 1, first, -1):
            symbols[i - 1] = back[i - 1 - first][symbols[i]]
    return symbols


def chains_by_length(unary, starts, transitions):
    """A loop over positions; all rows of one length at once."""
    symbols = np.empty(len(unary), np.int64)
    lengths = np.diff(starts)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        at = starts[rows][:, None] + np.arange(length)
        value, back = unary[at[:, 0]], []
        for t in range(1, length):
            steps = transitions if len(transitions) == 1 else transitions[at[:, t]]
            sums = value[:, :, None] + steps
            back.append(sums.argmin(axis=1))
            value = sums.min(axis=1) + unary[at[:, t]]
        symbols[at[:, -1]] = value.argmin(axis=1)
        for t in range(length - 1, 0, -1):
            symbols[at[:, t - 1]] = back[t - 1][np.arange(len(rows)), symbols[at[:, t]]]
    return symbols


class CrfTagger:
    """A conditional random field of python-crfsuite, with its scores as costs of chains."""

    def __init__(self, X, Y, n_steps=30):
        import pycrfsuite

        trainer = pycrfsuite.Trainer(verbose=False)
        for x, y in zip(X, Y):
            trainer.append(pycrfsuite.ItemSequence(x), y)
        trainer.set_params({"max_iterations": n_steps})
        self.tagger, self.sequence = pycrfsuite.Tagger(), pycrfsuite.ItemSequence
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            trainer.train(path)
            self.tagger.open(path)
            self.info = self.tagger.info()
        self.labels = self.tagger.labels()

    def prepare(self, X):
        return [self.sequence(x) for x in X]

    def tag(self, sequences):
        return [self.tagger.tag(x) for x in sequences]

    def score(self, sequences):
        """Scores from features, without the Viterbi recursion."""
        for x in sequences:
            self.tagger.set(x)

    def costs(self, X):
        """Minus the scores: symbols (N, q) and transitions (1, q, q)."""
        number = {label: i for i, label in enumerate(self.labels)}
        rows = {}
        for (name, label), weight in self.info.state_features.items():
            rows.setdefault(name, np.zeros(len(number)))[number[label]] = weight
        none = np.zeros(len(number))
        unary = np.array([sum((rows.get(f, none) for f in token), none) for x in X for token in x])
        transitions = np.zeros((1, len(number), len(number)))
        for (before, after), weight in self.info.transitions.items():
            transitions[0, number[before], number[after]] = weight
        return -unary, -transitions


def window(sentence):
    """Names of features of every token: words and parts of speech two to each side."""
    padded = [("", "")] * 2 + list(sentence) + [("", "")] * 2
    return [
        [f"{k}{j}={padded[t + j][k]}" for j in range(5) for k in (0, 1)]
        for t in range(len(sentence))
    ]
