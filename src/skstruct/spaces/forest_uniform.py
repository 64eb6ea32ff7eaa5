# SPDX-License-Identifier: BSD-3-Clause
"""The uniform distribution over the closed sets of a forest, in closed form."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.dag import Dag


def forest_shares(dag: Dag, low, high) -> np.ndarray:
    """Chance of each label given that its parent is in; shape (d,).

    ways(v) = 1 + product over children of ways(child), the empty set included; a label is
    in with chance (ways - 1) / ways. Labels of ``low`` are in for certain, with all above
    them; labels outside ``high`` are out, with all below them.
    """
    parent, product, share = dag.parent_of, [1] * dag.n_nodes, np.empty(dag.n_nodes)
    for v in dag.order[::-1]:
        inside = product[v] if high[v] else 0
        ways = inside + (not low[v])
        share[v] = inside / ways
        if parent[v] >= 0:
            product[parent[v]] *= ways
    return share


def forest_mean(dag: Dag, share) -> np.ndarray:
    """Chance of each label; shape (d,)."""
    mean = share.copy()
    for v in dag.order:
        if dag.parent_of[v] >= 0:
            mean[v] *= mean[dag.parent_of[v]]
    return mean


def forest_moment(dag: Dag, share) -> np.ndarray:
    """Chance of each pair of labels; shape (d, d).

    Given that its parent is in, a label is independent of all that is not below it.
    """
    p, below = forest_mean(dag, share), dag.ancestors.tocsc()
    moment = np.outer(p, p)
    for v in dag.order:
        if dag.parent_of[v] >= 0:
            moment[v] = moment[dag.parent_of[v]] * share[v]
        under = below.indices[below.indptr[v] : below.indptr[v + 1]]
        moment[v, under] = p[under]  # whoever is below v has v in
    return moment


def forest_sample(dag: Dag, share, n: int, rng) -> np.ndarray:
    """Uniform samples: a coin for every label whose parent is in; shape (n, d)."""
    outputs = (np.random.default_rng(rng).random((n, dag.n_nodes)) < share).astype(np.int8)
    for v in dag.order:
        if dag.parent_of[v] >= 0:
            outputs[:, v] &= outputs[:, dag.parent_of[v]]
    return outputs
