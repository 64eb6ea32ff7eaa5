# SPDX-License-Identifier: BSD-3-Clause
"""How every script of this folder ends: one JSON object, and 1 if anything failed."""

import json
import platform
from importlib.metadata import version


def finish(name, counts) -> int:
    """Print the counts with versions; 1 if something failed or no planted bug was caught."""
    versions = {package: version(package) for package in ("skstruct", "numpy", "scikit-learn")}
    versions["python"] = platform.python_version()
    print(json.dumps({"script": name, **counts, "versions": versions}, indent=2))
    return int(bool(counts["failed"]) or not counts["planted_caught"])
