# SPDX-License-Identifier: BSD-3-Clause
"""The page with the real server, for every structure: drawn, fixed, asked what if, linked."""

import socket
import threading
from contextlib import contextmanager

import pytest
from reliability.report_checks import HOW_TO_GET_ONE, find_browser
from tests.explorer.browser import Watched, opened_browser, overflow
from tests.explorer.page_models import STRUCTURES, fitted

pytest.importorskip("fastapi")
uvicorn = pytest.importorskip("uvicorn")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason=HOW_TO_GET_ONE),
]


@contextmanager
def running(app):
    """The address of an application that is served by a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        finally:
            server.should_exit = True
            thread.join(10)


@pytest.fixture(scope="module")
def watched():
    with opened_browser() as started:
        yield Watched(started)


def idle(page):
    """Waits until the last question is answered."""
    page.wait_for_function(
        "() => !document.querySelector('#decision[aria-busy]')"
        " && document.querySelector('#drawing > *')",
        timeout=60_000,  # code may be compiled at the first question
    )


def shown(page):
    return [page.locator(name).inner_text() for name in ("#facts", "#chips", "#rows-count")]


def fix_a_part(page, fixable):
    """Clicks on one part until it is free again."""
    first = page.locator("#drawing [data-part][role=button]").first
    key = first.get_attribute("data-part")
    for state in fixable:
        page.evaluate(
            "key => [...document.querySelectorAll('#drawing [data-part]')]"
            ".find(one => one.dataset.part === key)"
            ".dispatchEvent(new MouseEvent('click', { bubbles: true }))", key)  # fmt: skip
        page.wait_for_selector(f"#chips .{state}")
        idle(page)
        error = page.locator("#constraint-error")
        assert error.is_hidden(), error.inner_text()
        drawn = page.evaluate(
            "key => [...document.querySelectorAll('#drawing [data-part]')]"
            ".find(one => one.dataset.part === key)?.getAttribute('class')", key)  # fmt: skip
        assert f"fixed-{state}" in (drawn or f"fixed-{state}")  # it may be drawn no longer
        assert page.locator("#changes").is_visible()


@pytest.mark.parametrize("name", STRUCTURES)
def test_a_structure_in_the_explorer(watched, name):
    from skstruct.explorer import make_app

    model, X, y = fitted(name)
    with running(make_app(model, X, y, name=name)) as address:
        # An answer of 422 is no fault of the page: some parts cannot be together with others.
        page = watched.open(address, wait=False)
        idle(page)
        asked = page.evaluate("fetch('api/model').then(answer => answer.json())")
        assert page.locator("#drawing svg[role=group]").count() == 1
        assert page.locator("#drawing [data-part]").count() > 0
        assert page.locator("#drawing-text").text_content() != ""
        assert "Predicted" in page.locator("#facts").inner_text()
        page.wait_for_selector("#slices .chart", timeout=60_000)
        page.locator("#rows-table tbody tr").nth(3).click()
        idle(page)
        if asked["fixable"]:
            fix_a_part(page, asked["fixable"])
        if asked["can"]["what_if"]:
            page.locator("#whatif-fields input[type=range]").first.focus()
            page.keyboard.press("End")
            page.wait_for_selector(".value.changed")
            idle(page)
        if len(asked["losses"]) > 1:
            page.locator("#loss").select_option(index=1)
            idle(page)
        page.wait_for_selector("#changes:not([hidden])")
        before = shown(page)
        page.set_viewport_size({"width": 390, "height": 800})
        page.reload()  # all of the view is in the address
        page.wait_for_selector("#rows-table tbody tr")
        page.wait_for_selector("#changes:not([hidden])")
        page.wait_for_selector("#slices .chart", timeout=60_000)
        assert shown(page) == before
        assert overflow(page) <= 0
        assert watched.close() == []
