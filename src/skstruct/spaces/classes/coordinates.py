# SPDX-License-Identifier: BSD-3-Clause
"""A coordinate for each class."""

from skstruct.spaces.coordinates import Coordinates


class CoordinatesOfClasses(Coordinates):
    """Classes are the same where their numbers are."""

    __slots__ = ()

    @property
    def one_class(self) -> bool:
        return True

    def key(self) -> bytes | None:
        return bytes(self.space.listed_.tobytes())
