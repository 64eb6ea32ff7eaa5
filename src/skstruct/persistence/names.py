# SPDX-License-Identifier: BSD-3-Clause
"""The classes that a model file may name: those that are savable, and some of scikit-learn.

A name that nobody has registered yet is looked for among the public names of this library, then
among the entry points of installed packages, at last in all modules of this library. What is
imported follows from what is installed, never from what a file says.
"""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import numpy as np

from skstruct import saving
from skstruct._arrays.imports import PACKAGE
from skstruct.persistence.scikit_learn import CLASSES, PREFIX

GROUP = "skstruct.savable"
PUBLIC = ("learners", "spaces", "losses", "kernels", "smoothing", "conformal", "tasks")
ELSEWHERE = ("_", "on_device")  # compiled functions, and what needs torch

# Functions and types that are named, never written out.
KERNEL_FUNCTIONS = (
    "additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "laplacian_kernel",
    "linear_kernel", "polynomial_kernel", "rbf_kernel", "sigmoid_kernel",
)  # fmt: skip
TYPES = {
    kind.__name__: kind
    for kind in (bool, bytes, complex, dict, float, frozenset, int, list, object, set, str, tuple)
} | {
    f"numpy.{kind.__name__}": kind
    for kind in (
        np.bool_, np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64,
        np.uint8, np.uint16, np.uint32, np.uint64, np.str_, np.bytes_, np.object_, np.ndarray,
    )
}  # fmt: skip


def class_named(name: str) -> type:
    """The class of a name in a file; KeyError for a name that nobody has registered."""
    if name in CLASSES:
        return getattr(import_module(CLASSES[name]), name.removeprefix(PREFIX))
    kind = saving.registered(name) if not unknown_names([name]) else None
    if kind is None:
        raise KeyError(name)
    return kind


def unknown_names(names: Iterable[str]) -> list[str]:
    """Those that no class has, after all places have been looked at where one could be."""
    missing = [name for name in names if name not in CLASSES and saving.registered(name) is None]
    for look in (_import_public, _import_defining, _import_installed, _import_all):
        if missing:
            look(missing)
            missing = [name for name in missing if saving.registered(name) is None]
    return missing


def _import_public(names: Any) -> None:
    """What the packages of this library offer under these names."""
    for package in PUBLIC:
        module = import_module(f"skstruct.{package}")
        for name in set(module.__all__).intersection(names):
            getattr(module, name)


def _import_defining(names: Any) -> None:
    """Modules of this library whose text defines classes of these names."""
    marks = [f"class {name}(".encode() for name in names if name.isidentifier()]
    for folder in PUBLIC if marks else ():
        for file in sorted((PACKAGE / folder).rglob("[!_]*.py")):
            text = b"" if file.name.startswith(ELSEWHERE) else file.read_bytes()
            if any(mark in text for mark in marks):
                import_module(
                    ".".join(["skstruct", *file.relative_to(PACKAGE).with_suffix("").parts])
                )


def _import_installed(names: Any) -> None:
    """Modules that installed packages declare for these names."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        if any(name == point.name or name.startswith(f"{point.name}.") for name in names):
            point.load()


@cache
def _import_own() -> None:
    for folder in PUBLIC:
        package = import_module(f"skstruct.{folder}")
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.rpartition(".")[2].startswith(ELSEWHERE):
                import_module(found.name)


def _import_all(names: Any) -> None:
    """All modules of this library that define savable classes, once; these have no dots."""
    if any("." not in name for name in names):
        _import_own()


def known_names() -> list[str]:
    """All names of this library and of scikit-learn that a file may use."""
    _import_own()
    return [*(name for name in saving.registered_names() if "." not in name), *CLASSES]


def name_of(kind: type) -> str | None:
    """What files call a class; None for one that cannot be saved."""
    name = PREFIX + kind.__name__
    if kind.__module__.startswith(PREFIX):
        return name if name in CLASSES and class_named(name) is kind else None
    return saving.name_of(kind)


def function_named(name: str) -> Callable[..., Any]:
    """A kernel function of scikit-learn; KeyError for a name that is not on the list."""
    if name not in KERNEL_FUNCTIONS:
        raise KeyError(name)
    return getattr(import_module("sklearn.metrics.pairwise"), name)
