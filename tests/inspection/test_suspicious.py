# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that look wrong: scores against refits and definitions."""

import numpy as np
import pytest
from sklearn.model_selection import KFold

from inspection.few_rows import TASKS, N, learner, rows_of
from skstruct.inspection import suspicious_outputs
from skstruct.spaces.common.narrowing import with_learned_names


def without_row(task, i):
    """A model that was fitted without row i, and that row."""
    space, _, inputs, outputs = TASKS[task]
    known = space if task in ("hierarchy", "words", "tokens") else None
    model = learner(task)
    if known is None:
        model.set_params(space=with_learned_names(type(space)(**space.get_params()).fit(outputs)))
    rest = [j for j in range(N) if j != i]
    model.fit(rows_of(inputs, rest), rows_of(outputs, rest))
    return model, rows_of(inputs, [i]), rows_of(outputs, [i])


def by_definition(task, i):
    """Loss of the decision, and the margin: weighted losses against the other rows."""
    model, x, y = without_row(task, i)
    problem = model._prepared()[0]
    truth, decided = model.space_.validate(y), model.space_.validate(model.predict(x))
    width = max(np.shape(truth)[-1], np.shape(decided)[-1]) if truth.ndim > 1 else None
    if width is not None:
        truth, decided = (
            np.pad(z, [(0, 0), (0, width - z.shape[1])], constant_values=-1)
            for z in (truth, decided)
        )
    weights = np.asarray(model.explain(x).weights)[0]
    risk, least = (
        float(problem.loss.pairwise(z, model.outputs_)[0] @ weights) for z in (truth, decided)
    )
    return float(problem.loss(decided, truth)[0]), risk - least


# ---------------------------------------------------------------------- against refits
@pytest.mark.slow
@pytest.mark.parametrize("task", [name for name in TASKS if name != "tokens"])
def test_rows_are_scored_as_by_refits_without_them(task):
    _, _, inputs, outputs = TASKS[task]
    found = suspicious_outputs(learner(task), inputs, outputs, cv=None, groups=np.arange(N))
    by_row = found.rows[np.argsort(found.rows["row"])]
    expected = np.array([by_definition(task, i) for i in range(N)])
    np.testing.assert_allclose(by_row["loss"], expected[:, 0], atol=1e-7)
    np.testing.assert_allclose(by_row["margin"], expected[:, 1], atol=1e-6)
    folds = suspicious_outputs(learner(task), inputs, outputs, cv=N, groups=np.arange(N))
    np.testing.assert_allclose(folds.scores, found.scores, atol=1e-6)
    assert (np.diff(found.rows["score"]) <= 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("task", list(TASKS))
def test_parts_are_scored_as_by_refits_without_their_rows(task):
    _, _, inputs, outputs = TASKS[task]
    found = suspicious_outputs(learner(task), inputs, outputs, cv=N, groups=np.arange(N))
    assert (np.diff(found.parts["score"]) <= 0).all()
    scored = {(r["row"], r["part"]): r["score"] for r in found.parts}
    expected = {}
    for i in range(N):
        model, x, y = without_row(task, i)
        happened, p = model.true_marginals(y), model.predict_marginals(x)
        expected |= {(i, j): s for j, s in slow_scores(task, happened[0], p[0])}
    if task in ("interval", "box", "absolute"):  # in deviations of their column
        for j in {j for _, j in expected}:
            column = [key for key in expected if key[1] == j]
            scale = 1.4826 * np.median([expected[key] for key in column])
            expected |= {key: expected[key] / scale for key in column}
    assert scored.keys() == expected.keys()
    for key, score in expected.items():
        assert scored[key] == pytest.approx(score, abs=1e-7), key


def slow_scores(task, happened, p):
    """Pairs of a part and its score, of one row."""
    if task in ("interval", "box", "absolute"):
        return [(j, abs(h - m)) for j, (h, m) in enumerate(zip(happened, p))]
    if task in ("labels", "f1", "zero_one", "hierarchy"):
        return [(j, 1 - m if h else m) for j, (h, m) in enumerate(zip(happened, p))]
    if task in ("classes", "ordinal"):
        return [(0, 1 - p[int(np.argmax(happened))])]
    if task in ("tokens", "words"):
        return [
            (t, 1 - q[int(np.argmax(h))] / q.sum()) for t, (h, q) in enumerate(zip(happened, p))
        ]
    pairs = [(0, 1), (0, 2), (1, 2)]
    return [(k, 1 - p[a, b] if happened[a, b] else p[a, b]) for k, (a, b) in enumerate(pairs)]


@pytest.mark.parametrize("task", ["classes", "labels", "hierarchy", "kendall", "box"])
def test_the_closed_form_scores_parts_like_refits(task):
    _, _, inputs, outputs = TASKS[task]
    model = learner(task).fit(inputs, outputs)
    model.calibration_ = None  # which each refit would learn for itself
    ours = suspicious_outputs(model, inputs, outputs, cv=None, groups=np.arange(N)).parts
    scored = {(r["row"], r["part"]): r["score"] for r in ours}
    distances = {}
    for i in range(N):
        without, x, y = without_row(task, i)
        p = without.predict_marginals(x, calibrated=None)
        happened = without.true_marginals(y)
        distances |= {(i, j): s for j, s in slow_scores(task, happened[0], p[0])}
    ratio = np.array([[scored[key], distances[key]] for key in distances if distances[key] > 1e-9])
    if task != "box":
        np.testing.assert_allclose(*ratio.T, atol=1e-7)
    else:
        for j in (0, 1):
            some = np.array([scored[key] / distances[key] for key in distances if key[1] == j])
            np.testing.assert_allclose(some, some[0])


def test_sequences_in_closed_form_are_left_out_whole():
    _, _, inputs, outputs = TASKS["tokens"]
    closed = suspicious_outputs(learner("tokens"), inputs, outputs, cv=None, groups=np.arange(N))
    folds = suspicious_outputs(learner("tokens"), inputs, outputs, cv=N, groups=np.arange(N))
    np.testing.assert_allclose(closed.scores, folds.scores, atol=1e-7)


def test_margins_of_sequences_are_differences_of_risks():
    """Among all sequences of a length, listed by their risks."""
    _, _, inputs, outputs = TASKS["tokens"]
    found = suspicious_outputs(learner("tokens"), inputs, outputs, cv=KFold(2), parts=False)
    for train, test in KFold(2).split(inputs):
        fitted = learner("tokens").fit(rows_of(inputs, train), rows_of(outputs, train))
        for i in test:
            best = fitted.kbest([inputs[i]], 8)
            listed = [tuple(rank[0]) for rank in best.outputs]
            own = best.values[0][listed.index(tuple(outputs[i]))]
            assert found.scores[i] == pytest.approx(own - best.values[0][0], abs=1e-9)
