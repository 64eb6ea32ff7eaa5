# SPDX-License-Identifier: BSD-3-Clause
"""Kernels wait for their first call, and machine code is found again by the texts of sources."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import skstruct
from skstruct._arrays import compiling
from skstruct.spaces.solvers import _numba_closures

SOURCE = Path(_numba_closures.__file__).resolve()


@pytest.mark.subprocess
def test_importing_kernels_does_not_import_numba():
    code = "import sys, skstruct.spaces.solvers._numba_closures; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kernels_are_pickled_by_name():
    kernel = _numba_closures.transposed
    assert pickle.loads(pickle.dumps(kernel)) is kernel
    assert kernel.py_func.__module__ == "skstruct.spaces.solvers._numba_closures"


def test_sources_are_near_and_far():
    names = {path.relative_to(compiling.PACKAGE).as_posix() for path in compiling.sources(SOURCE)}
    assert {"spaces/solvers/_numba_closures.py", "tolerances.py", "_arrays/compiling.py"} <= names


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Two modules, of which one imports the other."""
    monkeypatch.setattr(compiling, "PACKAGE", tmp_path)
    (tmp_path / "far.py").write_text("STEP = 1\n")
    (tmp_path / "near.py").write_text("from skstruct.far import STEP\n")
    return tmp_path


def test_another_text_is_another_folder(package):
    before = compiling.text_key(package / "near.py")
    assert before.startswith("near-")
    os.utime(package / "near.py", (0, 0))
    assert compiling.text_key(package / "near.py") == before
    (package / "far.py").write_text("STEP = 2\n")
    assert compiling.text_key(package / "near.py") != before


def test_settings_of_numba_tell_kernels_apart(package, monkeypatch):
    before = compiling.text_key(package / "near.py")
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    assert compiling.text_key(package / "near.py") == before
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert compiling.text_key(package / "near.py") != before


def test_the_folder_of_the_user(monkeypatch, tmp_path):
    import numba

    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    name = f"{skstruct.__version__}-numba-{numba.__version__}"
    assert compiling.kernels_home() == tmp_path / "skstruct" / name
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "given"))
    assert compiling.kernels_home().is_relative_to(tmp_path / "given")


def test_a_folder_that_cannot_be_made_is_none(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    compiling._folder_of.cache_clear()
    try:
        assert compiling._folder_of(SOURCE) is None
    finally:
        compiling._folder_of.cache_clear()


CODE = """
import sys
from numba.core import event
import numpy as np
from skstruct.spaces.edge_sets._numba_spanning_trees import find

class Compiled(event.Listener):
    names = []
    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

event.register("numba:compile", Compiled())
assert find(np.array([0, 0, 1]), 2) == 0
print("find" in Compiled.names)
"""


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.parametrize("writable", [True, False])
def test_kernels_are_kept_between_processes(tmp_path, writable):
    home = tmp_path / "home"
    if not writable:
        home.write_text("")  # no folder can be made here
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    environment["NUMBA_CACHE_DIR"] = str(home)

    def compiled():
        done = subprocess.run(
            [sys.executable, "-c", CODE], env=environment, check=True, capture_output=True
        )
        return done.stdout.strip() == b"True"

    assert compiled()
    if writable:
        assert not compiled()


def test_a_kernel_called_by_python_and_by_a_kernel():
    inner = compiling.njit(nogil=True)(_add_one)
    outer = compiling.njit(nogil=True)(_of_kernel(inner))
    assert inner(1) == 2
    assert outer(np.int64(1)) == 3


def _add_one(x):
    return x + 1


def _of_kernel(inner):
    def twice(x):
        return inner(inner(x))

    return twice
