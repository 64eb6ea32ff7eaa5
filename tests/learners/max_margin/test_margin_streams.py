# SPDX-License-Identifier: BSD-3-Clause
"""The structured support vector machine from blocks of rows has the optimum of arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skstruct import StructuredSVM
from skstruct.kernels import RBF
from skstruct.learners import Checkpoint, passes
from skstruct.learners.max_margin import streams
from skstruct.spaces import Hierarchy, LabelSets, Rankings, Sequences
from skstruct.streaming import ArraySource, IteratorSource

LOSSES = {"rankings": "spearman"}  # the usual one of other spaces
EDGES = [("a", "b"), ("a", "c"), ("d", "e")]


def data(kind, n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal((p, 5)) + 0.5 * rng.standard_normal((n, 5))
    if kind == "rankings":
        return Rankings(list("abcd")), X, np.argsort(np.argsort(scores[:, :4])) + 1
    if kind == "sequences":
        X = [rng.standard_normal((rng.integers(1, 5), p)) for _ in range(n)]
        return Sequences("abc"), X, [["abc"[k] for k in x[:, :3].argmax(axis=1)] for x in X]
    Y = (scores > 0.3).astype(int)
    if kind == "hierarchy":
        Y[:, 0] |= Y[:, 1] | Y[:, 2]
        Y[:, 3] |= Y[:, 4]
        return Hierarchy(EDGES, labels=list("abcde")), X, Y
    return LabelSets(list("abcde")), X, Y


def blocks(X, y, weight=None, sizes=(7,)):
    """A function that makes an iterator of blocks of these sizes, over and over."""

    def made():
        start, k = 0, 0
        while start < len(y):
            rows = slice(start, start + sizes[k % len(sizes)])
            yield (X[rows], y[rows]) if weight is None else (X[rows], y[rows], weight[rows])
            start, k = rows.stop, k + 1

    return made


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    kind=st.sampled_from(["labels", "rankings", "sequences", "hierarchy"]),
    alpha=st.sampled_from([0.01, 0.1, 1.0]),
    rescaling=st.sampled_from(["margin", "slack"]),
    weighted=st.booleans(),
    intercept=st.booleans(),
    sizes=st.lists(st.integers(5, 40), min_size=1, max_size=4),
    seed=st.integers(0, 10**6),
)
def test_the_optimum_is_that_of_arrays(kind, alpha, rescaling, weighted, intercept, sizes, seed):
    space, X, y = data(kind, seed=seed)
    rescaling = "margin" if kind in ("rankings", "sequences") else rescaling
    weight = np.linspace(0.0, 2.0, len(y)) if weighted else None
    shared = {"alpha": alpha, "fit_intercept": intercept, "rescaling": rescaling}
    shared |= {"tol": 0.01, "random_state": 0, "max_iter": 5000}
    whole = StructuredSVM(space, LOSSES.get(kind), **shared).fit(X, y, weight)
    streamed = StructuredSVM(space, LOSSES.get(kind), **shared).fit(blocks(X, y, weight, sizes))
    assert streamed.gap_ <= 0.01 * streamed.objective_
    assert streamed.dual_objective_ <= whole.objective_ * (1 + 1e-9)
    assert whole.dual_objective_ <= streamed.objective_ * (1 + 1e-9)
    assert streamed.objective_ <= whole.objective_ + streamed.gap_ + 1e-9
    # At the weights that were found, the objective of arrays is the one that was stated.
    rows = X if kind != "sequences" else np.vstack(X)
    one = streamed.scores_._with_one(rows)
    problem = whole_problem(streamed, X, y)
    scores, constants = one @ streamed.scores_.weights_, streamed.scores_.constants_
    oracle = streams.oracle_of(problem, rescaling)
    bounds = oracle(scores, constants, np.arange(len(y))).bounds
    squares = (streamed.scores_.weights_**2).sum() + (constants**2).sum()
    objective = np.average(bounds, weights=weight) + alpha / 2 * squares
    assert_allclose(streamed.objective_, objective, rtol=1e-9)


def whole_problem(model, X, y):
    """The problem of all rows, as a fit to arrays has it."""
    fresh = StructuredSVM(model.space, model.loss)
    inputs, _ = fresh._begin(X, y, None, reset=True)
    return fresh._problem(inputs)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    kind=st.sampled_from(["labels", "rankings", "sequences"]),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=4),
    seed=st.integers(0, 10**6),
)
def test_blocks_of_any_sizes_give_the_same_sums(kind, sizes, seed):
    space, X, y = data(kind, seed=seed)
    weight = np.random.default_rng(seed).random(len(y))
    model = StructuredSVM(space, LOSSES.get(kind), alpha=1.0)
    inputs, _ = model._begin(X, y, weight, reset=True)
    model.problem_ = model._problem(inputs)
    model.scores_, rows = model._rows(inputs, weight)
    reader, rng = streams.HingeBlocks(model, rows), np.random.default_rng(seed)
    W = rng.normal(size=(rows.X.shape[1], model.problem_.n_seeing))
    w = rng.normal(size=model.problem_.n_constants)
    [one] = IteratorSource(blocks(X, y, weight, sizes)).partitions()
    [all_rows] = IteratorSource(blocks(X, y, weight, [len(y)])).partitions()
    found = streams.hinge_sums(one, reader, W, w)
    for part, expected in zip(found, streams.hinge_sums(all_rows, reader, W, w)):
        assert_allclose(part, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
def test_blocks_of_any_sizes_give_the_same_weights(monkeypatch):
    space, X, y = data("labels", n=200)
    expected = StructuredSVM(space, alpha=0.1).fit(ArraySource(X, y))
    models = [StructuredSVM(space, alpha=0.1).fit(blocks(X, y, sizes=s)) for s in ([1], [33, 90])]
    monkeypatch.setattr(streams, "AT_ONCE", 100)
    models.append(StructuredSVM(space, alpha=0.1).fit(ArraySource(X, y)))
    for model in models:
        assert_allclose(model.coef_, expected.coef_, atol=1e-9)
        assert_allclose(model.history_, expected.history_, rtol=1e-9)


@pytest.mark.slow
def test_landmarks_and_sparse_rows():
    space, X, y = data("labels", n=60)
    shared = {"alpha": 0.01, "tol": 1e-3, "random_state": 0}
    for kernel in ({"kernel": RBF(0.5), "n_landmarks": 8}, {}):
        whole = StructuredSVM(space, **shared, **kernel).fit(X, y)
        streamed = StructuredSVM(space, **shared, **kernel).fit(ArraySource(X, y))
        assert_allclose(streamed.objective_, whole.objective_, rtol=2e-3)
    thin = StructuredSVM(space, **shared).fit(ArraySource(sparse.csr_array(X), y))
    assert_allclose(thin.coef_, streamed.coef_, atol=1e-9)


@pytest.mark.slow
def test_a_penalty_is_that_of_the_sample(monkeypatch):
    space, X, y = data("labels", n=60)
    whole = StructuredSVM(space).fit(X, y)
    streamed = StructuredSVM(space).fit(ArraySource(X, y))
    assert streamed.alpha_ == whole.alpha_
    assert streamed.search_.best == whole.search_.best
    monkeypatch.setattr(passes, "SAMPLE_ROWS", 30)
    some = StructuredSVM(space, random_state=0).fit(ArraySource(X, y))
    assert len(some.outputs_) == 30
    assert some.gap_ <= 0.01 * some.objective_


def test_parquet_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    space, X, y = data("labels")
    frame = pandas.DataFrame(np.hstack([X, y]), columns=["u", "v", "w", *"abcde"])
    frame[list("abcde")] = frame[list("abcde")].astype(int)
    frame.to_parquet(tmp_path / "rows.parquet")
    model = StructuredSVM(space, alpha=0.1).fit(tmp_path / "rows.parquet", list("abcde"))
    expected = StructuredSVM(space, alpha=0.1).fit(ArraySource(X, y))
    assert_allclose(model.coef_, expected.coef_, atol=1e-9)
    assert_array_equal(model.predict(frame[["u", "v", "w"]]), expected.predict(X))


class StoppedError(Exception):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["labels", "sequences"])
def test_a_fit_that_is_stopped_goes_on_to_the_same_bits(kind, tmp_path, monkeypatch):
    space, X, y = data(kind)
    model = StructuredSVM(space, random_state=0)
    whole = StructuredSVM(space, random_state=0).fit(blocks(X, y))
    one_pass, n_passes = streams.StreamedHinge._pass, []

    def stopping(self):
        n_passes.append(1)
        if len(n_passes) == 4:
            raise StoppedError
        one_pass(self)

    monkeypatch.setattr(streams.StreamedHinge, "_pass", stopping)
    path = Checkpoint(tmp_path / "fit", every=0)
    with pytest.raises(StoppedError):
        model.fit(blocks(X, y), checkpoint=path)
    model.fit(blocks(X, y), checkpoint=path)
    assert len(n_passes) == whole.n_iter_ + 1
    assert_array_equal(model.scores_.weights_, whole.scores_.weights_)
    assert_array_equal(model.scores_.constants_, whole.scores_.constants_)
    assert_array_equal(model.history_, whole.history_)
    assert not (tmp_path / "fit").exists()


def test_what_cannot_be_streamed_is_said():
    space, X, y = data("labels")
    with pytest.raises(ValueError, match="StructuredSVM reads rows several times, and an iterator"):
        StructuredSVM(space).fit(iter([(X, y)]))
    with pytest.raises(ValueError, match="by features: give n_landmarks"):
        StructuredSVM(space, kernel="rbf").fit(ArraySource(X, y))
    with pytest.raises(ValueError, match="the blocks of the source have no outputs"):
        StructuredSVM(space).fit(ArraySource(X))
    with pytest.raises(ValueError, match="at least one non-zero"):
        StructuredSVM(space, alpha=1.0).fit(ArraySource(X, y, np.zeros(len(y))))
    fixed = space.restrict(include=[["a"]] * len(y))
    with pytest.raises(ValueError, match="Constraints of single rows"):
        StructuredSVM(fixed, alpha=1.0).fit(ArraySource(X, np.maximum(y, [1, 0, 0, 0, 0])))
    wrong = X.copy()
    wrong[31, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        StructuredSVM(space, alpha=1.0).fit(ArraySource(wrong, y))


def test_what_only_a_later_block_shows_is_placed(monkeypatch):
    _, X, _ = data("labels")
    names = ["a", "b"] * 20
    monkeypatch.setattr(passes, "SAMPLE_ROWS", 10)
    source = blocks(X, [*names[:-1], "c"])
    with pytest.raises(ValueError, match="rows 35 to 39"):
        StructuredSVM(alpha=1.0, random_state=0).fit(source)


def test_too_few_passes_are_warned_of():
    space, X, y = data("labels")
    with pytest.warns(ConvergenceWarning, match="after 2 passes the gap is"):
        model = StructuredSVM(space, alpha=0.001, max_iter=2).fit(ArraySource(X, y))
    assert model.n_iter_ == len(model.history_) == 2
    assert model.gap_ == model.objective_ - model.dual_objective_ > 0
