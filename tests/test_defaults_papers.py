# SPDX-License-Identifier: BSD-3-Clause
"""What papers/defaults.py judges, tunes, keeps and counts with, against definitions."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import kendalltau, spearmanr
from sklearn.metrics import average_precision_score

from script_folders import scripts_of
from skstruct.losses import HierarchicalLoss
from skstruct.spaces import Hierarchy, LabelSets, Sequences

PAPERS = Path(__file__).parents[1] / "papers"
TREE = Hierarchy([("a", "b"), ("a", "c"), ("c", "d")], list("abcd"))
DAG = Hierarchy([("a", "c"), ("b", "c"), ("b", "d"), ("c", "e"), ("d", "e")], list("abcde"))


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch, scripts_of(PAPERS, patch) as load:
        yield load


def sets(n_labels, n_rows=6):
    return arrays.arrays(np.int64, (n_rows, n_labels), elements=st.integers(0, 1))


def rankings(d, n_rows=4):
    rows = st.permutations(range(1, d + 1))
    return st.lists(rows, min_size=n_rows, max_size=n_rows).map(np.array)


@pytest.fixture
def few_trees(script, monkeypatch):
    for name in ("defaults_label_peers", "defaults_regression_peers", "defaults_token_peers"):
        monkeypatch.setattr(
            script(name), "N_TREES", 100
        )  # fewer leave rows without out-of-bag trees


def names_of(z, y):
    return set(np.flatnonzero(z)), set(np.flatnonzero(y))


def f1(z, y):
    z, y = names_of(z, y)
    return 2 * len(z & y) / (len(z) + len(y)) if z or y else 1.0


# ---------------------------------------------------------------------- measures


@given(Z=sets(4), Y=sets(4))
@settings(max_examples=20, deadline=None)
def test_measures_of_sets(script, Z, Y):
    measures = script("defaults_measures")
    by_name = {measure.name: measure for measure in measures.LABEL_MEASURES}
    assert by_name["Hamming"].value(Z, Y) == pytest.approx(np.mean(Z != Y))
    assert by_name["F1"].value(Z, Y) == pytest.approx(1 - np.mean(list(map(f1, Z, Y))))
    shares = [len(z & y) / len(z | y) if z | y else 1.0 for z, y in map(names_of, Z, Y)]
    assert by_name["Jaccard"].value(Z, Y) == pytest.approx(1 - np.mean(shares))
    assert by_name["0-1"].value(Z, Y) == np.mean([z.tolist() != y.tolist() for z, y in zip(Z, Y)])
    pairs = [measures.jaccard_of_two(z, y) for z, y in zip(Z, Y)]
    np.testing.assert_allclose(pairs, measures.one_minus_jaccard(Z, Y))


@given(data=st.data(), space=st.sampled_from([TREE, DAG]))
@settings(max_examples=20, deadline=None)
def test_first_mistakes_are_the_hierarchical_loss(script, data, space):
    d = space.dag_.n_nodes
    Z, Y = ((data.draw(sets(d)) @ space.dag_.ancestors > 0).astype(int) for _ in range(2))
    found = script("defaults_measures").first_mistakes(space.dag_, Z, Y)
    np.testing.assert_allclose(found, HierarchicalLoss().bind(space)(Z, Y))


@given(Z=rankings(5), Y=rankings(5))
@settings(max_examples=20, deadline=None)
def test_measures_of_rankings(script, Z, Y):
    measures = script("defaults_measures")
    for rows, figure in ((measures.wrong_pairs, kendalltau), (measures.one_minus_rho, spearmanr)):
        expected = [(1 - figure(z, y).statistic) / 2 for z, y in zip(Z, Y)]
        np.testing.assert_allclose(rows(Z, Y), expected, atol=1e-9)


@given(
    P=arrays.arrays(np.float64, (6, 3), elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])),
    Y=sets(3),
)
@settings(max_examples=20, deadline=None)
def test_average_precision(script, P, Y):
    found = script("defaults_measures").average_precision(P, Y)
    if Y.any():
        assert found == pytest.approx(average_precision_score(Y.ravel(), P.ravel()))


def test_jackknife_of_a_mean_is_the_mean(script):
    P = np.random.default_rng(0).random((40, 3))
    values = script("defaults_measures").jackknife(lambda P, Y: P.mean(), P, P)
    assert values.mean() == pytest.approx(P.mean())
    assert len(values) == 20


# ---------------------------------------------------------------------- decisions


@given(Z=sets(5))
@settings(max_examples=20, deadline=None)
def test_closing_gives_the_nearest_closed_sets(script, Z):
    closed, dag = script("defaults_decisions").closed, DAG.dag_
    outputs = np.array(list(DAG.enumerate())) > 0
    for row, up, down in zip(Z > 0, closed(Z > 0, "up", dag), closed(Z > 0, "down", dag)):
        above = outputs[(outputs >= row).all(axis=1)]
        below = outputs[(outputs <= row).all(axis=1)]
        assert up.tolist() == above[above.sum(axis=1).argmin()].tolist()
        assert down.tolist() == below[below.sum(axis=1).argmax()].tolist()


@given(P=arrays.arrays(np.float64, (4, 5), elements=st.floats(0, 1)))
@settings(max_examples=20, deadline=None)
def test_closed_scores_do_not_grow_downwards(script, P):
    dag = DAG.dag_
    for how in ("up", "down"):
        scores = script("defaults_decisions").closed_scores(P, how, dag)
        assert (scores[:, dag.parents] >= scores[:, dag.children]).all()


@given(
    P=arrays.arrays(np.float64, (6, 2), elements=st.floats(0, 1)),
    Y=sets(2),
    by_f1=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_thresholds_of_labels_are_the_best_of_the_grid(script, P, Y, by_f1):
    decisions = script("defaults_decisions")
    chosen = decisions.label_thresholds(P, Y, by_f1)
    for j, t in enumerate(chosen):

        def score(t, p=P[:, j], y=Y[:, j]):
            both_empty = not (y.any() or (p > t).any())
            return (0.0 if both_empty else f1(p > t, y)) if by_f1 else np.mean((p > t) == y)

        assert score(t) == pytest.approx(max(map(score, decisions.GRID)))


def test_rules_find_a_threshold_that_is_not_one_half(script):
    rng = np.random.default_rng(0)
    P = rng.random((300, 3))
    Y = (P > 0.2).astype(int)
    for measure in script("defaults_measures").LABEL_MEASURES:
        rule, _ = script("defaults_decisions").choose_rule(P, Y, measure)
        assert measure.value(rule(P), Y) < 0.2
    never_empty = script("defaults_decisions").Rule(np.ones(3), True, "as they come")
    assert (never_empty(P).argmax(axis=1) == P.argmax(axis=1)).all()


# ---------------------------------------------------------------------- rows


def test_splits_are_parts_and_inputs_are_scaled_by_training_rows(script):
    case = script("defaults_data").all_cases()["wine"]()
    train, test = case.split(3)
    assert sorted([*train, *test]) == list(range(178))
    assert len(train) == 119
    assert not np.array_equal(train, case.split(4)[0])
    X, y, X_test, _ = case.parts(3)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    assert np.abs(X_test.mean(axis=0)).max() > 0.01
    assert np.array_equal(y, case.Y[train])


def test_large_sets_have_the_given_split(script):
    case_of = script("defaults_data").Case
    many = case_of("many", "labels", np.zeros((4000, 2)), np.zeros((4000, 1)), None, (), 2500)
    train, test = many.split(0)
    assert many.one_split
    assert train[-1] == 2499
    assert test[0] == 2500
    assert len(replace(many, n_given=None).split(0)[0]) == 2667


def toy(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    Y = (X @ rng.standard_normal((3, 4)) + 0.3 * rng.standard_normal((n, 4)) > 0).astype(int)
    Y[:, 3] = 0  # never there
    return X, Y


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_peers_learn_and_do_not_look_at_test_rows(script, few_trees):
    X, Y = toy()
    peers = script("defaults_label_peers")
    for peer in peers.LABEL_PEERS:
        if peer.name == "boosting":
            continue  # sixty rows are fewer than its leaves ask for
        left_out, P, _ = peer.probabilities(X[:40], Y[:40], X[40:])
        again, one, _ = peer.probabilities(X[:40], Y[:40], X[40:41])
        np.testing.assert_allclose(left_out, again)
        np.testing.assert_allclose(P[:1], one)
        assert ((P > 0.5) == Y[40:])[:, :3].mean() > 0.7, peer.name
        assert (P[:, 3] < 0.1).all()
        assert ((left_out >= 0) & (left_out <= 1)).all()


@pytest.mark.parametrize("known", [["auto"], ["auto", "kernel_ridge"]])
def test_kernel_ridge_has_a_row_where_it_has_a_name(script, monkeypatch, known):
    methods = script("defaults_ours")

    class Named:
        def __init__(self, space=None, loss=None, *, smoother="auto", random_state=None):
            self.smoother = smoother

        def fit(self, X, y):
            if self.smoother not in known:
                raise ValueError(f"no smoother {self.smoother!r}")
            return self

    monkeypatch.setattr(methods, "ConditionalRiskMinimizer", Named)
    names = [method.name for method in methods.our_methods()]
    assert names == ["default", "kernel ridge"][: len(known)]


def ranking_case(script, n=60):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 3))
    Y = np.argsort(np.argsort(X @ rng.standard_normal((3, 4)), axis=1), axis=1) + 1
    data = script("defaults_data")
    return data.Case("toy", "ranking", X, Y, data.Rankings(), data.RANKING_MEASURES)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_peers_of_rankings_rank(script, few_trees):
    case = ranking_case(script)
    X, Y, X_test, truth = case.parts(0)
    for method in script("defaults_methods").peers_of("ranking"):
        for answer in method.answers(case, X, Y, X_test):
            assert (np.sort(answer.predicted, axis=1) == [1, 2, 3, 4]).all(), method.name
            assert case.measures[0].value(answer.predicted, truth) < 0.3, method.name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_peers_of_sequences(script, few_trees):
    rng = np.random.default_rng(0)
    Y = ["".join(rng.choice(list("ab"), 5)) for _ in range(60)]
    X = [np.array([[c == "a", c == "b"] for c in y]) + 0.2 * rng.random((5, 2)) for y in Y]
    data = script("defaults_data")
    case = data.Case("toy", "sequence", X, Y, Sequences(), data.TOKEN_MEASURES, 40)
    X, Y, X_test, truth = case.parts(0)
    for method in script("defaults_methods").peers_of("sequence"):
        if method.fits(case, X, Y):
            (answer,) = method.answers(case, X, Y, X_test)
            assert case.measures[0].value(answer.predicted, truth) < 0.1, method.name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_hierarchies_are_judged_by_all_measures(script):
    data = script("defaults_data")
    whole = data.all_cases()["digit_shapes"]()
    case = replace(whole, X=whole.X[:200], Y=whole.Y[:200])
    methods, ours = script("defaults_methods"), script("defaults_ours")
    peers = [one for one in methods.peers_of("hierarchy") if one.name in ("neighbors", "logistic")]
    for method in [*ours.our_methods(), *peers]:
        line = script("defaults").measured(case, 0, method, 600.0)
        assert list(line["figures"]) == [measure.name for measure in case.measures]
        assert all(0 <= one["loss"] < 0.6 for one in line["figures"].values())
        json.dumps(line)


def test_windows_show_the_letters_around(script):
    images = np.arange(1.0, 5)[:, None]
    found = script("defaults_data").windows(images, 1)
    assert found.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0]]


# ---------------------------------------------------------------------- results


def test_differences_are_in_pairs(script):
    tables = script("defaults_tables")
    rng = np.random.default_rng(0)
    ours, peer = rng.random((2, 10))
    d = ours - peer
    found = tables.difference(*({k: {"loss": v} for k, v in enumerate(x)} for x in (ours, peer)))
    assert found.mean == pytest.approx(d.mean())
    assert found.error == pytest.approx(d.std(ddof=1) / math.sqrt(10))
    assert found.corrected == pytest.approx(d.std(ddof=1) * math.sqrt(0.6))
    rows = [{0: {"loss": x.mean(), "units": x.tolist()}} for x in (ours, peer)]
    found = tables.difference(*rows)
    assert (found.mean, found.corrected) == pytest.approx((d.mean(), found.error))
    assert tables.difference({0: {"loss": 1.0}}, {1: {"loss": 1.0}}) is None
    assert tables.difference({0: {"loss": 1.0}}, {0: {"loss": 0.0}}).verdict() == "unclear"


def test_verdicts(script):
    tables = script("defaults_tables")
    verdicts = [tables.Difference(m, 1.0, 3.0, 9).verdict() for m in (-1.0, 0.0, 0.9, 1.9, 2.1)]
    assert verdicts == ["best", "best", "near", "behind", "worse"]
    assert tables.Difference(2.1, 1.0, 3.0, 9).verdict(corrected=True) == "near"


def line_of(method, loss, split=0, **more):
    figures = {"0-1": {"loss": loss, "seconds": 1.0, "chosen": ""}}
    return {"set": "iris", "split": split, "method": method, "figures": figures, **more}


def test_results_survive_a_stop(script, tmp_path):
    tables = script("defaults_tables")
    results = tables.Results(tmp_path)
    results.add(line_of("default", 0.1))
    results.add(line_of("slow", 0.2, given_up=10.0, note="given up"))
    with results.path.open("a") as file:
        file.write('{"set": "iris", "spl')
    results = tables.Results(tmp_path)
    assert results.known("iris", 0, "default", 10.0)
    assert not results.known("iris", 1, "default", 10.0)
    assert results.known("iris", 0, "slow", 10.0)
    assert not results.known("iris", 0, "slow", 20.0)
    results.add(line_of("slow", 0.3))
    assert len(tables.Results(tmp_path).lines) == 2
    assert tables.Results(tmp_path).of("iris", "0-1")["slow"][0]["loss"] == 0.3
    results.forget("slow")
    assert len(tables.Results(tmp_path).lines) == 1


def test_the_summary_counts_and_names_cells(script, tmp_path, capsys):
    tables = script("defaults_tables")
    results = tables.Results(tmp_path)
    for split in range(3):
        results.add(line_of("default", 0.5 + 0.01 * split, split))
        results.add(line_of("good", 0.4, split))
        results.add(line_of("bad", 0.9, split))
    results.add(line_of("stopped early", 0.0))
    cells = [("iris", "0-1"), ("wine", "0-1")]
    tables.summary(results, cells, ("default", "kernel ridge"))
    printed = capsys.readouterr().out
    assert "1 cells of 2" in printed
    assert "worse by more than two 1" in printed
    assert "worse: iris, 0-1: +0.1100 ± 0.0058 against good" in printed
    assert "better by more than two in 1 cells: iris, 0-1 (good)" in printed
    assert "not compared yet: wine, 0-1" in printed


def test_a_method_over_its_cap_is_given_up(script):
    methods, defaults = script("defaults_methods"), script("defaults")

    def answers(case, X, Y, X_test):
        yield methods.Answer("0-1", np.zeros(len(X_test), int), 0.0)
        while True:
            math.sqrt(2.0)

    case = script("defaults_data").all_cases()["iris"]()
    line = defaults.measured(case, 0, methods.Method("endless", answers), 0.05)
    assert line["given_up"] == 0.05
    assert "0-1" in line["figures"]


def test_errors_are_noted(script):
    methods = script("defaults_methods")

    def answers(case, X, Y, X_test):
        raise ValueError("too few rows")

    case = script("defaults_data").all_cases()["iris"]()
    line = script("defaults").measured(case, 0, methods.Method("broken", answers), 9.0)
    assert line["note"] == "ValueError: too few rows"


def test_a_loss_that_is_refused_leaves_the_others(script):
    data, measures = script("defaults_data"), script("defaults_measures")
    X, Y = toy()
    odd = measures.Measure("odd", "kendall", measures.any_wrong)
    case = data.Case("toy", "labels", X, Y, LabelSets(), (odd, *measures.LABEL_MEASURES[:1]))
    line = script("defaults").measured(case, 0, script("defaults_ours").our_methods()[0], 99.0)
    assert list(line["figures"]) == ["Hamming"]
    assert line["note"].startswith("odd: ValueError")


def test_f1_is_listed_where_it_is_not_decoded(script):
    for space, name in ((TREE, "f1"), (DAG, "Listed")):
        loss = script("defaults_measures").hierarchy_measures(space)[1].loss
        assert (loss if isinstance(loss, str) else type(loss).__name__) == name


def run(script, monkeypatch, *arguments):
    monkeypatch.setattr("sys.argv", ["defaults", *arguments])
    script("defaults").main()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_quick_run_resumes(script, monkeypatch, tmp_path, capsys):
    arguments = ["--quick", "--only", "iris", "linnerud", "--output", str(tmp_path),
                 "--methods", "default", "logistic", "neighbors"]  # fmt: skip
    run(script, monkeypatch, *arguments, "--budget", "0")
    assert "not begun: iris, linnerud" in capsys.readouterr().out
    run(script, monkeypatch, *arguments)
    printed = capsys.readouterr().out
    for text in (
        "Protocol:",
        "IRIS (classes): up to 2 random splits",
        "SUMMARY of default: 3 cells of 3",
    ):
        assert text in printed
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert len(lines) == 2 * (3 + 2)  # linnerud has no logistic regression
    run(script, monkeypatch, *arguments)
    assert "split 0, default" not in capsys.readouterr().out
    run(script, monkeypatch, *arguments, "--redo", "default", "--budget", "0")
    assert "The budget is spent at iris" in capsys.readouterr().out
    run(script, monkeypatch, *arguments)
    assert "split 0, default" in capsys.readouterr().out


def test_unknown_sets_are_refused(script, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(script, monkeypatch, "--only", "irsi")
    assert "no data set 'irsi'" in capsys.readouterr().err


def test_data_that_are_not_here_are_left_out(script, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    run(script, monkeypatch, "--only", "yeast", "--output", str(tmp_path))
    assert "yeast: " in capsys.readouterr().out
