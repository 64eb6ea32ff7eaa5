# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between inputs on a device of torch: one product of matrices, the rest in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from scipy import sparse

from skstruct._arrays.memory import parse_memory, row_blocks
from skstruct.backends import backend_for, is_tensor

KNOWN = ("cosine", "laplacian", "linear", "polynomial", "rbf", "sigmoid")
ALIGNED = 8  # numbers in a row are a multiple of this: products are faster then


def device_kernel(kernel: Any, backend: Any) -> DeviceKernel:
    """A fitted :class:`~skstruct.kernels.InputKernel` as a function of tensors (A, B).

    It has the values of the kernel on the host, in the precision of its arguments.

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> X = np.array([[0.0], [1.0]])
    >>> backend = backend_for("cpu")
    >>> K = device_kernel(RBF(gamma=1.0).fit(X), backend)
    >>> K(backend.asarray(X), backend.asarray(X))
    tensor([[1.0000, 0.3679],
            [0.3679, 1.0000]], dtype=torch.float64)
    """
    if kernel.parts_:
        return SumKernel(kernel, backend)
    if kernel.name not in KNOWN:
        raise ValueError(
            f"On a device, kernels are {', '.join(KNOWN)} and sums of them; got {kernel!r}. "
            "Use device=None."
        )
    kinds: dict[str, type[DeviceKernel]] = {
        "rbf": GaussianKernel, "linear": LinearKernel,
        "polynomial": PolynomialKernel, "sigmoid": SigmoidKernel, "cosine": CosineKernel,
        "laplacian": LaplacianKernel,
    }  # fmt: skip
    return kinds[kernel.name](kernel, backend)


class DeviceKernel:
    """k(a, b) = finish(<left(a), right(b)>): rows are prepared once, and blocks are products.

    A child says what ``left`` and ``right`` make of rows, and finishes a block in place.
    """

    unit = False  # k(x, x) = 1
    holds_a_copy = False  # whether a block takes memory beside what it is written to

    def __init__(self, kernel: Any, backend: Any) -> None:
        self.kernel, self.backend = kernel, backend

    def __call__(self, A: Any, B: Any) -> Any:
        right = self.right(B)
        K = self.block(self.left(A), right)
        return K.fill_diagonal_(1.0) if A is B and self.unit else K

    def left(self, A: Any) -> Any:
        """Rows as they are multiplied from the left."""
        return A

    def right(self, B: Any) -> Any:
        """Rows as they are multiplied from the right."""
        return B

    def block(self, left: Any, right: Any, out: Any = None) -> Any:
        """Values of the kernel between prepared rows, (n_a, n_b), in ``out`` if it is given."""
        return self.finish(torch.mm(left, right.T, out=out))

    def finish(self, K: Any) -> Any:
        """Values from inner products, in place."""
        return K


class LinearKernel(DeviceKernel):
    """<a, b>."""


class GaussianKernel(DeviceKernel):
    """exp(-gamma |a - b|^2): the product of [2 gamma a, -gamma |a|^2, 1] and [b, 1, -gamma |b|^2].

    Rows are centred, as on the host: distances do not see a shift, but their rounding errors do.
    """

    unit = True

    def _centred(self, A: Any) -> tuple[Any, Any]:
        centre = self.kernel.centre_
        centre = 0.0 if centre is None else self.backend.asarray(centre, A.dtype)
        A = A - centre
        return A, -self.kernel.gamma_ * (A * A).sum(1, keepdim=True)

    def left(self, A: Any) -> Any:
        A, squares = self._centred(A)
        return _aligned(2.0 * self.kernel.gamma_ * A, squares, torch.ones_like(squares))

    def right(self, B: Any) -> Any:
        B, squares = self._centred(B)
        return _aligned(B, torch.ones_like(squares), squares)

    def finish(self, K: Any) -> Any:
        return K.clamp_(max=0.0).exp_()


class PolynomialKernel(DeviceKernel):
    """(gamma <a, b> + coef0)^degree."""

    def left(self, A: Any) -> Any:
        return self.kernel.gamma_ * A

    def finish(self, K: Any) -> Any:
        return K.add_(self.kernel.coef0).pow_(self.kernel.degree)


class SigmoidKernel(PolynomialKernel):
    """tanh(gamma <a, b> + coef0)."""

    def finish(self, K: Any) -> Any:
        return K.add_(self.kernel.coef0).tanh_()


class CosineKernel(DeviceKernel):
    """<a, b> / (|a| |b|), and 0 for rows of zeros."""

    def left(self, A: Any) -> Any:
        norms = torch.linalg.vector_norm(A, dim=1, keepdim=True)
        return A / torch.where(norms > 0, norms, 1.0)

    def right(self, B: Any) -> Any:
        return self.left(B)


class LaplacianKernel(DeviceKernel):
    """exp(-gamma |a - b|_1)."""

    unit = holds_a_copy = True

    def block(self, left: Any, right: Any, out: Any = None) -> Any:
        K = torch.cdist(left, right, p=1.0).mul_(-self.kernel.gamma_)
        return torch.exp(K, out=K if out is None else out)


class SumKernel(DeviceKernel):
    """The mean of several kernels, each divided by its scale."""

    holds_a_copy = True

    def __init__(self, kernel: Any, backend: Any) -> None:
        super().__init__(kernel, backend)
        self.parts = [device_kernel(part, backend) for part in kernel.parts_]
        self.shares = [1.0 / (scale * len(self.parts)) for scale in kernel.scales_]

    def __call__(self, A: Any, B: Any) -> Any:
        total = A.new_zeros((len(A), len(B)))
        for part, share in zip(self.parts, self.shares):
            total.add_(part(A, B), alpha=share)
        return total

    def left(self, A: Any) -> Any:
        return Together([part.left(A) for part in self.parts])

    def right(self, B: Any) -> Any:
        return Together([part.right(B) for part in self.parts])

    def block(self, left: Any, right: Any, out: Any = None) -> Any:
        first = left.rows[0]
        total = first.new_zeros((len(first), len(right.rows[0]))) if out is None else out.zero_()
        for part, share, a, b in zip(self.parts, self.shares, left.rows, right.rows):
            total.add_(part.block(a, b), alpha=share)
        return total


class Together:
    """Rows prepared for several kernels: some of them are some of each."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __getitem__(self, index: slice) -> Together:
        return Together([rows[index] for rows in self.rows])

    def to(self, dtype: Any) -> Together:
        """The same in another precision."""
        return Together([rows.to(dtype) for rows in self.rows])


def _aligned(A: Any, *columns: Any) -> Any:
    """Rows with columns of numbers added, and zeros up to a width that suits products."""
    width = A.shape[1] + len(columns)
    rows = A.new_zeros((len(A), -(-width // ALIGNED) * ALIGNED))
    rows[:, : A.shape[1]] = A
    for j, column in enumerate(columns):
        rows[:, A.shape[1] + j] = column[:, 0]
    return rows


class KernelExpansion:
    """f(x) = sum_j k(x, x_j) c_j on a device, for any number of rows x.

    Parameters
    ----------
    kernel : fitted InputKernel
    X_fit : array or tensor of shape (m, p)
    coef : array or tensor of shape (m, q)
    backend : TorchBackend
    memory : str or int, default="1GB"
        Budget of one block of kernel values.
    """

    def __init__(
        self,
        kernel: Any,
        X_fit: Any,
        coef: np.ndarray,
        backend: Any,
        *,
        dtype: str = "float64",
        memory: Any = "1GB",
    ) -> None:
        self.function, self.backend = device_kernel(kernel, backend), backend
        self.coef = backend.asarray(coef, dtype)
        self.right = self.function.right(device_rows(X_fit, backend)).to(self.coef.dtype)
        self.memory = parse_memory(memory)

    def __call__(self, X: Any) -> Any:
        """f at the rows of X, a tensor of shape (n, q)."""
        m, q = self.coef.shape
        out = self.coef.new_empty((X.shape[0], q))
        bytes_per_row = self.coef.itemsize * (m + X.shape[1])
        for rows in row_blocks(X.shape[0], bytes_per_row, self.memory):
            left = self.function.left(device_rows(X[rows], self.backend)).to(out.dtype)
            torch.mm(self.function.block(left, self.right), self.coef, out=out[rows])
        return out


def kernel_product(
    kernel: Any,
    X: Any,
    X_fit: Any,
    coef: np.ndarray,
    device: Any,
    memory: Any = "1GB",
    dtype: str = "float64",
) -> np.ndarray:
    """k(X, X_fit) @ coef, by blocks of rows on a device; an array of shape (n, q)."""
    backend = backend_for(device, X, X_fit)
    return backend.to_host(
        KernelExpansion(kernel, X_fit, coef, backend, dtype=dtype, memory=memory)(X)
    )


def device_rows(X: Any, backend: Any) -> Any:
    """Rows as a tensor on the device, in single precision only if that is how they came.

    Whatever the precision of products, rows are centred and measured in their own.
    """
    if sparse.issparse(X):
        raise ValueError(
            "X is sparse, which devices do not take: give X.toarray(), or device=None."
        )
    single = X.dtype == torch.float32 if is_tensor(X) else np.asarray(X).dtype == np.float32
    return backend.asarray(X, "float32" if single else "float64")
