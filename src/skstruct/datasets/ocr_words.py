# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten words, letter by letter, 16 by 8 black and white pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.datasets.home import data_file
from skstruct.datasets.reading import read_data

_SOURCE = (
    "the web page of the Stanford AI laboratory on this OCR data set (its file letter.data, "
    "unpacked from letter.data.gz)"
)


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
    DataFormatError
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
    data: Any = read_data(path, format="letters")
    words = ["".join(symbols) for symbols in data.outputs]
    return WordImages(data.inputs, words, data.folds)
