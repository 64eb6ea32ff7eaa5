# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities of parts where a view of a space is asked for them."""

from collections.abc import Sequence
from typing import Any

from skstruct._arrays.rows import dense
from skstruct.spaces.common.renormalized import renormalized
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.embeddings import whole_of
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.marginals import nearest_on_simplex


class MarginalsOfViews(Marginals):
    """Those of the whole space, whose means are read off those of the view."""

    __slots__ = ()

    def parts(self) -> tuple[str, ...]:
        return Marginals.of(self.space.space).parts()

    def axes(self, width: int, parts: str | None = None) -> list[Sequence[Any]]:
        return Marginals.of(self.space.space).axes(width, parts)

    def marginals(
        self,
        means: Any,
        parts: str | None = None,
        within: Any = None,
        raw: bool = False,
        recalibrate: Any = None,
    ) -> Any:
        whole = self.space.space
        means = Coordinates.of(self.space).project(means, whole.embedding)
        narrowed = None if within is None else whole_of(within)
        return Marginals.of(whole).marginals(means, parts, narrowed, raw, recalibrate)


class MarginalsOfFeatures(MarginalsOfViews):
    """Features, such as those of a kernel, whose means tell of no part."""

    __slots__ = ()

    def parts(self) -> tuple[str, ...]:
        return ()


class MarginalsOfListed(MarginalsOfViews):
    """Listed outputs: from the probabilities of all that is listed, known or allowed."""

    __slots__ = ()

    def parts(self) -> tuple[str, ...]:
        return tuple(Marginals.of(self.space.space).losses)

    def marginals(
        self,
        means: Any,
        parts: str | None = None,
        within: Any = None,
        raw: bool = False,
        recalibrate: Any = None,
    ) -> Any:
        if not raw:
            means = nearest_on_simplex(means)
            means = means if within is None else renormalized(means, within.allowed())
        view = Marginals.of(self.space.space).view(parts)
        means = means @ dense(view.embed(self.space.listed_))
        if raw or recalibrate is None or within is not None:  # a map would undo what is known
            return Marginals.of(view).read(means, parts)
        return Marginals.of(view).marginals(means, parts, None, False, recalibrate)
