# SPDX-License-Identifier: BSD-3-Clause
"""Facets: what a structure answers beside the names of its core, in objects found by its class."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, ClassVar, NoReturn, Self

from skstruct.exceptions import NoFacetError

Place = str | Callable[..., Any]  # a class, another maker, or "module:Class"


class Facet:
    """Answers of one kind about one space, such as :class:`~skstruct.spaces.uniform.Uniform`.

    A direct subclass is a kind of facet: its public methods are the questions, with answers that
    follow from the core of a space, or are refused. ``Kind.at(SomeSpace, "module:Class")`` says
    where a structure has answers of its own; ``Kind.of(space)`` finds the nearest along the
    ancestors of the class of a space. A place is a name, so that structures are imported without
    their facets; the structure may be one too, ``Kind.at("module:Class", ...)``.

    A facet holds its space and nothing else, and is made for each question: what is worth keeping
    is :class:`kept` by the space, which is copied, narrowed and fitted.

    Examples
    --------
    >>> class Colour(Facet):
    ...     def name(self):
    ...         self.refuse("colour")
    >>> class ColourOfText(Colour):
    ...     def name(self):
    ...         return self.space.lower()
    >>> Colour.at(str, ColourOfText)
    >>> Colour.of("RED").name(), Colour.of("RED").answers("name"), Colour.of(3).answers("name")
    ('red', True, False)
    >>> Colour.of(3).name()
    Traceback (most recent call last):
        ...
    skstruct.exceptions.NoFacetError: int has no colour.
    """

    __slots__ = ("space",)
    _kind: ClassVar[type[Any]]
    _places: ClassVar[dict[type | str, Place]]
    _found: ClassVar[dict[type, Callable[[Any], Any]]]  # by class, once it was asked for

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if Facet in cls.__bases__:
            cls._kind, cls._places, cls._found = cls, {}, {}

    def __init__(self, space: Any) -> None:
        self.space = space

    @classmethod
    def at(cls, structure: type | str, place: Place) -> None:
        """Say where the answers of a structure are."""
        cls._places[structure] = place
        cls._found.clear()

    @classmethod
    def of(cls, space: Any) -> Self:
        """The facet of a space."""
        structure = type(space)
        if structure not in cls._found:
            cls._found[structure] = cls._nearest(structure)
        return cls._found[structure](space)

    @classmethod
    def _nearest(cls, structure: type) -> Callable[[Any], Any]:
        for ancestor in structure.__mro__:
            name = f"{ancestor.__module__}:{ancestor.__qualname__}"
            place = cls._places.get(ancestor, cls._places.get(name))
            if place is not None:
                return loaded(place)
        return cls._kind

    def answers(self, *questions: str) -> bool:
        """Whether the structure has answers of its own to all of these."""
        kind, own = self._kind, type(self)
        return not any(getattr(own, name) is getattr(kind, name) for name in questions)

    def refuse(self, what: str, instead: str = "") -> NoReturn:
        """Raise: the structure has no such thing, and what may be done instead."""
        raise NoFacetError(f"{type(self.space).__name__} has no {what}.{instead and ' '}{instead}")


def loaded(place: Place) -> Callable[..., Any]:
    """The class or other maker that is at a place."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class kept:  # a decorator, like cached_property
    """A value that a facet computes once, and its space keeps until it changes.

    Spaces drop what is kept for them with what they derive from parameters and constraints, and
    no model file has it.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, kind: type, name: str) -> None:
        self.key = f"{kind.__qualname__}.{name}"

    def __get__(self, facet: Any, kind: type | None = None) -> Any:
        if facet is None:
            return self
        values = vars(facet.space).setdefault(KEPT, {})
        if self.key not in values:
            values[self.key] = self.function(facet)
        return values[self.key]


KEPT = "_kept"  # where spaces have it
