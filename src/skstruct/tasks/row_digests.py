# SPDX-License-Identifier: BSD-3-Clause
"""Which rows of a data set were rows of training, by a number that stands for each of them."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import mixed

MOST_DIGESTS = 1 << 16  # rows that a model remembers, by 16 bytes each
_STEP = np.uint64(0x9E3779B97F4A7C15)
_BUDGET = 1 << 26  # bytes at once


def row_digests(X: Any) -> np.ndarray:
    """A number for each row of inputs as a learner reads them, the same for equal rows; uint64.

    Of numbers, the sum over the entries that are not zero of a hash of entry and column, so that
    dense and sparse rows agree.

    Parameters
    ----------
    X : array or CSR of shape (n, p), or list of n sequences
    """
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        sums = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(sums, row, _entries(X.data, X.indices))
        return mixed(sums)
    if isinstance(X, np.ndarray):
        columns, sizes = np.arange(X.shape[1]), (len(X), 32 * X.shape[1], _BUDGET)
        parts = [_entries(X[rows], columns).sum(axis=1) for rows in row_blocks(*sizes)]
        return mixed(np.concatenate([np.empty(0, dtype=np.uint64), *parts]))
    return np.array([_of_sequence(tokens) for tokens in X], dtype=np.uint64)


def _entries(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    values = np.ascontiguousarray(values, dtype=np.float64)
    bits = values.view(np.uint64) ^ mixed((columns + 1).astype(np.uint64) * _STEP)
    return np.where(values != 0, mixed(bits), np.uint64(0))


def _of_sequence(tokens: Any) -> int:
    numbers = isinstance(tokens, np.ndarray)
    text = tokens.tobytes() if numbers else repr([tuple(token) for token in tokens]).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def remembered(digests: np.ndarray, before: np.ndarray | None = None) -> np.ndarray:
    """What a model keeps: the smallest digests, sorted, and how many rows had each.

    Parameters
    ----------
    digests : uint64 array of shape (n,)
    before : uint64 array of shape (k, 2), default=None
        What was kept of earlier rows.

    Returns
    -------
    uint64 array of shape (k, 2)
        At most ``MOST`` digests: a sample of the different rows that does not depend on their
        order.
    """
    found, counts = np.unique(digests, return_counts=True)
    kept = np.column_stack([found, counts.astype(np.uint64)])
    if before is not None and len(before):
        found, at = np.unique(np.concatenate([before[:, 0], found]), return_inverse=True)
        sums = np.zeros(len(found), dtype=np.uint64)
        np.add.at(sums, at, np.concatenate([before[:, 1], kept[:, 1]]))
        kept = np.column_stack([found, sums])
    return kept[:MOST_DIGESTS]


@dataclass(frozen=True)
class Overlap:
    """How many of ``n`` rows were rows of training.

    Attributes
    ----------
    n : int
    n_seen : int
        Estimated from a part of the rows where ``exact`` is False.
    by_chance : float
        How many would be equal to rows of training if all were new: where features have few
        values, rows are alike (Good and Turing's estimate: the share of training rows that are
        not alone).
    """

    n: int
    n_seen: int
    by_chance: float
    exact: bool

    @property
    def is_remarkable(self) -> Any:
        """Whether that is more than probability makes it, by three standard deviations."""
        p = min(1.0, self.by_chance / self.n)
        return self.n_seen > self.by_chance + 3.0 * np.sqrt(self.n * p * (1.0 - p))

    def __str__(self) -> str:
        about = "" if self.exact else "about "
        return (
            f"{about}{self.n_seen:,} of {self.n:,} rows were rows of training: this is not an "
            "estimate of future error."
        )


def overlap(kept: Any, digests: Any) -> Overlap:
    """How many rows, by their digests, are among those that a model remembers."""
    n, most = len(digests), len(kept)
    alone = np.count_nonzero(kept[:, 1] == 1)
    share = 1.0 - alone / max(1.0, float(kept[:, 1].sum()))
    if most < MOST_DIGESTS:
        return Overlap(n, int(np.isin(digests, kept[:, 0]).sum()), share * n, True)
    judged = digests[digests <= kept[-1, 0]]  # others were forgotten
    seen = int(np.isin(judged, kept[:, 0]).sum())
    scale = n / max(1, len(judged))
    return Overlap(n, round(seen * scale), share * n, len(judged) == n)
