# SPDX-License-Identifier: BSD-3-Clause
"""Nested predictions: closed in their structure at every threshold, and right by definition."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conformal.toys import PARTS, Toy, is_partial_order
from skstruct.conformal.risks import RISKS
from skstruct.conformal.structures import structure_of
from skstruct.conformal.structures.pairs import best_paths
from skstruct.conformal.structures.positions import filled
from skstruct.spaces import Description, Rankings, Sequences

CUTS = [-np.inf, -1.0, -0.7, -0.3, 0.0, 0.2, 0.5, 0.6, 0.9, 1.0, np.inf]
MOVES = ["possible", "certain", "both"]


def coarse(toy, steps=4):
    """The same rows with probabilities on a grid, so that many are equal."""
    P = np.round(toy.P * steps) / steps
    if Description.of(toy.space_).output_kind in ("classes", "ordinal", "sequence"):
        P = np.full_like(P, 0.0)
        best = toy.P.argmax(axis=-1)
        np.put_along_axis(P, best[..., None], 0.5, axis=-1)
        np.put_along_axis(P, (best[..., None] + 1) % P.shape[-1], 0.5, axis=-1)
    return Toy(toy.space_, P, toy.Z)


TOYS = [pytest.param(make(30), id=name) for name, make in PARTS.items()]
TOYS += [pytest.param(coarse(make(30)), id=f"{name}, ties") for name, make in PARTS.items()]


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("toy", TOYS)
def test_predictions_are_nested(toy, moves):
    """Certain in possible; as the threshold falls more is certain and less is possible."""
    structure = structure_of(toy.space_, "test")
    P = structure.read(toy.P)
    before = None
    for cut in CUTS[::-1]:
        certain, possible = structure.masks(P, np.full(len(P), cut), moves)
        assert not (certain & ~possible).any()
        if before is not None and moves != "possible":
            assert not (before[0] & ~certain).any()
        if before is not None and moves != "certain":
            assert not (possible & ~before[1]).any()
        before = certain, possible
        if cut == np.inf:
            assert not certain.any()
            kind = Description.of(toy.space_).output_kind
            everything = ~np.eye(P.shape[1], dtype=bool) if kind == "ranking" else True
            assert_array_equal(possible, np.broadcast_to(everything, possible.shape))


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", ["tree", "dag"])
@pytest.mark.parametrize("incoherent", [False, True])
def test_sets_hold_all_ancestors(name, moves, incoherent):
    toy = coarse(PARTS[name](60))
    if incoherent:
        toy.P = np.random.default_rng(1).integers(0, 5, toy.P.shape) / 4
    structure, dag = structure_of(toy.space_, "test"), Description.of(toy.space_).output_dag()
    P = structure.read(toy.P)
    for cut in [*CUTS, 0.25, 0.75, -0.25]:
        for mask in structure.masks(P, np.full(len(P), cut), moves):
            assert not (mask[:, dag.children] & ~mask[:, dag.parents]).any()


@pytest.mark.parametrize("d", [2, 3, 5])
def test_what_is_certain_of_a_ranking_is_a_partial_order(d):
    """Whatever the probabilities are, even if they are no probabilities of one distribution."""
    rng = np.random.default_rng(d)
    space = Rankings(d).fit([np.arange(1, d + 1)])
    structure = structure_of(space, "test")
    P = np.triu(rng.integers(0, 9, (80, d, d)) / 8, 1)
    P = P + np.tril(1 - P.transpose(0, 2, 1), -1)
    scores = structure.read(P)
    for cut in [-np.inf, 0.3, 0.5, 0.6, 0.75, 0.9]:
        masks = structure.masks(scores, np.full(len(P), cut), "both")
        certain, possible = structure.write(scores, *masks, None)
        assert all(map(is_partial_order, certain))
        for sure, rest in zip(certain, possible):
            assert set(sure) <= set(rest)
            assert len(rest) + len(sure) == d * (d - 1)


def test_pairs_of_a_coherent_order_are_scored_by_themselves():
    """Where probabilities are transitive already, paths change nothing above one half."""
    u = np.random.default_rng(0).normal(size=(20, 5))
    P = 1 / (1 + np.exp(u[:, None, :] - u[:, :, None]))
    above = P > 0.5
    assert_allclose(best_paths(P)[above], P[above])


@given(st.integers(2, 4), st.integers(0, 1000))
def test_best_paths_are_the_best_of_all_paths(d, seed):
    P = np.random.default_rng(seed).integers(0, 5, (1, d, d)) / 4
    found = best_paths(P)[0]
    for i in range(d):
        for j in range(d):
            if i != j:
                between = [k for k in range(d) if k not in (i, j)]
                paths = [
                    (i, *middle, j)
                    for r in range(len(between) + 1)
                    for middle in permutations(between, r)
                ]
                expected = max(min(P[0, a, b] for a, b in pairwise(p)) for p in paths)
                assert found[i, j] == expected


@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(0, 4))
def test_levels_without_gaps(grades, cut):
    inside = np.flatnonzero(filled(np.array([grades]))[0] >= cut)
    own = np.flatnonzero(np.array(grades) >= cut)
    expected = np.arange(own.min(), own.max() + 1) if len(own) else own
    assert_array_equal(inside, expected)


# ------------------------------------------------------------------- losses by definition
def naive_loss(toy, i, certain, possible, risk):
    """Loss of row i, from what is certain and possible, one part at a time."""
    kind, z = Description.of(toy.space_).output_kind, toy.Z[i]
    if kind in ("labels", "hierarchy"):
        true = [j for j in range(len(z)) if z[j]]
        wrong_in = [j for j in np.flatnonzero(certain[i]) if not z[j]]
        wrong_out = [j for j in true if not possible[i, j]]
        n_certain = certain[i].sum()
        n_right, n_true, n_parts = n_certain - len(wrong_in), len(true), len(z)
        missed = len(wrong_out) / n_true if n_true else 0.0
    elif kind == "ranking":
        pairs = [(a, b) for a in range(4) for b in range(4) if z[a] < z[b]]
        wrong_in = [(a, b) for a, b in pairs if certain[i, b, a]]
        wrong_out, n_certain = [], certain[i].sum()
        n_right, n_true, n_parts = n_certain - len(wrong_in), len(pairs), len(pairs)
        missed = sum(not possible[i, a, b] for a, b in pairs) / len(pairs)
    else:
        numbers = np.ravel(toy.space_.numbers(z[None]) if kind == "ordinal" else z)
        said = [(t, a) for t, a in np.argwhere(certain[i])]
        wrong_in = [(t, a) for t, a in said if numbers[t] != a]
        wrong_out, n_certain, n_parts = [], len(said), len(numbers)
        n_right, n_true = n_certain - len(wrong_in), n_parts
        missed = sum(not possible[i, t, a] for t, a in enumerate(numbers)) / n_parts
    if risk == "f1":
        return 1 - (2 * n_right / (n_certain + n_true) if n_certain + n_true else 1.0)
    return {
        "missed": missed,
        "wrong": (len(wrong_in) + len(wrong_out)) / n_parts,
        "false_labels": len(wrong_in) / n_parts,
        "false": len(wrong_in) / n_certain if n_certain else 0.0,
    }[risk]


@pytest.mark.parametrize("risk", ["missed", "wrong", "false_labels", "false", "f1"])
@pytest.mark.parametrize("toy", TOYS)
def test_losses_are_those_of_the_predictions(toy, risk):
    """What calibration counts is what the masks of a prediction lose."""
    kind = RISKS[risk]
    structure = structure_of(toy.space_, "test")
    P = structure.read(toy.P)
    claims = kind.claims(structure, P, toy.Z, None)
    for cut in CUTS:
        if kind.on_grid is None:
            losses = (claims.losses * (claims.scores > cut)).sum(axis=1)
        else:
            losses = kind.on_grid(claims, np.array([cut]), 0.1)[:, 0]
        certain, possible = structure.masks(P, np.full(len(P), cut), kind.moves)
        naive = [naive_loss(toy, i, certain, possible, risk) for i in range(len(P))]
        assert_allclose(losses, naive, atol=1e-12)


def test_costs_of_labels():
    toy = PARTS["tree"](50)
    structure = structure_of(toy.space_, "test")
    P, labels = structure.read(toy.P), toy.space_.labels_
    depth = Description.of(toy.space_).output_dag().depth
    assert_allclose(structure.label_costs("depth"), 1 / (1 + depth))
    assert_array_equal(structure.label_costs({labels[1]: 3.0}), [1.0, 3.0, 1.0, 1.0])
    costs = np.array([0.5, 0.0, 2.0, 1.0])
    claims = structure.misses(P, toy.Z, costs)
    t = -0.6
    for i in range(50):
        true = toy.Z[i] * costs
        lost = (true * (P[i] < 0.6)).sum() / true.sum() if true.sum() else 0.0
        assert_allclose((claims.losses * (claims.scores > t))[i].sum(), lost, atol=1e-12)
    for bad in ("breadth", [1.0, 2.0], [-1.0] * 4, [0.0] * 4, {"nobody": 1.0}):
        with pytest.raises(ValueError, match="weights"):
            structure.label_costs(bad)
    ranked = structure_of(PARTS["rankings"](2).space_, "test")
    with pytest.raises(ValueError, match="costs of labels"):
        ranked.check_unweighted("depth")


def test_unknown_truth_costs_nothing():
    """Labels that were not looked at, items that were not ranked, ends of sequences."""
    toy = PARTS["labels"](5)
    structure = structure_of(toy.space_, "test")
    Z = np.array(toy.Z)
    Z[0] = -1
    Z[1, 0] = -1
    claims = structure.claims(structure.read(toy.P), Z, None, both=True)
    assert_allclose(claims.costs[:2], [[0, 0, 0, 0], [0, 1 / 3, 1 / 3, 1 / 3]])
    toy = PARTS["rankings"](2)
    structure = structure_of(toy.space_, "test")
    Z = np.array([[1.0, 1.0, 2.0, np.nan], [1.0, 2.0, 3.0, 4.0]])
    claims = structure.claims(structure.read(toy.P), Z, None, both=True)
    assert_allclose(claims.costs, [[0, 0.5, 0, 0.5, 0, 0], [1 / 6] * 6])


def test_sequences_of_several_lengths():
    space = Sequences("ab").fit(["ab", "abba"])
    structure = structure_of(space, "test")
    P = structure.read([np.array([[0.9, 0.1], [0.4, 0.6]]), np.full((4, 2), 0.5)])
    assert P.shape == (2, 4, 2)
    claims = structure.claims(P, space.validate(["aa", "abba"]), None, both=True)
    assert_allclose(claims.costs, [[0.5, 0.5, 0, 0], [0.25] * 4])
    masks = structure.masks(P, np.full(2, 0.7), "both")
    certain, possible = structure.write(P, *masks, None)
    assert certain == [["a", None], [None] * 4]
    assert possible == [[("a",), ("a", "b")], [("a", "b")] * 4]
    with pytest.raises(ValueError, match=r"Y\[0\] is longer"):
        structure.claims(P, space.validate(["abb", "abba"]), None, both=True)


@pytest.mark.parametrize("name", PARTS)
def test_what_is_no_probability_is_refused(name):
    toy = PARTS[name](3)
    structure = structure_of(toy.space_, "test")
    for bad in (np.zeros((3, 7, 7, 7)), toy.P[..., :-1], np.where(toy.P > 0, np.nan, 0.0)):
        with pytest.raises(ValueError, match="predict_marginals"):
            structure.read(bad)
    bad = toy.P.copy()
    bad[(1,) + (0,) * (bad.ndim - 2) + (1,)] = 1.5
    with pytest.raises(ValueError, match="row 1"):
        structure.read(bad)
