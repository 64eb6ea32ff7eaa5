# SPDX-License-Identifier: BSD-3-Clause
"""What the default does with many rows: here many are more than a hundred."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor
from skstruct.kernels import RBF
from skstruct.kernels.inputs import kernel_name
from skstruct.learners import regression
from skstruct.learners.conditional_risk import learner, streams
from skstruct.smoothing import KernelRidge, LinearRidge, NystroemRidge, planning
from skstruct.smoothing import linear as linear_ridge
from skstruct.smoothing.nystroem import landmarks
from skstruct.smoothing.penalties import smoother_alphas
from skstruct.spaces import Classes, Hierarchy, Interval, LabelSets, Rankings
from skstruct.streaming import ArraySource, IteratorSource


@pytest.fixture
def _many(monkeypatch):
    """As if a hundred rows were many, and four landmarks few."""
    for module in (planning, regression, streams):
        monkeypatch.setattr(module, "EXACT_ROWS", 100)
    for module in (planning, learner):
        monkeypatch.setattr(module, "SPECTRAL_ROWS", 100)
    monkeypatch.setattr(landmarks, "FEWEST", 4)
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 100)
    monkeypatch.setattr(linear_ridge, "FEWEST", 20)


def texts(n=400, p=300, d=6, seed=0):
    """Words of which every label likes some: linear, and no two rows are alike."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=0.05, rng=rng, format="csr")
    scores = X @ rng.standard_normal((p, d))
    return X, (scores > np.quantile(scores, 0.7, axis=0)).astype(int)


def waves(n=400, seed=0, frequency=1.5):
    """One label that no line tells."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, (n, 2))
    return X, (np.sin(frequency * X).prod(axis=1) > 0).astype(int)[:, None]


# ---------------------------------------------------------------------- the primal
@pytest.mark.usefixtures("_many")
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(("n_features", "kind"), [(10**6, NystroemRidge), (5, LinearRidge)])
def test_linear_kernels_are_solved_in_the_primal(n_features, kind, dense, monkeypatch):
    monkeypatch.setattr(regression, "LINEAR_FEATURES", n_features)
    X, Y = texts(150)
    X = X.toarray() if dense else X
    model = ConditionalRiskMinimizer(LabelSets(), kernel="linear", alpha=0.2).fit(X, Y)
    assert model.solver_ == "primal"
    assert type(model.smoother_) is kind
    assert model.kernel_ == "linear"
    exact = KernelRidge("linear", 0.2).fit(X, model.problem_.targets())
    np.testing.assert_allclose(model.smoother_.predict(X), exact.predict(X), atol=2e-4)
    asked = ConditionalRiskMinimizer(LabelSets(), kernel="linear", alpha=0.2, solver="cholesky")
    np.testing.assert_array_equal(asked.fit(X, Y).predict(X), model.predict(X))
    np.testing.assert_array_equal(asked.predict(X, loss="f1"), model.predict(X, loss="f1"))
    weights = model.explain(X[:3]).weights
    np.testing.assert_allclose(weights, asked.explain(X[:3]).weights, atol=2e-4)


@pytest.mark.usefixtures("_many")
def test_sparse_inputs_stay_sparse(monkeypatch):
    monkeypatch.setattr(regression, "LINEAR_FEATURES", 5)

    def refuse(self, *args, **options):
        if self.shape[0] > 60:
            raise AssertionError("the inputs were made dense")
        return original(self, *args, **options)

    X, Y = texts()
    original = type(X).toarray
    monkeypatch.setattr(type(X), "toarray", refuse)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", kernel="linear").fit(X, Y)
    assert type(model.smoother_) is LinearRidge
    assert model.predict(X).shape == Y.shape


@pytest.mark.usefixtures("_many")
@pytest.mark.parametrize("n_features", [10**6, 5])
def test_a_penalty_found_in_the_primal_is_as_good_as_any(n_features, monkeypatch):
    monkeypatch.setattr(regression, "LINEAR_FEATURES", n_features)
    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 600)  # all rows judge
    X, Y = texts(1000)
    X, Y, X_new, Y_new = X[:600], Y[:600], X[600:], Y[600:]
    found = ConditionalRiskMinimizer(LabelSets(), kernel="linear").fit(X, Y)
    alphas = [trial["alpha"] for trial in found.search_.trials]
    others = [
        ConditionalRiskMinimizer(LabelSets(), kernel="linear", alpha=alpha).fit(X, Y)
        for alpha in alphas[::3]
    ]
    losses = [-model.score(X_new, Y_new) for model in others]
    assert -found.score(X_new, Y_new) < min(losses) + 0.03 < max(losses)


def test_the_primal_on_request():
    X, Y = texts(60)
    model = ConditionalRiskMinimizer(LabelSets(), solver="primal").fit(X, Y)
    assert (model.kernel_, model.solver_) == ("linear", "primal")
    with pytest.raises(ValueError, match=r'"primal" is for kernel="linear"; got kernel=RBF\(\)'):
        ConditionalRiskMinimizer(LabelSets(), kernel="rbf", solver="primal").fit(X, Y)
    regressor = OutputKernelRegressor(
        kernel="linear", output_kernel="hamming", solver="primal"
    ).fit(X, Y)
    exact = OutputKernelRegressor(
        kernel="linear", output_kernel="hamming", alpha=regressor.alpha_, solver="cholesky"
    ).fit(X, Y)
    np.testing.assert_array_equal(regressor.predict(X), exact.predict(X))


# ---------------------------------------------------------------------- which kernel
@pytest.mark.usefixtures("_many")
@pytest.mark.parametrize("n_features", [10**6, 5])
def test_many_rows_are_tried_with_both_kernels(n_features, monkeypatch):
    monkeypatch.setattr(regression, "LINEAR_FEATURES", n_features)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother="kernel_ridge")
    X, Y = texts()
    assert model.fit(X, Y).kernel_ == "linear"
    assert model.solver_ == "primal"
    assert {trial["kernel"] for trial in model.search_.trials} == {"rbf", "linear"}
    X, Y = waves()
    assert model.fit(X, Y).kernel_ == "rbf"
    assert model.solver_ == "nystroem"
    assert model.search_.best["risk"] == min(trial["risk"] for trial in model.search_.trials)


@pytest.mark.parametrize(
    "given", [{"alpha": 1.0}, {"kernel": RBF(0.5)}, {"solver": "spectral"}, {"kernel": "rbf"}]
)
@pytest.mark.usefixtures("_many")
def test_what_was_given_is_not_compared(given):
    X, Y = waves(150)
    model = ConditionalRiskMinimizer(LabelSets(), **given).fit(X, Y)
    assert kernel_name(model.kernel_) == "rbf"
    assert {kernel_name(trial["kernel"]) for trial in getattr(model.search_, "trials", [])} <= {
        "rbf"
    }


def test_few_rows_have_one_kernel():
    X, Y = waves(150)
    model = ConditionalRiskMinimizer(LabelSets(), smoother="kernel_ridge").fit(X, Y)
    assert {trial["kernel"] for trial in model.search_.trials} == {"rbf"}


@pytest.mark.slow
@pytest.mark.usefixtures("_many")
def test_blocks_are_tried_with_both_kernels_if_they_can_be_read_again():
    X, Y = texts(p=100)
    X = X.toarray()
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother="kernel_ridge")
    held = model.fit(ArraySource(X, Y)).kernel_
    assert held == "linear"
    assert model.solver_ == "primal"
    blocks = [(X[:150], Y[:150]), (X[150:], Y[150:])]
    assert model.fit(IteratorSource(lambda: iter(blocks))).kernel_ == "linear"
    assert model.fit(IteratorSource(iter(blocks))).kernel_ == "rbf"
    few = [(X[:60], Y[:60])]
    assert model.fit(IteratorSource(lambda: iter(few))).kernel_ == "rbf"


# ---------------------------------------------------------------------- more landmarks
@pytest.mark.usefixtures("_many")
@pytest.mark.parametrize("streamed", [False, True])
def test_landmarks_grow_while_the_loss_falls(streamed):
    X, Y = waves(frequency=3.0)
    data = (ArraySource(X, Y),) if streamed else (X, Y)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", kernel=RBF(2.0)).fit(*data)
    sizes = [trial.get("n_landmarks", 40) for trial in model.search_.trials]
    assert sizes[0] == 40  # 2 sqrt(400)
    assert model.smoother_.n_landmarks_ in (160, 320)
    best = {m: min(t["risk"] for t, n in zip(model.search_.trials, sizes) if n == m)
            for m in dict.fromkeys(sizes)}  # fmt: skip
    risks = list(best.values())
    assert list(best) == [40 * 2**k for k in range(len(best))]
    assert all(b < 0.99 * a for a, b in pairwise(risks[:-1]))
    assert model.search_.best["risk"] == min(risks)
    assert model.alpha_ == model.search_.best["alpha"]
    asked = ConditionalRiskMinimizer(LabelSets(), "hamming", kernel=RBF(2.0), n_landmarks=40).fit(
        *data
    )
    assert asked.smoother_.n_landmarks_ == 40
    assert -model.score(X, Y) < -asked.score(X, Y)


@pytest.mark.usefixtures("_many")
def test_landmarks_do_not_grow_beyond_what_a_fit_may_take(monkeypatch):
    X, Y = waves(frequency=3.0)
    monkeypatch.setattr(regression, "GROWING", planning.feature_costs(400, 0, 2, 80, 4)[1])
    model = ConditionalRiskMinimizer(LabelSets(), kernel=RBF(2.0)).fit(X, Y)
    assert model.smoother_.n_landmarks_ == 80


@pytest.mark.usefixtures("_many")
def test_enough_landmarks_stay():
    X, Y = waves()
    model = ConditionalRiskMinimizer(LabelSets(), kernel=RBF(0.01)).fit(X, Y)
    assert model.smoother_.residual_ < landmarks.EXPLAINED
    assert not any("n_landmarks" in trial for trial in model.search_.trials)


# ---------------------------------------------------------------------- warnings
@pytest.mark.usefixtures("_many")
def test_a_kernel_that_landmarks_do_not_explain_is_told():
    X, Y = waves()
    model = ConditionalRiskMinimizer(LabelSets(), kernel=RBF(50.0), n_landmarks=20)
    with pytest.warns(UserWarning, match=r"20 landmarks leave \d\d% of the kernel's trace"):
        model.fit(X, Y)
    with pytest.warns(UserWarning, match="20 landmarks leave"):
        model.fit(ArraySource(X, Y))
    regressor = OutputKernelRegressor(
        kernel=RBF(50.0), output_kernel="dirac", n_landmarks=20, solver="nystroem"
    )
    with pytest.warns(UserWarning, match="20 landmarks leave"):
        regressor.fit(X, Y[:, 0].tolist())


NOISE = np.random.default_rng(0)
SPACES = {
    "labels": (LabelSets(), None, (NOISE.random((80, 4)) < 0.2).astype(int)),
    "f1": (LabelSets(), "f1", (NOISE.random((80, 4)) < 0.2).astype(int)),
    "tree": (
        Hierarchy([("a", "b"), ("a", "c")]), None, [["a"] * int(u < 0.2) for u in NOISE.random(80)]
    ),
    "classes": (Classes(), None, NOISE.choice(list("aab"), size=80)),
    "rankings": (Rankings(), None, [list(NOISE.permutation(list("abc"))) for _ in range(80)]),
    "numbers": (Interval(), "absolute", NOISE.exponential(size=80)),
}  # fmt: skip


@pytest.mark.parametrize("name", SPACES)
def test_a_model_no_better_than_a_constant_is_told(name):
    space, loss, y = SPACES[name]
    X = np.random.default_rng(1).standard_normal((80, 2))
    X[0] = 10.0
    model = ConditionalRiskMinimizer(space, loss, alpha=[1e-6, 1e-7])  # learns the noise by heart
    with pytest.warns(UserWarning, match="best constant answer"):
        model.fit(X, y)
    constant = model.problem_.constant_risk()
    everywhere = model.outputs_
    losses = model.problem_.loss.pairwise(everywhere, everywhere).mean(axis=1)
    if name in ("classes", "rankings"):  # all outputs occur: the best of them is the best of all
        assert constant == pytest.approx(losses.min())
    assert constant <= losses.min() + 1e-12


def test_a_model_that_learns_is_not_told_of():
    X, Y = waves(150)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConditionalRiskMinimizer(LabelSets(), kernel=RBF(1.0)).fit(X, Y)
        ConditionalRiskMinimizer(LabelSets(), alpha=1.0).fit(X, Y)
        ConditionalRiskMinimizer(Classes(), smoother="kernel_ridge").fit(
            X, ["same"] * 150
        )  # nothing can be better


def test_a_costly_path_goes_on_where_the_loss_rises():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    Y = (X @ rng.standard_normal((20, 4)) + 3 * rng.standard_normal((60, 4)) > 0).astype(int)
    model = ConditionalRiskMinimizer(LabelSets(), smoother=LinearRidge("auto")).fit(X, Y)
    tried = [trial["alpha"] for trial in model.search_.trials]
    risks = [trial["risk"] for trial in model.search_.trials]
    assert tried == smoother_alphas(model.smoother_).tolist()
    best = int(np.argmin(risks))
    assert len(risks) - best > 3
    assert min(risks[best + 1 : best + 3]) > 1.02 * risks[best]
