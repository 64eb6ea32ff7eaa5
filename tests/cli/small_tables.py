# SPDX-License-Identifier: BSD-3-Clause
"""Small files of every task, and predictions read back."""

import csv
import io
import json
from pathlib import Path

import numpy as np

OUTPUTS = {  # name of the column, and an output from two noisy numbers
    "classes": ("kind", lambda u, v: "abc"[int(u > 0) + int(v > 0)]),
    "labels": ("labels", lambda u, v: ";".join(["sun"] * (u > 0) + ["=rain"] * (v > 0))),
    "hierarchy": ("path", lambda u, v: "pet/cat" if u > 0.3 else "pet/dog" if v > 0 else "plant"),
    "ordinal": ("grade", lambda u, v: str(1 + (u > -0.5) + (u > 0.5))),
    "ranking": ("order", lambda u, v: ">".join(name for _, name in sorted(zip((u, v, 0), "abc")))),
    "regression": ("low", lambda u, v: f"{u + v:.4f}"),
}


def table(task, n, seed, name):
    """A file of n rows."""
    rng, (target, output) = np.random.default_rng(seed), OUTPUTS[task]
    X = rng.normal(size=(n, 2)).round(4)
    noisy = X + 0.4 * rng.normal(size=X.shape)
    lines = [f"{u},{v},{output(*z)}" for (u, v), z in zip(X.tolist(), noisy.tolist())]
    Path(name).write_text(f"u,v,{target}\n" + "\n".join(lines) + "\n", "utf-8")
    return name


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def records_of(text):
    return [json.loads(line) for line in text.splitlines()]
