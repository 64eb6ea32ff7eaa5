# SPDX-License-Identifier: BSD-3-Clause
"""Small models behind a server in this process."""

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer
from skstruct.serving import Settings, make_app
from skstruct.serving.logs import Log

RNG = np.random.default_rng(0)
N = 30
ROWS = [
    {"size": float(a), "sky": "sun" if b > 0 else "rain", "wind": float(c)}
    for a, b, c in RNG.standard_normal((N, 3)).round(3)
]
SETS = [
    {name for name, there in (("hot", row["size"] > 0), ("dry", row["sky"] == "sun"),
                              ("calm", row["wind"] < 0)) if there}
    for row in ROWS
]  # fmt: skip


def sets_model(alpha=0.1):
    return ConditionalRiskMinimizer(alpha=alpha).fit(ROWS, SETS)


class Lines:
    """A file that keeps what is written."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


@pytest.fixture(scope="module")
def model():
    return sets_model()


@pytest.fixture
def lines():
    return Lines()


@pytest.fixture
def client_of(lines):
    """Makes a client of a server with such models and settings."""
    from contextlib import ExitStack

    from fastapi.testclient import TestClient

    with ExitStack() as stack:

        def make(models, **settings):
            app = make_app(models, Settings(**settings), log=Log(file=lines))
            return stack.enter_context(TestClient(app, raise_server_exceptions=False))

        yield make
