# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of papers/ keep, and the figures that they compare with those of the papers."""

import argparse
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))

import at_a_glance
import keeping

from skstruct.exceptions import MissingDataError

PAPERS = sorted(Path(keeping.__file__).parent.glob("*.py"))
SCRIPTS = [path for path in PAPERS if "__main__" in path.read_text("utf-8")]


def options(folder, **more):
    return argparse.Namespace(**{"kept": folder, "jobs": 1, "only": None, "anew": False, **more})


class Count:
    """A task that counts its calls."""

    calls = 0

    def __call__(self, value):
        self.calls += 1
        return value


def missing():
    raise MissingDataError("not here")


def test_a_task_is_run_once_and_its_result_kept(tmp_path):
    count = Count()
    tasks = {"a": (count, [1.5, 2]), "b": (count, {"x": None})}
    wanted = {"a": [1.5, 2], "b": {"x": None}}
    assert keeping.results("script", tasks, options(tmp_path)) == wanted
    assert keeping.results("script", tasks, options(tmp_path)) == wanted
    assert count.calls == 2
    keeping.results("script", tasks, options(tmp_path, anew=True))
    assert count.calls == 4


def test_a_line_cut_short_is_run_again(tmp_path):
    path = tmp_path / "script.jsonl"
    path.write_text(json.dumps({"task": "a", "value": 1}) + '\n{"task": "b", "val')
    count = Count()
    tasks = {"a": (count, 1), "b": (count, 2)}
    assert keeping.results("script", tasks, options(tmp_path)) == {"a": 1, "b": 2}
    assert count.calls == 1


def test_chosen_tasks_are_run_without_tables(tmp_path):
    count = Count()
    tasks = {"enron/ours": (count, 1), "wipo/ours": (count, 2)}
    with pytest.raises(SystemExit) as stop:
        keeping.results("script", tasks, options(tmp_path, only="wipo"))
    assert stop.value.code == 0
    assert keeping.read(tmp_path / "script.jsonl") == {"wipo/ours": 2}


def test_tasks_without_data_are_left_out_and_named(tmp_path, capsys):
    tasks = {"here": (abs, -1), "gone": (missing,)}
    assert keeping.results("script", tasks, options(tmp_path)) == {"here": 1}
    assert "gone: not here" in capsys.readouterr().err


@pytest.mark.subprocess
def test_processes_give_the_same_results(tmp_path):
    tasks = {str(n): (abs, -n) for n in range(5)}
    wanted = {str(n): n for n in range(5)}
    assert keeping.results("script", tasks, options(tmp_path, jobs=2)) == wanted


def test_figures_have_the_standard_error_of_a_mean():
    values = [1.0, 2.0, 4.0]
    figure = keeping.Figure.of(values)
    assert figure.mean == np.mean(values)
    assert figure.error == pytest.approx(np.std(values, ddof=1) / np.sqrt(3))
    assert np.isnan(keeping.Figure.of([1.0]).error)


@pytest.mark.parametrize(
    ("mean", "lower", "verdict"),
    [(1.0, True, "better"), (1.15, True, "within noise"), (1.35, True, "worse"),
     (1.35, False, "better"), (1.0, False, "worse")],
)  # fmt: skip
def test_verdicts(mean, lower, verdict):
    assert keeping.Figure(mean, 0.05).verdict(1.2, lower) == verdict


def test_the_summary_tells_worse_from_noise(capsys):
    ours, default = keeping.Figure(3.4, 0.06), keeping.Figure(3.1, 0.06)
    keeping.summary([("ENRON, Hamming", 3, 3.079, ours, default), ("WIPO", 2, 2.0, ours, None)])
    lines = capsys.readouterr().out.splitlines()
    first, second = (" ".join(line.split()) for line in lines[-2:])
    assert first == "ENRON, Hamming 3.079 3.400 ± 0.060 3.100 ± 0.060 worse within noise"
    assert second == "WIPO 2.00 3.40 ± 0.06 – worse –"


def test_summaries_of_logs_are_joined_and_counted(tmp_path, capsys):
    print("Table 1\n   ours 3.4")
    better, near = keeping.Figure(2.0, 0.06), keeping.Figure(3.1, 0.06)
    keeping.summary([("ENRON, Hamming", 3, 3.079, better, near), ("WIPO", 3, 1.0, better, None)])
    print("what else is to be said\ndrawn to a file")
    (tmp_path / "flows.txt").write_text(capsys.readouterr().out, encoding="utf-8")
    (tmp_path / "words.txt").write_text("no summary\n", encoding="utf-8")
    at_a_glance.main(tmp_path)
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert lines[-2:] == [
        "By the rule: 1 better, 0 within noise, 1 worse.",
        "By default: 0 better, 1 within noise, 0 worse.",
    ]
    table = lines[next(i for i, line in enumerate(lines) if "the rule is" in line) : -3]
    assert " ".join(table[0].split()) == "paper by the rule by default the rule is the default is"
    assert "flows" in table[1].lower()
    assert table[2].split()[:3] == ["ENRON,", "Hamming", "3.079"]
    assert len(table) == 4


def test_figures_of_something_else_have_no_verdict(tmp_path, capsys):
    ours = keeping.Figure(2.0, 0.06)
    keeping.summary([("Table 2", 3, 3.079, ours, None)], instead="other network")
    log = capsys.readouterr().out
    assert " ".join(log.splitlines()[-1].split()) == "Table 2 3.079 2.000 ± 0.060 – other network –"
    (tmp_path / "flows.txt").write_text(log, encoding="utf-8")
    at_a_glance.main(tmp_path)
    assert "By the rule: 0 better, 0 within noise, 0 worse." in capsys.readouterr().out


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_scripts_print_their_protocol(script):
    source = script.read_text(encoding="utf-8")
    assert "print(__doc__" in source or re.search(r"arguments\(\s*__doc__", source), script.name
