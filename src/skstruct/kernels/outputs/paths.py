# SPDX-License-Identifier: BSD-3-Clause
"""Paths in a hierarchy, compared by how far they go together."""

import copy
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_pandas
from skstruct.kernels.orders import product_of
from skstruct.kernels.outputs.base import OutputKernel, named
from skstruct.kernels.outputs.codes import count_matches, is_missing, listed
from skstruct.saving import savable


@named("path")
@savable
class PathKernel(OutputKernel):
    r"""Number of steps that two paths from the root have in common [1]_, [2]_.

    .. math:: k(y, y') = |\mathrm{common\ prefix}(y, y')| = \langle \psi(y), \psi(y') \rangle

    with :math:`\psi` the indicator of all prefixes of a path, that is of all nodes on it.
    The loss is the mean of the two parts that are not shared; of paths of one depth, the
    length of the wrong part. For sets of labels that hold the parents of their members, as
    in ``Hierarchy``, it is the number of common labels, and the loss half the Hamming distance.

    Outputs are paths: tuples, lists or 1-D arrays of names from the root on, or strings such as
    ``"animal.cat"``; the same name in two positions is two nodes. Or label sets: sets of
    names, or a 2-D array, frame or sparse array of 0 and 1. On a space of label sets all that
    the space reads is a label set, :math:`\psi(z) = z` and the cost is :math:`1 - 2 g`.

    Parameters
    ----------
    sep : str, default="."
        What stands between the names of a path given as a string.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013.
    .. [2] L. Jacob, B. Hoffmann, V. Stoven, J.-P. Vert, "Virtual screening of GPCRs: an in
       silico chemogenomics approach", BMC Bioinformatics, 2008.

    Examples
    --------
    >>> PathKernel()(["1.2.3", "1.2"], ["1.2.4", "2.2.3"])
    array([[2., 0.],
           [2., 0.]])
    >>> PathKernel().loss(["1.2.3", "1.2"], ["1.2.4", "2.2.3"])
    array([1. , 2.5])
    >>> PathKernel()([{"animal", "cat"}], [{"animal", "dog"}, {"animal"}])
    array([[1., 1.]])
    """

    def __init__(self, sep: str = ".") -> None:
        self.sep = sep

    def fit(self, Y: Any) -> Self:
        codes, _ = self._codes(Y, None)
        paths = codes.dtype != bool
        # Two paths differ in all steps of both, two label sets in all labels at most.
        self.largest_loss_ = codes.shape[1] / (1.0 if paths else 2.0)
        return self

    def admit(self, Y: Any) -> None:
        self.largest_loss_ = max(self.largest_loss_, copy.copy(self).fit(Y).largest_loss_)

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
        a, b = self._codes(A, B)
        return _common_labels(a, b) if a.dtype == bool else count_matches(a, _apart(a, b))

    def diagonal(self, A: Any) -> np.ndarray:
        a, _ = self._codes(A, None)
        return (a > 0).sum(axis=1).astype(np.float64)

    def largest_loss(self) -> float | None:
        """Of paths no deeper than, and labels among, those seen in ``fit``."""
        return getattr(self, "largest_loss_", None)

    # ------------------------------------------------------------- forms of outputs
    def _codes(self, A: Any, B: Any) -> tuple[np.ndarray, np.ndarray]:
        """Label sets as booleans (n, d); paths as numbers of their prefixes, 0 behind the end."""
        numbers: dict[Any, Any] = {}
        kind, first = self._read(A, numbers, "A")
        if B is None:
            return first, first
        other, second = self._read(B, numbers, "B")
        if other != kind:
            raise ValueError(f"PathKernel compares {kind} in A with {other} in B.")
        if kind == "indicator rows" and first.shape[1] != second.shape[1]:
            raise ValueError(f"PathKernel: A has {first.shape[1]} labels and B {second.shape[1]}.")
        width = max(first.shape[1], second.shape[1])
        return _widened(first, width), _widened(second, width)

    def _read(self, Y: Any, numbers: dict[Any, Any], name: str) -> tuple[str, np.ndarray]:
        """The kind of outputs and their codes; numbers are those of names seen before."""
        if hasattr(self, "space_"):
            return "indicator rows", self.space_.validate(Y).astype(bool)
        if is_pandas(Y, "DataFrame"):
            Y = Y.to_numpy()
        if sparse.issparse(Y):
            Y = Y.toarray()
        if isinstance(Y, np.ndarray) and Y.ndim == 2 and Y.dtype.kind in "biuf":
            return "indicator rows", _indicators(Y, name)
        rows = listed(Y, "PathKernel")
        if isinstance(rows[0], (set, frozenset)):
            return "label sets", _label_sets(rows, numbers, name)
        paths = [self._path(row, i, name) for i, row in enumerate(rows)]
        return "paths", _prefixes(paths, numbers)

    def _path(self, row: Any, i: int, name: str) -> Any:
        path = row.split(self.sep) if isinstance(row, str) else row
        if isinstance(path, np.ndarray) and path.ndim == 1:
            path = path.tolist()
        if not isinstance(path, (list, tuple)) or "" in path or any(map(is_missing, path)):
            raise ValueError(
                "PathKernel expects paths, as lists or tuples of names or as strings such as "
                f"{self.sep.join('ab')!r}, or only label sets; {name}[{i}] is {row!r}."
            )
        return path

    # ------------------------------------------------------------- on label sets
    def embedding_on(self, space: Any) -> str | None:
        return "indicators" if space.embedding == "indicators" else None

    def bind(self, space: Any) -> Any:
        bound = copy.copy(self)
        if self.embedding_on(space) is not None:
            bound.space_ = space
            bound.largest_loss_ = len(space.labels_) / 2.0
        return bound

    def cost(self, g: np.ndarray, total: Any) -> np.ndarray:
        return 1.0 - 2.0 * np.asarray(g)


def _indicators(Y: np.ndarray, name: str) -> np.ndarray:
    bad = np.argwhere((Y != 0) & (Y != 1))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"PathKernel expects 0 or 1 for each label; {name}[{i}, {j}] is {Y[i, j]}. Paths of "
            "numbers are given as lists or tuples."
        )
    if 0 in Y.shape:
        raise ValueError(f"PathKernel: there are no outputs; {name} has shape {Y.shape}.")
    return Y.astype(bool)


def _label_sets(rows: list[Any], numbers: dict[Any, Any], name: str) -> np.ndarray:
    for i, row in enumerate(rows):
        if not isinstance(row, (set, frozenset)):
            raise ValueError(f"PathKernel: {name}[0] is a label set and {name}[{i}] is {row!r}.")
        for label in row:
            numbers.setdefault(label, len(numbers))
    Z = np.zeros((len(rows), max(1, len(numbers))), dtype=bool)
    for i, row in enumerate(rows):
        Z[i, [numbers[label] for label in row]] = True
    return Z


def _prefixes(paths: list[Any], numbers: dict[Any, Any]) -> np.ndarray:
    """Numbers of the prefixes of every path from 1 on, shape (n, greatest depth)."""
    codes = np.zeros((len(paths), max(map(len, paths))), dtype=np.int64)
    try:
        for i, path in enumerate(paths):
            prefix = 0
            for depth, name in enumerate(path):
                prefix = numbers.setdefault((prefix, name), len(numbers) + 1)
                codes[i, depth] = prefix
    except TypeError as error:
        raise ValueError(f"PathKernel: a name must be hashable ({error}).") from None
    return codes


def _common_labels(a: np.ndarray, b: np.ndarray) -> Any:
    """Sizes of the intersections of rows; a sparse product where most labels are rare."""
    terms = a.sum(axis=0, dtype=np.float64) @ b.sum(axis=0, dtype=np.float64)
    if 100 * terms < len(a) * len(b) * a.shape[1]:  # a term costs as much as 100 of a dense one
        return (sparse.csr_array(a, dtype=np.float64) @ sparse.csr_array(b).T).toarray()
    return product_of(a, b)


def _widened(codes: np.ndarray, width: int) -> np.ndarray:
    return np.pad(codes, ((0, 0), (0, width - codes.shape[1])))


def _apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """b with another number behind the ends of its paths than a: ends do not match."""
    return np.where(b == 0, max(a.max(initial=0), b.max(initial=0)) + 1, b)
