# SPDX-License-Identifier: BSD-3-Clause
"""Images of digits with a taxonomy of their shapes; needs no file."""

from __future__ import annotations

import numpy as np

from skstruct.datasets.base import HierarchicalData, closed_indicators, named_edges
from skstruct.spaces.label_graph import LabelGraph

_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SHAPES = {"round": (0, 6, 8, 9), "straight": (1, 4, 7), "open": (2, 3, 5)}
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
    shapes = [("digit", shape) for shape in _SHAPES]
    digits = [(shape, _NAMES[k]) for shape, members in _SHAPES.items() for k in members]
    graph = LabelGraph.read(shapes + digits)
    from sklearn.datasets import load_digits  # imports much, for one function

    X, digit = load_digits(return_X_y=True)
    Y = closed_indicators([[_NAMES[k]] for k in digit], graph)
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
