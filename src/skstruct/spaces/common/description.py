# SPDX-License-Identifier: BSD-3-Clause
"""What a space tells a model file: what must fit together, and what it takes to use it."""

from collections.abc import Sized
from numbers import Integral
from typing import Any, ClassVar

from skstruct.saving import require


def number_of_names(names: Any) -> int:
    """How many names there are, given as such, as a graph, or by their number."""
    names = getattr(names, "names", names)
    if isinstance(names, Integral):
        return abs(int(names))
    return len(names) if isinstance(names, Sized) else 0


class DescribedOutputs:
    """Defaults of all that a space says of its outputs; a child says more."""

    # What narrows the space, row by row too: has ``n_rows``, ``rows(index)``. Of its parameters.
    constraints: Any
    _constraints_kind: ClassVar[type | None] = None  # the class of ``constraints``
    # Attributes with the names, or their number, of which a table of all pairs is made.
    _pairs_of: ClassVar[tuple[str, ...]] = ()
    _pair_bytes: ClassVar[int] = 24  # of that table at its largest: two ends and a number
    _takes_graph: ClassVar[bool] = False  # a parameter ``graph`` may say which pairs there are

    # ------------------------------------------------------------- model files
    @property
    def _own_constraints(self) -> Any:
        """The parameter; None where there are no constraints, and in spaces that take none."""
        return vars(self).get("constraints")

    def _check_saved(self) -> None:
        constraints = self._own_constraints
        if constraints is not None:
            kind = type(constraints)
            require(
                kind is self._constraints_kind,
                f"constraints of an unknown kind, {kind.__name__!r:.40}",
            )
            constraints.check_saved(*self._constraints_sizes())

    def _constraints_sizes(self) -> tuple[Any, ...]:
        """Sizes that constraints must fit: what their ``check_saved`` is called with."""
        return ()

    @classmethod
    def _bytes_when_used(cls, state: dict[str, Any]) -> int:
        """A table of all pairs of names, unless its graph says which pairs there are."""
        if cls._takes_graph and state.get("graph") is not None:
            return 0
        sizes = (number_of_names(state.get(key)) for key in cls._pairs_of)
        return cls._pair_bytes * max(sizes, default=0) ** 2
