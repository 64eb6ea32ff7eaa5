# SPDX-License-Identifier: BSD-3-Clause
"""Kernels on strings against counting n-grams one by one."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from skstruct.kernels import BlendedSpectrumKernel, SpectrumKernel, WeightedDegreeKernel
from skstruct.kernels.strings import kernels as ngram_kernel
from skstruct.kernels.strings import ngrams
from skstruct.kernels.strings import ngrams as stacked
from skstruct.kernels.strings.kernels import shift_values

KERNELS = [
    SpectrumKernel(),
    BlendedSpectrumKernel(),
    BlendedSpectrumKernel(weights=[0.0, 1.0, 3.5]),
    WeightedDegreeKernel(),
    WeightedDegreeKernel(2, weights=[0.5, 2.0]),
    WeightedDegreeKernel(shift=2),
    WeightedDegreeKernel(2, shift=5, weights=[1.0, 0.0]),
]
# Few letters, so that strings share n-grams; combining, astral and surrogate code points.
LETTERS = "ab\0\u0301\U0001f9ec\ud800"
BIG = 10**30  # a token that is no machine number


def names(kernel):
    return repr(kernel)


@st.composite
def many_strings(draw, max_size=5):
    text = st.text(st.sampled_from(LETTERS[: draw(st.integers(1, len(LETTERS)))]), max_size=9)
    token = st.sampled_from(["a", "ab", 1, BIG, None, (2, "b")])
    tokens = st.one_of(st.lists(token, max_size=9), st.lists(token, max_size=9).map(tuple))
    row = draw(st.sampled_from([text, st.text(max_size=6), tokens, st.one_of(text, tokens)]))
    return draw(st.lists(row, min_size=1, max_size=max_size))


def grams(x, m):
    """The m-grams of x in order, as tuples."""
    return [tuple(x[i : i + m]) for i in range(len(x) - m + 1)]


def spectrum(x, y, m):
    counts_x, counts_y = Counter(grams(x, m)), Counter(grams(y, m))
    return sum(count * counts_y[u] for u, count in counts_x.items())


def naive(kernel, x, y):
    """The kernel without normalization, straight from its definition."""
    n = kernel.n
    if isinstance(kernel, SpectrumKernel):
        return spectrum(x, y, n)
    if isinstance(kernel, BlendedSpectrumKernel):
        weights = [1.0] * n if kernel.weights is None else kernel.weights
        return sum(w * spectrum(x, y, m) for m, w in enumerate(weights, start=1))
    default = [2 * (n - m + 1) / (n * (n + 1)) for m in range(1, n + 1)]
    total = 0.0
    for m, beta in enumerate(default if kernel.weights is None else kernel.weights, start=1):
        for i, u in enumerate(grams(x, m)):
            for j, v in enumerate(grams(y, m)):
                s = abs(i - j)
                if u == v and s <= kernel.shift:
                    total += beta * (1.0 if s == 0 else 1 / (2 * (s + 1)))
    return total


def naive_matrix(kernel, A, B):
    K = np.array([[naive(kernel, a, b) for b in B] for a in A], dtype=np.float64)
    if kernel.normalize:
        norms = np.sqrt(
            np.outer([naive(kernel, a, a) for a in A], [naive(kernel, b, b) for b in B])
        )
        K = np.divide(K, norms, out=np.zeros_like(K), where=norms > 0)
    return K


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS, ids=names)
@given(many_strings(), many_strings(), st.integers(1, 4), st.booleans())
def test_kernel_and_features_are_the_definition(kernel, A, B, n, normalize):
    kernel = clone(kernel).set_params(normalize=normalize)
    if getattr(kernel, "weights", None) is None:
        kernel.set_params(n=n)
    expected = naive_matrix(kernel, A, B)
    assert_allclose(kernel(A, B), expected, atol=1e-12)
    assert_allclose(kernel(A), naive_matrix(kernel, A, A), atol=1e-12)
    assert_allclose(kernel.diagonal(A), kernel(A).diagonal(), atol=1e-12)
    features = kernel.fit(B).transform(A)
    assert features.shape == (len(A), len(kernel.get_feature_names_out()))
    assert features.has_canonical_format
    assert_allclose((features @ kernel.transform(B).T).toarray(), expected, atol=1e-12)


@pytest.mark.slow
@given(many_strings(), many_strings(), st.integers(1, 9), st.data())
def test_long_ngrams_and_small_blocks(A, B, n, data):
    """Codes of few bits, blocks of few windows and rows, dense and sparse products."""
    kernel = data.draw(st.sampled_from([SpectrumKernel(n), WeightedDegreeKernel(n, shift=1)]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ngrams, "LARGEST", data.draw(st.integers(1, 1000)))
        patch.setattr(ngrams, "use_table", data.draw(st.sampled_from([no, yes])))
        patch.setattr(stacked, "BLOCK", data.draw(st.integers(1, 30)))
        patch.setattr(ngram_kernel, "MEMORY", data.draw(st.integers(1, 500)))
        patch.setattr(ngram_kernel, "DENSE_GAIN", data.draw(st.sampled_from([0.0, 2.0, 1e9])))
        expected = naive_matrix(kernel, A, B)
        assert_allclose(kernel(A, B), expected, atol=1e-12)
        kernel.fit(B)
        assert_allclose((kernel.transform(A) @ kernel.transform(B).T).toarray(), expected,
                        atol=1e-12)  # fmt: skip


def yes(span, codes):
    return span <= 10**6


def no(span, codes):
    return False


@given(st.lists(st.text("ab", max_size=8), min_size=1, max_size=5), st.integers(1, 4))
def test_names_are_what_the_columns_count(X, n):
    kernel = SpectrumKernel(n, normalize=False).fit(X)
    found = kernel.get_feature_names_out().tolist()
    assert found == sorted({"".join(u) for x in X for u in grams(x, n)})
    expected = [[Counter("".join(u) for u in grams(x, n))[name] for name in found] for x in X]
    assert_array_equal(kernel.transform(X).toarray(), np.reshape(expected, (len(X), len(found))))


def test_names_of_lengths_positions_and_tokens():
    assert BlendedSpectrumKernel(2).fit(["ab"]).get_feature_names_out().tolist() == ["a", "b", "ab"]
    words = SpectrumKernel(2).fit([["to", "be", "or"]]).get_feature_names_out().tolist()
    assert words == ["to be", "be or"]
    placed = WeightedDegreeKernel(1).fit(["ba"]).get_feature_names_out().tolist()
    assert placed == ["a@1", "b@0"]


@pytest.mark.parametrize("shift", [0, 1, 2, 3, 7, 40, 500])
def test_values_at_shifted_positions(shift):
    f = np.array(shift_values(shift))
    weights = np.correlate(f, f, "full")[shift:]
    assert_allclose(weights, [1.0, *(0.5 / np.arange(2, shift + 2))], atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0, 1, 3, 30])
def test_no_negative_eigenvalues(shift):
    rng = np.random.default_rng(shift)
    X = ["".join(rng.choice(list("ab"), size)) for size in rng.integers(0, 25, 30)]
    for normalize in (False, True):
        kernel = WeightedDegreeKernel(3, shift=shift, normalize=normalize)
        K = naive_matrix(kernel, X, X)
        assert np.linalg.eigvalsh(K)[0] > -1e-10 * np.trace(K)
        assert_allclose(kernel(X), K, atol=1e-11)


def test_counts_are_exact_and_the_diagonal_is_one():
    X = ["a" * 3000, "ab" * 1500, "b", "a" * 2999]
    K = SpectrumKernel(3, normalize=False)(X)
    assert_array_equal(K[0], [2998.0**2, 0, 0, 2998.0 * 2997])
    assert_array_equal(SpectrumKernel(3)(X).diagonal(), [1, 1, 0, 1])
    assert_array_equal(SpectrumKernel(3).diagonal(X), [1, 1, 0, 1])


def test_alphabets_beyond_the_bits_of_a_word():
    """Ten symbols of hundreds need more than 63 bits, twenty of four do not."""
    rng = np.random.default_rng(0)
    X = ["".join(map(chr, rng.integers(0x4E00, 0x9FFF, 300))) for _ in range(3)]
    X += [X[0][5:40] + X[1][100:260] + "\U0001f9ec" * 30]
    kernel = SpectrumKernel(10, normalize=False)
    assert_array_equal(kernel(X), naive_matrix(kernel, X, X))
    assert len(kernel.fit(X).vocabularies_[0].levels) > 1
    assert_array_equal(kernel.fit(X[:3]).transform(X).sum(axis=1), [291, 291, 291, 26 + 151])
    assert len(SpectrumKernel(20).fit(["ACGT" * 9]).vocabularies_[0].levels) == 1


@pytest.mark.parametrize("form", [tuple, np.array, pd.Series, iter, list])
def test_forms_of_inputs(form):
    X = ["banana", "ananas", "bandana"]
    expected = SpectrumKernel(2)(X)
    assert_array_equal(SpectrumKernel(2)(form(X)), expected)
    assert_array_equal(SpectrumKernel(2)(form([list(x) for x in X[:2]]), X), expected[:2])


def test_a_character_is_a_token():
    kernel = SpectrumKernel(2, normalize=False).fit(["abc"])
    assert_array_equal(kernel.transform([["a", "b", "c"], ["ab", "c"]]).toarray(), [[1, 1], [0, 0]])
    assert kernel([np.array([3, 1, 3])], [[3, 1], [1.0, 3.0]]).tolist() == [[1, 1]]


@pytest.mark.parametrize("kernel", KERNELS, ids=names)
def test_strings_without_ngrams(kernel):
    assert_array_equal(kernel(["", "abab"], ["", "ab", "abab"])[0], 0)
    fitted = clone(kernel).fit(["", ""])
    assert fitted.transform(["", "abcd"]).shape == (2, 0)
    assert len(fitted.get_feature_names_out()) == 0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("banana", "SpectrumKernel expects a list of strings; got the single string 'banana' as"),
        (b"banana", "single string"),
        ([], "needs at least one string; X is empty"),
        (["a", None], r"X\[1\] is None of type NoneType"),
        (["a", "b", 3.5], r"X\[2\] is 3.5 of type float"),
        ([b"ab"], r"X\[0\] is b'ab' of type bytes"),
        ({"a", "b"}, "X is a set"),
        ({"a": "b"}, "X is a dict"),
        ([{"a", "b"}], r"X\[0\] is .* of type set"),
        ([["a"], [["b"]]], r"tokens are hashable; in X\[1\]: unhashable type: 'list'"),
        (np.zeros(3), r"X\[0\] is .*0.0.* of type float64"),
        (np.zeros((2, 2, 2)), r"X\[0\]"),
        (7, "X is a int"),
        (pd.DataFrame({"s": ["ab"]}), "X is a DataFrame"),
        (pd.Series(["ab", pd.NA], dtype="string"), r"X\[1\] is <NA>"),
    ],
)
def test_inputs_that_are_not_strings(X, message):
    with pytest.raises(ValueError, match=message):
        SpectrumKernel().fit(X)
    fitted = SpectrumKernel().fit(["abc"])
    with pytest.raises(ValueError, match=message):
        fitted.transform(X)


def test_errors_name_the_argument():
    with pytest.raises(ValueError, match=r"B\[1\] is 3"):
        SpectrumKernel()(["a"], ["a", 3])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (SpectrumKernel(0), "n is a whole number of at least 1; got 0"),
        (SpectrumKernel(2.0), "n is a whole number"),
        (SpectrumKernel(True), "n is a whole number"),
        (BlendedSpectrumKernel(2, weights=[1]), r"weights are n = 2 nonnegative .* got \[1\]"),
        (BlendedSpectrumKernel(1, weights=[-1]), "nonnegative"),
        (BlendedSpectrumKernel(1, weights=[float("nan")]), "nonnegative"),
        (WeightedDegreeKernel(2, weights=[0, 0]), "not all zero"),
        (WeightedDegreeKernel(shift=-1), "shift is a whole number of at least 0; got -1"),
        (WeightedDegreeKernel(shift=0.5), "shift is a whole number"),
    ],
)
def test_bad_parameters(kernel, message):
    for call in (kernel, kernel.fit, kernel.diagonal):
        with pytest.raises(ValueError, match=message):
            call(["abc"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Can't test estimator")  # most checks need numbers
@pytest.mark.parametrize("kernel", KERNELS, ids=names)
def test_scikit_learn(kernel):
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list(letters), 12)) for letters in ["aaab", "abbb"] * 20]
    y = np.arange(40) % 2
    copy = pickle.loads(pickle.dumps(clone(kernel).fit(X)))
    assert (copy.transform(X) != clone(kernel).fit_transform(X)).nnz == 0
    model = make_pipeline(clone(kernel), RidgeClassifier()).fit(X, y)
    assert model.score(X, y) > 0.9
    step = type(kernel).__name__.lower()
    search = GridSearchCV(model, {f"{step}__normalize": [True, False]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.6
    assert model[0].__sklearn_tags__().input_tags.string
    check_estimator(clone(kernel), on_skip=None)


def test_a_failed_fit_leaves_the_old_one():
    kernel = SpectrumKernel(1).fit(["ab"])
    with pytest.raises(ValueError, match="None"):
        kernel.fit([None])
    assert kernel.transform(["a"]).shape == (1, 2)
