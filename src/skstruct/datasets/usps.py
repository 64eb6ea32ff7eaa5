# SPDX-License-Identifier: BSD-3-Clause
"""Handwritten digits of the US Postal Service, 16 by 16 grey values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.datasets.home import data_file, open_text

_SOURCE = (
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
    paths = [data_file("usps", name, source=_SOURCE) for name in ("zip.train", "zip.test")]
    (train, train_digits), (test, test_digits) = map(read_digits, paths)
    return DigitImages(train, train_digits, test, test_digits)


def read_digits(path) -> tuple[np.ndarray, np.ndarray]:
    """Grey values (n, 256) and digits (n,) of one file."""
    with open_text(path) as file:
        lines = file.read().splitlines()
    table = np.array([_numbers(path, number, line) for number, line in enumerate(lines, 1)])
    table = table.reshape(len(lines), _N_PIXELS + 1)
    return table[:, 1:].copy(), table[:, 0].astype(np.int64)


def _numbers(path, number, line):
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
