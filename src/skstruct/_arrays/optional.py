# SPDX-License-Identifier: BSD-3-Clause
"""Packages that are imported only where they are used."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


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
