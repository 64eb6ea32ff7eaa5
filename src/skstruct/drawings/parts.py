# SPDX-License-Identifier: BSD-3-Clause
"""Parts of an output as they are drawn: what is predicted, true, probable or fixed of each."""

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from skstruct.drawings.svg import badge, cross, element, escaped, star
from skstruct.inspection.drawing import written
from skstruct.spaces import Description

LONGEST = 300  # letters of a name in what is said of it


_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def key_of(name: Any) -> str:
    """The name of a part as JSON: what pages send back.

    >>> key_of("cat"), key_of(("a", np.int64(2))), key_of(2.0)
    ('"cat"', '["a",2]', '2.0')
    """
    key = _ENCODE(name if type(name) is str else _plain(name))
    if key.isascii() and key.isprintable():
        return key
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Cn") for letter in key):
        return json.dumps(_plain(name), separators=(",", ":"))
    return key


def _plain(name: Any) -> Any:
    """Numbers, text and lists of these; anything else as it is written."""
    if isinstance(name, (np.generic, np.ndarray)):
        name = name.item() if np.ndim(name) == 0 else name.tolist()
    if isinstance(name, (list, tuple)):
        return [_plain(part) for part in name]
    if name is None or isinstance(name, (bool, int, str)):
        return name
    if isinstance(name, float):
        return name if np.isfinite(name) else str(name)
    return str(name)


def label_text(label: Any, most: int = 60, between: str = " → ") -> str:
    """A label, class, item or arc in words."""
    if isinstance(label, tuple) and 2 <= len(label) <= 3:
        ends = between.join(written(end, most // 2) for end in label[:2])
        return ends if len(label) == 2 else f"{ends} ({written(label[2], 10)})"
    return written(label, most)


@dataclass
class DrawnPart:
    """One part of an output, such as a label, with all that a drawing shows of it."""

    label: Any  # the part's own name
    predicted: bool = False
    true: bool | None = None  # None where the truth is not known
    probability: float | None = None
    state: str | None = None  # "in" or "out" where the user has fixed it
    called: Callable[[], str] | None = None  # its name in words, where this is not the label
    value: float | None = None  # of a part that is a number
    true_value: float | None = None

    # Of thousands of parts, few are drawn: what is written of the others is made when asked for.
    @cached_property
    def key(self) -> str:
        """Its own name as JSON."""
        return key_of(self.label)

    @cached_property
    def name(self) -> str:
        """How it is called, in one line."""
        return written(self.label if self.called is None else self.called(), LONGEST)

    @property
    def verdict(self) -> str:
        """One of "right", "wrong" or "missed"; nothing where the truth does not tell."""
        if self.true is None:
            return ""
        if self.predicted:
            return "right" if self.true else "wrong"
        return "missed" if self.true else ""

    @property
    def matters(self) -> bool:
        """Whether it is predicted, true or fixed: such parts are drawn first."""
        return self.predicted or bool(self.true) or self.state is not None

    @property
    def said(self) -> str:
        """The part in words: "cat: predicted, probability 0.73, true"."""
        if self.value is not None:
            facts = [f"predicted {number(self.value)}"]
            facts += [] if self.true_value is None else [f"true {number(self.true_value)}"]
        else:
            facts = ["predicted" if self.predicted else "not predicted"]
        if self.probability is not None:
            facts.append(f"probability {self.probability:.2f}")
        if self.true is not None and self.value is None:
            facts.append("true" if self.true else "not true")
        if self.state is not None:
            facts.append("fixed in" if self.state == "in" else "fixed out")
        return f"{self.name}: {', '.join(facts)}"

    def record(self) -> dict[str, Any]:
        """What pages get of it."""
        told = {"key": self.key, "name": self.name, "probability": self.probability,
                "predicted": self.predicted, "true": self.true, "state": self.state}  # fmt: skip
        if self.value is not None:
            told |= {"value": self.value, "true_value": self.true_value}
        return told


def number(value: float) -> str:
    """A number as it is read: four digits, or all before the point.

    >>> number(0.25), number(234567.8), number(-0.0), number(1e12)
    ('0.25', '234,568', '0', '1e+12')
    """
    whole = 1e4 <= abs(value) < 1e9
    return f"{value:,.0f}" if whole else f"{value + 0.0:.4g}"


@dataclass
class Scene:
    """All that is drawn of one output, as it was given."""

    space: Any
    z: Any
    truth: Any = None
    marginals: Any = None
    coordinates: Any = None
    words: Any = None
    constraints: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    clickable: bool = True

    @property
    def description(self) -> Description:
        """What the space says of its outputs."""
        return Description.of(self.space)

    def parts(
        self, labels: Iterable[Any], z: Any, truth: Any = None, marginals: Any = None
    ) -> list[DrawnPart]:
        """A part for each label: whether it is in z and in the truth, where -1 is not known."""
        inside = (np.asarray(z) == 1).tolist()
        true = [None] * len(inside) if truth is None else known_ones(truth)
        shares = [None] * len(inside) if marginals is None else shares_of(marginals, len(inside))
        made = [
            DrawnPart(*told) for told in zip(labels, inside, true, shares or [None] * len(inside))
        ]
        return self.fixed(made)

    def fixed(self, parts: list[DrawnPart]) -> list[DrawnPart]:
        """The parts, with what the user has fixed."""
        for part in parts if self.constraints else ():
            part.state = self.constraints.get(part.key)
        return parts

    def group(self, part: DrawnPart, *inside: str, fixable: bool = True) -> str:
        """The element of a part: what it is by its classes, in words, and for the keyboard."""
        classes = ["part", "predicted" if part.predicted else "", part.verdict]
        classes.append("" if part.state is None else f"fixed-{part.state}")
        told: dict[str, Any] = {"class_": " ".join(filter(None, classes)), "data_part": part.key}
        if self.clickable and fixable:
            told |= {"tabindex": "0", "role": "button", "aria_label": part.said,
                     "aria_pressed": "false" if part.state is None else "true"}  # fmt: skip
        else:
            told |= {"role": "img", "aria_label": part.said}
        return element("g", element("title", escaped(part.said)), *inside, **told)


def known_ones(truth: Any) -> list[bool | None]:
    """True where a 0/1 row has one, None where it has -1 or NaN: not known."""
    row = np.asarray(truth, dtype=np.float64)
    return [None if not x >= 0 else bool(x == 1) for x in row.tolist()]


def shares_of(marginals: Any, n: int) -> list[float | None] | None:
    """The first n probabilities of a row, within 0 and 1; None where there are none."""
    row = np.ravel(np.asarray(marginals, dtype=np.float64))
    if len(row) < n:
        return None
    shares = np.clip(row[:n], 0.0, 1.0) + 0.0
    return [None if np.isnan(share) else share for share in shares.tolist()]


def mark(part: DrawnPart, x: float, y: float, size: float = 6.5) -> str:
    """A star for what is true, hollow where it was missed; a cross for what is wrong."""
    if part.verdict == "wrong":
        return cross(x, y, 0.62 * size, "mark-wrong")
    return star(x, y, size, f"mark-{part.verdict}") if part.verdict else ""


def pinned(part: DrawnPart, x: float, y: float) -> str:
    """The badge of a part that the user has fixed."""
    return "" if part.state is None else badge(x, y, part.state)


def chosen_parts(parts: list[DrawnPart], most: int, others: int) -> list[DrawnPart]:
    """Those that matter, then the most probable of the others; in their own order again."""
    order = sorted(
        range(len(parts)), key=lambda j: (not parts[j].matters, -(parts[j].probability or 0.0), j)
    )
    n_matter = sum(part.matters for part in parts)
    kept = sorted(order[: min(most, n_matter + others)])
    return [parts[j] for j in kept]
