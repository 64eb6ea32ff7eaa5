# SPDX-License-Identifier: BSD-3-Clause
"""Tables of ``whole_path.py``: every cell, the front, how time grows."""

from __future__ import annotations

import json

import numpy as np
from whole_path_cases import CASES
from whole_path_peers import PEERS

WIDTHS = (24, 10, 18, 10, 10, 10, 9)
COLUMNS = ("method", "n", "loss ± s.e.", "CPU s fit", "predict", "wall s", "peak MB")


def read(path):
    """Records of a file, one in each line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def cpu(record):
    """Seconds from rows to predictions."""
    return record["fit_cpu"] + record["predict_cpu"]


def done(records):
    return [r for r in records if "loss" in r]


def groups(records):
    """Records of each structure and number of labels, in the order in which they come."""
    found: dict = {}
    for record in records:
        found.setdefault((record["structure"], record["d"]), []).append(record)
    return found


def exponent(n, values):
    """The power of n by which values grow: least squares between logarithms; None for one point.

    >>> round(exponent([10, 100, 1000], [3.0, 300.0, 30000.0]), 6)
    2.0
    """
    if len(set(n)) < 2:
        return None
    return float(np.polyfit(np.log(n), np.log(values), 1)[0])


def ahead(ours, other):
    """Whether another method has less CPU time, and less loss by more than a standard error.

    The error is that of the mean difference on the same rows. Returned: the difference of losses
    and its error where it is ahead, otherwise None.
    """
    gaps = np.subtract(ours["losses"], other["losses"])
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    if cpu(other) < cpu(ours) and gaps.mean() > error:
        return float(gaps.mean()), float(error)
    return None


def line_of(record):
    """How a cell went, while others still run."""
    name = f"{record['structure']:10} {record['d']:5} {record['method']:13} {record['n']:9,}"
    if "loss" not in record:
        return f"   {name}   {record.get('left_out') or record['failed']}"
    return f"   {name}   {record['loss']:.4f}   {cpu(record):8.2f} CPU s"


def _aligned(*columns):
    first, *others = (f"{text:{width}}" for text, width in zip(columns, WIDTHS))
    return " ".join([first, *(text.strip().rjust(w) for text, w in zip(others, WIDTHS[1:]))])


def _row(record):
    title = PEERS[record["method"]].title
    if "loss" not in record:
        return f"{title:{WIDTHS[0]}} {record['n']:>{WIDTHS[1]},}   {_why(record)}"
    return _aligned(
        title, f"{record['n']:,}", f"{record['loss']:.4f} ± {record['error']:.4f}",
        f"{record['fit_cpu']:.2f}", f"{record['predict_cpu']:.2f}",
        f"{record['fit_wall'] + record['predict_wall']:.2f}", f"{record['growth'] / 1e6:,.0f}",
    )  # fmt: skip


def _why(record):
    return record.get("left_out") or record["failed"]


def _fronts(rows):
    """A line for every number of rows: who is ahead of ours."""
    for ours in [r for r in done(rows) if r["method"] == "ours"]:
        beside = [r for r in done(rows) if r["n"] == ours["n"] and r["method"] != "ours"]
        found = []
        for other in beside:
            gap = ahead(ours, other)
            if gap is not None:
                found.append(
                    f"{PEERS[other['method']].title} (loss less by {gap[0]:.4f} ± {gap[1]:.4f}, "
                    f"{cpu(other) / cpu(ours):.2g} of the CPU time)"
                )
        yield ours["n"], found


def report(records):
    """A table for each structure, with the front and the exponent of our time."""
    for (structure, d), rows in groups(records).items():
        case = CASES[structure](d)
        law, constant = case.levels()
        print(f"\n{structure}, {d}; loss: {case.loss_name}")
        print(f"the law itself {law:.4f}, the best constant answer {constant:.4f}")
        print(_aligned(*COLUMNS))
        print("-" * (sum(WIDTHS) + len(WIDTHS) - 1))
        for record in sorted(rows, key=lambda r: (r["n"], r.get("loss", 2.0))):
            print(_row(record))
        for n, found in _fronts(rows):
            print(f"n = {n:,}: ours is " + ("on the front" if not found else "NOT on the front"))
            for text in found:
                print(f"    behind {text}")
        ours = [r for r in done(rows) if r["method"] == "ours"]
        power = exponent([r["n"] for r in ours], [cpu(r) for r in ours])
        if power is not None:
            print(f"our CPU time grows like n^{power:.2f}", flush=True)
