# SPDX-License-Identifier: BSD-3-Clause
"""Sequences: sentences with a tag for each word, and amino acids of enzymes."""

from dataclasses import dataclass
from typing import Any

from skstruct.datasets.files import data_file, open_text, text_lines
from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError

_CONLL2000_SOURCE = (
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

    train: list[Any]
    train_tags: list[Any]
    test: list[Any]
    test_tags: list[Any]


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
    paths = [
        data_file("conll2000", name, source=_CONLL2000_SOURCE) for name in ("train.txt", "test.txt")
    ]
    (train, train_tags), (test, test_tags) = map(read_sentences, paths)
    return TaggedSentences(train, train_tags, test, test_tags)


def read_sentences(path: Any) -> tuple[list[Any], list[Any]]:
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


# Enzymes: sequences of amino acids and their nodes in the hierarchy of EC numbers.


_ENZYMES_SOURCE = (
    "the repository tttianhao/CLEAN (its folder app/data): sequences and EC numbers from Swiss-Prot"
)
_ENZYME_PARTS = ("split10", "new")
_ENZYME_HEADER = ["Entry", "EC number", "Sequence"]


@dataclass(frozen=True)
class EnzymeData:
    """Enzymes with the reactions they catalyse.

    Attributes
    ----------
    entries : list of str
        Swiss-Prot names.
    sequences : list of str
        Amino acids, one capital letter each.
    numbers : list of tuples of str
        The EC numbers of each enzyme, ``("3.5.2.6",)``: class, subclass, sub-subclass and
        serial number, which may be preliminary, ``"n1"``.
    """

    entries: list[Any]
    sequences: list[Any]
    numbers: list[Any]

    @property
    def paths(self) -> list[Any]:
        """The path of each enzyme from the root, ``("3", "5", "2", "6")``.

        Only where each has a single EC number, as after ``load("enzymes", single=True)``.

        Examples
        --------
        >>> EnzymeData(["C7C422"], ["MELPNI"], [("3.5.2.6",)]).paths
        [('3', '5', '2', '6')]
        """
        for entry, numbers in zip(self.entries, self.numbers):
            if len(numbers) != 1:
                raise ValueError(
                    f"Enzyme {entry!r} has {len(numbers)} EC numbers, hence no single path; "
                    'leave such enzymes out by load("enzymes", single=True).'
                )
        return [tuple(number.split(".")) for (number,) in self.numbers]


def load_enzymes(part: str = "split10", *, single: bool = False) -> EnzymeData:
    """Load enzymes of Swiss-Prot as chosen by the authors of [1]_.

    Reads ``enzyme_ec/split10.csv`` or ``enzyme_ec/new.csv``: a line of names, then entry, EC
    numbers joined by semicolons, and sequence, separated by tabs.

    Parameters
    ----------
    part : {"split10", "new"}, default="split10"
        ``"split10"`` has 7,757 enzymes, clustered at 10 % identity; ``"new"`` has 392 that
        entered Swiss-Prot later.
    single : bool, default=False
        Leave out enzymes of several EC numbers; 7,247 and 334 remain.

    Returns
    -------
    EnzymeData

    Raises
    ------
    MissingDataError
        If the file is not on this machine; the message says where to get it.
    ValueError
        If the file is not as expected; tells file and line.

    References
    ----------
    .. [1] T. Yu et al., "Enzyme function prediction using contrastive learning", Science, 2023.

    Examples
    --------
    >>> data = load_enzymes(single=True)  # doctest: +SKIP
    >>> data.entries[0], data.paths[0]  # doctest: +SKIP
    ('C7C422', ('3', '5', '2', '6'))
    """
    if part not in _ENZYME_PARTS:
        raise ValueError(f"part is one of {', '.join(map(repr, _ENZYME_PARTS))}, got {part!r}.")
    path = data_file("enzyme_ec", f"{part}.csv", source=_ENZYMES_SOURCE)
    with open_text(path) as file:
        header = file.readline().rstrip("\n").split("\t")
        if header != _ENZYME_HEADER:
            raise ValueError(
                f"{path.name}, line 1: expected the names {_ENZYME_HEADER}, got {header}."
            )
        rows = [_enzyme(path, number, line) for number, line in enumerate(file, 2)]
    if single:
        rows = [row for row in rows if len(row[1]) == 1]
    return EnzymeData(
        [entry for entry, _, _ in rows],
        [sequence for _, _, sequence in rows],
        [numbers for _, numbers, _ in rows],
    )


def _enzyme(path: Any, number: int, line: str) -> tuple[str, tuple[Any, ...], str]:
    """Entry, EC numbers, and sequence of one line."""
    fields = line.rstrip("\n").split("\t")
    if len(fields) != len(_ENZYME_HEADER):
        raise ValueError(
            f"{path.name}, line {number}: expected {len(_ENZYME_HEADER)} fields separated by tabs, "
            f"got {len(fields)}."
        )
    entry, joined, sequence = fields
    numbers = tuple(joined.split(";"))
    for name in numbers:
        parts = name.split(".")
        if len(parts) != 4 or not all(parts):
            raise ValueError(
                f"{path.name}, line {number}: {name!r} is not an EC number of four parts."
            )
    if not (sequence.isascii() and sequence.isalpha() and sequence.isupper()):
        raise ValueError(
            f"{path.name}, line {number}: {sequence!r} is not a sequence of capital letters."
        )
    return entry, numbers, sequence
