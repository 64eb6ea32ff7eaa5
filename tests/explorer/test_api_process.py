# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct explore`` as a process: it says where the page is, serves it, and stops."""

import json
import re
import signal
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

pytestmark = pytest.mark.subprocess
COMMAND = [sys.executable, "-m", "skstruct.cli"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A small model and its data, with names of rows."""
    folder = tmp_path_factory.mktemp("explore")
    rng = np.random.default_rng(0)
    lines = ["id,size,sky,labels"]
    for i in range(30):
        size, sky = rng.normal(), rng.choice(["sun", "rain"])
        labels = ";".join(["big"] * (size > 0) + ["wet"] * (sky == "rain")) or "none"
        lines.append(f"day{i},{size:.3f},{sky},{labels}")
    (folder / "days.csv").write_text("\n".join(lines) + "\n")
    bare = [",".join(line.split(",")[:3]) for line in lines]
    (folder / "bare.csv").write_text("\n".join(bare) + "\n")
    fit = [*COMMAND, "fit", "days.csv", "-o", "days.model", "-q", "--learner", "kernel",
           "--task", "labels", "--id-column", "id"]  # fmt: skip
    subprocess.run(fit, cwd=folder, check=True, capture_output=True)
    return folder


def started(folder, *arguments):
    """A process that serves, and the address that it printed."""
    process = subprocess.Popen(
        [*COMMAND, "explore", *arguments, "--no-browser"],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    said = []
    for line in process.stderr:
        said.append(line)
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        if found:
            return process, found.group()
    raise AssertionError("".join(said))


def asked(address, path, question=None, **headers):
    data = None if question is None else json.dumps(question).encode()
    headers = {"Content-Type": "application/json", **headers}
    with urlopen(Request(address + path, data, headers), timeout=60) as answer:
        return json.loads(answer.read())


def stopped(process):
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=60)
    finally:
        process.kill()


def test_the_command_serves_until_interrupted(files):
    process, address = started(files, "days.model", "days.csv")
    try:
        told = asked(address, "api/model")
        assert (told["task"], told["rows"], told["has_truth"]) == ("labels", 30, True)
        rows = asked(address, "api/rows?count=2")["rows"]
        assert [row["name"] for row in rows] == ["day0", "day1"]
        found = asked(address, "api/decide", {"row": 0, "fixed": {'"wet"': "in"}})
        assert "wet" in found["prediction"]
        with pytest.raises(HTTPError) as error:
            asked(address, "api/decide", {"row": 0}, Origin="https://example.org")
        assert error.value.code == 403
    finally:
        stopped(process)
    assert process.returncode in (0, 130)


def test_data_without_outputs_and_some_rows(files):
    process, address = started(files, "days.model", "bare.csv", "--first", "5")
    try:
        told = asked(address, "api/model")
        assert (told["rows"], told["has_truth"]) == (5, False)
    finally:
        stopped(process)


def test_a_port_that_is_taken(files):
    process, address = started(files, "days.model", "days.csv")
    try:
        port = address.rstrip("/").rpartition(":")[2]
        again = subprocess.run(
            [*COMMAND, "explore", "days.model", "days.csv", "--port", port, "--no-browser"],
            cwd=files, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert again.returncode == 1
        assert f"Port {port}" in again.stderr
        assert "Traceback" not in again.stderr
    finally:
        stopped(process)
