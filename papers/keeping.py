# SPDX-License-Identifier: BSD-3-Clause
"""What scripts of this folder share: tasks whose results are kept, means with errors, a summary.

A script is a dictionary of tasks that do not depend on each other, and tables of their results:

    given = arguments(__doc__)                        # prints the protocol
    tasks = {"enron/ours": (losses_of, "enron"), ...}  # function and its arguments
    found = results("ecrm_hierarchies", tasks, given)  # {"enron/ours": what losses_of returned}

Results are lines of JSON in output/papers/NAME.jsonl. A run that was stopped goes on from them;
several runs may write to one file at a time. Nothing but the name of a task says what it did: who
changes a task gives it another name, or begins anew (``--anew``).
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy reads it; inherited by processes

import argparse
import io
import json
import sys
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from skstruct.exceptions import MissingDataError

NOISE = 2  # standard errors of our figure: what is nearer to the paper's is within noise


def arguments(doc, *more):
    """Options that all scripts have, and (names, settings) of further ones; prints the protocol."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--kept", default="output/papers", metavar="FOLDER", help="of results")
    parser.add_argument("--only", metavar="WORD", help="tasks with this word in their names")
    parser.add_argument("--anew", action="store_true", help="forget what is kept, and begin again")
    for names, settings in more:
        parser.add_argument(*([names] if isinstance(names, str) else names), **settings)
    print(doc.partition("Usage:")[0].strip(), "\n", flush=True)
    return parser.parse_args()


def results(name, tasks, given):
    """What every task returned, {key: value}, without those whose data are missing.

    With ``only``, the chosen tasks are run and the script ends: tables need all of them.
    """
    path = Path(given.kept) / f"{name}.jsonl"
    if given.anew:
        path.unlink(missing_ok=True)
    known = read(path)
    chosen = {key: task for key, task in tasks.items() if (given.only or "") in key}
    if not chosen:
        raise SystemExit(
            f"No task has {given.only!r} in its name; the first is {next(iter(tasks))}."
        )
    todo = {key: task for key, task in chosen.items() if key not in known}
    for key, value, seconds in done(todo, given.jobs):
        known[key] = value
        keep(path, key, value)
        print(f"   {key}: {seconds:.1f} s", file=sys.stderr, flush=True)
    if given.only:
        sys.exit(0)
    return {key: known[key] for key in tasks if key in known}


def read(path):
    known = {}
    if path.exists():
        for text in path.read_text(encoding="utf-8").splitlines():
            with suppress(ValueError):  # a line that was being written when a run was stopped
                line = json.loads(text)
                known[line["task"]] = line["value"]
    return known


def keep(path, key, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"task": key, "value": value}) + "\n")


def done(tasks, jobs):
    """(key, value, seconds) of tasks as they end, ``jobs`` at a time in processes of their own."""
    if jobs == 1 or len(tasks) < 2:
        yield from filter(None, (timed(key, *task) for key, task in tasks.items()))
        return
    with ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool:
        running = {pool.submit(timed, key, *task) for key, task in tasks.items()}
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            yield from filter(None, (future.result() for future in ended))


def timed(key, function, *rest):
    start = time.perf_counter()
    try:
        value = function(*rest)
    except MissingDataError as error:
        print(f"   {key}: {error}", file=sys.stderr, flush=True)
        return None
    return key, value, time.perf_counter() - start


def printed(function, *rest):
    """A task whose value is what a function prints: (printed, function, ...)."""
    text = io.StringIO()
    with redirect_stdout(text):
        function(*rest)
    return text.getvalue()


@dataclass(frozen=True)
class Figure:
    """A mean and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, values):
        """Of independent values: losses of test rows, or figures of repeated splits."""
        values = np.asarray(values, float)
        error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(values.mean()), float(error))

    def text(self, digits=3):
        return f"{self.mean:.{digits}f} ± {self.error:.{digits}f}"

    def verdict(self, published, lower=True):
        """Better or worse than a published figure, or too near to it to say."""
        if abs(self.mean - published) < NOISE * self.error:
            return "within noise"
        return "better" if (self.mean < published) == lower else "worse"


def summary(rows, lower=True, instead=None):
    """Prints (what, digits, paper's figure, ours by the rule, ours by default or None) per row.

    ``instead`` takes the place of verdicts where the paper's figures are of something else.
    """
    print("\nSummary: figures of the paper and ours (± standard error); those less than "
          f"{NOISE} errors apart\nare within noise")  # fmt: skip
    print(f"{'':34s} {'paper':>8s} {'by the rule':>18s} {'by default':>18s}   "
          f"{'the rule is':16s}{'the default is':16s}".rstrip())  # fmt: skip
    for what, digits, published, *ours in rows:
        texts = ["–" if figure is None else figure.text(digits) for figure in ours]
        verdicts = [
            "–" if figure is None else instead or figure.verdict(published, lower)
            for figure in ours
        ]
        print(f"{what:34s} {published:8.{digits}f} {texts[0]:>18s} {texts[1]:>18s}   "
              f"{verdicts[0]:16s}{verdicts[1]:16s}".rstrip())  # fmt: skip
