# SPDX-License-Identifier: BSD-3-Clause
"""Closed forms on the simplex {z >= 0, sum z = total}: linear, quadratic and root costs."""

from __future__ import annotations

import numpy as np

NEGLIGIBLE = 1e-14  # squares this much smaller than the other terms are taken as zero


def best_vertices(costs: np.ndarray, total: float = 1.0):
    """All of the total on the cheapest coordinate: outputs (n, d) and values (n,).

    >>> outputs, values = best_vertices(np.array([[3.0, 1.0, 2.0]]))
    >>> outputs.tolist(), values.tolist()
    ([[0.0, 1.0, 0.0]], [1.0])
    """
    rows, cheapest = np.arange(len(costs)), np.argmin(costs, axis=1)
    outputs = np.zeros(np.shape(costs))
    outputs[rows, cheapest] = total
    return outputs, total * costs[rows, cheapest]


def quadratic_on_simplex(a: np.ndarray, b: np.ndarray, total: float = 1.0):
    r"""Minimize :math:`\sum_j a_j z_j^2 + b_j z_j` for a and b of any sign, exactly.

    Where all a are positive this is a weighted Euclidean projection: the coordinates fill
    up like vessels, in the order of b. Of coordinates with :math:`a_j \le 0` at most one is
    in use, because their cost is concave; each is tried, with the vessels sharing the rest.

    Parameters
    ----------
    a, b : arrays of shape (n, d)
    total : float, default=1.0

    Returns
    -------
    outputs : array of shape (n, d)
    values : array of shape (n,)

    Examples
    --------
    >>> outputs, values = quadratic_on_simplex(np.ones((1, 2)), np.array([[-1.0, 0.0]]))
    >>> outputs.tolist(), values.tolist()
    ([[0.75, 0.25]], [-0.125])
    """
    from skstruct.decoding.histograms._compiled_histograms import quadratic_rows

    a, b = (np.ascontiguousarray(part, dtype=np.float64) for part in (a, b))
    size = total * np.abs(a).max(axis=1, keepdims=True, initial=0.0)
    size = size + np.ptp(b, axis=1, keepdims=True)
    a = np.where(np.abs(a) * total <= NEGLIGIBLE * size, 0.0, a)
    outputs = np.empty_like(b)
    # Prices relative to the cheapest coordinate: a constant in b moves no minimizer.
    relative = b - b.min(axis=1, keepdims=True)
    quadratic_rows(a, relative, np.argsort(relative, axis=1), float(total), outputs)
    return outputs, ((a * outputs + b) * outputs).sum(axis=1)


def roots_on_simplex(costs: np.ndarray, total: float = 1.0):
    r"""Minimize :math:`\sum_j c_j \sqrt{z_j}` for costs of any sign, exactly.

    In root coordinates this is a linear cost on the part of a sphere where all
    coordinates are at least zero: with s = -c, the direction of the positive part of s if
    there is one, else the vertex of least cost.

    Returns
    -------
    outputs : array of shape (n, d)
    values : array of shape (n,)

    Examples
    --------
    >>> outputs, values = roots_on_simplex(np.array([[-3.0, -4.0, 1.0]]))
    >>> outputs.round(3).tolist(), values.tolist()
    ([[0.36, 0.64, 0.0]], [-5.0])
    """
    costs = np.asarray(costs, dtype=np.float64)
    wanted = np.maximum(-costs, 0.0)
    # Squares of the largest are one: nothing overflows or vanishes that matters.
    largest = wanted.max(axis=1, keepdims=True, initial=0.0)
    wanted = wanted / np.where(largest > 0, largest, 1.0)
    norm = np.sqrt((wanted**2).sum(axis=1, keepdims=True))
    outputs, values = best_vertices(costs, 1.0)
    some = norm[:, 0] > 0
    outputs[some] = (wanted[some] / norm[some]) ** 2
    values[some] = -(norm * largest)[some, 0]
    return total * outputs, np.sqrt(total) * values
