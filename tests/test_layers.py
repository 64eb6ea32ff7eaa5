# SPDX-License-Identifier: BSD-3-Clause
"""The architecture has a test too: imports point one way."""

import ast
import functools
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import skstruct

PACKAGE = Path(skstruct.__file__).parent
LAYERS = ["exceptions", "sizes", "tolerances", "saving", "facets", "_arrays", "config", "_files"]
LAYERS += ["backends", "encoding", "spaces", "losses", "fitted", "streaming"]
LAYERS += ["rankings", "features", "kernels", "smoothing", "bounds", "sampling", "learners"]
LAYERS += ["model_selection", "conformal", "inspection", "drawings", "datasets", "tasks"]
LAYERS += ["persistence", "reports", "testing", "torch", "serving", "mlflow", "explorer", "cli"]
ROOMS = [
    "bounds",
    "conformal",
    "datasets",
    "drawings",
    "encoding",
    "features",
    "inspection",
    "kernels",
]
ROOMS += ["learners", "losses", "model_selection", "persistence", "rankings", "reports", "sampling"]
ROOMS += ["smoothing", "spaces", "streaming", "testing", "torch"]


@functools.cache
def tree_of(path):
    """The syntax of a file; reading all files takes two seconds, and five tests do."""
    return ast.parse(path.read_text())


def upward_imports(package):
    rank = {name: position for position, name in enumerate(LAYERS)}
    for path in package.rglob("*.py"):
        here = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(tree_of(path)):
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


@pytest.mark.slow
def test_imports_point_down():
    assert list(upward_imports(PACKAGE)) == []


def test_an_upward_import_is_caught(tmp_path):
    package = tmp_path / "skstruct"
    (package / "spaces").mkdir(parents=True)
    (package / "spaces" / "bad.py").write_text("from skstruct.losses import Hamming\n")
    assert list(upward_imports(package)) == ["spaces/bad.py:1 imports losses"]


def names_in(folder):
    """Modules and packages of a folder."""
    inside = (path for path in folder.iterdir() if path.is_dir() or path.suffix == ".py")
    return {path.stem for path in inside} - {"__pycache__", "__init__", "_version"}


def test_every_folder_is_a_layer():
    assert names_in(PACKAGE) == set(LAYERS)


def test_contributors_are_shown_the_same_layers():
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    block = page.split("Imports point down this list")[1].split("    cli", 1)[1]
    shown = ["cli", *block.split("\n\n", 1)[0].split()]
    assert shown == LAYERS[::-1]


# ------------------------------------------------------------------- circles
def modules_of(package):
    """Files of a package by the names that they are imported by."""
    for path in package.rglob("*.py"):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imported(node, *, running):
    """(module, name) of all imports below a node; ``running``: those that happen on import."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
            continue
        if running and isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(child, ast.ImportFrom):
            yield from ((child.module, alias.name) for alias in child.names)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, None) for alias in child.names)
        else:
            yield from imported(child, running=running)


@functools.cache
def import_graph(package, *, running):
    """For every module the modules of the package that it imports."""
    modules = dict(modules_of(package))
    return {
        here: {
            full if (full := f"{module}.{name}") in modules else module
            for module, name in imported(tree_of(path), running=running)
        }
        & set(modules)
        for here, path in modules.items()
    }


def two_way(package):
    graph = import_graph(package, running=False)
    return [(a, b) for a in sorted(graph) for b in sorted(graph[a]) if a < b and a in graph[b]]


@pytest.mark.slow
def test_no_two_files_import_each_other():
    assert two_way(PACKAGE) == []


@pytest.mark.slow
def test_no_circle_of_imports():
    for running in (True, False):
        list(TopologicalSorter(import_graph(PACKAGE, running=running)).static_order())


def test_circles_are_caught(tmp_path):
    package = tmp_path / "skstruct"
    package.mkdir()
    (package / "a.py").write_text("def f():\n    from skstruct.b import g\n")
    (package / "b.py").write_text("from skstruct import a\n")
    assert two_way(package) == [("skstruct.a", "skstruct.b")]
    with pytest.raises(CycleError):
        list(TopologicalSorter(import_graph(package, running=False)).static_order())
    list(TopologicalSorter(import_graph(package, running=True)).static_order())


# ------------------------------------------------------------------- structures
GROUND = {"base", "constraints", "contracts", "common", "given_whole", "partial", "truth"}
GROUND |= {"solvers", "solving", "targets", "coordinates"}
GROUND |= {"entries"}
GROUND |= {"known"}
GROUND |= {"marginals", "sklearn_target"}
GROUND |= {"cost_vectors", "observed_rows", "edge_sets", "indicator_sets", "sequence_sets"}
GROUND |= {"uniform"}
GROUND |= {"description", "embeddings", "inference"}
STRUCTURES = {"assignments", "binary_polytope", "candidates", "classes", "cliques", "cycles"}
STRUCTURES |= {"graph_nodes", "graphs", "hierarchies", "knapsacks", "label_sets", "matchings"}
STRUCTURES |= {"ordinal", "pairwise", "paths", "poset", "quantities", "rankings", "sequences"}
STRUCTURES |= {"partial_orders", "solver_space", "spanning_trees", "strings", "tournaments"}
CHOOSES = {"infer_space"}  # a space for given outputs: it knows the common ones
PART = "sets of 0/1 indicators; the base class stands beside label sets, their relaxation"
BETWEEN_STRUCTURES = {
    ("assignments", "label_sets", "IndicatorSpace"): PART,
    ("knapsacks", "label_sets", "IndicatorSpace"): PART,
    ("binary_polytope", "label_sets", "IndicatorSpace"): PART,
    ("edge_sets", "label_sets", "IndicatorSpace"): PART,
    ("hierarchies", "label_sets", "IndicatorSpace"): PART,
    ("pairwise", "label_sets", "IndicatorSpace"): PART,
    ("indicator_sets", "label_sets", "LabelSets"): "all sets of the same labels contain them",
    ("pairwise", "label_sets", "LabelSets"): "the same sets without the pairs",
    ("graphs", "label_sets", "LabelSets"): "all graphs are sets of edges",
    ("graphs", "matchings", "Matchings"): "graphs of degree one",
    ("graphs", "spanning_trees", "SpanningTrees"): "connected graphs without cycles",
    ("cliques", "pairwise", "LabelsAndEdges"): "a clique has costs by pair of nodes alone",
    ("cliques", "pairwise", "UniformOfLabelsAndEdges"): "and its nodes are labels",
    ("partial_orders", "rankings", "read_orders"): "rankings are written as orders of names",
    ("partial_orders", "rankings", "read_rankings"): "and as ranks; both are partial orders",
    ("candidates", "classes", "Classes"): "one output of a list",
    ("candidates", "classes", "KnownOfClasses"): "and what is known of it",
    ("candidates", "classes", "DescriptionOfClasses"): "one output of a list",
    ("candidates", "classes", "MarginalsOfClasses"): "of which each has a probability",
    ("candidates", "classes", "UniformOfClasses"): "and all are equally likely",
    ("graph_nodes", "classes", "Classes"): "classes that are near or far",
    ("graph_nodes", "classes", "DescriptionOfClasses"): "classes that are near or far",
    ("ordinal", "poset", "Poset"): "grades are a chain",
    ("ordinal", "poset", "MarginalsOfElements"): "and their probabilities those of elements",
    ("ordinal", "poset", "UniformOfElements"): "as is how many there are",
    ("solver_space", "quantities", "QuantitySpace"): "solutions are rows of numbers",
    ("solver_space", "quantities", "SolvingWithoutCurves"): "and are decided like these",
    ("strings", "sequences", "Sequences"): "strings embedded by position are sequences",
}


def test_every_folder_of_spaces_is_known():
    assert names_in(PACKAGE / "spaces") == GROUND | STRUCTURES | CHOOSES


@pytest.mark.slow
def test_structures_do_not_import_each_other():
    spaces = PACKAGE / "spaces"
    found = set()
    for path in spaces.rglob("*.py"):
        here = path.relative_to(spaces).parts[0].removesuffix(".py")
        if here in CHOOSES | {"__init__"}:
            continue
        for module, name in imported(tree_of(path), running=False):
            there = (module or "").removeprefix("skstruct.spaces.").split(".")[0]
            if module and module.startswith("skstruct.spaces.") and there not in {here} | GROUND:
                found.add((here, there, name))
    assert found == set(BETWEEN_STRUCTURES)


@pytest.mark.slow
def test_only_compiled_files_import_the_compiler():
    importing = {
        path.name
        for _, path in modules_of(PACKAGE)
        for module, _ in imported(tree_of(path), running=True)
        if (module or "").split(".")[0] == "numba"
    }
    assert importing
    assert all(name.startswith("_numba") for name in importing)


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_public_names_exist_and_are_sorted(room):
    module = import_module(f"skstruct.{room}".rstrip("."))
    for name in module.__all__:
        assert getattr(module, name) is not None
    if room:
        assert sorted(module.__all__) == sorted(set(module.__all__))
        for name in module.__all__:
            assert getattr(module, name).__doc__, f"{room}.{name} has no docstring"


@pytest.mark.subprocess
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
