# SPDX-License-Identifier: BSD-3-Clause
"""Mapped models answer as those that were read, and share the memory of their file."""

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from persistence.make_golden import GOLDEN, answers, golden_cases
from persistence.test_container import ARRAYS
from skstruct import ConditionalRiskMinimizer
from skstruct._files.container import read_container, write_container
from skstruct.exceptions import ModelFileError
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import KernelRidge
from skstruct.spaces import LabelSets

GOLDEN_CASES = golden_cases()
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def is_mapped(array):
    """Whether the memory of an array is that of a file."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, memoryview) or type(array).__name__ == "mmap"


# ------------------------------------------------------------------ containers
def test_mapped_arrays_are_as_written_and_aligned(tmp_path):
    write_container(tmp_path / "file", "model", {"a": 1}, ARRAYS)
    manifest, arrays = read_container(tmp_path / "file", "model", mmap=True)
    assert manifest == {"a": 1}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        assert arrays[name].shape == array.shape
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.f_contiguous == array.flags.f_contiguous
        assert arrays[name].flags.writeable
        assert is_mapped(arrays[name]) == bool(array.size)
        if array.size:
            assert arrays[name].ctypes.data % 64 == 0


@pytest.mark.parametrize("length", range(1, 120, 7))
def test_names_of_every_length_are_aligned(tmp_path, length):
    write_container(tmp_path / "file", "model", {"a": "x" * length}, {"n" * length: np.ones(3)})
    (array,) = read_container(tmp_path / "file", "model", mmap=True)[1].values()
    assert is_mapped(array)
    with zipfile.ZipFile(tmp_path / "file") as packed:
        assert packed.testzip() is None


def test_what_is_written_to_an_array_stays_in_this_process(tmp_path):
    write_container(tmp_path / "file", "model", {}, {"a": np.ones(1000)})
    before = (tmp_path / "file").read_bytes()
    first, second = (read_container(tmp_path / "file", "model", mmap=True)[1]["a"] for _ in "ab")
    first[:] = 7.0
    assert_array_equal(second, 1.0)
    assert (tmp_path / "file").read_bytes() == before


def test_arrays_that_are_not_aligned_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("skstruct._files.container.padding", lambda position, member: b"")
    arrays = {f"a{i}": np.arange(50.0 + i) for i in range(5)}
    write_container(tmp_path / "old", "model", {}, arrays)
    _, found = read_container(tmp_path / "old", "model", mmap=True)
    assert not all(is_mapped(array) for array in found.values())
    for name, array in arrays.items():
        assert_array_equal(found[name], array)


def test_members_within_members_are_refused(tmp_path):
    """Two arrays of the same bytes would change each other, after both have been checked."""
    path = tmp_path / "file"
    outer, inner = np.zeros(4096, dtype=np.uint8), np.arange(3.0)
    write_container(path, "model", {}, {"outer": outer, "inner": inner})
    with zipfile.ZipFile(path) as packed:
        first, second = packed.infolist()[1:]
    raw = bytearray(path.read_bytes())
    entry = raw.rfind(b"PK\x01\x02")
    target = first.header_offset + 512 + (second.header_offset - first.header_offset) % 64
    length = second.file_size + 100
    raw[target : target + length] = raw[second.header_offset : second.header_offset + length]
    raw[entry + 42 : entry + 46] = target.to_bytes(4, "little")
    raw[-64:] = hashlib.sha256(raw[:-64]).hexdigest().encode()
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="overlap"):
        read_container(path, "model", mmap=True)


def test_file_systems_that_map_nothing_are_read(tmp_path, monkeypatch):
    def no_device(*_, **__):
        raise OSError(19, "No such device")

    write_container(tmp_path / "file", "model", {}, {"a": np.ones(3)})
    monkeypatch.setattr("skstruct._files.mapping.mmap.mmap", no_device)
    assert_array_equal(read_container(tmp_path / "file", "model", mmap=True)[1]["a"], 1.0)


# ------------------------------------------------------------------ models
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.skstruct")), ids=lambda path: path.stem)
def test_mapped_golden_files_predict_the_same(path):
    case = GOLDEN_CASES[path.stem.split("-", 1)[1]]
    assert answers(load_model(path, mmap=True), case) == answers(load_model(path), case)


def test_a_file_that_is_replaced_leaves_who_has_mapped_it_alone(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 4))
    old, new = (ConditionalRiskMinimizer(LabelSets("abcd"), alpha=a) for a in (0.1, 100.0))
    old.fit(X, X > 0)
    new.fit(-X[:20], X[:20] > 0)
    save_model(old, tmp_path / "model")
    mapped = load_model(tmp_path / "model", mmap=True)
    save_model(new, tmp_path / "model")
    assert_array_equal(mapped.decode(X).values, old.decode(X).values)
    again = load_model(tmp_path / "model", mmap=True)
    assert_array_equal(again.decode(X).values, new.decode(X).values)
    (tmp_path / "model").unlink()
    assert_array_equal(mapped.decode(X).values, old.decode(X).values)


# ------------------------------------------------------------------ memory
@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model of about 30 megabytes."""
    path = tmp_path_factory.mktemp("large") / "model"
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3000))
    save_model(ConditionalRiskMinimizer(LabelSets("abc"), alpha=1.0).fit(X, X[:, :3] > 0), path)
    model = load_model(path)
    smoother = model.smoother_
    assert isinstance(smoother, KernelRidge)
    # The same rows again, of weight zero: a large model that takes no time to fit.
    smoother.X_fit_ = np.vstack([smoother.X_fit_] * 7)
    width = smoother.dual_coef_.shape[1]
    smoother.dual_coef_ = np.vstack([smoother.dual_coef_, np.zeros((1200, width))])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda handle: None)
        save_model(model, path)
    return path


def pages_of(path, kind, process="self"):
    """Bytes of a process that are pages of a file, of this kind."""
    parts = re.split(r"\n(?=[0-9a-f]+-)", Path(f"/proc/{process}/smaps").read_text())
    own = [part for part in parts if part.split("\n")[0].endswith(str(path))]
    return 1024 * sum(int(re.search(rf"\n{kind}: +(\d+) kB", part)[1]) for part in own)


GROWS = """
import re, sys
from skstruct import load_model
def private():
    text = open("/proc/self/smaps_rollup").read()
    return int(re.search(r"Private_Dirty: +([0-9]+) kB", text)[1]) * 1024
load_model(sys.argv[2])  # whatever is imported once
before = private()
model = load_model(sys.argv[1], mmap=sys.argv[3] == "mapped")
print(private() - before)
"""


def grown(path, small, how):
    """Private bytes that a model takes in a fresh process, where no memory is used again."""
    command = [sys.executable, "-c", GROWS, str(path), str(small), how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


WAITS = """
import sys
import numpy as np
from skstruct import load_model
model = load_model(sys.argv[1], mmap=True)
model.predict(np.zeros((1, 3000)))
print("ready", flush=True)
sys.stdin.read()
"""


@linux
@pytest.mark.subprocess
@pytest.mark.slow
def test_processes_share_one_copy(large, tmp_path):
    size, small = large.stat().st_size, tmp_path / "small.model"
    assert size > 30_000_000
    save_model(ConditionalRiskMinimizer(alpha=0.1).fit([[0.0], [1.0]], ["a", "b"]), small)
    assert grown(large, small, "read") > 0.9 * size
    assert grown(large, small, "mapped") < 0.1 * size
    mapped, read = load_model(large, mmap=True), load_model(large)
    assert_array_equal(mapped.predict(np.ones((1, 3000))), read.predict(np.ones((1, 3000))))
    command = [sys.executable, "-c", WAITS, str(large)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "ready\n"
        for process in ("self", other.pid):
            assert pages_of(large, "Rss", process) > 0.9 * size
            assert pages_of(large, "Pss", process) < 0.6 * size  # one half of all pages each
            assert pages_of(large, "Private_Dirty", process) == 0
        other.stdin.close()
