# SPDX-License-Identifier: BSD-3-Clause
"""Made rows of five structures whose law is known: what it loses itself, and a constant answer.

Features are 20 noisy mixtures of four hidden numbers. Every label has a height, of what the
features say and nothing else: a wave along a direction of the four numbers (which are recovered
from the features by least squares), and a step of one feature. Outputs are drawn from heights:

* labels: each on its own, with probability 1 / (1 + exp(-4 height));
* classes: one, with probabilities proportional to exp(8 height);
* rankings: by height and Gumbel noise (Plackett-Luce);
* tree: a label whose parent is there, with probability 1 / (1 + exp(-4 height));
* sequences: a symbol by its height and by the symbol before it, a chain from left to right.

So the best answer to every row is computed exactly, as are probabilities. Rows are made in blocks,
each with a seed of its own: the first rows of a larger sample are those of a smaller one.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

P, HIDDEN, BLOCK = 20, 4, 5000  # features, numbers behind them, rows that are made at once
SHARP = 4.0
HELD_OUT = 2000  # rows, or whole sequences
ROWS_OF_LAW = 20_000  # of which a constant answer is found
LENGTH = 10  # tokens of a sequence
ITEMS, SYMBOLS = 10, 10


class Case:
    """Rows, loss and known answers of one structure.

    Parameters
    ----------
    d : int
        Labels, classes, items or symbols.
    """

    loss_name = "Hamming, share of labels"
    tokens = 1  # that count as rows, in one row

    def __init__(self, d):
        self.d = d
        rng = np.random.default_rng(0)
        self.mixing = rng.standard_normal((HIDDEN, P)) / np.sqrt(HIDDEN)
        self.hidden = np.linalg.pinv(self.mixing)
        self.waves = rng.standard_normal((HIDDEN, d))
        self.shift, self.level = rng.uniform(0, 2 * np.pi, d), rng.normal(-0.3, 0.4, d)
        self.stepping = rng.integers(P, size=d)

    def heights(self, X):
        """What the features say of every label; shape (..., d)."""
        bent = np.sin(X @ self.hidden @ self.waves + self.shift)
        return bent + 0.5 * np.sign(X[..., self.stepping]) + self.level

    def rows(self, n, *, held_out=False):
        """Features and outputs of n rows, of n // LENGTH sequences."""
        count, parts = n // self.tokens, []
        for number, start in enumerate(range(0, count, BLOCK)):
            X, Y = self._block(np.random.default_rng([int(held_out), number]))
            parts.append((X[: count - start], Y[: count - start]))
        return tuple(np.concatenate(part) for part in zip(*parts))

    def test_rows(self):
        return self.rows(HELD_OUT * self.tokens, held_out=True)

    def _block(self, rng):
        X = self._features(rng, (BLOCK,))
        return X, self.draw(self.heights(X), rng)

    def _features(self, rng, shape):
        U = rng.standard_normal((*shape, HIDDEN))
        return U @ self.mixing + 0.3 * rng.standard_normal((*shape, P))

    def levels(self):
        """Mean loss on test rows of the law's own best answers, and of the best constant answer."""
        X, Y = self.test_rows()
        sample, _ = self.rows(ROWS_OF_LAW * self.tokens)
        constant = self.best(self.moments(self.heights(sample)).mean(axis=0)[None])
        best = self.best(self.moments(self.heights(X)))
        return float(self.losses(best, Y).mean()), float(self.losses(constant, Y).mean())

    def losses(self, Z, Y):
        """Loss of every row; shape (n,)."""
        return (np.asarray(Z) != Y).mean(axis=1)


class Labels(Case):
    def draw(self, heights, rng):
        return (rng.random(heights.shape) < _sigmoid(heights)).astype(np.int8)

    def moments(self, heights):
        return _sigmoid(heights)

    def best(self, means):
        return means > 0.5


class Classes(Case):
    loss_name = "0-1"

    def draw(self, heights, rng):
        return (2 * SHARP * heights + rng.gumbel(size=heights.shape)).argmax(axis=1)

    def moments(self, heights):
        return _softmax(2 * SHARP * heights)

    def best(self, means):
        return means.argmax(axis=1)

    def losses(self, Z, Y):
        return (np.asarray(Z) != Y).astype(float)


class Rankings(Case):
    """Ranks from 1 (best) to d; moments are probabilities that an item is before another."""

    loss_name = "Kendall, share of pairs in the wrong order"

    def draw(self, heights, rng):
        return ranks_of(SHARP * heights + rng.gumbel(size=heights.shape))

    def moments(self, heights):
        return _sigmoid(heights[:, :, None] - heights[:, None, :])

    def best(self, before):
        """Sorting is exact for one row of the law; the mean over rows is decided by subsets."""
        if len(before) == 1:
            return least_discord(before[0])[None]
        return ranks_of(before.sum(axis=2))

    def losses(self, Z, Y):
        Z, wrong = np.asarray(Z), np.zeros(len(Y))
        for i, j in combinations(range(self.d), 2):
            wrong += (Z[:, i] < Z[:, j]) != (Y[:, i] < Y[:, j])
        return wrong / (self.d * (self.d - 1) / 2)


class Tree(Case):
    """Labels in a forest, three children each; weights of siblings share that of their parent."""

    loss_name = "hierarchical"

    def __init__(self, d):
        super().__init__(d)
        self.level += 0.6  # or hardly a leaf would be there
        n_roots = max(2, d // 20)
        self.parents = (np.arange(d) - n_roots) // 3
        self.parents[:n_roots] = -1
        self.edges = [(int(self.parents[j]), j) for j in range(n_roots, d)]
        self.weights = np.full(d, 1.0 / n_roots)
        n_children = np.bincount(self.parents[n_roots:], minlength=d)
        for parent, j in self.edges:  # a parent's number is less than its child's
            self.weights[j] = self.weights[parent] / n_children[parent]

    def draw(self, heights, rng):
        Y = rng.random(heights.shape) < _sigmoid(heights)
        for parent, j in self.edges:
            Y[:, j] &= Y[:, parent]
        return Y.astype(np.int8)

    def moments(self, heights):
        means = _sigmoid(heights)
        for parent, j in self.edges:
            means[:, j] *= means[:, parent]
        return means

    def best(self, means):
        """Children first: what a label and all below it cost if its parent is in the answer.

        The expected loss is sum_j c_j [z_j (m_parent - 2 m_j) + m_j z_parent], m_parent = 1 for
        a root; a label that is not in the answer has nothing of the kind below it.
        """
        gain = np.zeros_like(means)  # of taking label j, and the best below it
        for j in reversed(range(self.d)):
            parent = self.parents[j]
            above = means[:, parent] if parent >= 0 else 1.0
            gain[:, j] += self.weights[j] * (above - 2.0 * means[:, j])
            if parent >= 0:
                gain[:, parent] += self.weights[j] * means[:, j] + np.minimum(0.0, gain[:, j])
        Z = gain < 0.0
        for parent, j in self.edges:
            Z[:, j] &= Z[:, parent]
        return Z

    def losses(self, Z, Y):
        """Weights of labels that are wrong where all above them are right."""
        right = np.asarray(Z) == Y
        wrong = ~right
        for parent, j in self.edges:
            wrong[:, j] &= right[:, parent]
            right[:, j] &= right[:, parent]
        return wrong @ self.weights

    def closed(self, Z):
        """With all labels above those of Z."""
        Z = np.array(Z)
        for parent, j in reversed(self.edges):
            Z[:, parent] |= Z[:, j]
        return Z


class Sequences(Case):
    loss_name = "Hamming, share of tokens"
    tokens = LENGTH

    def __init__(self, d):
        super().__init__(d)
        self.steps = np.random.default_rng(1).normal(0.0, 1.5, (d, d))  # symbol to symbol

    def _block(self, rng):
        X = self._features(rng, (BLOCK, LENGTH))
        return X, self.draw(self.heights(X), rng)

    def draw(self, heights, rng):
        noisy = SHARP * heights + rng.gumbel(size=heights.shape)
        Y = np.empty(heights.shape[:2], dtype=np.int64)
        Y[:, 0] = noisy[:, 0].argmax(axis=1)
        for t in range(1, LENGTH):
            Y[:, t] = (noisy[:, t] + self.steps[Y[:, t - 1]]).argmax(axis=1)
        return Y

    def moments(self, heights):
        """Probabilities of symbols from left to right: features to the right say nothing more."""
        scores, means = SHARP * heights, np.empty_like(heights)
        means[:, 0] = _softmax(scores[:, 0])
        for t in range(1, LENGTH):
            given = _softmax(scores[:, t, None, :] + self.steps)  # (n, symbol before, symbol)
            means[:, t] = np.einsum("ni,nij->nj", means[:, t - 1], given)
        return means

    def best(self, means):
        return means.argmax(axis=-1)


CASES = {
    "labels": Labels, "classes": Classes, "rankings": Rankings, "tree": Tree,
    "sequences": Sequences,
}  # fmt: skip
FIXED = {"rankings": ITEMS, "sequences": SYMBOLS}  # whatever the number of labels


def ranks_of(scores):
    """Ranks from 1 by falling scores; shape (n, d)."""
    return np.argsort(np.argsort(-scores, axis=1), axis=1) + 1


def least_discord(before):
    """Ranks of the order with the least expected number of discordant pairs: all subsets in turn.

    The best order of a subset ends with an item that pays for those which it stands behind.
    """
    d = len(before)
    cost, last = np.zeros(1 << d), np.zeros(1 << d, dtype=int)
    for subset in range(1, 1 << d):
        members = [i for i in range(d) if subset >> i & 1]
        ends = [cost[subset ^ (1 << i)] + before[i, members].sum() - before[i, i] for i in members]
        last[subset] = members[int(np.argmin(ends))]
        cost[subset] = min(ends)
    ranks, subset = np.empty(d, dtype=int), (1 << d) - 1
    for rank in range(d, 0, -1):
        ranks[last[subset]] = rank
        subset ^= 1 << int(last[subset])
    return ranks


def _sigmoid(heights):
    return 1.0 / (1.0 + np.exp(-SHARP * heights))


def _softmax(scores):
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return shares / shares.sum(axis=-1, keepdims=True)
