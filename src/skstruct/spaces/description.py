# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of outputs: names of their parts, how they are read and drawn, what can be fixed."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from skstruct.facets import Facet
from skstruct.spaces.common.fixing import finder

CanonicalRange = tuple[int | None, int | None, int | None]


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


class Description(Facet):
    """Names of the parts of outputs, how an output is read and drawn, which parts can be fixed.

    What drawings, reports, the explorer, the server and the command line show of a space. Where
    nothing else is said, an output is one part, itself, and is right or wrong as a whole.

    Examples
    --------
    >>> from skstruct.spaces import Description, LabelSets
    >>> description = Description.of(LabelSets(["sun", "rain"]))
    >>> description.output_kind, description.part_words, list(description.part_names())
    ('labels', ('label', 'labels'), ['sun', 'rain'])
    >>> [part.name for part in description.parts_of([0, 1]).parts], description.fixable
    (['rain'], ('in', 'out'))
    """

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("label", "labels")  # for one, and for many
    usual_losses: ClassVar[Sequence[str]] = ()  # beside the default, by which outputs are judged

    # ------------------------------------------------------------- read
    @property
    def output_kind(self) -> str:
        """Kind of outputs, by which tables and pictures of a report are chosen.

        One of "classes", "ordinal", "labels", "hierarchy", "ranking", "sequence", "quantities",
        "flow" and "tour"; "parts" for a table of the parts that ``parts_of`` names; "other" for
        outputs that are right or wrong as a whole.
        """
        return "other"

    def part_names(self) -> Sequence[Any] | None:
        """Names of all parts that outputs may have; None where they have none."""
        return None

    def parts_of(self, z: Any) -> Parts:
        """One canonical output as parts, each with a name: the whole, where it has none."""
        output = self.space.restore(np.asarray(z)[None])
        return Parts([Part(np.asarray(z).tobytes(), str(next(iter(output))))], longest=300)

    def examples(self, Z: np.ndarray) -> Any:
        """Outputs in the user's format that show which values may come: those of Z, as a rule."""
        return self.space.restore(Z)

    def output_dag(self) -> Any:
        """The graph that labels obey, for spaces of label sets; None for all others."""
        return None

    def coordinate_range(self, j: int) -> tuple[float, float]:
        """Least and largest value of a coordinate, as far as one is known for all rows."""
        return -np.inf, np.inf

    def given_range(self, j: int) -> tuple[float, float]:
        """Range of a coordinate as far as the user has given it: outputs of other rows are never
        beyond.
        """
        return self.coordinate_range(j)

    def canonical_range(self) -> CanonicalRange:
        """Of canonical outputs: least number, one above the largest, width; None for any.

        Training outputs in a model file are compared with it.
        """
        return None, None, None

    # ------------------------------------------------------------- drawn
    @property
    def drawn_as(self) -> str:
        """Kind of drawing of one output; see :mod:`skstruct.drawings`.

        The kind of outputs, unless there is more to see: "graph" for nodes joined by the parts of
        an output, "nodes" or "node" for a graph some or one of whose nodes are in it,
        "assignment", "states" and "wins".
        """
        return self.output_kind

    def drawn_note(self, z: Any) -> str:
        """Text below the drawing of a canonical output."""
        return ""

    def drawn_graph(self) -> DrawnGraph:
        """The graph that outputs are drawn in."""
        self.refuse("graph that its outputs are drawn in")

    # ------------------------------------------------------------- fixed
    @property
    def fixable(self) -> tuple[str, ...]:
        """States that can be asked of a part: "in" and "out", one of them, or none."""
        if not hasattr(self.space, "restrict") or self.part_names() is None:
            return ()
        known = signature(self.space.restrict).parameters
        asked = (("in", "include"), ("out", "exclude"))
        return tuple(state for state, keyword in asked if keyword in known)

    def fixing(self, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """Arguments of ``restrict`` for outputs that have these parts, and do not have those.

        Parameters
        ----------
        included, excluded : names of parts, as of drawings: that of a label, or (a, b) of an edge
            As JSON has them: lists for tuples.

        Examples
        --------
        >>> from skstruct.spaces import Description, LabelSets
        >>> Description.of(LabelSets(["sun", "rain"])).fixing(["sun"], ["rain"])
        {'include': ['sun'], 'exclude': ['rain']}
        """
        self.check_fixable(included, excluded)
        named = finder(self.fixable_names(), self.part_words[0])
        asked = (("include", included), ("exclude", excluded))
        return {key: [named(part) for part in parts] for key, parts in asked if parts}

    def fixable_names(self) -> Iterable[Any]:
        """Names by which ``restrict`` knows the parts that drawings show."""
        names = self.part_names()
        return () if names is None else names

    def check_fixable(self, included: Sequence[Any], excluded: Sequence[Any]) -> None:
        """Raise where parts cannot be held in, or not out."""
        name, word = type(self.space).__name__, self.part_words[0]
        for state, parts in (("in", included), ("out", excluded)):
            if parts and state not in self.fixable:
                other = f"; what can be said is {self.fixable[0]!r}" if self.fixable else ""
                raise ValueError(f"{name}: a {word} cannot be fixed {state}{other}.")


class DescriptionOfView(Description):
    """The parts that the space of a view names; its embedding has no names of its own."""

    __slots__ = ()

    def parts_of(self, z: Any) -> Parts:
        return Description.of(self.space.space).parts_of(z)

    def canonical_range(self) -> CanonicalRange:
        return Description.of(self.space.space).canonical_range()
