# SPDX-License-Identifier: BSD-3-Clause
"""Where errors concentrate, flows in their networks, and names that are no formulas."""

import matplotlib
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot

from skstruct import ConditionalRiskMinimizer, StructuredPerceptron
from skstruct.datasets.generated_labels import random_dag_arcs
from skstruct.inspection import (
    FlowDisplay,
    HierarchyDisplay,
    HierarchyErrorsDisplay,
    RankingDisplay,
    SequenceDisplay,
    TourDisplay,
    TreeDisplay,
)
from skstruct.inspection.drawing import written
from skstruct.inspection.hierarchy_errors import outline, worst_labels
from skstruct.inspection.layout import network_layout
from skstruct.spaces import Flows, Hierarchy, LabelSets, Rankings
from skstruct.spaces.quantities.networks import read_network
from skstruct.spaces.solvers.dags import Dag

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 2))
TREE = Hierarchy([("a", "b"), ("a", "c"), ("b", "d")])


# ------------------------------------------------------------------ hierarchies
def test_errors_are_counted_label_by_label():
    Z, Y = TREE.sample(40, 0), TREE.sample(40, 1)
    display = HierarchyErrorsDisplay.from_predictions(TREE, Z, Y)
    for j in range(4):
        pairs = list(zip(Z[:, j].tolist(), Y[:, j].tolist()))
        expected = pairs.count((1, 1)), pairs.count((0, 1)), pairs.count((1, 0))
        assert (display.found[j], display.missed[j], display.false[j]) == expected
    names = [tick.get_text().strip() for tick in display.ax_.get_yticklabels()]
    assert names == ["a", "b", "d", "c"]  # an outline
    assert len(display.ax_.patches) == 3 * 4


def test_errors_of_a_learner():
    Y = TREE.sample(20, 0)
    model = StructuredPerceptron(TREE).fit(X, Y)
    display = HierarchyErrorsDisplay.from_estimator(model, X, Y)
    wrong = (np.asarray(model.predict(X)) != Y).sum()
    assert (display.missed + display.false).sum() == wrong
    with pytest.raises(ValueError, match="not Rankings"):
        HierarchyErrorsDisplay.from_predictions(Rankings("ab"), [[1, 2]], [[1, 2]])


@given(st.integers(1, 12), st.integers(0, 50), st.integers(1, 6))
def test_outlines_name_every_label_once_below_one_above_it(d, seed, most):
    rng = np.random.default_rng(seed)
    arcs = random_dag_arcs(d, rng)
    dag = Dag(d, arcs[:, 0], arcs[:, 1])
    lines = outline(dag, range(d))
    assert sorted(node for node, _, _ in lines) == list(range(d))
    depths, before = {}, []
    for node, depth, above in lines:
        assert (above in dag.parents_of[node]) if above >= 0 else not len(dag.parents_of[node])
        assert depth == (0 if above < 0 else depths[above] + 1)
        assert above < 0 or above in before
        depths[node] = depth
        before.append(node)
    errors = rng.integers(0, 5, d)
    kept = worst_labels(dag, errors, most)
    assert errors.argmax() in kept  # the first of those with most errors
    assert all(set(dag.parents_of[node]) <= set(kept.tolist()) for node in kept)


# ------------------------------------------------------------------ flows
ARCS = [("s", "a", 2.0), ("s", "b"), ("a", "t"), ("b", "t"), ("a", "b")]


def flows():
    return Flows(ARCS, {"s": 1.0, "t": -1.0}).fit([[0.5, 0.5, 0.5, 0.5, 0.0]])


def lines(display, name):
    return [line for line in display.ax_.lines if line.get_gid() == name]


def test_lines_are_as_broad_as_flows():
    flow, truth = [0.8, 0.2, 0.8, 0.2, 0.0], [0.4, 0.6, 0.2, 0.8, 0.2]
    display = FlowDisplay.from_predictions(flows(), flow, truth=truth)
    widths = np.array([line.get_linewidth() for line in lines(display, "predicted")])
    np.testing.assert_allclose(widths / widths[0], np.array(flow[:4]) / 0.8)  # none of no flow
    true = np.array([line.get_linewidth() for line in lines(display, "truth")])
    np.testing.assert_allclose(true / widths[0], np.array(truth) / 0.8)
    assert len(lines(display, "capacity")) == 1
    texts = {text.get_text() for text in display.ax_.texts}
    assert {"0.8 | 0.4", "0 | 0.2", "s", "a", "b", "t"} <= texts


def test_flows_of_a_learner_and_given_places():
    shares = RNG.random((20, 1))
    Y = np.hstack([shares, 1 - shares, shares, 1 - shares, 0 * shares])
    model = ConditionalRiskMinimizer(Flows(ARCS, {"s": 1.0, "t": -1.0}), alpha=0.5).fit(X, Y)
    coordinates = {"s": (0, 0), "a": (1, 1), "b": (1, -1), "t": (2, 0)}
    display = FlowDisplay.from_estimator(model, X[0], y=Y[0], coordinates=coordinates)
    np.testing.assert_allclose(display.flow, model.predict(X[:1])[0])
    np.testing.assert_allclose(display.truth, Y[0])
    with pytest.raises(ValueError, match="no coordinates of 't'"):
        FlowDisplay.from_predictions(flows(), Y[0], coordinates=dict.fromkeys("sab", (0, 0)))
    with pytest.raises(ValueError, match="two finite coordinates"):
        FlowDisplay.from_predictions(flows(), Y[0], coordinates=np.zeros((2, 2)))
    with pytest.raises(ValueError, match="not LabelSets"):
        FlowDisplay.from_predictions(LabelSets("ab"), [0, 1])


@given(st.integers(2, 9), st.integers(0, 30))
def test_arcs_lead_from_left_to_right_and_nodes_do_not_overlap(n, seed):
    arcs = random_dag_arcs(n, np.random.default_rng(seed))
    if not len(arcs):
        return
    network = read_network([tuple(arc) for arc in arcs.tolist()])
    at = network_layout(network)
    assert (at[network.tails, 0] < at[network.heads, 0]).all()
    apart = np.hypot(*(at[:, None] - at[None]).T)
    assert apart[~np.eye(len(at), dtype=bool)].min() >= 0.99


def test_networks_with_cycles_are_drawn_too():
    network = read_network([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    assert len(np.unique(network_layout(network).round(6), axis=0)) == 4


# ------------------------------------------------------------------ names
ODD = [r"$\frac{1}{", "$x$", r"\undefined", "a\x00b", "a\nb", "\u202ex", "", "\ufffe"]


@given(st.text(st.characters(), max_size=60), st.integers(5, 50))
def test_names_are_one_short_line_that_can_be_written(name, most):
    line = written(name, most)
    assert 0 < len(line) <= max(most, len(repr(name)))
    assert "\n" not in line
    assert "\x00" not in line
    line.encode("utf-8")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_drawn_as_they_are(name):
    """Drawn for real: a formula that cannot be read would raise."""
    other = Hierarchy([(name, "b"), (name, "c")])
    figure, axes = pyplot.subplots(2, 3, figsize=(6, 4))
    flat = axes.ravel()
    HierarchyDisplay(other.dag_, other.labels_, np.full(3, 0.5), np.ones(3)).plot(flat[0])
    HierarchyErrorsDisplay(other.dag_, other.labels_, *np.ones((3, 3), int)).plot(flat[1])
    RankingDisplay([name, "b"], np.full((2, 2), 0.5), np.array([1, 2])).plot(flat[2])
    SequenceDisplay([name, "b"], np.full((2, 2), 0.5), np.array([0, 1])).plot(flat[3])
    TourDisplay([name, "b", "c"], np.eye(3)[:, :2], [np.arange(3)]).plot(flat[4])
    TreeDisplay(nx.Graph([(name, "b")])).plot(flat[5])
    shown = {text.get_text() for text in figure.findobj(matplotlib.text.Text)}
    assert any(written(name, 24) in text for text in shown)
    network = read_network([(name, "b"), ("b", "c")])
    FlowDisplay(network, [1.0, 1.0]).plot().figure_.canvas.draw()
    figure.canvas.draw()
