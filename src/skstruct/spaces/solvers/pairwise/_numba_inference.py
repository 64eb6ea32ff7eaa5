# SPDX-License-Identifier: BSD-3-Clause
"""Compiled inference with scores of pairs: forests, tables of all subsets, Metropolis steps."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, assign_rows, largest
from skstruct.spaces.solvers._numba_markov_chains import accepts, below


@nb.njit(cache=True, nogil=True)
def _to_probabilities(values):
    """Logarithms become probabilities; the logarithm of their sum, minus infinity where all are."""
    top, total = -np.inf, 0.0
    for value in values:
        top = max(top, value)
    for a in range(values.shape[0]):
        values[a] = np.exp(values[a] - top) if top > -np.inf else 0.0
        total += values[a]
    if total == 0.0:
        return top
    for a in range(values.shape[0]):
        values[a] /= total
    return top + np.log(total)


@nb.njit(cache=True, nogil=True)
def sum_states(unary, pairs, order, parent, edge, flipped, first, given):
    """Logarithms of the sums over all states of every row, from the leaves to the roots.

    first[row, v] becomes the probabilities of the states of a root; given[row, e, s] those of the
    states of the child at edge e, given the state s of its parent. `order` lists the nodes,
    parents first; `flipped` says where the parent is the second node of its edge.
    """
    rows, n, k = unary.shape
    log_partition = np.zeros(rows)
    total, message = np.empty((n, k)), np.empty(k)
    for row in range(rows):
        assign_rows(total, unary[row])
        for position in range(n - 1, -1, -1):  # children come after their parents
            v = order[position]
            p, e = parent[v], edge[v]
            if p < 0:
                assign(first[row, v], total[v])
                log_partition[row] += _to_probabilities(first[row, v])
                continue
            for s in range(k):
                probabilities = given[row, e, s]
                for a in range(k):
                    pair = pairs[row, e, a, s] if flipped[v] else pairs[row, e, s, a]
                    probabilities[a] = total[v, a] + pair
                message[s] = _to_probabilities(probabilities)
            # What all states of the parent share is kept apart: differences stay exact.
            top = largest(message)
            log_partition[row] += top
            for s in range(k):
                if top > -np.inf:
                    total[p, s] += message[s] - top
    return log_partition


@nb.njit(cache=True, nogil=True)
def spread_states(order, parent, edge, flipped, first, given, nodes, pairs):
    """Marginals of states and of pairs of states, from the roots to the leaves."""
    rows, _, k = nodes.shape
    for row in range(rows):
        for v in order:
            p, e = parent[v], edge[v]
            if p < 0:
                assign(nodes[row, v], first[row, v])
                continue
            for s in range(k):
                for a in range(k):
                    both = nodes[row, p, s] * given[row, e, s, a]
                    nodes[row, v, a] += both
                    if flipped[v]:
                        pairs[row, e, a, s] = both
                    else:
                        pairs[row, e, s, a] = both


@nb.njit(cache=True, nogil=True)
def draw_states(order, parent, edge, first, given, probability, states):
    """Independent states[row, d] of all nodes; probability[row, d, v] are uniform numbers."""
    rows, draws, _ = states.shape
    for row in range(rows):
        for d in range(draws):
            for v in order:
                p = parent[v]
                if p < 0:
                    probabilities = first[row, v]
                else:
                    probabilities = given[row, edge[v], states[row, d, p]]
                states[row, d, v] = _find(probabilities, probability[row, d, v])


@nb.njit(cache=True, nogil=True)
def _find(probabilities, level):
    """The first state whose sum of probabilities exceeds the level; none that has no
    probability.
    """
    last, upto = 0, 0.0
    for a in range(probabilities.shape[0]):
        if probabilities[a] > 0.0:
            last = a
            upto += probabilities[a]
            if upto > level:
                break
    return last


FULL = 1e100  # a larger factor, or a smaller one than its inverse, is taken into a logarithm
MODERATE = 100.0  # scores whose exponentials times such factors are multiplied


@nb.njit(cache=True, nogil=True, inline="always")
def _coin(odds):
    """ln(1 + exp odds) as a + ln b with b from 1 to 2, and the probability of being in."""
    small = np.exp(-abs(odds))
    larger = 1.0 if odds > 0.0 else small
    return max(odds, 0.0), 1.0 + small, larger / (1.0 + small)


@nb.njit(cache=True, nogil=True, inline="always")
def _kept(base, factor):
    """A number exp(base) * factor with a factor of moderate size."""
    if 1.0 / FULL < factor < FULL:
        return base, factor
    return base + np.log(factor), 1.0


@nb.njit(cache=True, nogil=True)
def sum_labels(nodes, pairs, order, parent, edge, given):
    """Logarithms of the sums over all sets of every row, from the leaves to the roots.

    given[row, v] becomes the probabilities of v given that its parent is out, and that it is in; of
    a root, the same probability twice. ``order`` lists the nodes, parents first. Odds are kept as
    exp(base) * factor, so that few logarithms are taken.
    """
    rows, n = nodes.shape
    log_partition, base, factor = np.empty(rows), np.empty(n), np.empty(n)
    for row in range(rows):
        assign(base, nodes[row])
        factor[:] = 1.0
        total, product = 0.0, 1.0  # the sum so far is exp(total) * product
        for position in range(n - 1, -1, -1):
            v = order[position]
            p, pair = parent[v], pairs[row, edge[v]] if parent[v] >= 0 else 0.0
            if abs(base[v]) < MODERATE and abs(pair) < MODERATE:
                odds = np.exp(base[v]) * factor[v]
                out, given[row, v, 0] = 1.0 + odds, odds / (1.0 + odds)
                odds *= np.exp(pair) if p >= 0 else 1.0
                into, given[row, v, 1] = 1.0 + odds, odds / (1.0 + odds)
                shift_out, shift = 0.0, 0.0
            else:
                odds = base[v] + np.log(factor[v])
                shift_out, out, given[row, v, 0] = _coin(odds)
                shift, into, given[row, v, 1] = _coin(odds + pair)
                shift -= shift_out
            total, product = _kept(total + shift_out, product * out)
            if p >= 0:
                base[p], factor[p] = _kept(base[p] + shift, factor[p] * (into / out))
        log_partition[row] = total + np.log(product)
    return log_partition


@nb.njit(cache=True, nogil=True)
def spread_labels(order, parent, edge, given, n_edges):
    """Probabilities of labels and of pairs, from the roots to the leaves; shape (rows, n + E)."""
    rows, n = given.shape[:2]
    found = np.empty((rows, n + n_edges))
    for row in range(rows):
        for v in order:
            p = parent[v]
            if p < 0:
                found[row, v] = given[row, v, 0]
                continue
            both = found[row, p] * given[row, v, 1]
            found[row, n + edge[v]] = both
            found[row, v] = (1.0 - found[row, p]) * given[row, v, 0] + both
    return found


@nb.njit(cache=True, nogil=True)
def draw_labels(order, parent, given, n_draws, rng):
    """Independent sets of labels; int8 of shape (rows, n_draws, n)."""
    rows, n = given.shape[:2]
    drawn = np.empty((rows, n_draws, n), np.int8)
    for row in range(rows):
        for draw in range(n_draws):
            one = drawn[row, draw]
            for v in order:
                above = one[parent[v]] if parent[v] >= 0 else 0
                one[v] = rng.random() < given[row, v, above]
    return drawn


SAFE = 600.0  # scores that add up to less in size can be multiplied as exponentials
SUMS = {"reassoc"}  # sums in whichever order is quick


@nb.njit(cache=True, nogil=True)
def _times(values, factor, result):
    for s in range(len(result)):
        result[s] = values[s] * factor


@nb.njit(cache=True, nogil=True)
def _multiplied(values, factors, result):
    for s in range(len(result)):
        result[s] = values[s] * factors[s]


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _sum(values):
    total = 0.0
    for s in range(len(values)):
        total += values[s]
    return total


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _folded(values, others):
    """The others are added to the values; their own sum."""
    total = 0.0
    for s in range(len(values)):
        total += others[s]
        values[s] += others[s]
    return total


@nb.njit(cache=True, nogil=True)
def fill_table(table, gains, single, pair):
    """exp(score - shift) of every subset, a number whose bits are its labels; shift and sum.

    The sets that have label j as their last are those before it, each with j added: the gain of
    that, over all sets before, is again built label by label. Exponentials are multiplied where
    none can overflow; else scores are added up, and the shift is the largest.
    """
    if np.abs(single).sum() + np.abs(pair).sum() >= SAFE:
        return _fill_by_logarithms(table, gains, single, pair)
    table[0] = 1.0
    for j in range(len(single)):
        size = 1 << j
        gains[0] = np.exp(single[j])
        for i in range(j):
            built = 1 << i
            _times(gains[:built], np.exp(pair[i, j]), gains[built : 2 * built])
        _multiplied(table[:size], gains[:size], table[size : 2 * size])
    return 0.0, _sum(table)


@nb.njit(cache=True, nogil=True)
def _fill_by_logarithms(table, gains, single, pair):
    table[0] = 0.0
    for j in range(len(single)):
        size = 1 << j
        gains[0] = single[j]
        for i in range(j):
            built = 1 << i
            for s in range(built):
                gains[built + s] = gains[s] + pair[i, j]
        for s in range(size):
            table[size + s] = table[s] + gains[s]
    top = largest(table)
    for s in range(len(table)):
        table[s] = np.exp(table[s] - top)
    return top, _sum(table)


@nb.njit(cache=True, nogil=True)
def fold_table(table, part, total, of_labels, of_pairs):
    """Probabilities of labels and of pairs: the last label is looked at, and then folded away."""
    for j in range(len(of_labels) - 1, -1, -1):
        size = 1 << j
        assign(part[:size], table[size:])
        of_labels[j] = _folded(table[:size], part[:size]) / total
        for i in range(j - 1, -1, -1):
            left = 1 << i
            of_pairs[i, j] = _folded(part[:left], part[left : 2 * left]) / total


@nb.njit(cache=True, nogil=True)
def sum_pair_tables(single, pair, log_partition, of_labels, of_pairs):
    """Partition functions (n,), and probabilities of labels (n, d) and of pairs (n, d, d)."""
    n, d = single.shape
    table, gains = np.empty(2**d), np.empty(2 ** max(d - 1, 0))
    for r in range(n):
        top, total = fill_table(table, gains, single[r], pair[r])
        log_partition[r] = top + np.log(total)
        fold_table(table, gains, total, of_labels[r], of_pairs[r])


@nb.njit(cache=True, nogil=True)
def draw_pair_tables(single, pair, levels, drawn):
    """Subsets (n, m, d) where the running sum of their probabilities passes levels (n, m)."""
    n, d = single.shape
    table, gains = np.empty(2**d), np.empty(2 ** max(d - 1, 0))
    for r in range(n):
        fill_table(table, gains, single[r], pair[r])
        running = np.cumsum(table)
        for m in range(levels.shape[1]):
            level = levels[r, m] * running[-1]
            found = min(np.searchsorted(running, level, side="right"), len(table) - 1)
            while table[found] == 0.0:  # rounding: the last set that has a probability
                found -= 1
            for j in range(d):
                drawn[r, m, j] = (found >> j) & 1


@nb.njit(cache=True, nogil=True)
def walk_labels(states, scores, row, beta, n_steps, streams, free, start, other, edge):
    """``n_steps`` proposals in every chain; how many of them changed a label.

    Node i owns the ends start[i]:start[i + 1] of edges, which lead to `other`; scores are
    those of labels and, after them, of pairs.
    """
    n = states.shape[1]
    accepted = np.zeros(states.shape[0], np.int64)
    for c in range(states.shape[0] if free.shape[0] else 0):
        labels, u = states[c], scores[row[c]]
        for _ in range(n_steps):
            i = free[below(streams, c, free.shape[0])]
            if below(streams, c, 2) == labels[i]:
                continue
            gain = u[i]
            for k in range(start[i], start[i + 1]):
                gain += u[n + edge[k]] * labels[other[k]]
            if labels[i]:
                gain = -gain
            if accepts(beta[c] * gain, streams, c):
                labels[i] = 1 - labels[i]
                accepted[c] += 1
    return accepted


@nb.njit(cache=True, nogil=True)
def walk_states(
    states, scores, row, beta, n_steps, streams, free, counts, choices, start, other, edge
):
    """``n_steps`` proposals in every chain; how many of them changed a state.

    The state a of node i has the coordinate i k + a; the states a and b at an edge e from a
    lower to a higher node n k + (e k + a) k + b, where scores have pairs at all.
    """
    n, k = choices.shape
    accepted = np.zeros(states.shape[0], np.int64)
    for c in range(states.shape[0] if free.shape[0] else 0):
        now, u = states[c], scores[row[c]]
        for _ in range(n_steps):
            i = free[below(streams, c, free.shape[0])]
            old, new = now[i], choices[i, below(streams, c, counts[i])]
            if old == new:
                continue
            gain = u[i * k + new] - u[i * k + old]
            for end in range(start[i], start[i + 1]):
                j, at = other[end], n * k + edge[end] * k * k
                if i < j:
                    gain += u[at + new * k + now[j]] - u[at + old * k + now[j]]
                else:
                    gain += u[at + now[j] * k + new] - u[at + now[j] * k + old]
            if accepts(beta[c] * gain, streams, c):
                now[i] = new
                accepted[c] += 1
    return accepted
