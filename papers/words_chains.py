# SPDX-License-Identifier: BSD-3-Clause
"""Chains of letters for papers/words.py: ours, and a conditional random field of crfsuite."""

from __future__ import annotations

import itertools

import numpy as np

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.losses import SequenceHamming
from skstruct.spaces import Sequences

OWN, WINDOW = (1.0,), (1.0,) + (0.5,) * 5  # weights of images in the kernel, by distance
GAMMAS = {OWN: (0.03, 0.06), WINDOW: (0.005, 0.01)}
ALPHAS, BIGRAMS = (0.1, 0.3), (0.0, 0.5, 1.0, 2.0, 4.0)
PENALTIES = (1.0, 10.0)  # of crfsuite


def errors(predicted, true):
    """Share of wrong words, and wrong letters (padded) by the number of true ones."""
    wrong = [distance(a, b) for a, b in zip(predicted, true)]
    return float(np.mean(np.array(wrong) > 0)), float(np.sum(wrong) / sum(map(len, true)))


def distance(a, b):
    """Wrong letters, where the shorter word is padded."""
    return sum(s != t for s, t in zip(a, b)) + abs(len(a) - len(b))


def windows(images, weights):
    """Each letter with its neighbours, zeros beyond the ends: (n_letters, (2 k + 1) * 128)."""
    reach = len(weights) - 1
    scales = np.sqrt([weights[abs(shift)] for shift in range(-reach, reach + 1)])
    padded = [np.pad(image, ((reach, reach), (0, 0))) for image in images]
    return [
        np.hstack([scale * a[k : k + len(image)] for k, scale in enumerate(scales)])
        for a, image in zip(padded, images)
    ]


def halves(n):
    """Rows to fit and rows to choose by: four fifths and one, at random."""
    order = np.random.default_rng(0).permutation(n)
    return order[n // 5 :], order[: n // 5]


def chain(train, test, weights):
    """Kernel ridge regression of letters and bigrams from windows, and Viterbi."""
    X, X_test = windows(train.images, weights), windows(test.images, weights)
    fitted, held = halves(len(X))
    trials = []
    for gamma, alpha in itertools.product(GAMMAS[weights], ALPHAS):
        model = _chain(gamma, alpha, 1.0)
        model.fit([X[i] for i in fitted], [train.words[i] for i in fitted])
        for w in BIGRAMS:
            outputs = model.predict([X[i] for i in held], loss=SequenceHamming(bigrams=w))
            letters = errors(outputs, [train.words[i] for i in held])[1]
            trials.append((letters, gamma, alpha, w))
    _, gamma, alpha, w = min(trials)
    model = _chain(gamma, alpha, w).fit(X, train.words)
    return errors(model.predict(X_test), test.words), f"gamma {gamma}, alpha {alpha}, w {w:g}"


def _chain(gamma, alpha, w):
    return ConditionalRiskMinimizer(
        Sequences(), SequenceHamming(bigrams=w), alpha=alpha, kernel=RBF(gamma)
    )


def random_field(train, test, weights):
    """crfsuite on pixels, with those of the neighbours where there are weights for them."""
    names = [f"{shift}:{pixel}" for shift in range(2 * len(weights) - 1) for pixel in range(128)]
    tokens = [[[names[j] for j in np.flatnonzero(row)] for row in image]
              for image in windows(train.images, weights)]  # fmt: skip
    fitted, held = halves(len(tokens))
    trials = []
    for c2 in PENALTIES:
        tag = _train_field([tokens[i] for i in fitted], [train.words[i] for i in fitted], c2)
        outputs = [tag(tokens[i]) for i in held]
        trials.append((errors(outputs, [train.words[i] for i in held])[1], c2))
    _, c2 = min(trials)
    tag = _train_field(tokens, train.words, c2)
    outputs = [tag([[names[j] for j in np.flatnonzero(row)] for row in image])
               for image in windows(test.images, weights)]  # fmt: skip
    return errors(outputs, test.words), f"c2 {c2:g}"


def _train_field(tokens, words, c2):
    import tempfile
    from pathlib import Path

    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": c2, "max_iterations": 100})
    for items, word in zip(tokens, words):
        trainer.append(items, list(word))
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger.open(path)
    return lambda items: "".join(tagger.tag(items))


def has_crfsuite():
    try:
        import pycrfsuite  # noqa: F401
    except ImportError:
        return False
    return True
