# SPDX-License-Identifier: BSD-3-Clause
"""Settings for all tests: cases are chosen the same way in every run, figures are closed.

Which tests need more than a moment is told by marks (see pyproject.toml); ``make check`` runs the
others. Kernels stay compiled between runs: see kernel_cache.py.
"""

import functools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import kernel_cache

settings.register_profile(
    "skstruct",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("skstruct")
kernel_cache.use()

# What is printed and drawn is the same in any terminal, and in none.
for _name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(_name, None)
os.environ.update(COLUMNS="80", MPLBACKEND="Agg")
# Nobody is told that tests were run.
os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true")


def pytest_sessionfinish(session):
    if not hasattr(session.config, "workerinput"):
        kernel_cache.remove_old()


def pytest_itemcollected(item):
    """A test that loads published data says so by its fixture."""
    if "real_data" in getattr(item, "fixturenames", ()):
        item.add_marker("data")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Files with slow tests come first: nobody waits for a last long test alone."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture
def real_data():
    """Calls a loader of published data; where there are no files, the test is skipped."""
    from skstruct.exceptions import MissingDataError

    def load(loader, *arguments):
        try:
            return loader(*arguments)
        except MissingDataError as error:
            pytest.skip(str(error))

    return load


@pytest.fixture(autouse=True)
def _draws_are_the_same_in_every_run(request, monkeypatch):
    """Whether a test passes is a matter neither of luck nor of the tests that ran before it.

    A learner with ``random_state=None`` draws from NumPy's own state, and ``default_rng()`` would
    ask the machine; the generator of a file goes on where the last test of the file left it.
    """
    np.random.seed(0)  # noqa: NPY002
    made = np.random.default_rng
    monkeypatch.setattr(
        np.random,
        "default_rng",
        lambda seed=None: made(np.random.randint(2**31) if seed is None else seed),  # noqa: NPY002
    )
    file = request.node.getparent(pytest.Module)
    for generator, state in _states(file.obj) if file is not None else ():
        generator.bit_generator.state = state


@functools.cache
def _states(module):
    """Generators of a file, and where they stand before its first test."""
    found = [value for value in vars(module).values() if isinstance(value, np.random.Generator)]
    return [(generator, generator.bit_generator.state) for generator in found]


@pytest.fixture(autouse=True)
def _processes_are_announced(request, monkeypatch):
    """Who starts Python again, or splits this process, has the mark that says so."""
    if request.node.get_closest_marker("subprocess") is not None:
        return
    start = subprocess.Popen.__init__

    def started(self, args, *more, **options):
        words = [args] if isinstance(args, str | bytes | os.PathLike) else list(args)
        assert sys.executable not in map(os.fsdecode, words), "a test without mark `subprocess`"
        start(self, args, *more, **options)

    def forked():
        raise AssertionError("a test without mark `subprocess`")

    monkeypatch.setattr(subprocess.Popen, "__init__", started)
    monkeypatch.setattr(os, "fork", forked)


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    """Pictures of one test are none of the next one's business."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def shown_at_once(monkeypatch):
    """Progress is shown from the first moment on, whatever the clock says."""
    from skstruct._arrays import progress

    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "STAGE_AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(progress, "BEAT", None)
