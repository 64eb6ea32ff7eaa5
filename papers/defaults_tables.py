# SPDX-License-Identifier: BSD-3-Clause
"""Results of papers/defaults.py: kept as lines of JSON, compared in pairs, counted in a summary."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VERDICTS = ("best", "near", "behind", "worse", "unclear")


class Results:
    """One line for each set, split and method, in a file that a later run goes on from."""

    def __init__(self, folder):
        self.path = Path(folder) / "results.jsonl"
        self.lines = []
        if self.path.exists():
            for text in self.path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):  # a line that was being written when a run was stopped
                    self.lines.append(json.loads(text))

    def known(self, name, split, method, cap):
        """Whether this is done, or was given up after as many seconds as it may have now."""
        return any(
            (line["set"], line["split"], line["method"]) == (name, split, method)
            and ("given_up" not in line or line["given_up"] >= cap)
            for line in self.lines
        )

    def has(self, name):
        return any(line["set"] == name for line in self.lines)

    def add(self, line):
        """Keep a line; one for the same set, split and method makes room."""
        key = ("set", "split", "method")
        stale = [old for old in self.lines if all(old[k] == line[k] for k in key)]
        self.lines = [old for old in self.lines if old not in stale] + [line]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if stale:
            self.rewrite()
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def forget(self, method):
        """Drop all lines of a method that has changed."""
        self.lines = [line for line in self.lines if line["method"] != method]
        if self.path.exists():
            self.rewrite()

    def rewrite(self):
        partial = self.path.with_suffix(".part")
        partial.write_text("".join(json.dumps(line) + "\n" for line in self.lines), "utf-8")
        partial.replace(self.path)

    def of(self, name, measure):
        """{method: {split: figure}} of one data set and measure."""
        found: dict[str, dict[int, dict]] = {}
        for line in self.lines:
            if line["set"] == name and measure in line["figures"]:
                found.setdefault(line["method"], {})[line["split"]] = line["figures"][measure]
        return found


@dataclass(frozen=True)
class Difference:
    """Ours minus a peer's, in pairs: over splits, or over the test rows of a single one."""

    mean: float
    error: float  # of n independent pairs
    corrected: float  # of splits, whose training rows overlap (Nadeau and Bengio, 2003)
    n: int

    def verdict(self, *, corrected=False):
        """How ours stands: best, near (one standard error), behind, or worse (more than two)."""
        error = self.corrected if corrected else self.error
        if self.mean <= 0:
            return "best"
        if math.isnan(error):
            return "unclear"
        return "near" if self.mean <= error else "behind" if self.mean <= 2 * error else "worse"


def difference(ours, peer):
    """Of {split: figure} of two methods; None if they have no split in common.

    >>> ours, peer = ({k: {"loss": x} for k, x in enumerate(xs)} for xs in ([2, 4, 6], [1, 2, 3]))
    >>> difference(ours, peer)
    Difference(mean=2.0, error=0.57735..., corrected=0.9128..., n=3)
    """
    common = sorted(set(ours) & set(peer))
    if not common:
        return None
    if "units" in ours[common[0]]:
        d = np.subtract(ours[common[0]]["units"], peer[common[0]]["units"])
        share = 0.0
    else:
        d = np.array([ours[k]["loss"] - peer[k]["loss"] for k in common])
        share = 0.5  # test rows for each training row
    if len(d) < 2:
        return Difference(float(d.mean()), math.nan, math.nan, len(d))
    spread, n = float(d.std(ddof=1)), len(d)
    plain = spread / math.sqrt(n)
    # One split has rows that are independent; several share their training rows.
    corrected = spread * math.sqrt(1 / n + share) if share else plain
    return Difference(float(d.mean()), plain, corrected, n)


@dataclass(frozen=True)
class Cell:
    """A data set and a measure: ours against the peer that has the least loss."""

    set: str
    measure: str
    peer: str
    difference: Difference

    def __str__(self):
        d = self.difference
        return (f"{self.set}, {self.measure}: {d.mean:+.4f} ± {d.error:.4f} "
                f"against {self.peer}")  # fmt: skip


def pairs_of(results, name, measure, ours, own):
    """Differences by peer of a cell; one that ran on fewer splits than others does not count."""
    found = results.of(name, measure)
    pairs = {who: difference(found.get(ours, {}), found[who]) for who in found if who not in own}
    most = max((pair.n for pair in pairs.values() if pair is not None), default=0)
    return {who: pair for who, pair in pairs.items() if pair is not None and pair.n == most}


def cell(results, name, measure, ours, own):
    """Ours against the best peer in hindsight; None while one of them is missing."""
    pairs = pairs_of(results, name, measure, ours, own)
    if not pairs:
        return None
    best = max(pairs, key=lambda who: pairs[who].mean)
    return Cell(name, measure, best, pairs[best])


def beaten(results, cells, ours, own):
    """Cells in which some peer, the best or not, is better by more than two standard errors."""
    return [
        f"{name}, {measure} ({', '.join(ahead)})"
        for name, measure in cells
        if (ahead := [who for who, pair in pairs_of(results, name, measure, ours, own).items()
                      if pair.verdict() == "worse"])
    ]  # fmt: skip


# ---------------------------------------------------------------------- what is printed


def show_set(results, title, name, measures, own):
    """A table of one data set: losses, differences in pairs, CPU seconds."""
    print(f"\n{title}")
    for measure in measures:
        found = results.of(name, measure)
        if not found:
            continue
        mine = next((found[who] for who in own if who in found), None)
        means = {who: np.mean([f["loss"] for f in figures.values()])
                 for who, figures in found.items()}  # fmt: skip
        print(f"   {measure:24s}    loss    ours - it    ± error  CPU s  splits")
        for who in sorted(means, key=means.get):
            figures = found[who]
            d = difference(mine, figures) if mine and who not in own[:1] else None
            gap = "" if d is None else f"{d.mean:+10.4f}  {d.error:9.4f}"
            seconds = np.mean([f["seconds"] for f in figures.values()])
            mark = "*" if who in own else " "
            print(f"    {mark}{who:22s} {means[who]:9.4f}   {gap:21s} {seconds:6.1f} "
                  f"{len(figures):5d}")  # fmt: skip
    for line in results.lines:
        if line["set"] == name and line.get("note"):
            print(f"    {line['method']}, split {line['split']}: {line['note']}")


def summary(results, cells, own):
    """How often each of ours is best, near, or worse; worse ones by name."""
    for ours in own:
        judged = [cell(results, name, measure, ours, own) for name, measure in cells]
        known = [one for one in judged if one is not None]
        if not known:
            continue
        print(f"\nSUMMARY of {ours}: {len(known)} cells of {len(cells)} (a data set and a measure)")
        for corrected in (False, True):
            verdicts = [one.difference.verdict(corrected=corrected) for one in known]
            n = {word: verdicts.count(word) for word in VERDICTS}
            how = "corrected for overlapping splits" if corrected else "of independent pairs"
            print(f"   standard errors {how}: best {n['best']}, within one of the best peer "
                  f"{n['near']}, within two {n['behind']}, worse by more than two "
                  f"{n['worse']}, no standard error {n['unclear']}")  # fmt: skip
        for one in sorted(known, key=lambda one: -one.difference.mean):
            if one.difference.verdict() in ("worse", "unclear"):
                word = "corrected: " + one.difference.verdict(corrected=True)
                print(f"   {one.difference.verdict()}: {one} ({word})")
        ahead = beaten(results, cells, ours, own)
        print(f"   some peer, the best or not, is better by more than two in {len(ahead)} cells: "
              f"{'; '.join(ahead)}")  # fmt: skip
    missing = [f"{name}, {measure}" for name, measure in cells
               if cell(results, name, measure, own[0], own) is None]  # fmt: skip
    if missing:
        print(f"   not compared yet: {'; '.join(missing)}")
