# SPDX-License-Identifier: BSD-3-Clause
"""torch, on any of its devices."""

from __future__ import annotations

import numpy as np
import torch

from skstruct._arrays.memory import available_memory
from skstruct.backends.triangle import BlockTriangle

PANELS = 8  # torch has no product of a matrix with itself: panels spare most of the other half
NARROWEST = 256  # columns of a panel; narrower products do not fill a device


class TorchBackend:
    """Computes on a device of torch. See :class:`~skstruct.backends.Backend`."""

    name = "torch"

    def __init__(self, device):
        self.device = torch.device(device)

    def _dtype(self, dtype):
        if dtype is None or isinstance(dtype, torch.dtype):
            return dtype
        return torch.float32 if np.dtype(dtype) == np.float32 else torch.float64

    def asarray(self, A, dtype=None):
        if not isinstance(A, torch.Tensor):
            A = np.ascontiguousarray(A)
            # A tensor could be written to: what must not be, is copied.
            A = torch.from_numpy(A if A.flags.writeable else A.copy())
        return A.to(self.device, self._dtype(dtype)).contiguous()

    def to_host(self, A):
        return A.detach().cpu().numpy()

    def zeros(self, shape, dtype=torch.float64):
        dtype = self._dtype(dtype)
        if len(shape) == 1:
            return torch.zeros(shape, dtype=dtype, device=self.device)
        return torch.zeros(shape[::-1], dtype=dtype, device=self.device).T

    def exp(self, A):
        return A.exp_()

    def multiply(self, A, B):
        return A @ B

    def add_product(self, C, A, B):
        C.T.addmm_(B.T.to(C.dtype), A.to(C.dtype))
        return C

    def add_square(self, G, Z):
        m, Z = len(G), Z.to(G.dtype)
        step = max(NARROWEST, -(-m // PANELS))
        for start in range(0, m, step):  # columns start..stop, from the diagonal down
            columns = Z[:, start : start + step]
            G.T[start : start + step, start:].addmm_(columns.T, Z[:, start:])
        return G

    def cholesky(self, A):
        # In place only for columns together, and if A itself is given as the result.
        info = torch.empty((), dtype=torch.int32, device=self.device)
        torch.linalg.cholesky_ex(A, out=(A, info))
        return A, int(info)

    def solve_lower(self, L, B, transposed=False):
        if transposed:
            return torch.linalg.solve_triangular(L.T, B, upper=True, out=B)
        return torch.linalg.solve_triangular(L, B, upper=False, out=B)

    def whiten(self, L, K):
        return torch.linalg.solve_triangular(L.T, K, upper=True, left=False, out=K)

    def whitener(self, L):
        return BlockTriangle(L).whiten

    def add_diagonal(self, A, value):
        A.diagonal().add_(value)
        return A

    def copied(self, A):
        return A.T.clone(memory_format=torch.contiguous_format).T

    def eigh(self, A):
        return torch.linalg.eigh(A)

    def free_memory(self):
        if self.device.type != "cuda":
            return available_memory()
        unused = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        return torch.cuda.mem_get_info(self.device)[0] + unused
