# SPDX-License-Identifier: BSD-3-Clause
"""One fitted model, three losses: Yeast, Scene and Emotions.

Protocol: the published training and test halves, features standardised on the training
half. *One* conditional risk minimizer per data set; kernel (Gaussian or Laplacian), its
width and alpha are chosen on the training half by leave-one-out in closed form, by the sum
of the three losses, each relative to what predicting without inputs would have. It then
predicts for each loss in turn, and every prediction is judged by every metric. Three more
rows show models chosen for one loss alone. The peers run in the same process on the same
features, their parameters chosen by three-fold cross-validation on the training half: one
Gaussian support vector machine per label (by Hamming loss), a label powerset machine (by
subset accuracy), a chain of machines (with the parameters of the per-label ones), and a
random forest (scikit-learn's defaults, 500 trees). "default" is ConditionalRiskMinimizer(loss=...)
and nothing else, on features as they are, one for each loss. ± is the standard error over test
rows.

Usage: python papers/one_model_many_losses.py [name ...] [--quick]
``--quick`` leaves out the peers.
"""

import sys

import numpy as np
from keeping import Figure
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.multilabel import load_multilabel
from skstruct.exceptions import MissingDataError
from skstruct.kernels import RBF, Laplacian
from skstruct.kernels.inputs import GAMMA_STEPS
from skstruct.losses import F1, Hamming, ZeroOne
from skstruct.model_selection import left_out_risk

LOSSES = {"Hamming": Hamming(), "F1": F1(), "0-1": ZeroOne()}
NAMES = ("yeast", "scene", "emotions")


def metrics(predicted, truth):
    """Hamming loss (share of labels), F1 per example, subset accuracy."""
    hamming = Hamming(normalize=True)(predicted, truth)
    rows = (hamming, 1 - F1()(predicted, truth), 1 - ZeroOne()(predicted, truth))
    return [Figure.of(of_rows) for of_rows in rows]


def choose(X, Y):
    """Settings of least left-out risk: for all three losses together, and for each alone."""
    best = {}
    for kind in (RBF, Laplacian):
        for step in GAMMA_STEPS:
            kernel = kind(gamma=step / X.shape[1])
            model = ConditionalRiskMinimizer(kernel=kernel, solver="spectral").fit(X, Y)
            alphas = [trial["alpha"] for trial in model.search_.trials]  # largest first
            risks = {
                name: left_out_risk(model, loss=loss, alphas=alphas)
                for name, loss in LOSSES.items()
            }
            risks["all"] = sum(risk / risk[0] for risk in risks.values())
            for name, risk in risks.items():
                if name not in best or risk.min() < best[name][0]:
                    alpha = alphas[int(risk.argmin())]
                    best[name] = (risk.min(), {"kernel": kernel, "alpha": alpha})
    return {name: settings for name, (_, settings) in best.items()}


class LabelPowerset(BaseEstimator):
    """Every distinct label set is a class of one support vector machine."""

    def __init__(self, C=1.0, gamma="scale"):
        self.C, self.gamma = C, gamma

    def fit(self, X, Y):
        self.sets_, number = np.unique(Y, axis=0, return_inverse=True)
        self.machine_ = SVC(C=self.C, gamma=self.gamma).fit(X, number.reshape(-1))
        return self

    def predict(self, X):
        return self.sets_[self.machine_.predict(X)]


def peers(X, Y):
    """Fitted peers by name."""
    widths = [step / X.shape[1] for step in (0.25, 0.5, 1.0, 2.0)]
    folds = KFold(3, shuffle=True, random_state=0)  # scene's rows are sorted by label
    by_hamming = make_scorer(lambda truth, predicted: -np.mean(truth != predicted))
    by_subset = make_scorer(lambda truth, predicted: np.mean((truth == predicted).all(axis=1)))
    grid = {"estimator__C": [1.0, 3.0, 10.0], "estimator__gamma": widths}
    alone = GridSearchCV(
        MultiOutputClassifier(SVC()), grid, scoring=by_hamming, cv=folds, n_jobs=-1
    )
    yield "SVM per label", alone.fit(X, Y)
    grid = {"C": [1.0, 3.0, 10.0, 30.0], "gamma": widths}
    powerset = GridSearchCV(LabelPowerset(), grid, scoring=by_subset, cv=folds, n_jobs=-1)
    yield "label powerset SVM", powerset.fit(X, Y)
    best = {key.removeprefix("estimator__"): v for key, v in alone.best_params_.items()}
    yield "classifier chain SVM", ClassifierChain(SVC(**best), random_state=0).fit(X, Y)
    yield "random forest", RandomForestClassifier(500, n_jobs=-1, random_state=0).fit(X, Y)


def compare(name, quick):
    data = load_multilabel(name)
    scaler = StandardScaler().fit(data.X_train)
    X, X_test, truth = scaler.transform(data.X_train), scaler.transform(data.X_test), data.Y_test
    chosen = choose(X, data.Y_train)
    kernel, alpha = chosen["all"]["kernel"], chosen["all"]["alpha"]
    print(f"\n{name.upper()}: {kernel.name}, gamma {kernel.gamma:.3g}, alpha {alpha:.3g}")
    print(f"   {'':34s}{'Hamming ↓':>18s}{'F1 ↑':>18s}{'subset accuracy ↑':>20s}")
    model = ConditionalRiskMinimizer(**chosen["all"]).fit(X, data.Y_train)
    rows = {
        f"ours, decoded for {loss}": metrics(model.predict(X_test, loss=judge), truth)
        for loss, judge in LOSSES.items()
    }
    alone = {}
    for loss, judge in LOSSES.items():
        single = ConditionalRiskMinimizer(loss=judge, **chosen[loss]).fit(X, data.Y_train)
        alone[f"ours, chosen for {loss} alone"] = metrics(single.predict(X_test), truth)
        plain = ConditionalRiskMinimizer(loss=judge).fit(data.X_train, data.Y_train)
        alone[f"ours, default for {loss}"] = metrics(plain.predict(data.X_test), truth)
    others = {}
    for who, peer in [] if quick else peers(X, data.Y_train):
        others[who] = metrics(peer.predict(X_test).astype(int), truth)
    for who, (hamming, f1, exact) in {**rows, **alone, **others}.items():
        print(
            f"   {who:34s}{hamming.text(4):>18s}{f1.text(4):>18s}{exact.text(4):>20s}", flush=True
        )
    if others:
        verdict(list(rows.values()), others)


def verdict(ours, others):
    """Our own-loss figure of each metric beside the best of the peers."""
    for i, (metric, lower) in enumerate(
        (("Hamming", True), ("F1", False), ("subset accuracy", False))
    ):
        who = (min if lower else max)(others, key=lambda name: others[name][i].mean)
        mine, best = ours[i][i], others[who][i]
        word = mine.verdict(best.mean, lower)
        print(f"   {metric}: ours {mine.mean:.4f}, best peer {best.mean:.4f} ({who}): {word}")


def main(arguments):
    print(__doc__.partition("Usage:")[0].strip())
    names = [a for a in arguments if not a.startswith("-")] or NAMES
    for name in names:
        try:
            compare(name, "--quick" in arguments)
        except MissingDataError as error:
            print(f"{name}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
