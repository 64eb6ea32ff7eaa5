# SPDX-License-Identifier: BSD-3-Clause
"""Constraints that a space carries: of some rows, with the names that they rest on."""

import copy
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import clone

from skstruct.facets import KEPT
from skstruct.spaces.constraints import check_n_rows, constraints_of, keeps_value, of_one_row

Kind = TypeVar("Kind", bound="Narrowed")


class Narrowed:
    """A space that may be narrowed, row by row too, and keeps what constraints rest on."""

    constraints: Any
    constraints_: Any  # constraints, those of parameters included
    _own_constraints: Any
    # Constraints are positions among names: the parameters that bring these and may be learned,
    # each with what it becomes in ``fit``, and all other parameters that constraints depend on.
    _named_by: ClassVar[dict[str, str]] = {}
    _constraints_rest_on: ClassVar[tuple[str, ...]] = ()
    # What a class keeps once it is computed, until parameters change, or constraints too.
    _from_parameters: ClassVar[tuple[str, ...]] = ()
    _from_constraints: ClassVar[tuple[str, ...]] = ()

    def rows(self, index: Any) -> Self:
        """The space as it is for some rows, where rows may be restricted differently."""
        constraints = self._own_constraints
        if getattr(constraints, "n_rows", None) is None:
            return self
        return self._limited(constraints.rows(one_or_more(index)))

    def _limited(self, constraints: Any) -> Self:
        """The same space within other constraints, which keeps the names that it has learned."""
        narrowed = copy.copy(self)
        narrowed.constraints = constraints
        narrowed._keep_names()
        narrowed._drop("_from_constraints")
        return narrowed

    def _forget(self) -> None:
        """Drop what was derived from parameters that may have changed."""
        self._drop("_from_parameters")
        self._drop("_from_constraints")

    def _drop(self, kind: str) -> None:
        self.__dict__.pop(KEPT, None)
        for part in type(self).__mro__:
            for name in vars(part).get(kind, ()):
                self.__dict__.pop(name, None)

    def _keep_names(self) -> None:
        """Make parameters of learned names: a later ``fit`` cannot give constraints other names."""
        for parameter, learned in self._named_by.items():
            if getattr(self, parameter) is None:
                setattr(self, parameter, getattr(self, learned))

    def set_params(self, **params: Any) -> Self:
        self._check_unlimited(params)
        super().set_params(**params)  # type: ignore[misc]  # of BaseEstimator, which stands last
        self._forget()
        return self

    def _check_unlimited(self, params: dict[str, Any]) -> None:
        """Refuse to change what constraints rest on, as long as there are constraints."""
        if self._own_constraints is None or "constraints" in params:
            return
        for name in (*self._named_by, *self._constraints_rest_on):
            if name in params and not keeps_value(params[name], getattr(self, name)):
                raise ValueError(
                    f"{type(self).__name__}: {name} cannot change after restrict(), whose "
                    f"constraints are those of {name}={getattr(self, name)!r}; set "
                    "constraints=None with it, or restrict later."
                )

    def _check_rows(self, n: int) -> None:
        """Raise where constraints are for another number of rows."""
        check_n_rows(constraints_of(self), n, type(self).__name__)

    def _one_row(self) -> Any:
        """Constraints, where they are the same for all rows."""
        return of_one_row(self.constraints_)


def within(space: Kind, constraints: Any) -> Kind:
    """A space within other constraints, which keeps the names that it has learned."""
    return space._limited(constraints)


def naming_all(space: Kind) -> Kind:
    """A copy of a space whose names are given, so that further outputs cannot bring others."""
    named = copy.copy(space)
    named._keep_names()
    return named


def with_learned_names(space: Kind) -> Kind:
    """A space that is not fitted, with names that another has learned as parameters: fitted to some
    of the rows, it knows the names of all.
    """
    return clone(naming_all(space))


def one_or_more(index: Any) -> Any:
    """An index that keeps rows: that of a single row is a list of one."""
    return [index] if isinstance(index, (int, np.integer)) else index
