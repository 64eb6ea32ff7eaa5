# SPDX-License-Identifier: BSD-3-Clause
"""Triangular systems as products of matrices, for devices on which products are fastest."""

from __future__ import annotations

import torch

BLOCKS = 16  # of a factor: its diagonal blocks hold 1/16 of its numbers


class BlockTriangle:
    r"""A lower triangular matrix whose diagonal blocks are inverted once.

    With blocks :math:`L_{jk}` of rows and columns, :math:`Z = K L'^{-1}` is

    .. math:: Z_j = \Bigl(K_j - \sum_{k < j} Z_k L_{jk}'\Bigr) L_{jj}'^{-1},

    two products for every j. Only diagonal blocks are inverted, never all of L: the residual is
    larger than that of a substitution by no more than the condition of such a block [1]_.

    Parameters
    ----------
    L : tensor of shape (m, m)
        What is above the diagonal does not count.
    n_blocks : int, default=16

    References
    ----------
    .. [1] J. J. Du Croz and N. J. Higham, "Stability of methods for matrix inversion", 1992.

    Examples
    --------
    >>> L = torch.tensor([[2.0, 0.0], [1.0, 4.0]])
    >>> BlockTriangle(L, n_blocks=2).whiten(torch.tensor([[2.0, 5.0]]))
    tensor([[1., 1.]])
    """

    def __init__(self, L, n_blocks: int = BLOCKS):
        self.L = L
        m = len(L)
        step = max(1, -(-m // n_blocks))
        self.blocks = [slice(start, min(start + step, m)) for start in range(0, m, step)]
        self.inverses = [_inverse(L[block, block]) for block in self.blocks]

    def whiten(self, K, first: int = 0):
        """K L'^-1, where K (n, m) was; its columns in blocks before ``first`` are zero."""
        begin = self.blocks[first].start if self.blocks else 0
        for block, inverse in zip(self.blocks[first:], self.inverses[first:]):
            columns, done = K[:, block], slice(begin, block.start)
            if block.start > begin:
                columns.addmm_(K[:, done], self.L[block, done].T, alpha=-1.0)
            columns.copy_(columns @ inverse.T)
        return K

    def inverse_rows(self, j: int):
        """The columns of L^-1 in block j as rows, (width of the block, m)."""
        block = self.blocks[j]
        rows = self.L.new_zeros((block.stop - block.start, len(self.L)))
        rows[:, block].fill_diagonal_(1.0)
        return self.whiten(rows, first=j)


def _inverse(L):
    one = torch.eye(len(L), dtype=L.dtype, device=L.device)
    return torch.linalg.solve_triangular(L, one, upper=False)
