# SPDX-License-Identifier: BSD-3-Clause
"""Draws the default beside its best peer on every data set, from the kept logs.

One dot for each set and its first measure: the loss of the default less that of the best peer, in
per cent of the latter, with two standard errors. Figures are read from docs/results, none is typed
here; each picture keeps a digest of them, by which a test sees whether it is up to date.

Usage: python docs/scripts/peers_figure.py [FOLDER]
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1]
sys.path.insert(0, str(DOCS / "extensions"))

from default_and_peers import KINDS, Cell, cells, published  # noqa: E402 (found by the line above)

EDGE = 40  # per cent; what lies beyond is drawn at the edge, with its number
COLORS = {  # of dots: ours ahead, level, behind; text and lines
    "peers": ("#1668a8", "#8a8a8a", "#c2410c", "#222222", "#cccccc"),
    "peers_dark": ("#6cb6f0", "#a0a0a0", "#ff9a62", "#e8e8e8", "#555555"),
}


def shown_cells(folder: Path) -> list[Cell]:
    """The first measure of every set that was compared, and published figures of other sets."""
    first: dict[str, Cell] = {}
    for cell in [*cells(folder), *published(folder)]:
        first.setdefault(cell.data, cell)
    by_kind = [[cell for cell in first.values() if cell.kind == kind] for kind in KINDS]
    return [cell for part in by_kind for cell in sorted(part, key=lambda cell: cell.relative[0])]


def digest(shown: list[Cell]) -> str:
    return hashlib.sha256(repr(shown).encode()).hexdigest()


def draw(shown: list[Cell], colors: tuple[str, ...], path: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    better, level, worse, ink, line = colors
    plt.rcParams.update({"font.size": 11, "text.color": ink, "axes.labelcolor": ink})
    figure, ax = plt.subplots(figsize=(8.2, 9.6), layout="constrained")
    place, kind = 0, None
    for cell in shown:
        if cell.kind != kind:
            place += 0 if kind is None else 0.7
            kind = cell.kind
            ax.text(-EDGE, place, KINDS[kind], weight="bold", va="center", size=12)
            place += 1
        value, error = cell.relative
        ahead = value + 2 * error < 0
        color = better if ahead else worse if value > 2 * error else level
        at = max(-EDGE, min(EDGE, value))
        low, high = max(-EDGE, value - 2 * error), min(EDGE, value + 2 * error)
        ax.plot([min(low, at), max(high, at)], [place, place], color=color, linewidth=2)
        ax.plot(at, place, "o" if at == value else ">", color=color, markersize=7)
        ax.text(EDGE + 1.5, place, f"{cell.data.lower()}, {cell.measure}", va="center", size=10)
        if at != value:
            ax.text(at - 1, place - 0.42, f"{value:+.0f} %", va="center", ha="right", size=9)
        place += 1
    ax.axvline(0, color=ink, linewidth=1)
    ax.set(xlim=(-EDGE - 1, EDGE + 1), ylim=(place - 0.3, -0.8), yticks=[])
    ax.set_xlabel(
        "← better      loss of the default against the best peer's, in per cent      worse →"
    )
    ax.tick_params(colors=ink)
    ax.grid(axis="x", color=line, linewidth=0.5)
    for side in ax.spines.values():
        side.set_visible(False)
    figure.savefig(
        path, dpi=100, transparent=path.stem != "peers", metadata={"Source": digest(shown)}
    )
    plt.close(figure)


def main(folder: Path) -> None:
    shown = shown_cells(DOCS / "results")
    for name, colors in COLORS.items():
        draw(shown, colors, folder / f"{name}.png")
        print(f"drawn: {folder / name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "images")
