# SPDX-License-Identifier: BSD-3-Clause
"""Modules of docs/scripts and docs/extensions, which are no packages, for tests of them."""

import importlib.util
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def load(path):
    """A module of docs/ by its path, imported once and without a change of the search path."""
    name = f"docs_{Path(path).stem}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, DOCS / path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]
