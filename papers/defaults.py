# SPDX-License-Identifier: BSD-3-Clause
"""The default beside what a user would pick instead: every data set, every loss that fits.

ConditionalRiskMinimizer(space, loss), with nothing else set, against peers that are tuned on
training rows as their users would tune them. Where smoother="kernel_ridge" can be asked for, it is
a row of its own; where not, it is the default. Protocol:

* sets of up to 3,000 rows: ten random splits of all rows (published parts joined), two thirds for
  training, seeds 0 to 9. Larger sets: the published split, or that of seed 0 where there is none,
  and the letters of words are learned from one of ten parts. Sequences: always one split;
* all methods get the same inputs: columns standardised on the training rows, but for words, grey
  values and latent semantic features, which are used as they are. Sentences have the features of
  papers/chunking.py, letters of words the images of two letters to each side;
* ours: one model for each loss, nothing but space and loss (and a seed) set. Jaccard is given as a
  function of two outputs; F1 over hierarchies that are no forests is Listed(F1()), as the error
  says that F1 alone raises; AU(PRC) is that of the means of the model for the Hamming loss;
* peers of label sets and hierarchies give probabilities: forests and extra trees of 300 trees on
  bootstrap samples, logistic regression for each label, chains of it, gradient boosting for each
  label, a network, Gaussian support vector machines with calibrated scores, nearest neighbors.
  Settings by the log loss (machines: by wrong labels) out of bag, or in three folds of at most
  2,500 rows. From the left-out probabilities each measure gets its own thresholds: one half, one
  for all labels or one for each, with or without the most probable label in any case, and in
  hierarchies with sets as they come, closed upwards, or downwards; chosen crosswise on two halves
  of the training rows. A forest and a support vector machine whose classes are label sets, and
  HiClass where all rows are one path and it is installed, predict sets at once;
* peers of rankings: classifiers of pairs whose votes add up (logistic regression, machines,
  forests), regressors of ranks (forests, extra trees, a network, neighbors), and instance-based
  ranking by this library's NeighborLabelRanker, the only peer that decides with our code;
* peers of quantities: ridge regression, with a Gaussian kernel too, support vector regression,
  boosting, forests, extra trees, a network, neighbors; settings by the measure itself. Peers of
  classes and of the symbols of sequences: grid searches in three folds, sequences kept together;
  crfsuite, where it is installed, with c1 and c2 by a third of the training sequences;
* figures are losses, less is better: shares of wrong labels, pairs, symbols; 1 - F1, 1 - Jaccard,
  1 - AU(PRC) (micro average precision), (1 - rho) / 2, means over targets of squares and distances.
  Differences are in pairs: over splits, or over test rows of a single one (of AU(PRC): over twenty
  jackknife groups of rows). Their standard errors take pairs for independent; as splits share
  rows, the summary counts with the corrected ones of Nadeau and Bengio (2003) as well;
* the best peer of a cell is the best on the test rows, in hindsight, which no user could know;
* CPU seconds are those of tuning, fitting and predicting for the one figure, in one thread; what is
  compiled on first use is compiled before, on forty rows.

The whole takes many hours on one core. Results are kept as lines of JSON; a later run goes on from
them, also after --budget has ended one. A method that takes more CPU seconds than --cap on one
split is given up, and noted. --redo forgets what is known of a method that has changed.

Usage: python papers/defaults.py [--only SET ...] [--methods NAME ...] [--quick] [--splits N]
           [--budget SECONDS] [--cap SECONDS] [--output FOLDER] [--redo METHOD ...] [--tables]
"""

from __future__ import annotations

import argparse
import signal
import warnings
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
from defaults_data import N_SPLITS, all_cases
from defaults_methods import peers_of
from defaults_ours import ERRORS, KERNEL_RIDGE, OURS, cpu_seconds, our_methods, told, warm_up
from defaults_tables import Results, show_set, summary
from threadpoolctl import threadpool_limits

from skstruct.exceptions import MissingDataError

QUICK = ("linnerud", "iris", "wine", "iris_ranking", "wine_ranking", "emotions")
OWN = (OURS, KERNEL_RIDGE)


class OverCap(BaseException):
    """Not an Exception: no method may take it for an error of its own."""


@contextmanager
def cpu_limit(seconds):
    """Raise OverCap after so many CPU seconds of this process, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_):
        raise OverCap

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def measured(case, number, method, cap):
    """The line of results of one method on one split."""
    X, Y, X_test, truth = case.parts(number)
    line = {"set": case.name, "split": number, "method": method.name, "figures": {}}
    measures = {measure.name: measure for measure in case.measures}
    try:
        with threadpool_limits(1), cpu_limit(cap):
            for answer in method.answers(case, X, Y, X_test):
                measure = measures[answer.measure]
                if answer.refused:
                    line["note"] = (
                        f"{line.get('note', '')} {measure.name}: {answer.refused}".strip()
                    )
                else:
                    line["figures"][measure.name] = figure(case, measure, answer, truth)
    except (OverCap, SystemError) as error:  # compiled code wraps what it is stopped by
        if isinstance(error, SystemError) and not isinstance(error.__context__, OverCap):
            raise
        line |= {"given_up": cap, "note": f"given up after {cap:g} CPU seconds"}
    except ERRORS as error:
        line["note"] = told(error)
    return line


def figure(case, measure, answer, truth):
    """Loss, seconds and choices; the losses of rows where there is one split only."""
    loss = float(measure.value(answer.predicted, truth))
    found = {"loss": loss, "seconds": round(answer.seconds, 3), "chosen": answer.chosen}
    if case.one_split:
        units = np.asarray(measure.units(answer.predicted, truth), dtype=float)
        found["units"] = units.round(6).tolist()
    return found


class Budget:
    """CPU seconds that a run may take; what has begun is finished."""

    def __init__(self, seconds):
        self.end = None if seconds is None else cpu_seconds() + seconds

    def is_spent(self):
        return self.end is not None and cpu_seconds() >= self.end


def run_set(case, methods, n_splits, results, arguments, budget):
    """Every split and method that is not known yet; False if the budget ended it."""
    warm: set[str] = set()
    for number in range(1 if case.one_split else n_splits):
        for method in methods:
            if results.known(case.name, number, method.name, arguments.cap):
                continue
            if budget.is_spent():
                return False
            X, Y, X_test, _ = case.parts(number)
            if not method.fits(case, X, Y):
                continue
            if method.name in OWN and method.name not in warm:
                warm_up(method, case, X, Y, X_test)
                warm.add(method.name)
            line = measured(case, number, method, arguments.cap)
            results.add(line)
            losses = ", ".join(f"{k} {f['loss']:.4f}" for k, f in line["figures"].items())
            print(f"  {case.name}, split {number}, {method.name}: {losses} "
                  f"{line.get('note', '')}", flush=True)  # fmt: skip
    return True


def title_of(case, n_splits):
    train, test = case.split(0)
    splits = "one split" if case.one_split else f"up to {n_splits} random splits"
    return (f"{case.name.upper()} ({case.task}): {splits} of {len(train)} training and "
            f"{len(test)} test rows")  # fmt: skip


def loaded(name):
    """The data set, or None where its files are not on this machine."""
    try:
        return all_cases()[name]()
    except MissingDataError as error:
        print(f"{name}: {error}")
        return None


def note_missing_packages():
    for task, package in (("hierarchies", "hiclass"), ("sequences", "pycrfsuite")):
        if find_spec(package) is None:
            print(f"{package} is not installed: no peer of {task}")


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="SET", help=", ".join(all_cases()))
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="these methods only")
    parser.add_argument("--quick", action="store_true", help="two splits, the smallest sets")
    parser.add_argument("--splits", type=int, help="of small sets; ten when not given")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="CPU seconds in all")
    parser.add_argument("--cap", type=float, default=1200.0, metavar="SECONDS",
                        help="CPU seconds of one method on one split")  # fmt: skip
    parser.add_argument("--output", default="output/defaults", metavar="FOLDER")
    parser.add_argument("--redo", nargs="+", default=[], metavar="METHOD",
                        help="forget what is known of these methods")  # fmt: skip
    parser.add_argument("--tables", action="store_true", help="print what is known, run nothing")
    arguments = parser.parse_args()
    for name in arguments.only or ():
        if name not in all_cases():
            parser.error(f"no data set {name!r}; known are {', '.join(all_cases())}")
    return arguments


def compare(name, n_splits, results, arguments, budget):
    """Run what is not known of a data set, print its table; names of its measures."""
    case = loaded(name)
    if case is None:
        return []
    methods = our_methods() + peers_of(case.task)
    chosen = [one for one in methods if one.name in (arguments.methods or [one.name])]
    if not arguments.tables and not run_set(case, chosen, n_splits, results, arguments, budget):
        print(f"The budget is spent at {name}; the same command goes on from here.")
    measures = [measure.name for measure in case.measures]
    show_set(results, title_of(case, n_splits), name, measures, OWN)
    return measures


def main():
    arguments = read_arguments()
    warnings.filterwarnings("ignore")  # of convergence and rare classes, by the hundred
    print(__doc__.split("\nUsage")[0])
    note_missing_packages()
    names = arguments.only or (QUICK if arguments.quick else list(all_cases()))
    n_splits = arguments.splits or (2 if arguments.quick else N_SPLITS)
    results, budget = Results(arguments.output), Budget(arguments.budget)
    for method in arguments.redo:
        results.forget(method)
    cells, waiting = [], []
    for name in names:
        if (arguments.tables or budget.is_spent()) and not results.has(name):
            waiting.append(name)  # loading it would take time for nothing
            continue
        cells += [(name, m) for m in compare(name, n_splits, results, arguments, budget)]
    summary(results, cells, OWN)
    if waiting:
        print(f"   not begun: {', '.join(waiting)}")


if __name__ == "__main__":
    main()
