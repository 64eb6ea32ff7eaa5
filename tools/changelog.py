# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the section of the next version in CHANGELOG.md equal to what the files of CHANGES say.

    python tools/changelog.py            # write the section anew
    python tools/changelog.py --check    # fail if it would change
    python tools/changelog.py --section  # print it, for the notes of a release

Where CHANGES holds no files, the section is that of a release that was made, and stays.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Changes

Versions, the newest first. What a version number promises is in the
[deprecation policy](docs/deprecations.md).
"""


def next_version(root: Path) -> str:
    """Version of the package, without the part that says it is not finished."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.split(r"\.dev|rc|a|b", project["version"])[0]


def fragments(root: Path) -> list[Path]:
    """Files of CHANGES that tell of changes."""
    return sorted(path for path in (root / "CHANGES").glob("*.md") if path.name != "README.md")


def bad_names(root: Path) -> list[str]:
    """Names of such files that are not <what>.<type>.md, which would be left out in silence."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    types = "|".join(kind["directory"] for kind in project["tool"]["towncrier"]["type"])
    rule = re.compile(rf"[a-z0-9_]+\.(?:{types})\.md")
    return [path.name for path in fragments(root) if not rule.fullmatch(path.name)]


def joined(root: Path) -> str:
    """The section that the files make: its title, then their text by type."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft"]
    command += ["--version", next_version(root), "--dir", str(root)]
    done = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8")
    if done.returncode:
        raise SystemExit(f"towncrier failed:\n{done.stdout}{done.stderr}")
    return done.stdout[done.stdout.index("## ") :].strip() + "\n"


def sections(text: str) -> dict[str, str]:
    """Sections of a changelog by version, each with its title."""
    parts = re.split(r"(?m)^(?=## )", text)[1:]
    return {
        part.split("\n", 1)[0].removeprefix("## ").strip(): part.strip() + "\n" for part in parts
    }


def changelog(root: Path) -> str:
    """The whole file as it should be."""
    path = root / "CHANGELOG.md"
    found = sections(path.read_text(encoding="utf-8")) if path.exists() else {}
    if not fragments(root):
        return "\n".join([HEAD, *found.values()])
    found.pop(next_version(root), None)
    return "\n".join([HEAD, joined(root), *found.values()])


def main(arguments: list[str]) -> int:
    if wrong := bad_names(ROOT):
        print(f"CHANGES/{wrong[0]} should be named <what>.<type>.md; see CHANGES/README.md.")
        return 1
    path, text = ROOT / "CHANGELOG.md", changelog(ROOT)
    if arguments == ["--section"]:
        print(sections(text)[next_version(ROOT)].split("\n", 1)[1].strip())
    elif arguments == ["--check"]:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            print("CHANGELOG.md is not what CHANGES says: run `make changelog`.")
            return 1
    elif arguments:
        print(__doc__)
        return 2
    else:
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
