# SPDX-License-Identifier: BSD-3-Clause
"""A picture of the outputs that look wrong."""

from typing import Any, Self

import numpy as np

from skstruct.inspection.drawing import MISSED, axes_of, written


class SuspiciousOutputsDisplay:
    """The most suspicious parts or rows as bars.

    Parameters
    ----------
    names : list of str
    scores : array of shape (k,)
    what : str
        What scores are.

    Examples
    --------
    >>> display = SuspiciousOutputsDisplay(["row 3: cat present"], np.array([0.9]), "score").plot()
    >>> display.ax_.get_yticklabels()[0].get_text()
    'row 3: cat present'
    """

    def __init__(self, names: list[str], scores: np.ndarray, what: str) -> None:
        self.names = names
        self.scores = scores
        self.what = what

    @classmethod
    def from_suspicious(cls, found: Any, k: int = 20, ax: Any = None) -> Self:
        """Draw what :func:`~skstruct.inspection.suspicious_outputs` has found."""
        if found.table is None:
            some = found.rows[:k]
            names = [f"row {row}" for row in found.names_of(some)]
            return cls(names, some["score"], "risk above that of the decision").plot(ax)
        rows, parts, given, suggested, scores = found.part_columns(k)
        names = [
            f"row {row}: {_part_text(part)}{_value_text(value)}, not {_value_text(other)}"
            for row, part, value, other in zip(rows, parts, given, suggested)
        ]
        numbers = found.table.value_names is None
        what = (
            "standard deviations from the mean" if numbers else "1 - probability of what is given"
        )
        return cls(names, np.asarray(scores), what).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        k = len(self.names)
        ax = axes_of(ax, "SuspiciousOutputsDisplay", (6.4, 0.8 + 0.24 * max(k, 4)))
        ax.barh(np.arange(k), self.scores, color=MISSED, height=0.7)
        ax.set_yticks(np.arange(k), [written(name, 60) for name in self.names], parse_math=False)
        ax.invert_yaxis()
        ax.set(xlabel=self.what)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _part_text(part: Any) -> str:
    if part is None:
        return ""
    return f"{', '.join(map(str, part)) if isinstance(part, tuple) else part} "


def _value_text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
