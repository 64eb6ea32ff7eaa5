# SPDX-License-Identifier: BSD-3-Clause
"""What papers/ecrm_hierarchies.py and papers/counting_hierarchies.py choose, learn and compare:
against definitions, on a small tree.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import SVC

from script_folders import scripts_of
from skstruct.spaces import Hierarchy

PAPERS = Path(__file__).parents[1] / "papers"
EDGES = [("a", "c"), ("a", "d"), ("b", "e"), ("d", "f")]
LABELS = "abcdef"


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch, scripts_of(PAPERS, patch) as load:
        yield load


@pytest.fixture(scope="module")
def toy(script):
    """Labels of linear scores, closed from the top down."""
    rng = np.random.default_rng(0)
    space = Hierarchy(EDGES, LABELS)
    X = rng.normal(size=(90, 3))
    Y = (X @ rng.normal(size=(3, 6)) + 0.3 * rng.normal(size=(90, 6)) > -0.4).astype(np.int8)
    for parent, child in EDGES:
        Y[:, LABELS.index(child)] &= Y[:, LABELS.index(parent)]
    return script("hierarchy_data").Rows("toy", X[:60], Y[:60], X[60:], Y[60:], space, "")


def closed(Y):
    return all((Y[:, LABELS.index(j)] <= Y[:, LABELS.index(i)]).all() for i, j in EDGES)


# ---------------------------------------------------------------------- losses and inputs
def test_losses_are_those_of_the_definitions(script, toy):
    predicted = toy.Y_test[::-1]
    found = toy.judged(predicted)
    wrong = predicted != toy.Y_test
    assert found["hamming"] == wrong.sum(axis=1).tolist()
    assert found["zero_one"] == wrong.any(axis=1).tolist()
    weight = {"a": 1 / 2, "b": 1 / 2, "c": 1 / 4, "d": 1 / 4, "e": 1 / 2, "f": 1 / 4}  # shared
    parent = {child: up for up, child in EDGES}
    by_hand = [
        sum(weight[j] for j in LABELS
            if row[LABELS.index(j)] and not (j in parent and row[LABELS.index(parent[j])]))
        for row in wrong
    ]  # fmt: skip
    assert_allclose(found["hierarchical"], by_hand, atol=1e-6)


@pytest.mark.parametrize("scaling", ["raw", "standardised", "unit length", "tf-idf"])
def test_inputs_are_scaled_by_training_rows_alone(script, scaling):
    rng = np.random.default_rng(1)
    X, X_test = rng.integers(0, 2, (20, 5)).astype(float), rng.integers(0, 2, (6, 5)).astype(float)
    scale = script("hierarchy_data").scaled
    train, test = scale(X, X_test, scaling)
    assert_allclose(scale(X, X_test[:2], scaling)[0], train)
    assert_allclose(scale(X, X_test[:2], scaling)[1], test[:2])
    if scaling == "tf-idf":
        row = X_test[0] * np.log(20 / X.sum(axis=0))
        assert_allclose(test[0], row / np.linalg.norm(row))


# ---------------------------------------------------------------------- peers
def test_a_label_found_anywhere_brings_in_all_above_it(script, toy):
    model = script("hierarchy_peers").PerLabel("linear", 1.0, toy.space)
    predicted = model.fit(toy.X_train, toy.Y_train).predict(toy.X_test)
    alone = np.column_stack([
        SVC(kernel="linear").fit(toy.X_train, toy.Y_train[:, j]).predict(toy.X_test)
        for j in range(6)
    ])  # fmt: skip
    below = {"a": "acdf", "b": "be", "c": "c", "d": "df", "e": "e", "f": "f"}
    wanted = [alone[:, [LABELS.index(j) for j in below[i]]].any(axis=1) for i in LABELS]
    assert_array_equal(predicted, np.column_stack(wanted))
    assert closed(predicted)


def ridge_signs(X, signs, X_test, alpha):
    """Least squares around the means, penalised."""
    centred = X - X.mean(axis=0)
    w = np.linalg.solve(centred.T @ centred + alpha * np.eye(X.shape[1]), centred.T @ signs)
    return np.sign((X_test - X.mean(axis=0)) @ w + signs.mean())


def machine_signs(X, signs, X_test, cost):
    return SVC(kernel="linear", C=cost).fit(X, signs).predict(X_test)


@pytest.mark.parametrize(("method", "signs_of"), [("H-SVM", machine_signs), ("H-RLS", ridge_signs)])
def test_labels_are_learned_and_asked_below_their_parents(script, toy, method, signs_of):
    peers = script("hierarchy_peers")
    make, _ = peers.TOP_DOWN[method]
    model = peers.TopDown(make(0.7), toy.space).fit(toy.X_train, toy.Y_train)
    wanted = np.zeros_like(toy.Y_test)
    for j, label in enumerate(LABELS):  # a label comes after its parent
        up = [LABELS.index(i) for i, child in EDGES if child == label]
        rows = toy.Y_train[:, up].all(axis=1)
        signs = 2.0 * toy.Y_train[rows, j] - 1
        found = signs_of(toy.X_train[rows], signs, toy.X_test, 0.7) > 0
        wanted[:, j] = found & wanted[:, up].all(axis=1)
    assert_array_equal(model.predict(toy.X_test), wanted)
    assert 0 < wanted.mean() < 1
    assert closed(wanted)


def test_labels_without_two_kinds_of_rows_are_constant(script, toy):
    peers = script("hierarchy_peers")
    Y = toy.Y_train.copy()
    Y[:, LABELS.index("b")], Y[:, LABELS.index("e")], Y[:, LABELS.index("f")] = 1, 1, 0
    predicted = peers.TopDown(peers.machine(1.0), toy.space).fit(toy.X_train, Y).predict(toy.X_test)
    assert predicted[:, LABELS.index("b")].all()
    assert predicted[:, LABELS.index("e")].all()
    assert not predicted[:, LABELS.index("f")].any()


def test_penalties_do_not_depend_on_units(script, toy):
    peers = script("hierarchy_peers")
    lam = peers.penalty(toy, "hamming", 0.01)
    assert lam == pytest.approx(
        0.01 * (toy.X_train**2).sum(axis=1).mean() / toy.Y_train.sum(axis=1).mean()
    )
    doubled = replace(toy, X_train=2 * toy.X_train)
    assert peers.penalty(doubled, "hamming", 0.01) == pytest.approx(4 * lam)


def test_images_of_one_path_are_in_one_fold(script, toy):
    peers = script("hierarchy_peers")
    rows = replace(toy, name="imclef07a")
    paths = [{tuple(row) for row in rows.Y_train[held]} for _, held in peers.folds_of(rows)]
    assert len(paths[0] | paths[1] | paths[2]) == sum(map(len, paths))
    held = np.concatenate([held for _, held in peers.folds_of(toy)])
    assert_array_equal(np.sort(held), np.arange(60))


@pytest.mark.slow
def test_a_structured_machine_is_chosen_by_its_folds(script, toy, monkeypatch):
    peers = script("hierarchy_peers")
    monkeypatch.setattr(peers, "rows_of", lambda *_: toy)
    tasks = peers.structured_tasks("toy", ("raw",), ("hierarchical",))
    found = {key: function(*rest) for key, (function, *rest) in tasks.items()}
    best = peers.chosen_structured(found, "toy", "hierarchical")
    means = {
        step: np.mean(
            [found[f"toy/structured SVM/hierarchical/raw/{step:g}/{k}"] for k in range(3)]
        )
        for step in peers.STEPS
    }
    assert best["risk"] == pytest.approx(min(means.values()))
    assert best["chosen"]["step"] == min(means, key=means.get)
    assert best["chosen"]["gap"] <= 0.01
    assert peers.chosen_structured(found, "toy", "hamming") is None
    for key in [key for key in found if key.endswith(f"{best['chosen']['step']:g}/1")]:
        del found[key]  # a fold that has not been run
    assert peers.chosen_structured(found, "toy", "hierarchical")["risk"] > best["risk"]


# ---------------------------------------------------------------------- the rule, and tables
def told(hamming, risk, hierarchical=(0.1, 0.2)):
    losses = {"hamming": list(hamming), "hierarchical": list(hierarchical)}
    return {"losses": losses, "risk": risk, "note": "", "chosen": {}, "fit_seconds": 1.0,
            "predict_ms": 1.0}  # fmt: skip


def test_the_rule_takes_the_least_left_out_risk_whatever_test_rows_say(script):
    tables = script("ecrm_hierarchies")
    found = {
        "enron/ridge/hamming/raw": told((9.0, 9.0), 2.58),
        "enron/ridge/hamming/unit length": told((5.0, 7.0), 2.56),
        "enron/ridge/hamming/tf-idf": told((0.0, 0.0), 2.63),
        "enron/ridge/hierarchical/tf-idf": told((0.0, 0.0), 0.1),
    }
    rows = tables.answers(found, "enron")
    assert rows["ours"]["hamming"] is found["enron/ridge/hamming/unit length"]
    assert rows["ours"]["hierarchical"] is found["enron/ridge/hierarchical/tf-idf"]
    assert rows["ours, tf-idf"]["hamming"] is found["enron/ridge/hamming/tf-idf"]
    text = tables.cells(rows["ours, raw"]["hamming"], rows["ours"]["hamming"], "hamming", 3)
    assert " ".join(text.split()) == "9.000 ± 0.000 +3.000 ± 1.000"
    line = next(iter(tables.summary_rows({"enron": rows})))
    assert line[:3] == ("ENRON, Hamming", 3, 3.079)
    assert (line[3].mean, line[3].error, line[4]) == (6.0, 1.0, None)
    assert script("hierarchy_ours").least_risk(found, ["nothing"]) is None


def test_tables_share_tasks_of_the_same_names(script):
    tables, counting = script("ecrm_hierarchies"), script("counting_hierarchies")
    for name in counting.NAMES:
        tasks = tables.tasks_of(name)
        for key, task in counting.shared_tasks(name).items():
            assert tasks[key] == task


def test_the_table_shows_every_row_with_errors(script, capsys):
    tables = script("ecrm_hierarchies")
    found = {f"pheno_fun/ridge/{loss}/raw": told((1.0, 2.0), 1.0) for loss in tables.LOSSES}
    found["pheno_fun/BR-SVM/raw"] = told((3.0, 3.0), 0.1)
    rows = {"pheno_fun": tables.answers(found, "pheno_fun")}
    tables.table(rows)
    tables.show_choices(rows)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "paper: ECRM 8.811 0.152" in lines
    assert "ours 1.500 ± 0.500 0.1500 ± 0.0500" in lines
    assert ("BR-SVM, run here 3.000 ± 0.000 +1.500 ± 0.500 "
            "0.1500 ± 0.0500 +0.0000 ± 0.0000") in lines  # fmt: skip


def test_more_or_fewer_documents_only_beyond_noise(script):
    counting = script("counting_hierarchies")
    figure = script("keeping").Figure
    assert counting.compared(figure(1.9, 1.0)) == "as many, within noise"
    assert counting.compared(figure(2.1, 1.0)) == "more"
    assert counting.compared(figure(-2.1, 1.0)) == "fewer"


def test_reuters_is_cut_from_the_top(script, toy, monkeypatch):
    times = script("hierarchy_times")
    monkeypatch.setattr(times, "rows_of", lambda *_: toy)
    for size in range(1, 7):
        _, Y, space = times.cut(size)
        kept = [LABELS.index(j) for j in space.labels_]
        assert len(kept) == size
        assert_array_equal(Y, toy.Y_train[:, kept])
        assert space.dag_.n_nodes == size
        for j, label in enumerate(space.labels_):  # every label has its parent
            up = [space.labels_[i] for i in space.dag_.parents_of[j]]
            assert up == [i for i, child in EDGES if child == label]


def test_the_error_of_a_pooled_share_is_that_of_repeated_samples(script):
    rng = np.random.default_rng(0)

    def sample(n=400):
        sizes = rng.integers(2, 9, n)
        return rng.binomial(sizes // 2, 0.7), sizes

    f1 = script("one_path").pooled_f1
    figures = [f1(*sample()) for _ in range(300)]
    common, sizes = sample()
    assert f1(common, sizes).mean == pytest.approx(2 * common.sum() / sizes.sum())
    spread = np.std([figure.mean for figure in figures])
    assert np.mean([figure.error for figure in figures]) == pytest.approx(spread, rel=0.15)
