# SPDX-License-Identifier: BSD-3-Clause
"""What can be read off the Dockerfile without building it."""

import re
import shlex
from pathlib import Path

from skstruct.cli.serve import serve

ROOT = Path(__file__).parents[2]
TEXT = re.sub(r"\\\n\s*", " ", (ROOT / "Dockerfile").read_text("utf-8"))
STEPS = [line.split(" ", 1) for line in TEXT.splitlines() if line and not line.startswith("#")]


def test_the_image_runs_without_root_and_tells_its_health():
    last = max(k for k, (word, _) in enumerate(STEPS) if word == "FROM")
    words = dict(STEPS[last:])
    assert words["USER"] == "10001"
    assert "/ready" in words["HEALTHCHECK"]
    assert all(step[1].split()[0].startswith("python:3.") for step in STEPS if step[0] == "FROM")


def test_its_command_is_one_of_ours():
    (entry,) = (rest for word, rest in STEPS if word == "ENTRYPOINT")
    name, command, *options = shlex.split(entry.strip("[]").replace(",", " "))
    assert (name, command) == ("skstruct", serve.name)
    parsed = serve.make_context("serve", [*options, "a.model"], resilient_parsing=True)
    assert parsed.params["host"] == "0.0.0.0"


def test_what_is_copied_is_there_and_not_ignored():
    kept = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert kept[0] == "*"
    for word, rest in STEPS:
        if word == "COPY" and not rest.startswith("--from"):
            for path in rest.split()[:-1]:
                assert (ROOT / path).exists(), path
                assert f"!{path}" in kept
