# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders as relations: which item comes before which."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.orders import close_transitively


def relations(Y, name: str = "Y") -> np.ndarray:
    """Which item comes before which in every row; boolean of shape (n, d, d).

    Parameters
    ----------
    Y : array of shape (n, d) or (n, d, d)
        Ranks, where smaller is better, equal ranks are incomparable and NaN is incomparable
        with all; or relations, 1 where the first item comes before the second, which are
        transitively closed.
    name : str
        What error messages call ``Y``.

    Examples
    --------
    >>> relations([[1, 2, 2]]).astype(int)
    array([[[0, 1, 1],
            [0, 0, 0],
            [0, 0, 0]]])
    """
    Y = np.asarray(Y)
    if Y.ndim not in (2, 3) or 0 in Y.shape[1:] or (Y.ndim == 3 and Y.shape[1] != Y.shape[2]):
        raise ValueError(
            f"{name} has a row per order, of shape (n, d) for ranks or (n, d, d) for relations, "
            f"with at least one item; got shape {Y.shape}."
        )
    if Y.ndim == 3:
        return closures(_as_booleans(Y, name), name)
    ranks = np.ascontiguousarray(_as_ranks(Y, name))
    return ranks[:, :, None] < ranks[:, None, :]  # False wherever a NaN takes part


def relation_pair(A, B=None) -> tuple[np.ndarray, np.ndarray]:
    """Both arguments of a kernel as relations of the same items; twice the first without B."""
    A = relations(A, "A")
    if B is None:
        return A, A
    B = relations(B, "B")
    if A.shape[1] != B.shape[1]:
        raise ValueError(f"A orders {A.shape[1]} items and B {B.shape[1]}.")
    return A, B


def closures(R: np.ndarray, name: str = "Y") -> np.ndarray:
    """Transitive closures, if there is no cycle."""
    R = close_transitively(R)
    cyclic = np.argwhere(np.einsum("npp->np", R))
    if len(cyclic):
        row, item = cyclic[0]
        raise ValueError(f"{name}[{row}] is not a partial order: item {item} is before itself.")
    return R


def _as_ranks(Y: np.ndarray, name: str) -> np.ndarray:
    if Y.dtype == bool:
        raise ValueError(f"{name} is boolean of shape {Y.shape}; relations are (n, d, d).")
    if Y.dtype.kind not in "iuf":  # integers stay what they are: float64 would tie large ones
        try:
            Y = Y.astype(np.float64)  # None becomes NaN
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} holds ranks, numbers or NaN; {error}.") from None
    infinite = np.argwhere(np.isinf(Y))
    if len(infinite):
        row, item = infinite[0]
        raise ValueError(f"{name} holds finite ranks or NaN; {name}[{row}, {item}] is infinite.")
    return Y


def _as_booleans(Y: np.ndarray, name: str) -> np.ndarray:
    if Y.dtype == bool:
        return Y
    bad = np.argwhere((Y != 0) & (Y != 1))
    if len(bad):
        row, p, q = bad[0]
        raise ValueError(f"{name} holds 0 or 1; {name}[{row}, {p}, {q}] is {Y[row, p, q]}.")
    return Y.astype(bool)
