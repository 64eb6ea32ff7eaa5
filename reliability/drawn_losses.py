# SPDX-License-Identifier: BSD-3-Clause
"""Losses that go with a drawn space, with parameters at random, beside their definitions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle_losses as oracle

from skstruct import losses


@dataclass
class DrawnLoss:
    """A loss of the library, its definition as a matrix [predicted, true] over all outputs.

    ``seen_only``: predicted are outputs of training alone, as of losses without an embedding.
    """

    loss: Any
    matrix: np.ndarray
    seen_only: bool = False


WHOLE = ("Classes", "GraphNodes", "Candidates")  # any loss is minimized over all of these


def positive(rng, d):
    return np.round(rng.random(d) * 3, 2) if rng.random() < 0.7 else rng.integers(0, 3, d) * 1.0


def hamming(rng, drawn):
    Z = drawn.facts["Z"]
    d = Z.shape[1]
    ones = np.ones(d)
    given, c, miss, alarm, normalize = {}, ones, ones, ones, False
    if rng.random() < 0.4:
        c = positive(rng, d) + 0.1
        given["weights"] = c
    if rng.random() < 0.3:
        miss, alarm = positive(rng, d), positive(rng, d) + 0.1
        given |= {"miss": miss, "alarm": alarm}
    if rng.random() < 0.2:
        normalize = given["normalize"] = True
    return DrawnLoss(losses.Hamming(**given), oracle.hamming(Z, c, miss, alarm, normalize))


def f_measure(rng, drawn):
    beta = float(rng.choice([0.5, 1.0, 2.0]))
    loss = losses.F1() if beta == 1 else losses.FBeta(beta)
    return DrawnLoss(loss, oracle.f_measure(drawn.facts["Z"], beta))


def hierarchical(rng, drawn):
    Z, arcs = drawn.facts["Z"], drawn.facts["arcs"]
    d = Z.shape[1]
    kind = rng.integers(3)
    weights = ["siblings", "uniform", positive(rng, d)][kind]
    c = [oracle.sibling_weights(arcs, d), np.ones(d), weights][kind]
    return DrawnLoss(losses.HierarchicalLoss(weights), oracle.hierarchical(Z, arcs, c))


def zero_one(rng, drawn):
    m = len(drawn.outputs)
    seen = drawn.name not in WHOLE
    return DrawnLoss(losses.ZeroOne(), 1.0 - np.eye(m), seen)


def any_function(rng, drawn):
    """A callable of two outputs, with values of any kind."""
    number = {drawn.key(output): j for j, output in enumerate(drawn.outputs)}
    matrix = np.round(rng.standard_normal((len(number), len(number))), 2)

    def loss(z, y):
        return matrix[number[drawn.key(z)], number[drawn.key(y)]]

    return DrawnLoss(loss, matrix, drawn.name not in WHOLE)


def cost_matrix(rng, drawn):
    matrix = np.round(rng.exponential(size=(len(drawn.outputs),) * 2), 2)
    return DrawnLoss(losses.CostMatrix(matrix), matrix.T)


def diffusion(rng, drawn):
    t = float(rng.choice([0.01, 0.3, 1.0, 5.0]))
    return DrawnLoss(losses.Diffusion(t), oracle.diffusion(drawn.facts["adjacency"], t))


def kendall(rng, drawn):
    normalize = bool(rng.random() < 0.5)
    return DrawnLoss(losses.Kendall(normalize), oracle.kendall(drawn.facts["ranks"], normalize))


def _positions(rng, d):
    top = int(rng.integers(1, d)) if rng.random() < 0.3 else None
    lengths = positive(rng, d - 1) if rng.random() < 0.3 else None
    items = positive(rng, d) if rng.random() < 0.3 else None
    given = {"top": top, "position_weights": lengths, "item_weights": items}
    line = oracle.steps(d, top, lengths)
    return given, line[:, None] - line[None], np.ones(d) if items is None else items


def footrule(rng, drawn):
    R = drawn.facts["ranks"]
    given, off, c = _positions(rng, R.shape[1])
    return DrawnLoss(losses.Footrule(**given), oracle.by_positions(R, np.abs(off), c))


def spearman(rng, drawn):
    R = drawn.facts["ranks"]
    given, off, c = _positions(rng, R.shape[1])
    return DrawnLoss(losses.Spearman(**given), oracle.by_positions(R, off**2, c))


def position_loss(rng, drawn):
    R = drawn.facts["ranks"]
    V, c = np.round(rng.standard_normal((R.shape[1],) * 2), 2), positive(rng, R.shape[1])
    return DrawnLoss(losses.PositionLoss(V, item_weights=c), oracle.by_positions(R, V, c))


def rank_loss(rng, drawn):
    return DrawnLoss(losses.RankLoss(), oracle.rank_loss(drawn.facts["ranks"]))


def relations(rng, drawn):
    abstain, invent = (float(x) for x in np.round(rng.random(2), 2))
    loss = losses.Kendall(abstain=abstain, invent=invent)
    Z, n = drawn.facts["Z"], len(drawn.facts["names"])
    return DrawnLoss(loss, oracle.relations(Z, n, abstain, invent))


def sequence_hamming(rng, drawn):
    q = len(drawn.facts["names"])
    miss, alarm, bigrams, given = np.ones(q), np.ones(q), 0.0, {}
    if rng.random() < 0.5:
        miss, alarm = positive(rng, q), positive(rng, q)
        given = {"miss": miss, "alarm": alarm}
    if rng.random() < 0.5:
        bigrams = float(np.round(rng.random() * 2, 2))
    loss = losses.SequenceHamming(bigrams, **given)
    matrix = oracle.sequence_hamming(drawn.facts["listed"], miss, alarm, bigrams)
    return DrawnLoss(loss, matrix)


def states_off(rng, drawn):
    return DrawnLoss(losses.Hamming(), oracle.states_off(drawn.facts["listed"]))


SETS = [hamming, hamming, f_measure, zero_one, any_function]
EDGES = [hamming, hamming, zero_one, any_function]
ONE = [zero_one, any_function, cost_matrix]
OF_FAMILY = {
    "LabelSets": SETS,
    "Hierarchy": [*SETS, hierarchical, hierarchical],
    "Knapsacks": EDGES,
    "BinaryPolytope": EDGES,
    "PairwiseLabels": EDGES,
    "Cliques": EDGES,
    "Classes": ONE,
    "Candidates": [zero_one, any_function],
    "GraphNodes": [zero_one, diffusion, diffusion],
    "Ordinal": [hamming, zero_one, any_function],
    "Poset": [hamming, zero_one, any_function],
    "Rankings": [kendall, footrule, spearman, position_loss, rank_loss, zero_one, any_function],
    "PartialOrders": [relations, zero_one],
    "Tournaments": [zero_one, any_function],
    "Sequences": [sequence_hamming, sequence_hamming, zero_one, any_function],
    "Strings": [zero_one, any_function],
    "PairwiseStates": [states_off, zero_one, any_function],
}


def drawn_loss(rng, drawn):
    choices = OF_FAMILY.get(drawn.name, EDGES if "Z" in drawn.facts else [zero_one])
    return choices[rng.integers(len(choices))](rng, drawn)
