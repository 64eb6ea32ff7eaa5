# SPDX-License-Identifier: BSD-3-Clause
"""torch, on any of its devices, and triangular systems as products of matrices."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from skstruct._arrays.memory import available_memory
from skstruct.backends import split_products
from skstruct.backends.uploads import Uploads

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
    multiple : int, default=1
        Widths of blocks are multiples of it, but for the last.

    References
    ----------
    .. [1] J. J. Du Croz and N. J. Higham, "Stability of methods for matrix inversion", 1992.

    Examples
    --------
    >>> L = torch.tensor([[2.0, 0.0], [1.0, 4.0]])
    >>> BlockTriangle(L, n_blocks=2).whiten(torch.tensor([[2.0, 5.0]]))
    tensor([[1., 1.]])
    """

    def __init__(self, L: Any, n_blocks: int = BLOCKS, multiple: int = 1) -> None:
        self.L = L
        m = len(L)
        step = max(1, -(-m // (n_blocks * multiple))) * multiple
        self.blocks = [slice(start, min(start + step, m)) for start in range(0, m, step)]
        self.inverses = [_inverse(L[block, block]) for block in self.blocks]

    def whiten(self, K: Any, first: int = 0) -> Any:
        """K L'^-1, where K (n, m) was; its columns in blocks before ``first`` are zero."""
        begin = self.blocks[first].start if self.blocks else 0
        for block, inverse in zip(self.blocks[first:], self.inverses[first:]):
            columns, done = K[:, block], slice(begin, block.start)
            if block.start > begin:
                columns.addmm_(K[:, done], self.L[block, done].T, alpha=-1.0)
            columns.copy_(columns @ inverse.T)
        return K

    def inverse_rows(self, j: int) -> Any:
        """The columns of L^-1 in block j as rows, (width of the block, m)."""
        block = self.blocks[j]
        rows = self.L.new_zeros((block.stop - block.start, len(self.L)))
        rows[:, block].fill_diagonal_(1.0)
        return self.whiten(rows, first=j)


def _inverse(L: Any) -> Any:
    one = torch.eye(len(L), dtype=L.dtype, device=L.device)
    return torch.linalg.solve_triangular(L, one, upper=False)


# torch, on any of its devices.


PANELS = 8  # torch has no product of a matrix with itself: panels spare most of the other half
NARROWEST = 256  # columns of a panel; narrower products do not fill a device


class TorchBackend:
    """Computes on a device of torch. See :class:`~skstruct.backends.Backend`.

    Parameters
    ----------
    device : str or torch.device
    split : bool, default=None
        Whether squares and triangular systems in float32 are computed by
        :mod:`~skstruct.backends.split_products`; None: where the device is made for that.
    """

    name = "torch"

    def __init__(self, device: Any, split: bool | None = None) -> None:
        self.device = torch.device(device)
        self.split = split_products.has_half_units(self.device) if split is None else split

    def _splits(self, A: Any) -> bool:
        return self.split and A.dtype == torch.float32 and len(A) >= NARROWEST

    def _dtype(self, dtype: Any) -> Any:
        if dtype is None or isinstance(dtype, torch.dtype):
            return dtype
        return torch.float32 if np.dtype(dtype) == np.float32 else torch.float64

    def asarray(self, A: Any, dtype: Any = None) -> Any:
        if not isinstance(A, torch.Tensor):
            A = np.ascontiguousarray(A)
            # A tensor could be written to: what must not be, is copied.
            A = torch.from_numpy(A if A.flags.writeable else A.copy())
        return A.to(self.device, self._dtype(dtype)).contiguous()

    def to_host(self, A: Any) -> np.ndarray:
        return A.detach().cpu().numpy()

    def zeros(self, shape: Any, dtype: Any = torch.float64) -> Any:
        dtype = self._dtype(dtype)
        if len(shape) == 1:
            return torch.zeros(shape, dtype=dtype, device=self.device)
        return torch.zeros(shape[::-1], dtype=dtype, device=self.device).T

    def exp(self, A: Any) -> Any:
        return A.exp_()

    def multiply(self, A: Any, B: Any) -> Any:
        if self._splits(A) and B.ndim == 2 and min(A.shape[1], B.shape[1]) >= NARROWEST:
            return split_products.product(A, B)
        return A @ B

    def add_product(self, C: Any, A: Any, B: Any) -> Any:
        C.T.addmm_(B.T.to(C.dtype), A.to(C.dtype))
        return C

    def add_square(self, G: Any, Z: Any) -> Any:
        m, Z = len(G), Z.to(G.dtype)
        if self._splits(G):
            split_products.add_square(G, Z)
            return G
        step = max(NARROWEST, -(-m // PANELS))
        for start in range(0, m, step):  # columns start..stop, from the diagonal down
            columns = Z[:, start : start + step]
            G.T[start : start + step, start:].addmm_(columns.T, Z[:, start:])
        return G

    def rows_at_a_time(self, width: int) -> int | None:
        return None

    def cholesky(self, A: Any) -> tuple[Any, int]:
        # In place only for columns together, and if A itself is given as the result.
        info = torch.empty((), dtype=torch.int32, device=self.device)
        torch.linalg.cholesky_ex(A, out=(A, info))
        return A, int(info)

    def solve_lower(self, L: Any, B: Any, transposed: bool = False) -> Any:
        if transposed:
            return torch.linalg.solve_triangular(L.T, B, upper=True, out=B)
        return torch.linalg.solve_triangular(L, B, upper=False, out=B)

    def whiten(self, L: Any, K: Any) -> Any:
        return torch.linalg.solve_triangular(L.T, K, upper=True, left=False, out=K)

    def whitener(self, L: Any) -> Callable[..., Any]:
        if not self._splits(L):
            return BlockTriangle(L).whiten
        plain = BlockTriangle(L, split_products.BLOCKS, split_products.ALIGNED)
        return split_products.SplitTriangle(plain).whiten

    def whiten_square(self, L: Any, G: Any) -> Any:
        whole = torch.tril(G) + torch.tril(G, -1).T
        half = torch.linalg.solve_triangular(L, whole, upper=False)
        return torch.linalg.solve_triangular(L, half.T, upper=False)

    def condition(self, L: Any) -> float:
        return float("inf")

    def add_diagonal(self, A: Any, value: float) -> Any:
        A.diagonal().add_(value)
        return A

    def copied(self, A: Any) -> Any:
        return A.T.clone(memory_format=torch.contiguous_format).T

    def eigh(self, A: Any) -> Any:
        return torch.linalg.eigh(A)

    def uploads(self) -> Uploads | None:
        return Uploads(self.device) if self.device.type == "cuda" else None

    def free_memory(self) -> int | None:
        if self.device.type != "cuda":
            return available_memory()
        unused = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        return torch.cuda.mem_get_info(self.device)[0] + unused
