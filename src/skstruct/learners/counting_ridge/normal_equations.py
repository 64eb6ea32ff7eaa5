# SPDX-License-Identifier: BSD-3-Clause
r"""Structured ridge regression from one pass over the rows, where weights are few.

With features x~ of rows and one correct output each, of centred embedding u, the weights W (p, d)
solve

.. math:: \Bigl(2 \lambda I + \bigl(\sum \tilde x \tilde x'\bigr) \otimes S
          + \sum_i (\tilde x_i \otimes u_i)(\tilde x_i \otimes u_i)'\Bigr) \mathrm{vec} W
          = \sum_i b_i\, \tilde x_i \otimes u_i,

a system of pd equations whose parts are sums over rows: one pass is enough, and no row is kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

MOST_EQUATIONS = 600  # weights up to which one product of all pairs takes less than many passes
BLOCK = 1 << 21  # numbers of products of features and embeddings at a time


def equation_sums(partition: Any, read: Any) -> list[Any]:
    """Sums of x x' (p, p), b x u' (p, d), weights, (x u)(x u)' (pd, pd), x (x u)' (p, pd), b x."""
    sums: list[Any] = [0.0] * 6
    for block in partition.blocks(read.rows_of_block):
        Z, examples = read(block)
        U, b = examples.U, examples.b
        sums[0] = sums[0] + Z.T @ Z
        sums[1] = sums[1] + Z.T @ (U * b[:, None])
        sums[2] += float(examples.weight.sum())
        sums[5] = sums[5] + Z.T @ b
        step = max(1, BLOCK // max(1, Z.shape[1] * U.shape[1]))
        for start in range(0, len(Z), step):
            some = slice(start, start + step)
            J = np.einsum("ip,id->ipd", Z[some], U[some]).reshape(len(Z[some]), -1)
            sums[3] = sums[3] + J.T @ J
            sums[4] = sums[4] + Z[some].T @ J
    return sums


class NormalEquations:
    """The minimum by one Cholesky factor of the whole system.

    Parameters
    ----------
    passes : Passes
    covariance : Covariance
        S.
    lam : float
    """

    says = "one pass"

    def __init__(self, passes: Any, covariance: Any, lam: float) -> None:
        self.covariance, self.lam = covariance, lam
        self.G, self.right, self.weight, self.own, self.across, self.b = passes(equation_sums)
        if not self.weight > 0:
            raise ValueError("sample_weight: all rows have weight zero.")

    def solve(self, *_: Any) -> tuple[np.ndarray, int]:
        """W, and the number of passes."""
        system = np.kron(self.G, self.covariance.dense()) + self.own
        system[np.diag_indices_from(system)] += 2.0 * self.lam
        factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        W = cho_solve(factor, self.right.ravel(), check_finite=False)
        return W.reshape(self.right.shape), 1

    def objective(self, W: np.ndarray) -> float:
        """That of any quadratic at its minimum."""
        return float(-0.5 * np.vdot(self.right, W))

    def total(self, W: np.ndarray) -> Any:
        """Weights of the total weight, g (2 lam I + g G)^-1 c at the largest g of S; (p,)."""
        lacking = self.b - self.across @ W.ravel()
        top = float(self.covariance.eigenvalues.max())
        system = top * self.G
        system[np.diag_indices_from(system)] += 2.0 * self.lam
        return top * cho_solve(cho_factor(system, check_finite=False), lacking)
