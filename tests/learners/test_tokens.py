# SPDX-License-Identifier: BSD-3-Clause
"""Chains with features for every position: decisions and choices against the obvious way."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.exceptions import InfeasibleError
from skstruct.kernels import RBF
from skstruct.learners.tokens import TokenReader, are_tokens
from skstruct.losses import SequenceHamming
from skstruct.model_selection import left_out_risk
from skstruct.spaces import Sequences


def chains(seed, n=12, q=3, p=2, longest=4):
    """Features that tell of the symbol, and symbols that tell of their successor."""
    rng = np.random.default_rng(seed)
    Y = []
    for _ in range(n):
        symbols = [int(rng.integers(q))]
        for _ in range(rng.integers(0, longest)):
            step = 1 if rng.random() < 0.7 else int(rng.integers(q))
            symbols.append((symbols[-1] + step) % q)
        Y.append("".join("abcdef"[s] for s in symbols))
    centres = rng.standard_normal((q, p))
    X = [
        centres[["abcdef".index(s) for s in y]] + 0.8 * rng.standard_normal((len(y), p)) for y in Y
    ]
    return X, Y


def means_by_hand(X, Y, new, alpha, gamma):
    """Ridge means of symbols and bigrams, one token after the other."""
    symbols = sorted(set("".join(Y)))
    q = len(symbols)
    from sklearn.metrics.pairwise import rbf_kernel

    rows, targets = np.vstack(X), []
    for y in Y:
        for t, s in enumerate(y):
            row = np.zeros(q + q * q)
            row[symbols.index(s)] = 1
            if t:
                row[q + symbols.index(y[t - 1]) * q + symbols.index(s)] = 1
            targets.append(row)
    K = rbf_kernel(rows, gamma=gamma) + alpha * np.eye(len(rows))
    M = np.block([[K, np.ones((len(K), 1))], [np.ones((1, len(K))), np.zeros((1, 1))]])
    coef = np.linalg.solve(M, np.vstack([targets, np.zeros((1, q + q * q))]))
    return symbols, [rbf_kernel(x, rows, gamma=gamma) @ coef[:-1] + coef[-1] for x in new]


def risks_by_hand(symbols, mean, weight):
    """Estimated risk of every sequence of the length of the input."""
    q, length = len(symbols), len(mean)
    risks = {}
    for z in product(range(q), repeat=length):
        risk = sum(1.0 - mean[t, z[t]] for t in range(length))
        for t in range(1, length):
            risk += weight * (1.0 - mean[t, q + z[t - 1] * q + z[t]])
        risks["".join(symbols[s] for s in z)] = risk
    return risks


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.5, 2.0]))
def test_decisions_are_of_least_risk_among_all_sequences(seed, weight):
    X, Y = chains(seed)
    new = chains(seed + 1)[0]
    model = ConditionalRiskMinimizer(
        Sequences(), SequenceHamming(bigrams=weight), alpha=0.3, kernel=RBF(0.5)
    ).fit(X, Y)
    symbols, means = means_by_hand(X, Y, new, 0.3, 0.5)
    decoded = model.decode(new)
    for z, value, bound, mean in zip(decoded.outputs, decoded.values, decoded.bounds, means):
        risks = risks_by_hand(symbols, mean, weight)
        assert_allclose(value, min(risks.values()), atol=1e-7)
        assert_allclose(risks[z], min(risks.values()), atol=1e-7)
        assert bound <= value
    best = model.kbest(new, 2)
    for i, mean in enumerate(means):
        ranked = sorted(risks_by_hand(symbols, mean, weight).values())[:2]
        assert_allclose(best.values[i, : len(ranked)], ranked, atol=1e-7)


def test_sequences_are_left_out_whole():
    X, Y = chains(3)
    model = ConditionalRiskMinimizer(
        Sequences("abc"), SequenceHamming(bigrams=1.0), alpha=[0.1, 1.0, 10.0], kernel=RBF(0.5)
    ).fit(X, Y)
    for trial in model.search_.trials:
        losses = []
        for i in range(len(X)):
            rest = [j for j in range(len(X)) if j != i]
            one = clone(model).set_params(alpha=trial["alpha"])
            one.fit([X[j] for j in rest], [Y[j] for j in rest])
            losses.append(-one.score([X[i]], [Y[i]]))
        assert_allclose(trial["risk"], np.mean(losses))
    assert_allclose(left_out_risk(model), model.search_.best["risk"])
    pairs = np.arange(len(X)) // 2
    assert left_out_risk(model, groups=pairs) >= 0


def test_dictionaries_are_features_by_name():
    X, Y = chains(1)
    named = [[{"u": u, "v": v, "sign": "+" if u > 0 else "-"} for u, v in x] for x in X]
    rows = DictVectorizer(sparse=False).fit_transform([token for x in named for token in x])
    starts = np.cumsum([len(x) for x in X])[:-1]
    model = ConditionalRiskMinimizer(kernel="linear", alpha=1.0)
    by_name = clone(model).fit(named, Y)
    by_array = clone(model).fit(np.split(rows, starts), Y)
    assert list(by_name.predict(named)) == list(by_array.predict(np.split(rows, starts)))
    unknown = [[{"u": 1.0, "never seen": 3.0}]]
    assert len(by_name.predict(unknown)[0]) == 1


def test_lists_of_feature_names_are_read():
    X = [[["w=the", "pos=DT"], ["w=cat", "pos=NN"]], [["w=a", "pos=DT"]], [["w=dog", "pos=NN"]]]
    Y = [["B", "I"], ["B"], ["I"]]
    model = ConditionalRiskMinimizer(kernel="linear", alpha=0.1).fit(X, Y)
    assert model.predict(X)[0] == ["B", "I"]


def test_names_are_indicators():
    """As the dictionaries of ones that they stand for; a name given twice counts once."""
    X = [[["b", "a", "b"], []], [("c",), {"a"}]]
    dictionaries = [[dict.fromkeys(token, 1.0) for token in x] for x in X]
    rows = [token for x in dictionaries for token in x]
    vectorizer = DictVectorizer(sort=False, sparse=False)
    batch = TokenReader().fit(X).read(X)
    assert_array_equal(batch.tokens.toarray(), vectorizer.fit_transform(rows))
    new = [[["a", "unheard of"], ["c", "b"]]]
    expected = vectorizer.transform([{"a": 1.0}, {"c": 1.0, "b": 1.0}])
    reader = TokenReader().fit(X)
    assert_array_equal(reader.read(new).tokens.toarray(), expected)
    with pytest.raises(ValueError, match="lists of names of features"):
        reader.read([[{"a": 1.0}]])


def test_sparse_arrays_and_any_regressor():
    X, Y = chains(2, n=30)
    model = ConditionalRiskMinimizer(smoother=Ridge(alpha=0.1)).fit(X, Y)
    thin = ConditionalRiskMinimizer(smoother=Ridge(alpha=0.1)).fit(
        [sparse.csr_array(x) for x in X], Y
    )
    assert list(model.predict(X)) == list(thin.predict([sparse.csr_array(x) for x in X]))
    near = ConditionalRiskMinimizer(loss=SequenceHamming(0.5), smoother=KNeighborsRegressor(3))
    assert near.fit(X, Y).score(X, Y) > -2.0


def test_bigrams_may_be_left_aside_at_prediction():
    """Any regressor that learned bigrams has learned symbols as well."""
    X, Y = chains(5)
    joint = ConditionalRiskMinimizer(loss=SequenceHamming(1.0), smoother=Ridge()).fit(X, Y)
    alone = ConditionalRiskMinimizer(loss="hamming", smoother=Ridge()).fit(X, Y)
    assert list(joint.predict(X, loss="hamming")) == list(alone.predict(X))
    with pytest.raises(ValueError, match="fit with that loss"):
        alone.predict(X, loss=SequenceHamming(1.0))
    alone.set_params(loss=SequenceHamming(1.0)).fit(X, Y)
    assert list(alone.predict(X)) == list(joint.predict(X))


def test_the_loss_and_constraints_may_change_at_prediction():
    X, Y = chains(5)
    model = ConditionalRiskMinimizer(Sequences(), alpha=0.3, kernel=RBF(0.5)).fit(X, Y)
    joint = ConditionalRiskMinimizer(
        Sequences(), SequenceHamming(bigrams=1.0), alpha=0.3, kernel=RBF(0.5)
    ).fit(X, Y)
    assert list(model.predict(X, loss=SequenceHamming(bigrams=1.0))) == list(joint.predict(X))
    forbidden = [("a", "b"), ("b", "c"), (None, "c")]
    for z in model.predict(X, restrict={"forbidden": forbidden}):
        assert "ab" not in z
        assert "bc" not in z
        assert not z.startswith("c")
    assert all(z[0] == "b" for z in model.predict(X, restrict={"known": {0: "b"}}))


def test_blocks_and_weights():
    X, Y = chains(6, n=40)
    model = ConditionalRiskMinimizer(Sequences(), SequenceHamming(1.0), alpha=0.3, kernel=RBF(0.5))
    whole = model.fit(X, Y).predict(X)
    with config_context(memory=2000):
        small = clone(model).set_params(n_jobs=2).fit(X, Y).predict(X)
    assert list(small) == list(whole)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    repeated = [x for x, w in zip(X, weight) for _ in range(w)]
    texts = [y for y, w in zip(Y, weight) for _ in range(w)]
    weighted = clone(model).fit(X, Y, sample_weight=weight)
    assert_allclose(
        weighted.decode(X).values, clone(model).fit(repeated, texts).decode(X).values, atol=1e-6
    )


def test_the_users_format_comes_back():
    X, Y = chains(7)
    model = ConditionalRiskMinimizer(alpha=0.3)
    assert all(isinstance(z, list) for z in model.fit(X, [list(y) for y in Y]).predict(X))
    index = [f"row {i}" for i in range(len(X))]
    told = model.fit(X, pd.Series(Y, index=index)).predict(pd.Series(X, index=index))
    assert list(told.index) == index


def test_longer_sequences_than_in_training():
    X, Y = chains(8, longest=3)
    long = np.vstack([*X, *X])
    model = ConditionalRiskMinimizer(loss=SequenceHamming(1.0), alpha=0.3).fit(X, Y)
    assert len(model.predict([long])[0]) == len(long)
    assert model.score([long], ["a" * len(long)]) <= 0


def test_what_are_tokens():
    assert are_tokens([np.zeros((2, 3)), np.zeros((1, 3))])
    assert are_tokens(np.zeros((2, 4, 3)))
    assert are_tokens([[], [{"a": 1}]])
    assert are_tokens([[[1.0, 2.0], [3.0, 4.0]]])
    assert not are_tokens([[1.0, 2.0], [3.0, 4.0]])
    assert not are_tokens(["ab", "c"])
    assert not are_tokens(np.zeros((2, 3)))
    assert not are_tokens(pd.DataFrame({"u": [1.0]}))
    batch = TokenReader().fit([np.ones((2, 3)), np.zeros((1, 3))]).read([np.ones((1, 3))])
    assert batch.shape == (1, 3)
    assert_array_equal(batch.starts, [0, 1])


def test_bad_tokens_are_named():
    X, Y = chains(9)
    model = ConditionalRiskMinimizer(alpha=1.0)
    with pytest.raises(ValueError, match=r"X\[0\] has \d positions and y\[0\]"):
        model.fit(X, [Y[0] + "a", *Y[1:]])
    with pytest.raises(ValueError, match=r"X\[1\] has 3 features per position"):
        model.fit([X[0], np.zeros((len(Y[1]), 3)), *X[2:]], Y)
    with pytest.raises(ValueError, match="needs one input per sequence"):
        ConditionalRiskMinimizer(Sequences(), "zero_one", alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="fitted to sequences of tokens"):
        model.fit(X, Y).predict(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"X\[0\]\[1\] is 3"):
        model.fit([[{"a": 1}, 3], [{"a": 2}]], ["ab", "a"])
    with pytest.raises(ValueError, match="NaN"):
        model.fit([np.full((2, 2), np.nan), np.zeros((1, 2))], ["ab", "a"])
    with pytest.raises(ValueError, match="All sequences of X are empty"):
        model.fit(np.zeros((2, 0, 3)), ["", ""])


def test_empty_sequences_among_others():
    X, Y = chains(10)
    space = Sequences("abc", length=(0, None))
    model = ConditionalRiskMinimizer(space, SequenceHamming(1.0), alpha=0.5)
    model.fit([*X, np.zeros((0, 2))], [*Y, ""])
    assert model.predict([np.zeros((0, 2)), X[0]])[0] == ""


def test_the_length_is_that_of_the_input():
    X, Y = chains(11)
    model = ConditionalRiskMinimizer(Sequences(), alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match="restrict no length"):
        model.predict(X, restrict={"length": 2})
    with pytest.raises(ValueError, match=r"X\[0\] has \d positions and y\[0\] 9 symbols"):
        model.score(X, ["a" * 9] * len(X))
    fixed = ConditionalRiskMinimizer(Sequences(length=2), alpha=1.0)
    fixed.fit([x[:2] for x in X if len(x) > 1], [y[:2] for y in Y if len(y) > 1])
    with pytest.raises(InfeasibleError, match="row 1 has 3 positions"):
        fixed.predict([np.zeros((2, 2)), np.zeros((3, 2))])


def test_tokens_without_features():
    X = [[[], ["w=a"]], [[], ["w=b", "x"]]]
    model = ConditionalRiskMinimizer(kernel="linear", alpha=0.01).fit(X, ["ab", "ba"])
    assert all(len(z) == 2 for z in model.predict(X))


def test_a_batch_of_empty_sequences():
    X, Y = chains(12)
    model = ConditionalRiskMinimizer(Sequences("abc", (0, None)), alpha=1.0).fit(X, Y)
    assert list(model.predict([np.zeros((0, 2))])) == [""]
    assert list(model.predict([[], []])) == ["", ""]


def test_columns_of_frames_are_found_by_name():
    X, Y = chains(13)
    frames = [pd.DataFrame(x, columns=["u", "v"]) for x in X]
    model = ConditionalRiskMinimizer(alpha=0.1).fit(frames, Y)
    turned = [frame[["v", "u"]] for frame in frames]
    assert list(model.predict(turned)) == list(model.predict(frames))
    with pytest.raises(ValueError, match=r"X\[0\] has the columns \['u', 'w'\]"):
        model.predict([frames[0].rename(columns={"v": "w"})])


def test_what_is_no_sequence_is_named():
    X, Y = chains(14)
    model = ConditionalRiskMinimizer(alpha=0.1)
    with pytest.raises(ValueError, match=r"X\[1\] is None"):
        model.fit([X[0], None, *X[2:]], Y)
    with pytest.raises(ValueError, match="needs one input per sequence"):
        ConditionalRiskMinimizer(Sequences(), lambda a, b: 1.0, alpha=0.1).fit(X, Y)


def test_whole_sequences_of_other_widths_are_scored():
    X = np.random.default_rng(0).standard_normal((4, 2))
    model = ConditionalRiskMinimizer(Sequences("ab"), "zero_one", alpha=1.0)
    assert model.fit(X, ["a", "b", "a", "b"]).score(X, ["aaaa"] * 4) == -1.0
    assert model.fit(X, ["ab", "bb", "ab", "ba"]).score(X, ["aaaaa"] * 4) == -1.0
