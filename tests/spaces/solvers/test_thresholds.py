# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds against all that could have been taken."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.metrics import f1_score

from skstruct.learners.best_thresholds import MEASURES
from skstruct.model_selection import best_thresholds

TARGETS = {"precision_at_recall": 0.55, "recall_at_precision": 0.6}


@st.composite
def cases(draw, most_labels=3):
    shape = draw(st.integers(1, 6)), draw(st.integers(1, most_labels))
    scores = draw(arrays(float, shape, elements=st.integers(0, 4).map(lambda v: v / 4)))
    truth = draw(arrays(np.int8, shape, elements=st.integers(0, 1)))
    weight = draw(st.one_of(st.none(), arrays(float, shape[0], elements=st.integers(1, 3))))
    return scores, truth, weight


def counts(kept, truth, weight):
    """Weights right, kept and true of each label."""
    w = np.ones((len(truth), 1)) if weight is None else weight[:, None]
    return [(part * w).sum(axis=0) for part in (kept * truth, kept, truth)]


def share(above, below):
    return above / below if below else 0.0


def measured(measure, by, kept, truth, weight):
    """The value by its definition; None where the target is missed."""
    right, n_kept, n_true = counts(kept, truth, weight)
    if measure == "micro_f1":
        return share(2 * right.sum(), n_kept.sum() + n_true.sum())
    if measure == "macro_f1":
        return np.mean([share(2 * r, k + t) for r, k, t in zip(right, n_kept, n_true)])
    if by == "all":
        right, n_kept, n_true = ([part.sum()] for part in (right, n_kept, n_true))
    values = []
    for r, k, t in zip(right, n_kept, n_true):
        if not t:
            continue
        precision, recall = share(r, k), r / t
        if measure == "precision_at_recall":
            if recall < TARGETS[measure]:
                return None
            values.append(precision)
        else:
            if k and precision < TARGETS[measure]:
                return None
            values.append(recall)
    return np.mean(values) if values else np.nan


def everything(scores, by):
    """All sets of entries that thresholds can keep."""
    levels = [-np.inf, *(np.unique(scores) + 0.1)]
    repeat = scores.shape[1] if by == "label" else 1
    for thresholds in product(levels, repeat=repeat):
        yield (scores >= np.array(thresholds)).astype(int)


@pytest.mark.parametrize("by", ["all", "label"])
@pytest.mark.parametrize("measure", MEASURES)
@settings(deadline=None, max_examples=40)
@given(case=cases())
def test_no_thresholds_are_better(measure, by, case):
    scores, truth, weight = case
    thresholds, value = best_thresholds(
        scores, truth, measure, by=by, target=TARGETS.get(measure), sample_weight=weight,
        shrinkage=0,
    )  # fmt: skip
    assert thresholds.shape == truth.shape[1:]
    reached = measured(measure, by, (scores >= thresholds).astype(int), truth, weight)
    others = [measured(measure, by, kept, truth, weight) for kept in everything(scores, by)]
    best = max((v for v in others if v is not None), default=None)
    if best is None or np.isnan(best):
        assert np.isnan(value)
        assert (thresholds == np.inf).all()
        return
    assert reached is not None
    assert value == pytest.approx(best)
    assert value == pytest.approx(reached)
    pooled = scores if by == "label" else np.tile(scores.reshape(-1, 1), truth.shape[1])
    assert not (pooled == thresholds).any()


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("by", ["all", "label"])
def test_values_are_those_of_scikit_learn(average, by):
    rng = np.random.default_rng(0)
    scores = rng.random((80, 6))
    truth = (rng.random((80, 6)) < scores * np.linspace(0.1, 0.9, 6)).astype(int)
    thresholds, value = best_thresholds(scores, truth, f"{average}_f1", by=by, shrinkage=0)
    predicted = (scores >= thresholds).astype(int)
    assert value == pytest.approx(f1_score(truth, predicted, average=average, zero_division=0))
    again = best_thresholds(scores, sparse.csr_array(truth), f"{average}_f1", by=by, shrinkage=0)
    np.testing.assert_array_equal(again[0], thresholds)
    one = best_thresholds(scores, truth, f"{average}_f1")[1]
    assert value >= one - 1e-12


@settings(deadline=None, max_examples=30)
@given(case=cases(), shrinkage=st.sampled_from([0.5, 1.0, 100.0]))
def test_rare_labels_are_cut_as_if_they_had_more_like_all_others(case, shrinkage):
    scores, truth, weight = case
    found, value = best_thresholds(
        scores, truth, "macro_f1", by="label", sample_weight=weight, shrinkage=shrinkage
    )
    w = np.ones((len(truth), 1)) if weight is None else weight[:, None]
    total = (w * truth).sum()
    share_of_all = shrinkage / total if total else 0.0

    def shrunk(j, t):
        kept, everything = w[:, 0] * (scores[:, j] >= t), w * (scores >= t)
        right = kept @ truth[:, j] + share_of_all * (everything * truth).sum()
        n_kept = kept.sum() + share_of_all * everything.sum()
        return share(2 * right, n_kept + w[:, 0] @ truth[:, j] + share_of_all * total)

    for j in range(truth.shape[1]):
        if not truth[:, j].any():
            assert found[j] == np.inf
            continue
        own = np.unique(scores[:, j])
        cuts = [-np.inf, *own[1:], np.inf]  # all entries of a label are kept by no threshold
        best = max(shrunk(j, t) for t in cuts)
        reached = own[own >= found[j]].min(initial=np.inf)
        assert shrunk(j, -np.inf if found[j] == -np.inf else reached) == pytest.approx(best)
    kept = (scores >= found).astype(int)
    assert value == pytest.approx(measured("macro_f1", "label", kept, truth, weight))


def test_rare_labels_are_not_predicted_everywhere():
    """Twenty simulations: labels of which 1 to 40 of 300 rows are true, by noisy probabilities."""
    gained, sizes = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chances = np.exp(rng.normal(np.log(np.geomspace(0.004, 0.13, 20)), 1.0, (2300, 20)))
        truth = (rng.random(chances.shape) < chances).astype(int)
        scores = chances * np.exp(rng.normal(size=chances.shape))
        plain, shrunk = (
            best_thresholds(scores[:300], truth[:300], "macro_f1", by="label", shrinkage=m)[0]
            for m in (0.0, 1.0)
        )
        new = scores[300:]
        values = [
            measured("macro_f1", "label", (new >= t).astype(int), truth[300:], None)
            for t in (plain, shrunk)
        ]
        gained.append(values[1] - values[0])
        sizes.append([(new >= t).sum() / truth[300:].sum() for t in (plain, shrunk)])
    assert np.mean(gained) > 2 * np.std(gained) / np.sqrt(20)
    assert np.mean(sizes, axis=0)[1] < np.mean(sizes, axis=0)[0]


def test_probabilities_that_are_right_are_cut_at_half_of_f():
    """Lipton, Elkan and Naryanaswamy: the best threshold is half of the best F."""
    rng = np.random.default_rng(1)
    probabilities = rng.beta(0.6, 1.5, (40_000, 1))
    truth = rng.random(probabilities.shape) < probabilities
    thresholds, value = best_thresholds(probabilities, truth)
    assert thresholds[0] == pytest.approx(value / 2, abs=0.02)


def test_neighbours_in_floating_point_are_told_apart():
    low = 0.3
    scores = np.array([[np.nextafter(low, 1)], [low]])
    thresholds, value = best_thresholds(scores, np.array([[1], [0]]))
    assert value == 1.0
    np.testing.assert_array_equal(scores >= thresholds, [[True], [False]])
    huge = np.array([[1.5e308], [-1.5e308]])
    assert np.isfinite(best_thresholds(huge, np.array([[1], [0]]))[0]).all()


def test_nothing_and_everything():
    scores = np.array([[0.2, 0.7], [0.4, 0.1]])
    assert best_thresholds(scores, np.zeros((2, 2)))[0].tolist() == [np.inf, np.inf]
    assert best_thresholds(scores, np.ones((2, 2)), by="label")[0].tolist() == [-np.inf, -np.inf]
    found = best_thresholds(scores, np.array([[0, 1], [0, 0]]), "macro_f1", by="label")
    np.testing.assert_allclose(found[0], [np.inf, 0.4])
    assert found[1] == 0.5
    flat = best_thresholds(np.full((3, 1), 0.5), np.array([[1], [0], [0]]))
    assert flat[0][0] == -np.inf
    assert flat[1] == 0.5


def test_rows_without_weight_are_as_if_not_there():
    rng = np.random.default_rng(2)
    scores, truth = rng.random((30, 3)), rng.random((30, 3)) < 0.4
    weight = np.arange(30) % 2
    for measure in MEASURES:
        for by in ("all", "label"):
            options = {"by": by, "target": TARGETS.get(measure)}
            value = best_thresholds(scores, truth, measure, sample_weight=weight, **options)[1]
            alone = best_thresholds(scores[1::2], truth[1::2], measure, **options)[1]
            assert value == pytest.approx(alone)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "accuracy"}, "measure is one of micro_f1"),
        ({"by": "row"}, 'by is "all" or "label"'),
        ({"target": 0.5}, "micro_f1 has no target"),
        ({"measure": "recall_at_precision"}, "target of recall_at_precision is above 0"),
        ({"measure": "precision_at_recall", "target": 1.5}, "at most 1; got 1.5"),
        ({"shrinkage": -1.0}, "shrinkage is a finite number from 0"),
        ({"sample_weight": [-1.0]}, "sample_weight has one finite number"),
        ({"sample_weight": [0.0]}, "some above 0"),
    ],
)
def test_what_it_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        best_thresholds([[0.5]], [[1]], **options)


@pytest.mark.parametrize("measure", MEASURES)
@settings(max_examples=40)
@given(case=cases(most_labels=1), data=st.data())
def test_entries_that_are_not_known_count_for_nothing(measure, case, data):
    scores, truth, weight = case
    seen = data.draw(arrays(bool, truth.shape).filter(np.any))
    rows = seen[:, 0]
    options = {"measure": measure, "target": TARGETS.get(measure)}
    whole = best_thresholds(
        scores, np.where(seen, truth, np.nan), sample_weight=weight, known=seen, **options
    )
    alone = best_thresholds(
        scores[rows], truth[rows], sample_weight=None if weight is None else weight[rows], **options
    )
    np.testing.assert_allclose(whole[1], alone[1])
    kept, expected = (scores[rows] >= found[0] for found in (whole, alone))
    assert (kept == expected).all()
