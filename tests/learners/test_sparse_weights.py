# SPDX-License-Identifier: BSD-3-Clause
"""The number of weights is that of least loss on left-out rows, as fits without them find it."""

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor, load_model, save_model
from skstruct.kernels import RBF, PathKernel
from skstruct.smoothing import KernelRidge, LargestWeights
from skstruct.spaces import Classes, LabelSets

PATHS = ["1.1", "1.2", "2.1", "2.2", "2.3"]
NUMBERS, ALPHAS = [None, 1, 3], [3.0, 0.3]


def rows(n=18):
    rng = np.random.default_rng(3)
    number = rng.integers(0, len(PATHS), n)
    X = np.column_stack([number % 3, number // 3]) + rng.normal(scale=0.7, size=(n, 2))
    return X, np.array(PATHS)[number], rng.normal(size=(6, 2)) + 0.5


def regressor(n_weights, **settings):
    method = LargestWeights(n_weights=n_weights)
    return OutputKernelRegressor(
        kernel=RBF(0.8), output_kernel=PathKernel(), **{"method": method, **settings}
    )


def refitted_risk(make, loss, X, y, groups):
    """Mean loss of predictions for rows by models that never saw their groups."""
    losses = np.empty(len(y))
    for own in np.unique(groups):
        rest, here = groups != own, groups == own
        losses[here] = loss(make().fit(X[rest], y[rest]).predict(X[here]), y[here])
    return losses.mean()


@pytest.mark.parametrize("groups", [np.arange(18), np.arange(18) // 2])
def test_the_regressor_chooses_as_refitting_does(groups):
    X, y, X_new = rows()
    model = regressor(alpha=ALPHAS, n_weights=NUMBERS).fit(X, y, groups=groups)
    # Every output of training has to be among the candidates of the smaller fits too.
    assert len(model.search_.trials) == len(NUMBERS) * len(ALPHAS)
    for trial in model.search_.trials:
        settings = {"alpha": trial["alpha"], "n_weights": trial["n_weights"]}
        risk = refitted_risk(
            lambda settings=settings: regressor(**settings), PathKernel().loss, X, y, groups
        )
        assert trial["risk"] == pytest.approx(risk, abs=1e-9)
    best = min(model.search_.trials, key=lambda trial: trial["risk"])
    assert (model.alpha_, model.n_weights_) == (best["alpha"], best["n_weights"])
    alone = regressor(alpha=model.alpha_, n_weights=model.n_weights_).fit(X, y)
    assert model.predict(X_new).tolist() == alone.predict(X_new).tolist()


def test_one_weight_without_penalty_to_speak_of_is_the_nearest_row():
    X, y, X_new = rows()
    model = regressor(alpha=1e6, n_weights=1).fit(X, y)
    nearest = np.argmin(((X_new[:, None] - X) ** 2).sum(axis=2), axis=1)
    assert model.predict(X_new).tolist() == y[nearest].tolist()
    assert model.search_ is None
    assert (model.explain(X_new).weights.toarray() > 0).sum(axis=1).tolist() == [1] * 6


def minimizer(alpha, number):
    return ConditionalRiskMinimizer(
        Classes(PATHS), "zero_one", smoother=LargestWeights(KernelRidge(RBF(0.8), alpha), number)
    )


def test_the_minimizer_chooses_as_refitting_does():
    X, y, X_new = rows()
    groups = np.arange(18) // 3
    model = minimizer(ALPHAS, NUMBERS).fit(X, y, groups=groups)
    for trial in model.search_.trials:
        risk = refitted_risk(
            lambda trial=trial: minimizer(trial["alpha"], trial["n_weights"]),
            lambda a, b: a != b, X, y, groups,
        )  # fmt: skip
        assert trial["risk"] == pytest.approx(risk, abs=1e-9)
    best = min(model.search_.trials, key=lambda trial: trial["risk"])
    assert (model.alpha_, model.smoother_.n_weights_) == (best["alpha"], best["n_weights"])
    probabilities = model.predict_marginals(X_new)
    assert (np.asarray(probabilities) >= 0).all()


def test_models_are_saved(tmp_path):
    X, y, X_new = rows()
    for model in (regressor(n_weights=2, alpha=0.3), minimizer(0.3, [2, None])):
        model.fit(X, y)
        save_model(model, tmp_path / "model.skstruct")
        again = load_model(tmp_path / "model.skstruct")
        assert again.predict(X_new).tolist() == model.predict(X_new).tolist()


def test_by_name_it_compares_all_weights_with_few():
    X, y, _ = rows()
    model = OutputKernelRegressor(kernel=RBF(0.8), method="largest_weights").fit(X, y)
    assert {trial["n_weights"] for trial in model.search_.trials} == {None, 10, 5, 3, 2, 1}
    assert model.n_weights_ == model.search_.best["n_weights"]


def test_what_sparse_weights_do_not_go_with():
    X, y, _ = rows()
    with pytest.raises(ValueError, match="kernel and alpha are those of"):
        regressor(3, method=LargestWeights(KernelRidge(), 3)).fit(X, y)
    with pytest.raises(ValueError, match="landmarks"):
        regressor(3, solver="nystroem").fit(X, y)
    model = regressor(3, alpha=1.0).fit(X, y)
    with pytest.raises(AttributeError, match="sparse weights"):
        model.coef_  # noqa: B018
    with pytest.raises(ValueError, match="held_out"):
        model.certify(X, y)


def test_one_row_is_learned():
    for model in (
        ConditionalRiskMinimizer(LabelSets(["a", "b"]), smoother=LargestWeights()),
        ConditionalRiskMinimizer(LabelSets(["a", "b"]), smoother=LargestWeights(n_weights=3)),
    ):
        assert model.fit([[0.0]], [["a"]]).predict([[1.0]])[0] == ["a"]
    regressor = OutputKernelRegressor(method="largest_weights").fit([[0.0]], ["cat"])
    assert regressor.predict([[1.0]]).tolist() == ["cat"]
