# SPDX-License-Identifier: BSD-3-Clause
"""Measures of tags: tokens that are right, and chunks, as ``conlleval`` counts them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.fitted import Fitted

PREFIXES = frozenset("BIESLU")
_SAME = {"L": "E", "U": "S"}  # BILOU has other letters for the same things
AVERAGES = ("micro", "macro")
MEASURES = ("f1", "precision", "recall", "token_accuracy")


@dataclass(frozen=True)
class ChunkCounts:
    """Chunks of one type, or of all.

    Attributes
    ----------
    correct : int
        Predicted chunks that are true ones: same type, first and last token.
    predicted, true : int
    """

    correct: int
    predicted: int
    true: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        both = self.predicted + self.true
        return 2 * self.correct / both if both else 0.0


def token_accuracy(predicted: Any, truth: Any) -> float:
    """Share of the tokens whose tag is right; NaN where no token has one.

    Parameters
    ----------
    predicted, truth : sequences of sequences of tags
        None in the truth is a token without a tag, which does not count.

    Examples
    --------
    >>> token_accuracy([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", None]])
    1.0
    """
    right = told = 0
    for guessed, true in paired(predicted, truth):
        right += sum(g == t for g, t in zip(guessed, true) if t is not None)
        told += sum(t is not None for t in true)
    return right / told if told else float("nan")


def chunk_f1_score(predicted: Any, truth: Any, *, average: str | None = "micro") -> Any:
    r"""F1 of chunks: the harmonic mean of their precision and recall, as of ``conlleval`` [1]_.

    A predicted chunk is correct if a true one has the same type, first and last token. Over all
    sentences together, with P predicted, T true and C correct chunks,

    .. math:: F_1 = \frac{2 C}{P + T}.

    Tags are ``O`` or a prefix and a type, ``B-NP``: IOB1, IOB2, IOBES or BILOU. Sequences that
    break the rules of these are read as ``conlleval`` reads them, see :func:`chunks`.

    Parameters
    ----------
    predicted, truth : sequences of sequences of tags
    average : "micro", "macro" or None, default="micro"
        Of all chunks; the mean over the types that are predicted or true; or a dictionary with
        that of every type.

    Returns
    -------
    float, or dict for ``average=None``
        0 where nothing is predicted and nothing true.

    References
    ----------
    .. [1] E. F. Tjong Kim Sang and S. Buchholz, "Introduction to the CoNLL-2000 shared task:
       chunking", 2000.

    Examples
    --------
    >>> truth = [["B-NP", "I-NP", "B-VP", "O"]]
    >>> chunk_f1_score([["B-NP", "I-NP", "I-VP", "O"]], truth)  # I after another type begins
    1.0
    >>> chunk_f1_score([["B-NP", "O", "B-VP", "O"]], truth, average=None)
    {'NP': 0.0, 'VP': 1.0}
    """
    if average is not None and average not in AVERAGES:
        raise ValueError(f'average is "micro", "macro" or None; got {average!r}.')
    by_type = chunk_counts(predicted, truth)
    if average is None:
        return {name: counts.f1 for name, counts in by_type.items()}
    if average == "macro":
        return float(np.mean([counts.f1 for counts in by_type.values()])) if by_type else 0.0
    return total(by_type).f1


def chunk_counts(predicted: Any, truth: Any) -> dict[str, ChunkCounts]:
    """Correct, predicted and true chunks of every type, in the order of names.

    Examples
    --------
    >>> chunk_counts([["B-NP", "B-NP"]], [["B-NP", "I-NP"]])
    {'NP': ChunkCounts(correct=0, predicted=2, true=1)}
    """
    correct, guessed, true = Counter[str](), Counter[str](), Counter[str]()
    for row, tags in paired(predicted, truth):
        found, wanted = set(chunks(row)), set(chunks(tags))
        guessed.update(kind for kind, _, _ in found)
        true.update(kind for kind, _, _ in wanted)
        correct.update(kind for kind, _, _ in found & wanted)
    names = sorted({*guessed, *true})
    return {name: ChunkCounts(correct[name], guessed[name], true[name]) for name in names}


def total(by_type: dict[str, ChunkCounts]) -> ChunkCounts:
    """Of all types together."""
    counts = by_type.values()
    return ChunkCounts(
        sum(c.correct for c in counts),
        sum(c.predicted for c in counts),
        sum(c.true for c in counts),
    )


def chunks(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """Type, first and last token of every chunk of a sentence, by the rules of ``conlleval``.

    A chunk begins at B and S, where the type changes, and at I and E after O, E or S; it ends
    before the next begins, before O, and at E and S. So ``I-NP`` after ``O`` begins a chunk, which
    is the rule of IOB1 and the way in which broken sequences of other schemes are read. L and U of
    BILOU are E and S. A tag of none of these prefixes is outside, as is None.

    Examples
    --------
    >>> chunks(["B-NP", "I-NP", "I-VP", "O", "I-NP", "E-NP", "I-NP"])
    [('NP', 0, 1), ('VP', 2, 2), ('NP', 4, 5), ('NP', 6, 6)]
    """
    found, begin = [], 0
    before, kind_before = "O", ""
    for position, (prefix, kind) in enumerate([*map(parts, tags), ("O", "")]):
        changed = prefix == "O" or kind != kind_before or prefix in "BS" or before in "OES"
        if before != "O" and changed:
            found.append((kind_before, begin, position - 1))
        if changed:
            begin = position
        before, kind_before = prefix, kind
    return found


def parts(tag: str | None) -> tuple[str, str]:
    """Prefix and type of a tag; O and no type for what is no part of a chunk.

    >>> parts("B-NP"), parts("L-in-law"), parts("I"), parts("NN")
    (('B', 'NP'), ('E', 'in-law'), ('I', ''), ('O', ''))
    """
    if not tag or tag[0] not in PREFIXES or tag[1:2] not in ("", "-"):
        return "O", ""
    return _SAME.get(tag[0], tag[0]), tag[2:]


def chunk_scheme(tags: Iterable[Any], sentences: Iterable[Sequence[Any]] = ()) -> str | None:
    """IOB1, IOB2, IOBES or BILOU, by the tags that there are; None where they are no chunks.

    Parameters
    ----------
    tags : iterable of str
        All tags. They are chunks if each is ``O`` or has a prefix and a type, or if they are
        ``B``, ``I`` and ``O`` and the like without types.
    sentences : iterable of sequences of tags
        True ones, to tell IOB1 from IOB2: in the latter every chunk begins by B.

    Examples
    --------
    >>> chunk_scheme(["O", "B-NP", "I-NP"], [["B-NP", "I-NP", "O"]])
    'IOB2'
    >>> chunk_scheme(["O", "B-NP", "I-NP"], [["I-NP", "B-NP", "O"]])
    'IOB1'
    >>> chunk_scheme(["NN", "VB"]) is None
    True
    """
    names = {str(tag) for tag in tags if tag is not None}
    inside = names - {"O"}
    has_types = bool(inside) and all(len(n) > 2 and n[1] == "-" for n in inside)
    if not has_types and not {"B", "I", "O"} <= names:
        return None
    prefixes = {name[0] for name in inside}
    if not prefixes <= PREFIXES or not (has_types or inside <= PREFIXES):
        return None
    if prefixes <= {"B", "I"}:
        begun_by_b = all(tags[first][0] == "B" for tags in sentences
                         for _, first, _ in chunks(tags))  # fmt: skip
        return "IOB2" if "B" in prefixes and begun_by_b else "IOB1"
    if prefixes <= set("BILU"):
        return "BILOU"
    return "IOBES" if prefixes <= set("BIES") else None


def paired(predicted: Any, truth: Any) -> Iterator[tuple[Any, Any]]:
    """Predicted and true tags of each sentence; refused where they are not as many."""
    predicted, truth = list(predicted), list(truth)
    if len(predicted) != len(truth):
        raise ValueError(
            f"as many predicted sentences as true ones; got {len(predicted)} and {len(truth)}."
        )
    for i, (guessed, true) in enumerate(zip(predicted, truth)):
        if len(guessed) != len(true):
            raise ValueError(f"sentence {i} has {len(true)} tags, and {len(guessed)} predicted.")
        yield guessed, true


def chunk_scorer(measure: str = "f1", *, type: str | None = None) -> "ChunkScorer":
    """A scorer that judges a model of tags by its chunks: higher is better.

    Pass the result as ``scoring`` to ``cross_val_score``, ``GridSearchCV`` and their like. The
    model may be the last step of a pipeline.

    Parameters
    ----------
    measure : "f1", "precision", "recall" or "token_accuracy", default="f1"
    type : str, default=None
        Of the chunks that count, such as ``"NP"``; all when None.

    Returns
    -------
    callable of ``(model, X, y)``

    Examples
    --------
    >>> chunk_scorer("recall", type="NP")
    chunk_scorer('recall', type='NP')
    """
    if measure not in MEASURES:
        raise ValueError(f"measure is one of {', '.join(MEASURES)}; got {measure!r}.")
    if type is not None and measure == "token_accuracy":
        raise ValueError("token_accuracy is of all tokens; leave type out.")
    return ChunkScorer(measure, type)


class ChunkScorer:
    """What :func:`chunk_scorer` returns: a measure and a type of chunks, or None for all."""

    def __init__(self, measure: str, type: str | None) -> None:
        self.measure, self.type = measure, type

    def __repr__(self) -> str:
        given = "" if self.type is None else f", type={self.type!r}"
        return f"chunk_scorer({self.measure!r}{given})"

    def __call__(self, model: Any, X: Any, y: Any) -> float:
        learner, inputs = Fitted.of(model).decider(X)
        predicted = learner.predict(inputs)
        if self.measure == "token_accuracy":
            return token_accuracy(predicted, y)
        by_type = chunk_counts(predicted, y)
        none = ChunkCounts(0, 0, 0)
        counts = total(by_type) if self.type is None else by_type.get(self.type, none)
        return float(getattr(counts, self.measure))
