# SPDX-License-Identifier: BSD-3-Clause
"""Requests to a server of models, drawn by number: sound, damaged, from its schema, and tricks."""

from __future__ import annotations

import io
import json
import random
import re
from urllib.parse import quote

from mutations import mutants
from raw_http import Drawn, chunked, request
from schema_values import near_value, text_of
from trial_server import LABELS, SECRET, TOKEN

from skstruct.serving.parsing import ARROW, CSV, JSON
from skstruct.serving.settings import QUESTIONS

MOST_BYTES = 200_000  # that the server takes
CELLS = [
    "null", "true", "-0.0", "1e308", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", '""', '"x"',
    '"NA"', '"1.5"', '"1e999"', '"\\u0000"', '"\\ud800"', "[]", "[1]", "{}", '{"a": 1}',
    "1" + "0" * 30, "1" * 400, "9" * 5000, "[[[[1]]]]", '"' + "a" * 5000 + '"', "0x1", "1_0", "é",
    "'x'", "", "-", "1.", "[" * 3000, f'"{SECRET}"',
]  # fmt: skip
OPTIONS = [
    '"loss"', '"restrict"', '"threshold"', '"level"', '"k"', '"n"', '"model"', '"rows"',
    '"nothing"', f'"{SECRET}"',
]  # fmt: skip
VALUES = [
    *CELLS, '"f1"', '"hamming"', '"kendall"', '"hamming(miss=5)"', '"hamming(miss=[1])"', '"f1()"',
    '"cost_matrix(5)"', '"hamming(miss={1: 2})"', '"__import__(1)"', '"hamming(" ',
    '"pinball(0.3)"', f'{{"include": ["{LABELS[0]}"]}}', '{"include": "a"}',
    '{"include": [["a"]]}', '{"include": {"a": 1}}', '{"max_size": -1}', '{"max_size": 1e9}',
    '{"max_size": NaN}', '{"min_size": 99}', f'{{"exclusive": [["{LABELS[0]}", "{LABELS[1]}"]]}}',
    '{"exclusive": 3}', f'{{"before": [["{LABELS[0]}", "{LABELS[1]}"]]}}', '{"top": 2}',
    f'{{"positions": {{"{LABELS[0]}": 9}}}}', '{"low": [0]}', '{"known": {"0": "x"}}',
    '{"length": -3}', '{"length": 1e6}', "[{}]", "[null, {}]", "[{}, {}, {}]", "0.5", "0", "1",
    "1000", "1001", "-1", '"micro_f1"', '"recall=0.9"', '"recall=nan"', "0.1",
]  # fmt: skip
PATHS = [
    "/", "//predict", "/predict/", "/PREDICT", "/predict%00", "/predict/../models", "/../../etc/"
    "passwd", "/%2e%2e/%2e%2e/etc/passwd", "/predict;x=1", "/predict?model=../../x", "/models/sets",
    "/docs", "/redoc", "/openapi.json/", "/openapi.json", "/health", "/ready", "/metrics",
    "/models", "/predict%2f", "/pr%65dict", "/.git/config", f"/{SECRET}", f"/predict?{SECRET}=1",
    "http://evil.example/predict", "*", "/\\predict", "/predict#x", "/predict?&&&===",
    "/" + "a" * 5000, "/predict?model=" + "é" * 300, "/predict?%ff%fe=%c3", "/%ff%fe", "",
    "/predict?model=sets&model=tags", "/\t", "/static/../models",
]  # fmt: skip
METHODS = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "PATCH", "CONNECT", "get",
           "BREW", "PRI", f"X{SECRET}"]  # fmt: skip
TOKENS = [
    "", "Bearer", "Bearer ", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", TOKEN,
    f"Bearer {SECRET}", "Bearer " + "é" * 40, "Bearer \x7f\x01", f"bearer  {TOKEN}  x",
    "Bearer " + "a" * 20_000, f"Bearer {TOKEN.upper()}", "Bearer null", f"Bearer {TOKEN}, {TOKEN}",
]  # fmt: skip
EXTRA = [
    ("Host", "evil.example"), ("Host", ""), ("Host", "localhost:99999"), ("Host", "[::1"),
    ("X-Request-Id", f"{SECRET} with spaces"), ("X-Request-Id", "a" * 65), ("Cookie", SECRET),
    ("Transfer-Encoding", "gzip"), ("Content-Encoding", "gzip"), ("Content-Length", "-1"),
    ("Content-Length", "9" * 30), ("Content-Length", "99999999999"), ("Expect", "100-continue"),
    ("Content-Length", "+5"), ("Content-Length", "1_0"), ("Accept", f"*/*;q={SECRET}"),
    ("Accept", ","), ("Accept", "text/html"), ("Range", "bytes=0-1"), ("Upgrade", "h2c"),
    ("Connection", "upgrade"), ("Upgrade", "websocket"), ("X", "a" * 70_000), (f"X-{SECRET}", "é"),
    ("Origin", "https://evil.example"), ("Forwarded", "for=1.2.3.4"), ("", "no name"),
    ("Content-Type", "application/json; charset=utf-16"), ("Content-Type", f"{SECRET}/{SECRET}"),
]  # fmt: skip


class Requests:
    """Requests by number; ``sound`` has (address, body, answers) of requests that are right."""

    def __init__(self, port, served, schemas, sound, seed):
        self.host, self.served, self.schemas, self.seed = f"127.0.0.1:{port}", served, schemas, seed
        self.sound = sound

    def __call__(self, number) -> Drawn:
        rng = random.Random(f"{self.seed} {number}")
        ways, weights = zip(*_WAYS)
        return rng.choices(ways, weights)[0](self, rng)

    def _post(self, address, body, rng, kind=JSON, headers=(), **more):
        accept = rng.choice((JSON, JSON, CSV, ARROW))
        head = [("Host", self.host), ("Authorization", f"Bearer {TOKEN}"), ("Content-Type", kind),
                ("Accept", accept), *headers]  # fmt: skip
        return Drawn(more.pop("what"), request("POST", address, head, body), accept, **more)

    # ------------------------------------------------------------------ what is asked
    def right(self, rng):
        address, body, answers = rng.choice(self.sound)
        head = [("Host", self.host), ("Authorization", f"Bearer {TOKEN}"), ("Content-Type", JSON)]
        return Drawn("right", request("POST", address, head, body), JSON, expected=answers)

    def damaged(self, rng):
        """A good request with bytes, cells or options that are wrong."""
        name = rng.choice(list(self.served))
        rows, way = self.served[name].example_rows(rng.choice((1, 1, 2, 3))), rng.random()
        address, text = f"/{rng.choice(QUESTIONS)}?model={name}", json.dumps({"rows": rows})
        kind, body = JSON, text.encode()
        if way < 0.15:
            kind, body = CSV, mutated(rng, csv_of(rows))
        elif way < 0.3:
            kind, body = ARROW, mutated(rng, arrow_of(rows))
        elif way < 0.5:
            body = mutated(rng, body)
        elif way < 0.75:
            more = f"{text[:-1]}, {rng.choice(OPTIONS)}: {rng.choice(VALUES)}}}"
            body = more.encode("utf-8", "surrogatepass")
        elif way < 0.8:
            key = rng.choice(OPTIONS).strip('"')
            address += f"&{key}={quote(rng.choice(VALUES)[:2000])}"
        else:
            start, end = rng.choice(json_cells(text))
            body = (text[:start] + rng.choice(CELLS) + text[end:]).encode()
        return self._post(address, body, rng, kind, what="damaged")

    def from_schema(self, rng):
        """What the description of the server allows, or nearly so."""
        question = rng.choice(list(self.schemas))
        value = near_value(self.schemas[question], rng)
        name = rng.choice(list(self.served))
        if isinstance(value, dict) and rng.random() < 0.8:
            value["rows"] = self.served[name].example_rows(rng.choice((1, 2)))
            value["model"] = name
        return self._post(f"/{question}", text_of(value), rng, what="schema")

    def tricks(self, rng):
        """Paths, methods and headers that nobody sends by chance."""
        method, path = rng.choice(METHODS), rng.choice(PATHS)
        head = [("Host", self.host), ("Authorization", f"Bearer {TOKEN}"), ("Content-Type", JSON)]
        if rng.random() < 0.5:
            method, path = "POST", f"/{rng.choice(QUESTIONS)}?model=sets"
            name, value = rng.choice(EXTRA)
            head = [pair for pair in head if pair[0] != name] + [(name, value)]
        body = b"" if method in ("GET", "HEAD") else rng.choice(self.sound)[1]
        version = rng.choice(("HTTP/1.1",) * 8 + ("HTTP/1.0", "HTTP/9.9", "http/1.1", ""))
        data = request(method, path, head, body, version)
        return Drawn("tricks", data, JSON, method == "HEAD", True, may_close=True)

    def tokens(self, rng):
        head = [("Host", self.host), ("Authorization", rng.choice(TOKENS)), ("Content-Type", JSON)]
        address, body, _ = rng.choice(self.sound)
        data = request("POST", address, head, body)
        return Drawn("tokens", data, JSON, is_last=True, may_close=True)

    def giant(self, rng):
        """More bytes than are read, told beforehand or not."""
        body = b'{"rows": [' + b"[1]," * (MOST_BYTES // rng.choice((3, 4, 5))) + b"[1]]}"
        address = f"/predict?model={rng.choice(list(self.served))}"
        if rng.random() < 0.5:
            return self._post(address, body, rng, what="giant", is_last=True, may_close=True)
        head = [("Transfer-Encoding", "chunked")]
        body = chunked(body, rng.choice((1000, 65536)))
        return self._post(address, body, rng, headers=head, what="giant", is_last=True,
                          may_close=True)  # fmt: skip

    def noise(self, rng):
        """Bytes of a request, changed anywhere: no HTTP any more, perhaps. Half are cut off."""
        whole = rng.choice((self.right, self.tokens, self.tricks))(rng).data
        data = mutated(rng, whole) + rng.choice((b"", b"\r\n\r\n"))
        is_head = data.lstrip()[:5].upper() == b"HEAD "
        return Drawn("noise", data, JSON, is_head, True, may_close=True)


_WAYS = (
    (Requests.right, 10), (Requests.damaged, 50), (Requests.from_schema, 15), (Requests.tricks, 10),
    (Requests.tokens, 8), (Requests.giant, 1), (Requests.noise, 6),
)  # fmt: skip


# ---------------------------------------------------------------------- bodies
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
