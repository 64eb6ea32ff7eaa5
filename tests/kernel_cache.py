# SPDX-License-Identifier: BSD-3-Clause
"""Where compiled kernels are kept between runs of the tests, also of another checkout.

numba keeps machine code beside the sources, so that each fresh checkout compiles anew. And it
looks at a kernel's own file only: a kernel that calls one of another file, or takes a constant
from it, stays as it was when that file changes. Here the folder of a kernel is named by the text
of its file and of all files of the package that this one imports, near or far. Another text is
another folder, so machine code of other sources is never found, whatever the times of the files
say and whichever checkouts are tested at the same time. A file that changes while the tests run
is left to numba, since what was imported may not be what is read now.

`use` tells numba of the class `ByContent`, in this process and in all that it starts. Versions of
numba that do not ask for such a class go on as they would.
"""

import ast
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

KEPT = 30 * 24 * 3600.0  # seconds after the last use
BEGAN = "SKSTRUCT_TESTS_BEGAN"  # the time, for all processes of a run
ASKED = "NUMBA_CACHE_LOCATOR_CLASSES"


def home():
    """The folder of all kernels: in the cache of the user, outside of any checkout."""
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    python = f"{sys.implementation.name}-{sys.version_info[0]}.{sys.version_info[1]}"
    made_by = f"{python}-numba-{version('numba')}-llvmlite-{version('llvmlite')}"
    return Path(caches) / "skstruct-tests" / made_by


def package_of(path):
    """The outermost folder with an ``__init__.py`` around a file."""
    folder = path.parent
    while (folder.parent / "__init__.py").exists():
        folder = folder.parent
    return folder


@functools.cache
def imported(text):
    """Dotted names that a text imports, and of which it imports names; anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError("The file of a relative import is not looked up.")
            names.update([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return names


def sources(path):
    """The file and all that it imports, near or far."""
    package, seen, new = package_of(path), set(), [path]
    while new:
        file = new.pop()
        if file not in seen:
            seen.add(file)
            for name in imported(file.read_bytes()):
                if name.split(".")[0] == package.name:
                    place = package.parent.joinpath(*name.split("."))
                    found = (place.with_suffix(".py"), place / "__init__.py")
                    new += [other for other in found if other.exists()]
    return sorted(seen)


def content(path):
    """Name of the folder for the kernels of a file: where the file is, and what it rests on."""
    package = package_of(path)
    settings = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    settings.pop(ASKED, None)
    parts = [repr(sorted(settings.items())).encode()]
    for file in sources(path):
        parts += [str(file.relative_to(package)).encode(), file.read_bytes()]
    digest = hashlib.sha256(b"".join(b"%d " % len(part) + part for part in parts))
    name = ".".join(path.relative_to(package).with_suffix("").parts)
    return f"{name}-{digest.hexdigest()[:32]}"


@functools.cache
def folder_of(path):
    """The folder for the kernels of a file, or None if there can be none."""
    began = float(os.environ.get(BEGAN, "-inf"))
    if any(file.stat().st_ctime > began for file in sources(path)):
        return None
    folder = home() / content(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)  # the last use
    except OSError:
        return None
    return folder


class ByContent:
    """Tells numba the folder of a kernel."""

    def __init__(self, py_func, py_file, folder):
        self._py_file = py_file  # numba's warnings name it
        self._line = py_func.__code__.co_firstlineno
        self._folder = folder

    @classmethod
    def from_function(cls, py_func, py_file):
        path = Path(py_file).resolve()
        folder = folder_of(path) if path.exists() else None
        return None if folder is None else cls(py_func, py_file, folder)

    def ensure_cache_path(self):
        self._folder.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self):
        return str(self._folder)

    def get_source_stamp(self):
        return self._folder.name

    def get_disambiguator(self):
        return str(self._line)


def use():
    """Keep the kernels of this process, and of all that it starts."""
    os.environ.setdefault(BEGAN, repr(time.time()))
    others = "InTreeCacheLocator,UserWideCacheLocator,IPythonCacheLocator"
    os.environ[ASKED] = f"{__name__}.{ByContent.__name__},{others}"
    here, paths = str(Path(__file__).parent), os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if here not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([*filter(None, paths), here])


def remove_old():
    """Remove folders that were not used for long."""
    for folder in home().glob("*"):
        if folder.stat().st_mtime < time.time() - KEPT:
            shutil.rmtree(folder, ignore_errors=True)
