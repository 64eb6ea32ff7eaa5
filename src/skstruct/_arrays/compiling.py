# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that numba compiles when they are first called, and keeps for all later processes.

Modules of kernels write ``from skstruct._arrays import compiling as nb`` and ``@nb.njit(...)``.
Importing them does not import numba, which takes as long as all of NumPy and SciPy's sparse
matrices: only the first call of a kernel does.

A kernel that another kernel calls is compiled without the two wrappers by which Python and C
would call it, and once for all numbers: numba by itself compiles it anew for every number that
stands in a call. A kernel that both call is compiled in both ways.

Machine code is kept in one folder of the user, see :func:`kernels_home`, and not beside the
sources, so that it outlives upgrades of other packages, a virtual environment that is moved or
made anew, and sources that nobody may write beside. The folder of a module is named by the texts
of that module and of all modules of this package that it imports, near or far: numba by itself
looks at the time of one file, and misses a change in a file that this one calls. Within it numba
tells apart processors, types of arguments and versions of Python.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from skstruct._arrays.imports import PACKAGE

_IMPORTS = re.compile(r"^\s*(?:from|import)\s+(skstruct[\w.]*)(?:\s+import\s+([\w, ]+))?", re.M)
_OF_PLACES = ("NUMBA_CACHE_DIR", "NUMBA_CACHE_LOCATOR_CLASSES")  # settings that change no code


class Kernel:
    """A function that is compiled when it is first called, from Python or by another kernel.

    Examples
    --------
    >>> import pickle
    >>> from skstruct.spaces.solvers._numba_closures import transposed
    >>> type(transposed).__name__, transposed.__name__
    ('Kernel', 'transposed')
    >>> pickle.loads(pickle.dumps(transposed)) is transposed
    True
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func, self._options = function, options

    def __call__(self, *arguments: Any) -> Any:
        return self._called(*arguments)

    @cached_property
    def _called(self) -> Any:
        """Numba's dispatcher for calls from Python."""
        return _dispatcher(self.py_func, {**self._options, "no_cfunc_wrapper": True}, "")

    @cached_property
    def _called_by_kernels(self) -> Any:
        wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        return _of_any_numbers(_dispatcher(self.py_func, {**self._options, **wrappers}, ".inner"))

    @property
    def _numba_type_(self) -> Any:
        """What numba takes a kernel for where another one names it."""
        return self._called_by_kernels._numba_type_

    def __reduce__(self) -> str:
        return str(self.py_func.__qualname__)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` that waits; all kernels are kept on disk and release the lock of Python."""
    return lambda function: Kernel(function, options)


def _dispatcher(function: Callable[..., Any], options: dict[str, Any], kind: str) -> Any:
    """Numba's own object for a function, with a cache of ours where there can be one."""
    import numba

    import skstruct._arrays._numba_notice  # noqa: F401 (tells who waits)

    made = numba.njit(**{**options, "cache": False})(function)
    if options.get("cache") and hasattr(made, "_cache"):  # not where compiling is switched off
        try:
            made._cache = _cache_of(kind)(function)
        except (RuntimeError, OSError):  # no folder can be written to: it is compiled each time
            return made
    return made


def _of_any_numbers(made: Any) -> Any:
    """A dispatcher that takes numbers written into calls for any numbers of their type."""
    from numba.core import types

    unliteral: Any = types.unliteral
    resolve = getattr(made, "get_call_template", None)
    if resolve is not None:  # not where compiling is switched off
        made.get_call_template = lambda arguments, named: resolve(
            tuple(map(unliteral, arguments)),
            {name: unliteral(kind) for name, kind in named.items()},
        )
    return made


@functools.cache
def _cache_of(kind: str) -> Any:
    """Numba's cache of a function; with another name for files of another kind."""
    from numba.core import caching

    numbas: Any = caching.CompileResultCacheImpl

    class Kept(numbas):  # type: ignore[misc]  # numba's types are of its own code
        _locator_classes = (_locator(), *numbas._locator_classes)

        def get_filename_base(self, fullname: str, abiflags: str) -> str:
            return super().get_filename_base(fullname + kind, abiflags)

    class Cache(caching.FunctionCache):
        _impl_class = Kept

    return Cache


@functools.cache
def _locator() -> Any:
    from numba.core.caching import _CacheLocator

    class ByText(_CacheLocator):
        """Tells numba the folder of a function of ours; numba's own places serve others."""

        def __init__(self, function: Callable[..., Any], file: str, folder: Path) -> None:
            self._py_file, self._folder = file, folder  # numba's warnings name the file
            self._line = function.__code__.co_firstlineno

        @classmethod
        def from_function(cls, function: Callable[..., Any], file: str) -> Any:
            folder = _folder_of(Path(file).resolve())
            return None if folder is None else cls(function, file, folder)

        def ensure_cache_path(self) -> None:
            self._folder.mkdir(parents=True, exist_ok=True)

        def get_cache_path(self) -> str:
            return str(self._folder)

        def get_source_stamp(self) -> str:
            return self._folder.name

        def get_disambiguator(self) -> str:
            return str(self._line)

    return ByText


# ---------------------------------------------------------------------- where kernels are kept


def kernels_home() -> Path:
    """The folder of all kernels of this version of skstruct and numba.

    It lies in ``$NUMBA_CACHE_DIR`` if that is set, else in the user's folder of caches; whoever
    removes it has kernels compiled again.
    """
    import numba

    from skstruct import __version__

    return _caches() / "skstruct" / f"{__version__}-numba-{numba.__version__}"


def _caches() -> Path:
    given = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    if given:
        return Path(given)
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


@functools.cache
def _folder_of(path: Path) -> Path | None:
    """The folder for kernels of a file of this package; None where there can be none."""
    try:
        folder = kernels_home() / text_key(path)
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, ValueError, RuntimeError):  # read-only, not ours or packed, without a home
        return None
    return folder


def text_key(path: Path) -> str:
    """Name of a file of this package, and of what its kernels rest on: texts and settings."""
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items())
                if name.startswith("NUMBA_") and name not in _OF_PLACES]  # fmt: skip
    digest = hashlib.sha256("\n".join(settings).encode())
    for file in sources(path):
        text = file.read_bytes()
        digest.update(f"\n{file.relative_to(PACKAGE).as_posix()} {len(text)}\n".encode() + text)
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts) + f"-{digest.hexdigest()[:16]}"


def sources(path: Path) -> list[Path]:
    """A file and all files of this package that it imports, near or far."""
    seen: set[Path] = set()
    new = [path]
    while new:
        file = new.pop()
        if file in seen:
            continue
        seen.add(file)
        for module, names in _IMPORTS.findall(file.read_text("utf-8")):
            inner = [f"{module}.{name.split()[0]}" for name in names.split(",") if name.strip()]
            found = (_file_of(dotted) for dotted in (module, *inner))
            new += [other for other in found if other is not None]
    return sorted(seen)


def _file_of(module: str) -> Path | None:
    """The file of a module of this package; None of packages, whose names stand in modules."""
    file = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return file if file.is_file() else None
