# SPDX-License-Identifier: BSD-3-Clause
"""Results of papers/decisions.py: lines of JSON that a run goes on from, and their tables."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import numpy as np

KEY = ("problem", "degree", "n", "noise", "seed", "method")
BEST = "best possible"


class Results:
    """One line for each setting and method."""

    def __init__(self, folder):
        self.path = Path(folder) / "results.jsonl"
        self.lines = {}
        if self.path.exists():
            for text in self.path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):  # a line that was being written when a run was stopped
                    line = json.loads(text)
                    self.lines[key_of(line)] = line

    def add(self, line):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lines[key_of(line)] = line
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def of(self, setting, method):
        """Lines of all seeds of (problem, degree, n, noise) and a method."""
        return [line for key, line in self.lines.items() if key[:4] + key[5:] == (*setting, method)]


def key_of(line):
    return tuple(line[name] for name in KEY)


def show(results, settings, methods):
    """A table for each problem, number of rows and noise; degrees in columns.

    methods : (title, names) of groups of methods
    """
    tables: dict[tuple, list] = {}
    for problem, degree, n, noise in settings:
        tables.setdefault((problem, n, noise), []).append(degree)
    for (problem, n, noise), degrees in tables.items():
        if not any(results.of((problem, d, n, noise), name)
                   for d in degrees for _, names in methods for name in names):  # fmt: skip
            continue
        print(title(problem, n, noise))
        print(f"  {'':27}" + "".join(head(degree) for degree in degrees) + "    CPU s")
        for group, names in methods:
            rows = {name: [results.of((problem, d, n, noise), name) for d in degrees]
                    for name in names}  # fmt: skip
            rows = {name: lines for name, lines in rows.items() if any(lines)}
            if rows and group:
                print(f"  {group}")
            for name, lines in rows.items():
                print(f"    {name:25}" + "".join(map(cell, lines)) + seconds(lines))
        print(flush=True)


def title(problem, n, noise):
    if noise is None:
        return f"{problem}: % of the optimum lost, {n} days"
    return f"{problem}, n = {n}, noise {noise:g}: % of the optimum lost"


def head(degree):
    return f"{'' if degree is None else f'degree {degree}':>15}"


def cell(lines):
    """Mean relative regret over seeds in per cent, and its standard error."""
    if not lines:
        return f"{'-':>15}"
    values = 100 * np.array([line["regret"] for line in lines])
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():>8.2f} ± {error:4.2f}"


def seconds(lines):
    found = [line["seconds"] for degree in lines for line in degree if "seconds" in line]
    return f"{np.mean(found):>9.2f}" if found else ""
