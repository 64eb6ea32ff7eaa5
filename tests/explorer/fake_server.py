# SPDX-License-Identifier: BSD-3-Clause
"""A small server that speaks the page's language, with names that try to run and faults on demand.

The page's own behaviour is tested against it; what the real server says is tested elsewhere.
"""

import json
import threading
from contextlib import contextmanager
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import skstruct.explorer

PAGE = Path(skstruct.explorer.__file__).parent / "page"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
EVIL = '<img src=x onerror="window.hit=1">'
LABELS = ["animal", "cat", "dog", EVIL, "</text><script>window.hit=2</script>", '"quoted" & café']
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}


def model():
    columns = [
        {"name": "age", "kind": "number", "low": 0.0, "high": 10.0, "values": None},
        {"name": EVIL, "kind": "names", "low": None, "high": None, "values": ["a", EVIL, "c"]},
        {"name": "when", "kind": "date", "low": None, "high": None, "values": None},
    ]
    return {
        "name": f"pets {EVIL}", "task": "hierarchy", "kind": "hierarchy",
        "part_words": ["label", "labels"], "rows": 120, "has_truth": True, "about": {},
        "losses": [{"name": "hamming", "title": "Hamming"}, {"name": "f1", "title": "F1"}],
        "loss": "hamming", "labels": LABELS, "columns": columns, "fixable": ["in", "out"],
        "constraints": ["include", "exclude", "min_size", "max_size", "one_path", "same", "near"],
        "constraint_kinds": {"near": "names"},
        "can": {"marginals": True, "kbest": True, "explain": True, "risk": True, "what_if": True,
                "filter_column": True, "filter_depth": True},
    }  # fmt: skip


def record(row):
    """A row of the table; every third one is wrong."""
    wrong = row % 3 == 0
    return {
        "row": row, "name": EVIL if row == 1 else f"pet {row}",
        "cells": {"age": row % 10, EVIL: ["a", EVIL, "c"][row % 3], "when": "2024-01-01"},
        "prediction": "animal, cat", "truth": "animal, dog" if wrong else "animal, cat",
        "risk": row / 1000, "loss": 2.0 if wrong else 0.0,
    }  # fmt: skip


def rows(asked):
    found = [record(row) for row in range(120)]
    if asked.get("search"):
        found = [row for row in found if asked["search"] in row["name"]]
    if asked.get("where") == "wrong":
        found = [row for row in found if row["loss"] > 0]
    if asked.get("bin") or asked.get("depth"):
        found = found[:7]
    if asked.get("sort") in ("risk", "loss"):
        found.sort(key=lambda row: row[asked["sort"]], reverse=asked["descending"] == "1")
    start, count = int(asked["start"]), int(asked["count"])
    return {"total": len(found), "start": start, "rows": found[start : start + count]}


def decide(asked):
    """What is fixed in is predicted; "cat" else, unless the row is older than 8."""
    fixed = {json.loads(key): state for key, state in asked["fixed"].items()}
    age = asked["values"].get("age", record(asked["row"])["cells"]["age"])
    chosen = {"animal", "dog" if age > 8 else "cat"} | {k for k, s in fixed.items() if s == "in"}
    chosen -= {name for name, state in fixed.items() if state == "out"}
    most = asked["restrict"].get("max_size")
    if most is not None and most < len([s for s in fixed.values() if s == "in"]):
        raise ValueError("No output satisfies the constraints: raise max_size.")
    parts = [
        {"key": json.dumps(name, ensure_ascii=False), "name": name, "probability": 0.9 / (1 + i),
         "predicted": name in chosen, "true": name in ("animal", "dog"), "state": fixed.get(name)}
        for i, name in enumerate(LABELS)
    ]  # fmt: skip
    text = ", ".join(name for name in LABELS if name in chosen)
    return {
        "drawing": drawing(parts), "text": f"Predicted: {text}.", "parts": parts, "value": 0.25,
        "value_name": "risk", "bound": 0.25, "gap": 0.0 if asked["loss"] == "hamming" else 0.03,
        "exact": asked["loss"] == "hamming", "prediction": text, "truth": "animal, dog",
        "loss_of_row": 2.0, "next": [{"prediction": EVIL, "value": 0.3, "difference": 0.05}],
        "supporters": [{"row": 7, "weight": 0.4, "output": EVIL, "explored": 4}],
        "opponents": [{"row": 9, "weight": -0.1, "output": "dog", "explored": None}],
        "seconds": 0.0,
    }  # fmt: skip


def drawing(parts):
    """One box for each part."""
    groups = []
    for i, part in enumerate(parts):
        judged = {(1, 1): "right", (1, 0): "wrong", (0, 1): "missed"}.get(
            (part["predicted"], part["true"]), ""
        )
        kinds = ["part", "predicted" * part["predicted"], judged,
                 f"fixed-{part['state']}" * bool(part["state"])]  # fmt: skip
        name, key = escape(part["name"]), escape(part["key"])
        groups.append(
            f'<g class="{" ".join(filter(None, kinds))}" data-part="{key}" tabindex="0" '
            f'role="button" aria-label="{name}"><rect class="box" x="10" y="{10 + 34 * i}" '
            f'width="300" height="28" rx="5"/><text x="20" y="{29 + 34 * i}" class="name">{name}'
            "</text></g>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="drawing" role="group" '
        f'viewBox="0 0 320 {20 + 34 * len(parts)}">{"".join(groups)}</svg>'
    )


def slices():
    interval = {"n": 40, "mean": 0.5, "low": 0.3, "high": 0.7}
    return {
        "loss": "hamming", "mean": 0.67,
        "by_part": [{"name": name, "n": 9, "missed": i, "too_many": 2}
                    for i, name in enumerate(LABELS)],
        "by_depth": [{"name": "1", **interval}, {"name": "2", **interval, "high": 1.0}],
        "by_column": [{"column": "age", "bins": [{"name": "0 to 5", **interval}]},
                      {"column": EVIL, "bins": [{"name": EVIL, **interval}]}],
    }  # fmt: skip


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path, asked = urlsplit(self.path).path, urlsplit(self.path).query
        asked = {name: values[0] for name, values in parse_qs(asked).items()}
        if path == "/" or path.startswith("/page/"):
            return self._file(PAGE / (path.rpartition("/")[2] or "index.html"))
        if path == "/api/training/7":
            return self._json({"row": 7, "cells": {EVIL: EVIL, "age": 3}, "output": EVIL})
        known = {"/api/model": model, "/api/rows": lambda: rows(asked), "/api/slices": slices}
        if path in known:
            return self._json(known[path]())
        return self._json({"error": "The model does not keep its training rows."}, 404)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        try:
            self._json(decide(asked))
        except ValueError as error:
            self._json({"error": str(error)}, 422)

    def _file(self, path):
        if path.name == "drawings.css":
            path = PAGE.parent.parent / "drawings" / path.name
        if not path.is_file():
            return self._json({"error": "no such file"}, 404)
        return self._send(path.read_bytes(), KINDS[path.suffix])

    def _json(self, value, status=200):
        self._send(json.dumps(value).encode(), "application/json", status)

    def _send(self, content, kind, status=200):
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@contextmanager
def fake_server():
    """The server, running; its ``address`` and all decisions that were ``asked``."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    server.address = f"http://127.0.0.1:{server.server_port}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
