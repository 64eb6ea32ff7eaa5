# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of a folder as modules, for the time of a test."""

import importlib
import sys
from contextlib import contextmanager


@contextmanager
def scripts_of(folder, monkeypatch):
    """A function that imports a script by its name; they are forgotten afterwards."""
    monkeypatch.syspath_prepend(str(folder))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", "") in {str(p) for p in folder.glob("*.py")}:
            del sys.modules[name]
