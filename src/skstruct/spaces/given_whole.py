# SPDX-License-Identifier: BSD-3-Clause
"""Spaces that need no outputs where their parameters say everything."""

import copy
from typing import Any, ClassVar, Self

from sklearn.exceptions import NotFittedError

from skstruct.spaces.base import BaseSpace


class GivenWhole(BaseSpace):
    """What ``fit`` would learn is taken from the parameters, once it is asked for.

    A child names in ``_learned`` what is there after ``fit``, the first of it always; says by
    ``_is_given`` whether the parameters are enough; and sets all of it in ``_open``. Methods
    begin with ``_ready()``. Setting parameters takes back what was taken from them.
    """

    _learned: ClassVar[tuple[str, ...]] = ()

    def _is_given(self) -> bool:
        """Whether nothing is left to be learned."""
        return False

    def _open(self) -> None:
        """Set what ``fit`` sets, from the parameters alone."""

    def _ready(self) -> None:
        """Raise unless fitted, or given everything."""
        known = self.__dict__
        if self._learned[0] in known:
            return
        if "_opening" in known or not self._is_given():
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                "appropriate arguments before using it, or give everything to its constructor."
            )
        whole = copy.copy(self)
        whole.__dict__["_opening"] = True
        whole._open()
        taken = {name: part for name, part in vars(whole).items() if name not in known}
        taken.pop("_opening")
        known.update(taken, _opened=tuple(taken))

    def __getattr__(self, name: str) -> Any:
        if name not in type(self)._learned:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        try:
            self._ready()
        except ValueError as error:  # who asks whether it is there gets no for an answer
            raise NotFittedError(str(error)) from error
        return vars(self)[name]

    def set_params(self, **params: Any) -> Self:
        for name in self.__dict__.pop("_opened", ()):
            self.__dict__.pop(name, None)
        return super().set_params(**params)
