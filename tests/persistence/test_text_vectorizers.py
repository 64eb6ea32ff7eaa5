# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines that begin with a vectorizer of texts, in files and out of them again."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.exceptions import ModelFileError
from skstruct.persistence.state import build, state_of
from skstruct.persistence.stored_predictions import own_rows

TEXTS = ["red shoe small", "blue shoe", "red hat", "blue hat big"] * 5
TAGS = [["shoe", "red"], ["shoe"], ["red"], []] * 5
VECTORIZERS = [
    TfidfVectorizer(min_df=2),
    CountVectorizer(ngram_range=(1, 2), stop_words=["big"]),
    HashingVectorizer(n_features=64),
    TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), dtype=np.float32, norm=None),
]


def fitted(vectorizer):
    learner = ConditionalRiskMinimizer(kernel="linear", alpha=0.1)
    return make_pipeline(vectorizer, learner).fit(TEXTS, TAGS)


@pytest.mark.parametrize("vectorizer", VECTORIZERS, ids=repr)
def test_pipelines_of_texts_come_back(vectorizer, tmp_path):
    pipeline = fitted(vectorizer)
    save_model(pipeline, tmp_path / "tags.model", X=TEXTS[:3])
    again = load_model(tmp_path / "tags.model")
    np.testing.assert_array_equal(again.predict_proba(TEXTS), pipeline.predict_proba(TEXTS))
    assert again.predict(["a red shoe"]).tolist() == pipeline.predict(["a red shoe"]).tolist()


def test_other_patterns_are_refused_when_saving(tmp_path):
    pipeline = fitted(TfidfVectorizer(token_pattern=r"([a-z]+)"))
    with pytest.raises(ModelFileError, match="no vectorizer with token_pattern="):
        save_model(pipeline, tmp_path / "tags.model")
    assert not list(tmp_path.iterdir())


HOSTILE = {
    "files are read": {"input": "filename"},
    "a pattern that takes for ever": {"token_pattern": "(a+)+$"},
    "long n-grams": {"ngram_range": (1, 10**6)},
    "columns that are not there": {"vocabulary_": {"red": 7}},
    "other stop words": {"stop_words": [1, 2]},
    "texts as numbers": {"dtype": np.dtype("U1000")},
    "weights of something else": {"_tfidf": CountVectorizer()},
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_files_cannot_make_a_vectorizer_that_does_more(change):
    vectorizer = TfidfVectorizer().fit(TEXTS)
    state = state_of("sklearn.TfidfVectorizer", vectorizer)
    assert build("sklearn.TfidfVectorizer", state).vocabulary_ == vectorizer.vocabulary_
    with pytest.raises(ModelFileError):
        build("sklearn.TfidfVectorizer", {**state, **change})


def test_files_cannot_ask_for_endless_hashes():
    state = state_of("sklearn.HashingVectorizer", HashingVectorizer())
    with pytest.raises(ModelFileError, match="too many features"):
        build("sklearn.HashingVectorizer", {**state, "n_features": 2**25})


@pytest.mark.parametrize("vectorizer", VECTORIZERS, ids=repr)
def test_predictions_of_texts_are_stored_with_the_model(vectorizer):
    pipeline = fitted(vectorizer)
    rows = own_rows(pipeline)
    assert all(type(row) is str for row in rows)
    assert len(pipeline.predict(rows)) == len(rows)
