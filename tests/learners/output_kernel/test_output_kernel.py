# SPDX-License-Identifier: BSD-3-Clause
"""Regression between kernels: coefficients and pre-images against the obvious way."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

from output_kernel_cases import WORDS, distances, inputs
from skstruct import OutputKernelRegressor, config_context
from skstruct.kernels import (
    RBF,
    Dirac,
    HammingKernel,
    PathKernel,
    SpectrumKernel,
    resolve_output_kernel,
)
from skstruct.smoothing import SampleCompression
from skstruct.spaces import Box, Candidates, Hierarchy, LabelSets, Sequences, Strings


@pytest.mark.parametrize(
    "method", ["ridge", SampleCompression(radius=1.2)], ids=["ridge", "bounded"]
)
@pytest.mark.parametrize(
    "kernel",
    [
        Dirac(),
        HammingKernel(length=6),
        SpectrumKernel(2),
        SpectrumKernel(1, normalize=False),
        Dirac() + 0.5 * HammingKernel(length=6),
    ],
    ids=["dirac", "hamming", "spectrum", "counts", "sum"],
)
def test_the_nearest_candidate_is_found(kernel, method):
    X, new = inputs(len(WORDS)), inputs(20, 1)
    model = OutputKernelRegressor(kernel=RBF(0.5), output_kernel=kernel, method=method, alpha=0.2)
    model.fit(X, WORDS)
    candidates = sorted(set(WORDS))
    values = distances(kernel, model, X, new, WORDS, candidates)
    decoded = model.decode(new)
    assert_allclose(decoded.values, values.min(axis=1), atol=1e-8)
    assert_allclose(decoded.bounds, decoded.values)
    at = [candidates.index(word) for word in decoded.outputs]
    assert_allclose(values[np.arange(len(new)), at], values.min(axis=1), atol=1e-8)
    ranked = model.kbest(new, 3).values
    assert_allclose(ranked, np.sort(values, axis=1)[:, :3], atol=1e-8)


def test_candidates_of_the_users_own():
    X, new = inputs(len(WORDS)), inputs(20, 1)
    candidates = ["cab", "dig", "cat", "cat"]
    kernel = HammingKernel(length=4)
    model = OutputKernelRegressor(
        space=Candidates(candidates), kernel=RBF(0.5), output_kernel=kernel, alpha=0.2
    )
    model.fit(X, WORDS)
    values = distances(kernel, model, X, new, WORDS, candidates)
    decoded = model.decode(new)
    assert set(decoded.outputs) <= set(candidates)
    assert_allclose(decoded.values, values.min(axis=1), atol=1e-8)


def test_coefficients_are_those_of_the_formula():
    X = inputs(len(WORDS))
    model = OutputKernelRegressor(kernel=RBF(0.5), alpha=1 / 3).fit(X, WORDS)
    K = rbf_kernel(X, gamma=0.5)
    assert_allclose(model.coef_, np.linalg.inv(K + np.eye(9) / 3.0), atol=1e-10)
    assert_allclose(model.gram_inputs(), K, atol=1e-12)
    assert_array_equal(model.gram_outputs(), Dirac()(WORDS))
    bounded = OutputKernelRegressor(kernel=RBF(0.5), method=SampleCompression(radius=0.7))
    bounded.fit(X, WORDS)
    assert_allclose((bounded.coef_**2).sum(), 0.49, rtol=1e-9)
    assert bounded.radius_ == 0.7
    assert bounded.alpha_ is None
    assert model.radius_ is None
    assert bounded.method.radius == 0.7  # as given: what was fitted is another
    assert not hasattr(bounded.method, "system_")
    wider = clone(bounded).set_params(method__radius=0.9).fit(X, WORDS)
    assert_allclose((wider.coef_**2).sum(), 0.81, rtol=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_the_whole_space_of_label_sets_is_searched(seed):
    rng = np.random.default_rng(seed)
    X, Y, new = inputs(8, seed), rng.integers(0, 2, (8, 4)), inputs(5, seed + 1)
    model = OutputKernelRegressor(
        space=LabelSets(), kernel=RBF(0.5), output_kernel="linear", alpha=0.5
    )
    model.fit(X, Y)
    every = np.array(list(product((0, 1), repeat=4)))
    b = rbf_kernel(new, X, gamma=0.5) @ np.linalg.inv(rbf_kernel(X, gamma=0.5) + np.eye(8) / 2)
    values = every.sum(axis=1) - 2.0 * b @ Y @ every.T
    decoded = model.decode(new)
    assert_allclose(decoded.values, values.min(axis=1), atol=1e-8)
    assert_allclose(decoded.bounds, decoded.values, atol=1e-8)


@given(st.integers(0, 10**6))
@settings(max_examples=10)
def test_the_whole_space_of_strings_is_searched(seed):
    """Hamming and spectrum kernels over all strings of up to four letters out of two."""
    rng = np.random.default_rng(seed)
    Y = ["".join(rng.choice(["a", "b"], rng.integers(2, 5))) for _ in range(7)]
    X, new = inputs(7, seed), inputs(5, seed + 1)
    low, high = min(map(len, Y)), max(map(len, Y))
    every = ["".join(z) for k in range(low, high + 1) for z in product("ab", repeat=k)]
    cases = [
        (HammingKernel(), HammingKernel(length=high), Sequences("ab")),
        (SpectrumKernel(2, normalize=False),) * 2 + (Strings("ab", n=2),),
    ]
    for kernel, plain, space in cases:
        model = OutputKernelRegressor(
            space=space, kernel=RBF(0.5), output_kernel=kernel, alpha=0.25
        )
        decoded = model.fit(X, Y).decode(new)
        values = distances(plain, model, X, new, Y, every)
        assert_allclose(decoded.values, values.min(axis=1), atol=1e-7)
        at = [every.index(z) for z in decoded.outputs]
        assert_allclose(values[np.arange(5), at], values.min(axis=1), atol=1e-7)


def test_paths_in_a_hierarchy():
    space = Hierarchy([("a", "b"), ("a", "c"), ("c", "d")])
    Y = [{"a", "b"}, {"a", "c"}, {"a", "c", "d"}, {"a"}, {"a", "b"}]
    X = inputs(5)
    model = OutputKernelRegressor(
        space=space, kernel=RBF(0.5), output_kernel=PathKernel(), alpha=0.0001
    )
    model.fit(X, Y)
    assert list(model.predict(X)) == Y
    assert model.score(X, Y) == 0.0
    narrowed = model.predict(X, restrict={"exclude": ["d"]})
    assert all("d" not in z for z in narrowed)


def test_a_gap_is_reported_where_the_space_is_larger_than_the_candidates():
    X, Y = inputs(len(WORDS)), WORDS
    model = OutputKernelRegressor(
        space=Sequences(), kernel=RBF(0.5), output_kernel=SpectrumKernel(2), alpha=0.2
    )
    new = inputs(6, 1)
    decoded = model.fit(X, Y).decode(new)
    assert set(decoded.outputs) <= set(WORDS)
    b = rbf_kernel(new, X, gamma=0.5) @ model.coef_.T
    expected = -np.einsum("ni,ij,nj->n", b, SpectrumKernel(2)(WORDS), b)
    assert_allclose(decoded.bounds, expected, atol=1e-8)
    assert (decoded.bounds <= decoded.values).all()


def test_a_search_computes_no_bounds(monkeypatch):
    """Nobody reads them there, and decisions do not depend on them."""
    X, Y = inputs(len(WORDS)), WORDS
    model = OutputKernelRegressor(
        space=Sequences(), kernel=RBF(0.5), output_kernel=SpectrumKernel(2)
    )
    expected = model.fit(X, Y)
    problem, weights = expected.problem_, np.random.default_rng(0).normal(size=(5, len(Y)))
    assert_array_equal(problem.decide(weights), problem.decode(weights).outputs)

    def bounds(*_):
        raise AssertionError("bounds were asked for")

    monkeypatch.setattr("skstruct.learners.output_kernel.problem.KernelProblem._bounds", bounds)
    chosen = expected.alpha_
    assert clone(model).fit(X, Y).alpha_ == chosen


def test_outputs_come_back_in_their_format():
    X = inputs(4)
    assert OutputKernelRegressor(alpha=1.0).fit(X, [3, 1, 3, 1]).predict(X).dtype.kind == "i"
    series = pd.Series(["a", "b", "a", "c"], name="letter", index=[4, 5, 6, 7])
    frame = pd.DataFrame(X, index=[4, 5, 6, 7], columns=["u", "v"])
    predicted = OutputKernelRegressor(alpha=1e-06).fit(frame, series).predict(frame)
    pd.testing.assert_series_equal(predicted, series)
    paths = [("1", "2"), ("1", "3"), ("2",), ("1", "2")]
    model = OutputKernelRegressor(output_kernel="path", alpha=1e-06).fit(X, paths)
    assert list(model.predict(X)) == paths
    vectors = np.array([[0.5, 1.0], [2.0, 0.25], [0.5, 0.5], [1.0, 1.5]])
    near = OutputKernelRegressor(output_kernel="rbf", alpha=1e-06).fit(X, vectors)
    assert_allclose(near.predict(X), vectors)
    box = OutputKernelRegressor(space=Box(), output_kernel="linear", alpha=1e-06).fit(X, vectors)
    assert_allclose(box.predict(X), vectors, atol=1e-4)


def test_a_precomputed_output_kernel_predicts_row_numbers():
    X, K = inputs(len(WORDS)), SpectrumKernel(1)(WORDS)
    model = OutputKernelRegressor(kernel=RBF(0.5), output_kernel="precomputed", alpha=0.2).fit(X, K)
    plain = OutputKernelRegressor(kernel=RBF(0.5), output_kernel=SpectrumKernel(1), alpha=0.2).fit(
        X, WORDS
    )
    new = inputs(10, 1)
    assert_allclose(model.decode(new).values, plain.decode(new).values, atol=1e-10)
    assert model.predict(new).dtype.kind == "i"


def test_a_function_of_two_outputs():
    X = inputs(len(WORDS))
    model = OutputKernelRegressor(
        kernel=RBF(0.5), output_kernel=lambda y, z: float(y == z), alpha=0.2
    )
    same = OutputKernelRegressor(kernel=RBF(0.5), alpha=0.2).fit(X, WORDS)
    assert_array_equal(model.fit(X, WORDS).predict(X), same.predict(X))


def test_inputs_that_are_strings():
    inputs_ = ["abab", "abba", "baba", "ccc", "cccc", "ccca"]
    y = ["x", "x", "x", "z", "z", "z"]
    model = OutputKernelRegressor(kernel=SpectrumKernel(2), alpha=0.1).fit(inputs_, y)
    assert model.predict(["ab", "cc", ""]).tolist()[:2] == ["x", "z"]
    K = SpectrumKernel(2)(inputs_)
    assert_allclose(model.gram_inputs(), K, atol=1e-12)
    explicit = OutputKernelRegressor(kernel="precomputed", alpha=0.1).fit(K, y)
    values = explicit.decode(SpectrumKernel(2)(["ab", "cac"], inputs_)).values
    assert_allclose(model.decode(["ab", "cac"]).values, values, atol=1e-10)
    assert model.unit_inputs_


def test_explanations_say_who_speaks_for_an_output():
    X = inputs(len(WORDS))
    model = OutputKernelRegressor(kernel=RBF(0.5), alpha=0.02).fit(X, WORDS)
    told = model.explain(X[:3])
    assert_array_equal(told.supporters(1)[:, 0], [0, 1, 2])
    assert told.losses.shape == (3, 9)


def test_radius_zero_answers_with_the_shortest_feature_vector():
    X = inputs(5)
    counts = SpectrumKernel(1, normalize=False)
    model = OutputKernelRegressor(output_kernel=counts, method=SampleCompression(radius=0))
    assert set(model.fit(X, ["aaa", "ab", "abcd", "aa", "ab"]).predict(X)) == {"ab"}


def test_memory_and_threads_do_not_matter():
    X, new = inputs(len(WORDS)), inputs(50, 1)
    model = OutputKernelRegressor(kernel=RBF(0.5), output_kernel="hamming", alpha=0.2).fit(X, WORDS)
    with config_context(memory=1000):
        small = clone(model).set_params(n_jobs=2).fit(X, WORDS).predict(new)
    assert_array_equal(small, model.predict(new))


def test_a_space_that_is_a_list_is_obeyed():
    """Outputs of training that are no candidates count, and are never predicted."""
    X, y = inputs(6), ["cat", "cot", "dog", "zzz", "cat", "cog"]
    listed, kernel = ["cat", "cot", "dot"], HammingKernel(length=3)
    model = OutputKernelRegressor(
        Candidates(listed), kernel=RBF(0.5), output_kernel="hamming", alpha=1.0
    ).fit(X, y)
    values = distances(kernel, model, X, X, y, listed)
    decoded = model.decode(X)
    assert list(model.predict(X)) == [listed[i] for i in values.argmin(axis=1)]
    assert_allclose(decoded.values, values.min(axis=1), atol=1e-8)
    assert_allclose(decoded.bounds, decoded.values)


def test_numbers_under_kernels_of_numbers():
    X = inputs(8)
    y = X[:, 0] + 0.5
    squared = (y[:, None] - y) ** 2
    model = OutputKernelRegressor(output_kernel="rbf", alpha=1.0).fit(X, y)
    gamma = 1.0 / y.var()
    assert_allclose(model.gram_outputs(), np.exp(-gamma * squared), atol=1e-10)
    as_lists = OutputKernelRegressor(output_kernel="rbf", alpha=1.0).fit(X, X.tolist())
    as_array = OutputKernelRegressor(output_kernel="rbf", alpha=1.0).fit(X, X)
    assert_allclose(as_lists.gram_outputs(), as_array.gram_outputs())
    scores = cross_val_score(OutputKernelRegressor(output_kernel="linear", alpha=0.001), X, y, cv=2)
    assert np.isfinite(scores).all()


def test_candidates_of_a_precomputed_kernel_are_row_numbers():
    X = inputs(6)
    K = X @ X.T
    model = OutputKernelRegressor(
        space=Candidates([0, 3]), kernel="precomputed", output_kernel="precomputed", alpha=1.0
    )
    assert set(model.fit(K, K).predict(K)) <= {0, 3}
    with pytest.raises(ValueError, match="y is that kernel's matrix"):
        OutputKernelRegressor(output_kernel="precomputed", alpha=1.0).fit(X, ["a"] * 6)


def test_multiples_of_a_spectrum_kernel_compare_candidates():
    X = inputs(len(WORDS))
    doubled = 2.0 * resolve_output_kernel(SpectrumKernel(2, normalize=False))
    model = OutputKernelRegressor(space=Strings(n=2), output_kernel=doubled, alpha=1.0).fit(
        X, WORDS
    )
    assert set(model.predict(X)) <= set(WORDS)


def test_outputs_without_a_hash():
    class Thing:
        __hash__ = None

        def __init__(self, value):
            self.value = value

        def __eq__(self, other):
            return self.value == other.value

    things = [Thing(i % 2) for i in range(6)]
    kernel = lambda a, b: float(a == b)  # noqa: E731
    model = OutputKernelRegressor(output_kernel=kernel, alpha=1e-06).fit(inputs(6), things)
    assert [z.value for z in model.predict(inputs(6))] == [0, 1, 0, 1, 0, 1]


def test_certificates_of_both_methods():
    X = np.repeat(np.eye(3) * 3.0, 40, axis=0)
    y = np.repeat(["ash", "elm", "oak"], 40)
    model = OutputKernelRegressor(
        space=Candidates(["ash", "elm", "oak"]), kernel=RBF(1.0), alpha=0.1
    ).fit(X, y)
    assert 0 < model.certify(X, y).value < model.certify(X, y, bound="compression").value
    bounded = clone(model).set_params(method=SampleCompression(radius=1.0)).fit(X, y)
    assert bounded.certify(X, y, input_bound=1.0, output_bound=1.0).vacuous
    with pytest.raises(ValueError, match='bound is "pac_bayes" or "compression"'):
        model.certify(X, y, bound="hope")


@pytest.mark.parametrize("memory", ["1KB", "3KB", "1GB"])
def test_many_candidates_are_compared_block_by_block(memory):
    X, new = inputs(len(WORDS)), inputs(15, 1)
    candidates = ["".join(z) for z in product("abcdt", repeat=3)]  # 125 of them
    kernel = HammingKernel(length=4)
    model = OutputKernelRegressor(
        space=Candidates(candidates), kernel=RBF(0.5), output_kernel=kernel, alpha=0.2
    )
    searched = clone(model).set_params(alpha=[10.0, 1.0, 0.1])
    large = clone(searched).fit(X, WORDS)
    with config_context(memory=memory):
        model.fit(X, WORDS)
        assert model.problem_.streamed == (memory != "1GB")
        decoded, best = model.decode(new), model.kbest(new, 4)
        searched.fit(X, WORDS)
    values = distances(kernel, model, X, new, WORDS, candidates)
    assert_allclose(decoded.values, values.min(axis=1), atol=1e-7)
    assert_allclose(best.values, np.sort(values, axis=1)[:, :4], atol=1e-7)
    at = [candidates.index(z) for z in decoded.outputs]
    assert_allclose(values[np.arange(15), at], values.min(axis=1), atol=1e-7)
    assert_allclose(
        [trial["risk"] for trial in searched.search_.trials],
        [trial["risk"] for trial in large.search_.trials],
    )


def test_numeric_candidates_may_lie_beyond_the_outputs_of_training():
    X = inputs(6)
    model = OutputKernelRegressor(space=Candidates([0.0, 1.0, 9.0]), output_kernel="rbf", alpha=1.0)
    assert set(model.fit(X, X[:, 0]).predict(X)) <= {0.0, 1.0, 9.0}
    rows = OutputKernelRegressor(space=Candidates(2.0 * X), output_kernel="rbf", alpha=1.0)
    assert rows.fit(X, X.tolist()).predict(X).shape == X.shape
    for table in (X, pd.DataFrame(X, columns=["u", "v"])):
        told = np.asarray(rows.fit(X, table).predict(X))
        assert (told[:, None] == 2.0 * X).all(axis=2).any(axis=1).all()


def test_a_series_comes_back_with_candidates_too():
    X = pd.DataFrame(inputs(4), columns=["u", "v"], index=list("wxyz"))
    series = pd.Series(["ab", "ba", "ab", "ba"], index=X.index, name="word")
    model = OutputKernelRegressor(
        space=Candidates(["ab", "ba", "aa"]), output_kernel="hamming", alpha=1e-06
    )
    told = model.fit(X, series).predict(X)
    assert list(told.index) == list("wxyz")
    assert told.name == "word"
    assert list(told) == list(series)


def test_the_order_of_rows_decides_between_no_equally_near_outputs():
    """Two sets for every input: both are as near, whatever the kernel between inputs."""
    X = np.repeat(inputs(6), 2, axis=0)
    Y = np.tile([[0, 1, 1], [1, 0, 1]], (6, 1))
    model = OutputKernelRegressor(LabelSets(), output_kernel="hamming", alpha=0.5)
    expected = model.fit(X, Y).predict(X)
    assert_array_equal(model.fit(X[::-1], Y[::-1]).predict(X), expected)
