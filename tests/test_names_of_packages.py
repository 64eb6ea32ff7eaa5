# SPDX-License-Identifier: BSD-3-Clause
"""What sub-packages show of themselves: ``dir``, and errors for what is not there."""

import pkgutil
from importlib import import_module

import pytest

import skstruct

# Those that need nothing installed; the rest of the tree is imported by who uses it.
PACKAGES = [
    package.name
    for package in pkgutil.walk_packages(skstruct.__path__, "skstruct.")
    if package.ispkg and package.name.count(".") == 1
    and package.name.rpartition(".")[2] not in ("_arrays", "_files", "torch", "mlflow", "explorer")
]  # fmt: skip


@pytest.mark.parametrize("name", PACKAGES)
def test_all_public_names_are_shown_and_there(name):
    package = import_module(name)
    public = set(getattr(package, "__all__", ()))
    assert public <= set(dir(package))
    assert dir(package) == sorted(set(dir(package)))
    assert all(hasattr(package, each) for each in public)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'Nothing'"):
        package.Nothing  # noqa: B018
