# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of words: learners of sequences take them by themselves, and in pipelines."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from skstruct import (
    ConditionalRiskMinimizer,
    ExponentialFamily,
    StructuredPerceptron,
    StructuredSVM,
    TokenFeatures,
    load_model,
    save_model,
)
from skstruct.learners.penalty_path import split_rows
from skstruct.learners.tokens import TokenBatch
from skstruct.spaces import Sequences

KINDS = {"the": "D", "a": "D", "old": "A", "cat": "N", "dog": "N", "sees": "V", "Anna": "P"}


def corpus(n=30, seed=0):
    """Sentences with a tag for every word; a tenth of the tags is drawn."""
    rng = np.random.default_rng(seed)
    phrases = ["the cat", "a dog", "the old dog", "Anna", "an old cat"]
    X = []
    for _ in range(n):
        subject, target = rng.choice(phrases, 2)
        X.append(f"{subject} sees {target}".split())
    y = [
        [str(rng.choice(list("DANVP"))) if rng.random() < 0.1 else KINDS.get(w, "D") for w in x]
        for x in X
    ]
    return X, y


LEARNERS = {
    "exponential": ExponentialFamily(Sequences(), alpha=0.01),
    "svm": StructuredSVM(Sequences(), alpha=0.01, random_state=0),
    "perceptron": StructuredPerceptron(Sequences(), random_state=0),
    "conditional risk": ConditionalRiskMinimizer(Sequences(), alpha=0.1, kernel="linear"),
}


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_words_get_features_by_default(learner, tmp_path):
    X, y = corpus()
    model = clone(learner).fit(X, y)
    piped = make_pipeline(TokenFeatures(), clone(learner)).fit(X, y)
    new = [["a", "cat", "sees", "Ben"], ["Anna"]]
    found = model.predict(new)
    assert list(map(list, found)) == list(map(list, piped.predict(new)))
    assert list(found[0])[:3] == ["D", "N", "V"]
    assert model.score(X, y) == pytest.approx(piped.score(X, y))
    save_model(model, tmp_path / "tagger.model")
    assert list(map(list, load_model(tmp_path / "tagger.model").predict(new))) == list(
        map(list, found)
    )


@pytest.mark.slow
def test_pipelines_are_saved_searched_and_cross_validated(tmp_path):
    X, y = corpus()
    model = make_pipeline(TokenFeatures(window=1), ExponentialFamily(Sequences(), alpha=0.01))
    scores = cross_val_score(model, X, y, cv=3)
    by_hand = []
    for k in range(3):  # contiguous folds
        inside = [k * 10 <= i < (k + 1) * 10 for i in range(30)]
        rest = [i for i in range(30) if not inside[i]]
        test = [i for i in range(30) if inside[i]]
        model.fit([X[i] for i in rest], [y[i] for i in rest])
        by_hand.append(model.score([X[i] for i in test], [y[i] for i in test]))
    assert_allclose(scores, by_hand)
    search = GridSearchCV(model, {"tokenfeatures__window": [0, 1]}, cv=2).fit(X, y)
    best = search.best_estimator_
    save_model(best, tmp_path / "tagger.model")
    loaded = load_model(tmp_path / "tagger.model")
    assert list(map(list, loaded.predict(X))) == list(map(list, best.predict(X)))
    names = best[0].get_feature_names_out()
    assert best[1].coef_.shape == (len(best[1].space_.symbols_), len(names))


def test_rows_of_texts_are_no_sentences_without_a_space_of_sequences():
    model = ExponentialFamily(alpha=1.0).fit([["a", "b"], ["c", "d"]], ["u", "v"])
    assert model.tokens_ is None  # a table of names
    assert model.n_features_in_ == 2


def test_sentences_need_a_space_of_sequences():
    for learner in (ExponentialFamily(alpha=1.0), ConditionalRiskMinimizer(alpha=1.0)):
        with pytest.raises(ValueError, match=r"such as 'Anna', .* give space=Sequences\(\)"):
            learner.fit([["Anna"], ["the", "cat"]], [["P"], ["D", "N"]])


def test_a_model_of_words_refuses_other_inputs():
    X, y = corpus()
    model = ExponentialFamily(Sequences(), alpha=0.01).fit(X, y)
    with pytest.raises(ValueError, match="fitted to sequences of tokens"):
        model.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="fitted to sequences of tokens"):
        model.predict(["a text"])
    assert [list(tags) for tags in model.predict([[], ["cat"]])] == [[], ["N"]]


def test_words_and_tags_differ_in_number():
    with pytest.raises(ValueError, match=r"X\[1\] has 2 positions and y\[1\] 1 symbols"):
        ExponentialFamily(Sequences(), alpha=1.0).fit([["a"], ["b", "c"]], [["D"], ["N"]])


# ---------------------------------------------------------------------- the penalty
def left_out_likelihoods(X, y, alphas):
    """Mean left-out log-likelihood of each penalty, by fits from scratch."""
    space = Sequences().fit(y)
    matrix, starts = TokenFeatures().fit(X).stacked(X)
    rows = [matrix[a:b] for a, b in pairwise(starts)]
    outputs = space.validate(y)
    folds = split_rows(outputs, np.ones(len(X)), None, TokenBatch(matrix, starts))
    found = []
    for alpha in alphas:
        values = []
        for kept, left in folds:
            model = ExponentialFamily(Sequences(space.symbols_), alpha=alpha)
            model.fit([rows[i] for i in kept], [y[i] for i in kept])
            values.append(model.log_proba([rows[i] for i in left], [y[i] for i in left]))
        found.append(np.concatenate(values).mean())
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "seed"), [(None, 0), ("hamming", 1)])
def test_the_penalty_is_the_one_of_largest_left_out_likelihood(loss, seed):
    X, y = corpus(12, seed=seed)
    model = ExponentialFamily(Sequences(), loss).fit(X, y)
    alphas = [trial["alpha"] for trial in model.search_.trials]
    assert alphas == sorted(alphas, reverse=True)
    assert_allclose(np.diff(np.log10(alphas)), -0.5)
    likelihoods = left_out_likelihoods(X, y, alphas)
    assert_allclose([-trial["risk"] for trial in model.search_.trials], likelihoods, rtol=0.01)
    assert model.alpha_ == alphas[likelihoods.argmax()]
    wider = [alphas[0] * 10, alphas[0] * 10**0.5, alphas[-1] / 10**0.5, alphas[-1] / 10]
    assert (left_out_likelihoods(X, y, wider) < likelihoods.max()).all()


@pytest.mark.slow
def test_the_search_begins_at_one_per_sentence():
    """For indicators, whatever their number; for other numbers it follows their scale."""
    X, y = corpus(12)
    tried = [t["alpha"] for t in ExponentialFamily(Sequences()).fit(X, y).search_.trials]
    assert min(abs(np.log10(alpha * len(X))) for alpha in tried) < 0.25
    rng = np.random.default_rng(0)
    arrays = [0.1 * rng.normal(size=(len(x), 4)) for x in X]
    variance = np.average(np.var(np.vstack(arrays), axis=0))
    tried = [t["alpha"] for t in ExponentialFamily(Sequences()).fit(arrays, y).search_.trials]
    usual = variance / len(X)
    assert min(abs(np.log(alpha / usual)) for alpha in tried) < 1e-9


def test_too_few_sentences_take_one_per_sentence():
    model = ExponentialFamily(Sequences()).fit([["a", "cat"], ["dogs"]], [["D", "N"], ["N"]])
    assert model.search_ is None
    assert 0.1 < model.alpha_ * 2 <= 1.0


# ---------------------------------------------------------------------- dense features
def test_dense_features_are_those_of_sparse_matrices():
    X, y = corpus()
    rng = np.random.default_rng(0)
    vectors = {word: rng.normal(size=6) for x in X for word in x}
    arrays = [np.array([vectors[word] for word in x]) for x in X]
    dense = ExponentialFamily(Sequences(), alpha=0.01).fit(arrays, y)
    alike = ExponentialFamily(Sequences(), alpha=0.01).fit([sparse.csr_array(x) for x in arrays], y)
    assert_allclose(dense.coef_, alike.coef_, atol=1e-4)
    through = make_pipeline(TokenFeatures(), clone(dense)).fit(arrays, y)
    assert_array_equal(through[-1].coef_, dense.coef_)
    single = [x.astype(np.float32) for x in arrays]
    assert list(map(list, dense.predict(single))) == list(map(list, dense.predict(arrays)))
