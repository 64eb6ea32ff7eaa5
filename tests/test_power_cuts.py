# SPDX-License-Identifier: BSD-3-Clause
"""Some of what reliability/power_cuts.py does: bugs are caught, writers are safe."""

import errno
import os
import random
from pathlib import Path

import pytest

from script_folders import scripts_of
from skstruct._files.atomic import replacing, sync_folder

FOLDER = Path(__file__).parents[1] / "reliability"


@pytest.fixture
def reliability(monkeypatch):
    with scripts_of(FOLDER, monkeypatch) as scripts:
        yield scripts


@pytest.mark.slow
def test_writers_with_a_bug_are_caught(reliability):
    assert all(reliability("power_cuts").planted(0).values())


@pytest.mark.slow
@pytest.mark.parametrize("number", range(13))
def test_every_state_is_old_or_new(reliability, number):
    cuts = reliability("power_cuts")
    name = list(cuts.WRITERS)[number]
    case = cuts.Case(*cuts.WRITERS[name], random.Random(f"7 {name}"))
    assert case.run() is None
    assert case.counts["states"] > 20
    assert case.counts["faults"] >= 3


def test_states_by_hand(reliability):
    """A file of two bytes, written without and with waiting for the disk."""
    states = reliability("power_states")
    disk = states.Disk({"a": (b"old", 0o644)})

    def left():
        return {state.get("a", (None,))[0] for state in disk.states(random.Random(0), 100)}

    assert left() == {b"old"}
    disk.play("create", "t", 2, 0o600)
    disk.play("write", 2, 0, b"ab")
    disk.play("rename", "t", "a")
    assert left() == {b"old", b"", b"a", b"\0\0", b"ab"}
    disk.play("sync", 2)
    assert left() == {b"old", b"ab"}
    disk.play("sync_folder", ".")
    assert left() == {b"ab"}
    disk.play("truncate", 2, 0)
    assert left() == {b"ab", b""}
    disk.play("unlink", "a")
    assert left() == {b"ab", b"", None}


def test_a_folder_that_cannot_be_flushed(tmp_path, monkeypatch):
    real = os.fsync

    def refuse(number):
        def fsync(handle):
            if os.path.isdir(handle):
                raise OSError(number, os.strerror(number))
            real(handle)

        monkeypatch.setattr(os, "fsync", fsync)

    refuse(errno.EIO)
    with (
        pytest.warns(UserWarning, match="written, but may be lost with the power"),
        replacing(tmp_path / "a") as file,
    ):
        file.write("new")
    assert (tmp_path / "a").read_text() == "new"
    refuse(errno.EINVAL)  # of file systems that cannot: no warning
    sync_folder(tmp_path)
    sync_folder(tmp_path / "not there")
