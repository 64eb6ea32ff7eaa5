# SPDX-License-Identifier: BSD-3-Clause
"""Tolerances have one module, and the guide lists them as it does."""

import ast
import itertools
from pathlib import Path

import skstruct
from skstruct import tolerances

PACKAGE = Path(skstruct.__file__).parent
GUIDE = Path(__file__).parents[1] / "docs" / "trust.md"
SMALLEST, LARGEST = 1e-15, 1e-5
OTHER = {("smoothing/planning.py", 1e-9): "a nanosecond: the least time that a clock can show"}


def is_small(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and (
        SMALLEST <= abs(node.value) <= LARGEST
    )  # fmt: skip


def public_defaults(tree):
    """Defaults of the parameters of public classes and functions, which their docstrings state."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield from node.args.defaults + node.args.kw_defaults
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    yield from method.args.defaults + method.args.kw_defaults


def small_literals(package):
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if name == "tolerances.py":
            continue
        tree = ast.parse(path.read_text())
        allowed = {id(node) for node in public_defaults(tree)}
        for node in ast.walk(tree):
            if is_small(node) and id(node) not in allowed and (name, node.value) not in OTHER:
                yield f"{name}:{node.lineno} has {node.value:g}"


def described():
    """Of every group of the module: its title, and (name, number as written, meaning) of each."""
    source = Path(tolerances.__file__).read_text()
    lines, body = source.splitlines(), ast.parse(source).body
    groups = [(i + 1, line[2:]) for i, line in enumerate(lines) if line.startswith("# ")][1:]
    rows = {title: [] for _, title in groups}
    for node, text in itertools.pairwise(body):
        if isinstance(node, ast.Assign):
            title = max(group for group in groups if group[0] < node.lineno)[1]
            number = ast.get_source_segment(source, node.value)
            rows[title].append((node.targets[0].id, number, text.value.value))
    return rows


def table():
    lines = []
    for title, rows in described().items():
        lines += [f"**{title}**", "", "| name | number | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` | {number} | {meaning} |" for name, number, meaning in rows]
        lines.append("")
    return "\n".join(lines)


def test_tolerances_have_one_module():
    assert list(small_literals(PACKAGE)) == []


def test_a_literal_is_caught(tmp_path):
    (tmp_path / "bad.py").write_text("def f(x, tol=1e-6):\n    return x < 1e-9, x < 1e-3\n")
    (tmp_path / "own.py").write_text("def _f(x, tol=1e-6):\n    return x < tol\n")
    assert list(small_literals(tmp_path)) == ["bad.py:2 has 1e-09", "own.py:1 has 1e-06"]


def test_every_tolerance_is_described_and_used():
    names = [name for rows in described().values() for name, _, _ in rows]
    assert sorted(names) == sorted(name for name in vars(tolerances) if name.isupper())
    used = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "skstruct.tolerances":
                used |= {alias.name for alias in node.names}
    assert used == set(names)


def test_the_guide_has_the_same_table():
    assert table() in GUIDE.read_text(), "docs/trust.md: copy what table() of this file returns"
