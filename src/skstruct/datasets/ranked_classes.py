# SPDX-License-Identifier: BSD-3-Clause
"""Rankings made from classes, as most benchmarks of label ranking were."""

from __future__ import annotations

import numpy as np


def rank_classes(X, y):
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
