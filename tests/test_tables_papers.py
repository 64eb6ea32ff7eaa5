# SPDX-License-Identifier: BSD-3-Clause
"""Parts of scripts in papers/: labels of tours, what is chosen, and the tables of kept results."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))

import counting_cycles
import counting_online
import enzymes
import enzymes_methods
import keeping
import label_ranking
import words

from skstruct.spaces import Cycles


def test_printed_text_is_a_value(capsys):
    assert keeping.printed(print, "one", 2) == "one 2\n"
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------- tours


def test_approximate_tours_are_the_best_of_those_drawn():
    space, policies = Cycles(5), np.random.default_rng(0).normal(size=(7, 10))
    found = counting_cycles.best_of(6, policies, space, 3)
    drawn = space.sample(7 * 6, np.random.default_rng([3, 6])).reshape(7, 6, -1)
    for one, policy, several in zip(found, policies, drawn):
        rewards = [float((space.embed(tour[None]) @ policy)[0]) for tour in several]
        assert (space.embed(one[None]) @ policy)[0] == pytest.approx(max(rewards))
    exact = space.argmin(-policies)
    reached = (space.embed(found) * policies).sum(axis=1)
    assert (reached <= -exact.values + 1e-9).all()
    assert (reached < -exact.values - 1e-3).any()


def cycle_results(sizes, n_trials, ahead):
    """Results as tasks give them; counting is ahead in the second cosine by so much."""
    found, rng = {}, np.random.default_rng(0)
    for key, (*_, settings) in counting_cycles.cycle_tasks(n_trials, sizes).items():
        _, labels, _, trial, title = key.split("/")
        base = 0.5 + 0.1 * int(trial)
        gain = ahead[labels] if "alpha 1" in title else 0.0
        found[key] = [
            [0.1, base + gain + 0.001 * rng.normal() - 0.2 * k, 0.3, 0.004, 1.0]
            for k in range(len(settings))
        ]
    return found


def test_what_reproduces_is_told_by_paired_differences(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    ahead = {"best of 25": 0.05, "best of 200": 0.0, "exact": -0.05}
    found = cycle_results((20, 50), 4, ahead)
    for key in found:
        if "best of 200" in key:
            found[key] = [[0.1, 0.5, 0.3, None, 1.0] for _ in found[key]]
    counting_cycles.cycles(found, tmp_path, 4, (20, 50))
    lines = capsys.readouterr().out.splitlines()
    told = [
        (before.split(":")[0].strip(), line.strip())
        for before, line in pairwise(lines)
        if "counting is ahead at" in line
    ]
    expected = {"best of 25": (2, 0), "best of 200": (0, 0), "exact": (0, 2)}
    assert len(told) == 6
    for title, line in told:
        n_ahead, n_behind = expected[title.removeprefix("tours ").split(",")[0]]
        assert line == f"counting is ahead at {n_ahead} and behind at {n_behind} of 2 sizes"
    assert (tmp_path / "counting_cycles.png").exists()


@pytest.mark.slow
def test_online_and_batch_meet_at_one_objective():
    batch = [
        counting_online.timed("bits", 60, 0, 9, name)[0]
        for name in ("NCG", "closed form", "closed form, features")
    ]
    assert np.ptp(batch) < 1e-6
    assert counting_online.timed("bits", 60, 0, 9, "online")[0] >= batch[0] - 1e-9


# ---------------------------------------------------------------------- enzymes


def test_measures_of_paths():
    true = ["1.2.3.4", "1.2.3.5"]
    predicted = [enzymes_methods.nodes("1.2.4.1"), {"1", "1.2"}]
    assert enzymes_methods.wrong_nodes(predicted, true) == [[2, 2], [0, 2]]
    risk, length, f1 = enzymes.figures([[2, 2], [0, 2]])
    assert (risk.mean, length.mean) == (1.0, 1.5)
    assert f1 == pytest.approx(2 * 4 / (6 + 8))  # four nodes in common, of six and of eight
    assert enzymes_methods.edges(true)[:2] == [("1", "1.2"), ("1.2", "1.2.3")]


def test_penalties_of_the_machine_are_chosen_by_held_out_enzymes():
    title, steps = "H-M3, hamming", enzymes.STEPS
    found = {}
    for k, step in enumerate(steps):
        risk = abs(k - 2)
        found[f"{title}/held out/{step:g}"] = {"held out": {}, "risk": risk}
        for part in enzymes.PARTS:
            # Tempting figures of the test, which must not matter.
            found[f"{title}/{part}/{step:g}"] = {part: {"wrong": [[k, 0]]}, "risk": -k}
    rows = enzymes.rows_of(found)
    assert [rows[title][part]["wrong"] for part in enzymes.PARTS] == [[[2, 0]], [[2, 0]]]


def test_the_loss_of_no_node_counts_all_of_them():
    true = ["1.2.3.4", "2.1.1.1"]
    assert enzymes_methods.mean_loss("hamming", [set(), set()], true) == 4.0
    assert enzymes_methods.mean_loss("hierarchical", [set(), set()], true) == pytest.approx(0.5)


# ---------------------------------------------------------------------- words


def test_equal_losses_go_to_the_smoother_model():
    kernels = {degree: words.power(degree) for degree in (1, 2)}
    trials = [
        {"kernel": kernels[2], "alpha": 9.0, "risk": 0.1},
        {"kernel": kernels[1], "alpha": 0.1, "risk": 0.1},
        {"kernel": kernels[1], "alpha": 3.0, "risk": 0.1},
        {"kernel": kernels[1], "alpha": 9.0, "risk": 0.2},
    ]
    assert words.smoothest(trials) is trials[2]
    radii = [{"kernel": kernels[1], "radius": r, "risk": 0.1} for r in (3.0, 1.0, 2.0)]
    assert words.smoothest(radii) is radii[1]


def test_the_table_of_words_marks_what_was_settled_late(capsys):
    rows = {}
    for title in words.PAPER:
        for end in ("", " *"):
            rows[title + end] = [[[0.05, 0.03], [0.04, 0.02], "degree 2"], [[0.06, 0.03], [0.05, 0.02], "degree 2"]]  # noqa: E501  # fmt: skip
        rows[title.split(",")[0] + ", default"] = [[[0.09, 0.05], None, ""], [[0.08, 0.05], None, ""]]  # noqa: E501  # fmt: skip
    words.table(rows)
    words.compared(rows)
    text = capsys.readouterr().out
    assert "* ties decided by the squared error, which was settled after test figures" in text
    assert "0.0550 ± 0.0050" in text


# ---------------------------------------------------------------------- label ranking


def test_label_ranking_is_judged_by_ten_folds(capsys):
    tasks = label_ranking.tasks(("iris", "cold", "fried"))
    assert sum("iris/" in key and key.endswith("/ours") for key in tasks) == 50
    assert sum("cold/" in key and key.endswith("/ours") for key in tasks) == 20
    assert sum("fried/" in key and key.endswith("/default") for key in tasks) == 10
    rng = np.random.default_rng(0)
    found = {key: [float(rng.normal(0.9, 0.01)), 1.0] for key in tasks}
    results = label_ranking.gathered(found)
    taus = results["iris"]["ours"][0]
    assert label_ranking.figure_of(taus).error == pytest.approx(taus.std(ddof=1) / np.sqrt(10))
    label_ranking.report(results)
    assert "iris, published IBLR" in capsys.readouterr().out
