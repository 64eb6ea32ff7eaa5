# SPDX-License-Identifier: BSD-3-Clause
"""All rows where papers took a part: IMCLEF07A and IMCLEF07D, and fried of label ranking.

Exact fits stand beside those on landmarks (one pass), with losses on test rows and seconds.

IMCLEF07A and IMCLEF07D, hierarchical label sets of images: Goh & Jaillet, "Structured prediction
by conditional risk minimization", Table 1, train on 2,000 rows, the first of an order that is
not known. Here all 10,000 training rows are used, and 2,000 of them drawn at random; test rows
are the paper's. As in ``ecrm_hierarchies.py``, features are standardised on training rows and the
kernel is Gaussian of default width; unlike there, single rows are left out to choose alpha, for
all label paths are in training.

fried, 40,768 rankings of five labels: one fold of ten for testing (the first one of
``label_ranking.py``), features standardised on the training rows, Kendall's tau. The published
figures are means of five times ten folds. Kernels are linear, Laplacian and Gaussian, of default
width; a star marks the one with the least loss on left-out training rows. The linear kernel of nine
features needs nine landmarks and is exact as it is, so the exact fit is made with the better of the
other two.

Alpha is chosen on training rows only, by the loss itself on left-out rows in closed form. On
landmarks that takes one pass over the rows. The search of an exact fit would need an
eigendecomposition of the whole kernel matrix, so alpha is taken from elsewhere: from the fit on
landmarks, and from an exact search on 2,000 of the training rows. Both are printed.

Usage: python papers/large_samples.py [--sets NAME ...] [--landmarks N] [--exact-rows N]
An exact fit of more than --exact-rows rows is left out. All rows of fried, ``--exact-rows 40000``,
take 11 GB, and some ten minutes on two cores; beyond 20,000 rows there is one exact fit, with the
alpha of one pass.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from ecrm_hierarchies import PAPER
from hierarchy_data import standardised
from published_label_ranking import PUBLISHED
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_info

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.rankings import load_label_ranking
from skstruct.exceptions import MissingDataError
from skstruct.losses import Hamming, HierarchicalLoss
from skstruct.rankings import kendall_tau
from skstruct.spaces import Hierarchy, Rankings

IMAGES = ("imclef07a", "imclef07d")
FEW = 2000
MANY = 20_000  # rows: beyond, one exact fit must do, with the alpha of one pass
KERNELS = ["linear", "laplacian", "rbf"]
WIDTH = 44


class Fit:
    """A fitted model with what is printed of it."""

    def __init__(self, title, space, loss, X, y, **settings):
        started = time.perf_counter()
        self.model = ConditionalRiskMinimizer(space, loss, random_state=0, **settings).fit(X, y)
        self.seconds = time.perf_counter() - started
        landmarks = getattr(self.model.smoother_, "n_landmarks_", None)
        self.title = title if landmarks is None else f"{title}, {landmarks:,} landmarks"
        self.rows, self.alpha = len(X), self.model.alpha_


def on_landmarks(space, loss, X, y, arguments, kernel="rbf", alpha="auto"):
    """One pass; its time holds the search for alpha."""
    title = "one pass" if isinstance(alpha, str) else "one pass, alpha given"
    settings = {"solver": "nystroem", "n_landmarks": min(arguments.landmarks, len(X) // 2)}
    return Fit(title, space, loss, X, y, kernel=kernel, alpha=alpha, **settings)


def exact(space, loss, X, y, arguments, alphas, kernel="rbf"):
    """Exact fits with several alphas, by where these come from; none of too many rows."""
    if len(X) <= arguments.exact_rows:
        for source, alpha in list(alphas.items())[: 1 if len(X) > MANY else None]:
            title = f"exact, alpha {source}"
            yield Fit(title, space, loss, X, y, kernel=kernel, alpha=alpha, solver="cholesky")


def note_left_out(rows, arguments):
    if len(rows) > arguments.exact_rows:
        print(f"   exact fit of {len(rows):,} rows left out (--exact-rows {arguments.exact_rows})")


def drawn(n, size):
    """Rows drawn at random, in order."""
    return np.sort(np.random.default_rng(0).choice(n, min(size, n), replace=False))


# ---------------------------------------------------------------------- images
def images(name, arguments):
    data = load_hierarchical(name)
    space, losses = Hierarchy(data.edges, data.labels), (Hamming(), HierarchicalLoss())
    n, d = data.Y_train.shape
    print(f"\n{name.upper()}: {len(data.X_test):,} test images, {d} labels")
    print(f"   {'':{WIDTH}} {'rows':>6} {'Hamming':>8} {'alpha':>8} {'seconds':>8}"
          f" {'hierarchical':>13} {'alpha':>8} {'seconds':>8}")  # fmt: skip
    for who, figures in zip(("ECRM", "HM3N", "BR-SVM"), PAPER[name]):
        cells = f"{figures[0]:8.3f} {'':17} {figures[1]:13.4f}"
        print(f"   {'paper: ' + who:{WIDTH}} {'2,000':>6} {cells}")
    few = drawn(n, FEW)
    halves = standardised((data.X_train[few], data.X_test))
    found = [
        few_image_fits(space, loss, halves[0], data.Y_train[few], arguments) for loss in losses
    ]
    image_lines(found, halves[1], data.Y_test)
    alphas = [fits[-1].alpha for fits in found]
    rows = drawn(n, arguments.rows)
    X, X_test = standardised((data.X_train[rows], data.X_test))
    found = [
        image_fits(space, loss, X, data.Y_train[rows], arguments, alpha)
        for loss, alpha in zip(losses, alphas)
    ]
    image_lines(found, X_test, data.Y_test)
    print(
        "   The paper's 2,000 rows are the first of an order that is not known, ours random ones."
    )


def few_image_fits(space, loss, X, Y, arguments):
    one_pass = on_landmarks(space, loss, X, Y, arguments)
    return [one_pass, Fit("exact", space, loss, X, Y, kernel="rbf")]


def image_fits(space, loss, X, Y, arguments, alpha_of_few):
    searched = on_landmarks(space, loss, X, Y, arguments)
    given = on_landmarks(space, loss, X, Y, arguments, alpha=searched.alpha)
    alphas = {"of one pass": searched.alpha, f"of {FEW:,} rows": alpha_of_few}
    return [searched, given, *exact(space, loss, X, Y, arguments, alphas)]


def image_lines(found, X_test, Y_test):
    """One line for each fit; the fits of both losses beside each other."""
    for fits in zip(*found):
        cells = ""
        for fit, digits in zip(fits, ("8.3f", "13.4f")):
            score = -fit.model.score(X_test, Y_test)
            cells += f" {score:{digits}} {fit.alpha:8.3g} {fit.seconds:8.1f}"
        print(f"   {fits[0].title:{WIDTH}} {fits[0].rows:>6,}{cells}", flush=True)


# ---------------------------------------------------------------------- rankings
def fried(arguments):
    data = load_label_ranking("fried")
    train, test = next(KFold(10, shuffle=True, random_state=100).split(data.X))
    print(f"\nFRIED: {len(test):,} test rows of one fold, Kendall's tau")
    print(f"   {'':{WIDTH}} {'rows':>6} {'tau':>8} {'alpha':>8} {'seconds':>8} {'left out':>9}")
    for method, figures in PUBLISHED.items():
        print(f"   {method + ', 50 folds':{WIDTH}} {'36,691':>6} {figures['fried']:8.3f}")
    sizes = {min(size, len(train)) for size in (arguments.exact_rows, arguments.rows)}
    for size in sorted(sizes):
        rows = train[drawn(len(train), size)]
        X, X_test = standardised((data.X[rows], data.X[test]))
        ranking_fits(X, data.Y[rows], X_test, data.Y[test], arguments)


def ranking_fits(X, Y, X_test, Y_test, arguments):
    task = Rankings(), "kendall"
    fits = {kernel: on_landmarks(*task, X, Y, arguments, kernel) for kernel in KERNELS}
    left_out = {kernel: fit.model.search_.best["risk"] for kernel, fit in fits.items()}
    best = min(left_out, key=left_out.__getitem__)
    for kernel, fit in fits.items():
        star = " *" if kernel == best else ""
        ranking_line(fit, kernel, X_test, Y_test, f" {left_out[kernel]:9.4f}{star}")
    kernel = min(left_out.keys() - {"linear"}, key=left_out.__getitem__)
    few = drawn(len(X), FEW)
    own = Fit("exact", *task, X[few], Y[few], kernel=kernel)
    ranking_line(own, kernel, X_test, Y_test)
    given = on_landmarks(*task, X, Y, arguments, kernel, fits[kernel].alpha)
    ranking_line(given, kernel, X_test, Y_test)
    alphas = {"of one pass": fits[kernel].alpha, f"of {FEW:,} rows": own.alpha}
    for fit in exact(*task, X, Y, arguments, alphas, kernel):
        ranking_line(fit, kernel, X_test, Y_test)
    note_left_out(X, arguments)
    print(f"   landmarks of the {kernel} kernel leave {fits[kernel].model.smoother_.residual_:.2%} "
          "of its trace")  # fmt: skip


def ranking_line(fit, kernel, X_test, Y_test, more=""):
    tau = kendall_tau(fit.model.predict(X_test), Y_test).mean()
    title = f"{kernel}: {fit.title}"
    cells = f"{tau:8.4f} {fit.alpha:8.3g} {fit.seconds:8.1f}"
    print(f"   {title:{WIDTH}} {fit.rows:>6,} {cells}{more}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[*IMAGES, "fried"])
    parser.add_argument("--landmarks", type=int, default=2000)
    parser.add_argument("--exact-rows", type=int, default=10_000, help="most rows of an exact fit")
    parser.add_argument("--rows", type=int, default=10**9, help="fewer training rows, for a trial")
    arguments = parser.parse_args()
    print(__doc__.partition("Usage:")[0].strip(), "\n", flush=True)
    threads = max((pool["num_threads"] for pool in threadpool_info()), default=1)
    print(f"Seconds are wall time of a fit, {threads} thread(s) of BLAS.")
    for name in arguments.sets:
        try:
            fried(arguments) if name == "fried" else images(name, arguments)
        except MissingDataError as error:
            print(f"{name}: {error}")


if __name__ == "__main__":
    main()
