# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that count what is the same: whole outputs (Dirac), or symbols of strings (Hamming)."""

import copy
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct.kernels.outputs.base import LevelsOfKernel, OutputKernel, named
from skstruct.kernels.outputs.codes import count_matches, listed, output_codes, symbol_codes
from skstruct.losses import Levels
from skstruct.saving import savable


@named("dirac")
@savable
class Dirac(OutputKernel):
    r"""1 where two outputs are equal, 0 where they are not [1]_.

    .. math:: k(y, y') = 1[y = y'], \qquad L_K(y, y') = 1[y \ne y']

    Outputs are anything that can be hashed, and arrays, lists, sets and dictionaries of
    such; a tuple, a list and an array of the same items are equal, and NaN is equal to NaN
    within them.

    On spaces with one coordinate per output (``Classes``, ``Candidates`` and lists of
    outputs of any space), where :math:`\psi(z) = e_z`, the cost is :math:`1 - 2 g`.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013.

    Examples
    --------
    >>> Dirac()(["cat", "dog"], ["dog", "cow", "cat"])
    array([[0., 0., 1.],
           [1., 0., 0.]])
    >>> Dirac().loss([[1, 2], [3]], [(1, 2), (3, 4)])
    array([0., 1.])
    """

    def __call__(self, A: Any, B: Any = None) -> Any:
        a, b = output_codes(A, B, "Dirac")
        return (a[:, None] == b).astype(np.float64)

    def diagonal(self, A: Any) -> np.ndarray:
        return np.ones(len(listed(A, "Dirac")))

    def largest_loss(self) -> float:
        return 1.0

    def embedding_on(self, space: Any) -> str | None:
        return "outputs" if space.embedding == "outputs" else None

    def cost(self, g: np.ndarray, total: Any) -> np.ndarray:
        return 1.0 - 2.0 * np.asarray(g)


class _LevelsOfDirac(LevelsOfKernel):
    __slots__ = ()

    @property
    def all_or_nothing(self) -> bool:
        return True


Levels.at(Dirac, _LevelsOfDirac)


@named("hamming")
@savable
class HammingKernel(OutputKernel):
    r"""Number of positions in which two strings agree, all padded to one length [1]_.

    .. math:: k(y, y') = N - H(\bar y, \bar y'), \qquad L_K(y, y') = H(\bar y, \bar y')

    with H the Hamming distance, N the length of the longest string there may be, and
    :math:`\bar y` the string y followed by a pad symbol up to length N: where one string has
    ended and the other has not they differ, where both have ended they agree. The paper's
    "length of the longer string minus the Hamming distance" is not positive semidefinite, or
    has a loss below the Hamming distance, when lengths differ.

    On ``Sequences`` with T positions, :math:`\psi(z)_{ta} = 1[z_t = a]`,

    .. math:: k(z, y) = \langle \psi(z), \psi(y) \rangle
        + \sum_{t \le T} (1 - s_t(z)) (1 - s_t(y)) + N - T, \quad s_t = \sum_a \psi_{ta},

    and with B the total weight the cost of symbol a at position t is
    :math:`2 (B - \sum_b g_{tb} - g_{ta})`, to which the offset
    :math:`N (1 - 2 B) + 2 \sum_{ta} g_{ta}` is added.

    Outputs are strings, or lists, tuples or 1-D arrays of hashable symbols. A matrix of m
    strings takes O(m² N) comparisons of bytes.

    Parameters
    ----------
    length : int, default=None
        N; the length of the longest string seen in ``fit`` when None. Longer strings are an
        error. On a space, where N is not given, it is at least the longest length that the
        space allows.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013.

    Examples
    --------
    >>> kernel = HammingKernel().fit(["cart", "dog"])
    >>> kernel(["cart", "car"], ["car", "dog", ""])
    array([[3., 0., 0.],
           [4., 1., 1.]])
    >>> kernel.loss(["cart"], ["car"])
    array([1.])
    """

    def __init__(self, length: int | None = None) -> None:
        self.length = length

    def fit(self, Y: Any) -> Self:
        seen = symbol_codes(Y, None, "HammingKernel")[0].shape[1]
        if self.length is not None:
            self._check(seen)
        self.length_ = self._given(max(seen, getattr(self, "n_positions_", 0)))
        return self

    def admit(self, Y: Any) -> None:
        if self.length is None:
            longest = symbol_codes(Y, None, "HammingKernel")[0].shape[1]
            self.length_ = max(self.length_, longest)

    def loss(self, A: Any, B: Any) -> np.ndarray:
        """Hamming distances row by row, of strings of any length: N has no part in them."""
        a, b = symbol_codes(A, B, "HammingKernel")
        if len(a) != len(b):
            raise ValueError(f"HammingKernel: {len(a)} strings against {len(b)}, row by row.")
        return (a != b).sum(axis=1).astype(np.float64)

    def _given(self, otherwise: int) -> int:
        """The length that was given, if it is one."""
        length = otherwise if self.length is None else self.length
        if not isinstance(length, Integral) or isinstance(length, bool) or length < 0:
            raise ValueError(
                f"HammingKernel: length is a whole number or None; got {self.length!r}."
            )
        return int(length)

    @property
    def _longest(self) -> int:
        if self.length is None and not hasattr(self, "length_"):
            raise NotFittedError(
                "HammingKernel learns the length of strings: call fit, or give it."
            )
        return self._given(getattr(self, "length_", 0))

    def _check(self, length: int) -> None:
        if length > self._longest:
            raise ValueError(
                f"HammingKernel compares strings of up to {self._longest} symbols; got one of "
                f"{length}. Give a larger length."
            )

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
        a, b = symbol_codes(A, B, "HammingKernel")
        self._check(a.shape[1])
        K = count_matches(a, b)
        K += self._longest - a.shape[1]  # where all have ended
        return K

    def diagonal(self, A: Any) -> np.ndarray:
        a, _ = symbol_codes(A, None, "HammingKernel")
        self._check(a.shape[1])
        return np.full(len(a), float(self._longest))

    def paired(self, A: Any, B: Any) -> np.ndarray:
        a, b = symbol_codes(A, B, "HammingKernel")
        if len(a) != len(b):
            raise ValueError(f"HammingKernel: {len(a)} strings against {len(b)}, row by row.")
        self._check(a.shape[1])
        return self._longest - (a != b).sum(axis=1).astype(np.float64)

    def largest_loss(self) -> float:
        return float(self._longest)

    # ------------------------------------------------------------- on sequences
    def embedding_on(self, space: Any) -> str | None:
        return "positions" if hasattr(space, "argmin_chains") else None

    def bind(self, space: Any) -> Any:
        bound = copy.copy(self)
        if self.embedding_on(space) is not None:
            positions = int(space.length_)
            bound.length_ = max(positions, getattr(self, "length_", 0))
            bound._check(positions)
            bound.n_positions_ = positions
        return bound

    def cost(self, g: np.ndarray, total: Any) -> np.ndarray:
        by_position = np.asarray(g).reshape(len(g), self.n_positions_, -1)  # (n, T, q)
        ended = np.reshape(total, (-1, 1, 1)) - by_position.sum(axis=2, keepdims=True)
        return (2.0 * (ended - by_position)).reshape(len(g), -1)

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return self._longest * (1.0 - 2.0 * np.ravel(total)) + 2.0 * np.asarray(g).sum(axis=1)
