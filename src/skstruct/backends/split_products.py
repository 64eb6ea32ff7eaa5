# SPDX-License-Identifier: BSD-3-Clause
r"""Products in single precision by units that multiply halves: three products for one.

A number is split as :math:`x = s (h + 2^{-11} l)` with a power of two s and halves h and l of 11
digits each, so that :math:`|x - s (h + 2^{-11} l)| \le 2^{-22} |x| + 2^{-36} s`. Of

.. math:: A B = H_A H_B + 2^{-11} (H_A L_B + L_A H_B) + 2^{-22} L_A L_B

the last term is left out [1]_. Matrix units round every step of a sum towards zero: they are given
no more than ``CHUNK`` terms at a time, and their results are added in single precision. What that
loses is measured: some entries of every product are computed in float64, too, and a product that
is further off than ``SPLIT_RESIDUAL`` is computed again without halves.

References
----------
.. [1] H. Ootomo, R. Yokota, "Recovering single precision accuracy from Tensor Cores while
   surpassing the FP32 theoretical peak performance", 2022.
"""

from typing import Any

import torch

from skstruct.tolerances import SPLIT_RESIDUAL

LOW = 2.0**-11  # a half has 11 digits
CHUNK = 1024  # terms that a matrix unit adds up by itself
ALIGNED = 256  # columns of a product are a multiple of this: tiles of a device are full then
BLOCKS = 8  # of a factor that is multiplied by in halves
PANELS = 8  # of a square
ROWS = 16_384  # that are whitened at a time, and kept until their residual is known
SAMPLED = 64  # rows and columns of every product, whose entries are computed in float64

Halves = tuple[Any, Any]


def has_half_units(device: Any) -> bool:
    """Whether a device multiplies halves much faster than single precision, with its sums."""
    known = hasattr(torch.ops.aten.addmm, "dtype_out")  # sums in another precision than factors
    return known and device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)


def power_of_two(size: Any) -> Any:
    """The powers of two above some sizes, by their bits; 1 for zero."""
    exponent = torch.frexp(size)[1].to(torch.int32).clamp_(-120, 120)
    return ((exponent + 127) << 23).view(torch.float32)


def halves(A: Any, scale: Any) -> Halves:
    """h and l with A = scale (h + 2^-11 l), both of the shape of A."""
    rest = A / scale
    high = rest.to(torch.float16)
    return high, rest.sub_(high).div_(LOW).to(torch.float16)


def add_product(out: Any, A: Halves, B: Halves) -> Any:
    """out += A B for halves of shape (n, k) and (k, m), in place."""
    (a, a_low), (b, b_low) = A, B
    for start in range(0, a.shape[1], CHUNK):
        _add(out, a[:, start : start + CHUNK], b[start : start + CHUNK])
    _add(out, a, b_low, LOW)
    return _add(out, a_low, b, LOW)


def _add(out: Any, A: Any, B: Any, alpha: float = 1.0) -> Any:
    """out += alpha A B, products of halves and their sums in single precision."""
    if out.device.type == "cuda":
        return torch.addmm(out, A, B, out_dtype=torch.float32, alpha=alpha, out=out)
    return out.addmm_(A.float(), B.float(), alpha=alpha)  # products of halves are exact


def sample(n: int, device: Any) -> Any:
    """Some of n numbers, evenly spaced, the first and the last among them."""
    return torch.linspace(0, n - 1, min(n, SAMPLED), device=device, dtype=torch.float64).long()


def residual(found: Any, A: Any, B: Any) -> float:
    """The largest |found - A B| in units of |a_i| |b_j|, by A (n, k) and B (k, m) in float64."""
    A, B = A.double(), B.double()
    error = (found.double() - A @ B).abs_()
    error /= (A.norm(dim=1)[:, None] * B.norm(dim=0)).clamp_(min=torch.finfo(torch.float32).tiny)
    return float(error.nan_to_num_(torch.inf).max())


# ---------------------------------------------------------------------- sums
def add_square(G: Any, Z: Any) -> float:
    """G += Z' Z on and below the diagonal, in place; returns the largest residual that was met.

    Parameters
    ----------
    G : tensor of shape (m, m), float32
    Z : tensor of shape (n, m), float32
    """
    m, largest = len(G), 0.0
    scale = power_of_two(torch.linalg.vector_norm(Z, torch.inf, dim=0))
    high, low = halves(Z, scale)
    step = -(-m // (PANELS * ALIGNED)) * ALIGNED
    for start in range(0, m, step):  # columns start..stop, from the diagonal down
        these, rest = slice(start, start + step), slice(start, None)
        panel = Z.new_zeros((min(step, m - start), m - start))
        add_product(panel, (high[:, these].T, low[:, these].T), (high[:, rest], low[:, rest]))
        panel.mul_(scale[these, None]).mul_(scale[rest])
        measured = _sampled_residual(panel, Z[:, these], Z[:, rest])
        if measured > SPLIT_RESIDUAL:
            torch.mm(Z[:, these].T, Z[:, rest], out=panel)
        G.T[these, rest].add_(panel)
        largest = max(largest, measured)
    return largest


def product(A: Any, B: Any) -> Any:
    """A B for tensors of shape (n, k) and (k, m), float32."""
    rows = power_of_two(torch.linalg.vector_norm(A, torch.inf, dim=1, keepdim=True))
    columns = power_of_two(torch.linalg.vector_norm(B, torch.inf, dim=0))
    out = A.new_zeros((len(A), B.shape[1]))
    add_product(out, halves(A, rows), halves(B, columns)).mul_(rows).mul_(columns)
    return out if _sampled_residual(out, A.T, B) <= SPLIT_RESIDUAL else A @ B


def _sampled_residual(panel: Any, left: Any, right: Any) -> float:
    i, j = (sample(size, panel.device) for size in panel.shape)
    return residual(panel[i][:, j], left[:, i].T, right[:, j])


# ---------------------------------------------------------------------- triangles
class SplitTriangle:
    r"""A lower triangular matrix to whiten by, in halves: see :class:`BlockTriangle`.

    Every block of rows is checked: some entries of :math:`Z L' = K` in float64. Where halves do
    not suffice, blocks of columns are refined,
    :math:`Z_j \leftarrow Z_j + (K_j - Z_j L_{jj}') L_{jj}'^{-1}`; where that does not either, rows
    are whitened in single precision, these and all that follow.

    Parameters
    ----------
    plain : BlockTriangle
        In float32.

    Attributes
    ----------
    residual : float
        The largest that was met and accepted.
    ways : list of str
        The ways that are left: ``"halves"``, ``"refined"``, ``"single"``.
    """

    def __init__(self, plain: Any) -> None:
        self.plain, self.residual = plain, 0.0
        self.ways = ["halves", "refined", "single"]
        L, m = plain.L, len(plain.L)
        self.rows = [_scaled(L[block, : block.start]) for block in plain.blocks]
        self.inverses = [_scaled(inverse) for inverse in plain.inverses]
        self.sampled = sample(m, L.device)
        known = torch.arange(m, device=L.device) <= self.sampled[:, None]
        self.some_rows = torch.where(known, L[self.sampled], 0.0).double()

    def whiten(self, K: Any) -> Any:
        """K L'^-1, where K (n, m) was."""
        step = -(-len(K) // max(1, -(-len(K) // ROWS)))  # even parts: a small one fills no device
        for start in range(0, len(K), max(1, step)):
            self._whiten(K[start : start + step])
        return K

    def _whiten(self, K: Any) -> None:
        given = K.clone()
        while self.ways[0] != "single":
            self._by_halves(K, refine=self.ways[0] == "refined")
            measured = self._residual(K, given)
            if measured <= SPLIT_RESIDUAL:
                self.residual = max(self.residual, measured)
                return
            K.copy_(given)
            del self.ways[0]
        self.plain.whiten(K)

    def _residual(self, Z: Any, K: Any) -> float:
        rows = sample(len(K), K.device)
        return residual(K[rows][:, self.sampled], Z[rows], self.some_rows.T)

    def _by_halves(self, K: Any, refine: bool) -> None:
        scale = power_of_two(torch.linalg.vector_norm(K, torch.inf, dim=1, keepdim=True))
        high, low = (torch.empty_like(K, dtype=torch.float16) for _ in range(2))
        for j, block in enumerate(self.plain.blocks):
            columns, done = K[:, block] / scale, slice(0, block.start)
            if block.start:
                factor, size = self.rows[j]
                columns /= -size
                add_product(columns, (high[:, done], low[:, done]), _transposed(factor))
                columns *= -size
            Z = self._divided(columns, j)
            if refine:
                Z += self._divided(columns - Z @ self.plain.L[block, block].tril().T, j)
            high[:, block], low[:, block] = halves(Z, 1.0)
            torch.mul(Z, scale, out=K[:, block])

    def _divided(self, columns: Any, j: int) -> Any:
        """columns L_jj'^-1, by halves of both."""
        scale = power_of_two(torch.linalg.vector_norm(columns, torch.inf, dim=1, keepdim=True))
        inverse, size = self.inverses[j]
        out = add_product(torch.zeros_like(columns), halves(columns, scale), _transposed(inverse))
        return out.mul_(scale * size)


def _scaled(A: Any) -> tuple[Halves, Any]:
    """Halves of a matrix, and the power of two that it is divided by."""
    scale = power_of_two(A.abs().amax() if A.numel() else A.new_ones(()))
    return halves(A, scale), scale


def _transposed(A: Halves) -> Halves:
    return A[0].T, A[1].T
