# SPDX-License-Identifier: BSD-3-Clause
"""What the entries of an output say: a facet of spaces."""

from skstruct.facets import Facet


class Entries(Facet):
    """What one entry of an output in canonical form says.

    ``kind`` is ``"indicators"`` where an entry says whether something is in the output,
    ``"symbols"`` where it is the symbol at a position of a sequence, ``"states"`` where it is the
    one state of several that a label is in, and ``"ordered pairs"`` where it says whether one item
    comes before another. Views with an embedding of their own have indicators.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets, Sequences
    >>> Entries.of(LabelSets("ab")).kind, Entries.of(Sequences("ab", 3)).kind
    ('indicators', 'symbols')
    """

    __slots__ = ()

    kind = "indicators"


class Symbols(Entries):
    """Sequences, symbol by symbol."""

    __slots__ = ()

    kind = "symbols"


class States(Entries):
    """Labels, each in one state of several."""

    __slots__ = ()

    kind = "states"


class OrderedPairs(Entries):
    """Ordered pairs of items: partial orders."""

    __slots__ = ()

    kind = "ordered pairs"
