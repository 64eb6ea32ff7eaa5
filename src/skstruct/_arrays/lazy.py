# SPDX-License-Identifier: BSD-3-Clause
"""Names of a package that are imported when they are first asked for."""

from __future__ import annotations

from importlib import import_module


def lazy_names(package: str, homes: dict[str, str]):
    """A module's ``__getattr__``: names by the module of the package that defines them.

    >>> find = lazy_names("collections", {"Mapping": "abc"})
    >>> find("Mapping").__name__
    'Mapping'
    >>> find("Nothing")
    Traceback (most recent call last):
        ...
    AttributeError: module 'collections' has no attribute 'Nothing'
    """

    def __getattr__(name):
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return __getattr__
