# SPDX-License-Identifier: BSD-3-Clause
"""Features of tokens against the same features written down name by name."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skstruct import ExponentialFamily, TokenFeatures, load_model, save_model
from skstruct.features.words import shape
from skstruct.spaces import Sequences

WORDS = st.sampled_from(["The", "the", "cat", "X-ray", "1990s", "a", "AIDS", "sleeps", "Ärger"])
TAGS = st.sampled_from(["DT", "NN", "VB"])
SENTENCES = st.lists(st.lists(st.tuples(WORDS, TAGS), max_size=5), min_size=1, max_size=5)
SETTINGS = st.fixed_dictionaries(
    {
        "window": st.integers(0, 3),
        "prefixes": st.integers(0, 3),
        "suffixes": st.integers(0, 4),
        "pairs": st.booleans(),
        "min_count": st.integers(1, 3),
    }
)


def around(values, t, name):
    """The value at an offset with its name; borders outside of the sentence."""

    def one(k):
        at = t + k
        value = "<s>" if at < 0 else "</s>" if at >= len(values) else values[at]
        return name + (f"[{k:+d}]" if k else ""), value

    return one


def joined(one, offsets, values, t):
    """Several offsets as one feature, if one of them is inside."""
    inside = any(0 <= t + k < len(values) for k in offsets)
    names, found = zip(*map(one, offsets))
    return {"|".join(names) + "=" + "|".join(found)} if inside else set()


def column_by_hand(values, t, name, offsets):
    one = around(values, t, name)
    return set(chain.from_iterable(joined(one, k, values, t) for k in offsets))


def token_by_hand(sentence, t, window, prefixes, suffixes, pairs, min_count):
    word, lower = sentence[t][0], [token[0].lower() for token in sentence]
    found = {f"written={word}"} if word != lower[t] else set()
    found |= {f"prefix{k}={lower[t][:k]}" for k in range(1, prefixes + 1) if len(word) > k}
    found |= {f"suffix{k}={lower[t][-k:]}" for k in range(1, suffixes + 1) if len(word) > k}
    found |= {f"shape={shape(word)}"}
    flags = {
        "digit": any(sign.isdigit() for sign in word),
        "hyphen": "-" in word,
        "first": t == 0,
        "last": t == len(sentence) - 1,
    }
    found |= {flag for flag, holds in flags.items() if holds}
    near = [(k,) for k in range(-window, window + 1)]
    together = pairs and window > 0
    found |= column_by_hand(lower, t, "word", near + [(-1, 0), (0, 1)] * together)
    if len(sentence[t]) > 1:
        runs = [(k, k + 1) for k in range(-window, window)] + [(-1, 0, 1)]
        tags = [token[1] for token in sentence]
        found |= column_by_hand(tags, t, "column1", near + runs * together)
    return found


def by_hand(X, known=None, **options):
    """Names of the features of every token; those that training has often enough."""
    tokens = [[token_by_hand(x, t, **options) for t in range(len(x))] for x in X]
    if known is None:
        counts = {}
        for name in chain.from_iterable(chain.from_iterable(tokens)):
            counts[name] = counts.get(name, 0) + 1
        known = {name for name, count in counts.items() if count >= options["min_count"]}
    return [[names & known for names in x] for x in tokens], known


def names_of(features, X):
    names = features.get_feature_names_out()
    return [[set(names[row.indices]) for row in _rows(x)] for x in features.transform(X)]


def _rows(x):
    return [x[[t]] for t in range(x.shape[0])]


@settings(max_examples=60)
@given(SENTENCES, SENTENCES, SETTINGS)
def test_features_are_those_of_the_definition(X, new, options):
    features = TokenFeatures(**options).fit(X)
    expected, known = by_hand(X, **options)
    if not any(X):  # nothing tells that tokens are pairs
        return
    assert set(features.get_feature_names_out()) == known
    assert names_of(features, X) == expected
    assert names_of(features, new) == by_hand(new, known, **options)[0]
    assert all((x.data == 1.0).all() for x in features.transform(new))


@settings(max_examples=30)
@given(SENTENCES, SETTINGS)
def test_all_forms_of_tokens_give_the_same(X, options):
    words = [[word for word, _ in x] for x in X]
    expected = names_of(TokenFeatures(**options).fit(words), words)
    for form in (lambda word: (word,), lambda word: [word], lambda word: {"word": word}):
        tokens = [[form(word) for word in x] for x in words]
        assert names_of(TokenFeatures(**options).fit(tokens), tokens) == expected
    plain = TokenFeatures(**options)
    both = zip(plain.fit_transform(X), clone(plain).fit(X).transform(X))
    assert all((a != b).nnz == 0 for a, b in both)
    matrix, starts = plain.stacked(X)
    assert_array_equal(np.diff(starts), [len(x) for x in X])
    assert (matrix != sparse.vstack(plain.transform(X))).nnz == 0


def test_unknown_words_keep_their_ends_and_neighbours():
    features = TokenFeatures(window=1).fit([["the", "cat", "was", "sleeping"]])
    (unknown,) = names_of(features, [["dogs", "was", "walking"]])
    assert "suffix3=ing" in unknown[2]
    assert "word[-1]=was" in unknown[2]
    assert not any(name.startswith("word=") for name in unknown[2])
    assert "first" in unknown[0]


def test_empty_sentences_are_empty():
    features = TokenFeatures().fit([[], ["a"], []])
    assert [x.shape[0] for x in features.transform([["a", "b"], [], ["c"]])] == [2, 0, 1]
    assert [x.shape[0] for x in features.transform([[]])] == [0]
    assert [x.shape[0] for x in TokenFeatures().fit([[]]).transform([["a"]])] == [1]


def test_rare_features_are_left_out_of_many_tokens():
    few = TokenFeatures().fit([["once", "twice", "twice"]])
    assert few.min_count_ == 1
    many = TokenFeatures().fit([["once"], ["twice"] * 10_000])
    assert many.min_count_ == 2
    assert "word=once" not in many.get_feature_names_out()


def test_columns_of_dictionaries_by_name():
    X = [[{"pos": "DT", "word": "The", "length": 3.0}, {"pos": "NN", "word": "cat", "length": 1}]]
    features = TokenFeatures(window=1).fit(X)
    (first, second) = names_of(features, X)[0]
    assert {"word=the", "pos=DT", "pos[+1]=NN", "length", "pos|pos[+1]=DT|NN"} <= first
    assert {"word=cat", "pos[-1]=DT"} <= second
    values = features.transform(X)[0].toarray()[:, -1]
    assert_array_equal(values, [3.0, 1.0])
    other = [[{"more": 1, "length": 2.0, "word": "cat", "pos": None}]]  # a tag that is not known
    assert not any(name.startswith("pos=") for name in names_of(features, other)[0][0])


# ---------------------------------------------------------------------- vectors
VECTORS = {"the": np.array([1.0, 2.0]), "Cat": np.array([3.0, 4.0]), "cat": np.array([5.0, 6.0])}


@pytest.mark.parametrize("vectors", [VECTORS, VECTORS.get], ids=["mapping", "function"])
def test_vectors_of_words(vectors):
    X = [["the", "Cat", "cat", "dog"]]
    features = TokenFeatures(vectors=vectors).fit(X)
    assert features.get_feature_names_out()[-2:].tolist() == ["vectors0", "vectors1"]
    found = features.transform(X)[0].toarray()[:, -2:]
    assert_array_equal(found, [[1, 2], [3, 4], [5, 6], [0, 0]])
    upper = features.transform([["The"]])[0].toarray()[0, -2:]
    assert_array_equal(upper, [1, 2] if isinstance(vectors, dict) else [0, 0])


def test_tokens_with_vectors_of_their_own():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3, 5))
    X = [[("the", "DT", table[0]), ("cat", "NN", table[1])], [("sleeps", "VB", table[2])]]
    features = TokenFeatures().fit(X)
    found = np.vstack([x.toarray()[:, -5:] for x in features.transform(X)])
    assert_allclose(found, table)
    assert features.get_feature_names_out()[-1] == "column24"
    with pytest.raises(ValueError, match=r"X\[0\]\[0\], column 'column2' .* 5 finite numbers"):
        features.transform([[("the", "DT", table[0, :4])]])


def test_arrays_pass_as_they_are():
    X = [np.ones((2, 3)), np.zeros((1, 3))]
    features = TokenFeatures().fit(X)
    assert all(a is b for a, b in zip(features.transform(X), X))
    with pytest.raises(ValueError, match="arrays, whose features have no names"):
        features.get_feature_names_out()


# ---------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("X", "problem"),
    [
        (["the cat"], r"X\[0\] is 'the cat'; a sentence is the list of its words"),
        ("the cat", "X is a list of sentences"),
        ([["the"], ["a", 3]], r"X\[1\]\[1\] is 3; a token is a word, a tuple"),
        ([[4]], r"X\[0\]\[0\] is 4; a token is a word"),
        ([["the"], [("cat", "NN")]], r"X\[1\]\[0\] is a tuple, and X begins with a str"),
        ([[("a", "DT"), ("cat",)]], r"X\[0\]\[1\] has 1 columns; .* has 2: word, column1"),
        ([[{"word": "a", "pos": "DT"}, {"word": "b"}]], r"X\[0\]\[1\] has no column 'pos'"),
        ([[("a", "DT"), ("b", 7)]], r"X\[0\]\[1\], column 'column1' is 7; .* texts"),
        ([[("a", 1.0), ("b", np.nan)]], r"X\[0\]\[1\], column 'column1' is nan; a finite number"),
        ([[("a", {})]], r"X\[0\]\[0\], column 'column1' is \{\}; a column holds texts"),
        ([[{"word": "a", "shape": "b"}]], "The column 'shape' has the name of a feature"),
    ],
)
def test_errors_name_the_token(X, problem):
    with pytest.raises(ValueError, match=problem):
        TokenFeatures().fit_transform(X)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"window": -1}, "window is a whole number from 0; got -1"),
        ({"suffixes": 1.5}, "suffixes is a whole number from 0"),
        ({"min_count": 0}, "min_count is a whole number from 1"),
        ({"min_count": "few"}, "min_count is a whole number from 1"),
        ({"vectors": 3}, "vectors is a mapping or a function"),
        ({"vectors": {}}, "vectors: no word of X has one"),
    ],
)
def test_parameters_are_checked(options, problem):
    with pytest.raises(ValueError, match=problem):
        TokenFeatures(**options).fit([["a"]])


def test_vectors_of_one_length():
    features = TokenFeatures(vectors={"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"vectors: 'b' has one of shape \(2,\)"):
        features.fit_transform([["a", "b"]])


def test_saved_features_are_the_same(tmp_path):
    X = [[("The", "DT", np.ones(2)), ("cat", "NN", np.zeros(2))], [("a", "DT", np.ones(2))]]
    features = TokenFeatures(vectors=VECTORS, min_count=1)
    model = make_pipeline(features, ExponentialFamily(Sequences(), alpha=0.1))
    model.fit(X, [["B", "I"], ["B"]])
    save_model(model, tmp_path / "tagger.model")
    loaded = load_model(tmp_path / "tagger.model")[0]
    assert_array_equal(loaded.get_feature_names_out(), features.get_feature_names_out())
    new = [[("A", "DT", np.ones(2)), ("Cat", "NN", np.ones(2))]]
    assert (loaded.transform(new)[0] != features.transform(new)[0]).nnz == 0
