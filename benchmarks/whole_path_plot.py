# SPDX-License-Identifier: BSD-3-Clause
"""Draws loss against CPU seconds, a line for each method over n, from what ``whole_path.py`` kept.

Usage: python benchmarks/whole_path_plot.py [output/whole_path.jsonl] [--to FOLDER]
"""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path

from whole_path_cases import CASES
from whole_path_peers import PEERS
from whole_path_report import cpu, done, groups, read

STYLES = {  # colours stay those of a method, whichever were measured
    "ours": ("C0", "o-"), "ridge": ("C7", "s--"), "logistic": ("C1", "s--"),
    "kernel_ridge": ("C2", "^--"), "falkon": ("C4", "^--"), "forest": ("C5", "D--"),
    "mlp": ("C3", "v--"), "histgb": ("C6", "D--"), "lightgbm": ("C8", "D--"),
    "crfsuite": ("C9", "P--"), "hiclass": ("k", "P--"),
}  # fmt: skip


def draw(rows, structure, d, path):
    """One picture; the numbers of rows stand beside our points."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
    for method, (colour, style) in STYLES.items():
        line = sorted((r for r in rows if r["method"] == method), key=lambda r: r["n"])
        if not line:
            continue
        wide = {"linewidth": 2.5, "zorder": 3} if method == "ours" else {"linewidth": 1.0}
        seconds, losses = [cpu(r) for r in line], [r["loss"] for r in line]
        ax.plot(seconds, losses, style, color=colour, label=PEERS[method].title, **wide)
        if method == "ours":
            for r, x, y in zip(line, seconds, losses):
                ax.annotate(f"{r['n']:,}", (x, y), (4, 6), textcoords="offset points", fontsize=8)
    case = CASES[structure](d)
    for level, name, dots in zip(case.levels(), ("the law itself", "best constant"), (":", "-.")):
        ax.axhline(level, color="0.5", linestyle=dots, linewidth=1.0, label=name)
    ax.set(
        xscale="log", xlabel="CPU seconds of fit and predict",
        ylabel=f"loss on rows held out ({case.loss_name})", title=f"{structure}, {d}",
    )  # fmt: skip
    ax.legend(fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"drawn to {path}")


def draw_all(records, folder):
    """A picture for each structure and number of labels; none where matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        print("no pictures: matplotlib is not installed")
        return
    folder.mkdir(parents=True, exist_ok=True)
    for (structure, d), rows in groups(done(records)).items():
        draw(rows, structure, d, folder / f"whole_path_{structure}_{d}.png")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, nargs="?", default=Path("output") / "whole_path.jsonl")
    parser.add_argument("--to", type=Path, default=Path("output"))
    chosen = parser.parse_args(arguments)
    draw_all(read(chosen.file), chosen.to)


if __name__ == "__main__":
    main()
