# SPDX-License-Identifier: BSD-3-Clause
"""Rows of handwritten digits of which one tells of the next; needs no file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_N_TRAIN = 900  # images that training rows are made of; the others are for test rows


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


def make_digit_chains(n_train=200, n_test=200, *, length=(4, 9), noise=0.6, random_state=0):
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
