# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten words, letter by letter, 16 by 8 black and white pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.datasets.home import data_file, open_text

_SOURCE = (
    "the web page of the Stanford AI laboratory on this OCR data set (its file letter.data, "
    "unpacked from letter.data.gz)"
)
_N_PIXELS = 128
_N_FIELDS = 6 + _N_PIXELS  # id, letter, id of the next, word, position, fold, pixels


@dataclass(frozen=True)
class WordImages:
    """Words as rows of letter images.

    Attributes
    ----------
    images : list of float64 arrays of shape (n_letters, 128)
        Pixels of each letter of each word, 0 (paper) or 1 (ink), row by row from the top.
    words : list of str
        The lower-case letters. Capital first letters were left out by those who made the set:
        ``"ommanding"``.
    folds : int64 array of shape (n_words,)
        Which of the ten published parts a word is in, 0 to 9.
    """

    images: list
    words: list
    folds: np.ndarray

    def padded(self) -> np.ndarray:
        """All words as vectors of one length, zeros after the last letter.

        Returns
        -------
        array of shape (n_words, 128 * length of the longest word)

        Examples
        --------
        >>> images = [np.ones((2, 128)), np.ones((1, 128))]
        >>> WordImages(images, ["at", "a"], np.array([0, 0])).padded().sum(axis=1)
        array([256., 128.])
        """
        vectors = np.zeros((len(self.images), max(image.size for image in self.images)))
        for vector, image in zip(vectors, self.images):
            vector[: image.size] = image.ravel()
        return vectors


def load_ocr_words() -> WordImages:
    """Load the 6,877 handwritten words (55 distinct ones, 52,152 letters) of [1]_ and [2]_.

    Reads ``ocr_letters/letter.data``: on each line, separated by tabs, the number of the
    letter, the letter, the number of the next letter of the word (-1 at its end), word,
    position, fold, and 128 pixels.

    Returns
    -------
    WordImages

    Raises
    ------
    MissingDataError
        If the file is not on this machine; the message says where to get it.
    ValueError
        If the file is not as expected; tells file and line.

    References
    ----------
    .. [1] R. Kassel, "A comparison of approaches to on-line handwritten character
       recognition", 1995.
    .. [2] B. Taskar, C. Guestrin and D. Koller, "Max-margin Markov networks", 2004.

    Examples
    --------
    >>> data = load_ocr_words()  # doctest: +SKIP
    >>> data.words[0], data.images[0].shape  # doctest: +SKIP
    ('ommanding', (9, 128))
    """
    path = data_file("ocr_letters", "letter.data", source=_SOURCE)
    with open_text(path) as file:
        letters = [_letter(path, number, line) for number, line in enumerate(file, 1)]
    if not letters or letters[-1][1] != -1:
        raise ValueError(f"{path.name}, line {len(letters)}: the last word has no end (-1).")
    symbols, nexts, folds, pixels = zip(*letters)
    ends = np.flatnonzero(np.array(nexts) == -1) + 1
    starts = np.concatenate([[0], ends[:-1]])
    stacked = np.array(pixels)
    return WordImages(
        [stacked[start:end] for start, end in zip(starts, ends)],
        ["".join(symbols[start:end]) for start, end in zip(starts, ends)],
        np.array(folds, dtype=np.int64)[starts],
    )


def _letter(path, number, line):
    """Letter, number of the next one, fold, and pixels of one line."""
    fields = line.rstrip().split("\t")
    if len(fields) != _N_FIELDS:
        raise ValueError(
            f"{path.name}, line {number}: expected {_N_FIELDS} fields separated by tabs, got "
            f"{len(fields)}."
        )
    symbol = fields[1]
    if len(symbol) != 1 or not "a" <= symbol <= "z":
        raise ValueError(f"{path.name}, line {number}: {symbol!r} is not a letter of a to z.")
    try:
        following, fold = int(fields[2]), int(fields[5])
        pixels = np.array(fields[6:], dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{path.name}, line {number}: {error}.") from None
    if not np.isin(pixels, (0, 1)).all():
        worst = pixels[~np.isin(pixels, (0, 1))][0]
        raise ValueError(f"{path.name}, line {number}: pixels are 0 or 1, got {worst:g}.")
    return symbol, following, fold, pixels
