# SPDX-License-Identifier: BSD-3-Clause
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.kernels import RBF, label_kernel_matrix
from skstruct.kernels.inputs import kernel_name
from skstruct.losses import F1, Hamming, HierarchicalLoss, ZeroOne, pair
from skstruct.smoothing import (
    AdditiveKernelRidge,
    Forest,
    KernelRidge,
    NadarayaWatson,
    Neighbors,
)
from skstruct.spaces import Candidates, Hierarchy, LabelSets

X, Y = make_multilabel_classification(90, 6, n_classes=4, random_state=0)
X_NEW, Y_NEW = X[60:], Y[60:]
X, Y = X[:60], Y[:60]
EDGES = [("root", "a"), ("root", "b"), ("a", "c"), ("a", "d")]
TREE = Hierarchy(EDGES)
RNG = np.random.default_rng(0)
H = TREE.enumerate()[RNG.integers(6, size=60)]


def estimated_risks(model, X_new, loss, space, candidates):
    """Sum of w_i loss(z, y_i) for every candidate, straight from the definition."""
    loss = pair(loss, space, model.outputs_)[1]
    return model.smoother_.weights(X_new) @ loss.pairwise(candidates, model.outputs_).T


@pytest.mark.parametrize("loss", [Hamming(), F1(), HierarchicalLoss()], ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_prediction_minimizes_the_weighted_loss(loss, fit_intercept):
    model = ConditionalRiskMinimizer(TREE, loss, alpha=0.3, fit_intercept=fit_intercept).fit(X, H)
    listed = TREE.enumerate()
    risks = estimated_risks(model, X_NEW, loss, TREE, listed)
    decoded = model.decode(X_NEW)
    assert_allclose(decoded.values, risks.min(axis=1), atol=1e-8)
    assert_allclose(decoded.bounds, decoded.values, atol=1e-8)
    assert_array_equal(decoded.outputs, listed[risks.argmin(axis=1)])
    possible = np.clip(decoded.values, *loss.bind(TREE).range())
    assert_allclose(model.predict_risk(X_NEW), possible)


def test_another_loss_needs_no_fitting():
    model = ConditionalRiskMinimizer(loss="hamming", alpha=0.3).fit(X, Y)
    for name in ("hamming", "f1", "zero_one", "fbeta"):
        refitted = ConditionalRiskMinimizer(loss=name, alpha=0.3).fit(X, Y)
        assert_array_equal(model.predict(X_NEW, loss=name), refitted.predict(X_NEW))
        assert_allclose(
            model.predict_risk(X_NEW, loss=name), refitted.predict_risk(X_NEW), atol=1e-9
        )


def test_zero_one_predicts_what_was_seen():
    model = ConditionalRiskMinimizer(loss=ZeroOne(), alpha=0.3).fit(X, Y)
    seen = {tuple(row) for row in Y}
    assert {tuple(row) for row in model.predict(X_NEW)} <= seen


def test_constraints_at_prediction_time():
    model = ConditionalRiskMinimizer(TREE, "hierarchical", alpha=0.3).fit(X, H)
    assert model.predict(X_NEW, restrict={"max_size": 2}).sum(axis=1).max() <= 2
    assert model.predict(X_NEW, restrict={"include": ["d"]})[:, [0, 1, 4]].all()
    paths = model.predict(X_NEW, restrict={"one_path": True})
    assert (paths[:, [2, 3, 4]].sum(axis=1) == 1).all()
    known = [["b"] if i % 2 else [] for i in range(30)]
    assert model.predict(X_NEW, restrict={"include": known})[1::2, 2].all()
    at_once = model.predict(X_NEW, restrict={"include": known})
    with config_context(memory=2000):  # per-row constraints survive blocks
        tiny = clone(model).fit(X, H).predict(X_NEW, restrict={"include": known})
    assert_array_equal(tiny, at_once)


def test_a_restricted_space_survives_cloning():
    model = ConditionalRiskMinimizer(TREE.restrict(one_path=True), "hamming", alpha=0.3)
    paths = clone(model).fit(X, H).predict(X_NEW)
    assert (paths[:, [2, 3, 4]].sum(axis=1) == 1).all()


def test_kbest_is_the_sorted_list():
    model = ConditionalRiskMinimizer(TREE, "hierarchical", alpha=0.3).fit(X, H)
    risks = np.sort(
        estimated_risks(model, X_NEW, HierarchicalLoss(), TREE, TREE.enumerate()), axis=1
    )
    best = model.kbest(X_NEW, 3)
    assert_allclose(best.values, risks[:, :3], atol=1e-8)
    assert_array_equal(best.outputs[0], model.predict(X_NEW))
    assert len(best.outputs) == 3
    for loss in ("zero_one", "f1"):
        values = model.kbest(X_NEW, 2, loss=loss).values
        assert (np.diff(values, axis=1) >= 0).all()
    classes = ConditionalRiskMinimizer(alpha=1.0).fit(X, Y[:, 0]).kbest(X_NEW, 5)
    assert classes.values.shape == (30, 2)  # there are only two classes
    dag = Hierarchy([("a", "c"), ("b", "c")])
    shared = ConditionalRiskMinimizer(dag, alpha=0.3).fit(
        X, dag.enumerate()[RNG.integers(5, size=60)]
    )
    assert shared.kbest(X_NEW, 2, loss="hamming").values.shape == (30, 2)
    with pytest.raises(ValueError, match="not known under HierarchicalLoss"):
        shared.kbest(X_NEW, 2)


def test_explain():
    model = ConditionalRiskMinimizer(TREE, "hierarchical", alpha=0.3).fit(X, H)
    told = model.explain(X_NEW)
    assert told.weights.shape == told.losses.shape == (30, 60)
    assert_allclose((told.weights * told.losses).sum(axis=1), model.predict_risk(X_NEW), atol=1e-8)
    top = told.supporters(2)
    assert_array_equal(top[:, 0], told.weights.argmax(axis=1))
    differs = np.where(told.losses > 0, told.weights, 0.0)
    assert_array_equal(told.opponents(1)[:, 0], differs.argmin(axis=1))
    near = ConditionalRiskMinimizer(smoother=Neighbors(2)).fit(X, Y).explain(X_NEW)
    assert (near.supporters(3)[:, 2] == -1).all()  # only two have a weight
    assert (near.opponents(1) == -1).all()


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hamming", "f1", "zero_one"])
@pytest.mark.parametrize("groups", [None, np.arange(60) // 7])
def test_alpha_is_chosen_by_refitting_risk(loss, groups):
    """The closed form must pick what refitting without each group would pick."""
    alphas = [0.01, 0.3, 10.0]
    model = ConditionalRiskMinimizer(loss=loss, alpha=alphas).fit(X, Y, groups=groups)
    number = np.arange(60) if groups is None else groups
    risks = []
    for alpha in alphas:
        losses = np.empty(60)
        for g in np.unique(number):
            out = number == g
            single = ConditionalRiskMinimizer(
                LabelSets(range(4)), loss, alpha=alpha, kernel=RBF(model.gamma_)
            ).fit(X[~out], Y[~out])
            bound = pair(single.loss_, single.space_, single.outputs_)[1]
            losses[out] = bound(single.predict(X[out]), Y[out])
        risks.append(losses.mean())
    tried = {trial["alpha"]: trial["risk"] for trial in model.search_.trials}
    if loss == "zero_one":  # refitting also forgets outputs seen only in the group
        assert_allclose([tried[a] for a in alphas], risks, atol=0.05)
    else:
        assert_allclose([tried[a] for a in alphas], risks, atol=1e-9)
    assert model.alpha_ == max(a for a in alphas if tried[a] <= min(tried.values()) + 1e-12)


def test_what_is_left_out_together():
    fits = {}
    for cv in (None, "output", 5, KFold(4), KFold(4, shuffle=True, random_state=0)):
        model = ConditionalRiskMinimizer(alpha="auto", cv=cv, smoother="kernel_ridge").fit(X, Y)
        fits[str(cv)] = model.search_.best["risk"]
    assert fits["output"] > fits["None"]  # outputs never seen are harder
    listed = ConditionalRiskMinimizer(cv=list(KFold(4).split(X)), smoother="kernel_ridge").fit(X, Y)
    assert listed.search_.best["risk"] == fits[str(KFold(4))]
    stratified = ConditionalRiskMinimizer(cv=StratifiedKFold(3), smoother="kernel_ridge").fit(
        X, Y[:, 0]
    )
    assert stratified.search_.best["risk"] < 0.6
    grouped = ConditionalRiskMinimizer(cv=GroupKFold(4), smoother="kernel_ridge").fit(
        X, Y, groups=np.arange(60) // 6
    )
    assert grouped.search_.best["risk"] > 0
    with pytest.raises(ValueError, match="Row 0 is in no test set"):
        ConditionalRiskMinimizer(cv=TimeSeriesSplit(3), smoother="kernel_ridge").fit(X, Y)
    with pytest.raises(ValueError, match="which the smoother has not"):
        ConditionalRiskMinimizer(smoother=Neighbors(3)).fit(X, Y, groups=np.arange(60))
    for bad in ("one", "two", 1, True, 3.5):
        with pytest.raises(ValueError, match=f"^cv .*got '?{bad}"):
            ConditionalRiskMinimizer(cv=bad, smoother="kernel_ridge").fit(X, Y)
    with pytest.raises(ValueError, match="one group"):
        ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, Y, groups=np.zeros(60))
    with pytest.raises(ValueError, match="groups has 3 entries for 60"):
        ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, Y, groups=[0, 1, 2])


def test_leave_one_out_cannot_see_a_shift_but_groups_can():
    """Blocks of near copies: leave-one-out believes in copying, leave-block-out does not."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((12, 3))
    block = np.repeat(np.arange(12), 8)
    X = centres[block] + 0.01 * rng.standard_normal((96, 3))
    y = rng.integers(0, 2, 12)[block]  # labels by block alone: nothing carries over
    alone = ConditionalRiskMinimizer(kernel=RBF(1.0)).fit(X, y)
    blocks = ConditionalRiskMinimizer(kernel=RBF(1.0)).fit(X, y, groups=block)
    assert alone.search_.best["risk"] == 0.0
    assert blocks.search_.best["risk"] > 0.3


def test_kernel_and_gamma_are_searched_too():
    model = ConditionalRiskMinimizer(kernel=["linear", RBF("auto")], alpha=[0.1, 1.0])
    model.fit(X, Y)
    assert len(model.search_.trials) == 2 * (1 + 7)
    assert model.search_.best["risk"] == min(t["risk"] for t in model.search_.trials)
    assert kernel_name(model.kernel_) in ("linear", "rbf")


@pytest.mark.slow
@pytest.mark.parametrize(
    "smoother",
    [Neighbors(7), NadarayaWatson(), Forest(20, random_state=0), KernelRidge(alpha=0.5)],
    ids=lambda s: type(s).__name__,
)
def test_linear_smoothers(smoother):
    model = ConditionalRiskMinimizer(smoother=smoother, loss="hamming").fit(X, Y)
    assert_allclose(model.smoother_.weights(X_NEW).sum(axis=1), 1.0)
    assert model.predict(X_NEW, loss="f1").shape == Y_NEW.shape
    assert model.score(X_NEW, Y_NEW) > -1.7


@pytest.mark.parametrize(
    "smoother",
    [RandomForestRegressor(20), MLPRegressor(hidden_layer_sizes=(8,), max_iter=30)],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_regressor(smoother):
    model = ConditionalRiskMinimizer(TREE, smoother=smoother, random_state=0).fit(X, H)
    assert TREE.contains(model.predict(X_NEW)).all()
    assert TREE.contains(model.predict(X_NEW, loss="hamming")).all()  # the same embedding
    with pytest.raises(ValueError, match="fit with that loss"):
        model.predict(X_NEW, loss="f1")
    with pytest.raises(ValueError, match="no weights"):
        model.explain(X_NEW)
    again = ConditionalRiskMinimizer(TREE, smoother=smoother, random_state=0).fit(X, H)
    assert_array_equal(again.predict(X_NEW), model.predict(X_NEW))


def test_sample_weights():
    weight = np.zeros(60)
    weight[:40] = 1.0
    part = ConditionalRiskMinimizer(alpha=0.3, kernel=RBF(0.1)).fit(X[:40], Y[:40])
    weighted = ConditionalRiskMinimizer(alpha=0.3, kernel=RBF(0.1)).fit(X, Y, sample_weight=weight)
    assert_allclose(weighted.predict_risk(X_NEW), part.predict_risk(X_NEW), atol=1e-8)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        ConditionalRiskMinimizer(smoother=NoWeights()).fit(X, Y, sample_weight=weight)


class NoWeights(KernelRidge):
    def fit(self, X, y):
        return super().fit(X, y)


# ------------------------------------------------------------------ the user's own words
def test_frames_in_frames_out():
    frame = pd.DataFrame(X, columns=list("uvwxyz"), index=[f"i{k}" for k in range(60)])
    labels = pd.DataFrame(Y.astype(bool), columns=["p", "q", "r", "s"], index=frame.index)
    model = ConditionalRiskMinimizer(alpha=0.3).fit(frame, labels)
    new = pd.DataFrame(X_NEW, columns=list("uvwxyz"), index=range(100, 130))
    out = model.predict(new)
    assert list(out.columns) == ["p", "q", "r", "s"]
    assert list(out.index) == list(range(100, 130))
    assert {dtype.kind for dtype in out.dtypes} == {"b"}
    assert list(model.kbest(new, 2).outputs[1].columns) == ["p", "q", "r", "s"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(new[list("zyxwvu")])
    series = ConditionalRiskMinimizer(alpha=0.3).fit(frame, pd.Series(["no", "yes"] * 30, name="t"))
    assert series.predict(new).index.tolist() == list(range(100, 130))


@pytest.mark.parametrize("container", [set, list, tuple, frozenset])
def test_rows_of_names(container):
    rows = [container(np.array(TREE.labels_)[row == 1].tolist()) for row in H]
    model = ConditionalRiskMinimizer(TREE, alpha=0.3).fit(X, rows)
    out = model.predict(X_NEW)
    assert out.shape == (30,)
    assert all(type(row) is container for row in out)
    assert model.score(X, rows) > -0.8


def test_sparse_indicator_and_sparse_inputs():
    model = ConditionalRiskMinimizer(alpha=0.3).fit(sparse.csr_array(X), sparse.csr_array(Y))
    out = model.predict(sparse.csr_array(X_NEW))
    assert sparse.issparse(out)
    dense = ConditionalRiskMinimizer(alpha=0.3).fit(X, Y).predict(X_NEW)
    assert_array_equal(out.toarray(), dense)


def test_candidates_of_any_kind_with_any_loss():
    words = np.array(["low", "medium", "high"])
    y = words[RNG.integers(3, size=60)].tolist()

    def loss(z, y):
        return abs(len(z) - len(y)) / 3

    model = ConditionalRiskMinimizer(Candidates(words.tolist(), loss), alpha=0.3).fit(X, y)
    weights = model.smoother_.weights(X_NEW)
    risks = weights @ np.array([[loss(z, t) for z in words] for t in y])
    assert_allclose(model.predict_risk(X_NEW), risks.min(axis=1), atol=1e-9)
    assert list(model.predict(X_NEW)) == words[risks.argmin(axis=1)].tolist()
    assert model.score(X, y) <= 0
    by_callable = ConditionalRiskMinimizer(loss=loss, alpha=0.3).fit(X, y)
    assert_allclose(by_callable.predict_risk(X_NEW), risks.min(axis=1), atol=1e-9)


# ------------------------------------------------------------------ scikit-learn around it
def test_pipeline_grid_and_cross_validation():
    model = make_pipeline(StandardScaler(), ConditionalRiskMinimizer(TREE, alpha=0.3))
    grid = GridSearchCV(
        model,
        {
            "conditionalriskminimizer__alpha": [0.1, 1.0],
            "conditionalriskminimizer__loss": ["hamming", HierarchicalLoss("uniform")],
        },
        cv=3,
    ).fit(X, H)
    assert grid.best_score_ <= 0
    assert cross_val_score(model, X, H, cv=3).shape == (3,)
    assert cross_val_predict(model, X, H, cv=3).shape == H.shape
    rows = [set(np.array(TREE.labels_)[row == 1].tolist()) for row in H]
    assert cross_val_score(model, X, rows, cv=3).shape == (3,)
    restored = pickle.loads(pickle.dumps(grid.best_estimator_))
    assert_array_equal(restored.predict(X_NEW), grid.predict(X_NEW))


def test_nested_parameters():
    model = ConditionalRiskMinimizer(smoother=Forest(5))
    model.set_params(smoother__n_estimators=7)
    assert clone(model).get_params()["smoother__n_estimators"] == 7


def test_batches_memory_order_and_threads_do_not_matter():
    """Planted ties: every row twice with opposite outputs, so that all means are halves."""
    X_tied = np.vstack([X, X])
    Y_tied = np.vstack([Y, 1 - Y])
    model = ConditionalRiskMinimizer(alpha=0.1, loss="hamming").fit(X_tied, Y_tied)
    at_once = model.predict(X_NEW)
    assert not at_once.any()  # a tie goes to the smaller set
    one_by_one = np.vstack([model.predict(row[None]) for row in X_NEW])
    assert_array_equal(one_by_one, at_once)
    assert_array_equal(model.predict(np.asfortranarray(X_NEW)), at_once)
    for memory, n_jobs in (("1kB", 1), ("1kB", 2), ("1GB", 2)):
        other = clone(model).set_params(n_jobs=n_jobs)
        for loss in ("hamming", "f1", "zero_one"):
            with config_context(memory=memory):
                found = other.fit(X_tied, Y_tied).predict(X_NEW, loss=loss)
            assert_array_equal(found, model.predict(X_NEW, loss=loss))


@pytest.mark.slow
def test_predicting_from_many_threads_changes_nothing():
    model = ConditionalRiskMinimizer(TREE, "hierarchical", alpha=0.3).fit(X, H)
    losses = ["hierarchical", "hamming", "f1", "zero_one"]
    expected = {loss: model.predict(X_NEW, loss=loss) for loss in losses}
    before = {name: id(value) for name, value in vars(model).items()}
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            asked = [losses[i % 4] for i in range(200)]
            answers = list(pool.map(lambda loss: model.predict(X_NEW, loss=loss), asked))
    finally:
        sys.setswitchinterval(interval)
    for loss, answer in zip(asked, answers):
        assert_array_equal(answer, expected[loss])
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_progress_goes_to_stderr(capfd, shown_at_once):
    ConditionalRiskMinimizer(verbose=1, smoother="kernel_ridge").fit(X, Y).predict(X_NEW)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "alphas" in captured.err
    assert "predicting" in captured.err
    ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, Y)
    assert capfd.readouterr().err == ""


def test_additive_model_on_a_hierarchy():
    plain = ConditionalRiskMinimizer(TREE, "hamming", alpha=0.3).fit(X, H)
    same = ConditionalRiskMinimizer(
        TREE, "hamming", smoother=AdditiveKernelRidge(np.eye(5), alpha=0.3)
    ).fit(X, H)
    assert_allclose(same.predict_risk(X_NEW), plain.predict_risk(X_NEW), atol=1e-8)
    for name in ("adjacency", "laplacian", "diffusion"):
        joint = ConditionalRiskMinimizer(
            TREE, "hierarchical", smoother=AdditiveKernelRidge(name, alpha="auto")
        ).fit(X, H)
        assert TREE.contains(joint.predict(X_NEW)).all()
        assert joint.search_.best["risk"] <= 1.0
    with pytest.raises(ValueError, match="A label kernel joins indicators; F1 needs sized"):
        ConditionalRiskMinimizer(
            TREE, "f1", smoother=AdditiveKernelRidge("laplacian", alpha="auto")
        ).fit(X, H)
    with pytest.raises(ValueError, match="Unknown label kernel"):
        ConditionalRiskMinimizer(TREE, smoother=AdditiveKernelRidge("tree", alpha="auto")).fit(X, H)


def test_the_additive_cost_is_one_solve_with_one_minus_two_y():
    """Without intercept, the decoding cost of Hamming is the joint regression of 1 - 2Y."""
    S = label_kernel_matrix("laplacian", TREE.dag_)
    ridge = AdditiveKernelRidge(S, kernel=RBF(0.1), alpha=0.3, fit_intercept=False)
    model = ConditionalRiskMinimizer(TREE, "hamming", smoother=ridge).fit(X, H)
    costs, _ = model.problem_.costs(model.smoother_.predict(X_NEW))
    direct = ridge.fit(X, 1.0 - 2.0 * H).predict(X_NEW)
    assert_allclose(costs, direct, atol=1e-8)


def test_digits_are_learned():
    X, y = load_digits(return_X_y=True)
    model = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X[:600], y[:600])
    assert model.score(X[600:], y[600:]) > -0.06
