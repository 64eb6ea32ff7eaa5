# SPDX-License-Identifier: BSD-3-Clause
"""Clients of explorers of small models."""

from functools import cache

from fastapi.testclient import TestClient
from tests.explorer.structures import CASES, fitted

from skstruct.explorer import make_app

ADDRESS = "http://127.0.0.1:8000"


@cache
def client_of(name):
    """A client of the explorer of a case, made once."""
    _, inputs, outputs, options = CASES[name]
    return TestClient(make_app(fitted(name), inputs, outputs, **options), base_url=ADDRESS)
