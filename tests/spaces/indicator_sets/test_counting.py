# SPDX-License-Identifier: BSD-3-Clause
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Hierarchy, LabelSets, Uniform
from skstruct.spaces.indicator_sets import uniform as module
from skstruct.testing import check_space
from skstruct.testing.spaces import assert_drawn_from
from strategies import closed_sets, forests, subsets
from work import n_calls


@st.composite
def constraints(draw, space):
    """Arguments of ``restrict``, with groups of siblings that have no label in common."""
    label = st.integers(0, len(space.labels_) - 1)
    group_of = {v: draw(st.integers(0, 1)) for v in space.labels_}
    parents = getattr(space.dag_, "parent_of", np.full(len(space.labels_), -1))
    groups = {}
    for v in space.labels_:
        groups.setdefault((int(parents[v]), group_of[v]), []).append(v)
    kept = [g for g in groups.values() if draw(st.booleans())]
    return {
        "exclusive": kept, "include": draw(st.sets(label, max_size=1)),
        "exclude": draw(st.sets(label, max_size=1)),
        "min_size": draw(st.integers(0, 2)), "max_size": draw(st.one_of(st.none(), label)),
    }  # fmt: skip


def check_restricted(space, outputs, given_constraints):
    low, high = given_constraints["include"], given_constraints["exclude"]
    top = given_constraints["max_size"]
    good = [
        row for row in outputs
        if all(row[v] for v in low) and not any(row[v] for v in high)
        and given_constraints["min_size"] <= row.sum() <= (len(row) if top is None else top)
        and all(sum(row[v] for v in group) <= 1 for group in given_constraints["exclusive"])
    ]  # fmt: skip
    narrowed = space.restrict(**given_constraints)
    assert narrowed.size() == len(good)
    if good:
        check_space(narrowed, np.array(good), n_costs=3, n_draws=500)
    else:
        for ask in (
            Uniform.of(narrowed).mean_embedding,
            Uniform.of(narrowed).second_moment,
            Uniform.of(narrowed).covariance,
        ):
            with pytest.raises(InfeasibleError):
                ask()


@pytest.mark.slow
@given(forests(), st.data())
def test_forests_within_constraints(space, data):
    check_restricted(space, closed_sets(space), data.draw(constraints(space)))


@given(st.integers(1, 5), st.data())
def test_label_sets_within_constraints(d, data):
    space = LabelSets(range(d))
    check_restricted(space, subsets(d), data.draw(constraints(space)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["free", "sized", "masked", "groups", "sized groups", "forest", "sized forest",
             "exclusive siblings", "one path"],
)  # fmt: skip
def test_a_thousand_labels_by_few_steps(kind):
    labels, rng = list(range(1000)), np.random.default_rng(0)
    tree = Hierarchy([(int(rng.integers(j)), j) for j in range(1, 1000)], labels=labels)
    groups = [labels[10 * k : 10 * k + 5] for k in range(50)]
    space = {
        "free": LabelSets(labels), "sized": LabelSets(labels, 2, 500),
        "masked": LabelSets(labels, 2, 500).restrict(include=[1, 2], exclude=[5]),
        "groups": LabelSets(labels).restrict(exclusive=groups),
        "sized groups": LabelSets(labels, 0, 20).restrict(exclusive=groups), "forest": tree,
        "sized forest": tree.restrict(max_size=20), "one path": tree.restrict(one_path=True),
        "exclusive siblings": tree.restrict(exclusive="siblings"),
    }[kind]  # fmt: skip
    found = []

    def count():
        found[:] = (
            space.size(),
            Uniform.of(space).mean_embedding(),
            Uniform.of(space).second_moment(),
        )
        found.append(space.sample(500, rng))

    assert n_calls(count) < 500_000
    size, mean, moment, drawn = found
    assert space.contains(drawn).all()
    assert_allclose(Uniform.of(space).log_size(), math.log(size))
    assert_allclose(np.diag(moment), mean, rtol=1e-10)
    eigenvalue = np.linalg.eigvalsh(moment - np.outer(mean, mean))
    assert eigenvalue.min() > -1e-9 * eigenvalue.max()
    # Means of 500 draws, within six standard errors: broken with probability below 2e-6.
    error = np.abs(drawn.mean(axis=0) - mean)
    assert (error <= 6 * np.sqrt(mean * (1 - mean) / 500) + 1e-2).all()


def test_sizes_are_exact():
    space = LabelSets(range(1000), 3, 400)
    assert space.size() == sum(math.comb(1000, s) for s in range(3, 401))
    groups = [[10 * k, 10 * k + 1] for k in range(100)]
    assert LabelSets(range(1000)).restrict(exclusive=groups).size() == 3**100 * 2**800
    chain = Hierarchy([(j - 1, j) for j in range(1, 1000)]).restrict(min_size=5, max_size=700)
    assert chain.size() == 696


@given(forests(), st.data())
def test_at_least_so_many(space, data):
    """Counts stop at the number that suffices, where none is too large."""
    smallest = data.draw(st.integers(1, len(space.labels_) + 1))
    outputs = closed_sets(space)
    outputs = outputs[outputs.sum(axis=1) >= smallest]
    limited = space.restrict(min_size=smallest)
    assert limited.size() == len(outputs)
    if len(outputs):
        check_space(limited, outputs, n_costs=3, n_draws=300)


LONG = {
    "two parents": Hierarchy([("a", "c"), ("b", "c"), ("b", "d"), ("e", "d"), ("c", "f")]),
    "sized": Hierarchy([("a", "c"), ("b", "c"), ("b", "d")]).restrict(min_size=1, max_size=3),
    "overlapping groups": LabelSets("abcde").restrict(exclusive=[["a", "b"], ["b", "c"]]),
    "one path": Hierarchy([("a", "b"), ("a", "c"), ("c", "d")]).restrict(one_path=True),
}


@pytest.mark.parametrize("kind", LONG)
def test_counting_with_labels_fixed_gives_the_moments_of_the_list(kind, monkeypatch):
    space = LONG[kind]
    listed = space.enumerate().astype(float)
    monkeypatch.setattr(module, "SHORT", 0)
    assert_allclose(Uniform.of(space).mean_embedding(), listed.mean(axis=0), rtol=1e-12)
    assert_allclose(Uniform.of(space).second_moment(), listed.T @ listed / len(listed), rtol=1e-12)


@pytest.mark.parametrize("kind", ["two parents", "sized"])
def test_draws_label_by_label_are_uniform(kind, monkeypatch):
    space = LONG[kind]
    listed = space.enumerate()
    monkeypatch.setattr(module, "SHORT", 0)
    assert_drawn_from(space.sample(200, 0), listed, np.full(len(listed), 1 / len(listed)))
    assert (space.sample(3, 3) == space.sample(3, 3)).all()
