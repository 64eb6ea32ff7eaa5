# SPDX-License-Identifier: BSD-3-Clause
"""Looks at files that are about to be committed. Usage: python tools/check_files.py FILE..."""

import json
import sys
import tomllib
from pathlib import Path

import yaml

MOST_BYTES = 500_000
PARSERS = {
    ".json": json.loads,
    ".toml": tomllib.loads,
    ".yml": yaml.safe_load,
    ".yaml": yaml.safe_load,
    ".cff": yaml.safe_load,
}


def problem(path: Path) -> str | None:
    """What is wrong with a file; None if nothing is."""
    content = path.read_bytes()
    if len(content) > MOST_BYTES:
        return f"has {len(content)} bytes; at most {MOST_BYTES} belong into a repository"
    if b"\r" in content:
        return "has line ends of Windows or old Macs"
    if content and not content.endswith(b"\n"):
        return "does not end in a line end"
    if content.endswith(b"\n\n"):
        return "ends in empty lines"
    try:
        text = content.decode("utf-8")
        PARSERS.get(path.suffix, str)(text)
    except (ValueError, yaml.YAMLError) as error:
        return f"cannot be read ({error})"
    return None


def main(names: list[str]) -> int:
    wrong = [(name, found) for name in names if (found := problem(Path(name)))]
    for name, found in wrong:
        print(f"{name} {found}.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
