# SPDX-License-Identifier: BSD-3-Clause
"""A server of models on bad requests: answered by 2xx or 4xx, never 500, never late.

Requests are good ones with something wrong: bytes changed, cells of other kinds, options that
nobody knows, numbers that no float holds, nesting, keys given twice, streams of Arrow cut off.
Whatever comes back has to be JSON with a sentence, or the answer in the format asked for. A planted
bug, a route that fails, has to be caught.

    python reliability/fuzz_server.py --count 5000 --seed 0
"""

from __future__ import annotations

import argparse
import io
import json
import random
import re
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
from mutations import mutants
from summary import finish

import skstruct.serving.working as working
from skstruct import ConditionalRiskMinimizer
from skstruct import spaces as S
from skstruct.serving import Settings, make_app
from skstruct.serving.logs import Log
from skstruct.serving.parsing import ARROW, CSV, JSON
from skstruct.serving.settings import QUESTIONS

SLOW_SECONDS = 20.0  # of one small request, on a machine that is busy
RNG = np.random.default_rng(0)
X = RNG.standard_normal((20, 3)).round(2)
ROWS = [{"u": float(a), "v": "xyz"[int(b > 0)], "w": float(c)} for a, b, c in X]
CELLS = [
    "null", "true", "-0.0", "1e308", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", '""', '"x"',
    '"NA"', '"1.5"', '"1e999"', '"\\u0000"', '"\\ud800"', "[]", "[1]", "{}", '{"a": 1}',
    "1" + "0" * 30, "1" * 400, "9" * 5000, "[[[[1]]]]", '"' + "a" * 5000 + '"', "0x1", "1_0", "é",
    "'x'", "", "-", "1.", "[" * 3000,
]  # fmt: skip
OPTIONS = [
    '"loss"', '"restrict"', '"threshold"', '"level"', '"k"', '"n"', '"model"', '"rows"',
    '"nothing"',
]  # fmt: skip
VALUES = [
    *CELLS, '"f1"', '"hamming"', '"kendall"', '"hamming(miss=5)"', '"hamming(miss=[1])"', '"f1()"',
    '"cost_matrix(5)"', '"hamming(miss={1: 2})"', '"__import__(1)"', '"hamming(" ',
    '"pinball(0.3)"', '{"include": ["a"]}', '{"include": "a"}', '{"include": [["a"]]}',
    '{"include": {"a": 1}}', '{"max_size": -1}', '{"max_size": 1e9}', '{"max_size": NaN}',
    '{"min_size": 99}', '{"exclusive": [["a", "b"]]}', '{"exclusive": 3}',
    '{"before": [["a", "b"]]}', '{"top": 2}', '{"positions": {"a": 9}}', '{"low": [0]}',
    '{"known": {"0": "x"}}', '{"length": -3}', '{"length": 1e6}', "[{}]", "[null, {}]",
    "[{}, {}, {}]", "0.5", "0", "1", "1000", "1001", "-1", '"micro_f1"', '"recall=0.9"',
    '"recall=nan"', "0.1",
]  # fmt: skip


def models():
    """Small models of several kinds."""
    fit = ConditionalRiskMinimizer
    sets = [{name for name, there in zip("abc", x > 0) if there} for x in X]
    words = [list("ab" if x[0] > 0 else "ba") for x in X]
    tags = [tuple("xy" if x[0] > 0 else "yx") for x in X]
    return {
        "sets": fit(alpha=1.0).fit(ROWS, sets),
        "classes": fit(alpha=1.0).fit(X, np.where(X[:, 0] > 0, "p", "q")),
        "ranks": fit(S.Rankings(list("abc")), alpha=1.0).fit(X, np.argsort(np.argsort(X)) + 1),
        "numbers": fit(S.Box(), alpha=1.0).fit(ROWS, X[:, :2]),
        "tags": fit(S.Sequences(), alpha=1.0).fit(words, tags),
    }


def bodies(rng, served):
    """A request with something wrong: type of the content, its bytes, and the address."""
    question = rng.choice(QUESTIONS)
    name = rng.choice(list(served))
    rows = served[name].example_rows(rng.choice((1, 1, 2, 3)))
    way = rng.random()
    address = f"/{question}?model={name}"
    if way < 0.15:
        return address, CSV, mutated(rng, csv_of(rows))
    if way < 0.3:
        return address, ARROW, mutated(rng, arrow_of(rows))
    text = json.dumps({"rows": rows})
    if way < 0.5:
        return address, JSON, mutated(rng, text.encode())
    if way < 0.75:
        key, value = rng.choice(OPTIONS), rng.choice(VALUES)
        return address, JSON, f"{text[:-1]}, {key}: {value}}}".encode("utf-8", "surrogatepass")
    if way < 0.8:
        key, value = rng.choice(OPTIONS).strip('"'), rng.choice(VALUES)
        return f"{address}&{key}={value[:2000]}", JSON, text.encode()
    start, end = rng.choice(json_cells(text))
    return address, JSON, (text[:start] + rng.choice(CELLS) + text[end:]).encode()


def json_cells(text):
    """Where numbers and texts of a JSON text are."""
    return [found.span() for found in re.finditer(r'-?\d+\.?\d*|"[^"]*"', text)]


def mutated(rng, body):
    return next(mutants([body], 1, rng)) if body else body


def csv_of(rows):
    if not isinstance(rows[0], dict):
        return b"words\na b\n"
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    return "\n".join(lines).encode()


def arrow_of(rows):
    import pyarrow

    columns = {"words": rows} if not isinstance(rows[0], dict) else None
    table = pyarrow.table(columns) if columns else pyarrow.Table.from_pylist(rows)
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue()


def judged(client, address, kind, body, accept, statuses):
    """What is wrong with an answer; None if nothing is."""
    start = time.perf_counter()
    headers = {"content-type": kind, "accept": accept}
    found = client.post(address, content=body, headers=headers)
    seconds = time.perf_counter() - start
    statuses[found.status_code] += 1
    if found.status_code >= 500 and found.status_code != 503:
        return f"status {found.status_code}"
    if seconds > SLOW_SECONDS:
        return f"took {seconds:.1f} s"
    if found.status_code != 200:
        told = found.json()
        return None if isinstance(told.get("error"), str) and told["error"] else "no sentence"
    if accept == JSON:
        found.json()
    return None


def tried(client, served, rng, count):
    counts: dict[str, Any] = {"tried": 0, "failed": 0, "statuses": Counter()}
    failures = []
    for _ in range(count):
        address, kind, body = bodies(rng, served)
        accept = rng.choice((JSON, JSON, CSV, ARROW))
        counts["tried"] += 1
        try:
            problem = judged(client, address, kind, body, accept, counts["statuses"])
        except Exception as error:  # of the client: an answer that it cannot read
            problem = f"{type(error).__name__}: {error}"
        if problem:
            counts["failed"] += 1
            failures.append(
                {"problem": problem, "address": address[:300], "body": repr(body)[:300]}
            )
    return counts, failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

    from skstruct.serving.served import Served

    fitted = models()
    served = {name: Served(name, model) for name, model in fitted.items()}
    log = io.StringIO()
    app = make_app(fitted, Settings(timeout=60.0, max_bytes=200_000), log=Log("error", log))
    with TestClient(app, raise_server_exceptions=False) as client:
        counts, failures = tried(client, served, random.Random(options.seed), options.count)
        answer, working.answer = working.answer, _planted
        body = json.dumps(ROWS[:1]).encode()
        planted = judged(client, "/predict?model=sets", JSON, body, JSON, Counter())
        working.answer = answer
    counts |= {"failures": failures[:20], "planted_caught": bool(planted)}
    if failures:
        counts["log"] = log.getvalue()[:3000]
    return finish("fuzz_server", counts)


def _planted(*_):
    raise KeyError("a bug")


if __name__ == "__main__":
    raise SystemExit(main())
