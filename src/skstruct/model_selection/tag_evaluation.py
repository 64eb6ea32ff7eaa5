# SPDX-License-Identifier: BSD-3-Clause
"""Tokens, sentences and chunks that are right, with intervals by drawing the sentences again."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skstruct.model_selection.chunk_measures import chunk_scheme, chunks, paired
from skstruct.model_selection.evaluation import bootstrap_means, check_level, percentile_interval


@dataclass(frozen=True)
class TagMeasure:
    """A share with its bootstrap interval.

    Attributes
    ----------
    measure : str
        token_accuracy, sentence_accuracy, precision, recall or f1.
    type : str or None
        Of chunks, None for all of them.
    value, low, high : float
        NaN where there is nothing to count.
    """

    measure: str
    type: str | None
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class TagEstimates:
    """How many tags are right.

    Attributes
    ----------
    scheme : str or None
        IOB1, IOB2, IOBES or BILOU; None where tags are no chunks.
    n_tokens : int
        Tokens whose tag is known.
    n_whole : int
        Sentences all of whose tags are known; sentence accuracy and chunks are of these.
    measures : list of TagMeasure
        Of tokens and sentences, then precision, recall and F1 of all chunks and of every type.
    n_chunks : dict
        Predicted and true chunks by type, with None for all.
    """

    scheme: str | None
    n_tokens: int
    n_whole: int
    measures: list[TagMeasure]
    n_chunks: dict[str | None, tuple[int, int]]


def evaluate_tags(
    predicted: Any,
    truth: Any,
    *,
    labels: Any = (),
    n_bootstrap: int = 1000,
    level: float = 0.95,
    random_state: Any = 0,
) -> TagEstimates:
    """Token accuracy, sentence accuracy, and precision, recall and F1 of chunks, with intervals.

    Chunks are those of :func:`chunk_f1_score`; intervals come from drawing whole sentences.

    Parameters
    ----------
    predicted, truth : sequences of sequences of tags
        None in the truth is a token without a tag. Sentences that have one do not count as
        sentences, and their chunks do not count.
    labels : iterable of str, default=()
        Tags that there are beside those, to tell whether they are chunks.
    n_bootstrap, level, random_state : as of :func:`evaluate`

    Examples
    --------
    >>> truth = [["B-NP", "I-NP", "O"], ["B-NP", "B-VP", "O"]] * 20
    >>> found = evaluate_tags([["B-NP", "I-NP", "O"], ["B-NP", "O", "O"]] * 20, truth)
    >>> found.scheme, found.n_chunks
    ('IOB2', {None: (40, 60), 'NP': (40, 40), 'VP': (0, 20)})
    >>> for m in found.measures[:5]:
    ...     print(f"{m.measure:17} {m.value:.2f} from {m.low:.2f} to {m.high:.2f}")
    token_accuracy    0.83 from 0.78 to 0.88
    sentence_accuracy 0.50 from 0.35 to 0.65
    precision         1.00 from 1.00 to 1.00
    recall            0.67 from 0.61 to 0.74
    f1                0.80 from 0.75 to 0.85
    """
    check_level(n_bootstrap, level)
    rows = list(paired(predicted, truth))
    known = {tag for pair in rows for tags in pair for tag in tags}
    scheme = chunk_scheme({*labels, *known}, [tags for _, tags in rows])
    names, counts = _counts(rows, scheme is not None)
    generator = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    drawn = np.vstack([counts.mean(axis=0), bootstrap_means(counts, n_bootstrap, generator)])
    measures = [
        _measure("token_accuracy", None, drawn[:, 0], drawn[:, 1], level),
        _measure("sentence_accuracy", None, drawn[:, 2], drawn[:, 3], level),
    ]
    sums, n_chunks = counts.sum(axis=0).astype(int), {}
    for k, name in enumerate(names):
        correct, guessed, true = drawn[:, 4 + 3 * k : 7 + 3 * k].T
        measures += [
            _measure("precision", name, correct, guessed, level),
            _measure("recall", name, correct, true, level),
            _measure("f1", name, 2 * correct, guessed + true, level),
        ]
        n_chunks[name] = (int(sums[5 + 3 * k]), int(sums[6 + 3 * k]))
    return TagEstimates(scheme, int(sums[1]), int(sums[3]), measures, n_chunks)


def _counts(rows: list[tuple[Any, Any]], with_chunks: bool) -> tuple[list[str | None], np.ndarray]:
    """Types of chunks, None before them, and counts of every sentence: tokens that are right and
    that are known, the same of sentences, then correct, predicted and true chunks of each type.
    """
    found = [set(chunks(guessed)) if with_chunks else set() for guessed, _ in rows]
    wanted = [set(chunks(true)) if with_chunks else set() for _, true in rows]
    kinds = sorted({kind for sets in (*found, *wanted) for kind, _, _ in sets})
    names: list[str | None] = [None, *kinds] if with_chunks else []
    position = {kind: 1 + k for k, kind in enumerate(kinds)}
    counts = np.zeros((len(rows), 4 + 3 * len(names)))
    for i, (guessed, true) in enumerate(rows):
        told = [g == t for g, t in zip(guessed, true) if t is not None]
        counts[i, :2] = sum(told), len(told)
        if len(told) < len(true):
            continue
        counts[i, 2:4] = all(told), 1
        for column, sets in enumerate((found[i] & wanted[i], found[i], wanted[i])):
            for kind, _, _ in sets:
                counts[i, 4 + column] += 1
                counts[i, 4 + 3 * position[kind] + column] += 1
    return names, counts


def _measure(
    name: str, kind: str | None, above: np.ndarray, below: np.ndarray, level: float
) -> TagMeasure:
    """A ratio of means, that of all sentences first; draws in which it is 0 / 0 say nothing."""
    with np.errstate(invalid="ignore"):
        ratios = above / below
    value, draws = float(ratios[0]), ratios[1:][~np.isnan(ratios[1:])]
    if not len(draws):
        return TagMeasure(name, kind, value, np.nan, np.nan)
    low, high = percentile_interval(draws[:, None], level)
    return TagMeasure(name, kind, value, float(low[0]), float(high[0]))
