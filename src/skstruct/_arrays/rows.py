# SPDX-License-Identifier: BSD-3-Clause
"""Rows of arrays: equal ones, distinct ones, unit vectors, and sparse ones as compiled code
takes them.
"""

import math
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.foreign import on_host

LARGEST_INDEX = np.iinfo(np.int32).max


def narrow_indices(X: Any) -> Any:
    """The same compressed matrix with 32-bit indices where they fit; anything else as it is.

    Readers and stacking give 64-bit indices, which some of scikit-learn's compiled code
    refuses: the Laplacian kernel, trees. The entries are shared, not copied.

    >>> X = sparse.csr_array(np.eye(3))
    >>> X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    >>> narrow_indices(X).indices.dtype, narrow_indices(X).indptr.dtype
    (dtype('int32'), dtype('int32'))
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    wide = X.indices.dtype == np.int64 or X.indptr.dtype == np.int64
    if not wide or max(*X.shape, X.nnz) > LARGEST_INDEX:
        return X
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)((X.data, indices, indptr), shape=X.shape)


def has_finite_sum(X: np.ndarray) -> bool:
    """Whether the sum is finite: then all numbers are, and nothing of their size was made."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def known_rows(model: Any, X: Any, *, dtype: Any, **options: Any) -> Any:
    """Rows with the features of a fitted model, as by scikit-learn's ``validate_data``.

    That asks every input whether it is a frame with names of columns, by a package that takes
    a tenth of a second to import. An array of finite numbers is what it would give back.
    """
    X = on_host(X)
    if (
        type(X) is np.ndarray and X.ndim == 2 and X.dtype == dtype and X.dtype.kind == "f"
        and len(X) and getattr(model, "n_features_in_", None) == X.shape[1] > 0
        and not hasattr(model, "feature_names_in_") and has_finite_sum(X)
    ):  # fmt: skip
        return X
    from sklearn.utils.validation import validate_data

    return validate_data(model, X, reset=False, dtype=dtype, **options)


# Numbers as unit vectors.


def dense(rows: Any, dtype: Any = None) -> np.ndarray:
    """Rows, which may be a tensor, as an array; of ``dtype``, unless they are sparse.

    >>> dense(sparse.eye_array(2)), dense([[1, 2]], float)
    (array([[1., 0.],
           [0., 1.]]), array([[1., 2.]]))
    """
    return rows.toarray() if sparse.issparse(rows) else np.asarray(on_host(rows), dtype=dtype)


def unit_vectors(numbers: np.ndarray, d: int) -> np.ndarray:
    """The unit vector of each number, shape (..., d); no table of d x d is made.

    >>> unit_vectors([2, 0], 3)
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    numbers = np.asarray(numbers)
    vectors = np.zeros((*numbers.shape, d))
    np.put_along_axis(vectors, numbers[..., None], 1.0, axis=-1)
    return vectors


def distinct(outputs: Any) -> tuple[np.ndarray, np.ndarray]:
    """First row of each distinct output in order of appearance, and the number of each row's.

    >>> distinct([[3, 1], [0, 2], [3, 1]])
    (array([0, 1]), array([0, 1, 0]))
    """
    rows = np.asarray(outputs).reshape(len(outputs), -1)
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number.reshape(-1)]


# Rows of tables that are equal in everything, found by their hashes.


HASH_BLOCK = 1 << 16  # numbers hashed at a time: they stay in the cache
SELDOM = 10  # inputs are discrete if one in so many repeated ones comes with several outputs,
OFTEN = 5  # or if every row is there so many times on average
SPLITMIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64


def equal_rows(*tables: Any, starts: np.ndarray | None = None) -> np.ndarray | None:
    """A number for each row, the same for rows that are equal in all tables; None if none are.

    Hashes are compared first, so that tables without equal rows are read once.

    Parameters
    ----------
    *tables : arrays of shape (n, ...) or sparse arrays of shape (n, p)
    starts : int array of shape (n + 1,), default=None
        Where the first table has a row for each position of n sequences: where these begin.

    Returns
    -------
    number : int array of shape (n,), counting in order of appearance, or None

    Examples
    --------
    >>> X, y = [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [0.0, 1.0]], ["a", "b", "a", "b"]
    >>> equal_rows(X), equal_rows(X, y)
    (array([0, 1, 0, 0]), array([0, 1, 0, 2]))
    >>> equal_rows(X, [1, 2, 3, 4]) is None
    True
    """
    tables = tuple(_plain(table) for table in tables)
    hashes = [_hashed(table) for table in tables]
    if starts is not None:
        hashes[0] = _of_sequences(hashes[0], np.asarray(starts))
    key = hashes[0]
    for other in hashes[1:]:
        key = mixed(key) + other
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    if len(first) == len(key):
        return None
    twin = first[number.reshape(-1)]  # the first row of the same hash
    later = np.flatnonzero(twin != np.arange(len(twin)))
    same = np.ones(len(later), bool)
    for k, table in enumerate(tables):
        if k == 0 and starts is not None:
            same &= _same_sequences(table, np.asarray(starts), later, twin[later])
        else:
            same &= _same(table, later, twin[later])
    twin[later[~same]] = later[~same]  # of the same hash by chance: a row of its own
    kept, number = np.unique(twin, return_inverse=True)
    return None if len(kept) == len(twin) else number.reshape(-1)


def copied_rows(
    X: Any, outputs: np.ndarray, *, starts: np.ndarray | None = None
) -> np.ndarray | None:
    """A number for each row, the same for copies of one row; None where there are none.

    Copies are equal in inputs and output. Where inputs are discrete, so that new rows will equal
    old ones, such rows are observations of their own: that is so if one in ten rows with a
    repeated input has another output than a row of the same input, or if rows are there five
    times on average. None too where all rows are equal.

    Parameters
    ----------
    X : array, sparse array
    outputs : array of shape (n, ...)
    starts : int array, default=None
        Where sequences begin, if X has a row for each of their positions.

    Examples
    --------
    >>> copied_rows([[0.1], [0.1], [0.2], [0.3]], [1, 1, 0, 1])
    array([0, 0, 1, 2])
    >>> copied_rows([[0.0], [0.0], [1.0], [0.0]], [1, 1, 0, 0]) is None  # as a die falls
    True
    """
    number = equal_rows(X, outputs, starts=starts)
    if number is None or number.max() == 0 or len(number) >= OFTEN * (number.max() + 1):
        return None
    cell = equal_rows(X, starts=starts)
    assert cell is not None
    first = np.unique(number, return_index=True)[1]
    differ = np.bincount(cell[first])[cell] > 1
    repeated = np.bincount(cell)[cell] > 1
    return None if SELDOM * differ.sum() >= repeated.sum() else number


def _plain(table: Any) -> Any:
    """A sparse table in canonical form, or an array with two axes."""
    if sparse.issparse(table):
        table = sparse.csr_array(table)
        if not table.has_canonical_format:
            table = table.copy()
            table.sum_duplicates()
        return table
    table = np.asarray(table)
    return table.reshape(len(table), math.prod(table.shape[1:]))


def _hashed(table: Any) -> Any:
    """One number for each row; shape (n,), uint64."""
    if table.dtype.kind not in "fiub":  # names, or objects: by the number of their value
        table = np.unique(table.astype(str), return_inverse=True)[1].reshape(table.shape)
    if sparse.issparse(table):
        factors = _odd(table.shape[1])[table.indices]
        values = np.where(table.data == 0, np.uint64(0), mixed(_bits(table.data)) * factors)
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)])
        return ends[table.indptr[1:]] - ends[table.indptr[:-1]]
    n, p = table.shape
    hashes, factors = np.empty(n, np.uint64), _odd(p)
    step = max(1, HASH_BLOCK // max(1, p))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        hashes[rows] = (mixed(_bits(table[rows])) * factors).sum(axis=1, dtype=np.uint64)
    return hashes


def _bits(values: np.ndarray) -> np.ndarray:
    """Numbers as 64 bits; 0.0 and -0.0 are the same."""
    return (np.ascontiguousarray(values, dtype=np.float64) + 0.0).view(np.uint64)


def mixed(bits: np.ndarray) -> np.ndarray:
    """The last step of splitmix64 on uint64: every bit depends on all bits of the argument."""
    bits = (bits ^ (bits >> np.uint64(30))) * SPLITMIX[0]
    bits = (bits ^ (bits >> np.uint64(27))) * SPLITMIX[1]
    return bits ^ (bits >> np.uint64(31))


def _odd(n: int) -> np.ndarray:
    """A factor for each column."""
    return np.random.default_rng(0).integers(0, 2**64, n, dtype=np.uint64) | np.uint64(1)


def _of_sequences(hashes: np.ndarray, starts: np.ndarray) -> Any:
    """Hashes of sequences from those of their positions; shape (n,)."""
    lengths = np.diff(starts)
    position = np.arange(len(hashes), dtype=np.uint64) - np.repeat(starts[:-1], lengths).astype(
        np.uint64
    )
    ends = np.cumsum(mixed(hashes + mixed(position)), dtype=np.uint64)
    ends = np.concatenate([np.zeros(1, np.uint64), ends])
    return ends[starts[1:]] - ends[starts[:-1]] + mixed(lengths.astype(np.uint64))


def _same(table: Any, a: np.ndarray, b: np.ndarray) -> Any:
    """Whether rows ``a`` equal rows ``b``; shape (len(a),)."""
    if sparse.issparse(table):
        return np.diff((table[a] != table[b]).tocsr().indptr) == 0
    equal = table[a] == table[b]
    if table.dtype.kind == "f":
        equal |= np.isnan(table[a]) & np.isnan(table[b])
    return equal.all(axis=1)


def _same_sequences(tokens: Any, starts: np.ndarray, a: np.ndarray, b: np.ndarray) -> Any:
    lengths = np.diff(starts)
    same = lengths[a] == lengths[b]
    a, b, counts = a[same], b[same], lengths[a[same]]
    of_pair = np.repeat(np.arange(len(a)), counts)
    position = np.arange(len(of_pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    equal = _same(tokens, starts[a][of_pair] + position, starts[b][of_pair] + position)
    same[same] = np.bincount(of_pair[~equal], minlength=len(a)) == 0
    return same
