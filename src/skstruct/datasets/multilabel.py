# SPDX-License-Identifier: BSD-3-Clause
"""Multilabel data sets of MULAN, on this machine or at OpenML."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from skstruct.datasets.dataset import MultilabelData
from skstruct.datasets.files import data_file
from skstruct.datasets.formats.arff.label_list import read_label_list
from skstruct.datasets.formats.arff.reading import check_same_declarations, read_arff
from skstruct.exceptions import DataFormatError, MissingDataError

_MULAN_NAMES = ("emotions", "medical", "scene", "yeast")
_MULAN_SOURCE = "the folder data/multi-label of the GitHub repository tsoumakas/mulan"


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
    if name not in _MULAN_NAMES:
        raise ValueError(f"load_multilabel knows {', '.join(_MULAN_NAMES)}; got {name!r}.")
    listed, _ = read_label_list(data_file(name, f"{name}.xml", source=_MULAN_SOURCE))
    train, test = (
        read_arff(data_file(name, f"{name}-{part}.arff", source=_MULAN_SOURCE))
        for part in ("train", "test")
    )
    check_same_declarations([train, test], name)
    X_train, Y_train, labels = split_labels(train, listed)
    X_test, Y_test, _ = split_labels(test, listed)
    return MultilabelData(name, X_train, Y_train, X_test, Y_test, labels)


def split_labels(table: Any, listed: Any) -> tuple[np.ndarray, np.ndarray, tuple[str, str]]:
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


@dataclass(frozen=True)
class _Published:
    """Number at OpenML, and what has to come from there."""

    data_id: int
    n_rows: int
    n_features: int
    n_labels: int


# The shapes are those of the published files; nothing else is taken for these data.
_AT_OPENML = {
    "emotions": _Published(40589, 593, 72, 6),
    "scene": _Published(40595, 2407, 294, 6),
    "yeast": _Published(40597, 2417, 103, 14),
}
_TRUTH = {"TRUE": 1, "FALSE": 0, "1": 1, "0": 0}


def fetch_multilabel(name: str, *, return_X_y: bool = False, **options: Any) -> Any:
    """Fetch a multilabel benchmark: from this machine if it is there, else from OpenML.

    The folder is that of :func:`data_home` (the environment variable SKSTRUCT_DATA), with
    the files that :func:`load_multilabel` reads. What comes from OpenML is cached by
    scikit-learn, and is refused if its shape is not the known one.

    Parameters
    ----------
    name : {"emotions", "scene", "yeast"}
    return_X_y : bool, default=False
        Give data and target only.
    **options
        For ``sklearn.datasets.fetch_openml``, such as ``data_home`` (of its cache), ``cache``
        and ``n_retries``.

    Returns
    -------
    Bunch
        data : float64 array of shape (n_rows, n_features). target : int8 array of shape
        (n_rows, n_labels). target_names : list of str. is_test : bool array (n_rows,) of
        MULAN's split, or None from OpenML, which does not have it. source : str.
    (data, target) if ``return_X_y``

    Raises
    ------
    MissingDataError
        If it is neither here nor can be had from OpenML; says what to do.

    Examples
    --------
    >>> X, Y = fetch_multilabel("yeast", return_X_y=True)  # doctest: +SKIP
    >>> X.shape, Y.shape  # doctest: +SKIP
    ((2417, 103), (2417, 14))
    """
    if name not in _AT_OPENML:
        raise ValueError(f"fetch_multilabel knows {', '.join(_AT_OPENML)}; got {name!r}.")
    try:
        found = _local(name)
    except MissingDataError as missing:
        found = _from_openml(name, missing, options)
    return (found.data, found.target) if return_X_y else found


def _local(name: str) -> Any:
    data = load_multilabel(name)
    n_train, n_test = len(data.Y_train), len(data.Y_test)
    return Bunch(
        data=np.concatenate([data.X_train, data.X_test]),
        target=np.concatenate([data.Y_train, data.Y_test]),
        target_names=list(data.labels),
        is_test=np.repeat([False, True], [n_train, n_test]),
        source="files on this machine",
    )


def _from_openml(name: str, missing: MissingDataError, options: dict[str, Any]) -> Bunch:
    from sklearn.datasets import fetch_openml

    known = _AT_OPENML[name]
    try:
        # This parser needs no pandas.
        found = fetch_openml(data_id=known.data_id, as_frame=False, parser="liac-arff", **options)
    except (OSError, ValueError) as error:
        raise MissingDataError(
            f"{missing} Nor can OpenML's data set {known.data_id} be had "
            f"({type(error).__name__}: {error}); with a network connection it is fetched."
        ) from error
    source = f"OpenML, data set {known.data_id}"
    X, Y = np.asarray(found.data, dtype=np.float64), np.asarray(found.target, dtype=object)
    expected = (known.n_rows, known.n_features), (known.n_rows, known.n_labels)
    if (X.shape, Y.shape) != expected:
        raise DataFormatError(
            f"{name} has data and target of shapes {expected[0]} and {expected[1]}; "
            f"got {X.shape} and {Y.shape}",
            path=source,
        )
    return Bunch(
        data=X,
        target=_indicators(Y, source),
        target_names=[str(label) for label in found.target_names],
        is_test=None,
        source=source,
    )


def _indicators(Y: Any, source: str) -> np.ndarray:
    """1 for TRUE, 0 for FALSE, which are texts at OpenML."""
    codes = {value: _TRUTH.get(str(value).upper()) for value in dict.fromkeys(Y.ravel().tolist())}
    wrong = next((value for value, code in codes.items() if code is None), None)
    if wrong is not None:
        raise DataFormatError(f"a label is TRUE or FALSE, got {wrong!r}", path=source)
    return np.array([codes[value] for value in Y.ravel()], dtype=np.int8).reshape(Y.shape)
