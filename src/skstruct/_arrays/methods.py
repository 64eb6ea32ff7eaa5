# SPDX-License-Identifier: BSD-3-Clause
"""What public methods share: they change an object altogether or not at all, and warn at the
caller's line.
"""

from __future__ import annotations

import sys
import warnings
from functools import wraps


def all_or_nothing(method):
    """When the method raises, the object has the attributes that it had before.

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
    def whole(self, *args, **kwargs):
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return whole


# Warnings that point at the line of whoever called the library.


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with file and line of the first call from outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == "skstruct":
        level, frame = level + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(message, category, stacklevel=level + 1)
