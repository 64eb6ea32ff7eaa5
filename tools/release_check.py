# SPDX-License-Identifier: BSD-3-Clause
"""Checks the archives in dist/ before they are published.

Prints a line for each check, and ends with code 1 at the first that fails.

    python tools/release_check.py [--tag v0.1.0]
    python tools/release_check.py --oldest  # only: the wheel works with the oldest packages
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import archives
import lower_bounds

ROOT = Path(__file__).resolve().parents[1]
# Tests of every layer that need no data, no other package, and little time.
QUICK_TESTS = (
    "tests/losses/test_losses.py",
    "tests/spaces/test_classes.py",
    "tests/spaces/test_label_sets.py",
    "tests/spaces/test_sequences.py",
    "tests/smoothing/test_kernel_ridge.py",
    "tests/rankings",
    "tests/datasets/test_catalogue.py",
    "tests/datasets/test_csv_files.py",
    "tests/datasets/test_parquet.py",
    "tests/persistence/test_golden.py",
)
TEST_TOOLS = ("pytest", "hypothesis")


def report(name: str, check: Callable[[], str]) -> None:
    """Run a check and print its line; the first one that fails ends the program."""
    start = time.perf_counter()
    try:
        result, told = "ok", check()
    except (AssertionError, subprocess.CalledProcessError) as error:
        output = getattr(error, "stdout", None) or ""
        result, told = "FAILED", f"{error}\n{output[-4000:]}"
    print(f"{name:34} {result:6} {time.perf_counter() - start:6.1f} s  {told}", flush=True)
    if result != "ok":
        sys.exit(1)


def run(*command, cwd: Path = ROOT, **environment: str) -> str:
    """Standard output and errors of a command that has to succeed."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**own, **environment},
        check=True,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.stdout


def pip(python: Path, *arguments) -> str:
    return run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


class Environment:
    """A new environment with the packages that skstruct needs, and without skstruct."""

    def __init__(self, folder: Path, constraints: list[str]):
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.constraints = constraints

    def make(self) -> str:
        """Make it, and name the versions of the packages that matter most."""
        run(sys.executable, "-m", "venv", self.folder)
        listed = self.folder / "constraints.txt"
        listed.write_text("\n".join(self.constraints) + "\n", encoding="utf-8")
        needed = [str(requirement) for requirement in lower_bounds.requirements().values()]
        pip(self.python, "install", "--only-binary=:all:", "-c", listed, *needed, *pinned_tools())
        code = "import numpy, scipy, sklearn, numba as b; m = numpy, scipy, sklearn, b\n"
        code += "print(', '.join(f'{x.__name__} {x.__version__}' for x in m))"
        return run(self.python, "-c", code).strip()

    def install(self, archive: Path) -> str:
        """Put the archive in place of what was installed before, and look where it went."""
        pip(self.python, "uninstall", "--yes", "skstruct")
        for left in self.folder.glob("lib/python*/site-packages/skstruct"):
            shutil.rmtree(left)  # caches of compiled code
        isolated = ["--no-build-isolation"] if archive.suffix == ".gz" else []
        if isolated:
            pip(self.python, "install", "-c", ROOT / "constraints.txt", "hatchling")
        pip(self.python, "install", "--no-deps", "--no-cache-dir", *isolated, archive)
        pip(self.python, "check")
        place = run(self.python, "-c", "import skstruct; print(skstruct.__file__)", cwd=self.folder)
        assert Path(place.strip()).is_relative_to(self.folder), f"imported from {place}"
        return archive.name

    def demo(self) -> str:
        """Run the demo away from the checkout; the last line says where its picture is."""
        folder = self.work("demo")
        shutil.copy(ROOT / "examples" / "demo.py", folder)
        told = run(self.python, "demo.py", cwd=folder, **self.settings())
        assert "certified gap" in told, f"the demo printed:\n{told}"
        return next(line for line in told.splitlines() if "Test image" in line).strip()

    def tests(self) -> str:
        """Run quick tests on a copy that has no sources beside it."""
        folder = self.work("tests")
        shutil.copytree(ROOT / "tests", folder / "tests")
        shutil.copy(ROOT / "pyproject.toml", folder)
        quick = ["-p", "no:cacheprovider", *QUICK_TESTS]
        told = run(self.python, "-m", "pytest", *quick, cwd=folder, **self.settings())
        last = told.strip().splitlines()[-1].strip("= ")
        assert "passed" in last, told
        return last

    def work(self, name: str) -> Path:
        """A new folder for a check."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def settings(self) -> dict[str, str]:
        """Compiled code is kept outside of the package, for the next archive to use."""
        cache = str(self.folder / "compiled")
        return {"NUMBA_CACHE_DIR": cache, "MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1"}


def pinned(names=None) -> list[str]:
    """Lines of constraints.txt, all or those of some packages."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return [line for line in lines if names is None or line.split("==")[0] in names]


def pinned_tools() -> list[str]:
    return pinned(TEST_TOOLS)


def built(pattern: str) -> Path:
    found = list((ROOT / "dist").glob(pattern))
    if len(found) != 1:
        sys.exit(f"dist/ should hold one {pattern}, and holds {len(found)}: run `make build`.")
    return found[0]


def check_archives(tag: str | None, wheel: Path, sources: Path) -> None:
    """All that can be seen without installing."""
    report(
        "changelog", lambda: run(sys.executable, "tools/changelog.py", "--check") or "up to date"
    )
    report("README", lambda: archives.check_readme(ROOT))
    strict = (sys.executable, "-m", "twine", "check", "--strict", wheel, sources)
    report("twine check --strict", lambda: f"{run(*strict).count('PASSED')} archives passed")
    for kind, path in (("wheel", wheel), ("sources", sources)):
        archive = archives.read(path)
        report(f"{kind}: metadata", lambda a=archive: archives.check_metadata(a, ROOT, tag))
        report(f"{kind}: files", lambda a=archive: archives.check_names(a))
        report(f"{kind}: package", lambda a=archive: archives.check_package(a, ROOT))
        report(f"{kind}: paths", lambda a=archive: archives.check_paths(a, ROOT))


def check_installed(name: str, environment: Environment, paths: dict[str, Path]) -> None:
    """Each archive in an environment: installed, the demo, quick tests."""
    report(f"{name} packages", environment.make)
    for kind, path in paths.items():
        report(f"{name}, {kind}: install", lambda p=path: environment.install(p))
        report(f"{name}, {kind}: demo", environment.demo)
        report(f"{name}, {kind}: tests", environment.tests)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tag", help="the tag that names the version, such as v0.1.0")
    parser.add_argument("--oldest", action="store_true", help="the wheel with the oldest packages")
    chosen = parser.parse_args()
    wheel, sources = built("*.whl"), built("*.tar.gz")
    both = {"wheel": wheel, "sources": sources}
    if not chosen.oldest:
        check_archives(chosen.tag, wheel, sources)
    with tempfile.TemporaryDirectory() as folder:
        lines = lower_bounds.oldest_lines()
        print("\n".join(f"    oldest: {line}" for line in lines))
        paths = {"wheel": wheel} if chosen.oldest else both
        check_installed("oldest", Environment(Path(folder) / "oldest", lines), paths)
        if not chosen.oldest:
            newest = Environment(Path(folder) / "newest", pinned())
            check_installed("newest", newest, both)


if __name__ == "__main__":
    main()
