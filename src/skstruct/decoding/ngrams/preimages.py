# SPDX-License-Identifier: BSD-3-Clause
"""Strings whose n-gram counts are nearest to given numbers: pre-images of string kernels."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.ngrams.limits import GramLimits

MAX_NODES = 150_000  # a row then takes about a tenth of a second at most


def nearest_strings(g: np.ndarray, limits: GramLimits, *, max_nodes: int = MAX_NODES):
    r"""For every row a string z with little :math:`|\psi(z)|^2 - 2 \langle \psi(z), g \rangle`.

    :math:`\psi(z)` counts the n-grams of z, so that z has the counts nearest to g: the
    pre-image of the spectrum kernel, for a g that may be of any sign. Bounds come from
    cheapest walks under straight lines below the squares, whose slopes are improved step by
    step; strings from branch and bound with those bounds, all beginnings of one length at a
    time. Both take turns until they meet or the work is spent. Single symbols (``order=1``)
    have a closed form.

    Parameters
    ----------
    g : array of shape (n, q**order)
    limits : GramLimits
    max_nodes : int
        Beginnings of strings to extend in one row, where 500 entries of a table count as one.

    Returns
    -------
    symbols : int array of shape (n, longest length of all), padded with -1
    values, bounds : arrays of shape (n,)
        Equal where the string is proven best; infinite where no string meets the limits.

    References
    ----------
    Giguère, Rolland, Laviolette, Marchand (2015), Algorithms for the hard pre-image problem of
    string kernels and the general string prediction problem. Barahona, Anbil (2000), The
    volume algorithm: producing primal solutions with a subgradient method.

    Examples
    --------
    >>> g = np.array([[0.2, 1.9, 1.4, -0.3]])  # about twice 01 and once 10
    >>> two_to_six = GramLimits(2, 2, np.array([2]), np.array([6]))
    >>> symbols, values, bounds = nearest_strings(g, two_to_six)
    >>> symbols.tolist(), values.round(2).tolist(), bool(values == bounds)
    ([[0, 1, 0, 1, -1, -1]], [-5.4], True)
    """
    twice = 2.0 * np.ascontiguousarray(g, dtype=np.float64)
    if limits.forbidden is not None:
        twice = np.where(limits.forbidden, -np.inf, twice)
    symbols, values = limits.without_grams(len(twice))
    if limits.order == 1:
        from skstruct.decoding.ngrams._compiled_counts import count_rows

        shortest, longest, known, *_ = limits.compiled()
        count_rows(twice, shortest, longest, known, symbols, values)
        return symbols, values, values.copy()
    from skstruct.decoding.ngrams._compiled_preimages import nearest_rows

    bounds, parts = np.empty(len(twice)), limits.compiled()
    nearest_rows(twice, limits.q, limits.order, parts, max_nodes, symbols, values, bounds)
    return symbols, values, bounds
