# SPDX-License-Identifier: BSD-3-Clause
"""Decoders on a device give the answers of those on the host, ties included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct._arrays.checks import snap
from skstruct.backends import backend_for
from skstruct.learners import ConditionalRiskMinimizer
from skstruct.learners.problem import risk_problem
from skstruct.losses import (
    F1,
    BaseLoss,
    BilinearForm,
    CostMatrix,
    FBeta,
    Footrule,
    Form,
    Hamming,
    HierarchicalLoss,
    Listed,
    PositionLoss,
    SequenceHamming,
    Spearman,
    ZeroOne,
)
from skstruct.spaces import Candidates, Classes, Hierarchy, LabelSets, Rankings, Sequences, Solving
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.solvers.dags import forest_closed_sets
from strategies import closed_sets, forests, subsets, total_orders

torch = pytest.importorskip("torch")
from skstruct.learners.on_device import (  # noqa: E402
    decide_on_device,
    device_decider,
)
from skstruct.spaces.solvers import on_device  # noqa: E402

BACKEND = backend_for("cpu")
few = st.integers(-2, 2).map(float)  # few numbers: many ties


@st.composite
def cost_rows(draw, d, max_rows=4):
    row = st.lists(few, min_size=d, max_size=d)
    return np.array(draw(st.lists(row, min_size=1, max_size=max_rows)))


@pytest.mark.slow
@settings(deadline=None, max_examples=200)
@given(
    scale=st.floats(0.0, 1e300), shares=st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=5),
)  # fmt: skip
def test_snap_is_that_of_the_host(scale, shares):
    costs, scales = np.array([shares]) * scale, np.array([scale])
    found = on_device.snap(torch.tensor(costs), torch.tensor(scales)).numpy()
    assert_array_equal(found, snap(costs.copy(), scales))


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 2.3e-308, 1e-300, 0.0, 1.0, 1.5e308])
def test_snap_at_the_ends_of_the_numbers(scale):
    costs, scales = np.array([[0.3, -1.0, 1e-3]]) * scale, np.array([scale])
    found = on_device.snap(torch.tensor(costs), torch.tensor(scales)).numpy()
    assert_array_equal(found, snap(costs.copy(), scales))


@settings(deadline=None)
@given(space=forests(), data=st.data())
def test_forests(space, data):
    costs = data.draw(cost_rows(space.dag_.n_nodes))
    forest = on_device.Forest(space.dag_, BACKEND.device)
    outputs, values = (part.numpy() for part in forest.closed_sets(torch.tensor(costs)))
    host_outputs, host_values = forest_closed_sets(costs, space.dag_)
    assert_array_equal(outputs, host_outputs)
    assert_array_equal(values, host_values)
    assert_array_equal(values, (costs @ closed_sets(space).T).min(axis=1))
    assert outputs.dtype == np.int8


@settings(deadline=None)
@given(d=st.integers(1, 5), top=st.integers(1, 5) | st.none(), data=st.data())
def test_sorts(d, top, data):
    top = None if top is None else min(top, d)
    costs = data.draw(cost_rows(d))
    ranks, values = (part.numpy() for part in on_device.sorted_ranks(torch.tensor(costs), top))
    space = Rankings(range(d), embedding="ranks")
    host = (space if top is None else space.restrict(top=top)).argmin(costs)
    assert_array_equal(ranks, host.outputs)
    assert_array_equal(values, host.values)
    if top is None:
        assert_array_equal(values, (costs @ total_orders(d).T).min(axis=1))


@given(d=st.integers(1, 5), data=st.data())
def test_thresholds(d, data):
    costs = data.draw(cost_rows(d))
    outputs, values = (part.numpy() for part in on_device.threshold(torch.tensor(costs)))
    assert_array_equal(outputs, LabelSets(range(d)).argmin(costs).outputs)
    assert_array_equal(values, (costs @ subsets(d).T).min(axis=1))


@given(d=st.integers(1, 5), data=st.data())
def test_first_among_equals(d, data):
    costs = data.draw(cost_rows(d))
    best, values = (part.numpy() for part in on_device.min_cost(torch.tensor(costs)))
    assert_array_equal(best, costs.argmin(axis=1))
    assert_array_equal(values, costs.min(axis=1))


# ---------------------------------------------------------------------- whole problems
def sets(rng, n=12, d=4):
    Y = (rng.random((n, d)) < 0.4).astype(np.int8)
    Y[:, 2] = 0  # a label that never occurs
    return Y


def words(rng):
    return ["".join(rng.choice(list("abc"), length)) for length in rng.integers(2, 5, 12)]


def orders(rng):
    return rng.permuted(np.ones((12, 1)) * [1, 2, 3, 4], axis=1)


TREE = Hierarchy([(0, 1), (0, 2), (1, 3)], labels=range(4))
CASES = {
    "classes": (Classes(), ZeroOne(), lambda rng: rng.integers(0, 4, 12), None),
    "costs of classes": (
        Classes(), Listed(lambda z, y: (z - y) ** 2), lambda rng: rng.integers(0, 4, 12), None,
    ),
    "balanced classes": (
        Classes(), ZeroOne(class_weight="balanced"), lambda rng: rng.integers(0, 4, 12), None,
    ),
    "table of costs": (
        Classes(), CostMatrix(np.arange(16).reshape(4, 4) % 7), lambda rng: np.arange(12) % 4, None,
    ),
    "candidates": (Classes(), ZeroOne([1, 2]), lambda rng: np.arange(12) % 4, None),
    "objects": (Candidates(["a", "b"]), ZeroOne(), lambda rng: list("abcabcabcabc"), None),
    "label sets": (LabelSets(), Hamming(), sets, None),
    "weighted labels": (LabelSets(), Hamming([1.0, 2.0, 0.0, 0.5], normalize=True), sets, None),
    "costs of labels": (LabelSets(), Hamming(miss=[5, 1, 0, 2], alarm=[1, 2, 3, 0]), sets, None),
    "balanced labels": (LabelSets(), Hamming(class_weight="balanced"), sets, None),
    "known labels": (LabelSets(range(4)), Hamming(), sets, {"include": [1], "exclude": [3]}),
    "listed sets": (LabelSets(range(4)), ZeroOne(), sets, None),
    "listed candidates": (  # one of them was never seen
        LabelSets(range(4)), ZeroOne([[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 0, 0]]), sets, None,
    ),
    "listed and limited": (LabelSets(range(4)), ZeroOne(), sets, {"max_size": 1}),
    "tree": (TREE, HierarchicalLoss(), lambda rng: TREE.sample(12, rng), None),
    "costs in a tree": (
        TREE, Hamming(miss=5, alarm=2), lambda rng: TREE.sample(12, rng), None,
    ),
    "tree by Hamming": (TREE, Hamming(), lambda rng: TREE.sample(12, rng), None),
    "limited tree": (
        TREE, HierarchicalLoss("uniform"), lambda rng: TREE.sample(12, rng),
        {"include": [1], "exclude": [2]},
    ),
    "ranks": (Rankings(), Spearman(), orders, None),
    "top ranks": (Rankings(), Spearman(), orders, {"top": 2}),
    "positions": (Rankings(), Footrule(), orders, None),
    "weighted items": (Rankings(range(4)), Footrule(item_weights=[1, 0, 2, 3]), orders, None),
    "weighted positions": (Rankings(), Spearman(position_weights=[3, 2, 1]), orders, None),
    "table of positions": (
        Rankings(), PositionLoss(np.arange(16).reshape(4, 4) % 5), orders, None,
    ),
    "first positions": (Rankings(), Footrule(top=2), orders, None),
    "symbols": (Sequences("abc"), SequenceHamming(), words, None),
    "costs of symbols": (
        Sequences("abc"), SequenceHamming(miss=[1, 5, 2], alarm=[1, 0.5, 3]), words, None,
    ),
    "bigrams": (Sequences("abc"), SequenceHamming(bigrams=0.5), words, None),
    "costs of bigrams": (
        Sequences("abc"), SequenceHamming(2.0, class_weight={"a": 2, "b": 3, "c": 1}), words, None,
    ),
    "open lengths": (Sequences("abc", length=(0, 4)), SequenceHamming(1.0), words, None),
    "limited symbols": (
        Sequences("abc", length=(0, 4)), SequenceHamming(), words,
        {"known": {1: "b"}, "length": (1, 3)},
    ),
    "limited bigrams": (
        Sequences("abc", length=(0, 4)), SequenceHamming(1.0), words,
        {"known": {1: "b"}, "forbidden": [("a", "b"), ("b", "c")]},
    ),
    "forbidden steps": (
        Sequences("abc"), SequenceHamming(), words, {"forbidden": [("a", "b"), ("c", "c")]},
    ),
    "ends": (
        Sequences("abc", length=(1, 4)), SequenceHamming(), words,
        {"forbidden": [(None, "a"), ("b", None)]},
    ),
    "sets by F1": (LabelSets(range(4)), F1(), sets, None),
    "sets by F2": (LabelSets(range(4)), FBeta(2.0), sets, None),
    "known labels by F1": (
        LabelSets(range(4)), F1(), sets, {"include": [1], "exclude": [3]},
    ),
    "sizes by F1": (LabelSets(range(4)), F1(), sets, {"min_size": 2, "max_size": 3}),
    "all by F1": (LabelSets(range(2)), F1(), lambda rng: sets(rng)[:, :2], {"include": [0, 1]}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), coarse=st.booleans())
def test_decisions_are_those_of_the_host(case, seed, coarse):
    space, loss, outputs, restrict = CASES[case]
    rng = np.random.default_rng(seed)
    Y = outputs(rng)
    space = space.fit(Y)
    problem = risk_problem(space, loss, space.validate(Y)).restricted(restrict)
    means = rng.standard_normal((9, problem.targets().shape[1]))
    if coarse:  # ties
        means = rng.integers(-1, 2, means.shape).astype(float)
    expected = problem.decode(means)
    found = device_decider(problem, BACKEND)(torch.tensor(means))
    # F measures are decided by other sums on the host: of sets that are equally good, the rounding
    # of costs to 2^-30 of their size takes either.
    other = Form.of(problem.loss).decides_from_means(problem.space)
    if not (other and coarse):
        assert_array_equal(found.outputs, expected.outputs)
    assert found.outputs.dtype == expected.outputs.dtype
    rounding = 1e-7 if other else 1e-12  # a bound that meets its value is rounded as it is
    assert_allclose(found.values, expected.values, atol=rounding)
    assert_allclose(found.bounds, expected.bounds, atol=rounding)


def test_costs_below_the_noise_of_large_means():
    """A label of weight zero has a huge mean: what is left of the others is rounding."""
    space = LabelSets(range(2)).fit([[0, 1]])
    problem = risk_problem(space, Hamming([1.0, 0.0]), np.array([[0, 1]]))
    means = np.array([[1e-3, 1e9, 1e-4]])
    expected = problem.decode(means)
    assert expected.outputs[0, 0] == 0
    found = device_decider(problem, BACKEND)(torch.tensor(means))
    assert_array_equal(found.outputs, expected.outputs)


def test_what_the_host_decides():
    rng = np.random.default_rng(0)
    Y, R = sets(rng), orders(rng)
    dag = Hierarchy([(0, 2), (1, 2)], labels=range(3))
    cases = [
        (LabelSets(range(4)), FBeta(independent=True), Y, None),
        (LabelSets(range(4)), "f1", Y, {"exclusive": [[0, 1]]}),
        (LabelSets(range(4)), "f1", Y, {"min_size": 3, "exclude": [0, 1]}),
        (LabelSets(range(4)), "f1", Y, {"exclude": [[1], [2]]}),
        (TREE, "f1", TREE.sample(12, rng), None),
        (LabelSets(range(4)), "hamming", Y, {"max_size": 2}),
        (LabelSets(range(4)), "hamming", Y, {"exclude": [[1], [2]]}),
        (LabelSets(range(4)), "hamming", Y, {"include": [1], "exclude": [1]}),
        (TREE, "hierarchical", TREE.sample(12, rng), {"one_path": True}),
        (dag, "hamming", dag.sample(12, rng), None),
        (Rankings(), "kendall", R, None),
        (Rankings(range(4)), Footrule(), R, {"top": 2}),
        (Sequences("ab", length=3), "hamming", ["aba", "bab"], {"known": [{0: "a"}, {0: "b"}]}),
        (
            Sequences("ab", length=3),
            "hamming",
            ["aba", "bab"],
            {"known": {0: "a"}, "forbidden": [("a", "a"), ("a", "b")]},
        ),
        (Rankings(range(4)), "spearman", R, {"before": [(1, 0)]}),
    ]
    from skstruct.losses import resolve_loss

    for space, loss, outputs, restrict in cases:
        space = space.fit(outputs)
        problem = risk_problem(space, resolve_loss(loss), space.validate(outputs))
        assert device_decider(problem.restricted(restrict), BACKEND) is None


class Corners(BaseSpace):
    """A space of somebody else: one of the four corners of a square, psi their coordinates."""

    def validate(self, Y):
        return np.asarray(Y, dtype=np.int8)

    def restore(self, Z, index=None):
        return np.asarray(Z)

    def embed(self, Z):
        return np.asarray(Z, dtype=float)

    def contains(self, Z):
        return np.isin(Z, (-1, 1)).all(axis=1)

    def argmin(self, costs):
        outputs, values = np.where(costs > 0, -1, 1).astype(np.int8), -np.abs(costs).sum(axis=1)
        return Decoded(outputs, values, values)


class SolvingOfCorners(Solving):
    def tensor_argmin(self, backend):
        def argmin(costs):
            outputs = torch.where(costs > 0, -1, 1).to(torch.int8)
            return backend.to_host(outputs), -costs.abs().sum(1)

        return argmin


Solving.at(Corners, SolvingOfCorners)


class Sides(BaseLoss):
    """Coordinates that differ: (2 - <z, y>) / 2, and some more that no output changes."""

    def __call__(self, Y_pred, Y_true):
        return (Y_pred != Y_true).sum(axis=1) + 1.0

    def cost(self, g, total):
        return -0.5 * g

    def offset(self, g, total):
        return 2.0 * total[:, 0]


class FormOfSides(Form):
    def numbers(self, width):
        return BilinearForm(-0.5 * np.eye(width), np.zeros(width), np.zeros(width), 2.0)


Form.at(Sides, FormOfSides)


def test_a_space_and_a_loss_from_elsewhere():
    """Whoever brings the methods is decoded on the device, with the answers of the host."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    Y = np.where(X[:, :2] + 0.3 * rng.standard_normal((60, 2)) > 0, 1, -1)
    model = ConditionalRiskMinimizer(Corners(), Sides(), alpha=0.1).fit(X, Y)
    new = rng.standard_normal((40, 3))
    found = decide_on_device(model.problem_, model.smoother_, new, BACKEND)
    expected = model.decode(new)
    assert_array_equal(found.outputs, expected.outputs)
    assert_allclose(found.values, expected.values, atol=1e-12)


def test_methods_that_a_child_has_left_behind():
    """Another argmin or cost without its twin for tensors: the host decides."""

    class Opposite(Corners):
        def argmin(self, costs):
            return super().argmin(-costs)

    class Doubled(Sides):
        def cost(self, g, total):
            return 2.0 * super().cost(g, total)

    Y = np.array([[1, -1], [1, 1]])
    for space, loss in ((Opposite(), Sides()), (Corners(), Doubled())):
        assert device_decider(risk_problem(space, loss, Y), BACKEND) is None
    assert device_decider(risk_problem(Corners(), Sides(), Y), BACKEND) is not None


def test_means_that_are_not_finite():
    problem = risk_problem(Classes().fit([0, 1, 2]), ZeroOne(), np.arange(3))
    means = torch.full((1, 4), torch.nan, dtype=torch.float64)
    with pytest.raises(ValueError, match="not finite"):
        device_decider(problem, BACKEND)(means)


@pytest.mark.parametrize("tensor", [False, True])
def test_predictions_are_those_of_the_host(tensor):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    Y = (X @ rng.standard_normal((3, 5)) > 0).astype(np.int8)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", alpha=0.1).fit(X, Y)
    new = rng.standard_normal((50, 3))
    expected = model.decode(new)
    given = torch.tensor(new) if tensor else new
    found = decide_on_device(model.problem_, model.smoother_, given, BACKEND, memory=20_000)
    assert_array_equal(found.outputs, expected.outputs)
    assert_allclose(found.values, expected.values, atol=1e-12)


def test_smoothers_that_stay_on_the_host():
    from skstruct.smoothing import Learning, Neighbors

    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 2)), sets(rng, 20)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=Neighbors(3)).fit(X, Y)
    assert decide_on_device(model.problem_, model.smoother_, X, BACKEND) is None
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", kernel=np.inner, alpha=1.0).fit(X, Y)
    assert Learning.of(model.smoother_).on_device(BACKEND, "1GB") is None


def test_smoothers_with_tensors_of_their_own():
    from skstruct.smoothing import Learning

    class Smoother:
        pass

    class OnDevice(Learning):
        def on_device(self, backend, memory):
            return lambda X: backend.asarray(X, "float32").double(), 0

    Learning.at(Smoother, OnDevice)

    problem = risk_problem(Classes().fit([0, 1, 2]), ZeroOne(), np.arange(3))
    X = np.array([[0.1, 0.7, 0.2, 1.0], [0.5, 0.1, 0.4, 1.0]])
    found = decide_on_device(problem, Smoother(), X, BACKEND)
    assert_array_equal(found.outputs, [1, 0])
    assert_allclose(found.values, [0.3, 0.5], atol=1e-6)
