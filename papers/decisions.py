# SPDX-License-Identifier: BSD-3-Clause
"""Predict, then optimise: what is lost when decisions are taken for predicted costs.

Features x are known, costs c of a path, of items or of a round trip are not; a decision is taken
that is best for predicted costs, and judged by c.

Protocol. Generated problems (papers/decisions_data.py: those of PyEPO, with its random numbers):
paths through a 5 x 5 grid, knapsacks of 32 items with one and with two capacities, round trips
through 20 places; degree 1 to 8 of the polynomial that makes costs of features, n = 100 to 5,000
rows for training, 1,000 for test, noise 0 or .5, seeds 0 to 9. Electricity: 789 days of 48 half
hours, a knapsack of capacity 60, 120 or 180 each day; 550 days for training and 139 for test in an
order drawn by the seed, and features of every half hour, so that one model predicts all of them.

Figures are relative regrets: sum of what was lost / sum of the |optimum|, over rows of test, in
per cent; means over seeds with standard errors. All decisions are exact. *Best possible* decides
for the mean of c given x, which the generators know, and loses what noise alone costs. CPU seconds
are those of learning, predicting and deciding, in one thread, as means over seeds and degrees.
Methods: papers/decisions_peers.py and papers/decisions_ours.py; those that are not installed are
left out.

Usage: python papers/decisions.py [--problems NAME ...] [--degrees D ...] [--n N ...]
           [--noise W ...] [--seeds K] [--methods NAME ...] [--jobs J] [--output FOLDER] [--tables]

Results are kept as lines of JSON under --output, and a later run goes on from them.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy reads it; inherited by processes

import argparse
import itertools
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from decisions_data import ENERGY, GENERATED, N_ENERGY, energy_knapsack, generated
from decisions_ours import OURS
from decisions_peers import INSTALL, PEERS
from decisions_tables import BEST, KEY, Results, show

METHODS = {peer.name: peer for peer in (*PEERS, *OURS)}
DEGREES = (1, 2, 4, 6, 8)
SIZES = (100, 1000, 5000)
NOISES = (0.0, 0.5)


def main():
    given = arguments()
    print(__doc__.partition("Usage:")[0])
    methods = chosen(given.methods, kept=given.tables)
    results = Results(given.output)
    settings = list(settings_of(given))
    if not given.tables:
        run(results, settings, range(given.seeds), [peer.name for peer in methods], given.jobs)
    groups = [
        ("linear predictors", [peer.name for peer in methods if peer.linear]),
        ("nonlinear predictors", [peer.name for peer in methods if not peer.linear]),
        ("", [BEST]),
    ]
    show(results, settings, groups)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    names = [*GENERATED, *ENERGY]
    parser.add_argument("--problems", nargs="+", default=names, choices=names, metavar="NAME")
    parser.add_argument("--degrees", nargs="+", type=int, default=DEGREES)
    parser.add_argument("--n", nargs="+", type=int, default=SIZES)
    parser.add_argument("--noise", nargs="+", type=float, default=NOISES)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", nargs="+", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--output", default="output/decisions")
    parser.add_argument("--tables", action="store_true", help="show what is known; run nothing")
    return parser.parse_args()


def chosen(names, kept):
    """Methods of these names, or all; where something is run, without what is not installed."""
    unknown = set(names or ()) - set(METHODS)
    if unknown:
        known = ", ".join(map(repr, METHODS))
        raise SystemExit(f"--methods: there are {known}; got {', '.join(map(repr, unknown))}.")
    peers = [peer for peer in METHODS.values() if names is None or peer.name in names]
    missing = [peer.name for peer in peers if not (kept or peer.is_installed)]
    if missing:
        print(f"Left out, as PyEPO is not installed ({INSTALL}): {', '.join(missing)}.\n")
    return [peer for peer in peers if peer.name not in missing]


def settings_of(given):
    """(problem, degree, n, noise); electricity has neither degree nor noise."""
    for problem in given.problems:
        if problem in ENERGY:
            yield problem, None, N_ENERGY[0], None
        else:
            for n, noise, degree in itertools.product(given.n, given.noise, given.degrees):
                yield problem, degree, n, noise


def run(results, settings, seeds, methods, jobs):
    """All that is not known yet, in processes of one thread each."""
    wanted = [
        dict(zip(KEY, (*setting, seed, method)))
        for setting, seed, method in itertools.product(settings, seeds, [*methods, BEST])
        if _is_tried(method, setting[0]) and (*setting, seed, method) not in results.lines
    ]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measured, line) for line in wanted]):
            results.add(done.result())


def _is_tried(method, problem):
    if method == BEST:  # which nobody knows of electricity
        return problem not in ENERGY
    return not METHODS[method].only or problem in METHODS[method].only


def data_of(line):
    if line["problem"] in ENERGY:
        capacity = int(line["problem"].removeprefix("energy"))
        train, _, test = energy_knapsack(capacity, line["seed"])
        return train, test
    return generated(*(line[name] for name in ("problem", "n", "degree", "noise", "seed")))


def measured(line):
    """The line with the regret of its method, and its CPU seconds."""
    warnings.simplefilter("ignore")
    train, test = data_of(line)
    if line["method"] == BEST:
        decisions, _ = test.problem.decide(test.mean)
        return {**line, "regret": test.problem.relative_regret(test.C, decisions)}
    decisions, cpu = METHODS[line["method"]](train.X, train.C, test.X, test.problem, line["seed"])
    regret = test.problem.relative_regret(test.C, decisions)
    return {**line, "regret": regret, "seconds": round(cpu, 4)}


if __name__ == "__main__":
    main()
