# SPDX-License-Identifier: BSD-3-Clause
"""Landmarks by randomly pivoted Cholesky: rows that the others are explained by."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skstruct.tolerances import EIGENVALUE_ZERO

EXPLAINED = 1e-3  # "auto" stops where this share of the kernel's trace is left
FEWEST, MOST = 1000, 20_000  # "auto" takes up to 2 sqrt(n) landmarks, but no less and no more
ROWS_PER_LANDMARK, FEWEST_ROWS = 4, 10_000  # chosen among fewer rows, most of the gain is lost
PROPOSED = 128  # pivots that are proposed at once


@dataclass(frozen=True)
class Landmarks:
    """Which rows, in the order they were chosen, and the share of the trace that is left."""

    rows: np.ndarray  # shape: (m,)
    residual: float


def most_landmarks(n_landmarks: int | str, n_rows: int | None) -> int:
    """How many there may be at most for so many rows; None where nobody knows how many."""
    if isinstance(n_landmarks, str) or n_landmarks is None:
        n = 10**6 if n_rows is None else n_rows
        most = int(np.clip(2.0 * np.sqrt(n), FEWEST, MOST))
    else:
        most = int(n_landmarks)
    return most if n_rows is None else min(most, n_rows)


def rows_to_choose_from(n_landmarks: int | str, n_rows: int | None) -> int:
    """Size of the sample that landmarks are chosen from."""
    wanted = max(ROWS_PER_LANDMARK * most_landmarks(n_landmarks, n_rows), FEWEST_ROWS)
    return wanted if n_rows is None else min(wanted, n_rows)


def choose_landmarks(
    kernel: Any,
    X: Any,
    n_landmarks: int | str,
    random_state: Any,
    backend: Any,
    most: int | None = None,
) -> Landmarks:
    r"""Accelerated randomly pivoted Cholesky [1]_.

    A row is drawn with probability proportional to :math:`k(x, x) - |f(x)|^2`, what the
    landmarks before it leave unexplained, and the partial Cholesky factor F, whose rows are
    f(x), gets one more column. Pivots are proposed many at a time and thinned out by
    rejection, which leaves their distribution as it is and makes nearly all work a matrix product.

    Parameters
    ----------
    kernel : callable (A, B) -> array of shape (n_a, n_b), on the backend
    X : array of shape (n, p), on the backend
    n_landmarks : int or "auto"
        ``"auto"`` stops once a thousandth of the trace is left, or at ``most``.
    most : int, default=None
        Bound for ``"auto"``.

    References
    ----------
    .. [1] E. N. Epperly, J. A. Tropp, R. J. Webber, "Embrace rejection: kernel matrix
       approximation by accelerated randomly pivoted Cholesky", 2024, Algorithm 2.1.
    """
    n, rng = X.shape[0], check_random_state(random_state)
    automatic = isinstance(n_landmarks, str)
    m = min(
        n, most_landmarks("auto", n) if automatic and most is None else int(most or n_landmarks)
    )
    enough = EXPLAINED if automatic else EIGENVALUE_ZERO
    diagonal = _diagonal(kernel, X, backend)
    left, trace, rows = diagonal.copy(), float(diagonal.sum()), np.empty(0, dtype=np.int64)
    F = backend.zeros((n, m))
    while len(rows) < m and left.sum() > enough * trace:
        proposed = rng.choice(n, size=min(PROPOSED, n), p=left / left.sum())
        among = F[proposed][:, : len(rows)]
        H = kernel(X[proposed], X[proposed]) - among @ among.T
        chosen, factor = _thinned(backend.to_host(H), left[proposed], rng, m - len(rows))
        if not len(chosen):  # the first one is kept, unless nothing but rounding is left of it
            left[proposed] = 0.0
            continue
        pivots, begin = proposed[chosen], len(rows)
        new = kernel(X, X[pivots]) - F[:, :begin] @ F[pivots][:, :begin].T
        new = backend.whiten(backend.asarray(factor.T).T, backend.asarray(new))
        gains = np.cumsum(backend.to_host((new * new).sum(0)))
        spare = np.count_nonzero(left.sum() - gains[:-1] <= enough * trace)
        pivots, new = pivots[: len(pivots) - spare], new[:, : len(pivots) - spare]
        F[:, begin : begin + len(pivots)] = new
        left -= backend.to_host((new * new).sum(1))
        left[pivots] = 0.0
        left[left < EIGENVALUE_ZERO * diagonal] = 0.0
        rows = np.concatenate([rows, pivots])
    return Landmarks(rows, float(left.sum() / trace) if trace > 0 else 0.0)


def _thinned(
    H: np.ndarray, proposed: np.ndarray, rng: Any, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of proposals that are kept, and the lower Cholesky factor of their block."""
    chosen: list[int] = []
    H, columns = np.array(H, dtype=np.float64), []
    for i, probability in enumerate(rng.random(len(H))):
        pivot = H[i, i]
        if pivot <= EIGENVALUE_ZERO * proposed[i] or probability * proposed[i] >= pivot:
            continue
        column = H[:, i] / np.sqrt(pivot)
        below = column[i + 1 :]
        H[i + 1 :, i + 1 :] -= below[:, None] * below  # what comes later is all that is looked at
        chosen.append(i)
        columns.append(column)
        if len(chosen) == most:
            break
    if not chosen:
        return np.empty(0, dtype=np.int64), np.empty((0, 0))
    return np.array(chosen), np.tril(np.column_stack(columns)[chosen])


def _diagonal(kernel: Any, X: Any, backend: Any, step: int = 128) -> Any:
    """k(x, x) of every row; shape (n,)."""
    parts = [
        backend.to_host(kernel(X[i : i + step], X[i : i + step])).diagonal()
        for i in range(0, X.shape[0], step)
    ]
    return np.maximum(np.concatenate(parts), 0.0).astype(np.float64)
