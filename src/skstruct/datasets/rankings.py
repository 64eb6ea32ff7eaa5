# SPDX-License-Identifier: BSD-3-Clause
"""Label ranking data sets, and rankings made from classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct.datasets.dataset import LabelRankingData
from skstruct.datasets.files import data_file
from skstruct.datasets.reading import read_data

NAMES = (
    *("authorship", "bodyfat", "calhousing", "cold", "cpu", "diau", "dtt", "elevators"),
    *("fried", "glass", "heat", "housing", "iris", "pendigits", "segment", "spo", "stock"),
    *("vehicle", "vowel", "wine", "wisconsin"),
)
_SOURCE = "commit 4ac4e5a of the GitHub repository alfaro96/scikit-lr"


def load_label_ranking(name: str) -> LabelRankingData:
    """Load a label ranking benchmark: every row ranks all labels, without ties.

    ``"cold"``, ``"diau"``, ``"dtt"``, ``"heat"`` and ``"spo"`` are measurements of yeast
    genes; the others are made from data of classification (labels by the probability that
    naive Bayes gives them) or regression (some features, by their values, as labels) [1]_.
    No split is in use; papers cross-validate.

    Parameters
    ----------
    name : {"authorship", "bodyfat", "calhousing", "cold", "cpu", "diau", "dtt", "elevators", \
            "fried", "glass", "heat", "housing", "iris", "pendigits", "segment", "spo", \
            "stock", "vehicle", "vowel", "wine", "wisconsin"}

    Returns
    -------
    LabelRankingData

    Raises
    ------
    MissingDataError
        If the file is not on this machine; the message says where to get it.
    DataFormatError
        If the file is not as expected; tells file, line and column.

    References
    ----------
    .. [1] W. Cheng, J. Huehn, E. Huellermeier, "Decision tree and instance-based learning
       for label ranking", ICML 2009.

    Examples
    --------
    >>> data = load_label_ranking("iris")  # doctest: +SKIP
    >>> data.X.shape, data.Y.shape  # doctest: +SKIP
    ((150, 4), (150, 3))
    >>> data.Y[0]  # the first label is best  # doctest: +SKIP
    array([1, 2, 3])
    """
    if name not in NAMES:
        raise ValueError(f"load_label_ranking knows {', '.join(NAMES)}; got {name!r}.")
    path = data_file("label_ranking", f"{name}.csv", source=_SOURCE)
    data: Any = read_data(path, format="label-ranking")
    return LabelRankingData(name, data.inputs.data, data.outputs, data.labels)


def rank_classes(X: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Rank all classes for every row by the probability that naive Bayes gives them.

    The construction of Cheng, Hühn and Hüllermeier (2009): what was one class per row
    becomes a ranking of all of them, most probable first.

    Parameters
    ----------
    X : array of shape (n, n_features)
    y : array of shape (n,)

    Returns
    -------
    Y : int array of shape (n, n_classes)
        Rank of every class; 1 is the most probable.
    classes : tuple
        Names of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Y, classes = rank_classes(X, y)
    >>> Y[0].tolist(), classes
    ([1, 2, 3], (0, 1, 2))
    """
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB().fit(X, y)
    # Logarithms: far from the winner the probabilities themselves are all zero.
    order = np.argsort(-model.predict_joint_log_proba(X), axis=1, kind="stable")
    return np.argsort(order, axis=1) + 1, tuple(model.classes_.tolist())
