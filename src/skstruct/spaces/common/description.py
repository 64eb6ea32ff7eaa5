# SPDX-License-Identifier: BSD-3-Clause
"""What a space says of its outputs: to reports, which show them, and to model files."""

from collections.abc import Hashable, Sequence, Sized
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from skstruct.saving import require


def number_of_names(names: Any) -> int:
    """How many names there are, given as such, as a graph, or by their number."""
    names = getattr(names, "names", names)
    if isinstance(names, Integral):
        return abs(int(names))
    return len(names) if isinstance(names, Sized) else 0


@dataclass(frozen=True)
class Part:
    """A part of an output, such as a label, and how it reads: before, name, after."""

    key: Hashable  # the same in another output that has this part; None where none is compared
    name: Any = None
    before: str = ""
    after: str = ""
    value: float | None = None  # the number that the part is


@dataclass(frozen=True)
class Parts:
    """An output as its parts, in the order in which they are read."""

    parts: list[Part]
    between: str = ", "
    longest: int = 60  # letters of a name


@dataclass(frozen=True)
class DrawnGraph:
    """Nodes by name, and which of them are joined."""

    nodes: Sequence[Any]
    edges: np.ndarray  # positions of both ends, shape (d, 2)
    directed: bool = False


class DescribedOutputs:
    """Defaults of all that a space says of its outputs; a child says more."""

    part_words: ClassVar[tuple[str, str]] = ("label", "labels")  # for one, and for many
    # What narrows the space, row by row too: has ``n_rows``, ``rows(index)``.
    constraints: Any = None
    _constraints_kind: ClassVar[type | None] = None  # the class of ``constraints``
    # Attributes with the names, or their number, of which a table of all pairs is made.
    _pairs_of: ClassVar[tuple[str, ...]] = ()
    _pair_bytes: ClassVar[int] = 24  # of that table at its largest: two ends and a number
    _takes_graph: ClassVar[bool] = False  # a parameter ``graph`` may say which pairs there are
    # Embeddings with an entry for every pair of columns of an output.
    _squared: ClassVar[tuple[str, ...]] = ()

    # ------------------------------------------------------------- reports
    @property
    def output_kind(self) -> str:
        """What tables and pictures of a report suit.

        One of "classes", "ordinal", "labels", "hierarchy", "ranking", "sequence", "quantities",
        "flow" and "tour"; "parts" for a table of the parts that ``parts_of`` names; "other" for
        outputs that are right or wrong as a whole.
        """
        return "other"

    @property
    def drawn_as(self) -> str:
        """What a drawing of one output shows; see :mod:`skstruct.drawings`.

        The kind of outputs, unless there is more to see: "graph" for nodes joined by the parts of
        an output, "nodes" or "node" for a graph some or one of whose nodes are in it,
        "assignment", "states" and "wins".
        """
        return self.output_kind

    def drawn_note(self, z: Any) -> str:
        """What else there is to say of a canonical output below its drawing."""
        return ""

    def drawn_graph(self) -> DrawnGraph | None:
        """The graph that outputs are drawn in; None where there is none."""
        return None

    def part_names(self) -> Sized | None:
        """Names of all parts that outputs may have; None where they have none."""
        return None

    def output_dag(self) -> Any:
        """The graph that labels obey, for spaces of label sets; None for all others."""
        return None

    def parts_of(self, z: Any) -> Parts:
        """One canonical output as parts, each with a name: the whole, where it has none."""
        output = self.restore(np.asarray(z)[None])  # type: ignore[attr-defined]
        return Parts([Part(np.asarray(z).tobytes(), str(next(iter(output))))], longest=300)

    def coordinate_range(self, j: int) -> tuple[float, float]:
        """Least and largest value of a coordinate, as far as one is known for all rows."""
        return -np.inf, np.inf

    def given_range(self, j: int) -> tuple[float, float]:
        """The same as far as the user has given it: outputs of other rows are never beyond."""
        return self.coordinate_range(j)

    # ------------------------------------------------------------- model files
    def canonical_range(self) -> tuple[int | None, int | None, int | None]:
        """Of canonical outputs: least number, one above the largest, width; None for any.

        Training outputs in a model file are compared with it.
        """
        return None, None, None

    def embedded_bytes(self, outputs: np.ndarray, embedding: str) -> int:
        """Roughly the bytes of psi of canonical outputs, under the embedding of a loss."""
        squares = len(outputs) * outputs.shape[-1] ** 2 if embedding in self._squared else 0
        return 8 * (outputs.size + squares)

    def _check_saved(self) -> None:
        if self.constraints is not None:
            kind = type(self.constraints)
            require(
                kind is self._constraints_kind,
                f"constraints of an unknown kind, {kind.__name__!r:.40}",
            )
            self.constraints.check_saved(*self._constraints_sizes())

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


class MarkedLabels(DescribedOutputs):
    """Outputs that mark some of ``labels_``, as 0/1 rows, and obey the graph ``dag_`` of them."""

    def canonical_range(self: Any) -> tuple[Any, Any, int | None]:
        return -1, 2, self.dag_.n_nodes

    @property
    def output_kind(self: Any) -> str:
        return "hierarchy" if len(self.dag_.parents) else "labels"

    def output_dag(self: Any) -> Any:
        return self.dag_

    def part_names(self: Any) -> Any:
        return self.labels_

    def parts_of(self: Any, z: Any) -> Parts:
        return Parts([Part(int(j), self.labels_[j]) for j in np.flatnonzero(z)])
