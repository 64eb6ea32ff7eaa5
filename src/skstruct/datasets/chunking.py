# SPDX-License-Identifier: BSD-3-Clause
"""Text chunking: sentences with a tag for each word."""

from __future__ import annotations

from dataclasses import dataclass

from skstruct.datasets.home import data_file, open_text

_SOURCE = (
    "the corpus conll2000 of the NLTK data, or the web page of the CoNLL-2000 shared task "
    "(its files train.txt and test.txt)"
)


@dataclass(frozen=True)
class TaggedSentences:
    """Sentences and their chunks, in the parts for training and testing of the task.

    Attributes
    ----------
    train, test : lists of lists of (word, part of speech)
        One pair of strings for each token of each sentence.
    train_tags, test_tags : lists of lists of str
        A chunk tag for each token: ``"B-NP"`` begins a noun phrase, ``"I-NP"`` goes on with
        it, ``"O"`` is in no chunk.
    """

    train: list
    train_tags: list
    test: list
    test_tags: list


def load_conll2000() -> TaggedSentences:
    """Load the 8,936 and 2,012 sentences of the CoNLL-2000 shared task [1]_.

    Reads ``conll2000/train.txt`` and ``conll2000/test.txt``: word, part of speech, and chunk
    tag on each line, an empty line after each sentence.

    Returns
    -------
    TaggedSentences

    Raises
    ------
    MissingDataError
        If a file is not on this machine; the message says where to get it.
    ValueError
        If a file is not as expected; tells file and line.

    References
    ----------
    .. [1] E. Tjong Kim Sang and S. Buchholz, "Introduction to the CoNLL-2000 shared task:
       chunking", 2000.

    Examples
    --------
    >>> data = load_conll2000()  # doctest: +SKIP
    >>> data.train[0][0], data.train_tags[0][0]  # doctest: +SKIP
    (('Confidence', 'NN'), 'B-NP')
    """
    paths = [data_file("conll2000", name, source=_SOURCE) for name in ("train.txt", "test.txt")]
    (train, train_tags), (test, test_tags) = map(read_sentences, paths)
    return TaggedSentences(train, train_tags, test, test_tags)


def read_sentences(path) -> tuple[list, list]:
    """Tokens and tags of the sentences of one file."""
    sentences: list[list[tuple[str, str]]] = []
    tags: list[list[str]] = []
    inside = False
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            fields = line.split()
            if not fields:
                inside = False
                continue
            if len(fields) != 3:
                raise ValueError(
                    f"{path.name}, line {number}: expected word, part of speech and tag, got "
                    f"{len(fields)} fields."
                )
            if not inside:
                sentences.append([])
                tags.append([])
                inside = True
            word, speech, tag = fields
            _check_tag(path, number, tag)
            sentences[-1].append((word, speech))
            tags[-1].append(tag)
    return sentences, tags


def _check_tag(path, number, tag):
    if tag != "O" and tag[:2] not in ("B-", "I-"):
        raise ValueError(
            f"{path.name}, line {number}: {tag!r} is not a chunk tag (B-..., I-... or O)."
        )
