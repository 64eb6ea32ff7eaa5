# SPDX-License-Identifier: BSD-3-Clause
"""The matrix V of losses whose embeddings are grids: one small matrix, the same for every row."""

from collections.abc import Callable
from typing import Any

import numpy as np


class GridForm:
    r"""V g for g that is a grid of numbers and some more.

    .. math:: (V g)_{jk} = w_j \sum_l M_{kl}\, g_{jl} \quad \text{on the grid}, \qquad
              \text{and } \tau g \text{ behind it}

    Labels and sizes, items and positions, positions and symbols are such grids. As a matrix V
    would have (rows * columns)^2 entries.

    Parameters
    ----------
    matrix : array M of shape (columns, columns)
    weights : array w of shape (rows,)
    tail : float, default=0.0

    Examples
    --------
    >>> form = GridForm(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([1.0, 10.0]), tail=-1.0)
    >>> form.toarray(5) @ [1.0, 2.0, 3.0, 4.0, 5.0]
    array([ 2.,  2., 40., 60., -5.])
    """

    def __init__(self, matrix: np.ndarray, weights: np.ndarray, tail: float = 0.0) -> None:
        self.matrix, self.weights, self.tail = matrix, np.asarray(weights, np.float64), tail

    def toarray(self, width: int) -> np.ndarray:
        """V, of shape (width, width)."""
        V = self.tail * np.eye(width)
        grid = np.kron(np.diag(self.weights), self.matrix)
        V[: len(grid), : len(grid)] = grid
        return V

    __array_ufunc__ = None  # arrays leave products to this class

    def __rmatmul__(self, psi: np.ndarray) -> np.ndarray:
        """psi V of an array (n, d)."""
        rows, columns = len(self.weights), len(self.matrix)
        grid = psi[:, : rows * columns].reshape(len(psi), rows, columns) @ self.matrix
        flat = (grid * self.weights[:, None]).reshape(len(psi), rows * columns)
        return np.hstack([flat, self.tail * psi[:, rows * columns :]])

    def tensor_product(self, backend: Any) -> Callable[[Any], Any]:
        """A function of tensors g (n, d) on a device to V g, of the same shape."""
        transposed = backend.asarray(self.matrix.T, "float64")
        weights = backend.asarray(self.weights, "float64")
        plain = bool((self.weights == 1.0).all())
        rows, columns = len(weights), len(transposed)

        def product(g: Any) -> Any:
            n, out = len(g), g * self.tail
            grid = g[:, : rows * columns].reshape(n * rows, columns) @ transposed
            grid = grid.view(n, rows, columns)
            grid = grid if plain else grid.mul_(weights[:, None])
            out[:, : rows * columns] = grid.view(n, rows * columns)
            return out

        return product
