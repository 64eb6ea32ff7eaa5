# SPDX-License-Identifier: BSD-3-Clause
"""What public methods share: they change an object altogether or not at all, stay in step with
each other in child classes, and warn at the caller's line.
"""

import sys
import warnings
from collections.abc import Callable
from functools import wraps
from types import FrameType
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
                raise advised(error, f"{type(self).__name__}.{method.__name__}") from error
            raise

    return whole


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
