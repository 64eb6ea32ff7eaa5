# SPDX-License-Identifier: BSD-3-Clause
"""Whoever is killed while writing leaves the old file or the whole new one."""

import os
import signal

import pytest

from skstruct._files.atomic import replacing

LINES = [f"line {i}\n" for i in range(20_000)]  # more than any buffer holds


def killed_while_writing(path, opened, n_lines):
    """Write in a child process that kills itself after so many lines."""
    child = os.fork()
    if child == 0:
        with opened(path) as file:
            for line in LINES[:n_lines]:
                file.write(line)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    return path.read_text() if path.exists() else None


@pytest.mark.subprocess
@pytest.mark.parametrize("n_lines", [0, 1, 10_000, 20_000])
@pytest.mark.parametrize("before", [None, "old\n"])
def test_a_kill_leaves_the_old_file(tmp_path, n_lines, before):
    path = tmp_path / "out.csv"
    if before is not None:
        path.write_text(before)
    assert killed_while_writing(path, replacing, n_lines) == before


@pytest.mark.subprocess
def test_a_writer_in_place_would_be_caught(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old\n")
    found = killed_while_writing(path, lambda path: open(path, "w"), 10_000)  # noqa: SIM115
    assert found not in ("old\n", "".join(LINES))


def test_files_keep_their_permissions_and_links(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    with replacing(link) as file:
        file.write("new\r\n")
    assert link.is_symlink()
    assert path.read_bytes() == b"new\r\n"
    assert path.stat().st_mode & 0o777 == 0o640
    with replacing(tmp_path / "fresh", "wb") as file:
        file.write(b"x")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o666 & ~mask
    with pytest.raises(ValueError, match="mode"):
        replacing(path, "a").__enter__()


def test_pipes_and_devices_are_written_to_and_stay(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe) as file:
        file.write("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        replacing(tmp_path / "no" / "file").__enter__()


def test_an_error_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def interrupted():
        with replacing(path) as file:
            file.write("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("call", ["open", "chmod", "fsync", "replace"])
def test_an_interrupt_right_after_a_call_leaves_one_whole_file(tmp_path, monkeypatch, call):
    path, real = tmp_path / "file", getattr(os, call)
    path.write_text("old")

    def interrupted(*given, **options):
        real(*given, **options)
        raise KeyboardInterrupt

    def write():
        with replacing(path) as file:
            file.write("new")

    monkeypatch.setattr(os, call, interrupted)
    with pytest.raises(KeyboardInterrupt):
        write()
    assert path.read_text() == ("new" if call == "replace" else "old")
    assert os.listdir(tmp_path) == ["file"]
