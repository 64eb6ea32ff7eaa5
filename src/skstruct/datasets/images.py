# SPDX-License-Identifier: BSD-3-Clause
"""Images of handwritten digits and letters: USPS, OCR words, and scikit-learn's digits with a
taxonomy or in chains.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.datasets.dataset import HierarchicalData, closed_indicators, named_edges
from skstruct.datasets.files import data_file, open_text
from skstruct.datasets.reading import read_data
from skstruct.spaces.common.label_graph import LabelGraph

_USPS_SOURCE = (
    "the R package ElemStatLearn (its sets zip.train and zip.test, written as text) or the "
    "web page of the book 'The Elements of Statistical Learning'"
)
_N_PIXELS = 256


@dataclass(frozen=True)
class DigitImages:
    """Images of digits, in the parts for training and testing that are in use.

    Attributes
    ----------
    train, test : float64 arrays of shape (n_images, 256)
        Grey values from -1 (paper) to 1 (ink), row by row from the top.
    train_digits, test_digits : int64 arrays of shape (n_images,)
    """

    train: np.ndarray
    train_digits: np.ndarray
    test: np.ndarray
    test_digits: np.ndarray


def load_usps() -> DigitImages:
    """Load the 7,291 and 2,007 images of the USPS digits [1]_.

    Reads ``usps/zip.train`` and ``usps/zip.test``: the digit and 256 grey values on each
    line.

    Returns
    -------
    DigitImages

    Raises
    ------
    MissingDataError
        If a file is not on this machine; the message says where to get it.
    ValueError
        If a file is not as expected; tells file and line.

    References
    ----------
    .. [1] Y. LeCun et al., "Handwritten digit recognition with a back-propagation network",
       1990.

    Examples
    --------
    >>> data = load_usps()  # doctest: +SKIP
    >>> data.train.shape, data.test.shape  # doctest: +SKIP
    ((7291, 256), (2007, 256))
    """
    paths = [data_file("usps", name, source=_USPS_SOURCE) for name in ("zip.train", "zip.test")]
    (train, train_digits), (test, test_digits) = map(read_digits, paths)
    return DigitImages(train, train_digits, test, test_digits)


def read_digits(path: Any) -> tuple[np.ndarray, np.ndarray]:
    """Grey values (n, 256) and digits (n,) of one file."""
    with open_text(path) as file:
        lines = file.read().splitlines()
    table = np.array([_pixels(path, number, line) for number, line in enumerate(lines, 1)])
    table = table.reshape(len(lines), _N_PIXELS + 1)
    return table[:, 1:].copy(), table[:, 0].astype(np.int64)


def _pixels(path: Any, number: int, line: str) -> np.ndarray:
    """The digit and the grey values of one line."""
    try:
        values = np.array(line.split(), dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{path.name}, line {number}: {error}.") from None
    if len(values) != _N_PIXELS + 1:
        raise ValueError(
            f"{path.name}, line {number}: expected a digit and {_N_PIXELS} grey values, got "
            f"{len(values)} numbers."
        )
    if values[0] not in range(10):
        raise ValueError(f"{path.name}, line {number}: {values[0]:g} is not a digit.")
    if not (np.abs(values[1:]) <= 1).all():  # NaN is not within either
        worst = values[1:][~(np.abs(values[1:]) <= 1)][0]
        raise ValueError(
            f"{path.name}, line {number}: grey values are within -1 and 1, got {worst:g}."
        )
    return values


# Handwritten words, letter by letter, 16 by 8 black and white pixels.


_OCR_SOURCE = (
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

    images: list[Any]
    words: list[Any]
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
    path = data_file("ocr_letters", "letter.data", source=_OCR_SOURCE)
    data: Any = read_data(path, format="letters")
    words = ["".join(symbols) for symbols in data.outputs]
    return WordImages(data.inputs, words, data.folds)


# Images of digits with a taxonomy of their shapes; needs no file.


_DIGIT_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGIT_SHAPES = {"round": (0, 6, 8, 9), "straight": (1, 4, 7), "open": (2, 3, 5)}
_N_TRAIN = 900


def load_digit_shapes() -> HierarchicalData:
    """Load scikit-learn's digits, labelled by digit and by shape.

    Every image is a ``"digit"``, of a shape (``"round"`` has a loop, ``"straight"`` has
    strokes, ``"open"`` has bows), and one of the ten digits. 900 of the 1797 images, always
    the same, are for training; grey values are scaled to [0, 1].

    Returns
    -------
    HierarchicalData

    Examples
    --------
    >>> data = load_digit_shapes()
    >>> data.X_train.shape, data.X_test.shape
    ((900, 64), (897, 64))
    >>> data.edges[:4]
    (('digit', 'round'), ('digit', 'straight'), ('digit', 'open'), ('round', 'zero'))
    >>> data.Y_train.sum(axis=1)
    array([3, 3, 3, ..., 3, 3, 3])
    """
    shapes = [("digit", shape) for shape in _DIGIT_SHAPES]
    digits = [(shape, _DIGIT_NAMES[k]) for shape, members in _DIGIT_SHAPES.items() for k in members]
    graph = LabelGraph.read(shapes + digits)
    from sklearn.datasets import load_digits  # imports much, for one function

    X, digit = load_digits(return_X_y=True)
    Y = closed_indicators([[_DIGIT_NAMES[k]] for k in digit], graph)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:_N_TRAIN], order[_N_TRAIN:]
    return HierarchicalData(
        name="digit_shapes",
        X_train=X[train] / 16.0,
        Y_train=Y[train],
        X_test=X[test] / 16.0,
        Y_test=Y[test],
        edges=named_edges(graph),
        labels=graph.names,
        note="Not of a paper: digits of scikit-learn with shapes named for this library.",
    )


# Rows of handwritten digits of which one tells of the next; needs no file.


@dataclass(frozen=True)
class TokenData:
    """Sequences with features for every position.

    Attributes
    ----------
    X_train, X_test : lists of arrays of shape (n_positions, n_features)
    y_train, y_test : lists of strings, a symbol for each position
    """

    X_train: list[np.ndarray]
    y_train: list[str]
    X_test: list[np.ndarray]
    y_test: list[str]


def make_digit_chains(
    n_train: int = 200,
    n_test: int = 200,
    *,
    length: tuple[int, int] = (4, 9),
    noise: float = 0.6,
    random_state: Any = 0,
) -> TokenData:
    """Make rows of scikit-learn's digits, blurred by noise, that mostly count upwards.

    The next digit is the last one plus 0, 1 or 2 (modulo 10) with probabilities 0.1, 0.7 and
    0.2. Training and test rows are made of different images.

    Parameters
    ----------
    n_train, n_test : int
        Number of rows.
    length : (int, int)
        Shortest and longest row; all lengths are equally likely.
    noise : float
        Standard deviation of what is added to grey values between 0 and 1.
    random_state : int or Generator

    Returns
    -------
    TokenData

    Examples
    --------
    >>> data = make_digit_chains(n_train=3, n_test=2)
    >>> data.y_train
    ['345680123', '567899012', '44577']
    >>> [x.shape for x in data.X_train]
    [(9, 64), (9, 64), (5, 64)]
    """
    rng = np.random.default_rng(random_state)
    from sklearn.datasets import load_digits  # imports much, for one function

    images, digits = load_digits(return_X_y=True)
    order = rng.permutation(len(digits))
    parts = []
    for rows, pool in ((n_train, order[:_N_TRAIN]), (n_test, order[_N_TRAIN:])):
        by_digit = [pool[digits[pool] == digit] for digit in range(10)]
        X, y = [], []
        for _ in range(rows):
            steps = rng.choice(3, rng.integers(length[0], length[1] + 1), p=[0.1, 0.7, 0.2])
            chain = (rng.integers(10) + np.cumsum(steps)) % 10
            chosen = images[[rng.choice(by_digit[digit]) for digit in chain]] / 16.0
            X.append(chosen + noise * rng.standard_normal(chosen.shape))
            y.append("".join(map(str, chain)))
        parts += [X, y]
    return TokenData(*parts)
