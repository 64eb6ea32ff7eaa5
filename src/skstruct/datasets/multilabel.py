# SPDX-License-Identifier: BSD-3-Clause
"""Multilabel data sets of MULAN: ARFF files and an XML list of labels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.datasets.arff import check_same_declarations, read_arff
from skstruct.datasets.base import MultilabelData
from skstruct.datasets.home import data_file
from skstruct.datasets.label_list import read_label_list

_NAMES = ("emotions", "medical", "scene", "yeast")
_SOURCE = "the folder data/multi-label of the GitHub repository tsoumakas/mulan"


def load_multilabel(name: str) -> MultilabelData:
    """Load a multilabel benchmark in MULAN's split.

    Features are CSR arrays where the file is sparse ("medical").

    Parameters
    ----------
    name : {"emotions", "medical", "scene", "yeast"}

    Returns
    -------
    MultilabelData

    Raises
    ------
    MissingDataError
        If the files are not on this machine; the message says where to get them.

    Examples
    --------
    >>> data = load_multilabel("yeast")  # doctest: +SKIP
    >>> data.X_train.shape, data.Y_train.shape  # doctest: +SKIP
    ((1500, 103), (1500, 14))
    """
    if name not in _NAMES:
        raise ValueError(f"load_multilabel knows {', '.join(_NAMES)}; got {name!r}.")
    listed, _ = read_label_list(data_file(name, f"{name}.xml", source=_SOURCE))
    train, test = (
        read_arff(data_file(name, f"{name}-{part}.arff", source=_SOURCE))
        for part in ("train", "test")
    )
    check_same_declarations([train, test], name)
    X_train, Y_train, labels = split_labels(train, listed)
    X_test, Y_test, _ = split_labels(test, listed)
    return MultilabelData(name, X_train, Y_train, X_test, Y_test, labels)


def split_labels(table, listed):
    """Features, indicators and names of the labels, both in the order of the table."""
    unknown = sorted(set(listed) - set(table.names))
    if unknown:
        raise ValueError(f"The label list names {unknown[0]!r}, which is no attribute of the ARFF.")
    is_label = np.isin(table.names, list(listed))
    targets = table.take(np.flatnonzero(is_label))
    codes = targets.data.toarray() if sparse.issparse(targets.data) else targets.data
    for name, values, column in zip(targets.names, targets.values, codes.T):
        if values is None or set(values) != {"0", "1"} or np.isnan(column).any():
            raise ValueError(f"The label {name!r} should be 0 or 1 in every row.")
    ones = [values.index("1") for values in targets.values]
    X, _ = table.take(np.flatnonzero(~is_label)).one_hot()
    return X, (codes == ones).astype(np.int8), targets.names
