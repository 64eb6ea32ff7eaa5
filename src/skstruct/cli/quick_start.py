# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn for commands that want to be quick, without packages it imports and hardly uses.

``import sklearn.base`` takes two seconds of CPU, of which more than half are for ``scipy.stats``
and pandas. Here such modules wait until they are first touched, by the standard library's own
:class:`importlib.util.LazyLoader`: whoever needs one has it, a little later. pandas is an optional
package of scikit-learn, which asks for it once; whoever imports it afterwards has it as always.

Only the process of the command line does so, never the library.
"""

from __future__ import annotations

import gc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

WAITING = (
    "asyncio",
    "narwhals",
    "narwhals.stable",
    "narwhals.stable.v2",
    "numpy.char",
    "numpy.ctypeslib",
    "numpy.f2py",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.rec",
    "numpy.testing",
    "scipy.special",
    "scipy.stats",
)
OPTIONAL = ("pandas",)
APART = ("sklearn.metrics", "sklearn.neighbors")  # packages of which trees and kernels need a file
SELDOM = 200_000  # objects made before unused ones are searched for: modules make none


_Lazy: Any = vars(importlib.util)["_LazyModule"]  # what LazyLoader makes of modules


class _Waiting(_Lazy):  # type: ignore[misc]  # not in the stubs of the standard library
    """A module that waits, also while modules inside of it are found, which wait as well."""

    def __getattribute__(self, name: str) -> Any:
        there = ModuleType.__getattribute__(self, "__dict__")
        if name in ("__path__", "__spec__", "__class__") or isinstance(there.get(name), ModuleType):
            return ModuleType.__getattribute__(self, name)
        ModuleType.__setattr__(self, "__class__", _Lazy)
        return getattr(self, name)


class _Later(importlib.util.LazyLoader):
    """Python's loader of modules that wait, for :class:`_Waiting`."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        module.__class__ = _Waiting


class _Postponing:
    """Finds the modules of ``WAITING`` so that they load when touched; those optional, not."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name in OPTIONAL:
            raise ModuleNotFoundError(f"{name} is left for later", name=name)
        spec = PathFinder.find_spec(name, path, target) if name in (*WAITING, *APART) else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Later(spec.loader)
        return spec


def import_scikit_learn() -> None:
    """Import ``sklearn.base`` while heavy modules wait; nothing where it is imported already."""
    if "sklearn" in sys.modules:
        return
    sys.meta_path.insert(0, _Postponing)
    try:
        import sklearn.base
        import sklearn.metrics
        import sklearn.neighbors  # noqa: F401
    finally:
        sys.meta_path.remove(_Postponing)


def starts_quickly(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that imports scikit-learn in this way before all else, and collects seldom."""

    @wraps(command)
    def started(*arguments: Any, **options: Any) -> Any:
        before = gc.get_threshold()
        gc.set_threshold(SELDOM, *before[1:])
        try:
            import_scikit_learn()
            return command(*arguments, **options)
        finally:
            gc.set_threshold(*before)

    return started


def load_waiting() -> None:
    """Load all modules that wait: before threads begin, since two may touch one at a time."""
    for name in (*WAITING, *APART):
        if name in sys.modules:
            getattr(sys.modules[name], "__doc__", None)
