# SPDX-License-Identifier: BSD-3-Clause
"""Names that try to run, on the live page of the real server; a page that runs them is caught."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from reliability.report_checks import HOW_TO_GET_ONE, find_browser

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason=HOW_TO_GET_ONE),
]
FOLDER = Path(__file__).parents[2] / "reliability"


@pytest.fixture(scope="module")
def harness():
    """The script, its server and a tab of its browser."""
    sys.path.insert(0, str(FOLDER))
    try:
        import inject_page
        import summary

        with inject_page.served() as page, inject_page.visitor(page) as tab:
            yield SimpleNamespace(script=inject_page, summary=summary, holder=page[0], tab=tab)
    finally:
        sys.path.remove(str(FOLDER))


def test_a_page_that_reads_names_as_markup_is_caught(harness):
    assert harness.script.planted_is_caught(harness.holder, harness.tab)


def test_some_hundred_names_stay_names(harness):
    given = SimpleNamespace(cases=250, minutes=None, seed=0)
    tries = harness.summary.Tries(given)
    assert harness.script.inject(tries, harness.holder, harness.tab) >= 2
    assert tries.tried == 250
    assert tries.failures == []
