# SPDX-License-Identifier: BSD-3-Clause
"""A small server and a browser for the tests of the page, one of each per module."""

import pytest
from tests.explorer.browser import Watched, opened_browser
from tests.explorer.fake_server import fake_server


@pytest.fixture(scope="module")
def fake():
    with fake_server() as running:
        yield running


@pytest.fixture(scope="module")
def opened():
    with opened_browser() as running:
        yield running


@pytest.fixture(scope="module")
def pages(opened):
    return Watched(opened)


@pytest.fixture
def watched(pages):
    yield pages
    assert pages.close() == []


@pytest.fixture
def page(watched, fake):
    return watched.open(fake.address)
