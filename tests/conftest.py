# SPDX-License-Identifier: BSD-3-Clause
"""Settings for all tests: cases are chosen the same way in every run, figures are closed."""

import sys

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "skstruct",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("skstruct")


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
