# SPDX-License-Identifier: BSD-3-Clause
"""The tables of ``scale.py``: one line for each measurement, and ratios with their targets."""

from __future__ import annotations

import json
from pathlib import Path

from harness import at_least, at_most
from scale_cell import METHODS

SMALL = {"n": 20_000, "m": 1_000}  # where our targets against conjugate gradients were set
SMALL_TARGETS = {1: 2.0, 100: 5.0, 1000: 15.0}
FEW_ROWS = 8_000  # below, calls and copies count for more than arithmetic
COLUMNS = ("rows", "labels", "landmarks", "method", "wall s", "CPU s", "time/floor", "peak MB",
           "peak/8n²", "loss")  # fmt: skip
WIDTHS = (9, 7, 10, -29, 9, 9, 11, 9, 9, 8)


def line_of(record):
    """One line of the first table."""
    head = (f"{record['n']:,}", record["d"], record["m"] or "", METHODS[record["method"]].title)
    for reason in ("left_out", "failed"):
        if reason in record:
            return aligned(head) + f"  {reason.replace('_', ' ')}: {record[reason]}"
    exact = METHODS[record["method"]].kind == "exact"
    in_matrices = f"{record['growth'] / (8 * record['n'] ** 2):.3g}" if exact else ""
    floor, megabytes = seconds(record) / floor_of(record), f"{record['growth'] / 1e6:,.0f}"
    return aligned((*head, f"{record['wall']:.3g}", f"{record['cpu']:.3g}", f"{floor:.3g}",
                    megabytes, in_matrices, f"{record['loss']:.4f}"))  # fmt: skip


def aligned(texts):
    return " ".join(
        f"{text:<{-width}}" if width < 0 else f"{text:>{width}}"
        for text, width in zip(texts, WIDTHS)
    )


# ---------------------------------------------------------------------- ratios
def clock_of(record):
    """CPU time, which others hardly change, unless several threads wait for each other."""
    return "cpu" if record["threads"] == 1 else "wall"


def seconds(record, prefix=""):
    return record[prefix + clock_of(record)]


def floor_of(record):
    """Seconds that its arithmetic takes at the rate of products in the same process."""
    return record["flops"] / record["gemm_" + clock_of(record)]


class Found:
    """Measured records by method and sizes."""

    def __init__(self, records):
        self.records = [r for r in records if not {"left_out", "failed"} & set(r)]

    def get(self, method, **sizes):
        """All records of a method that have these sizes, by number of rows."""
        fitting = (r for r in self.records if r["method"] == method)
        chosen = [r for r in fitting if all(r[k] == v for k, v in sizes.items())]
        return sorted(chosen, key=lambda r: r["n"])

    def largest(self, *methods, **sizes):
        """The records of several methods at the largest number of rows that all have, or None."""
        by_rows = [{r["n"]: r for r in self.get(method, **sizes)} for method in methods]
        common = set.intersection(*map(set, by_rows))
        return [rows[max(common)] for rows in by_rows] if common else None


def ratio_line(title, figure, target=None, *, judged=True, unit=""):
    """One line of the second table; a target that is not judged is only printed."""
    bar = "" if target is None else f"{target.sign} {target.value:g}{unit}"
    verdict = ""
    if target is not None:
        verdict = ("met" if target.met(figure) else "missed") if judged else "too few rows"
    print(f"{title:<76} {figure:>8.3g}{unit:<3} {bar:>9}  {verdict}".rstrip())


def compare_exact(found, d):
    def ratio(title, method, reference, prefix="", target=None):
        pair = found.largest(method, reference, d=d)
        if pair:
            n = pair[0]["n"]
            figure = seconds(pair[0]) / seconds(pair[1], prefix)
            ratio_line(f"n = {n:,}, d = {d}: {title}", figure, target, judged=n >= FEW_ROWS)

    ratio("exact / bare potrf + potrs", "cholesky", "bare", "lapack_", at_most(1.15))
    ratio("  the same with the bare Gram matrix", "cholesky", "bare")
    ratio("packed / bare potrf + potrs", "packed", "bare", "lapack_")
    ratio("packed, mixed / bare potrf + potrs", "mixed", "bare", "lapack_")
    ratio("exact / scikit-learn KernelRidge", "cholesky", "sklearn", "", at_most(0.9))
    for method, bar in (("cholesky", at_most(1.25)), ("packed", None), ("mixed", None),
                        ("sklearn", None)):  # fmt: skip
        for record in found.get(method, d=d)[-1:]:
            n, title = record["n"], METHODS[method].title
            figure = record["growth"] / (8 * n**2)
            judged = n >= FEW_ROWS
            ratio_line(f"n = {n:,}, d = {d}: peak / 8 n², {title}", figure, bar, judged=judged)


def compare_passes(found, d, m):
    for record in found.get("onepass", d=d, m=m)[-1:]:
        title = f"n = {record['n']:,}, d = {d}, m = {m:,}: one pass / its flops"
        figure = seconds(record) / floor_of(record)
        ratio_line(title, figure, at_most(1.4), judged=record["n"] >= 10 * m)
    for method, title in (
        ("learner", "one-pass learner / one pass"),
        ("sklearn_pass", "scikit-learn Nystroem, Ridge / one pass"),
    ):
        pair = found.largest(method, "onepass", d=d, m=m)
        if pair:
            figure = seconds(pair[0]) / seconds(pair[1])
            ratio_line(f"n = {pair[0]['n']:,}, d = {d}, m = {m:,}: {title}", figure)
    falkon_line(found, d, m, SMALL_TARGETS.get(d))


def falkon_line(found, d, m, target):
    pair = found.largest("falkon", "onepass", d=d, m=m)
    if pair:
        n, title = pair[0]["n"], "Falkon-style / one pass"
        figure = seconds(pair[0]) / seconds(pair[1])
        by_flops = pair[0]["flops"] / pair[1]["flops"]
        title = f"n = {n:,}, d = {d}, m = {m:,}: {title} (by flops {by_flops:.2g})"
        bar = None if target is None else at_least(target)
        ratio_line(title, figure, bar, judged=n >= 10 * m)


def memory_lines(found):
    """A million rows with 2,000 landmarks: the whole process, with its data."""
    records = found.get("onepass", n=1_000_000, d=100, m=2000)
    if not records:
        print("n = 1,000,000, d = 100, m = 2,000: peak memory not measured (--max-n 1000000)")
    for record in records:
        title = "n = 1,000,000, d = 100, m = 2,000: peak of the whole process, with its rows"
        ratio_line(title, record["peak"] / 1e9, at_most(3.0), unit=" GB")
        ratio_line("  what the fit added", record["growth"] / 1e9, unit=" GB")


def report(records, arguments):
    found, clock = Found(records), "CPU" if arguments.threads == 1 else "wall"
    print(f"\nRatios of {clock} time, and of memory, at the most rows that were measured")
    print(f"{'':76} {'':>11} {'target':>9}")
    for d in arguments.labels:
        compare_exact(found, d)
        compare_passes(found, d, arguments.landmarks)
    for d, target in SMALL_TARGETS.items():
        falkon_line(Found([r for r in records if r["n"] == SMALL["n"]]), d, SMALL["m"], target)
    memory_lines(found)


def read(path):
    """The records of a file, one in each line."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
