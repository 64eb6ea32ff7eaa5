# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten words: Table 1 of Giguère, Laviolette, Marchand and Sylla (2013).

6,877 words (55 distinct ones) of 3 to 14 letters of 16 by 8 pixels, in ten published parts.
Protocol of Taskar et al. (2004): train on one part, test on the other nine, ten times. Means over
the ten parts with standard errors; the paper prints deviations, about three times as large.

The input is the whole word, 14 * 128 pixels with zeros behind its end, divided by its norm; the
kernel is k(x, x') = <x, x'>^d, so that k(x, x) = 1 as the bounds ask. Output kernels are Dirac
and Hamming: 14 minus the distance of padded words. (The printed one, the longer length minus the
distance, is not positive definite if the distance is that of the common part.)
SORR is ridge regression, SOSC the regression of bounded coefficients; a prediction is the nearest
of the words seen in training.

The rule: d (1 to 4), C, and the radius of SOSC are chosen on the training part only, by the loss of
predictions for left-out words, each word by itself in closed form for C, five folds for the radius;
of equal ones the lower degree, then the larger penalty or the smaller radius. A count of wrong
words among some 700 has many ties. Rows with a * let the squared error of left-out words decide
these, as the library does: that was settled when figures on test words had been seen, so that
they do not count as chosen beforehand. "by squared error" chooses by the squared distance in the
output kernel's space alone, which is what the bounds are about. "length given" leaves out
candidates of another length than the image, which shows it.

The default is ConditionalRiskMinimizer() on the same inputs: words are classes under the 0/1 loss,
and with the number of wrong letters as its loss beside the Hamming kernel.

"nine parts" trains on nine and tests on one, with degree 2 and C = 100: the errors are far below
the paper's, whose figures must be of training on one part.

Chains know no list of words: they label each letter from its image and those around it. As they
take longer, only on the first part.
* ours: conditional risk under wrong letters + w * wrong bigrams, kernel ridge regression of both
  on a window of images, Viterbi; kernel width, penalty and w by a fifth of the training words.
  The window, five images to each side, was settled in trials on this part that showed test
  figures too: from two images on wider was better, up to seven;
* crfsuite: a linear conditional random field on the pixels, its penalty by the same fifth; from
  the letter's own image, and from the same window. Left out where python-crfsuite is missing.

Usage: python papers/words.py [--jobs N] [--only WORD] [--kept FOLDER] [--anew]
"""

from __future__ import annotations

from functools import partial

import numpy as np
from keeping import Figure, arguments, results, summary
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.preprocessing import normalize
from words_chains import OWN, WINDOW, chain, distance, errors, has_crfsuite, random_field

from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor
from skstruct.datasets.images import WordImages, load_ocr_words
from skstruct.kernels import Dirac, HammingKernel
from skstruct.smoothing import KernelRidge, SampleCompression

N_PARTS, LONGEST = 10, 14
DEGREES = (1, 2, 3, 4)
CS = np.logspace(0, 4, 13)
KERNELS = {"Dirac": Dirac(), "Hamming": HammingKernel(length=LONGEST)}
PAPER = {
    "Dirac, SORR": ("0.0539 ± .0087", "0.0294 ± .0067"),
    "Dirac, SOSC": ("0.0525 ± .0085", "0.0285 ± .0062"),
    "Hamming, SORR": ("0.0871 ± .0078", "0.0370 ± .0047"),
    "Hamming, SOSC": ("0.0871 ± .0078", "0.0367 ± .0049"),
}
CHAINS = {
    "chain, ours, own image": (chain, OWN),
    "chain, crfsuite, own image": (random_field, OWN),
    "chain, ours, window": (chain, WINDOW),
    "chain, crfsuite, window": (random_field, WINDOW),
}


def parts(fold, reverse=False):
    """Words to train on and to test on: one part and nine, or the reverse."""
    data = load_ocr_words()
    inside = (data.folds == fold) != reverse
    return [WordImages([data.images[i] for i in rows], [data.words[i] for i in rows],
                       data.folds[rows])
            for rows in (np.flatnonzero(inside), np.flatnonzero(~inside))]  # fmt: skip


def inputs(data):
    """Word images of unit norm, shape (n_words, LONGEST * 128)."""
    vectors = data.padded()
    return normalize(np.pad(vectors, ((0, 0), (0, 128 * LONGEST - vectors.shape[1]))))


def power(degree):
    return partial(polynomial_kernel, degree=degree, gamma=1.0, coef0=0.0)


def degree_of(kernel):
    return kernel.keywords["degree"]


def by_squared_error(X, words, kernel):
    """Degree and C of least squared distance on left-out words, in the kernel's space."""
    names, number = np.unique(words, return_inverse=True)
    targets, K = np.eye(len(names))[number], kernel.fit(words)(names.tolist())
    trials = []
    for degree in DEGREES:
        ridge = KernelRidge(power(degree), 1.0, fit_intercept=False, solver="spectral")
        paths = ridge.fit(X, targets).loo_path(1 / CS)
        for C, left in zip(CS, paths):
            trials.append((np.sum((left - targets) @ K * (left - targets)), degree, C))
    _, degree, C = min(trials)
    return {"kernel": power(degree), "alpha": 1 / C}


def smoothest(trials):
    """Of the trials of least loss: the lowest degree, then the strongest restriction."""
    least = min(trial["risk"] for trial in trials)
    best = [trial for trial in trials if np.isclose(trial["risk"], least)]
    # Penalties restrict more the larger they are, radii the smaller.
    return min(best, key=lambda t: (degree_of(t["kernel"]), -t.get("alpha", 0), t.get("radius", 0)))


def settings_of(trial):
    if "radius" in trial:
        return {"kernel": trial["kernel"], "method": SampleCompression(radius=trial["radius"])}
    return {"kernel": trial["kernel"], "alpha": trial["alpha"]}


def right_length(model, X, lengths):
    """The best word of the length of the image."""
    ranked = model.kbest(X, k=len(model.space_.labels_)).outputs
    return [next(word for word in words if len(word) == length)
            for words, length in zip(zip(*ranked), lengths)]  # fmt: skip


def regression(fold, name, method):
    """Errors of one method in one part, by row of the table, with what was chosen."""
    train, test = parts(fold)
    X, X_test, words = inputs(train), inputs(test), train.words
    kernel = KERNELS[name]
    if method == "SORR by squared error":
        model = OutputKernelRegressor(
            output_kernel=kernel, **by_squared_error(X, words, kernel)
        ).fit(X, words)
        return {f"{name}, {method}": errors_of(model, X_test, test)}
    how = {"kernel": [power(degree) for degree in DEGREES]}
    if method == "SOSC":
        how |= {"method": "sample_compression", "random_state": 0}
    searched = OutputKernelRegressor(output_kernel=kernel, **how).fit(X, words)
    trial = smoothest(searched.search_.trials)
    plain = OutputKernelRegressor(output_kernel=kernel, **settings_of(trial)).fit(X, words)
    return {f"{name}, {method}": errors_of(plain, X_test, test),
            f"{name}, {method} *": errors_of(searched, X_test, test)}  # fmt: skip


def errors_of(model, X_test, test):
    """Errors, errors where lengths are given, and what was chosen."""
    size = f"C {1 / model.alpha_:.3g}" if model.alpha_ else f"R {model.radius_:.3g}"
    given = right_length(model, X_test, list(map(len, test.words)))
    return [errors(model.predict(X_test), test.words), errors(given, test.words),
            f"degree {degree_of(model.kernel_)}, {size}"]  # fmt: skip


def default(fold, name):
    train, test = parts(fold)
    loss = None if name == "Dirac" else distance
    model = ConditionalRiskMinimizer(loss=loss).fit(inputs(train), train.words)
    found = errors([str(word) for word in model.predict(inputs(test))], test.words)
    return {f"{name}, default": [found, None, ""]}


def nine_parts(fold, name):
    train, test = parts(fold, reverse=True)
    model = OutputKernelRegressor(output_kernel=KERNELS[name], kernel=power(2), alpha=0.01)
    model.fit(inputs(train), train.words)
    return {f"{name}, SORR, nine parts": errors_of(model, inputs(test), test)}


def chains(fold, title):
    method, weights = CHAINS[title]
    found, chosen = method(*parts(fold), weights)
    return {title: [found, None, chosen]}


def tasks():
    found = {}
    for fold in range(N_PARTS):
        for name in KERNELS:
            for method in ("SORR", "SOSC", "SORR by squared error"):
                found[f"{fold}/{name}/{method}"] = (regression, fold, name, method)
            found[f"{fold}/{name}/default"] = (default, fold, name)
            found[f"{fold}/{name}/nine parts"] = (nine_parts, fold, name)
    for title in CHAINS:
        if has_crfsuite() or "crfsuite" not in title:
            found[f"0/{title}"] = (chains, 0, title)
    return found


def gathered(found):
    """{row: [(errors, errors where lengths are given, what was chosen) of each part]}."""
    rows = {}
    for value in found.values():
        for title, one in value.items():
            rows.setdefault(title, []).append(one)
    return rows


def columns(values):
    """Figures of word and letter errors."""
    return [Figure.of(column) for column in zip(*values)]


def table(rows):
    print("Trained on one part, tested on the other nine unless said; means ± standard errors over "
          "parts")  # fmt: skip
    print(f"{'':44s}{'parts':>6s}{'word error':>18s}{'letter error':>18s}")
    for title, values in rows.items():
        show(title, columns([one[0] for one in values]), len(values))
        if title in PAPER:
            cells = "".join(f"{cell:>18s}" for cell in PAPER[title])
            print(f"{'   paper, ± deviation':44s}{10:6d}{cells}")
        if values[0][1] is not None:
            show(title + ", length given", columns([one[1] for one in values]), len(values))
    print("* ties decided by the squared error, which was settled after test figures were seen")
    print("\nWhat was chosen, part by part")
    for title, values in rows.items():
        if values[0][2]:
            print(f"   {title}: " + "; ".join(one[2] for one in values))


def show(title, figures, n):
    cells = [figure.text(4) if n > 1 else f"{figure.mean:.4f}" for figure in figures]
    print(f"{title:44s}{n:6d}" + "".join(f"{cell:>18s}" for cell in cells))


def compared(rows):
    lines = []
    for title, published in PAPER.items():
        ours = columns([one[0] for one in rows[title]])
        default = columns([one[0] for one in rows[title.partition(",")[0] + ", default"]])
        for k, what in enumerate(("word error", "letter error")):
            number = float(published[k].split()[0])
            lines.append((f"{title}, {what}", 4, number, ours[k], default[k]))
    summary(lines)


def main():
    given = arguments(__doc__)
    if not has_crfsuite():
        print("python-crfsuite is not installed: its rows are left out")
    found = results("words", tasks(), given)
    if found:
        rows = gathered(found)
        table(rows)
        compared(rows)


if __name__ == "__main__":
    main()
