# SPDX-License-Identifier: BSD-3-Clause
"""Slack rescaling: the largest product of loss and margin, or a bound that is never below it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skstruct.learners.max_margin import slack_rescaling as slack
from skstruct.learners.max_margin.network import NetworkMargins
from skstruct.learners.max_margin.problem import ChainMargins, MarginProblem, dense
from skstruct.learners.max_margin.slack_rescaling import (
    SlackRescaling,
    largest_product,
    loss_levels,
)
from skstruct.learners.max_margin.structured_svm import StructuredSVM
from skstruct.losses import (
    F1,
    FBeta,
    Footrule,
    Hamming,
    HierarchicalLoss,
    Kendall,
    Listed,
    SequenceHamming,
    Spearman,
    ZeroOne,
)
from skstruct.spaces import Classes, Hierarchy, LabelSets, Rankings, Sequences
from skstruct.spaces.contracts import Decoded, Guarantee
from skstruct.spaces.pairwise.labels import PairwiseLabels
from strategies import dags, forests

WEIGHTS = [0.5, 1.0, 0.0, 2.0]
SPACES = {
    "classes": (
        Classes(list("abcd")).fit(list("abcd")),
        [ZeroOne(), Listed(lambda z, y: abs(ord(z) - ord(y)))],
    ),
    "label sets": (
        LabelSets(range(4)),
        [Hamming(), Hamming(WEIGHTS), Hamming(normalize=True), ZeroOne(), F1(), FBeta(2.0)],
    ),
    "sized": (LabelSets(range(4), min_size=1, max_size=3), [Hamming(), F1(), ZeroOne()]),
    "tree": (
        Hierarchy([(0, 1), (0, 2), (2, 3), (2, 4)]),
        [HierarchicalLoss(), HierarchicalLoss("uniform"), Hamming(), F1(), ZeroOne()],
    ),
    "dag": (
        Hierarchy([(0, 2), (1, 2), (2, 3), (1, 4)]),
        [HierarchicalLoss(), HierarchicalLoss(dag="average"), Hamming(), ZeroOne()],
    ),
    "rankings": (
        Rankings(range(4)).fit([[1, 2, 3, 4]]),
        [Kendall(), Spearman(), Footrule(), ZeroOne()],
    ),
    "words": (
        Sequences("abc", 3).fit(["abc"]),
        [Hamming(), SequenceHamming(bigrams=0.5), ZeroOne()],
    ),
    "pairs": (PairwiseLabels("full", labels=range(3)), [Hamming(), Hamming([1.0, 2.0, 0.5])]),
}
CASES = [(name, k) for name, (_, losses) in SPACES.items() for k in range(len(losses))]


def problem_of(space, loss, rng, n=5, kind=MarginProblem, **options):
    outputs = space.enumerate()
    return kind(space, loss, outputs[rng.integers(len(outputs), size=n)], **options)


def listed_products(problem, scores, constants, Z):
    """Products of all outputs in Z for all examples, straight from the definition."""
    psi, q = dense(problem.scored.embed(Z)), scores.shape[1]
    seeing, fixed = problem.truth(np.arange(len(problem.outputs)))
    own = (scores * seeing).sum(axis=1) + fixed @ constants
    totals = scores @ psi[:, :q].T + psi[:, q:] @ constants
    return problem.loss.pairwise(Z, problem.outputs).T * (1.0 + totals - own[:, None])


def check_vertices(problem, vertices, scores, constants, best, *, exact):
    """Bounds hold, and the vertices are what they say."""
    totals = problem.totals((scores * vertices.directions).sum(axis=1), np.arange(len(vertices)))
    values = vertices.losses + totals + vertices.constants @ constants
    room = 1e-8 * (1.0 + np.abs(best))
    assert (vertices.bounds >= best - room).all()
    assert (vertices.bounds >= 0).all()
    assert (values <= best + room).all()
    if exact:
        assert_allclose(values, best, atol=room.max())
        assert_allclose(vertices.bounds, best, atol=room.max())


def searched(problem):
    """The oracle, made to search although the space is small."""
    oracle = SlackRescaling.__new__(SlackRescaling)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slack, "list_of_outputs", lambda problem, most: None)
        oracle.__init__(problem)
    return oracle


@pytest.mark.slow
@pytest.mark.parametrize(("name", "k"), CASES)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.3, 1.0, 10.0]))
@settings(max_examples=15, deadline=None)
def test_no_product_is_above_the_bound(name, k, seed, scale):
    space, losses = SPACES[name]
    rng = np.random.default_rng(seed)
    problem = problem_of(space, losses[k], rng)
    scores = scale * rng.standard_normal((5, problem.n_seeing))
    scores = np.round(scores, 1) if seed % 3 == 0 else scores  # ties
    listed = SlackRescaling(problem)
    Z = listed.listed
    none = np.zeros(0)
    best = np.maximum(listed_products(problem, scores, none, Z).max(axis=1), 0.0)
    everyone = np.arange(5)
    check_vertices(problem, listed(scores, none, everyone), scores, none, best, exact=True)
    oracle = searched(problem)
    for _ in range(2):  # the second begins where the first ended
        found = oracle(scores, none, everyone)
        check_vertices(problem, found, scores, none, best, exact=False)


@pytest.mark.slow
@given(st.one_of(forests(), dags()), st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_bounds_hold_on_any_hierarchy(space, seed):
    rng = np.random.default_rng(seed)
    for loss in (HierarchicalLoss(), Hamming()):
        problem = problem_of(space, loss, rng)
        scores, none = rng.standard_normal((5, problem.n_seeing)), np.zeros(0)
        products = listed_products(problem, scores, none, space.enumerate())
        best = np.maximum(products.max(axis=1), 0.0)
        found = searched(problem)(scores, none, np.arange(5))
        check_vertices(problem, found, scores, none, best, exact=False)


@pytest.mark.slow
@given(st.integers(1, 7), st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 5.0]))
@settings(max_examples=60, deadline=None)
def test_label_sets_with_hamming_loss_are_exact(d, seed, scale):
    # For every number of wrong labels the best rival flips the one of least cost: all on the hull.
    rng = np.random.default_rng(seed)
    space = LabelSets(range(d))
    for loss in (Hamming(), ZeroOne()):
        problem = problem_of(space, loss, rng)
        scores, none = scale * rng.standard_normal((5, d)), np.zeros(0)
        products = listed_products(problem, scores, none, space.enumerate())
        best = np.maximum(products.max(axis=1), 0.0)
        found = searched(problem)(scores, none, np.arange(5))
        check_vertices(problem, found, scores, none, best, exact=True)


@given(st.integers(2, 5), st.integers(0, 10**6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_networks_with_scores_of_edges(d, seed, relaxed):
    rng = np.random.default_rng(seed)
    space = PairwiseLabels("full", labels=range(d))
    problem = problem_of(space, Hamming(), rng, kind=NetworkMargins, relaxed=relaxed)
    scores, constants = rng.standard_normal((5, d)), rng.standard_normal(d * (d - 1) // 2)
    products = listed_products(problem, scores, constants, space.enumerate())
    best = np.maximum(products.max(axis=1), 0.0)
    everyone = np.arange(5)
    listed = SlackRescaling(problem)(scores, constants, everyone)
    check_vertices(problem, listed, scores, constants, best, exact=True)
    found = searched(problem)(scores, constants, everyone)
    # A relaxation has more outputs than the space: then its own bound must be attained.
    best = np.maximum(best, found.bounds) if relaxed else best
    check_vertices(problem, found, scores, constants, best, exact=relaxed)


@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(0, 10**6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_chains_of_several_lengths(lengths, seed, bigrams):
    rng = np.random.default_rng(seed)
    outputs = np.full((len(lengths), max(lengths)), -1)
    for i, n in enumerate(lengths):
        outputs[i, :n] = rng.integers(2, size=n)
    space = Sequences("ab", (1, 4)).fit(["abab"])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    problem = ChainMargins(space, SequenceHamming(bigrams=0.5 * bigrams), outputs, starts)
    scores, constants = rng.standard_normal((starts[-1], 2)), rng.standard_normal(4)
    best = []
    for i, n in enumerate(lengths):
        words = Sequences("ab", n).fit(["a" * n]).enumerate()
        total = [chain_score(z, scores[starts[i] : starts[i + 1]], constants) for z in words]
        own = chain_score(outputs[i, :n], scores[starts[i] : starts[i + 1]], constants)
        losses = problem.loss.pairwise(words, outputs[i : i + 1, :n])[:, 0]
        best.append(max(0.0, np.max(losses * (1.0 + np.array(total) - own))))
    order = rng.permutation(len(lengths))
    rows = np.concatenate([np.arange(starts[i], starts[i + 1]) for i in order])
    found = searched(problem)(scores[rows], constants, order)
    totals = problem.totals((scores[rows] * found.directions).sum(axis=1), order)
    values = found.losses + totals + found.constants @ constants
    assert (found.bounds >= np.array(best)[order] - 1e-8).all()
    assert (values <= np.array(best)[order] + 1e-8).all()


def chain_score(z, scores, constants):
    return scores[np.arange(len(z)), z].sum() + constants.reshape(2, 2)[z[:-1], z[1:]].sum()


@given(
    st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0.1, 9), st.floats(0.1, 9),
    st.floats(0, 2), st.floats(0.5, 9), st.sampled_from([0.0, 0.25]),
)  # fmt: skip
def test_the_largest_product_under_two_lines(p, b, q, c, least, ceiling, step):
    lines = [tuple(np.array([x]) for x in line) for line in ((p, b), (q, c))]
    found = largest_product(*lines, np.array([least]), np.array([ceiling]), step)[0]
    losses = np.arange(0.0, 10.0, 0.25 if step else 1e-3)
    if not step and least <= ceiling:  # the grid may miss a short range
        losses = np.append(losses, [least, ceiling])
    losses = losses[(losses >= least) & (losses <= ceiling)]
    heights = np.minimum((b - losses) / p, (c - losses) / q)
    best = max(0.0, (losses * heights).max(initial=0.0))
    assert found >= best - 1e-9
    # A grid of 1/1000 may miss the best by a step times the slope.
    assert found <= best + (1e-9 if step else 0.2)


@pytest.mark.slow
def test_the_gap_of_a_learner_that_searches(monkeypatch):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 3)), rng.integers(0, 2, size=(30, 4))
    for loss in ("hamming", "f1"):
        model = StructuredSVM(
            LabelSets(), loss, rescaling="slack", alpha=0.1, tol=1e-4, random_state=0
        )
        exact = clone(model).fit(X, Y)
        with monkeypatch.context() as patch, warnings.catch_warnings():
            patch.setattr(slack, "list_of_outputs", lambda problem, most: None)
            warnings.simplefilter("ignore", ConvergenceWarning)
            searched = model.set_params(max_iter=30).fit(X, Y)
        assert searched.objective_ >= exact.dual_objective_
        assert searched.dual_objective_ <= exact.objective_
        if loss == "hamming":
            assert_allclose(searched.objective_, exact.objective_, rtol=1e-3)


def test_a_product_may_be_largest_inside_the_hull():
    # Outputs with (H, loss) = (1, 3), (1.9, 1.9) and (2.6, 1.25); the truth has (1, 0).
    loss = Listed(lambda z, y: 0.0 if z == y else {"a": 3.0, "b": 1.9, "c": 1.25, "y": 0.0}[z])
    space = Classes(list("abcy")).fit(list("abcy"))
    problem = MarginProblem(space, loss, np.array([3, 3, 3, 3]))
    scores = np.array([[0.0, 0.9, 1.6, 0.0]])
    exact = SlackRescaling(problem)(scores, np.zeros(0), np.array([0]))
    assert_allclose(exact.bounds, 1.9 * 1.9)
    found = searched(problem)(scores, np.zeros(0), np.array([0]))
    assert found.losses[0] != 1.9
    assert found.bounds[0] > 1.9 * 1.9


class Careless(LabelSets):
    """Test only: outputs of another row, with bounds that hold but are not sharp."""

    guarantee = Guarantee("bound only")

    def argmin(self, costs):
        right = super().argmin(costs)
        outputs = np.roll(right.outputs, 1, axis=0)
        return Decoded(outputs, (costs * outputs).sum(axis=1), right.bounds - 0.1)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
@settings(max_examples=40, deadline=None)
def test_bounds_hold_where_decoding_fails(seed, scale):
    rng = np.random.default_rng(seed)
    space = Careless(range(4))
    for loss in (Hamming(), Hamming(WEIGHTS)):
        problem = problem_of(space, loss, rng)
        scores, none = scale * rng.standard_normal((5, 4)), np.zeros(0)
        products = listed_products(problem, scores, none, space.enumerate())
        best = np.maximum(products.max(axis=1), 0.0)
        found = searched(problem)(scores, none, np.arange(5))
        check_vertices(problem, found, scores, none, best, exact=False)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_levels_of_losses(name, k):
    space, losses = SPACES[name]
    Z = space.enumerate()
    problem = MarginProblem(space, losses[k], Z)
    step, least = loss_levels(problem)
    values = problem.loss.pairwise(Z, Z).T  # shape: (truths, outputs)
    positive = np.where(values > 1e-12, values, np.inf).min(axis=1)
    assert (least <= positive + 1e-12).all()
    if step:
        assert_allclose(values / step, np.round(values / step), atol=1e-9)
    if isinstance(losses[k], (ZeroOne, FBeta)) and name == "label sets":
        assert_allclose(least[:-1], positive[:-1])  # sharp, but that nothing joins the full set
