# SPDX-License-Identifier: BSD-3-Clause
"""A server of models on requests that schemathesis draws from the server's own description.

It draws what the description allows and what it forbids, and holds every answer against the
description: no 5xx, no status, kind or header that is not listed, no other methods, no answer
without a token, nothing that is forbidden accepted. Its check that all that is allowed is accepted
is left out: no schema can list which labels a model knows. Half of the bodies that are allowed get
rows of a model, so that they come as far as its answers. A route that fails is planted first.

    python reliability/fuzz_schema.py [--cases 10000] [--minutes M] [--seed 0]

Needs schemathesis, which comes with the extra "reliability".
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections import Counter

import schemathesis
from fuzz_server import SLOW_SECONDS, fails_sometimes, watched
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import positive_data_acceptance
from summary import Tries, arguments, finish
from trial_server import TOKEN, models

from skstruct.serving.served import Served

EXAMPLES = 20  # of one operation and mode at a time
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


class Asking:
    """Asks one server; ``served`` has the models that rows are taken of."""

    def __init__(self, server, served, tries):
        self.base_url, self.served, self.tries = f"http://127.0.0.1:{server.port}", served, tries
        self.statuses: Counter = Counter()
        server.get("/ready", patience=600.0)
        description = json.loads(server.get("/openapi.json"))
        found = schemathesis.openapi.from_dict(description).get_all_operations()
        self.operations = [one.ok() for one in found]

    def run(self):
        """All operations in turn, some requests of each, until there are enough."""
        turn = 0
        while self.tries.tried < self.tries.given.cases and not self.tries.over:
            operation = self.operations[turn // len(MODES) % len(self.operations)]
            mode = MODES[turn % len(MODES)]
            rng = random.Random(f"{self.tries.given.seed} {turn}")
            self._some(operation, mode, rng)
            turn += 1

    def _some(self, operation, mode, rng):
        @seed(rng.getrandbits(64))
        @SETTINGS
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case):
            if mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
                self._give_rows(case.body, rng)
            self.tries.tried += 1
            if problem := self._wrong(case):
                self.tries.fail(self.tries.tried, problem, case.as_curl_command())

        try:
            ask()
        except Unsatisfiable:  # nothing can be forbidden where nothing is asked for
            return

    def _give_rows(self, body, rng):
        if rng.random() < 0.5:
            body["model"] = rng.choice(list(self.served))
            body["rows"] = self.served[body["model"]].example_rows(rng.choice((1, 2)))

    def _wrong(self, case):
        """What is wrong with the answer to a request; None if nothing is."""
        headers = {"Authorization": f"Bearer {TOKEN}"}
        try:
            found = case.call(base_url=self.base_url, headers=headers, timeout=SLOW_SECONDS)
            self.statuses[str(found.status_code)] += 1
            case.validate_response(found, excluded_checks=[positive_data_acceptance])
        except FailureGroup as failed:  # which is no Exception
            names = ", ".join(type(error).__name__ for error in failed.exceptions)
            return f"{names}: {failed}"[:1000]
        except Exception as error:  # no answer, or one that cannot be read
            return f"{type(error).__name__}: {error}"[:1000]
        return None


def attack(fitted, tries, plant=None):
    """Ask a server of its own; how often which status came back."""
    served = {name: Served(name, model) for name, model in fitted.items()}
    with watched(fitted, tries, plant) as server:
        asking = Asking(server, served, tries)
        asking.run()
    return dict(asking.statuses)


def caught(fitted, given, n=400):
    """Whether a route that fails is found."""
    tries = Tries(type(given)(**{**vars(given), "cases": n, "minutes": None}))
    attack(fitted, tries, plant=fails_sometimes)
    return any("ServerError" in failure["why"] for failure in tries.failures)


def main() -> int:
    given = arguments(__doc__, 10_000)
    warnings.simplefilter("ignore")
    fitted = models()
    planted = caught(fitted, given)
    tries = Tries(given)
    statuses = attack(fitted, tries)
    return finish("fuzz_schema", tries.counts(planted_caught=planted, statuses=statuses))


if __name__ == "__main__":
    sys.exit(main())
