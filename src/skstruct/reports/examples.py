# SPDX-License-Identifier: BSD-3-Clause
"""Some predictions from the worst to the best, with their inputs and what speaks for them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.drawings import draw
from skstruct.fitted import Fitted
from skstruct.inspection.drawing import written
from skstruct.learners.tokens import len_of
from skstruct.reports.outputs import in_words
from skstruct.reports.pages import Drawn, Example, Section, Table, Text, left_out, number
from skstruct.reports.pictures import risk_curve
from skstruct.reports.subject import row_of
from skstruct.spaces import Description, Targets
from skstruct.spaces.truth import seen_by

MOST_FEATURES = 6
MOST_TOKENS = 40


def input_facts(subject: Any, i: int) -> list[tuple[str, str]]:
    """Facts about one input, as names and values."""
    X = subject.X
    if hasattr(X, "shape") and len(X.shape) == 2:
        return [("unusual features", _unusual(subject, i))] if X.shape[1] else []
    words = _words(row_of(X, i))
    return [("input", words)] if words else []


def _unusual(subject: Any, i: int) -> str:
    """Features farthest from their mean, in standard deviations of the rows of the report."""
    X = subject.X
    row = X.iloc[[i]] if is_pandas(X, "DataFrame") else X[[i]]
    row = row.toarray()[0] if sparse.issparse(row) else np.asarray(row)[0]
    try:
        row = row.astype(float)
    except (TypeError, ValueError):
        names = feature_names(subject, len(row))
        shown = [f"{name} = {written(value, 30)}" for name, value in zip(names, row)]
        return ", ".join(shown[:MOST_FEATURES])
    mean, deviation = moments(subject)
    known = (deviation > 0) & ~np.isnan(row)
    far = np.where(known, (row - mean) / np.where(known, deviation, 1.0), 0.0)
    names = feature_names(subject, len(row))
    order = np.argsort(-np.abs(far), kind="stable")[:MOST_FEATURES]
    return ", ".join(f"{names[j]} = {number(row[j])} ({far[j]:+.1f} σ)" for j in order)


def moments(subject: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations of the features, over the training rows if they are there."""
    X = subject.options.get("X_train")
    X = subject.X if X is None else X
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))
    X = np.asarray(X, dtype=float)
    n_known = np.maximum(1, (~np.isnan(X)).sum(axis=0))
    mean = np.nansum(X, axis=0) / n_known
    return mean, np.sqrt(np.nansum((X - mean) ** 2, axis=0) / n_known)


def feature_names(subject: Any, p: int) -> list[str]:
    """Names of the features: given, known to the model, or numbers."""
    names = subject.options.get("feature_names")
    if names is None:
        names = Fitted.of(subject.model).names
    if names is None or len(names) != p:
        return [f"feature {j + 1}" for j in range(p)]
    return [written(name, 40) for name in names]


def _words(x: Any) -> str:
    """A text, features by name, or a sequence of tokens, where tokens have words."""
    if isinstance(x, str):
        return written(x, 300)
    if isinstance(x, Mapping):
        shown = list(x.items())[:MOST_TOKENS]
        more = " …" if len(x) > MOST_TOKENS else ""
        return ", ".join(f"{written(name, 30)} = {_token(value)}" for name, value in shown) + more
    if not isinstance(x, (list, tuple)) or not len(x):
        if not hasattr(x, "shape") and not hasattr(x, "__len__"):
            return ""
        return f"{number(len_of(x))} positions"
    texts = [_token(token) for token in x[:MOST_TOKENS]]
    return " ".join(texts) + (" …" if len(x) > MOST_TOKENS else "")


def _token(token: Any) -> str:
    if isinstance(token, Mapping):
        token = next(iter(token.values()), "")
    elif isinstance(token, (set, frozenset)):
        token = min(map(str, token), default="")
    elif isinstance(token, (list, tuple)) and token:
        token = token[0]  # the word, in front of its tags
    return number(token) if isinstance(token, (float, np.floating)) else written(token, 30)


# Some predictions, from the worst to the best, with what speaks for and against them.


TITLE, ANCHOR = "Examples, from the worst to the best", "examples"
MOST_CHARTS = 3  # examples with a chart
MOST_PARTS = 8  # of the output of a supporter or opponent
VOICES = ("supporters", "opponents")
MOST_VOICES = 4  # of each


def example_section(subject: Any) -> Section:
    """Rows from the largest loss to the least, with what speaks for their predictions."""
    n_examples = subject.options.get("n_examples", 6)
    chosen = chosen_rows(subject.losses, n_examples, subject.rng)
    if not len(chosen):
        return left_out(TITLE, ANCHOR, "n_examples is 0.")
    explanation, why = _explained(subject, chosen)
    blocks: list[Any] = [
        Text(
            "What is predicted is framed, and the darker, the more probable. A star marks what is "
            "true: it is hollow where it was missed. A cross marks what is wrong."
        )
    ]
    if why:
        blocks.append(Text(f"Without supporters and opponents: {why}"))
    elif explanation is not None:
        blocks.append(
            Text(
                "Supporters are training rows that pull the prediction towards their output, "
                "opponents those that push it away, by their weights. A weight that many rows "
                "share is that of the mean, and no row's own."
            )
        )
    marginals = _probabilities(subject, chosen)
    for place, i in enumerate(chosen.tolist()):
        shares = None if marginals is None else marginals[place]
        blocks.append(_example(subject, place, i, explanation, shares))
    return Section(TITLE, ANCHOR, blocks)


def chosen_rows(losses: np.ndarray, n_examples: int, rng: np.random.Generator) -> np.ndarray:
    """Rows along the order by loss, more of them where it is large; ties in random order."""
    n = len(losses)
    order = np.lexsort((rng.random(n), -np.asarray(losses)))
    steps = np.linspace(0, 1, min(int(n_examples), n)) ** 2 * (n - 1)
    places = np.arange(len(steps))
    # Every step is at least one row: s_k = max(r_k, s_{k-1} + 1). The parabola lies below its
    # chord, so that the last one stays n - 1.
    steps = np.maximum.accumulate(steps.round().astype(int) - places) + places
    return order[steps]


def _explained(subject: Any, chosen: np.ndarray) -> tuple[Any, str]:
    learner = subject.learner
    if not subject.fitted.can("explain"):
        return None, f"{type(learner).__name__} does not weigh single training rows."
    try:
        return learner.explain(_inputs(subject, chosen)), ""
    except (ValueError, NotImplementedError) as error:
        return None, str(error)


def _inputs(subject: Any, chosen: np.ndarray) -> Any:
    X = subject.inner
    if hasattr(X, "iloc"):
        return X.iloc[chosen]
    return X[chosen] if hasattr(X, "shape") else [X[i] for i in chosen]


def _probabilities(subject: Any, chosen: np.ndarray) -> list[np.ndarray] | None:
    """Probabilities of the parts of each example; None where the learner has none."""
    if not subject.fitted.can("predict_marginals"):
        return None
    try:
        found = subject.learner.predict_marginals(_inputs(subject, chosen))
    except (ValueError, NotImplementedError):  # a space or smoother that has none
        return None
    rows = found.toarray() if hasattr(found, "toarray") else found
    return [np.asarray(row) for row in (rows if isinstance(rows, list) else np.asarray(rows))]


def _drawn(subject: Any, i: int, gaps: np.ndarray | None, shares: Any) -> Drawn | None:
    """The prediction of a row in its structure, beside the truth as far as it is known."""
    z, y = subject.predicted[i], subject.truth[i]
    if gaps is not None:
        y = np.where(gaps, -1 if subject.kind in ("labels", "hierarchy") else np.nan, y)
        y = y if subject.kind in ("labels", "hierarchy", "ranking", "quantities") else None
    words = None
    if subject.kind == "sequence":
        given = row_of(subject.X, i)
        words = [_token(token) for token in given] if isinstance(given, (list, tuple)) else None
    try:
        made = draw(
            subject.space, z, truth=y, marginals=shares, words=words, clickable=False,
            coordinates=subject.options.get("coordinates"), title=f"The prediction for row {i + 1}",
        )  # fmt: skip
    except (ValueError, NotImplementedError):  # a space of another package
        return None
    return Drawn(made.svg)


def _example(subject: Any, place: int, i: int, explanation: Any, shares: Any) -> Example:
    space = subject.space
    z, y, gaps = subject.predicted[i], subject.truth[i], _gaps(subject, i)
    y = y if gaps is None else np.where(gaps, z, y)
    facts = [
        ("predicted", in_words(space, z, y, "false")),
        ("truth", in_words(space, y, z, "missed")),
        ("loss", number(subject.losses[i])),
    ]
    if gaps is not None:
        parts = Description.of(space).part_words[1]
        said = f"{number(int(gaps.sum()))} {parts}, shown as they were predicted"
        facts.insert(2, ("not known", said))
    if subject.risks is not None:
        facts.append(("estimated risk", number(subject.risks[i])))
    facts += input_facts(subject, i)
    pictures: list[Any] = [_drawn(subject, i, gaps, shares)]
    if place < MOST_CHARTS and gaps is None and subject.kind == "quantities":
        pictures.append(risk_curve(subject, i))
    pictures = [one for one in pictures if one is not None]
    tables = [] if explanation is None else _voices(subject, place, explanation)
    if explanation is not None:
        shown = {table.caption for table in tables}
        facts += [(side, "none") for side in VOICES if f"strongest {side}" not in shown]
    return Example(f"Row {number(i + 1)}", facts, tables, pictures)


def _gaps(subject: Any, i: int) -> np.ndarray | None:
    """Parts of a truth that are not known; None where all are."""
    if subject.known is None:
        return None
    y, known = np.asarray(subject.truth[i]), subject.known[i]
    gaps: np.ndarray = ~known & (y >= 0) if y.dtype.kind == "i" else ~known
    return gaps if y.ndim and gaps.any() else None


def _voices(subject: Any, place: int, explanation: Any) -> list[Table]:
    weights = explanation.weights
    weights = weights[[place]].toarray()[0] if hasattr(weights, "toarray") else weights[place]
    outputs = Targets.of(seen_by(subject.learner)).outputs_of(subject.learner.outputs_)
    tables = []
    sides = zip(VOICES, (explanation.supporters, explanation.opponents))
    for side, strongest in sides:
        rows = [int(row) for row in strongest(MOST_VOICES)[place] if 0 <= row < len(outputs)]
        cells = [
            [f"row {number(row + 1)}", float(weights[row]), _loss(explanation, place, row),
             in_words(subject.space, outputs[row], most=MOST_PARTS)]
            for row in rows
        ]  # fmt: skip
        if cells:
            header = ["training", "weight", "loss", "its output"]
            tables.append(Table(header, cells, f"strongest {side}", narrow=True))
    return tables


def _loss(explanation: Any, place: int, row: int) -> float:
    return float(np.asarray(explanation.losses)[place, row])
