# SPDX-License-Identifier: BSD-3-Clause
"""What learners predict in one process: asked for case after case on standard input.

    python reliability/determinism_worker.py plain|varied|fork|spawn

A line "seed number" is answered by a line of JSON: rows of predictions by setting. "varied" fits
and predicts in all the ways that one process can; the others once, here or in a child of theirs.
"""

import ctypes
import json
import locale
import multiprocessing
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from learner_cases import CASES, N_FEATURES, Case, draw
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info

from skstruct.datasets import Dataset, read_data, write_data
from skstruct.datasets.dataset import Table

DECIMALS = 6  # of quantities; labels and orders are compared as they are


class MovedByBatch(BaseEstimator):
    """A planted bug: what a row is predicted depends on the rows beside it."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return (X[:, 0] > X[:, 0].mean()).astype(int)


class MovedByHash(MovedByBatch):
    """A planted bug: what is predicted depends on the order in which a set is walked."""

    def predict(self, X):
        return np.full(len(X), next(iter({f"label {i}" for i in range(50)})))


PLANTED = {
    "planted: rows beside": Case(MovedByBatch, "classes"),
    "planted: hash": Case(MovedByHash, "classes"),
}
ALL = {**CASES, **PLANTED}


def name_of(number):
    """Negative numbers are planted bugs."""
    return [*PLANTED][-1 - number] if number < 0 else [*CASES][number % len(CASES)]


def as_rows(predicted):
    """A text for each row; sets are sorted, and quantities are rounded."""
    return [json.dumps(_plain(row), ensure_ascii=False) for row in predicted]


def _plain(value):
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(one) for one in value)
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (float, np.floating)):
        return round(float(value), DECIMALS) + 0.0
    return value.item() if isinstance(value, np.generic) else value


def taken(rows, order):
    """Rows in another order, whatever holds them."""
    return rows[order] if isinstance(rows, np.ndarray) else [rows[i] for i in order]


def columns(rows, change):
    """The same change of every array of features."""
    return change(rows) if isinstance(rows, np.ndarray) else [change(one) for one in rows]


def fitted(case, data, **settings):
    model = case.make()
    model.set_params(**{k: v for k, v in settings.items() if k in model.get_params(deep=False)})
    return model.fit(data.X, data.y)


def drawn(case, number, rng):
    """Few rows; every fourth time so many that libraries share them among threads."""
    return draw(case.kind, rng, *((150, 96) if number // len(CASES) % 4 == 3 else ()))


def plain(number, seed):
    """Predictions, fitted and asked in the usual way, and what a file gives back."""
    case = ALL[name_of(number)]
    data = drawn(case, number, np.random.default_rng([seed, abs(number)]))
    rows = as_rows(fitted(case, data).predict(data.new))
    return {"plain": [*rows, *through_a_file(data)] if case.kind == "classes" else rows}


def through_a_file(data):
    """Rows of a CSV file after writing and reading: texts and decimal points."""
    table = Table(tuple("abcde"), (None,) * N_FEATURES, np.asarray(data.X))
    labels = tuple(sorted(set(data.y)))
    codes = np.array([labels.index(name) for name in data.y])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        write_data(Dataset("rows", "csv", "classes", table, codes[:, None], labels), path)
        text = path.read_text(encoding="utf-8")
        again = read_data(path, task="classes")
    return [text, json.dumps(again.inputs.data.tolist()), str(again.labels)]


def varied(number, seed):
    """Predictions by setting: batches, orders of rows and columns, memory, float32, jobs."""
    name = name_of(number)
    case, rng = ALL[name], np.random.default_rng([seed, abs(number)])
    data = drawn(case, number, rng)
    n, k, width = len(data.X), len(data.new), N_FEATURES
    order, asked, across = rng.permutation(n), rng.permutation(k), rng.permutation(width)
    model = fitted(case, data)
    whole = as_rows(model.predict(data.new))
    back = np.argsort(asked)
    found = {"plain": whole}
    found["one by one"] = [as_rows(model.predict(taken(data.new, [i])))[0] for i in range(k)]
    batches = [model.predict(data.new[i : i + 7]) for i in range(0, k, 7)]
    found["batches of 7"] = [row for batch in batches for row in as_rows(batch)]
    mixed = as_rows(model.predict(taken(data.new, asked)))
    found["order of new rows"] = [mixed[i] for i in back]
    found["again"] = as_rows(fitted(case, data).predict(data.new))
    shuffled = data._replace(X=taken(data.X, order), y=taken(data.y, order))
    found["order of rows"] = as_rows(fitted(case, shuffled).predict(data.new))

    def changed(change):
        other = data._replace(X=columns(data.X, change), new=columns(data.new, change))
        return as_rows(fitted(case, other).predict(other.new))

    found["order of columns"] = changed(lambda x: x[:, across])
    found["float32"] = changed(lambda x: x.astype(np.float32))
    found["columns in memory"] = changed(np.asfortranarray)
    found["every other in memory"] = changed(lambda x: np.repeat(x, 2, axis=1)[:, ::2])
    jobs = fitted(case, data, n_jobs=2)
    found["n_jobs=2"] = as_rows(jobs.predict(data.new))
    return found


def in_child(send, receive):
    """A child's life: cases from the one end, answers to the other."""
    warnings.simplefilter("ignore")
    while (asked := receive.recv()) is not None:
        send.send(plain(*asked))


def answers(way):
    """A function of number and seed that gives predictions by setting."""
    if way in ("plain", "varied"):
        return {"plain": plain, "varied": varied}[way]
    context = multiprocessing.get_context(way)
    plain(0, 0)  # the parent has worked, and holds threads and compiled code
    here, there = context.Pipe()
    child = context.Process(target=in_child, args=(there, there), daemon=True)
    child.start()

    def ask(number, seed):
        here.send((number, seed))
        return here.recv()

    return ask


def about():
    """What the settings of the environment have come to."""
    kernels = [one["architecture"] for one in threadpool_info() if one["user_api"] == "blas"]
    try:
        own = ctypes.c_int64.in_dll(ctypes.CDLL(None), "plain_blas_calls").value
    except ValueError:
        own = None
    point = locale.localeconv()["decimal_point"]
    return {"kernels": kernels, "plain_blas_calls": own, "point": point, "hash": hash("label")}


def main():
    warnings.simplefilter("ignore")
    locale.setlocale(locale.LC_ALL, "")
    ask = answers(sys.argv[1])
    np.eye(2) @ np.eye(2)
    print(json.dumps(about()), flush=True)
    for line in sys.stdin:
        seed, number = map(int, line.split())
        try:
            found = ask(number, seed)
        except Exception as error:
            found = {"error": [repr(error)]}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
