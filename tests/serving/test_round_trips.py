# SPDX-License-Identifier: BSD-3-Clause
"""A server takes what it writes: predictions and names come back as constraints, through JSON."""

import datetime as dt
import json

import numpy as np
import pytest
from tests.explorer.structures import CASES, fitted

from skstruct import ConditionalRiskMinimizer
from skstruct import spaces as S
from skstruct.serving import Asked, Served, answers
from skstruct.serving.examples import example_constraints
from skstruct.serving.outputs import json_value

RNG = np.random.default_rng(0)
X = RNG.standard_normal((24, 3))
SETS = (X > 0).astype(int)
GRID = S.ShortestPaths.grid(2, 3)
DAYS = [dt.date(2024, 5, 30), dt.date(2024, 5, 31), dt.date(2024, 6, 1)]


def served(space, y, loss=None):
    return Served("m", ConditionalRiskMinimizer(space, loss, alpha=0.1).fit(X, y))


def asked(model, restrict, question="predict"):
    """The answer for a row under constraints that have been JSON."""
    restrict = json.loads(json.dumps(restrict))
    (found,) = answers.answer(question, model, X[:1], Asked(restrict=restrict))
    return found["prediction"]


def names_of(labels):
    return [{labels[j] for j in np.flatnonzero(row)} for row in SETS]


ALIKE = {  # no constraints, or those of others
    "classes", "frame", "histogram", "interval", "ranker", "words", "candidates", "svm",
    "output kernel",
}  # fmt: skip
LABELS = {
    "texts": ["a", "b", "c"],
    "numbers": [3, 1, 2],
    "NumPy's numbers": list(np.array([3, 1, 2])),
    "dates": DAYS,
    "bytes": [b"a", b"b", b"c"],
    "pairs": [("a", 1), ("a", 2), ("b", 1)],
    "pairs of pairs": [((0, 0), (0, 1)), ((0, 1), (1, 1)), ((1, 0), (1, 1))],
}


@pytest.mark.parametrize("names", LABELS.values(), ids=LABELS)
def test_labels_of_any_type_come_back(names):
    model = served(S.LabelSets(names), names_of(names))
    for j, label in enumerate(names):
        (row,) = answers.predict(model, X[:1], Asked(restrict={"include": [label]}))
        written, told = json.loads(json.dumps(row["prediction"])), json_value(label)
        assert told in written
        assert asked(model, {"include": written, "max_size": len(written)}) == written
        assert asked(model, {"include": [told], "max_size": 1}) == [told]
        assert told not in asked(model, {"exclude": [told]})
        by_name = Asked(threshold={model.labels[j]: 0.3})
        in_order = Asked(threshold=[0.3 if k == j else 0.5 for k in range(3)])
        assert answers.predict(model, X, by_name) == answers.predict(model, X, in_order)


def test_thresholds_are_those_of_python():
    model = served(S.LabelSets(list("abc")), names_of("abc"))
    for threshold in ([0.1, 0.5, 0.9], {"c": 0.05}, 0.3):
        found = answers.predict(model, X, Asked(threshold=threshold))
        expected = model.learner.predict(X, threshold=threshold)
        assert [set(row["prediction"]) for row in found] == list(map(set, expected))


def test_positions_are_keys():
    """Those of digits, too: a key is a position, whatever the symbols are called."""
    y = [tuple("01"[bit] for bit in row) for row in SETS]
    model = served(S.Sequences(list("01"), 3), y)
    for fixed in ({"0": "1"}, {"0": "0", "2": "1"}):
        found = asked(model, {"known": fixed})
        assert all(found[int(at)] == symbol for at, symbol in fixed.items())
    written = asked(model, None)
    assert asked(model, {"known": dict(enumerate(written))}) == written
    assert asked(model, {"known": [written]}) == written
    with pytest.raises(ValueError, match="positions count from 0"):
        asked(model, {"known": {"first": "1"}})


def test_nodes_and_arcs_of_a_grid_are_pairs():
    model = served(GRID, 1.0 + RNG.random((24, len(GRID.labels_))), "regret")
    path = asked(model, None)
    assert path[0][0] == [0, 0]
    assert path[-1][1] == [1, 2]
    nodes = [path[0][0], *(arc[1] for arc in path)]
    for restrict in ({"include": path}, {"via": nodes}, {"via": nodes[1:3]}, {"via": [nodes[1]]}):
        expected = model.learner.predict(X[:1], restrict=_in_tuples(restrict))
        assert asked(model, restrict) == json_value(answers.json_outputs(model, expected))[0]
    other = asked(model, {"exclude": [path[1]]})
    assert path[1] not in other
    assert all(nodes[1] not in arc for arc in asked(model, {"avoid": [nodes[1]]}))
    inner = asked(model, {"source": nodes[1], "target": nodes[-2]})
    assert (inner[0][0], inner[-1][1]) == (nodes[1], nodes[-2])
    ends = {"source": tuple(nodes[1]), "target": tuple(nodes[-2])}
    (walked,) = model.learner.predict(X[:1], restrict=ends)
    assert walked == [tuple(inner[0][0]), *(tuple(arc[1]) for arc in inner)]


def _in_tuples(value):
    if isinstance(value, dict):
        return {key: _in_tuples(part) for key, part in value.items()}
    deep = [[tuple(end) if isinstance(end, list) else end for end in part] for part in value]
    return [tuple(part) for part in deep]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(CASES) - ALIKE))
def test_every_example_of_a_constraint_comes_back(name):
    """What is listed has an example, but for right-hand sides of equations; JSON changes nothing
    in what it means.
    """
    model = Served(name, fitted(name))
    examples = example_constraints(model)
    assert set(model.constraints()) - {"supply"} == {key for one in examples for key in one}
    rows = model.inputs(model.example_rows(2))
    for one in examples:
        told = [Asked(restrict=one), Asked(restrict=json.loads(json.dumps(json_value(one))))]
        found = []
        for wanted in told:
            try:
                found.append(answers.predict(model, rows, wanted))
            except ValueError as error:  # no output meets it
                found.append(str(error))
        assert found[0] == found[1]
