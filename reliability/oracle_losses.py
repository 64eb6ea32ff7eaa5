# SPDX-License-Identifier: BSD-3-Clause
"""Losses by their definitions, of all pairs of outputs: arrays [predicted, true]."""

import numpy as np
from oracle_sets import ancestors, parents

# Label sets: Z of zeros and ones


def hamming(Z, c, miss, alarm, normalize):
    """What labels cost that are missed, and what others cost that are not there."""
    missed = (c * miss * (1 - Z)) @ Z.T
    loss = missed + (c * alarm * Z) @ (1 - Z).T
    return loss / (c * np.maximum(miss, alarm)).sum() if normalize else loss


def f_measure(Z, beta):
    both, sizes = Z @ Z.T, Z.sum(axis=1)
    below = beta**2 * sizes[None, :] + sizes[:, None]
    with np.errstate(invalid="ignore"):
        return np.where(below > 0, 1 - (1 + beta**2) * both / below, 0.0)


def hierarchical(Z, arcs, c):
    """Labels that differ though all above them agree."""
    differ = Z[:, None] != Z[None]
    above = ancestors(arcs, Z.shape[1])
    agree = [~differ[:, :, sorted(up)].any(axis=2) for up in above]
    return sum(c[j] * (differ[:, :, j] & agree[j]) for j in range(Z.shape[1]))


def sibling_weights(arcs, d):
    """Siblings share the weight of their parent, roots share one; means over several parents."""
    up = parents(arcs, d)
    n_children = [sum(p == j for p, _ in arcs) for j in range(d)]
    roots = sum(not above for above in up)
    weights = np.zeros(d)
    for j in sorted(range(d), key=lambda j: len(ancestors(arcs, d)[j])):
        shares = [weights[p] / n_children[p] for p in up[j]]
        weights[j] = np.mean(shares) if shares else 1 / roots
    return weights


# Rankings: R of ranks


def kendall(R, normalize):
    signs = np.sign(R[:, :, None] - R[:, None, :])
    d = R.shape[1]
    upper = np.triu_indices(d, 1)
    signs = signs[:, upper[0], upper[1]]
    loss = (1 - signs[:, None] * signs[None]).sum(axis=2) / 2
    return loss / len(upper[0]) if normalize else loss


def by_positions(R, V, c):
    """Items at position k that belong to position l cost V[k, l]."""
    at = R.astype(int) - 1
    return sum(c[j] * V[at[:, j][:, None], at[:, j][None]] for j in range(R.shape[1]))


def steps(d, top, lengths):
    """Positions on a line: so long are the steps between them, and none beyond the top."""
    lengths = np.ones(d - 1) if lengths is None else np.array(lengths, dtype=float)
    if top is not None:
        lengths[top:] = 0
    return np.concatenate([[0.0], np.cumsum(lengths)])


def rank_loss(R):
    """Pairs in the wrong order, by their difference; smaller ranks are better."""
    d = R.shape[1]
    loss = np.zeros((len(R), len(R)))
    for i in range(d):
        for j in range(d):
            worth = np.maximum(R[:, j] - R[:, i], 0)  # the truth has i above j
            loss += worth[None] * (R[:, j] < R[:, i])[:, None]
    return loss


def relations(Z, n, abstain, invent):
    """Of partial orders, 0/1 over ordered pairs row by row."""
    square = np.zeros((len(Z), n, n))
    square[:, ~np.eye(n, dtype=bool)] = Z
    signs = (square - square.transpose(0, 2, 1))[:, *np.triu_indices(n, 1)]
    z, y = signs[:, None], signs[None]
    cost = np.where((z != 0) & (y != 0) & (z != y), 1.0, 0.0)
    cost = cost + np.where((z == 0) & (y != 0), abstain, 0.0)
    return (cost + np.where((z != 0) & (y == 0), invent, 0.0)).sum(axis=2)


# Sequences


def sequence_hamming(listed, miss, alarm, bigrams):
    m = len(listed)
    loss = np.zeros((m, m))
    for row, z in enumerate(listed):
        for column, y in enumerate(listed):
            for t in range(max(len(z), len(y))):
                a, b = (word[t] if t < len(word) else None for word in (z, y))
                if a != b:
                    factor = 1.0 if b is None else miss[b]
                    loss[row, column] += factor * (1.0 if a is None else alarm[a])
            first, second = (set(zip(range(len(w)), w, w[1:])) for w in (z, y))
            common = len(first & second)
            loss[row, column] += bigrams * (len(first) / 2 + len(second) / 2 - common)
    return loss


def states_off(listed):
    A = np.array(listed)
    return (A[:, None] != A[None]).sum(axis=2).astype(float)


# Nodes of graphs


def diffusion(adjacency, t):
    """H(z, z) - 2 H(z, y) + H(y, y) with H the heat kernel of 2 t."""
    L = np.diag(adjacency.sum(axis=1)) - adjacency
    values, vectors = np.linalg.eigh(L)
    H = (vectors * np.exp(-2 * t * values)) @ vectors.T
    return np.diag(H)[:, None] - 2 * H + np.diag(H)[None]


# Costs that are observed in place of outputs: arrays [decision, observation]


def cost(psi, C):
    return psi @ C.T


def regret(psi, C):
    return psi @ C.T - (psi @ C.T).min(axis=0)


def tail_means(costs, weights, level):
    """Means of the worst share 1 - level of weighted costs: [decision, case] to [decision]."""
    order = np.argsort(-costs, axis=1)
    worst, weights = np.take_along_axis(costs, order, axis=1), weights[order]
    before = np.cumsum(weights, axis=1) - weights
    taken = np.clip(1 - level - before, 0, weights)
    return (taken * worst).sum(axis=1) / taken.sum(axis=1)
