# SPDX-License-Identifier: BSD-3-Clause
"""Planted errors are found; what is left out, which learners there are, and the result."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from inspection.few_rows import N, U, X, learner
from skstruct import ConditionalRiskMinimizer, ExponentialFamily, StructuredSVM
from skstruct.inspection import suspicious_outputs
from skstruct.inspection.left_out_rows import fold_numbers
from skstruct.inspection.suspicious_parts import FIELDS, averaged
from skstruct.kernels import RBF
from skstruct.spaces import Interval, LabelSets

matplotlib.use("Agg")


# ---------------------------------------------------------------------- planted errors
def labelled(n, seed):
    """Four labels that two numbers tell almost surely."""
    rng = np.random.default_rng(seed)
    inputs = rng.uniform(-1, 1, (n, 2))
    return inputs, np.hstack([inputs > 0, inputs > 0.5]).astype(int), rng


@pytest.mark.parametrize("cv", [5, None])
def test_planted_flips_are_found(cv):
    """One label in a hundred is wrong; of the first as many, three in four are."""
    inputs, outputs, rng = labelled(300, 0)
    flipped = np.zeros(outputs.shape, bool)
    flipped.flat[rng.choice(outputs.size, 12, replace=False)] = True
    model = ConditionalRiskMinimizer(kernel=RBF(5.0), alpha=0.1)
    found = suspicious_outputs(model, inputs, outputs ^ flipped, cv=cv)
    first = found.parts[:12]
    assert flipped[first["row"], first["part"]].sum() >= 9
    assert (first["suggested"] != first["given"]).all()
    wrong_rows = flipped.any(axis=1)
    k = int(wrong_rows.sum())
    assert wrong_rows[found.rows["row"][:k]].sum() >= 0.75 * k


def test_planted_numbers_are_found_and_a_refit_is_better():
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-2, 2, (200, 1))
    outputs = np.sin(2 * inputs[:, 0]) + 0.05 * rng.normal(size=200)
    outputs[:8] += np.array([3.0, -3.0] * 4)
    model = ConditionalRiskMinimizer(Interval(), kernel=RBF(2.0), alpha=0.1)
    found = suspicious_outputs(model, inputs, outputs)
    assert set(found.parts["row"][:8]) == set(range(8)) == set(found.rows["row"][:8])
    np.testing.assert_array_equal(np.flatnonzero(~found.without(8)), range(8))
    new = rng.uniform(-2, 2, (200, 1))
    errors = [
        np.mean((fitted.predict(new) - np.sin(2 * new[:, 0])) ** 2)
        for fitted in (model.fit(inputs, outputs), found.refit(model, inputs, outputs, 8))
    ]
    assert errors[1] < 0.5 * errors[0]


def test_nothing_is_suspicious_where_everything_is_told():
    inputs = np.repeat([[0.0], [5.0]], 10, axis=0) + np.arange(20.0)[:, None] / 100
    found = suspicious_outputs(
        ConditionalRiskMinimizer(alpha=0.1), inputs, np.repeat(["a", "b"], 10)
    )
    assert (found.rows["loss"] == 0).all()
    assert found.without(0.5).all()  # rows that agree with their left-out decision are kept


# ---------------------------------------------------------------------- what is left out
def test_copies_and_groups_stay_together():
    twice = np.vstack([X, X])
    outputs = np.tile(U[:, :1] > 0, (2, 1)).astype(int)
    fold = fold_numbers(5, twice, outputs, None)
    np.testing.assert_array_equal(fold[:N], fold[N:])
    groups = np.arange(2 * N) // 4
    fold = fold_numbers(3, twice, outputs, groups)
    assert all(len(set(fold[groups == g])) == 1 for g in set(groups))
    assert len(set(fold)) == 3


@given(st.integers(2, 9), st.integers(9, 40))
def test_every_row_is_in_one_fold_of_about_equal_size(cv, n):
    fold = fold_numbers(cv, [[0.0]] * n, np.arange(n), None)
    sizes = np.bincount(fold, minlength=cv)
    assert len(sizes) == cv
    assert sizes.max() - sizes.min() <= 1


def test_a_name_that_a_fold_lacks_is_known():
    outputs = ["a", "b"] * 6 + ["c"]
    inputs = np.arange(13.0)[:, None]
    found = suspicious_outputs(ConditionalRiskMinimizer(alpha=1.0), inputs, outputs)
    assert found.to_frame("parts").set_index("row").loc[12, "given"] == "c"
    sets = [{name} for name in outputs]
    again = suspicious_outputs(ConditionalRiskMinimizer(alpha=1.0), inputs, sets)
    frame = again.to_frame("parts")
    assert set(frame["part"]) == {"a", "b", "c"}
    assert len(frame) == 39


# ---------------------------------------------------------------------- learners
@pytest.mark.slow
def test_a_family_has_logarithms_of_probabilities():
    outputs = (U > 0).astype(int)
    found = suspicious_outputs(ExponentialFamily(LabelSets()), X, outputs, cv=KFold(2))
    train, test = next(KFold(2).split(X))
    model = ExponentialFamily(LabelSets(range(2))).fit(X[train], outputs[train])
    margin = model.log_proba(X[test], model.predict(X[test])) - model.log_proba(
        X[test], outputs[test]
    )
    np.testing.assert_allclose(found.scores[test], margin, atol=1e-4)


@pytest.mark.slow
def test_margin_learners_and_pipelines():
    outputs = (U > 0).astype(int)
    found = suspicious_outputs(StructuredSVM(LabelSets()), X, outputs, parts=False)
    assert np.isnan(found.rows["margin"]).all()
    np.testing.assert_array_equal(found.rows["score"], found.rows["loss"])
    with pytest.raises(ValueError, match="calibrate"):
        suspicious_outputs(StructuredSVM(LabelSets()), X, outputs)
    plain = ConditionalRiskMinimizer(kernel=RBF(0.5), alpha=0.3)
    piped = suspicious_outputs(make_pipeline(StandardScaler(), plain), X, outputs)
    assert piped.scores.shape == (N,)
    assert len(piped.parts) == outputs.size


def test_a_classifier_of_scikit_learn_as_smoother():
    model = ConditionalRiskMinimizer(LabelSets(), smoother=LogisticRegression())
    inputs, outputs, _ = labelled(60, 2)
    outputs[0] = 1 - outputs[0]
    found = suspicious_outputs(model, inputs, outputs)
    assert 0 in found.rows["row"][:3]
    with pytest.raises(ValueError, match="no closed form"):
        suspicious_outputs(model, inputs, outputs, cv=None)


def test_what_cannot_be_done_is_said():
    outputs = (U > 0).astype(int)
    model = learner("labels")
    for cv in (1, 0, 100, True, "fold"):
        with pytest.raises(ValueError, match="cv"):
            suspicious_outputs(model, X, outputs, cv=cv)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        suspicious_outputs(model, X, outputs[1:])
    with pytest.raises(ValueError, match="cv=5"):
        suspicious_outputs(ExponentialFamily(LabelSets()), X, outputs, cv=None)
    found = suspicious_outputs(model, X, outputs, parts=False)
    assert found.parts is None
    with pytest.raises(ValueError, match="parts=False"):
        found.to_frame("parts")
    for most in (-1, N + 1, 1.0, -0.1, True, "2"):
        with pytest.raises(ValueError, match="number of rows from 0 to 14"):
            found.without(most)


# ---------------------------------------------------------------------- the result
@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=6), min_size=1, max_size=5))
def test_parts_of_a_row_are_averaged_as_published(rows):
    """S_1 = s_1, S_t = .8 s_t + .2 S_{t-1} over self-confidences from the highest to the lowest."""
    records = np.concatenate([parts_table(i, scores) for i, scores in enumerate(rows)])
    expected = []
    for scores in rows:
        falling = sorted((1 - score for score in scores), reverse=True)
        total = falling[0]
        for confidence in falling[1:]:
            total = 0.8 * confidence + 0.2 * total
        expected.append(1 - total)
    shuffled = np.random.default_rng(0).permutation(records)
    np.testing.assert_allclose(averaged(shuffled, len(rows)), expected, atol=1e-12)


def parts_table(row, scores):
    records = np.zeros(len(scores), dtype=FIELDS)
    records["row"], records["score"] = row, scores
    return records


def test_rows_by_loss_and_by_parts():
    outputs = (U > 0).astype(int)
    by_loss = suspicious_outputs(learner("labels"), X, outputs, by="loss")
    np.testing.assert_array_equal(by_loss.rows["score"], by_loss.rows["loss"])
    by_parts = suspicious_outputs(learner("labels"), X, outputs, by="parts")
    np.testing.assert_allclose(by_parts.scores, averaged(by_parts.parts, N))
    assert (np.diff(by_parts.rows["score"]) <= 0).all()
    for options in ({"by": "luck"}, {"by": "parts", "parts": False}):
        with pytest.raises(ValueError, match="by is"):
            suspicious_outputs(learner("labels"), X, outputs, **options)


@settings(max_examples=30)
@given(st.integers(0, N))
def test_without_leaves_out_the_first_that_are_decided_otherwise(k):
    left = ~FOUND.without(k)
    expected = {r["row"] for r in FOUND.rows[:k] if r["loss"] > 0}
    assert set(np.flatnonzero(left)) == expected
    assert (FOUND.without(k / (N + 1)) >= FOUND.without(k)).all()


FOUND = suspicious_outputs(learner("labels"), X, (U > 0).astype(int))


def test_frames_have_names_and_index():
    index = [f"r{i}" for i in range(N)]
    frame = pd.DataFrame((U > 0).astype(int), columns=["sun", "$rain$"], index=index)
    found = suspicious_outputs(learner("labels"), pd.DataFrame(X, index=index), frame)
    rows = found.to_frame()
    assert list(rows.columns) == ["loss", "margin", "score"]
    assert rows.index[0] == index[found.rows["row"][0]]
    parts = found.to_frame("parts", 3)
    assert list(parts.columns) == ["row", "part", "given", "suggested", "score"]
    assert set(parts["part"]) <= {"sun", "$rain$"}
    assert parts["given"].tolist() == [
        "present" if frame.loc[row, part] else "absent"
        for row, part in zip(parts["row"], parts["part"])
    ]
    np.testing.assert_array_equal(FOUND.rows["row"], found.rows["row"])


def test_pictures_show_names_as_they_are():
    index = [f"r{i}" for i in range(N)]
    frame = pd.DataFrame((U > 0).astype(int), columns=["sun", "$rain$"], index=index)
    found = suspicious_outputs(learner("labels"), X, frame)
    display = found.plot(5)
    assert len(display.ax_.patches) == 5
    texts = [text.get_text() for text in display.ax_.get_yticklabels()]
    first = found.to_frame("parts", 1).iloc[0]
    assert texts[0] == f"row {first.row}: {first.part} {first.given}, not {first.suggested}"
    assert not display.ax_.get_yticklabels()[0].get_parse_math()
    rows = suspicious_outputs(learner("box"), X, U, parts=False).plot(3)
    assert rows.ax_.get_xlabel() == "risk above that of the decision"
    numbers = suspicious_outputs(learner("box"), X, U).plot(3)
    assert numbers.ax_.get_xlabel() == "standard deviations from the mean"
