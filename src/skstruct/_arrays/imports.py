# SPDX-License-Identifier: BSD-3-Clause
"""Imports that wait: names of packages when first asked for, and optional packages."""

import importlib
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).resolve().parents[1]  # the folder of skstruct


def lazy_names(
    module: str, homes: dict[str, str], package: str | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A module's ``__getattr__`` and ``__dir__``: names by the modules that define them.

    Parameters
    ----------
    module : str
        Whose names they are.
    homes : dict
        Module by name, within the package.
    package : str, default=None
        The module itself when None.

    Examples
    --------
    >>> find, names = lazy_names("collections", {"Mapping": "abc"})
    >>> find("Mapping").__name__, "Mapping" in names(), "deque" in names()
    ('Mapping', True, True)
    >>> find("Nothing")
    Traceback (most recent call last):
        ...
    AttributeError: module 'collections' has no attribute 'Nothing'
    """

    def __getattr__(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package or module}.{homes[name]}"), name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*vars(sys.modules[module]), *homes})

    return __getattr__, __dir__


# Packages that are imported only where they are used.


def require(package: str, *, used_by: str, extra: str) -> ModuleType:
    """Import an optional package, or say how to get it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise ImportError(f'{used_by} needs {package}: pip install "skstruct[{extra}]".') from error


def is_networkx(value: Any) -> bool:
    """Whether ``value`` is a graph of networkx, without importing it."""
    return all(hasattr(value, name) for name in ("nodes", "edges", "is_directed"))


def is_pandas(value: Any, *kinds: str) -> bool:
    """Whether ``value`` is a pandas ``DataFrame`` or ``Series``, without importing pandas.

    Whoever passes a frame has imported pandas already.
    """
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(value, tuple(getattr(pandas, k) for k in kinds))
