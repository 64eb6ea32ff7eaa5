# SPDX-License-Identifier: BSD-3-Clause
"""How a class says that it can be saved, and what is kept of it: ``@savable``.

A class that is decorated with :func:`savable` can be saved and loaded, wherever it is written.
Files name classes by the names that are registered here and never by modules, so that no file
decides what is imported.
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from skstruct.exceptions import ModelFileError

Kind = TypeVar("Kind", bound=type[Any])

OWN = "skstruct"
_CLASSES: dict[str, type] = {}
_NAMES: dict[type, str] = {}


@overload
def savable(kind: Kind, *, name: str | None = None) -> Kind: ...
@overload
def savable(kind: None = None, *, name: str | None = None) -> Callable[[Kind], Kind]: ...
def savable(kind: Any = None, *, name: str | None = None) -> Any:
    """Let model files hold objects of a class: a decorator, outside of all others.

    Most objects are their attributes, and nothing else is needed. What is special, a class says by
    these members, each of which it may leave out:

    ``_not_saved()``
        Names of attributes that are left out, since they can be computed again.
    ``_saved_arguments``
        Names of attributes that are the arguments of the constructor: these alone are kept, and
        ``_from_saved(**arguments)``, the constructor by default, makes the object again.
    ``_saved_together``
        Names of attributes that every fit sets, and that predictions need: an object that has one
        of them but not all is refused. Of use where the class has a default for one of them, which
        would stand in for it. Name none that came with a later version: earlier files lack it.
    ``_check_saved()``
        Raises a ``ModelFileError`` for an object that the class could not have made: whatever
        compiled code follows without looking. It may also complete the object.
    ``_bytes_when_used(state)``
        A class method: bytes that an object with these attributes takes once it is used, where
        that is much more than the attributes do, such as a table of all pairs of names.
    ``_work_when_read``
        As much work as making so many plain objects; 1 by default.

    Parameters
    ----------
    kind : class
    name : str, default=None
        What files call it; ``"package.Class"`` when None, so that packages do not collide. It must
        not change as long as files are to be read.

    Notes
    -----
    Loading in a process that has not imported the class needs an entry point of the package, in
    the group ``skstruct.savable``: its name is what comes before the dot, its value the module
    to import.

    Examples
    --------
    >>> @savable(name="pets.Basket")
    ... class Basket:
    ...     pass
    >>> name_of(Basket)
    'pets.Basket'
    """
    if kind is None:
        return lambda given: savable(given, name=name)
    called = _default_name(kind) if name is None else name
    _check_name(kind, called)
    _CLASSES[called], _NAMES[kind] = kind, called
    for hook, default in _DEFAULTS.items():
        if getattr(kind, hook, None) is None:
            setattr(kind, hook, default)
    return kind


def _default_name(kind: type) -> str:
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == OWN else f"{package}.{kind.__name__}"


def _check_name(kind: type, name: str) -> None:
    """Raise for the name of another class; one that is defined anew replaces itself."""
    ours = kind.__module__.partition(".")[0] == OWN
    if not ours and ("." not in name or name.startswith(("sklearn.", f"{OWN}."))):
        raise ValueError(
            f"savable: {name!r} is no name for {kind.__qualname__}; names outside of skstruct "
            "begin with their package and a dot."
        )
    other = _CLASSES.get(name, kind)
    if (other.__module__, other.__qualname__) != (kind.__module__, kind.__qualname__):
        raise ValueError(f"savable: {name!r} is already the name of {other!r}.")


def registered(name: str) -> type | None:
    """The class of this name; None where none has been imported."""
    return _CLASSES.get(name)


def registered_names() -> list[str]:
    """Names of all classes that have been imported."""
    return list(_CLASSES)


def name_of(kind: type) -> str | None:
    """What files call a class; None for one that is not savable, though a parent may be."""
    return _NAMES.get(kind)


# What a class that says nothing gets.


def _leave_nothing_out(self: Any) -> tuple[str, ...]:
    return ()


def _by_constructor(cls: type[Any], /, **arguments: Any) -> Any:
    return cls(**arguments)


def _accept(self: Any) -> None:
    """Nothing to check."""


def _no_more_bytes(cls: type[Any], state: dict[Any, Any]) -> int:
    return 0


_DEFAULTS: dict[str, Any] = {
    "_not_saved": _leave_nothing_out,
    "_saved_arguments": (),
    "_from_saved": classmethod(_by_constructor),
    "_saved_together": (),
    "_check_saved": _accept,
    "_bytes_when_used": classmethod(_no_more_bytes),
    "_work_when_read": 1,
}


# What must hold of objects that were read, since compiled code will follow their numbers.


def require(good: bool, what: str) -> None:
    """Raise unless something holds of what was read."""
    if not good:
        raise ModelFileError(what)


def whole_numbers(array: np.ndarray, low: int, high: int, what: str) -> np.ndarray:
    """An array of whole numbers from low to high - 1, or an error."""
    plain = isinstance(array, np.ndarray) and array.dtype.kind in "iu"
    require(plain, f"{what}: whole numbers are wanted")
    inside = not array.size or (array.min() >= low and array.max() < high)
    require(inside, f"{what}: numbers outside of {low}..{high - 1}")
    return array


def check_floats(made: Any, names: list[str], ndim: int) -> None:
    """Raise unless attributes are arrays of 64-bit numbers with so many axes."""
    for name in names:
        array = getattr(made, name)
        plain = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.ndim == ndim
        require(plain, f"{type(made).__name__}.{name} is no array of numbers")


def check_row_constraints(
    array: np.ndarray, letter: str, shape: tuple[int | None, ...], low: int = 0, high: int = 0
) -> None:
    """Raise unless constraints are for some rows: (rows, *shape), None in it for any width.

    Parameters
    ----------
    array : array
    letter : str
        Kind of its dtype: ``"b"``, ``"i"`` or ``"f"``.
    low, high : int
        Least whole number, and one above the largest.
    """
    plain = isinstance(array, np.ndarray) and array.dtype.kind == letter
    fits = plain and array.ndim == 1 + len(shape) and len(array) > 0
    fits = fits and all(n is None or m == n for m, n in zip(array.shape[1:], shape))
    require(fits, "constraints that do not fit their space")
    if letter == "i" and array.size:
        inside = array.min() >= low and array.max() < high
        require(inside, "constraints with numbers that their space has not")


def check_tree(model: Any) -> None:
    """Raise unless the tree of a fitted estimator reads its inputs and writes its outputs."""
    if hasattr(model, "tree_"):
        require(type(model.tree_).__name__ == "Tree", "a tree that is none")
        same = model.n_features_in_ == model.tree_.n_features
        require(same and model.n_outputs_ == model.tree_.n_outputs, "a tree of other inputs")


def check_trees(model: Any) -> None:
    """Several trees, which read inputs without checking them again."""
    if not hasattr(model, "estimators_"):
        return
    for estimator in model.estimators_:
        check_tree(estimator)
        require(estimator.n_features_in_ == model.n_features_in_, "trees of other inputs")


def check_numbered(numbers: dict[Any, Any]) -> None:
    """Names are numbered from zero: the numbers become columns of a sparse array."""
    columns = list(numbers.values())
    plain = all(type(column) is int for column in columns)
    require(plain and sorted(columns) == list(range(len(columns))), "names without columns")
