# SPDX-License-Identifier: BSD-3-Clause
"""A parameter and a method of one name: ``partition`` says how, ``partition(X)`` is it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, update_wrapper


class CallableWord(str):
    """A word that can be called."""

    call: Callable

    def __call__(self, *args, **kwargs):
        return self.call(*args, **kwargs)


class ParameterAndMethod:
    """Makes a method's name a parameter too; the parameter stands in the model's ``__dict__``.

    >>> class Model:
    ...     @ParameterAndMethod
    ...     def size(self, n):
    ...         return n + 1
    >>> model = Model()
    >>> model.size = "small"
    >>> model.size, model.size(2), vars(model)
    ('small', 3, {'size': 'small'})
    """

    def __init__(self, method):
        self.method = method
        update_wrapper(self, method)

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, model, owner=None):
        if model is None:
            return self.method
        value = model.__dict__[self.name]
        if not isinstance(value, str):  # refused in fit
            return value
        word = CallableWord(value)
        word.call = partial(self.method, model)
        return word

    def __set__(self, model, value):
        model.__dict__[self.name] = value
