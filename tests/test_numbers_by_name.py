# SPDX-License-Identifier: BSD-3-Clause
"""Numbers that come with names are read by them at every door, whatever their order."""

import inspect

import networkx
import numpy as np
import pandas as pd
import pytest

from skstruct import ConditionalRiskMinimizer, conformal, losses, model_selection, rankings, spaces
from skstruct.conformal import RiskControl
from skstruct.learners.max_margin.chow_liu import chow_liu_tree
from skstruct.losses import (
    L2L1,
    Absolute,
    Cauchy,
    ChiSquare,
    EpsilonInsensitive,
    Fair,
    Footrule,
    GemanMcClure,
    Hamming,
    HierarchicalLoss,
    Hinge,
    Huber,
    Logistic,
    Newsvendor,
    PiecewiseLinear,
    Pinball,
    PositionLoss,
    RootAbsolute,
    Scenarios,
    SequenceHamming,
    Spearman,
    Squared,
    SquaredHellinger,
    ZeroOne,
)  # fmt: skip
from skstruct.spaces import (
    BinaryPolytope,
    Box,
    Censored,
    Classes,
    Flows,
    GraphNodes,
    Hierarchy,
    Knapsacks,
    Known,
    LabelSets,
    Polytope,
    Portfolios,
    Rankings,
    Sequences,
    ShortestPaths,
    Targets,
)  # fmt: skip

ABC = ("a", "b", "c")
VALUES = (0.2, 0.5, 0.9)
SETS, TREE = LabelSets(ABC), Hierarchy([("a", "b"), ("a", "c")])
BOX, CLASSES, ITEMS = Box(0, 9, labels=ABC), Classes(ABC), Rankings(ABC)
SYMBOLS = Sequences(ABC).fit(["abc"])
NETWORK = [("a", "b"), ("b", "c"), ("a", "c"), ("b", "a"), ("c", "b"), ("c", "a")]
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
T = (X @ rng.normal(size=(2, 3)) + rng.normal(size=(60, 3)) > 0).astype(int)
FRAME = pd.DataFrame(T, columns=list(ABC))
LEARNER = ConditionalRiskMinimizer(SETS, smoother="kernel_ridge", alpha=1.0, cv=3).fit(X, T)
COVARIANCE = np.diag([1.0, 2.0, 3.0])
PORTFOLIOS = Portfolios(COVARIANCE, labels=ABC)


def fitted(space, at=0.3):
    return space.fit(np.full((4, 3), at))


def square(scale=1.0):
    return pd.DataFrame(np.eye(3) * scale, index=list(ABC), columns=list(ABC))


def opened(space):
    space.contains(np.zeros((1, 6)))  # what needs no fit is read when it is first asked for
    return space


def argmin_of(space):
    return space.argmin(np.array([[-1.0, -1.1, -1.2], [-1.2, -1.1, -1.0]])).outputs


def weighted(loss, space):
    return lambda w: loss(weights=w).bind(space).weights_


# (owner, parameter): what it makes of three numbers for a, b, c; tables have a column for each
ONE_EACH = {
    (Hamming, "weights"): weighted(Hamming, SETS),
    (Hamming, "miss"): lambda w: Hamming(miss=w).bind(SETS).miss_,
    (Hamming, "alarm"): lambda w: Hamming(alarm=w).bind(SETS).alarm_,
    (Hamming, "class_weight"): lambda w: Hamming(class_weight=w).bind(SETS).miss_,
    (HierarchicalLoss, "weights"): weighted(HierarchicalLoss, TREE),
    (SequenceHamming, "miss"): lambda w: SequenceHamming(miss=w).bind(SYMBOLS)(
        np.array([[0, 1, 2]]), np.array([[1, 2, 0]])
    ),
    (SequenceHamming, "alarm"): lambda w: SequenceHamming(alarm=w).bind(SYMBOLS)(
        np.array([[0, 0, 0]]), np.array([[1, 2, 1]])
    ),
    (SequenceHamming, "class_weight"): lambda w: SequenceHamming(class_weight=w).bind(SYMBOLS)(
        np.array([[0, 0, 0]]), np.array([[1, 2, 1]])
    ),
    (ZeroOne, "class_weight"): lambda w: ZeroOne(class_weight=w).bind(CLASSES).class_weight_,
    (Newsvendor, "underage"): lambda w: Newsvendor(underage=w).bind(BOX).underage_,
    (Newsvendor, "overage"): lambda w: Newsvendor(overage=w).bind(BOX).overage_,
    (Footrule, "item_weights"): lambda w: Footrule(item_weights=w).bind(ITEMS).weights_,
    (Spearman, "item_weights"): lambda w: Spearman(item_weights=w).bind(ITEMS).weights_,
    (PositionLoss, "item_weights"): lambda w: (
        PositionLoss(np.eye(3), item_weights=w).bind(ITEMS).weights_
    ),
    (PiecewiseLinear, "weights"): lambda w: (
        PiecewiseLinear([-1, 1], [0], weights=w).bind(BOX).weights_
    ),
    **{
        (loss, "weights"): weighted(loss, BOX)
        for loss in (
            L2L1, Absolute, Cauchy, ChiSquare, EpsilonInsensitive, Fair, GemanMcClure, Hinge, Huber,
            Logistic, Pinball, RootAbsolute, Squared, SquaredHellinger,
        )
    },
    (LabelSets, "propensity"): lambda w: Targets.of(LabelSets(ABC, propensity=w)).propensities(),
    (Hierarchy, "propensity"): lambda w: Targets.of(
        Hierarchy(TREE.edges, propensity=w)
    ).propensities(),
    (RiskControl, "weights"): lambda w: (
        RiskControl(LEARNER, 0.2, weights=of_each(w, lambda v: v**6)).calibrate(X, T).thresholds_
    ),
    ("predict", "threshold"): lambda w: LEARNER.predict(X, threshold=w),
    (Box, "low"): lambda w: fitted(Box(w, 9, labels=ABC), 5.0).low_,
    (Box, "high"): lambda w: fitted(Box(0, w, labels=ABC), 0.1).high_,
    (Portfolios, "low"): lambda w: fitted(
        Portfolios(COVARIANCE, low=of_each(w, lambda v: v / 4), labels=ABC)
    ).low_,
    (Portfolios, "high"): lambda w: fitted(Portfolios(COVARIANCE, high=w, labels=ABC)).high_,
    (Flows, "supply"): lambda w: opened(Flows(NETWORK, centred(w))).supply_,
    (Knapsacks, "weights"): lambda w: Knapsacks(w, 1.0, labels=ABC).weights_,
    (Knapsacks, "capacity"): lambda w: argmin_of(
        Knapsacks(square(), w)
        .restrict(max_size=1)
    ) + Knapsacks(square(0.4), w)
    .argmin(-np.ones((1, 3))).outputs,
    (GraphNodes, "masses"): lambda w: (
        GraphNodes(networkx.path_graph(ABC), masses=w).fit(["a"]).masses_
    ),
    (Polytope, "b_ub"): lambda w: Polytope(
        A_ub=square(), b_ub=w, bounds=(0, 1)
    ).argmin(-np.ones((1, 3))).outputs,
    (Polytope, "b_eq"): lambda w: Polytope(
        A_eq=square(), b_eq=w, bounds=(0, 1)
    ).argmin(-np.ones((1, 3))).outputs,
    (BinaryPolytope, "b_ub"): lambda w: BinaryPolytope(
        square(0.4), w
    ).argmin(-np.ones((1, 3))).outputs,
    (BinaryPolytope, "b_eq"): lambda w: BinaryPolytope(
        A_eq=square(), b_eq=above(w)
    ).argmin(-np.ones((1, 3))).outputs,
    (Polytope, "bounds"): lambda w: Polytope(
        bounds=pairs(w), labels=ABC
    ).fit(np.full((2, 3), 0.1)).argmin(-np.ones((1, 3))).outputs,
    ("restrict", "low"): lambda w: fitted(Box(0, 9, labels=ABC)).restrict(low=w)
    .argmin(np.ones((1, 3))).outputs,
    ("restrict", "high"): lambda w: fitted(Box(0, 9, labels=ABC)).restrict(high=w)
    .argmin(-np.ones((1, 3))).outputs,
    ("restrict", "supply"): lambda w: (
        Flows(NETWORK, [1, 0, -1]).restrict(supply=centred(w)).constraints_.constraints.b_eq
    ),
    ("restrict", "capacity"): lambda w: Knapsacks(
        square(0.4), [1, 1, 1]
    ).restrict(capacity=w).argmin(-np.ones((1, 3))).outputs,
    ("restrict", "b_ub"): lambda w: Polytope(
        A_ub=square(), b_ub=[1, 1, 1],
        bounds=(0, 1),
    ).restrict(b_ub=w).argmin(-np.ones((1, 3))).outputs,
    ("restrict", "b_eq"): lambda w: Polytope(
        A_eq=square(), b_eq=[1, 1, 1],
        bounds=(0, 1),
    ).restrict(b_eq=w).argmin(-np.ones((1, 3))).outputs,
    ("restrict", "bounds"): lambda w: Polytope(bounds=(0, 1), labels=ABC)
    .fit(np.full((2, 3), 0.1)).restrict(bounds=pairs(w)).argmin(-np.ones((1, 3))).outputs,
    ("restrict", "positions"): lambda w: Rankings(ABC)
    .restrict(positions=of_each(w, lambda v: 1 + VALUES.index(v)))
    .argmin(np.zeros((1, 9))).outputs,
    ("restrict", "include"): lambda w: (
        SETS.restrict(include=above(w)).argmin(np.ones((1, 3))).outputs
    ),
    ("restrict", "exclude"): lambda w: (
        SETS.restrict(exclude=above(w)).argmin(-np.ones((1, 3))).outputs
    ),
    ("propensity_scored_precision_at", "propensities"): lambda w: (
        model_selection.propensity_scored_precision_at(
            LEARNER.predict_marginals(X) if isinstance(w, list) else
            pd.DataFrame(LEARNER.predict_marginals(X), columns=list(ABC)), T, propensities=w
        )
    ),
}  # fmt: skip


def of_each(given, function):
    """The same form with other values."""
    if isinstance(given, dict):
        return {name: function(v) for name, v in given.items()}
    if isinstance(given, pd.Series):
        return pd.Series([function(v) for v in given], index=given.index)
    if isinstance(given, pd.DataFrame):
        return given.apply(lambda column: [function(v) for v in column])
    return np.array([function(v) for v in given])


def centred(given):
    """Numbers that add up to zero."""
    return of_each(given, lambda v: v - sum(VALUES) / 3)


def above(given):
    return of_each(given, lambda v: v > 0.4)


def pairs(given):
    found = of_each(given, lambda v: (0.0, v)) if not isinstance(given, list) else None
    return [(0.0, v) for v in given] if found is None else found


FORMS = {
    "dict": lambda values: dict(zip(ABC[::-1], values[::-1])),
    "series": lambda values: pd.Series(values[::-1], index=list(ABC[::-1])),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("door", ONE_EACH, ids=str)
def test_numbers_are_read_by_name_in_any_order(door, form):
    read = ONE_EACH[door]
    expected = read(list(VALUES))
    assert np.array_equal(read(FORMS[form](VALUES)), expected)
    turned = read(list(VALUES[::-1]))
    assert not np.array_equal(turned, expected)  # the door is one at which order matters


@pytest.mark.parametrize("door", ONE_EACH, ids=str)
def test_names_that_are_not_there_are_refused(door):
    with pytest.raises(ValueError, match="'z'"):
        ONE_EACH[door](pd.Series(VALUES, index=["a", "b", "z"]))


def test_a_series_without_names_of_its_own_is_told_how_to_come_by_position():
    with pytest.raises(ValueError, match="Numbers by position are a list or an array"):
        LEARNER.predict(X, threshold=pd.Series(VALUES))


# ---------------------------------------------------------------------- every door is there
NUMBERS = {
    "weights", "miss", "alarm", "class_weight", "underage", "overage", "item_weights", "propensity",
    "propensities", "low", "high", "supply", "masses", "capacity", "b_ub", "b_eq", "bounds",
    "positions", "threshold", "include", "exclude",
}  # fmt: skip
WITHOUT_NAMES = {  # numbers of rows, of a single column, or a name of an attribute
    (conformal.RiskControl, "level"), (losses.ConditionalValueAtRisk, "mean_weight"),
    (losses.SeparableLoss, "weights"), (spaces.Interval, "low"), (spaces.Interval, "high"),
    (spaces.Censored, "low"), (spaces.Censored, "high"), (Flows, "capacity"),
    (spaces.Decoded, "bounds"), (spaces.Simplex, "bounds"),
}  # fmt: skip


def doors():
    """Parameters of public classes that take a number for each name, by what they are called."""
    for module in (spaces, losses, conformal):
        for name in module.__all__:
            kind = getattr(module, name)
            if inspect.isclass(kind) and kind.__init__ is not object.__init__:
                for parameter in NUMBERS & set(inspect.signature(kind.__init__).parameters):
                    yield kind, parameter


def test_every_constructor_with_numbers_by_name_is_tried():
    untried = set(doors()) - set(ONE_EACH) - WITHOUT_NAMES
    assert untried == set()


def test_every_restriction_with_numbers_by_name_is_tried():
    kinds = (getattr(spaces, name) for name in spaces.__all__)
    restrictions = (kind.restrict for kind in kinds if hasattr(kind, "restrict"))
    taken = {name for one in restrictions for name in inspect.signature(one).parameters}
    assert {name for owner, name in ONE_EACH if owner == "restrict"} == NUMBERS & taken


# ---------------------------------------------------------------------- frames
KNOWN = pd.DataFrame(rng.random(T.shape) < 0.6, columns=list(ABC))
KNOWN["b"] |= ~KNOWN.any(axis=1)
RANKS = pd.DataFrame(
    rng.normal(size=T.shape).argsort(axis=1).argsort(axis=1) + 1.0, columns=list(ABC)
)
NUMBERS_OF = pd.DataFrame(rng.normal(size=T.shape), columns=list(ABC))
CLOSED = FRAME.assign(b=FRAME["a"] * FRAME["b"], c=FRAME["a"] * FRAME["c"])
SCORES = pd.DataFrame(rng.random(T.shape), columns=list(ABC))
ARCS = [("s", "a"), ("s", "b"), ("a", "t"), ("b", "t")]
PATHS = ShortestPaths(ARCS, "s", "t")
COSTS = pd.DataFrame(rng.random((60, 4)), columns=pd.Index(ARCS, tupleize_cols=False))
HIDDEN = COSTS.mask(rng.random(COSTS.shape) < 0.1)


def fit(space, Y, known, loss=None):
    model = ConditionalRiskMinimizer(space, loss, smoother="kernel_ridge", alpha=1.0)
    return np.asarray(model.fit(X, Y, known=known).decode(X[:5]).values)


def limits(low, high):
    space = Box(labels=ABC)
    Known.of(space).read(Censored(low, high))
    return np.stack([space.low_, space.high_])


# what is made of a frame whose columns come in any order, and of its like in the order of fit
TABLES = {
    "known of a frame": lambda known: fit(LabelSets(), FRAME, known),
    "known of an array": lambda known: fit(LabelSets(ABC), T, known),
    "known of names": lambda known: fit(
        LabelSets(ABC), [[n for n, v in zip(ABC, row) if v] for row in T], known
    ),
    "known of a hierarchy": lambda known: fit(TREE, CLOSED, known),
    "known of quantities": lambda known: fit(Box(), NUMBERS_OF, known),
    "known of an array of quantities": lambda known: fit(
        Box(labels=ABC), NUMBERS_OF.to_numpy(), known
    ),
    "known of rankings": lambda known: fit(Rankings(), RANKS, known),
    "known of an array of ranks": lambda known: fit(Rankings(ABC), RANKS.to_numpy(), known),
    "known in score": lambda known: LEARNER.score(X, FRAME, known=known),
    "known in evaluate": lambda known: model_selection.evaluate(
        LEARNER, X, FRAME, known=known, n_bootstrap=1
    )[0].mean,
    "known in a measure": lambda known: model_selection.micro_average_precision(
        SCORES, FRAME, known=known
    ),
    "known in F": lambda known: model_selection.hierarchical_f(FRAME, CLOSED, known=known),
}  # fmt: skip


@pytest.mark.parametrize("door", TABLES)
def test_known_is_read_by_name(door):
    expected = TABLES[door](KNOWN.to_numpy())
    assert np.array_equal(TABLES[door](KNOWN[["c", "a", "b"]]), expected)
    assert not np.array_equal(TABLES[door](KNOWN[["c", "a", "b"]].to_numpy()), expected)
    with pytest.raises(ValueError, match="'z'"):
        TABLES[door](KNOWN.rename(columns={"a": "z"}))


SIDES = {
    "scores": lambda Y: model_selection.macro_average_precision(SCORES, Y),
    "ranking of labels": lambda Y: model_selection.label_ranking_average_precision(SCORES, Y),
    "area": lambda Y: model_selection.area_under_prc(SCORES, Y),
    "precision at": lambda Y: model_selection.precision_at(SCORES, Y, 2),
    "thresholds": lambda Y: model_selection.best_thresholds(SCORES, Y, by="label")[0],
    "sets": lambda Y: model_selection.hierarchical_f(FRAME, Y),
    "dependence tree": lambda Y: sorted(chow_liu_tree(Y, ABC).edges),
    "mask": lambda Y: SETS.restrict(include=Y).argmin(np.ones((60, 3))).outputs,
}


@pytest.mark.parametrize("door", SIDES)
def test_truth_is_read_by_name(door):
    expected = SIDES[door](CLOSED)
    assert np.array_equal(SIDES[door](CLOSED[["c", "a", "b"]]), expected)
    with pytest.raises(ValueError, match="'z'"):
        SIDES[door](CLOSED.rename(columns={"a": "z"}))


def test_other_tables_are_read_by_name():
    turned = ["c", "a", "b"]
    tau = rankings.kendall_tau(RANKS, RANKS[turned])
    assert np.array_equal(tau, np.ones(60))
    assert rankings.orders_from_ranks(RANKS[turned], ABC) == rankings.orders_from_ranks(
        RANKS.to_numpy(), ABC
    )
    both = limits(NUMBERS_OF - 1, NUMBERS_OF[turned] + 1)
    assert np.array_equal(both, limits(NUMBERS_OF.to_numpy() - 1, NUMBERS_OF.to_numpy() + 1))
    A = pd.DataFrame([[1.0, 2.0, 3.0]], columns=list(ABC))
    costs = np.array([[-1.0, -3.0, -2.0]])
    for kind, more in ((Polytope, {"bounds": (0, 1)}), (BinaryPolytope, {})):
        alike = [kind(A_ub=M, b_ub=[3.0], labels=ABC, **more) for M in (A, A[turned], A.to_numpy())]
        first, *others = [space.argmin(costs).outputs for space in alike]
        assert all(np.array_equal(first, other) for other in others)
    knapsacks = [Knapsacks(M, 3.0, labels=ABC).argmin(costs).outputs for M in (A, A[turned])]
    assert np.array_equal(*knapsacks)
    S = pd.DataFrame(COVARIANCE, index=list(ABC), columns=list(ABC))
    kept = [fitted(Portfolios(M, labels=ABC)).covariance_ for M in (S, S.loc[turned, turned[::-1]])]
    assert np.array_equal(*kept)


@pytest.mark.parametrize("Y", [COSTS, HIDDEN], ids=["whole", "with gaps"])
def test_costs_are_read_by_the_names_of_arcs(Y):
    def model(costs):
        found = ConditionalRiskMinimizer(PATHS, "regret", smoother="kernel_ridge", alpha=1.0)
        return found.fit(X, costs)

    expected = model(Y)
    assert np.array_equal(model(Y.iloc[:, ::-1]).decode(X).values, expected.decode(X).values)
    assert expected.score(X, Y.iloc[:, ::-1]) == expected.score(X, Y)
    mask = pd.DataFrame(Y.notna().to_numpy(), columns=Y.columns).iloc[:, [2, 0, 3, 1]]
    hidden = ConditionalRiskMinimizer(PATHS, "regret", smoother="kernel_ridge", alpha=1.0)
    hidden.fit(X, COSTS.to_numpy(), known=mask)
    assert np.allclose(hidden.decode(X).values, expected.decode(X).values)


def test_costs_of_columns_that_are_no_arcs_are_refused():
    texts = COSTS.set_axis(["sa", "sb", "at", "bt"], axis=1)
    model = ConditionalRiskMinimizer(PATHS, "regret", smoother="kernel_ridge", alpha=1.0)
    with pytest.raises(ValueError, match="Costs of ShortestPaths: y names 'sa'; known are"):
        model.fit(X, texts)
    plain = model.fit(X, COSTS.to_numpy())
    with pytest.raises(ValueError, match="y names 'sa'"):
        plain.score(X, texts)
    with pytest.raises(ValueError, match="y names 'sa'"):
        model_selection.regrets(PATHS, plain.predict(X), texts)
    assert plain.score(X, pd.DataFrame(COSTS.to_numpy())) == plain.score(X, COSTS)


def test_scenarios_with_several_columns_need_their_names():
    def cost(z, Y):
        return np.abs(z[0] - Y[:, 0]) + Y[:, 1]

    def model(**named):
        loss = Scenarios(cost, candidates=[[0.0], [1.0]], **named)
        return ConditionalRiskMinimizer(Box(0, 1, labels=["z"]), loss, smoother="kernel_ridge",
                                        alpha=1.0)  # fmt: skip

    frame = NUMBERS_OF[["a", "b"]]
    named = model(columns=["a", "b"]).fit(X, frame[["b", "a"]])
    assert named.score(X, frame) == model().fit(X, frame.to_numpy()).score(X, frame.to_numpy())
    with pytest.raises(ValueError, match="y has names"):
        model().fit(X, frame)
