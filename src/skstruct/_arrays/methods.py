# SPDX-License-Identifier: BSD-3-Clause
"""What public methods share: they change an object altogether or not at all, stay in step with
each other in child classes, and warn at the caller's line.
"""

import sys
import warnings
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import getattr_static
from types import FrameType, FunctionType
from typing import Concatenate, ParamSpec, TypeVar

from skstruct._arrays.memory import advised

Owner = TypeVar("Owner")
Given = ParamSpec("Given")
Result = TypeVar("Result")


def all_or_nothing(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """When the method raises, the object has the attributes that it had before.

    An allocation that failed is raised with what to do.

    >>> class Model:
    ...     @all_or_nothing
    ...     def fit(self, y):
    ...         self.y_ = y
    ...         self.mean_ = sum(y) / len(y)
    >>> model = Model()
    >>> model.fit([])
    Traceback (most recent call last):
        ...
    ZeroDivisionError: division by zero
    >>> hasattr(model, "y_")
    False
    """

    @wraps(method)
    def whole(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException as error:
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, MemoryError):
                _raise_advised(error, self, method.__name__)
            raise

    return whole


def advising(
    method: Callable[Concatenate[Owner, Given], Result],
) -> Callable[Concatenate[Owner, Given], Result]:
    """An allocation of the method that failed is raised with what to do.

    >>> class Model:
    ...     @advising
    ...     def predict(self, n):
    ...         return bytearray(n)
    >>> Model().predict(2**62)
    Traceback (most recent call last):
        ...
    MemoryError: Model.predict ran out of memory. Take fewer rows or columns, ...
    """

    @wraps(method)
    def advised_method(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return method(self, *args, **kwargs)
        except MemoryError as error:
            _raise_advised(error, self, method.__name__)
            raise

    advised_method.advises = True  # type: ignore[attr-defined]
    return advised_method


def advise_all(kind: type, names: Iterable[str]) -> None:
    """Make methods of a class advising, its own and those of classes it mixes in.

    Called by ``__init_subclass__``, so that whoever writes a learner need not think of it.
    """
    for name in names:
        method = getattr_static(kind, name, None)
        if isinstance(method, FunctionType) and not hasattr(method, "advises"):
            setattr(kind, name, advising(method))


def _raise_advised(error: MemoryError, owner: object, name: str) -> None:
    """Raise the error with what to do; nothing happens where it says so already."""
    better = advised(error, f"{type(owner).__name__}.{name}")
    if better is not error:
        raise better from error


def keep_in_step(kind: type, base: type, **twins: tuple[str, ...]) -> None:
    """Take back methods that speak of others, where a child class brings these others anew.

    Called by ``__init_subclass__`` of ``base``: a method of ``twins`` is that of ``base`` again in
    a class that changes one of the methods it goes with, and not the method itself.

    >>> class Base:
    ...     def __init_subclass__(cls):
    ...         keep_in_step(cls, Base, fast=("slow",))
    ...     fast = slow = lambda self: "by the book"
    >>> class Fast(Base):
    ...     fast = slow = lambda self: "both the same"
    >>> class Other(Fast):
    ...     slow = lambda self: "something else"
    >>> Fast().fast(), Other().fast()
    ('both the same', 'by the book')
    """
    for name, others in twins.items():
        names = {name, *others}
        first = next(each for each in kind.__mro__ if names & set(vars(each)))
        if name not in vars(first):
            setattr(kind, name, vars(base)[name])


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with file and line of the first call from outside of this package."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "skstruct":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
