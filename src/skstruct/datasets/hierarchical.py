# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical data sets by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from numbers import Integral

from skstruct.datasets.base import HierarchicalData
from skstruct.datasets.clus import CLUS_FILES, load_clus
from skstruct.datasets.documents import load_reuters, load_wipo

_LOADERS: dict[str, Callable[[], HierarchicalData]] = {
    **{name: partial(load_clus, name) for name in CLUS_FILES},
    "reuters": load_reuters,
    "wipo": load_wipo,
}


def load_hierarchical(name: str, subset=None) -> HierarchicalData:
    """Load a benchmark of hierarchical multilabel classification, as the paper [1]_ sets it up.

    The files are looked for below :func:`skstruct.datasets.data_home`. Labels are closed
    under ancestors. Nominal features become one-hot columns (one column if two-valued, zeros
    if missing), a missing number becomes the training mean of its column; nothing is
    standardized. In the four gene data sets training and validation rows are merged, labels
    with fewer than 3 positive training rows are dropped, and of the Gene Ontology only
    molecular functions are kept.

    Parameters
    ----------
    name : str
        "enron", "imclef07a", "imclef07d", "pheno_fun", "pheno_go", "reuters", "spo_fun",
        "spo_go" or "wipo".
    subset : int, slice or array of positions, default=None
        Which training rows to keep, the first ones if an int. All of them when None.

    Returns
    -------
    HierarchicalData
        Its ``note`` tells how the data differ from the paper's.

    Raises
    ------
    MissingDataError
        If the files are not on this machine; the message says where to get them.

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization", appendix C.

    Examples
    --------
    >>> data = load_hierarchical("enron")  # doctest: +SKIP
    >>> data.X_train.shape, data.Y_train.shape  # doctest: +SKIP
    ((988, 1001), (988, 56))
    """
    if name not in _LOADERS:
        raise ValueError(f"load_hierarchical knows {', '.join(sorted(_LOADERS))}; got {name!r}.")
    data = _LOADERS[name]()
    if subset is None:
        return data
    rows = slice(subset) if isinstance(subset, Integral) else subset
    return replace(data, X_train=data.X_train[rows], Y_train=data.Y_train[rows])
