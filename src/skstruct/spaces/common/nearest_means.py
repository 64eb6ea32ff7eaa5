# SPDX-License-Identifier: BSD-3-Clause
"""Nearest mean embeddings that some distribution over outputs has, by decoding alone."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct._arrays.rows import dense
from skstruct.tolerances import COHERENT

STEPS = 500  # of conditional gradients
ATOMS = 8  # outputs that rows are mixtures of, to begin with


def nearest_means(
    argmin: Callable[..., Any], embed: Callable[..., Any], means: np.ndarray
) -> np.ndarray:
    r"""The points of the convex hull of all :math:`\psi(z)` that are nearest to given means.

    .. math:: \min_{\mu \in \mathrm{conv}\, \psi(\mathcal{Y})} \tfrac12 \| \mu - m \|^2

    by pairwise conditional gradients [1]_: weight moves from the worst output of a mixture to the
    one that the decoder finds for the gradient. Every step gives a mixture of outputs, so that
    means are coherent wherever it stops: when no output improves by more than ``COHERENT``, or
    after ``STEPS`` steps.

    Parameters
    ----------
    argmin : callable (costs, rows) -> outputs
        The output of least cost for some rows, given by number; costs of shape (k, d).
    embed : callable (outputs) -> array of shape (k, d)
    means : array of shape (n, d)

    References
    ----------
    .. [1] S. Lacoste-Julien and M. Jaggi, "On the global linear convergence of Frank-Wolfe
       optimization variants", 2015, Algorithm 2.

    Examples
    --------
    >>> corners = np.eye(3)
    >>> nearest_means(lambda c, rows: c.argmin(1), lambda z: corners[z], np.array([[.5, .8, -.1]]))
    array([[0.35, 0.65, 0.  ]])
    """
    n = len(means)
    found = _embedded(embed, argmin(-means, np.arange(n)))
    mixture = _Mixture(found)
    left = np.arange(n)
    for _ in range(STEPS):
        gradient = found[left] - means[left]
        better = _embedded(embed, argmin(gradient, left))
        open_ = np.einsum("nd,nd->n", gradient, found[left] - better) > COHERENT
        if not open_.any():
            break
        left, gradient, better = left[open_], gradient[open_], better[open_]
        found[left] += mixture.move(left, gradient, better)
    return found


def _embedded(embed: Callable[..., Any], outputs: Any) -> np.ndarray:
    return np.array(dense(embed(outputs)), dtype=np.float64)


class _Mixture:
    """Outputs, by their embeddings, and the weights that they have in each row."""

    def __init__(self, first: np.ndarray) -> None:
        n, d = first.shape
        self.atoms, self.weights = np.zeros((n, ATOMS, d)), np.zeros((n, ATOMS))
        self.atoms[:, 0], self.weights[:, 0] = first, 1.0

    def move(self, rows: np.ndarray, gradient: np.ndarray, better: np.ndarray) -> np.ndarray:
        """Move weight of rows from their worst atoms to better ones; by how much means change."""
        atoms, weights = self.atoms[rows], self.weights[rows]
        worth = np.einsum("nkd,nd->nk", atoms, gradient)
        worst = np.where(weights > 0, worth, -np.inf).argmax(axis=1)
        step = better - atoms[np.arange(len(rows)), worst]
        length = np.einsum("nd,nd->n", step, step)
        size = np.minimum(
            -np.einsum("nd,nd->n", gradient, step) / length, self.weights[rows, worst]
        )
        place = self._places(rows, better)
        self.weights[rows, worst] -= size
        self.atoms[rows, place] = better
        self.weights[rows, place] += size
        return size[:, None] * step

    def _places(self, rows: np.ndarray, better: np.ndarray) -> np.ndarray:
        """Where an atom is already, or else a place without weight."""
        if (self.weights[rows] > 0).all(axis=1).any():
            more = self.weights.shape[1]
            self.atoms = np.pad(self.atoms, ((0, 0), (0, more), (0, 0)))
            self.weights = np.pad(self.weights, ((0, 0), (0, more)))
        used = self.weights[rows] > 0
        same = used & (self.atoms[rows] == better[:, None]).all(axis=2)
        return np.where(same.any(axis=1), same.argmax(axis=1), used.argmin(axis=1))
