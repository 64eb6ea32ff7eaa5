# SPDX-License-Identifier: BSD-3-Clause
"""Knapsacks of electricity: what half hours of a day are worth, to be known beforehand."""

from dataclasses import dataclass

import numpy as np

from skstruct.datasets.files import data_file, open_binary
from skstruct.exceptions import DataFormatError

_SOURCE = "the GitHub repository PredOpt/predopt-benchmarks, file Knapsack/Trainer/Data.npz"
_HALF_HOURS = 48
_PARTS = ("X_1gtrain", "X_1gtest", "y_train", "y_test", "weights")


@dataclass(frozen=True)
class KnapsackData:
    """Items with features, values that become known too late, and weights that are known.

    Attributes
    ----------
    X : float64 array of shape (n_days, 48, 8)
        Features of every half hour: a holiday or not, day of the week, week and month, predicted
        wind energy, load and price of the system, carbon intensity.
    values : float64 array of shape (n_days, 48)
    weights : int64 array of shape (48,)
        The same on all days: 3, 5 or 7.
    """

    X: np.ndarray
    values: np.ndarray
    weights: np.ndarray


def load_energy_knapsack() -> KnapsackData:
    """Load 789 days of the Irish electricity market as knapsacks of 48 half hours [1]_ [2]_.

    Reads ``energy_knapsack/Data.npz``. Its parts for training and testing, 552 and 237 days, are
    joined in this order; the first column of features, a number of the day, is left out. A day is
    one knapsack, for which published capacities are 60, 120 and 180.

    Returns
    -------
    KnapsackData

    Raises
    ------
    MissingDataError
        If the file is not on this machine; the message says where to get it.
    DataFormatError
        If the file is not as expected.

    References
    ----------
    .. [1] G. Ifrim, B. O'Sullivan, H. Simonis, "Properties of energy-price forecasts for
       scheduling", CP 2012.
    .. [2] J. Mandi et al., "Decision-focused learning: foundations, state of the art, benchmark
       and future opportunities", Journal of Artificial Intelligence Research 80, 2024.

    Examples
    --------
    >>> data = load_energy_knapsack()  # doctest: +SKIP
    >>> data.X.shape, data.values.shape, data.weights.sum()  # doctest: +SKIP
    ((789, 48, 8), (789, 48), np.int64(240))
    """
    path = data_file("energy_knapsack", "Data.npz", source=_SOURCE)
    try:
        with open_binary(path) as file, np.load(file, allow_pickle=False) as parts:
            X_train, X_test, y_train, y_test, weights = (parts[name] for name in _PARTS)
    except (KeyError, ValueError, OSError, EOFError) as error:
        raise DataFormatError(f"expected arrays {', '.join(_PARTS)} ({error})", path=path) from None
    X, values = np.concatenate([X_train, X_test])[:, 1:], np.concatenate([y_train, y_test])
    if len(X) != len(values) or len(X) % _HALF_HOURS or weights.shape != (_HALF_HOURS,):
        raise DataFormatError(
            f"expected {_HALF_HOURS} rows a day and as many weights, got {len(X)} rows of "
            f"features, {len(values)} values and weights of shape {weights.shape}",
            path=path,
        )
    X = X.reshape(-1, _HALF_HOURS, X.shape[1]).astype(np.float64)
    values = values.reshape(-1, _HALF_HOURS).astype(np.float64)
    return KnapsackData(X, values, weights.astype(np.int64))
