# SPDX-License-Identifier: BSD-3-Clause
"""One output drawn as SVG: what it is drawn as, the key below it, and the same in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from skstruct._files.atomic import replacing
from skstruct.drawings.flows import draw_flow
from skstruct.drawings.graphs import draw_graph, draw_node, draw_nodes
from skstruct.drawings.hierarchies import draw_hierarchy
from skstruct.drawings.orders import draw_levels, draw_ranking
from skstruct.drawings.pairs import draw_assignment, draw_states, draw_wins
from skstruct.drawings.parts import DrawnPart, Scene, label_text
from skstruct.drawings.quantities import draw_quantities
from skstruct.drawings.rows import draw_classes, draw_labels, draw_list
from skstruct.drawings.sequences import draw_sequence
from skstruct.drawings.sheets import Sheet, key_below
from skstruct.drawings.svg import element, escaped, figure
from skstruct.inspection.drawing import written

SAID = 12  # parts that a sentence names

WAYS: dict[str, Callable[[Scene], Sheet]] = {
    "hierarchy": draw_hierarchy,
    "labels": draw_labels,
    "classes": draw_classes,
    "ordinal": draw_levels,
    "ranking": draw_ranking,
    "sequence": draw_sequence,
    "quantities": draw_quantities,
    "flow": draw_flow,
    "graph": draw_graph,
    "nodes": draw_nodes,
    "node": draw_node,
    "assignment": draw_assignment,
    "wins": draw_wins,
    "states": draw_states,
}


@cache
def stylesheet() -> str:
    """The colours and letters of all drawings, in light and dark: a page includes it once."""
    return (Path(__file__).parent / "drawings.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Drawing:
    """One output, drawn.

    Attributes
    ----------
    svg : str
        One ``<svg>`` element. Its colours are in :func:`stylesheet`.
    text : str
        The same in words.
    parts : list of dict
        Every part with its ``key``, ``name``, ``probability``, and whether it is ``predicted``,
        ``true`` and fixed (``state``); also of parts that are not drawn.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> drawing = draw(LabelSets(["sun", "wind"]), [1, 0], truth=[1, 1])
    >>> drawing.text
    'Predicted: sun. Missed: wind.'
    """

    svg: str
    text: str
    drawn: Sequence[DrawnPart] = field(repr=False)

    @cached_property
    def parts(self) -> list[dict[str, Any]]:
        """Every part, whether it is drawn or not."""
        return [part.record() for part in self.drawn]

    @property
    def standalone(self) -> str:
        """The element with its own style: what a file, or a notebook, shows."""
        start, rest = self.svg.split(">", 1)
        width, height = start.split('viewBox="0 0 ')[1].split('"')[0].split()
        start = start.replace('width="100%"', f'width="{width}" height="{height}"')
        return f"{start}>{element('style', escaped_style())}{rest}"

    def _repr_svg_(self) -> str:
        return self.standalone

    def _repr_html_(self) -> str:
        return self.standalone

    def save(self, path: Any) -> Path:
        """Write an .svg file that holds its style; returns its path."""
        target = Path(path)
        with replacing(target) as file:
            file.write(self.standalone + "\n")
        return target


def escaped_style() -> str:
    """The style as the text of an element."""
    return stylesheet().replace("&", "&amp;").replace("<", "&lt;")


def draw(
    space: Any,
    z: Any,
    *,
    truth: Any = None,
    marginals: Any = None,
    coordinates: Any = None,
    words: Any = None,
    constraints: Mapping[str, str] | None = None,
    title: str = "",
    clickable: bool = True,
) -> Drawing:
    """Draw one output in its structure.

    What is predicted is framed, what is true has a star, which is hollow where it was missed;
    a cross marks what is wrong, and shading how probable a part is.

    Parameters
    ----------
    space : fitted space
        ``learner.space_``.
    z : one output in canonical form
        A row of ``space.validate(...)``.
    truth : one output in canonical form, default=None
    marginals : array, default=None
        The row of ``learner.predict_marginals``.
    coordinates : array of shape (n, 2) or {node: (x, y)}, default=None
        Where nodes of tours, paths, graphs and networks are drawn.
    words : sequence of str, default=None
        Of a sequence: what stands at each position.
    constraints : {key: "in" or "out"}, default=None
        Parts that the user has fixed, by the keys of ``Drawing.parts``.
    title : str, default=""
    clickable : bool, default=True
        Whether parts can be reached by the keyboard, as buttons of a page are.

    Returns
    -------
    drawing : :class:`Drawing`

    Examples
    --------
    >>> from skstruct.spaces import Hierarchy
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> drawing = draw(space, [1, 1, 0], truth=[1, 0, 1], marginals=[0.98, 0.6, 0.4])
    >>> drawing.text
    'Predicted: animal, cat. Wrong: cat. Missed: dog.'
    >>> drawing.parts[1]["key"], drawing.parts[1]["probability"]
    ('"cat"', 0.6)
    """
    scene = Scene(
        space, z, truth, marginals, coordinates, words, dict(constraints or {}), title, clickable
    )
    _check(scene.constraints)
    sheet = WAYS.get(scene.description.drawn_as, draw_list)(scene)
    said = sentence(scene, sheet.parts)
    sheet.note = sheet.note or scene.description.drawn_note(z)
    body, height = key_below(sheet, sheet.height + 8.0)
    head = written(title, 200) if title else "Prediction"
    inside = [element("title", escaped(head)), element("desc", escaped(said)), *sheet.body, *body]
    svg = element(
        "svg", *inside,
        xmlns="http://www.w3.org/2000/svg", class_="drawing", direction="ltr",
        viewBox=f"0 0 {figure(sheet.width)} {figure(max(height, 24.0))}", width="100%",
        role="group", aria_label=head,
    )  # fmt: skip
    return Drawing(svg, said, sheet.parts)


def _check(constraints: Mapping[str, str]) -> None:
    for key, state in constraints.items():
        if state not in ("in", "out"):
            raise ValueError(f'draw: a part is fixed "in" or "out"; {key!r} is {state!r}.')


def sentence(scene: Scene, parts: list[DrawnPart]) -> str:
    """What is predicted, and what of it is wrong or missed, in words."""
    if any(part.value is not None for part in parts):
        more = f"; and {len(parts) - SAID} more" if len(parts) > SAID else ""
        return "; ".join(part.said for part in parts[:SAID]) + more + "."
    told = [f"Predicted: {_predicted(scene)}."]
    wrong, missed = ([part.name for part in parts if part.verdict == verdict]
                     for verdict in ("wrong", "missed"))  # fmt: skip
    told += [f"Wrong: {_few(wrong, ', ')}."] if wrong else []
    told += [f"Missed: {_few(missed, ', ')}."] if missed else []
    if not (wrong or missed) and any(part.verdict == "right" for part in parts):
        told.append("All of it is true.")
    return " ".join(told)


def _predicted(scene: Scene) -> str:
    """The prediction as its space reads it."""
    said = scene.description.parts_of(scene.z)
    names = [part.before + label_text(part.name, said.longest) + part.after for part in said.parts]
    return _few(names, said.between) or "nothing"


def _few(names: list[str], between: str) -> str:
    more = f" and {len(names) - SAID} more" if len(names) > SAID else ""
    return between.join(names[:SAID]) + more
