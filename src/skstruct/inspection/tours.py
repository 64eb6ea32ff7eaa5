# SPDX-License-Identifier: BSD-3-Clause
"""Predicted tours on a map, and the true ones beside them."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.inspection.drawing import LITERAL, axes_of, written
from skstruct.spaces import Description


class TourDisplay:
    """Cycles between named places: arrows in the direction of travel, lines without one.

    True tours are drawn below the predicted ones, broad and faint: where a prediction is
    right, its arrows lie on them.

    Parameters
    ----------
    places : sequence of names
    coordinates : array of shape (n_places, 2), or {place: (x, y)}
    tours : list of int arrays
        Places in order of travel, as positions in ``places``.
    truth : list of int arrays, default=None
    directed : bool, default=True
    """

    def __init__(
        self,
        places: Any,
        coordinates: Any,
        tours: list[Any],
        truth: list[Any] | None = None,
        directed: bool = True,
    ) -> None:
        self.places = places
        self.coordinates = coordinates
        self.tours = tours
        self.truth = truth
        self.directed = directed

    @classmethod
    def from_predictions(
        cls,
        space: Any,
        tours: Any,
        coordinates: Any,
        *,
        truth: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw cycles in any format that a fitted space of them takes.

        Parameters
        ----------
        space : Cycles
        tours : one cycle or a collection of them, such as what ``predict`` gives
        coordinates : {place: (x, y)}, or array of shape (n_places, 2) in the order of ``nodes_``
        truth : one cycle or a collection of them, default=None
        """
        if Description.of(space).output_kind != "tour":
            raise ValueError(f"TourDisplay draws Cycles, not {type(space).__name__}.")
        at = _coordinates(coordinates, space.nodes_)
        shown = _travelled(space, tours)
        true = None if truth is None else _travelled(space, truth)
        return cls(space.nodes_, at, shown, true, bool(space.directed)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        ax = axes_of(ax, "TourDisplay", (6, 6))
        at = _coordinates(self.coordinates, self.places)
        truth = _positions([] if self.truth is None else self.truth, len(at))
        for tour in truth:
            around = at[np.append(tour, tour[0])]
            ax.plot(*around.T, color="0.82", lw=7, solid_joinstyle="round", zorder=1, label="truth")
        ax.scatter(*at.T, s=30, color="black", zorder=3)
        for number, tour in enumerate(_positions(self.tours, len(at))):
            self._draw(ax, at[tour], f"C{number % 10}")
        for name, (x, y) in zip(self.places, at):
            ax.annotate(
                written(name, 24), (x, y), xytext=(5, 5), textcoords="offset points", zorder=4,
                **LITERAL,
            )  # fmt: skip
        if truth:
            ax.legend(*_once(ax), frameon=False)
        ax.set_aspect("equal", adjustable="datalim")
        ax.margins(0.1)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, stops: np.ndarray, colour: str) -> None:
        """One arrow for each step; annotations without text do not move the view."""
        style = {"arrowstyle": "-|>" if self.directed else "-", "color": colour}
        for here, there in zip(stops, np.roll(stops, -1, axis=0)):
            ax.annotate(
                "", xy=there, xytext=here,
                arrowprops={**style, "lw": 1.6, "mutation_scale": 15}, zorder=2,
            )  # fmt: skip


def _once(ax: Any) -> tuple[list[Any], list[str]]:
    """Handles and labels of a legend, each label once."""
    handles, labels = ax.get_legend_handles_labels()
    by_label = dict(zip(labels, handles))
    return list(by_label.values()), list(by_label)


def _coordinates(coordinates: Any, nodes: Any) -> np.ndarray:
    if is_pandas(coordinates, "DataFrame"):
        coordinates = dict(zip(coordinates.index, coordinates.to_numpy()))
    if isinstance(coordinates, Mapping):
        missing = [name for name in nodes if name not in coordinates]
        if missing:
            raise ValueError(f"TourDisplay: there are no coordinates of {missing[0]!r}.")
        coordinates = [coordinates[name] for name in nodes]
    expected = f"TourDisplay needs two finite coordinates for each of {len(nodes)} places"
    try:
        at = np.asarray(coordinates, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{expected}; got {coordinates!r}.") from None
    if at.shape != (len(nodes), 2) or not np.isfinite(at).all():
        raise ValueError(f"{expected}; got shape {at.shape}.")
    return at


def _positions(tours: list[Any], n_places: int) -> list[np.ndarray]:
    """Tours as arrays of positions of places."""
    read = [np.asarray(tour) for tour in tours]
    for i, tour in enumerate(read):
        numbers = tour.ndim == 1 and tour.size > 0 and tour.dtype.kind in "iu"
        if not numbers or not ((tour >= 0) & (tour < n_places)).all():
            raise ValueError(
                f"TourDisplay: a tour lists positions from 0 to {n_places - 1}; tours[{i}] is "
                f"{tours[i]!r}. from_predictions takes names."
            )
    return read


def _travelled(space: Any, outputs: Any) -> list[np.ndarray]:
    """Places of every cycle in order of travel; one cycle is a list of one."""
    if hasattr(outputs, "__len__") and len(outputs) == 0:
        return []
    Z = space.validate([outputs] if _is_one(outputs, space.nodes_) else outputs)
    return [tour[tour >= 0] for tour in space.tours(Z)]


def _is_one(outputs: Any, nodes: tuple[Any, ...]) -> bool:
    """Whether this is one cycle: its entries are places, or edges between places.

    Two places make no cycle, and no place is next to itself: a list of two names is an edge,
    and a square array with an empty diagonal is one adjacency array.
    """
    if hasattr(outputs, "edges"):
        return True
    if isinstance(outputs, np.ndarray) and outputs.dtype != object:
        square = outputs.shape == (len(nodes), len(nodes))
        return outputs.ndim == 1 or (square and not np.diagonal(outputs).any())
    if not isinstance(outputs, Iterable):
        return False
    first = next(iter(outputs), None)
    return _is_place(first, nodes) or (
        isinstance(first, (tuple, list, set, frozenset))
        and len(first) == 2
        and all(_is_place(name, nodes) for name in first)
    )


def _is_place(entry: Any, nodes: tuple[str, str, str, str]) -> bool:
    try:
        return entry in nodes
    except (TypeError, ValueError):
        return False
