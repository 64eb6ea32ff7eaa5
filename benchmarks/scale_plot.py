# SPDX-License-Identifier: BSD-3-Clause
"""Draws time and memory against the number of rows from what ``scale.py`` kept, with exponents.

Usage: python benchmarks/scale_plot.py [output/scale.jsonl] [--labels 100] [--to FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scale_cell import METHODS
from scale_report import clock_of, read

DRAWN = {  # colours stay those of a method, whichever were measured
    "cholesky": ("C0", "o-"),
    "packed": ("C9", ".:"),
    "sklearn": ("C1", "s--"),
    "onepass": ("C2", "o-"),
    "sklearn_pass": ("C3", "s--"),
    "falkon": ("C4", "^--"),
}
CLOCKS = {"cpu": "CPU seconds of a fit", "wall": "seconds of a fit"}
GB = 1e9
FROM = 3000  # fewer rows say little about how arithmetic grows


def exponent(n, values):
    """The power of n by which values grow: least squares between logarithms; None for one point."""
    n, values = np.asarray(n, dtype=float), np.asarray(values, dtype=float)
    if len(np.unique(n)) < 2:
        return None
    away = np.log(n) - np.log(n).mean()
    return float(away @ np.log(values) / (away @ away))


def curve(records, method, d, landmarks):
    """Records of a method by number of rows, at the usual number of landmarks."""
    chosen = [
        r for r in records
        if r["method"] == method and r["d"] == d and "failed" not in r
        and r["m"] in (0, min(landmarks, r["n"] // 2))
    ]  # fmt: skip
    return sorted(chosen, key=lambda r: r["n"])


def grown(rows, landmarks, field):
    """Exponent over sizes with all landmarks, and enough rows."""
    late = [r for r in rows if r["n"] >= FROM and r["m"] in (0, landmarks) and r[field] > 0]
    return exponent([r["n"] for r in late], [r[field] for r in late])


def draw(records, d, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    landmarks, clock = max(r["m"] for r in records), clock_of(records[0])
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
    panels = ((clock, CLOCKS[clock], 1.0), ("growth", "memory that a fit adds, GB", GB))
    for ax, (field, label, unit) in zip(axes, panels):
        for method, (colour, style) in DRAWN.items():
            rows = curve(records, method, d, landmarks)
            if not rows:
                continue
            power = grown(rows, landmarks, field)
            title = METHODS[method].title + ("" if power is None else f": $n^{{{power:.2f}}}$")
            values = [r[field] / unit for r in rows]
            ax.plot([r["n"] for r in rows], values, style, color=colour, label=title)
        ax.set(xscale="log", yscale="log", xlabel="training rows", ylabel=label)
        ax.legend(fontsize=8)
    figure.suptitle(
        f"{d} labels, 80 features, {landmarks:,} landmarks, {records[0]['threads']} thread(s); "
        f"exponents: from {FROM:,} rows and all landmarks on", fontsize=10,
    )  # fmt: skip
    path.parent.mkdir(parents=True, exist_ok=True)
    dated = {"metadata": {"Date": None}} if path.suffix == ".svg" else {}  # same bits when redrawn
    figure.savefig(path, dpi=120, **dated)
    plt.close(figure)
    print(f"drawn to {path}")


def main(arguments=None):
    images = Path(__file__).parents[1] / "docs" / "images"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=Path("output") / "scale.jsonl")
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--to", type=Path, default=images / "scale_growth.svg")
    chosen = parser.parse_args(arguments)
    draw(read(chosen.file), chosen.labels, chosen.to)


if __name__ == "__main__":
    main()
