# SPDX-License-Identifier: BSD-3-Clause
"""Of ``skstruct evaluate``: how many tags and chunks are right."""

from typing import Any

from skstruct.cli.terminal import print_table
from skstruct.model_selection import TagEstimates, evaluate_tags

_SHOWN = {
    "token_accuracy": "token accuracy",
    "sentence_accuracy": "sentence accuracy",
    "precision": "chunk precision",
    "recall": "chunk recall",
    "f1": "chunk F1",
}
_BY_TYPE = ("type", "precision", "recall", "f1", "low", "high", "predicted", "true")


def tag_estimates(
    task_model: Any, X: Any, y: Any, constraints: dict[str, Any] | None, draws: int, level: float
) -> TagEstimates:
    """What the model predicts for its own loss, against the tags ``y``."""
    learner = task_model.learner_
    options: dict[str, Any] = {} if constraints is None else {"restrict": constraints}
    predicted = [[str(tag) for tag in row] for row in learner.predict(X, **options)]
    labels = [str(symbol) for symbol in learner.space_.symbols_]
    return evaluate_tags(predicted, y, labels=labels, n_bootstrap=draws, level=level)


def as_record(found: TagEstimates) -> dict[str, Any]:
    """The same for machines."""
    record: dict[str, Any] = {"tokens": found.n_tokens, "sentences": found.n_whole}
    record |= {"scheme": found.scheme}
    record["measures"] = [
        {"measure": m.measure, "type": m.type, "value": m.value, "low": m.low, "high": m.high}
        for m in found.measures
    ]
    record["chunks"] = [
        {"type": kind, "predicted": predicted, "true": true}
        for kind, (predicted, true) in found.n_chunks.items()
    ]
    return record


def print_tags(found: TagEstimates, n_sentences: int) -> None:
    """Two tables on stdout: of all tags, and of every type of chunks."""
    title = f"{found.n_tokens:,} tokens"
    if found.scheme is not None:
        title += f", chunks as {found.scheme}"
    if found.n_whole < n_sentences:
        left = n_sentences - found.n_whole
        title += f"; {left:,} of {n_sentences:,} sentences lack tags and count as tokens alone"
    rows = [[_SHOWN[m.measure], m.value, m.low, m.high] for m in found.measures if m.type is None]
    print_table(title, ("measure", "share", "low", "high"), rows, numbers=("share", "low", "high"))
    kinds = [kind for kind in found.n_chunks if kind is not None]
    if not kinds:
        return
    by_type = {(m.type, m.measure): m for m in found.measures}
    table = [
        [
            kind or "(none)", by_type[kind, "precision"].value, by_type[kind, "recall"].value,
            by_type[kind, "f1"].value, by_type[kind, "f1"].low, by_type[kind, "f1"].high,
            *found.n_chunks[kind],
        ]
        for kind in kinds
    ]  # fmt: skip
    print_table("Chunks by type; intervals of F1", _BY_TYPE, table, numbers=_BY_TYPE[1:])
