# SPDX-License-Identifier: BSD-3-Clause
"""The oldest packages that pyproject.toml allows, as far as the running Python has wheels of them.

Prints lines for pip. Usage: python tools/lower_bounds.py
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("plot", "report", "parquet")


def requirements(root: Path = ROOT) -> dict[str, Requirement]:
    """What the package and its light extras need, by name."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    return {found.name: found for found in map(Requirement, lines)}


def lower_bound(requirement: Requirement) -> Version:
    """The version after ``>=``."""
    return next(Version(part.version) for part in requirement.specifier if part.operator == ">=")


def with_wheels(name: str) -> list[Version]:
    """Versions of which the running Python can install a wheel."""
    command = [sys.executable, "-m", "pip", "index", "versions", name, "--only-binary=:all:"]
    done = subprocess.run(command, capture_output=True, text=True)
    listed = re.search(r"Available versions: (.*)", done.stdout)
    if listed is None:
        raise SystemExit(f"pip knows no wheel of {name}:\n{done.stderr}")
    return [Version(text) for text in listed[1].split(", ") if is_version(text)]


def is_version(text: str) -> bool:
    """Whether it is one by today's rules; some early releases were not."""
    try:
        return bool(Version(text))
    except InvalidVersion:
        return False


def oldest(requirement: Requirement, versions: list[Version]) -> Version:
    """The lowest of the versions that is allowed."""
    return min(version for version in versions if version in requirement.specifier)


def oldest_lines(root: Path = ROOT) -> list[str]:
    """A line for pip per package; says where the lower bound itself has no wheel."""
    lines = []
    for name, requirement in requirements(root).items():
        bound, found = lower_bound(requirement), oldest(requirement, with_wheels(name))
        python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
        remark = "" if found == bound else f"  # {bound} has no wheel for {python}"
        lines.append(f"{name}=={found}{remark}")
    return lines


if __name__ == "__main__":
    print("\n".join(oldest_lines()))
