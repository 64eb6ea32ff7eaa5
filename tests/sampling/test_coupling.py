# SPDX-License-Identifier: BSD-3-Clause
"""Draws by coupling from the past; chi-square tests have level 1e-6 in every row."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from skstruct.exceptions import InfeasibleError, SamplingError
from skstruct.sampling import coupling
from skstruct.sampling.coupling import coupling_from_the_past
from skstruct.spaces import Hierarchy, LabelSets, PairwiseLabels, Rankings, SpanningTrees
from skstruct.testing.spaces import assert_drawn_from
from strategies import dags

N = 1500


def distribution_of(space, scores):
    """All outputs, their scores and their probabilities."""
    outputs = space.enumerate()
    psi = space.embed(outputs)
    values = np.asarray((psi.toarray() if hasattr(psi, "toarray") else psi) @ scores)
    return outputs, values, np.exp(values - logsumexp(values))


def check_coupling(space, scores, *, n=N, rng=0, monotone=None, **how):
    drawn, info = coupling_from_the_past(space, scores, n, rng, return_info=True, **how)
    assert drawn.shape[:2] == info.times.shape == (len(scores), n)
    if monotone is not None:
        assert (info.monotone == monotone).all()
    for i in range(len(scores)):
        row = space.rows([i])
        assert row.contains(drawn[i]).all()
        outputs, _, probabilities = distribution_of(row, scores[i])
        assert_drawn_from(drawn[i], outputs, probabilities)


def numbers(shape, scale=1.5):
    return st.integers(0, 2**32 - 1).map(
        lambda seed: scale * np.random.default_rng(seed).standard_normal(shape)
    )


@pytest.mark.slow
@given(st.data())
def test_closed_sets_of_any_graph(data):
    space = data.draw(dags(5))
    d = len(space.labels_)
    check_coupling(space, data.draw(numbers((2, d))), monotone=True)


@pytest.mark.slow
@given(st.data())
def test_known_labels_row_by_row(data):
    space = data.draw(dags(5))
    d = len(space.labels_)
    some = st.lists(st.integers(0, d - 1), max_size=2, unique=True)
    space = space.restrict(include=[data.draw(some), []], exclude=[[], data.draw(some)])
    scores = data.draw(numbers((2, d)))
    check_coupling(space, scores, monotone=True)
    check_coupling(space, scores, method="meta", monotone=False)


@pytest.mark.slow
@given(st.data())
def test_attractive_pairs(data):
    d = data.draw(st.integers(1, 4))
    space = PairwiseLabels(labels=range(d))
    scores = data.draw(numbers((2, d + len(space.edges_))))
    scores[:, d:] = np.abs(scores[:, d:])
    check_coupling(space, scores, monotone=True, method="monotone")


@pytest.mark.slow
@given(st.data())
def test_pairs_that_some_turning_makes_attractive(data):
    """Signs of pairs are those of a product of signs of labels."""
    d = data.draw(st.integers(2, 5))
    every = [(i, j) for j in range(d) for i in range(j)]
    pairs = data.draw(st.lists(st.sampled_from(every), unique=True, min_size=1))
    space = PairwiseLabels(pairs, labels=range(d))
    space = space.restrict(include=data.draw(st.sampled_from([[], [0]])))
    sign = np.array(data.draw(st.lists(st.sampled_from([-1, 1]), min_size=d, max_size=d)))
    scores = data.draw(numbers((2, d + len(pairs))))
    scores[:, d:] = np.abs(scores[:, d:]) * sign[space.edges_].prod(axis=1)
    check_coupling(space, scores, monotone=True, method="monotone")


@pytest.mark.slow
@given(st.data())
def test_signs_on_graphs(data):
    """Monotone in rows where the negative pairs of every cycle are even in number."""
    d = data.draw(st.integers(2, 5))
    space = PairwiseLabels(labels=range(d))
    sign = np.array(data.draw(st.lists(
        st.sampled_from([-1.0, 0.0, 1.0]), min_size=len(space.edges_), max_size=len(space.edges_)
    )))  # fmt: skip
    graph = nx.Graph([(int(i), int(j), {"s": s}) for (i, j), s in zip(space.edges_, sign) if s])
    cycles = [zip(c, [*c[1:], c[0]]) for c in nx.cycle_basis(graph)]
    balanced = all(np.prod([graph[i][j]["s"] for i, j in c]) > 0 for c in cycles)
    scores = np.concatenate([np.zeros(d), sign])[None]
    _, info = coupling_from_the_past(space, scores, 1, 0, return_info=True)
    assert info.monotone[0] == balanced
    if not balanced:
        with pytest.raises(ValueError, match=r"row 0 the pair .* has the score -1, below zero"):
            coupling_from_the_past(space, scores, 1, 0, method="monotone")


@pytest.mark.slow
@pytest.mark.parametrize(
    "space",
    [
        LabelSets(range(5), min_size=1, max_size=2),
        Hierarchy([("a", "b"), ("a", "c"), ("b", "d")]).restrict(one_path=True),
        Rankings(range(4), "pairs"),
        SpanningTrees(range(4)),
    ],
    ids=lambda space: type(space).__name__,
)
def test_meta_chain(space):
    d = space.embed(space.sample(1, 0)).shape[1]
    scores = np.random.default_rng(3).standard_normal((3, d))
    check_coupling(space, scores, n=4000, monotone=False)


@pytest.mark.slow
def test_strong_attraction_needs_the_same_random_numbers():
    """New numbers each time it looks farther back would prefer the draws that meet early."""
    space = PairwiseLabels(labels=range(3))
    scores = np.array([[-2.0, -2.5, -3.0, 2.5, 2.5, 2.5]])
    _, info = coupling_from_the_past(space, scores, 2000, 0, return_info=True)
    assert 4 < info.times.mean() < 100  # the draws look back in several steps
    check_coupling(space, scores, n=40_000, monotone=True)


def test_steps_of_the_meta_chain_are_those_of_rejection():
    """E T = |Y| e^max f / Z; the mean of geometric times, five standard errors: level 6e-7."""
    space, scores = LabelSets(range(4)), np.array([0.3, -0.4, 0.2, 0.1])
    _, values, _ = distribution_of(space, scores)
    expected = len(values) * np.exp(values.max() - logsumexp(values))
    _, info = coupling_from_the_past(space, scores, 20_000, 0, method="meta", return_info=True)
    error = np.sqrt(expected * (expected - 1) / 20_000)
    assert abs(info.times.mean() - expected) < 5 * error
    assert info.times.shape == (20_000,)
    assert not info.monotone


def test_memory_of_the_meta_chain(monkeypatch):
    """Draws that wait are taken in halves where they remember too much."""
    from skstruct.sampling import coupling as meta_coupling

    monkeypatch.setattr(meta_coupling, "IN_MEMORY", 50)
    monkeypatch.setattr(meta_coupling, "AT_ONCE", 64)
    scores = np.array([[1.5, -1.0, 0.5], [0.0, 2.0, 0.2]])
    check_coupling(LabelSets(range(3)), scores, n=4000, method="meta")


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_matter(n_jobs):
    scores = np.abs(np.random.default_rng(0).standard_normal((3, 10)))
    space = PairwiseLabels(labels=range(4))
    expected = coupling_from_the_past(space, scores, 50, 1)
    assert (coupling_from_the_past(space, scores, 50, 1, n_jobs=n_jobs) == expected).all()


def test_shapes():
    space = LabelSets(range(3))
    assert coupling_from_the_past(space, np.zeros(3)).shape == (1, 3)
    assert coupling_from_the_past(space, np.zeros((1, 3)), 2).shape == (1, 2, 3)
    assert coupling_from_the_past(space, np.zeros((4, 3)), 2, method="meta").shape == (4, 2, 3)
    assert coupling_from_the_past(space, np.zeros((4, 3)), 2).dtype == np.int8


def test_large_scores():
    scores = np.array([[1e6, -1e6, 1e300]])
    assert (coupling_from_the_past(LabelSets(range(3)), scores, 100) == [1, 0, 1]).all()


def test_it_says_how_far_it_went():
    space = Hierarchy([("a", "b")])
    with pytest.raises(SamplingError, match=r"row 1 .* have not met 64 sweeps"):
        coupling_from_the_past(space, [[0.0, 0.0], [-80.0, 160.0]], 3, 0, max_doublings=6)
    with pytest.raises(SamplingError, match=r"row 0 no proposal of the last 64 steps"):
        coupling_from_the_past(LabelSets(range(30)), [9.0] * 30, method="meta", max_doublings=6)


class _Unsampled:
    """A space that knows nothing more than it must."""

    constraints_ = None
    embedding = "indicators"


@pytest.mark.parametrize(
    ("space", "scores", "how", "says"),
    [
        (_Unsampled(), [0.0], {}, "cannot be sampled: it has no sample"),
        (Rankings(range(3)), [0.0] * 9, {"method": "monotone"}, "Rankings is none of LabelSets"),
        (
            LabelSets("ab", max_size=1),
            [0.0] * 2,
            {"method": "monotone"},
            "constraints of LabelSets",
        ),
        (LabelSets("ab"), [0.0] * 3, {}, r"scores of shape \(n, 2\)"),
        (LabelSets("ab"), [0.0, np.nan], {}, r"scores\[0, 1\] is nan"),
        (LabelSets("ab"), [0.0] * 2, {"n": 0}, "n is a whole number from 1"),
        (LabelSets("ab"), [0.0] * 2, {"method": "forward"}, "method is one of"),
        (LabelSets("ab"), [0.0] * 2, {"max_doublings": 0}, "max_doublings is"),
    ],
)
def test_what_cannot_be(space, scores, how, says):
    with pytest.raises(ValueError, match=says):
        coupling_from_the_past(space, scores, **how)


def test_no_output_at_all():
    space = LabelSets("ab").restrict(include=[["a"], ["a"]], exclude=[["b"], ["a"]])
    with pytest.raises(InfeasibleError, match="row 1"):
        coupling_from_the_past(space, np.zeros((2, 2)))


def test_interrupted(monkeypatch):
    """The draws that are finished come back: the same as without the interruption."""
    space, scores, whole = LabelSets("abc"), np.zeros((2, 3)), coupling._one_block
    monkeypatch.setattr(coupling, "TOGETHER", 8)
    expected, calls = coupling_from_the_past(space, scores, 10, 0), []

    def stops(*args):
        calls.append(None)
        if len(calls) == stop_at:
            raise KeyboardInterrupt
        return whole(*args)

    monkeypatch.setattr(coupling, "_one_block", stops)
    stop_at = 3
    with pytest.warns(UserWarning, match="after 8 of 10"):
        drawn, info = coupling_from_the_past(space, scores, 10, 0, return_info=True)
    assert (drawn == expected[:, :8]).all()
    assert info.times.shape == (2, 8)
    stop_at = len(calls) + 1
    with pytest.raises(KeyboardInterrupt):
        coupling_from_the_past(space, scores, 10, 0)
