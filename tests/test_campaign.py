# SPDX-License-Identifier: BSD-3-Clause
"""What a campaign counts."""

import json
from pathlib import Path

import pytest

from script_folders import scripts_of

FOLDER = Path(__file__).parents[1] / "reliability"


@pytest.fixture
def campaign(monkeypatch, tmp_path):
    with scripts_of(FOLDER, monkeypatch) as scripts:
        campaign = scripts("campaign")
        monkeypatch.setattr(campaign, "KEPT", tmp_path / "kept" / "campaign.jsonl")
        yield campaign


def line(campaign, **counts):
    promise = campaign.PROMISES[0].name
    return {"promise": promise, "date": "2026-11-18", "commit": "abc", "counts": counts}


def shown(campaign, kept, capsys):
    campaign.table(kept)
    return capsys.readouterr().out.splitlines()


def test_every_promise_has_a_script(campaign):
    for promise in campaign.PROMISES:
        assert (FOLDER / f"{promise.script}.py").is_file()
    assert len({promise.script for promise in campaign.PROMISES}) == len(campaign.PROMISES)


def test_a_seed_counts_once_by_its_longest_run(campaign, capsys):
    kept = [
        line(campaign, tried=10, failed=2, seed=1),
        line(campaign, tried=30, failed=0, seed=1),
        line(campaign, tried=20, failed=0, seed=1),
        line(campaign, tried=5, failed=1, seed=2),
    ]
    row = shown(campaign, kept, capsys)[1].split()
    assert row[-6:] == ["1,000,000", "35", "3", "2026-11-18", "abc", "1"]


def test_a_script_that_breaks_off_is_shown(campaign, capsys):
    kept = [{**line(campaign), "counts": None}]
    assert shown(campaign, kept, capsys)[1].endswith("broke off")


def test_broken_files_are_counted_by_format(campaign, capsys):
    formats = {"csv": {"tried": 4.0, "failed": 1}, "edges": {"tried": 3, "failed": 0}}
    counts = {"script": "fuzz_readers", "tried": 7, "failed": 1, "by_format": formats}
    kept = [line(campaign, **counts, seed=1), line(campaign, **counts, seed=2)]
    rows = [row.split() for row in shown(campaign, kept, capsys)[-2:]]
    assert rows == [["csv", "10,000,000", "8", "2"], ["edges", "10,000,000", "6", "0"]]


def test_what_was_run_elsewhere_is_kept(campaign, tmp_path):
    counts = {"script": "races", "tried": 3, "failed": 0, "seed": 4, "failures": []}
    path = tmp_path / "races.out"
    path.write_text("planted bug: caught\n" + json.dumps(counts, indent=2) + "\n")
    campaign.add([path], "abc")
    (kept,) = campaign.lines()
    assert kept["promise"] == "two processes at one file"
    assert kept["counts"] == counts
    path.write_text("Traceback")
    with pytest.raises(SystemExit, match="does not end with a JSON object"):
        campaign.add([path], "abc")
