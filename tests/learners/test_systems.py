# SPDX-License-Identifier: BSD-3-Clause
"""Which solver a learner takes, and that the answers are the same."""

import numpy as np
import pytest
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor, config_context
from skstruct.kernels import RBF, resolve_kernel
from skstruct.learners import regression
from skstruct.smoothing import KernelRidge, NystroemRidge, penalties, planning
from skstruct.smoothing.nystroem.feature_maps import NystroemMap
from skstruct.spaces import LabelSets

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = (np.tanh(X @ RNG.standard_normal((3, 4))) + 0.4 * RNG.standard_normal((120, 4)) > 0).astype(int)


@pytest.fixture
def few_rows(monkeypatch):
    """As if 120 rows were too many for an eigendecomposition, and 40 a sample of them."""
    monkeypatch.setattr(penalties, "SAMPLE", (40, 40))
    monkeypatch.setattr(regression, "PATH_ROWS", 100)
    monkeypatch.setattr(planning, "PATH_ROWS", 100)


LEARNERS = {
    "risk": ConditionalRiskMinimizer(smoother="kernel_ridge"),
    "risk, kernels": ConditionalRiskMinimizer(kernel=["rbf", "laplacian"]),
    "output kernel": OutputKernelRegressor(output_kernel="hamming"),
}


@pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS)
def test_a_sample_compares_alphas_and_the_fit_is_exact(model, few_rows, monkeypatch):
    fitted = model.fit(X, Y)
    assert fitted.solver_ == "cholesky"
    assert type(fitted.smoother_) is KernelRidge
    best = fitted.search_.best
    again = KernelRidge(
        resolve_kernel(best["kernel"], gamma=best["gamma"]),
        best["alpha"],
        fit_intercept=fitted.smoother_.fit_intercept,
    )
    targets = fitted.problem_.targets()
    np.testing.assert_allclose(
        fitted.smoother_.predict(X), again.fit(X, targets).predict(X), atol=1e-10
    )
    monkeypatch.setattr(planning, "EXACT_ROWS", 100)
    assert type(model.fit(X, Y).smoother_) is NystroemRidge


@pytest.mark.parametrize(
    ("parameters", "solver"),
    [
        ({"smoother": "kernel_ridge"}, "spectral"),
        ({"alpha": 1.0}, "cholesky"),
        ({"alpha": [0.1, 1.0], "solver": "cholesky"}, "spectral"),
        ({"alpha": 1.0, "solver": "packed"}, "packed"),
        ({"solver": "nystroem"}, "nystroem"),
        ({"alpha": 1.0, "solver": "fourier"}, "fourier"),
    ],
)
def test_the_solver_that_is_asked_for(parameters, solver):
    assert ConditionalRiskMinimizer(**parameters).fit(X, Y).solver_ == solver


def test_kernels_that_need_all_rows():
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=-1))
    model = ConditionalRiskMinimizer(kernel="precomputed", solver="nystroem")
    with pytest.raises(ValueError, match="needs an exact solver"):
        model.fit(K, Y)


def test_too_many_rows_are_refused_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(planning.machine, "available_memory", lambda: 10_000)
    with pytest.raises(MemoryError, match=r'solver="nystroem"'):
        ConditionalRiskMinimizer(alpha=1.0, solver="cholesky").fit(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hamming", "f1"])
@pytest.mark.parametrize("model", LEARNERS.values(), ids=LEARNERS)
def test_free_memory_does_not_choose_the_model(model, loss, monkeypatch):
    model = clone(model).set_params(loss=loss, n_landmarks=10)  # these would fit
    expected = model.fit(X, Y)
    answers = expected.predict(X)
    refused = 0
    for free in (64e9, 2e6, 1e6, 3e5, 1e5, 1e4):
        monkeypatch.setattr(planning.machine, "available_memory", lambda free=free: int(free))
        try:
            again = clone(model).fit(X, Y)
        except MemoryError:
            refused += 1
            continue
        assert again.solver_ == expected.solver_
        np.testing.assert_array_equal(again.predict(X), answers)
    assert 0 < refused < 6


@pytest.mark.parametrize("n_labels", [4, 40])
def test_a_plan_counts_the_targets_that_are_regressed(n_labels, monkeypatch):
    planned = []
    original = planning.plan
    monkeypatch.setattr(
        "skstruct.learners.regression.plan",
        lambda n, p, d, **how: planned.append(d) or original(n, p, d, **how),
    )
    Y = (RNG.random((120, n_labels)) < 0.1).astype(int)
    model = ConditionalRiskMinimizer(LabelSets(), "f1", smoother="kernel_ridge").fit(X, Y)
    assert planned == [model.problem_.search_targets().shape[1]]
    assert planned[0] <= 121 < n_labels**2 + 1 or n_labels == 4


@pytest.mark.parametrize("precision", ["double", "mixed"])
@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("solver", ["auto", "packed", "nystroem"])
def test_all_of_them_decide_alike(precision, device, solver):
    if device is not None:
        pytest.importorskip("torch")
        if solver == "packed" or (precision == "mixed" and solver == "auto"):
            with pytest.raises(ValueError, match="On a device"):
                _fitted(precision, device, solver)
            return
    exact = ConditionalRiskMinimizer(alpha=1.0).fit(X, Y).decode(X)
    other = _fitted(precision, device, solver).decode(X)
    single = precision == "mixed" and solver == "nystroem"  # features in single precision
    np.testing.assert_allclose(other.values, exact.values, atol=1e-3 if single else 1e-8)


def _fitted(precision, device, solver):
    with config_context(precision=precision, device=device):
        return ConditionalRiskMinimizer(alpha=1.0, n_landmarks=120, solver=solver).fit(X, Y)


def test_a_checkpoint_changes_nothing(tmp_path):
    model = ConditionalRiskMinimizer(n_landmarks=20, solver="nystroem")
    plain = model.fit(X, Y).smoother_.landmarks_
    saved = model.fit(X, Y, checkpoint=tmp_path / "fit").smoother_.landmarks_
    np.testing.assert_array_equal(plain, saved)


def left_out_risks(n_parts, alphas, landmarks):
    """Risks of a stream's sample, by fitting without each part; landmarks are the model's own."""
    kernel, parts = RBF(0.3).fit(X), np.array_split(np.arange(len(X)), n_parts)
    targets, risks = np.hstack([Y, np.ones((len(Y), 1))]), []
    for alpha in alphas:
        wrong = 0
        for part in parts:
            rest = np.setdiff1d(np.arange(len(X)), part)
            Z, T = NystroemMap(kernel, landmarks).features(X[rest]), targets[rest]
            mean, centre = Z.mean(axis=0), T.mean(axis=0)
            G = (Z - mean).T @ (Z - mean) + alpha * np.eye(Z.shape[1])
            B = np.linalg.solve(G, (Z - mean).T @ (T - centre))
            z = NystroemMap(kernel, landmarks).features(X[part])
            decided = ((z - mean) @ B + centre)[:, :4] > 0.5
            wrong += (decided != Y[part]).sum()
        risks.append(wrong / len(X))
    return risks


@pytest.mark.parametrize("n_parts", [2, 5])
def test_parts_of_a_stream_are_left_out(n_parts, tmp_path):
    def blocks():
        for start in range(0, len(X), 25):
            yield X[start : start + 25], Y[start : start + 25]

    alphas = [100.0, 1.0, 0.01]
    model = ConditionalRiskMinimizer(
        loss="hamming", alpha=alphas, n_landmarks=30, cv=n_parts, kernel=RBF(0.3)
    )
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model.set_params(solver="nystroem").fit(mapped, Y)
    trials = {trial["alpha"]: trial["risk"] for trial in model.search_.trials}
    expected = left_out_risks(n_parts, alphas, model.smoother_.landmarks_)
    np.testing.assert_allclose([trials[alpha] for alpha in alphas], expected)
    if n_parts == 2:  # a stream of unknown length has one part
        with pytest.raises(ValueError, match=r"leaving it out leaves nothing|more than once"):
            model.fit(blocks)
