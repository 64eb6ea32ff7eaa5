# SPDX-License-Identifier: BSD-3-Clause
"""The architecture has a test too: imports point one way."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import skstruct

PACKAGE = Path(skstruct.__file__).parent
LAYERS = ["exceptions", "tolerances", "_arrays", "_files", "backends", "streaming", "solvers"]
LAYERS += ["spaces", "losses"]
LAYERS += ["rankings", "kernels", "smoothing", "bounds", "sampling", "learners"]
LAYERS += ["model_selection", "inspection", "datasets", "tasks", "persistence", "reports"]
LAYERS += ["testing", "cli"]
ROOMS = ["bounds", "datasets", "inspection", "kernels", "learners", "losses"]
ROOMS += ["model_selection", "persistence", "rankings", "reports", "sampling", "smoothing"]
ROOMS += ["spaces", "streaming", "testing"]


def upward_imports(package):
    rank = {name: position for position, name in enumerate(LAYERS)}
    for path in package.rglob("*.py"):
        here = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text())):
            modules = []
            if isinstance(node, ast.ImportFrom) and node.module:
                modules = [node.module]
            elif isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            for module in modules:
                root, _, rest = module.partition(".")
                there = rest.split(".")[0]
                if root == package.name and rank.get(there, 0) > rank.get(here, 99):
                    yield f"{path.relative_to(package)}:{node.lineno} imports {there}"


def test_imports_point_down():
    assert list(upward_imports(PACKAGE)) == []


def test_an_upward_import_is_caught(tmp_path):
    package = tmp_path / "skstruct"
    (package / "spaces").mkdir(parents=True)
    (package / "spaces" / "bad.py").write_text("from skstruct.losses import Hamming\n")
    assert list(upward_imports(package)) == ["spaces/bad.py:1 imports losses"]


def test_every_folder_is_a_layer():
    folders = {path.name for path in PACKAGE.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= set(LAYERS)


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_public_names_exist_and_are_sorted(room):
    module = import_module(f"skstruct.{room}".rstrip("."))
    for name in module.__all__:
        assert getattr(module, name) is not None
    if room:
        assert sorted(module.__all__) == sorted(set(module.__all__))
        for name in module.__all__:
            assert getattr(module, name).__doc__, f"{room}.{name} has no docstring"


def test_importing_costs_little():
    """No compiler, plotting, frames or graphs are loaded before they are used."""
    heavy = ["numba", "torch", "dask", "matplotlib", "networkx", "highspy", "pandas"]
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import skstruct, skstruct.spaces, "
        "skstruct.losses; skstruct.ConditionalRiskMinimizer; "
        f"print([m for m in {heavy} if m in sys.modules and m not in before])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"


def test_unknown_names_are_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = skstruct.nothing
