# SPDX-License-Identifier: BSD-3-Clause
"""A server under load for long, with faults: its memory, its times and its answers stay.

Clients ask without a pause, a quarter of it hostile. Meanwhile workers are killed, a model file is
replaced by that of another model and back, and is broken in place; slow clients hold connections.
Every sound answer must be that of Python, by one of the two models. After a warm-up neither the
server nor its workers may grow by 1 MB a minute, and the 99th percentile of times in the last third
may not be far above that in the first. A leak, of 2 MB a minute where there is time for it, and a
server that gets slower are planted, and must be caught.

    python reliability/soak.py [--minutes 30] [--seed 0]
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from fuzz_server import SlowClients, schemas, told_of
from server_requests import MOST_BYTES, Requests
from soak_load import TIMEOUT, Faults, Load, versions
from soak_measures import Watch
from summary import Tries, arguments, finish
from trial_server import ROWS, TrialServer, X, models

import skstruct.serving.working as working
from skstruct import ConditionalRiskMinimizer, save_model
from skstruct.serving.served import Served

MINUTES = 30.0
MOST_SLOPE = 1.0  # MB a minute
MOST_SLOWER = 3.0  # times the 99th percentile of before, and
SLACK = 0.05  # seconds more
PLANTED_SECONDS = 25.0
PLANTED_LEAK = 2.0  # MB a minute, in a run of
LEAK_SECONDS = 240.0  # a shorter one has a larger leak, which the warm-up cannot hide


def soak(fitted, tries, workers=2, plant=None):
    """A server under load; what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        files, contents = {}, []
        for name, several in fitted.items():
            path = files[name] = Path(folder) / f"{name}.model"
            for model in reversed(several):
                save_model(model, path)
                contents.append(path.read_bytes())
        log = Path(folder) / "log"
        settings = {"timeout": TIMEOUT, "max_bytes": MOST_BYTES, "log_level": "warning"}
        with TrialServer(files, log, workers=workers, plant=plant, **settings) as server:
            served = {name: Served(name, several[0]) for name, several in fitted.items()}
            told = schemas(server)
            drawn = Requests(server.port, served, told, _sound(fitted), tries.given.seed)
            tries.start = time.monotonic()
            watch, slow = Watch(server), SlowClients(server.port)
            faults = Faults(server, contents[-2:], path)
            load = Load(server, drawn, versions(fitted), tries, watch)
            others = (watch, slow, faults) if workers > 1 else (watch, slow)
            for thread in (*others, load):
                thread.start()
            load.join()
            for thread in others:
                thread.ends.set()
                thread.join()
            for wrong in told_of(server):
                tries.fail(tries.tried, wrong)
            return _measured(watch, tries) | {"faults": faults.counts}


def _sound(fitted):
    """For hostile requests, which are sound ones that were changed."""
    last = {name: several for name, several in fitted.items() if len(several) == 1}
    return [(address, body, answers[0]) for address, body, answers in versions(last)]


def _measured(watch, tries):
    slope, (before, after) = watch.slope(), watch.percentiles()
    if slope > MOST_SLOPE:
        tries.fail(tries.tried, f"memory grows by {slope:.2f} MB a minute")
    elif (jumped := watch.jumped(MOST_SLOPE)) > 0:
        tries.fail(tries.tried, f"memory grows at once, {jumped:.1f} MB more than is allowed")
    if after > MOST_SLOWER * before + SLACK:
        tries.fail(tries.tried, f"99th percentile: {before:.3f} s at first, {after:.3f} s at last")
    times = {"p99_first": round(before, 4), "p99_last": round(after, 4)}
    return {"mb_per_minute": round(slope, 3), "mb_of_processes": watch.levels(), **times}


def leaks(rate):
    """A planted bug: answers leave something behind, so many MB a minute."""

    def plant():
        kept, right, last = [], working.answer, [time.monotonic()]

        def answer(*arguments):
            now = time.monotonic()
            kept.append(np.ones(int(rate * 1e6 / 8 * (now - last[0]) / 60)))
            last[0] = now
            return right(*arguments)

        working.answer = answer

    return plant


def slows_down():
    """A planted bug: after some seconds every answer takes seconds."""
    right, began = working.answer, []

    def answer(*arguments):
        began.append(time.monotonic())
        if began[-1] > began[0] + PLANTED_SECONDS / 2:
            time.sleep(3.0)
        return right(*arguments)

    working.answer = answer


def planted(fitted, given):
    """Whether both bugs are caught."""
    long = min(LEAK_SECONDS, max(PLANTED_SECONDS, 12 * given.minutes))  # a fifth of the time
    leak = leaks(PLANTED_LEAK * (LEAK_SECONDS / long) ** 2)
    caught = {}
    bugs = ((leak, "memory grows by", long), (slows_down, "99th percentile", PLANTED_SECONDS))
    for bug, word, seconds in bugs:
        short = type(given)(**{**vars(given), "cases": 10**9, "minutes": seconds / 60})
        tries = Tries(short)
        soak(fitted, tries, workers=1, plant=bug)
        caught[word] = any(word in failure["why"] for failure in tries.failures)
    return caught


def models_of():
    """Models by name, the last one in two versions."""
    found = {name: [model] for name, model in models().items() if name != "sets"}
    labels = [set(output) for output in models()["sets"].predict(ROWS)]
    other = [{*labels[i], *labels[i - 1]} for i in range(len(X))]
    fit = ConditionalRiskMinimizer
    return found | {
        "changing": [fit(alpha=a).fit(ROWS, y) for a, y in ((1.0, labels), (0.1, other))]
    }


def main() -> int:
    given = arguments(__doc__, 10**9)
    given.minutes = MINUTES if given.minutes is None else given.minutes
    warnings.simplefilter("ignore")
    fitted = models_of()
    caught = planted(fitted, given)
    tries = Tries(given)
    measured = soak(fitted, tries)
    rate = round(tries.tried / max(tries.seconds, 0.001), 1)
    more = {"planted_caught": all(caught.values()), "planted": caught, "requests_per_second": rate}
    return finish("soak", tries.counts(**more, **measured))


if __name__ == "__main__":
    sys.exit(main())
