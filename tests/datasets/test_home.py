# SPDX-License-Identifier: BSD-3-Clause
"""Where data files are looked for, and what is said when they are not there."""

import gzip
import lzma
from pathlib import Path

import pytest

from skstruct.datasets import data_home
from skstruct.datasets.files import data_file, open_binary, open_text
from skstruct.datasets.hierarchical import load_hierarchical
from skstruct.datasets.multilabel import load_multilabel
from skstruct.exceptions import MissingDataError


def test_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    assert data_home() == tmp_path
    monkeypatch.delenv("SKSTRUCT_DATA")
    assert data_home() == Path.home() / ".skstruct" / "data"


def test_plain_before_packed(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    (tmp_path / "set").mkdir()
    packed, plain = tmp_path / "set" / "a.txt.xz", tmp_path / "set" / "a.txt"
    packed.write_bytes(lzma.compress(b"packed"))
    assert data_file("set", "a.txt", source="nowhere") == packed
    plain.write_text("plain")
    assert data_file("set", "a.txt", source="nowhere") == plain


def test_open(tmp_path):
    writers = {"a.txt": bytes, "a.txt.xz": lzma.compress, "a.txt.gz": gzip.compress}
    for name, pack in writers.items():
        path = tmp_path / name
        path.write_bytes(pack("né".encode()))
        with open_text(path) as file:
            assert file.read() == "né"
        with open_binary(path) as file:
            assert file.read() == "né".encode()


def test_message(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError) as caught:
        data_file("set", "a.arff", source="the moon")
    for part in ("'set/a.arff'", str(tmp_path), "SKSTRUCT_DATA", "the moon"):
        assert part in str(caught.value)


@pytest.mark.parametrize("name", ["enron", "pheno_go", "reuters", "wipo"])
def test_loaders_name_their_source(monkeypatch, tmp_path, name):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"(GitHub|LIBSVM)"):
        load_hierarchical(name)
    with pytest.raises(MissingDataError, match="mulan"):
        load_multilabel("yeast")
