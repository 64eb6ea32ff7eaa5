# SPDX-License-Identifier: BSD-3-Clause
"""The last steps of a newcomer: a server and a live page, asked over HTTP and ended by SIGTERM.

    python tests/newcomer_http.py serve MODEL ROWS.json
    python tests/newcomer_http.py explore MODEL DATA

Commands are those of ``bin/skstruct`` beside the Python that runs this. Needs nothing but the
standard library.
"""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WAIT = 120.0  # seconds for a start, which may have to compile
ADDRESS = re.compile(r"http://127\.0\.0\.1:[0-9]+")


def main(arguments: list[str]) -> int:
    kind, model, data = arguments
    checks = {"serve": check_server, "explore": check_page}
    checks[kind](model, data)
    return 0


def check_server(model: str, rows_file: str) -> None:
    """Rows in, one prediction for each of them out."""
    rows = json.loads(Path(rows_file).read_text(encoding="utf-8"))
    with running("serve", model, "--port", "0") as address:
        until(lambda: ask(f"{address}/ready"), f"{address}/ready")
        answer = json.loads(ask(f"{address}/predict", {"rows": rows}))
        found = answer["answers"]
        assert len(found) == len(rows), f"{len(rows)} rows, and the answer is {answer}"
        assert all("prediction" in record for record in found), answer
        print(f"Served: {json.dumps(found[0])[:200]}")


def check_page(model: str, data: str) -> None:
    """The page, and what it shows of the model."""
    with running("explore", model, data, "--no-browser", "--port", "0") as address:
        page = until(lambda: ask(f"{address}/"), address)
        assert "<html" in page.lower(), page[:200]
        about = json.loads(ask(f"{address}/api/model"))
        assert about["rows"] > 0, about
        print(f"Explored: {about['rows']} rows of the task {about['task']}.")


@contextmanager
def running(*words: str) -> Iterator[str]:
    """The address of a command in the background, which is ended by SIGTERM."""
    command = [str(Path(sys.executable).with_name("skstruct")), *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said: list[str] = []
    try:
        address = None
        for line in process.stderr:  # ends when the command does
            said.append(line)
            address = ADDRESS.search(line)
            if address is not None:
                break
        assert address is not None, "".join(said)
        yield address[0]
        process.send_signal(signal.SIGTERM)
        code = process.wait(30)
        assert code == 0, f"{words[0]} left by {code} after SIGTERM: {process.stderr.read()}"
    finally:
        process.kill()
        process.wait()


def until(call, what: str) -> str:
    """What a call gives as soon as it succeeds; refused after some time."""
    end = time.monotonic() + WAIT
    while True:
        try:
            return str(call())
        except (urllib.error.URLError, ConnectionError) as error:
            if time.monotonic() > end:
                raise TimeoutError(f"{what} gave no answer in {WAIT:g} s: {error}") from error
            time.sleep(0.05)


def ask(url: str, body: object = None) -> str:
    """The text of an answer to GET, or to POST of a JSON body."""
    data = None if body is None else json.dumps(body).encode()
    headers = {} if body is None else {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data=data, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode("utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
