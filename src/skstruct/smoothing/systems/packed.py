# SPDX-License-Identifier: BSD-3-Clause
"""(K + shift I) A = B by a Cholesky factorization of half the matrix."""

from __future__ import annotations

import numpy as np

from skstruct.kernels.grams import GramBlocks
from skstruct.smoothing.systems.cholesky import CholeskySystem, check_definite, routine

MOST_ROWS = 23_000  # 2 GiB: larger ones crashed the threads of OpenBLAS (seen with 36,691 rows)


class PackedCholeskySystem(CholeskySystem):
    r"""As :class:`CholeskySystem`, with only half of the matrix in memory.

    The n (n + 1) / 2 numbers on and below the diagonal lie in a rectangle, "rectangular full
    packed" [1]_, in which LAPACK factors about as fast as in the square. With
    :math:`m = \lceil n / 2 \rceil`, and e = 1 for even and 0 for odd n, row c of the rectangle,
    of shape (m, n + e), is

    .. math:: K_{i, m}, \dots, K_{i, i}, \; K_{c, c}, \dots, K_{c, n-1},
              \quad i = m + c + e - 1.

    At most 23,000 rows: with more, some builds of LAPACK crash.

    References
    ----------
    .. [1] F. G. Gustavson, J. Waśniewski, J. J. Dongarra, J. Langou, "Rectangular full packed
       format for Cholesky's algorithm", ACM Trans. Math. Software 37(2), 2010.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> PackedCholeskySystem().fit(K, 1.0).solve(np.ones((3, 1))).ravel().round(4)
    array([0.2857, 0.1429, 0.2857])
    """

    def fit(self, K, shift, border=None):
        """Factor; ``K`` (n, n), symmetric, stays as it is."""
        self._settle(shift, border)
        packed, _ = self._build(GramBlocks(_Given(), K), None, np.float64)
        self._factor(packed)
        return self

    def _build(self, blocks, root, dtype):
        """The rectangle of D K D, and K D^2 1."""
        n = blocks.n
        if n > MOST_ROWS:
            raise ValueError(
                f'system="packed" takes at most {MOST_ROWS:,} rows, for which LAPACK is safe; got '
                f'{n:,}. Use system="cholesky" with enough memory, or system="nystroem".'
            )
        m, even = (n + 1) // 2, 1 - n % 2
        packed, sums = np.empty((m, n + even), dtype=dtype), np.zeros(n)
        for part in blocks.steps(m):
            # The right part, whose corner below the diagonal belongs to the left part.
            out = packed[part, part.start + even :]
            blocks.scaled_into(out, part, slice(part.start, n), root, sums)
            corner = packed[part, part.start + even : part.stop + even]
            kept = corner.copy()
            first = max(part.start, 1 - even)  # odd n: row 0 has no left part
            rows = slice(m + first + even - 1, m + part.stop + even - 1)
            if rows.start < rows.stop:
                out = packed[first : part.stop, : part.stop + even - 1]
                blocks.scaled_into(out, rows, slice(m, rows.stop), root, sums)
            right = np.triu_indices(len(kept))
            corner[right] = kept[right]
        return packed, sums

    def _factor(self, K):
        m, width = K.shape
        n, even = _order(K.shape)
        right, left = np.arange(m), np.arange(1 - even, m)
        with np.errstate(over="ignore"):
            K[right, right + even] += K.dtype.type(self.shift_)
            K[left, left + even - 1] += K.dtype.type(self.shift_)
        flat, info = routine("pftrf", K)(n, K.reshape(-1), uplo="L", overwrite_a=1)
        check_definite(info, self.shift_)
        self.factor_ = flat.reshape(m, width)

    @property
    def _n(self) -> int:
        return _order(self.factor_.shape)[0]

    def _plain(self, B):
        flat = self.factor_.reshape(-1)
        return routine("pftrs", flat)(self._n, flat, B, uplo="L", overwrite_b=1)[0]

    def _half(self, B):
        flat = self.factor_.reshape(-1)
        return routine("tfsm", flat)(1.0, flat, B, uplo="L", overwrite_b=1)


def _order(shape: tuple[int, ...]) -> tuple[int, int]:
    """n, and whether it is even, of a rectangle of this shape."""
    m, width = shape
    even = int(width == 2 * m + 1)
    return width - even, even


class _Given:
    """Stands for a kernel whose matrix is there already."""

    kernel, centre_ = "precomputed", None
