# SPDX-License-Identifier: BSD-3-Clause
"""Counts what makes the middle of the library heavy, and holds it against the table in house.txt.

    python tools/house.py            # what differs from the table; fails if a number rose
    python tools/house.py --all      # every number beside the table's
    python tools/house.py --write    # lowers the numbers of the table that fell, adds new ones

A number may fall. Whoever raises one edits its line of the table in the same commit and says why
behind a `#`. Syntax nodes stand for the size of code, since a line may hold three statements.
"""

import ast
import importlib
import inspect
import math
import re
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import skstruct

PACKAGE = Path(skstruct.__file__).parent
TABLE = Path(__file__).with_suffix(".txt")
COMPONENT = re.compile(
    r"_*(space|whole|loss|model|learner|smoother|problem|estimator|regressor|view|fitted|member)s?_*"
)
NAMES = 15  # public names that a class of the middle may have without a line in the table

Counts = dict[str, float]


# ------------------------------------------------------------------- sources
def last_word(node: ast.expr) -> str:
    """What a question is put to: ``space`` of ``self.problem_.space``."""
    if isinstance(node, ast.Call):
        return last_word(node.func)
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def is_probe(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("hasattr", "getattr")
    )


def asks_component(node: ast.AST) -> bool:
    return is_probe(node) and bool(node.args) and bool(COMPONENT.fullmatch(last_word(node.args[0])))


def catches_attribute_error(node: ast.AST) -> bool:
    caught = isinstance(node, ast.ExceptHandler) and node.type is not None
    return caught and "AttributeError" in ast.unparse(node.type)


def is_private_of_other(node: ast.AST) -> bool:
    """An underscored name, asked of something else than oneself."""
    if not isinstance(node, ast.Attribute) or not re.match(r"_(?!_)", node.attr):
        return False
    own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
    return not own and not isinstance(node.value, ast.Call)


def internal_names(node: ast.AST, package: str) -> Iterator[tuple[str, str]]:
    """Names imported from inside of another package, rather than from its front door."""
    if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("skstruct."):
        return
    there, *inside = node.module.split(".")[1:]
    if there != package and not there.startswith("_"):
        names = [alias.name for alias in node.names]
        if inside or any(name.startswith("_") for name in names):
            yield from ((node.module, name) for name in names)


def types_of(node: ast.AST) -> Iterator[str]:
    """Annotations of a public function, of each argument and of what it returns."""
    if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
        arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
        given = [a.annotation for a in arguments if a.arg not in ("self", "cls")]
        for annotation in [*given, node.returns]:
            yield "Any" if annotation is None else ast.unparse(annotation)


def of_sources(package: Path) -> Counts:
    """What is counted file by file; sizes by folder, so that one sees where they grow."""
    nodes: Counter[str] = Counter()
    probes: Counter[str] = Counter()
    found, crossing, types = Counter(), set(), Counter()
    for path in sorted(package.rglob("*.py")):
        folder = path.relative_to(package).parts[0].removesuffix(".py")
        folder = folder if (package / folder).is_dir() else "single files"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            nodes[folder] += 1
            probes[folder] += asks_component(node)
            found["hasattr and getattr"] += is_probe(node)
            found["AttributeErrors caught"] += catches_attribute_error(node)
            found["underscored names of other objects"] += is_private_of_other(node)
            crossing.update(internal_names(node, folder))
            if not path.name.startswith("_"):
                types.update(types_of(node))
    share = 100 * types["Any"] / max(types.total(), 1)
    return {
        "syntax nodes of all packages, thousands": math.ceil(nodes.total() / 1000),
        **{f"syntax nodes of {k}, hundreds": math.ceil(nodes[k] / 100) for k in sorted(nodes)},
        "questions to components": probes.total(),
        **{f"questions to components in {k}": probes[k] for k in sorted(probes) if probes[k]},
        **dict(sorted(found.items())),
        "internal names that cross packages": len(crossing),
        "types of public functions that are Any, percent": math.ceil(share),
    }


# ------------------------------------------------------------------- classes
def public_names(cls: type) -> int:
    return sum(not name.startswith("_") for name in dir(cls))


def shared_base(classes: list[type]) -> type:
    """The class of the library, nearest to them, from which more than half of them come."""
    above = Counter(ancestor for cls in classes for ancestor in cls.__mro__[1:])
    ours = {a: n for a, n in above.items() if a.__module__.startswith("skstruct")}
    common = [a for a, n in ours.items() if n > len(classes) / 2]
    return max(common, key=lambda a: len(a.__mro__))


def problems(package: Path) -> Iterator[type]:
    """Classes of files that are named after a problem: what learners ask of space and loss."""
    for path in sorted(package.rglob("*problem*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        module = importlib.import_module(".".join(parts))
        classes = filter(inspect.isclass, vars(module).values())
        yield from (cls for cls in classes if cls.__module__ == module.__name__)


def of_classes() -> Counts:
    counts: Counts = {}
    for room in ("spaces", "losses", "learners", "smoothing"):
        module = importlib.import_module(f"skstruct.{room}")
        classes = [c for name in module.__all__ if inspect.isclass(c := getattr(module, name))]
        names = [public_names(c) for c in classes]
        base = shared_base(classes)
        counts[f"public names of {base.__name__}"] = public_names(base)
        counts[f"public names of a class of {room}, median"] = math.ceil(statistics.median(names))
        counts[f"public names of a class of {room}, most"] = max(names)
    for cls in problems(PACKAGE):
        if public_names(cls) > NAMES:
            counts[f"public names of {cls.__name__}"] = public_names(cls)
    return counts


# ------------------------------------------------------------------- calls
def files_passed(call: Callable[[], object]) -> int:
    """How many files of the library a call runs through."""
    files = set()

    def note(frame: object, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)):
            files.add(name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len(files)


def of_calls() -> Counts:
    import numpy as np

    from skstruct import ConditionalRiskMinimizer
    from skstruct.spaces import Hierarchy

    rng = np.random.default_rng(0)
    kinds = [["animal", "cat"], ["animal", "dog"], ["animal"], ["plant", "tree"]]
    kind = rng.integers(4, size=200)
    X = np.array([[0, 0], [2, 0], [1, 1], [4, 4]])[kind] + rng.normal(0, 0.5, (200, 2))
    Y = [kinds[k] for k in kind]
    space = Hierarchy([("animal", "cat"), ("animal", "dog"), ("plant", "tree")])
    settings = {
        "by default": {},
        "of kernel ridge": {"smoother": "kernel_ridge"},
        "of kernel ridge, alpha=1": {"smoother": "kernel_ridge", "alpha": 1.0},
    }
    counts: Counts = {}
    for name, given in settings.items():
        make = lambda given=given: ConditionalRiskMinimizer(space, "hierarchical", **given)  # noqa: E731
        make().fit(X, Y).predict(X[:3])  # what is imported or compiled once is no part of the way
        model = make()
        counts[f"files passed by fit {name}"] = files_passed(lambda m=model: m.fit(X, Y))
        counts[f"files passed by predict {name}"] = files_passed(lambda m=model: m.predict(X[:3]))
    return counts


def measured() -> Counts:
    return of_sources(PACKAGE) | of_classes() | of_calls()


# ------------------------------------------------------------------- the table
def read_table(text: str) -> dict[str, tuple[float, str]]:
    """Number and reason by name; a line is ``number  name  # reason``."""
    rows = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            row, _, reason = line.partition("#")
            number, name = row.split(maxsplit=1)
            rows[name.strip()] = (float(number), reason.strip())
    return rows


def write_table(rows: dict[str, tuple[float, str]]) -> str:
    head = "# What tools/house.py counts may fall; raise a number with a reason behind a `#`.\n"
    ends = {name: f"  # {reason}" if reason else "" for name, (_, reason) in rows.items()}
    return head + "".join(f"{rows[name][0]:8g}  {name}{end}\n" for name, end in ends.items())


def risen(counts: Counts, rows: dict[str, tuple[float, str]]) -> list[str]:
    """What is above the table, or not in it."""
    return [
        f"{name}: {count:g}, in the table {rows[name][0]:g}"
        if name in rows
        else f"{name}: {count:g}, which the table does not hold"
        for name, count in counts.items()
        if name not in rows or count > rows[name][0]
    ]


def fallen(counts: Counts, rows: dict[str, tuple[float, str]]) -> list[str]:
    """What is below the table, or no more counted."""
    return [
        f"{name}: {counts.get(name, 0):g}, in the table {most:g}"
        for name, (most, _) in rows.items()
        if counts.get(name, 0) < most
    ]


def lowered(counts: Counts, rows: dict[str, tuple[float, str]]) -> dict[str, tuple[float, str]]:
    """The table with what fell; a number that rose stays, and so does its reason."""
    return {
        name: rows[name] if name in rows and count >= rows[name][0] else (count, "")
        for name, count in counts.items()
    }


def main(options: list[str]) -> int:
    rows = read_table(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    counts = measured()
    if "--write" in options:
        rows = lowered(counts, rows)
        TABLE.write_text(write_table(rows), encoding="utf-8")
    if "--all" in options:
        print(*(f"{count:8g}  {name}" for name, count in counts.items()), sep="\n")
    up, down = risen(counts, rows), fallen(counts, rows)
    for line in (*(f"higher: {line}" for line in up), *(f"lower: {line}" for line in down)):
        print(line)
    return int(bool(up))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
