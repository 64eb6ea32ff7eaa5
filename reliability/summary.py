# SPDX-License-Identifier: BSD-3-Clause
"""How every script of this folder begins and ends: cases, minutes and a seed; one JSON object.

given = arguments(__doc__, cases=10_000)
tries = Tries(given)                      # so many cases, or so many minutes
for number in tries:
    ...
    tries.fail(number, "what was wrong", "how to see it again")
sys.exit(finish("flip_models", tries.counts(planted_caught=caught)))
"""

import argparse
import json
import platform
import time
from importlib.metadata import version

MOST_FAILURES = 20  # that are printed


def arguments(doc, cases, *more):
    """Options that all scripts have, and (name, settings) of further ones."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=cases, help=f"{cases:,} if not stated")
    parser.add_argument("--minutes", type=float, help="stop after so many, however few cases")
    parser.add_argument("--seed", type=int, default=0)
    for name, settings in more:
        parser.add_argument(name, **settings)
    return parser.parse_args()


class Tries:
    """Numbers of cases, until there are enough or time is over, and what went wrong."""

    def __init__(self, given):
        self.given, self.tried, self.failures, self.n_failed = given, 0, [], 0
        self.start = time.monotonic()

    def __iter__(self):
        while self.tried < self.given.cases and not self.over:
            yield self.tried
            self.tried += 1

    @property
    def seconds(self):
        return time.monotonic() - self.start

    @property
    def over(self):
        """Whether the minutes are spent."""
        return self.given.minutes is not None and self.seconds > 60 * self.given.minutes

    def fail(self, case, why, again=""):
        """A case that went wrong: why, and what to call or keep to see it again."""
        self.n_failed += 1
        if len(self.failures) < MOST_FAILURES:
            self.failures.append({"case": case, "why": why, "again": again})

    def counts(self, **more):
        found = {"tried": self.tried, "failed": self.n_failed, "failures": self.failures}
        return {**found, "seed": self.given.seed, "seconds": round(self.seconds, 1), **more}


def finish(name, counts) -> int:
    """Print the counts with versions; 1 if something failed or no planted bug was caught."""
    versions = {package: version(package) for package in ("skstruct", "numpy", "scikit-learn")}
    versions["python"] = platform.python_version()
    print(json.dumps({"script": name, **counts, "versions": versions}, indent=2))
    return int(bool(counts["failed"]) or not counts["planted_caught"])
