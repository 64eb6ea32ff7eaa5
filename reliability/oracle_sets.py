# SPDX-License-Identifier: BSD-3-Clause
"""Oracles of label sets: all of them, by trying every vector of zeros and ones.

Nothing of the library is used here, nor in any other file of this folder that is called
``oracle_...``: definitions only, for sizes at which everything can be listed.
"""

from itertools import product

import numpy as np


def binary_vectors(d):
    """All vectors of d zeros and ones; shape (2 ** d, d)."""
    return np.array(list(product((0, 1), repeat=d)), dtype=float).reshape(-1, d)


def sized(Z, low=None, high=None):
    """Which rows have so many ones."""
    sizes = Z.sum(axis=1)
    return (sizes >= (0 if low is None else low)) & (sizes <= (np.inf if high is None else high))


def including(Z, columns):
    """Which rows are one in all these columns."""
    return (Z[:, list(columns)] == 1).all(axis=1)


def excluding(Z, columns):
    return (Z[:, list(columns)] == 0).all(axis=1)


def exclusive(Z, groups):
    """Which rows have at most one of each group of columns."""
    kept = np.ones(len(Z), bool)
    for group in groups:
        kept &= Z[:, list(group)].sum(axis=1) <= 1
    return kept


# Hierarchies: arcs are pairs (parent, child) of columns.


def closed(Z, arcs):
    """Which rows have the parents of all that they have."""
    kept = np.ones(len(Z), bool)
    for parent, child in arcs:
        kept &= Z[:, child] <= Z[:, parent]
    return kept


def parents(arcs, d):
    return [[p for p, c in arcs if c == j] for j in range(d)]


def ancestors(arcs, d):
    """Of every column, all columns above it."""
    above = [set() for _ in range(d)]
    for _ in range(d):
        for parent, child in arcs:
            above[child] |= {parent} | above[parent]
    return above


def on_one_path(Z, arcs):
    """Which rows are a single leaf and all above it."""
    d = Z.shape[1]
    leaves = [j for j in range(d) if all(p != j for p, _ in arcs)]
    paths = {tuple(sorted(ancestors(arcs, d)[leaf] | {leaf})) for leaf in leaves}
    return np.array([tuple(np.flatnonzero(z)) in paths for z in Z], dtype=bool)


def siblings(arcs, d):
    """Groups of columns with a common parent, and that of the roots."""
    groups = [[c for p, c in arcs if p == j] for j in range(d)]
    roots = [j for j in range(d) if not parents(arcs, d)[j]]
    return [group for group in [*groups, roots] if len(group) > 1]


# Linear constraints; sums of whole numbers are exact.


def within(Z, A, b):
    return (Z @ np.transpose(A) <= np.asarray(b) + 1e-9).all(axis=1)


def meeting(Z, A, b):
    return (np.abs(Z @ np.transpose(A) - np.asarray(b)) <= 1e-9).all(axis=1)


# Pairs of labels


def with_products(Z, edges):
    """Indicators of labels, then products along the edges."""
    return np.hstack([Z, products(Z, edges)])


def products(Z, edges):
    return np.column_stack([np.zeros((len(Z), 0)), *(Z[:, u] * Z[:, v] for u, v in edges)])


# One element of a finite set


def thermometers(d):
    """Level z as 1[z >= i] for i = 1, ..., d."""
    return np.tril(np.ones((d, d)))


def up_sets(arcs, d):
    """Element z as 1[i is z or above z]."""
    above = ancestors(arcs, d)
    return np.array([[float(i == z or i in above[z]) for i in range(d)] for z in range(d)])
