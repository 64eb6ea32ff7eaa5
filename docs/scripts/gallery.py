# SPDX-License-Identifier: BSD-3-Clause
"""Runs the examples and writes a page for each: what it prints, what it draws, how it is written.

Every example runs in a folder of its own, so that pictures land there. Pages are kept until an
example or the library changes.

Usage: python docs/scripts/gallery.py [FOLDER]
"""

from __future__ import annotations

import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
LIBRARY = ROOT / "src" / "skstruct"
SECONDS = 300  # an example that takes longer is stuck


@dataclass(frozen=True)
class Example:
    """An example as it is written."""

    name: str
    title: str  # first line of its docstring, up to a colon
    about: str  # all the rest of it
    code: str  # without the docstring

    @classmethod
    def read(cls, path: Path) -> Example:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        docstring = ast.get_docstring(tree)
        if not docstring:
            raise ValueError(f"{path.name} has no docstring, which is its title in the gallery.")
        first, _, rest = docstring.partition("\n")
        title, _, subtitle = first.partition(": ")
        lines = [subtitle[:1].upper() + subtitle[1:], *rest.splitlines()]
        about = "\n".join(line for line in lines if not line.startswith("Usage:"))
        after = tree.body[0].end_lineno
        code = "\n".join(text.splitlines()[after:]).strip() + "\n"
        return cls(path.stem, title.rstrip("."), about.strip(), code)


def run_example(path: Path, pictures: Path) -> tuple[str, list[str]]:
    """What an example prints, and the names of its pictures, which are moved to a folder."""
    with tempfile.TemporaryDirectory() as folder:
        # Examples draw into "output" beside their own folder, or below the current one.
        script = Path(folder) / "examples" / path.name
        script.parent.mkdir()
        shutil.copy(path, script)
        environment = {**os.environ, "MPLBACKEND": "agg", "COLUMNS": "90", "NO_COLOR": "1"}
        done = subprocess.run(
            [sys.executable, str(script)],
            cwd=folder,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
        )
        if done.returncode:
            raise RuntimeError(f"{path.name} failed:\n{done.stderr}")
        drawn = sorted(Path(folder).rglob("*.png"))
        pictures.mkdir(parents=True, exist_ok=True)
        names = [f"{path.stem}_{picture.name}" for picture in drawn]
        for picture, name in zip(drawn, names):
            shutil.copy(picture, pictures / name)
        return without_progress(done.stdout.replace(folder + os.sep, "")), names


def without_progress(printed: str) -> str:
    """What was printed, less the bars of what was under way."""
    bar = "\u2501" * 8
    lines = (line.rstrip() for line in printed.splitlines())
    return "\n".join(line for line in lines if bar not in line or line[:1] in "┏┡") + "\n"


def page(example: Example, printed: str, pictures: list[str]) -> str:
    """The example as Markdown."""
    drawn = "\n\n".join(f"![Drawn by {example.name}.py](images/{name})" for name in pictures)
    parts = [
        f"# {example.title}",
        example.about,
        drawn,
        "It prints",
        f"```text\n{printed}```",
        f"## The code\n\n`examples/{example.name}.py`:",
        f"```{{code-block}} python\n{example.code}```",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def index(examples: list[Example], pictures: dict[str, list[str]]) -> str:
    """Thumbnails of all examples, and their place in the navigation."""
    cells = []
    for example in examples:
        thumbnail = pictures[example.name][:1]
        image = f"![](images/{thumbnail[0]})" if thumbnail else example.name
        link = f"{example.name}.md"
        cells.append(
            f":::{{container}} thumbnail\n[{image}]({link})\n\n[{example.title}]({link})\n:::"
        )
    names = "\n".join(example.name for example in examples)
    return (
        "# Gallery\n\n"
        "Each of these is a script in `examples/`, on data that come along. What the pages show\n"
        "was printed and drawn when they were built.\n\n"
        "::::{container} gallery\n" + "\n".join(cells) + "\n::::\n\n"
        "```{toctree}\n:hidden:\n\n" + names + "\n```\n"
    )


def digest(paths) -> str:
    """One number for the text of many files."""
    total = hashlib.sha256()
    for path in sorted(paths):
        total.update(path.read_bytes())
    return total.hexdigest()


def build(folder: Path, examples: Path = EXAMPLES, library: Path = LIBRARY, workers: int = 2):
    """Run all examples and write their pages, unless they are there already."""
    scripts = sorted(examples.glob("*.py"))
    state = digest([*scripts, *library.rglob("*.py"), Path(__file__)])
    stamp = folder / "images" / "state.txt"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == state:
        return
    shutil.rmtree(folder, ignore_errors=True)
    read = [Example.read(script) for script in scripts]
    with ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda script: run_example(script, folder / "images"), scripts))
    folder.mkdir(parents=True, exist_ok=True)
    for example, (printed, pictures) in zip(read, results):
        text = page(example, printed, pictures)
        (folder / f"{example.name}.md").write_text(text, encoding="utf-8")
    drawn = {example.name: pictures for example, (_, pictures) in zip(read, results)}
    (folder / "index.md").write_text(index(read, drawn), encoding="utf-8")
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(state, encoding="utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "gallery")
