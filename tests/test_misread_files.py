# SPDX-License-Identifier: BSD-3-Clause
"""What is read of broken files is what stands there, by readers that share nothing with ours."""

import ast
from pathlib import Path

import pytest

from script_folders import scripts_of

FOLDER = Path(__file__).parents[1] / "reliability"
FORMATS = ["arff", "clus", "mulan", "label list", "libsvm", "conll", "conllu", "edges"]
FORMATS += ["label-ranking", "csv", "parquet", "toml"]
PLANTED = ["two columns are swapped", "a row is dropped", "a quoted comma ends a cell"]


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch, scripts_of(FOLDER, patch) as find:
        yield find


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_second_readers_read_the_same(script, name):
    formats, misread = script("all_formats").FORMATS, script("misread_files")
    if name not in formats:
        pytest.skip("needs pandas and pyarrow")
    judged = misread.judged(formats[name])
    with script("fuzz_engine").Fuzzer(judged, 2, only_sound=True) as trying:
        assert [trying.try_file(seed, 0).why for seed in judged.seeds] == [""] * len(judged.seeds)
        assert list(trying.batch(300)) == []
        assert trying.counts["compared"] > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_planted_bugs_are_found(script, name):
    assert set(script("misread_files").PLANTED) == set(PLANTED)
    assert script("misread_files").caught_of(name, 0) is not None


def test_second_readers_use_nothing_of_ours():
    for path in FOLDER.glob("oracle_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", ())]
            assert not any("skstruct" in str(name) for name in [*names, _module(node)]), path


def _module(node):
    return getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b'a,y\n"1,2",x\n', [["1,2", "x"]]),
        (b'a,y\n"1""2",\n', [['1"2', ""]]),
        (b'a;y\r\n1,5;"p\r\nq"\r\n', [["1,5", "p\nq"]]),
    ],
)
def test_the_second_reader_of_tables(script, text, rows):
    assert script("oracle_tables").read_csv(text) == (["a", "y"], rows)


def test_the_second_reader_of_arff(script):
    oracle = script("oracle_readers")
    header = b"@relation r\n@attribute 'a, b' numeric\n@attribute c {x,'y, z'}\n@data\n"
    table = oracle.read_arff(header + b"1,'y, z'\n{1 'y, z'}\n")
    assert table.names == ["a, b", "c"]
    assert table.rows == [[1.0, "y, z"], [0.0, "y, z"]]
    with pytest.raises(oracle.Refused):
        oracle.read_arff(header + b"1,x'y\n")
