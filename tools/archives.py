# SPDX-License-Identifier: BSD-3-Clause
"""What the two archives of a release hold, and what must not be in them."""

import email
import re
import subprocess
import tarfile
import tomllib
import zipfile
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

MOST_BYTES = 3_000_000
UNWANTED = re.compile(
    r"""(^|/)(__pycache__|tests|output|_build|generated|\.git|\.github|\.venv|\.hypothesis
        |\.pytest_cache|\.mypy_cache|\.ruff_cache|\.DS_Store)(/|$)
    |\.(py[cod]|nb[ic]|skstruct|model|ckpt|npy|npz|pkl|xz|log|egg-info)$""",
    re.VERBOSE,
)
NEEDED = {
    ".whl": (
        r"skstruct/py\.typed",
        r"skstruct-[^/]*\.dist-info/licenses/LICENSE",
        r"skstruct/_papers/\w+\.py",
        r"skstruct/datasets/samples/animals\.arff",
        r"skstruct/reports/templates/report\.html",
    ),
    ".gz": (
        r"[^/]*/LICENSE",
        r"[^/]*/README\.md",
        r"[^/]*/CHANGELOG\.md",
        r"[^/]*/pyproject\.toml",
        r"[^/]*/src/skstruct/py\.typed",
    ),
}


@dataclass(frozen=True)
class Archive:
    """Contents of the files of an archive, by name."""

    path: Path
    contents: dict[str, bytes]

    def package(self) -> dict[str, bytes]:
        """Files of the package, by their name below it."""
        places = (re.fullmatch(r"(?:[^/]*/src/)?skstruct/(.*)", name) for name in self.contents)
        return {
            place[1]: self.contents[place[0]]
            for place in places
            if place and not place[1].startswith("_papers/")
        }


def read(path: Path) -> Archive:
    """All files of a wheel or of an archive of sources."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return Archive(path, {name: wheel.read(name) for name in wheel.namelist()})
    with tarfile.open(path) as tar:
        files = {member.name: tar.extractfile(member) for member in tar if not member.isdir()}
    with tarfile.open(path) as tar:
        return Archive(path, {name: tar.extractfile(name).read() for name in files})


def check_names(archive: Archive) -> str:
    """Nothing that is made while working, nothing outside of the archive, nothing missing."""
    for name in archive.contents:
        if UNWANTED.search(name) or name.startswith("/") or ".." in name.split("/"):
            raise AssertionError(f"{name} should not be in {archive.path.name}")
    for pattern in NEEDED[archive.path.suffix]:
        if not any(re.fullmatch(pattern, name) for name in archive.contents):
            raise AssertionError(f"nothing in {archive.path.name} is named like {pattern}")
    size = archive.path.stat().st_size
    if size > MOST_BYTES:
        raise AssertionError(f"{archive.path.name} has {size} bytes, at most {MOST_BYTES} are fine")
    return f"{len(archive.contents)} files, {size / 1e6:.2f} MB"


def check_paths(archive: Archive, root: Path) -> str:
    """No file names a folder of the machine that built it."""
    places = {str(root), str(Path.home())} - {"/", "/root"}
    for name, content in archive.contents.items():
        found = next((place for place in places if place.encode() in content), None)
        if found is None and re.search(rb"(?<![\w.])/(?:home|Users)/\w", content):
            found = "a home folder"
        if found:
            raise AssertionError(f"{name} in {archive.path.name} names {found}")
    return ", ".join(sorted(places))


def check_package(archive: Archive, root: Path) -> str:
    """The package is what is committed, file by file and byte by byte."""
    command = [
        "git",
        "ls-files",
        "-z",
        "--cached",
        "--others",
        "--exclude-standard",
        "src/skstruct",
    ]
    listed = subprocess.run(command, cwd=root, check=True, capture_output=True).stdout.decode()
    expected = {name.removeprefix("src/skstruct/") for name in listed.split("\0") if name}
    package = archive.package()
    if different := expected ^ set(package):
        raise AssertionError(f"{min(different)} is in the package or in the sources, not in both")
    for name, content in package.items():
        if content != (root / "src" / "skstruct" / name).read_bytes():
            raise AssertionError(f"{name} differs from the sources")
    return f"{len(package)} files equal to the sources"


def check_metadata(archive: Archive, root: Path, tag: str | None) -> str:
    """Name, version, licence, Pythons and typing are those of pyproject.toml."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ending = ".dist-info/METADATA" if archive.path.suffix == ".whl" else "/PKG-INFO"
    name = next(name for name in archive.contents if name.endswith(ending))
    found = email.message_from_bytes(archive.contents[name])
    own = re.search(rb'__version__ = "(.*)"', archive.package()["__init__.py"])[1].decode()
    expected = {
        "Name": project["name"],
        "Version": project["version"],
        "License-Expression": project["license"],
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }
    for field, value in expected.items():
        if found[field] != value:
            raise AssertionError(f"{field} is {found[field]!r}, expected {value!r}")
    if own != found["Version"] or (tag and tag != f"v{own}"):
        raise AssertionError(f"__version__ is {own}, metadata {found['Version']}, tag {tag}")
    if found.get_all("Classifier") != project["classifiers"]:
        raise AssertionError("the classifiers are not those of pyproject.toml")
    return f"{found['Name']} {found['Version']}, {found['License-Expression']}"


def check_readme(root: Path) -> str:
    """The README becomes headings, tables and code, with no mark left over."""
    text = (root / "README.md").read_text(encoding="utf-8")
    html = MarkdownIt("commonmark").enable("table").render(text)
    counts = {tag: html.count(f"<{tag}") for tag in ("h1", "h2", "table", "pre")}
    if counts["h1"] != 1 or not all(counts.values()):
        raise AssertionError(f"README.md renders to {counts}")
    plain = re.sub(r"(?s)<(pre|code).*?</\1>", "", html)
    if left := re.search(r"```|^\|.*\||\]\(", plain, re.MULTILINE):
        raise AssertionError(f"README.md renders with {left[0]!r} left over")
    return ", ".join(f"{count} {tag}" for tag, count in counts.items())
