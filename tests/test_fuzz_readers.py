# SPDX-License-Identifier: BSD-3-Clause
"""Broken files of all formats are read or refused, and the search finds bugs that are planted."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from script_folders import scripts_of

FOLDER = Path(__file__).parents[1] / "reliability"
FORMATS = ["arff", "clus", "mulan", "label list", "libsvm", "conll", "conllu", "edges"]
FORMATS += ["label-ranking", "letters", "csv", "csv.gz", "csv.xz", "parquet", "any format", "toml"]
PLANTED = ["undeclared exception", "slow", "hungry", "two ways that disagree"]
PLANTED += ["behind two conditions"]


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch, scripts_of(FOLDER, patch) as find:
        yield find


def fuzzer(script, name, **options):
    return script("fuzz_engine").Fuzzer(script("all_formats").FORMATS[name], 1, **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_mutants_are_read_or_refused(script, name):
    if name not in script("all_formats").FORMATS:
        pytest.skip("needs pandas and pyarrow")
    with fuzzer(script, name) as trying:
        assert len(trying.kept["read"]) > len(trying.format.seeds) // 2  # sound files are read
        assert list(trying.batch(200)) == []
        assert trying.counts["refused"] > 50
        assert trying.counts["read"] + trying.counts["refused"] == 200


def test_all_formats_are_here(script):
    assert set(script("all_formats").FORMATS) | {"parquet"} == set(FORMATS)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_found(script, name):
    planted = script("planted_readers")
    assert set(planted.PLANTED) == set(PLANTED)
    assert planted.caught_of(name, 0) is not None


@pytest.mark.slow
def test_no_file_takes_the_square_of_its_size(script):
    told = []
    names = list(script("all_formats").FORMATS)
    script("fuzz_readers").stretch(names, lambda *found: told.append(found))
    assert [failures for _, _, failures in told] == [[]] * len(told)
    assert len(told) > 8


@pytest.mark.slow
def test_runs_go_on_from_each_other(script, tmp_path):
    with fuzzer(script, "edges", corpus=tmp_path) as first:
        assert list(first.batch(300)) == []
        found = {kind: set(texts) for kind, texts in first.kept.items()}
    digest = script("fuzz_engine").digest
    written = {path.name for path in tmp_path.iterdir()}
    seeds = set(map(digest, first.format.seeds))
    # One file may be kept for two reasons, or be a seed read in another way: names, not numbers.
    assert written | seeds == set(map(digest, found["read"] | found["refused"])) | seeds
    assert len(written) > 5
    with fuzzer(script, "edges", corpus=tmp_path) as second:
        kept = {kind: set(texts) for kind, texts in second.kept.items()}
        assert sum(map(len, kept.values())) >= sum(map(len, found.values())) - 5
        assert kept["read"] | kept["refused"] <= found["read"] | found["refused"]


@pytest.mark.slow
def test_the_same_seed_tries_the_same_files(script):
    texts = []
    for _ in range(2):
        with fuzzer(script, "libsvm") as trying:
            trying.before = lambda text, turn: texts.append((text, turn))
            list(trying.batch(100))
    assert texts[:100] == texts[100:]
    assert len(set(texts[:100])) > 80


@pytest.mark.slow
@pytest.mark.subprocess
def test_a_reader_that_dies_is_a_failure_and_not_the_end(script):
    held, format = script("memory_files").held, script("all_formats").FORMATS["edges"]

    def dies(path, turn):
        if b"@" in held(path) and b"\t" in held(path):
            os._exit(7)
        return format.read(path, turn)

    told, given = [], SimpleNamespace(cases=200, minutes=None, seed=0)
    script("fuzz_workers").run_workers(
        [[replace(format, read=dies)]],
        given,
        lambda format, seed: script("fuzz_engine").Fuzzer(format, seed),
        lambda *found: told.append(found),
    )
    deaths = [failures[0] for _, _, failures in told if failures]
    assert deaths
    assert all(b"@" in text and "ended with 7" in why for text, _, why in deaths)


def test_lines_that_never_ran_are_seen_once(script):
    module = script("mutations")
    with script("line_coverage").LineCoverage([module.__file__]) as coverage:
        module._span(b"abc", __import__("random").Random(0))
    assert coverage.grew
    assert {Path(file).name for file, _ in coverage.seen} == {"mutations.py"}
    with coverage:
        module._span(b"abc", __import__("random").Random(0))
    assert not coverage.grew


@pytest.mark.slow
@pytest.mark.subprocess
def test_a_file_that_failed_can_be_tried_again(tmp_path):
    path = tmp_path / "edges.0.0123456789"
    path.write_bytes(b"a b\nb a\n")
    command = [sys.executable, str(FOLDER / "fuzz_readers.py"), "--again", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused")


@pytest.mark.slow
@pytest.mark.subprocess
def test_libfuzzer_breaks_files_too(script, tmp_path):
    pytest.importorskip("atheris", reason="has wheels for few systems")
    atheris = script("fuzz_atheris")
    counts, failures = atheris.tried(atheris.BUG, 400, 5.0, 0, tmp_path)
    assert counts["tried"] == 400 == sum(counts[how] for how in ("read", "refused", "failed"))
    assert counts["failed"] >= len(failures) > 0
    assert counts["refused"] > 0
    assert {why.split(" (")[0] for _, _, why in failures} == {"IndexError: planted"}
    atheris.keep(tmp_path / "corpus", tmp_path / "kept")
    kept = {path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    assert kept & set(script("all_formats").FORMATS["arff"].seeds)
