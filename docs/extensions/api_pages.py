# SPDX-License-Identifier: BSD-3-Clause
"""A page for every name that docs/api.md lists.

What autosummary would write takes long: it looks at every member of every class, and documents
what classes inherit on the page of each. Here spaces, losses and kernels have their own members in
full and what they inherit in one line each. numpydoc, which compiles its template anew for every
docstring, is given one that is kept.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

from numpydoc import docscrape_sphinx

LISTED = re.compile(r"\.\. autosummary::\n(?:   :.*\n)+\n((?:   \S+\n)+)")
MODULE = re.compile(r"\.\. currentmodule:: (\S+)")
BRIEF = ("skstruct.spaces", "skstruct.losses", "skstruct.kernels", "skstruct.torch")
CONTRACTS = {
    "skstruct.spaces": "contracts",
    "skstruct.losses": "base",
    "skstruct.smoothing": "facets",
}
PROTOCOLS = {
    "BilinearLoss", "Countable", "Decoded", "Enumerable", "Guarantee", "KBest", "LinearSmoother",
    "OutputSpace", "Restrictable", "Samplable",
}  # fmt: skip


def listed(text: str) -> list[str]:
    """Full names that a page of names lists."""
    module = MODULE.search(text)[1]
    return [f"{module}.{name}" for block in LISTED.findall(text) for name in block.split()]


def find(name: str):
    """Module, name and object."""
    module, _, attribute = name.rpartition(".")
    return module, attribute, getattr(import_module(module), attribute)


def inherited(found: type) -> list[tuple[str, str]]:
    """Public members of a class that it inherits from the library, with their first sentence."""
    members = []
    for name in sorted(dir(found)):
        owner = next((base for base in found.__mro__ if name in vars(base)), found)
        if name.startswith("_") or owner is found or not owner.__module__.startswith("skstruct"):
            continue
        member = inspect.getattr_static(found, name)
        if callable(member) or isinstance(member, property | classmethod | staticmethod):
            text = inspect.getdoc(getattr(found, name, None)) or inspect.getdoc(member) or ""
            first = " ".join(text.partition("\n\n")[0].split())
            members.append((name, first if len(first) < 160 else first[:150] + " …"))
    return members


def inherited_lines(name: str, found: type) -> list[str]:
    """Fitted attributes, to which docstrings link, in full; the rest in a line each."""
    lines, brief = [""], []
    for member, first in inherited(found):
        if member.endswith("_") and isinstance(inspect.getattr_static(found, member), property):
            lines += [f".. autoproperty:: {name}.{member}", ""]
        else:
            brief += [f"``{member}``", f"   {first or 'Not described.'}", ""]
    return lines + ([".. rubric:: Inherited", "", *brief] if brief else [])


def page(name: str) -> str:
    module, attribute, found = find(name)
    lines = [attribute, "=" * len(attribute), "", f".. currentmodule:: {module}", ""]
    if attribute in PROTOCOLS:
        file = f"/../src/{module.replace('.', '/')}/{CONTRACTS[module]}.py"
        lines += [f".. class:: {attribute}", "", "   A contract, best read in the source:", "",
                  f"   .. literalinclude:: {file}", f"      :pyobject: {attribute}"]  # fmt: skip
    elif inspect.isclass(found):
        brief = module.startswith(BRIEF)
        lines += [f".. autoclass:: {attribute}", "   :members:"]
        lines += [] if brief else ["   :inherited-members:"]
        lines += inherited_lines(attribute, found) if brief else []
    else:
        kind = "function" if callable(found) else "data"
        lines += [f".. auto{kind}:: {attribute}"]
    return "\n".join(lines) + "\n"


def write_pages(app) -> None:
    """Before pages are read; a page that is as it was is left alone."""
    folder = Path(app.srcdir) / "generated"
    folder.mkdir(exist_ok=True)
    names = listed((Path(app.srcdir) / "api.md").read_text(encoding="utf-8"))
    for path in folder.glob("*.rst"):
        if path.stem not in names:
            path.unlink()
    for name in names:
        path, text = folder / f"{name}.rst", page(name)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def keep_template() -> None:
    make = docscrape_sphinx.SandboxedEnvironment
    kept: list = []

    def environment(loader):
        if not kept:
            kept.append(make(loader=loader))
        return kept[0]

    docscrape_sphinx.SandboxedEnvironment = environment


def setup(app):
    keep_template()
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
