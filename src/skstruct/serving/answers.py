# SPDX-License-Identifier: BSD-3-Clause
"""Answers of a model as records that JSON can hold, one for each row."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np

from skstruct.serving.abilities import why_not
from skstruct.serving.asked import Asked
from skstruct.serving.constraints import by_constraints, constraints_for, taken
from skstruct.serving.outputs import json_outputs, json_value, name_text
from skstruct.serving.promises import promised
from skstruct.serving.settings import ONLY_OF
from skstruct.spaces import Marginals
from skstruct.tolerances import REPORTED_GAP

__all__ = ["Asked", "answer", "decode", "explain", "kbest", "marginals", "predict"]

Record = dict[str, Any]
N_BEST, N_VOICES = 3, 5  # outputs, and training rows on each side, unless a request says more
MOST_WEIGHTS = 8_000_000  # of all rows for all rows of training at once: 64 MB


def answer(question: str, served: Any, X: Any, asked: Asked | None = None) -> list[Record]:
    """Answers to one of "predict", "decode", "marginals", "kbest" and "explain"."""
    return _QUESTIONS[question](served, X, asked or Asked())


def predict(served: Any, X: Any, asked: Asked | None = None) -> list[Record]:
    """Predictions, and what is certain and possible where a level is asked for.

    Parameters
    ----------
    served : Served
    X : what ``served.inputs`` gives
    asked : Asked, default=None

    Returns
    -------
    list of dict
        ``prediction``; with a level ``certain`` and ``possible``, a ``set``, or ``low`` and
        ``high``.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.serving import Served
    >>> model = ConditionalRiskMinimizer(alpha=0.1).fit([[0], [1], [2]], [{"a"}, {"a", "b"}, {"b"}])
    >>> served = Served("sets", model)
    >>> predict(served, served.inputs([[0], [2]]))
    [{'prediction': ['a']}, {'prediction': ['b']}]
    >>> predict(served, served.inputs([[0], [2]]), Asked(restrict=[{}, {"include": ["a"]}]))
    [{'prediction': ['a']}, {'prediction': ['a', 'b']}]
    """
    asked = asked or Asked()
    _check(served, "predict", asked)

    def ask(X: Any, restrict: Any) -> list[Record]:
        options = _options(served, served.learner.predict, asked, restrict)
        outputs = json_outputs(served, served.learner.predict(X, **options), restrict)
        return [{"prediction": output} for output in outputs]

    found = _by_rows(served, X, asked, ask)
    if asked.level is not None:
        for record, more in zip(found, promised(served, X, asked.level)):
            record.update(more)
    return found


def decode(served: Any, X: Any, asked: Asked | None = None) -> list[Record]:
    """Predictions with their risk (or cost), its bound, the gap, and whether that is none.

    Parameters and result as of :func:`predict`; ``risk`` is as estimated, below zero too where
    weights of training rows are, so that ``bound`` belongs to it.
    """
    asked = asked or Asked()
    _check(served, "decode", asked)

    def ask(X: Any, restrict: Any) -> list[Record]:
        options = _options(served, served.learner.decode, asked, restrict)
        decoded = served.learner.decode(X, **options)
        outputs = json_outputs(served, decoded.outputs, restrict)
        return _certified(served, outputs, decoded.values, decoded.bounds)

    return _by_rows(served, X, asked, ask)


def kbest(served: Any, X: Any, asked: Asked | None = None) -> list[Record]:
    """The k best outputs of each row, the best first: ``best`` is a list of what
    :func:`decode` gives.
    """
    asked = asked or Asked()
    _check(served, "kbest", asked)

    def ask(X: Any, restrict: Any) -> list[Record]:
        options = _options(served, served.learner.kbest, asked, restrict)
        found = served.learner.kbest(X, asked.k or N_BEST, **options)
        values, bounds = np.asarray(found.values), np.asarray(found.bounds)
        ranks = [
            _certified(served, json_outputs(served, outputs, restrict), values[:, r], bounds[:, r])
            for r, outputs in enumerate(found.outputs)
        ]
        finite = np.isfinite(values).tolist()
        return [
            {"best": [rank[i] for rank, is_there in zip(ranks, there) if is_there]}
            for i, there in enumerate(finite)
        ]

    return _by_rows(served, X, asked, ask)


def marginals(served: Any, X: Any, asked: Asked | None = None) -> list[Record]:
    """How probable the parts of outputs are, by name.

    Of rankings, ``marginals[a][b]`` is the probability that a is before b; of sequences there is
    a dictionary for every position.
    """
    asked = asked or Asked()
    _check(served, "marginals", asked)

    def ask(X: Any, restrict: Any) -> list[Record]:
        options = _options(served, served.learner.predict_marginals, asked, restrict)
        found = served.learner.predict_marginals(X, **options)
        return [{"marginals": row} for row in _named_marginals(served, found)]

    return _by_rows(served, X, asked, ask)


def explain(served: Any, X: Any, asked: Asked | None = None) -> list[Record]:
    """Predictions with the training rows that weigh most for and against them.

    ``supporters`` and ``opponents`` are lists of the number of a training row, counted from 1, its
    weight and its output.
    """
    asked = asked or Asked()
    _check(served, "explain", asked)
    learner = served.learner
    n, n_training = _n_rows(X), max(1, len(served.fitted.outputs))
    step = max(1, MOST_WEIGHTS // n_training)
    if n > step:  # every row has a weight of every training row
        parts = (range(start, min(n, start + step)) for start in range(0, n, step))
        return [
            record
            for rows in parts
            for record in explain(served, taken(X, list(rows)), _of_rows(asked, rows))
        ]

    def ask(X: Any, restrict: Any) -> list[Record]:
        options = _options(served, learner.explain, asked, restrict)
        found = learner.explain(X, **options)
        outputs = json_outputs(served, learner.predict(X, **options), restrict)
        weights = found.weights
        dense = weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights)
        n_voices = asked.n or N_VOICES
        sides = {
            "supporters": found.supporters(n_voices),
            "opponents": found.opponents(n_voices),
        }
        named = _training_outputs(served, np.concatenate(list(sides.values()), axis=None))
        return [
            {"prediction": output}
            | {
                side: [
                    {"row": int(j) + 1, "weight": float(dense[i, j]), "output": named[int(j)]}
                    for j in rows[i]
                    if j >= 0
                ]
                for side, rows in sides.items()
            }
            for i, output in enumerate(outputs)
        ]

    return _by_rows(served, X, asked, ask)


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _of_rows(asked: Asked, rows: range) -> Asked:
    """What is asked for some rows."""
    if not asked.by_row:
        return asked
    return replace(asked, restrict=asked.restrict[rows.start : rows.stop])


_QUESTIONS: dict[str, Callable[[Any, Any, Asked], list[Record]]] = {
    "predict": predict,
    "decode": decode,
    "marginals": marginals,
    "kbest": kbest,
    "explain": explain,
}


# ---------------------------------------------------------------------- what they share
def _check(served: Any, question: str, asked: Asked) -> None:
    """Raise where the model cannot answer, or the question has no room for what is asked."""
    reason = why_not(served, question)
    given = {"threshold": asked.threshold, "level": asked.level, "k": asked.k, "n": asked.n}
    for option, value in given.items():
        if reason is None and value is not None:
            if question != ONLY_OF[option]:
                reason = f"{option} is for {ONLY_OF[option]} alone."
            elif question == "predict":
                reason = why_not(served, option)
    if reason is None and asked.loss is not None:
        method = getattr(served.learner, _METHODS.get(question, question))
        if "loss" not in _parameters(method):
            about = "are those of no loss" if question == "marginals" else "have one loss"
            name = type(served.learner).__name__
            reason = f"loss: {question} by {name} {about}; leave the loss out."
    if reason is not None:
        raise ValueError(reason)


_METHODS = {"marginals": "predict_marginals"}


def _by_rows(
    served: Any, X: Any, asked: Asked, ask: Callable[[Any, Any], list[Record]]
) -> list[Record]:
    if asked.by_row:
        return by_constraints(served, X, asked.restrict, ask)
    return ask(X, constraints_for(served, asked.restrict))


def _options(served: Any, method: Any, asked: Asked, restrict: Any) -> dict[str, Any]:
    """What is given to a method of the learner; only what was asked for."""
    given = {"loss": asked.loss, "restrict": restrict, "threshold": asked.threshold}
    if isinstance(asked.threshold, Mapping):
        given["threshold"] = {served.by_text.get(k, k): v for k, v in asked.threshold.items()}
    known = _parameters(method)
    return {k: v for k, v in given.items() if v is not None and k in known}


def _parameters(method: Any) -> frozenset[str]:
    """Names of the parameters of a method, which are looked up once: it takes as long as a part
    of a prediction.
    """
    return _names(getattr(method, "__func__", method))


@lru_cache(maxsize=256)
def _names(function: Any) -> frozenset[str]:
    return frozenset(signature(function).parameters)


def _certified(served: Any, outputs: list[Any], values: Any, bounds: Any) -> list[Record]:
    values = np.asarray(values, dtype=np.float64)
    bounds = np.asarray(bounds, dtype=np.float64)
    finite = np.isfinite(values)
    gaps = np.where(finite, values, 0.0) - np.where(finite, bounds, 0.0)
    size = REPORTED_GAP * np.maximum(1.0, np.abs(np.where(finite, values, 0.0)))
    name = served.fitted.value_name
    exact = (gaps <= size).tolist()
    columns = (json_value(column) for column in (values, bounds, gaps))
    return [
        {"prediction": output, name: value, "bound": bound, "gap": gap, "exact": proven}
        for output, value, bound, gap, proven in zip(outputs, *columns, exact)
    ]


def _named_marginals(served: Any, found: Any) -> list[Any]:
    """Probabilities by the names of the parts."""
    if isinstance(found, list):  # a row per position
        symbols = [str(symbol) for symbol in served.space.symbols_]
        return [[dict(zip(symbols, row)) for row in np.asarray(one).tolist()] for one in found]
    if hasattr(found, "to_numpy"):
        found = found.to_numpy()
    found = np.asarray(found)
    space = served.learner.observation_space_
    axes = Marginals.of(space).axes(found.shape[-1])
    names = [[name_text(name) for name in axis] for axis in axes]
    if served.kind == "ranking" and served.fitted.targets:
        names = [list(map(str, served.fitted.targets))] * 2
    if len(names) == 1:
        return [dict(zip(names[0], row)) for row in found.tolist()]
    if served.kind == "sequence":
        return [[dict(zip(names[-1], row)) for row in one] for one in found.tolist()]
    return [
        {first: dict(zip(names[1], row)) for first, row in zip(names[0], one)}
        for one in found.reshape(len(found), len(names[0]), -1).tolist()
    ]


def _training_outputs(served: Any, rows: np.ndarray) -> dict[int, Any]:
    """Outputs of some rows of training, by number."""
    wanted = sorted({int(j) for j in rows if j >= 0})
    kept = served.fitted.outputs
    space = served.learner.observation_space_
    if not wanted or kept is None or max(wanted) >= len(kept) or space is not served.space:
        return dict.fromkeys(wanted)
    restored = served.space.restore(np.asarray(kept)[wanted])
    return dict(zip(wanted, json_outputs(served, restored)))
