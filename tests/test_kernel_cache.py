# SPDX-License-Identifier: BSD-3-Clause
"""Machine code is found again by what its sources say, and by nothing else."""

import os
import time

import numba
import pytest

import kernel_cache
from skstruct.spaces.solvers import _numba_closures


@pytest.fixture
def package(tmp_path):
    """Kernels in near.py, which calls far.py, which takes a constant of deep/constants.py."""

    def made(place):
        folder = tmp_path / place / "kernels"
        (folder / "deep").mkdir(parents=True)
        for name, text in {
            "__init__.py": "import kernels.near\n",
            "deep/__init__.py": "",
            "near.py": "import numpy\n\nfrom kernels import far\n",
            "far.py": "def f():\n    from kernels.deep.constants import ONE\n",
            "deep/constants.py": "ONE = 1\n",
            "other.py": "",
        }.items():
            (folder / name).write_text(text)
        return folder

    return made


def test_a_folder_is_named_by_all_that_is_imported(package):
    folder = package("one")
    near = folder / "near.py"
    files = ("near.py", "far.py", "deep/constants.py", "__init__.py")
    assert kernel_cache.sources(near) == sorted(folder / name for name in files)
    assert kernel_cache.sources(folder / "other.py") == [folder / "other.py"]
    before = kernel_cache.content(near)
    assert before.startswith("near-")
    for name in files:
        text = (folder / name).read_text()
        (folder / name).write_text(text + "# a word\n")
        assert kernel_cache.content(near) != before
        (folder / name).write_text(text)
    (folder / "other.py").write_text("TWO = 2\n")
    assert kernel_cache.content(near) == before


def test_neither_the_place_nor_the_times_of_files_count(package):
    here, there = (package(place) / "near.py" for place in ("one", "two"))
    os.utime(there, (0, 0))
    assert kernel_cache.content(here) == kernel_cache.content(there)


def test_the_settings_of_numba_count(package, monkeypatch):
    path = package("one") / "near.py"
    before = kernel_cache.content(path)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert kernel_cache.content(path) != before


def test_a_file_that_changed_after_the_tests_began_is_left_to_numba(package, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = package("one") / "near.py"
    locate = kernel_cache.ByContent.from_function
    assert locate(made_here, str(path)) is None  # it was written just now
    monkeypatch.setenv(kernel_cache.BEGAN, repr(time.time() + 1.0))
    kernel_cache.folder_of.cache_clear()
    found = locate(made_here, str(path))
    assert found.get_cache_path() == str(kernel_cache.home() / kernel_cache.content(path))
    kernel_cache.folder_of.cache_clear()
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert locate(made_here, str(path)) is None
    kernel_cache.folder_of.cache_clear()


def made_here():
    """Stands for a kernel."""


def test_relative_imports_are_refused(package):
    folder = package("one")
    (folder / "near.py").write_text("from . import far\n")
    with pytest.raises(ValueError, match="relative import"):
        kernel_cache.content(folder / "near.py")


def test_folders_that_nobody_used_are_removed(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("old", "new"):
        (kernel_cache.home() / name).mkdir(parents=True)
    os.utime(kernel_cache.home() / "old", (0, 0))
    kernel_cache.remove_old()
    assert [folder.name for folder in kernel_cache.home().iterdir()] == ["new"]


@pytest.mark.skipif(
    not hasattr(numba.config, "CACHE_LOCATOR_CLASSES"), reason="this numba does not ask"
)
def test_numba_asks():
    kernel = numba.njit(cache=True)(_numba_closures.transposed.py_func)
    where = kernel._cache.cache_path
    assert where.startswith(str(kernel_cache.home() / "spaces.solvers._numba_closures-"))
