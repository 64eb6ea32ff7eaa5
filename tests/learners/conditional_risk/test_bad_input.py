# SPDX-License-Identifier: BSD-3-Clause
"""Whatever comes in: a clear error that names the place, or the right answer."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.model_selection import ShuffleSplit

from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.exceptions import InfeasibleError
from skstruct.kernels import RBF, Sigmoid
from skstruct.losses import F1, Hamming, Listed, ZeroOne
from skstruct.model_selection import loss_scorer
from skstruct.smoothing import AdditiveKernelRidge, Neighbors
from skstruct.spaces import BinaryPolytope, Classes, Hierarchy, LabelSets

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((20, 3)), RNG.integers(0, 2, (20, 3))
TREE = Hierarchy([("a", "b"), ("a", "c")])


def broken(array, place, value):
    array = array.astype(float)
    array[place] = value
    return array


BAD_FITS = [
    (broken(X, (2, 1), np.inf), Y, {}, "infinity"),
    (X[0], Y, {}, "2D array"),
    (X, Y[:5], {}, r"\[20, 5\]"),
    (X[:0], Y[:0], {}, "0 sample"),
    (X, broken(Y, (3, 2), 2), {}, r"Y\[3, 2\] is .*2"),
    (X, broken(Y, (3, 2), np.inf), {}, r"Y\[3, 2\] is .*inf"),
    (X, broken(Y[:, 0], 4, np.inf), {}, r"Y\[4\] is inf"),
    (X, np.zeros((20, 2, 2)), {}, "shape"),
    (X, np.tile([0, 1, 0], (20, 1)), {"space": TREE}, r"Y\[0\] has 'b' without its parent 'a'"),
    (X, Y[:, :2], {"space": TREE}, r"\(n_samples, 3\)"),
    (X, [{"a", "x"}] * 20, {"space": TREE}, r"Y\[0\] holds the label 'x'"),
    (X, Y, {"alpha": 0}, "alpha must be positive; got 0"),
    (X, Y, {"alpha": -1.0}, "alpha must be positive"),
    (X, Y, {"alpha": [1.0, -1.0]}, "alpha must be positive"),
    (X, Y, {"alpha": "best"}, "got 'best'"),
    (X, Y, {"kernel": RBF("wide")}, "got 'wide'"),
    (X, Y, {"kernel": RBF(0.0)}, "gamma must be positive"),
    (X, Y, {"kernel": "gauss"}, "Unknown kernel 'gauss'"),
    (X, Y, {"kernel": lambda A, B: np.ones(3), "alpha": 1.0}, r"20 rows has shape \(3,"),
    (X, Y, {"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "not finite"),
    (1e200 * X, Y, {"kernel": "linear"}, "not finite; scale the inputs"),
    (np.ones((20, 19)), Y, {"kernel": "precomputed"}, "square"),
    (np.triu(np.ones((20, 20))), Y, {"kernel": "precomputed"}, r"not symmetric: K\[1, 0\]"),
    (X, Y, {"loss": "f2"}, "Unknown loss 'f2'"),
    (X, Y, {"loss": lambda z, y: None}, "is None, not a finite number"),
    (X, Y, {"alpha": []}, "alpha must be positive"),
    (X, Y, {"kernel": []}, "Nothing to try"),
    (X, Y, {"kernel": RBF([])}, "Nothing to try"),
    (X, Y, {"solver": "lu"}, 'solver is "auto"'),
    (X, [[["a"]]] * 20, {}, "hashable"),
    (X, Y, {"cv": ShuffleSplit(3, random_state=0)}, "is in two test sets"),
    (X, Y, {"space": LabelSets(["a", "b", "a"])}, "the label 'a' is listed twice"),
    (X, Y[:, 0], {"space": Classes([0, 1, 1])}, "the label 1 is listed twice"),
    (X, Y, {"smoother": AdditiveKernelRidge("tree", alpha="auto")}, "Unknown label kernel"),
    (X, Y, {"smoother": AdditiveKernelRidge(np.eye(3), alpha="best")}, "got 'best'"),
    (X, Y[:, 0], {"loss": "f1"}, "asks for sized indicators"),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the overflow is the point
@pytest.mark.parametrize(("X", "Y", "parameters", "message"), BAD_FITS)
def test_bad_fits(X, Y, parameters, message):
    with pytest.raises(ValueError, match=message):
        ConditionalRiskMinimizer(**parameters).fit(X, Y)


def test_bad_predictions():
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, Y)
    for bad, message in ((X[:, :2], "2 features"), (broken(X, (0, 0), np.inf), "infinity")):
        with pytest.raises(ValueError, match=message):
            model.predict(bad)
    with pytest.raises(ValueError, match="k is a whole number, at least 1; got 0"):
        model.kbest(X, 0)
    with pytest.raises(InfeasibleError, match="in row 0"):
        model.predict(X, restrict={"include": [0], "exclude": [0]})
    with pytest.raises(InfeasibleError, match="row 1"):
        model.predict(X[:2], restrict={"include": [[], [1]], "exclude": [1]})
    with pytest.raises(ValueError, match="for 3 rows; got 20"):
        model.predict(X, restrict={"include": [[0], [1], [2]]})
    with pytest.raises(ValueError, match="cannot be restricted"):
        ConditionalRiskMinimizer(alpha=1.0).fit(X, Y[:, 0]).predict(X, restrict={"max_size": 1})


def test_a_failed_fit_leaves_the_old_model_alone():
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(broken(X, (0, 0), np.inf), Y)
    assert_array_equal(model.predict(X), before)


def test_indefinite_kernels_are_named():
    with pytest.raises(LinAlgError, match="larger alpha"):
        ConditionalRiskMinimizer(kernel="precomputed", alpha=0.5).fit(-np.eye(20), Y)


@pytest.mark.parametrize("loss", [Hamming(), F1()], ids=repr)
def test_one_row_predicts_itself(loss):
    model = ConditionalRiskMinimizer(LabelSets(range(3)), loss, smoother="kernel_ridge").fit(
        [[1.0, 2.0]], [[1, 0, 1]]
    )
    assert model.predict([[5.0, 5.0]]).tolist() == [[1, 0, 1]]


def test_one_label_one_feature_one_class():
    one = ConditionalRiskMinimizer(LabelSets(["only"]), smoother="kernel_ridge").fit(
        X[:, :1], Y[:, :1]
    )
    assert one.predict(X[:3, :1]).shape == (3, 1)
    constant = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, ["same"] * 20)
    assert set(constant.predict(X)) == {"same"}
    alone = ConditionalRiskMinimizer(Hierarchy([], labels=["a"]), smoother="kernel_ridge").fit(
        X, Y[:, :1]
    )
    assert alone.predict(X).shape == (20, 1)


def test_constant_inputs_give_the_best_constant():
    ones = np.ones((20, 3))
    truth = np.tile([1, 0, 1], (20, 1))
    truth[:4] = [0, 0, 0]
    model = ConditionalRiskMinimizer(loss="hamming", smoother="kernel_ridge").fit(ones, truth)
    assert_array_equal(model.predict(ones), np.tile([1, 0, 1], (20, 1)))


def test_duplicate_rows():
    model = ConditionalRiskMinimizer(alpha=1e-8).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    assert_array_equal(model.predict(X), Y)


@pytest.mark.parametrize("scale", [1e-100, 1e-5, 1e5, 1e100])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_any_scale_of_inputs(scale, kernel):
    expected = ConditionalRiskMinimizer(kernel=kernel).fit(X, Y).predict(X)
    scaled = ConditionalRiskMinimizer(kernel=kernel).fit(scale * X, Y)
    assert_array_equal(scaled.predict(scale * X), expected)


def test_outputs_never_seen():
    """A label that no training row has: known to the space, never predicted without cause."""
    space = LabelSets(["a", "b", "rare"])
    rows = [{"a"} if x[0] > 0 else {"b"} for x in X]
    model = ConditionalRiskMinimizer(space, "f1", alpha=0.1).fit(X, rows)
    assert all("rare" not in row for row in model.predict(X))
    forced = model.predict(X, restrict={"include": ["rare"]})
    assert all("rare" in row for row in forced)
    with pytest.raises(ValueError, match=r"Y\[0\] holds the label 'new'"):
        model.score(X[:1], [{"new"}])


def test_neighbors_with_fewer_rows_than_asked_for():
    model = ConditionalRiskMinimizer(smoother=Neighbors(50)).fit(X, Y)
    assert model.predict(X).shape == Y.shape


def test_integer_boolean_readonly_and_strided_inputs():
    expected = ConditionalRiskMinimizer(alpha=0.1).fit(np.rint(X), Y).predict(np.rint(X))
    integers = np.rint(X).astype(np.int8)
    model = ConditionalRiskMinimizer(alpha=0.1).fit(integers, Y.astype(bool))
    assert_array_equal(model.predict(integers), expected.astype(bool))
    wide = np.repeat(np.rint(X), 2, axis=1)[:, ::2]
    wide.setflags(write=False)
    labels = Y.copy()
    labels.setflags(write=False)
    model = ConditionalRiskMinimizer(alpha=0.1).fit(wide, labels)
    assert_array_equal(model.predict(wide), expected)


@pytest.mark.parametrize("memory", [1, 800, "1GB"])
@pytest.mark.parametrize("loss", ["hamming", "f1", "zero_one"])
def test_row_by_row_constraints_are_for_just_these_rows(memory, loss):
    model = ConditionalRiskMinimizer(LabelSets(["a", "b", "c"]), alpha=1.0)
    model.fit(X, Y)
    for include in ([["a"], ["b"], ["c"]], [["a"], ["b"], ["c"], [], []]):
        for ask in (model.predict, model.kbest, model.explain):
            said = f"for {len(include)} rows; got 4"
            with pytest.raises(ValueError, match=said), config_context(memory=memory):
                ask(X[:4], loss=loss, restrict={"include": include})


@pytest.mark.parametrize(
    ("restrict", "message"),
    [
        ({"most": 3}, "include, exclude, min_size, max_size, exclusive"),
        ("small", "got 'small'"),
        ({"max_size": np.inf}, "max_size is a whole number"),
        ({"max_size": "a"}, "max_size is a whole number"),
        ({"include": 3}, "include is a list of labels; got 3"),
        ({"exclusive": 3}, "exclusive is a list of groups"),
        ({"include": [[0]] * 4, "exclude": [[1]] * 3}, r"different numbers of rows: \[3, 4\]"),
    ],
)
def test_bad_restrictions(restrict, message):
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(X[:4], restrict=restrict)


def test_lengths_must_agree_when_scoring():
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match=r"\[5, 1\]"):
        model.score(X[:5], Y[:1])
    with pytest.raises(ValueError, match=r"\[5, 1\]"):
        loss_scorer("f1")(model, X[:5], Y[:1])
    with pytest.raises(ValueError, match=r"\[5, 5, 2\]"):
        model.score(X[:5], Y[:5], sample_weight=[1.0, 2.0])
    with pytest.raises(ValueError, match="groups has 3 entries for 20"):
        ConditionalRiskMinimizer(alpha=1.0).fit(X, Y, groups=[1, 2, 3])


def test_f_measures_do_not_forget_the_constraints():
    polytope = BinaryPolytope(A_eq=[[1, 1, 0]], b_eq=[1])
    outputs = polytope.sample(20, 0)
    with pytest.raises(ValueError, match="give candidates"):
        ConditionalRiskMinimizer(polytope, "f1", alpha=1.0).fit(X, outputs)
    listed = ConditionalRiskMinimizer(polytope, Listed(F1()), alpha=1.0).fit(X, outputs)
    assert polytope.contains(listed.predict(X)).all()


def test_indefinite_and_sparse_kernels():
    sigmoid = ConditionalRiskMinimizer(kernel=Sigmoid(coef0=-2.0)).fit(X, Y)
    assert sigmoid.predict(X).shape == Y.shape
    K = X @ X.T
    dense = ConditionalRiskMinimizer(kernel="precomputed", alpha=1.0).fit(K, Y)
    thin = ConditionalRiskMinimizer(kernel="precomputed", alpha=1.0).fit(sparse.csr_array(K), Y)
    assert_array_equal(thin.predict(sparse.csr_array(K)), dense.predict(K))


def test_a_single_target_column_with_any_regressor():
    """No candidate occurs in training: the one target is the total weight."""
    from sklearn.linear_model import Ridge

    space = LabelSets(["a", "b", "c"])
    outputs = np.tile([1, 1, 0], (20, 1))
    loss = ZeroOne(candidates=[[0, 0, 1]])
    model = ConditionalRiskMinimizer(space, loss, smoother=Ridge(), n_jobs=2)
    with config_context(memory=1):
        assert_array_equal(model.fit(X, outputs).predict(X), np.tile([0, 0, 1], (20, 1)))
