# SPDX-License-Identifier: BSD-3-Clause
"""Text chunking: sentences with a tag for each word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from skstruct.datasets.home import data_file
from skstruct.datasets.reading import read_data
from skstruct.datasets.text_lines import text_lines
from skstruct.exceptions import DataFormatError

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
    DataFormatError
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
    data: Any = read_data(path, format="conll")
    width = len(data.inputs[0][0]) + 1
    if width != 3:
        problem = f"expected word, part of speech and tag, got {width} fields"
        raise DataFormatError(problem, path=path)
    for tag in data.labels:
        if tag != "O" and tag[:2] not in ("B-", "I-"):
            lines = enumerate(text_lines(path), 1)
            line = next(number for number, line in lines if line.split()[-1:] == [tag])
            problem = f"{tag[:60]!r} is not a chunk tag (B-..., I-... or O)"
            raise DataFormatError(problem, path=path, line=line)
    return data.inputs, [list(tags) for tags in data.outputs]
