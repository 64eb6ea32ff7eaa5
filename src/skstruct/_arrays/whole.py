# SPDX-License-Identifier: BSD-3-Clause
"""Methods that change an object altogether or not at all."""

from __future__ import annotations

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
