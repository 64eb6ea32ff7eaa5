# SPDX-License-Identifier: BSD-3-Clause
"""What scikit-learn asks of an estimator, of every learner with several spaces.

    python reliability/contract.py [--cases N] [--minutes M] [--seed 0]

Cases are checks of contract_checks.py on learners of learner_cases.py, and all of scikit-learn's
own checks on estimator_cases.py, in random order; a second round draws other data. First an
estimator that changes a parameter in fit must be caught, and one that counts no weights. What is
skipped or cannot hold is counted with its reason.
"""

import random
import sys
import warnings
from collections import Counter

import numpy as np
from contract_checks import CHECKS, KNOWN, Skipped
from estimator_cases import ESTIMATORS, EXPECTED_FAILURES
from learner_cases import CASES, Case
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import check_estimator
from summary import Tries, arguments, finish

OWN = "scikit-learn's checks"


class Changes(BaseEstimator):
    """A planted bug: a parameter is another one after fit, and weights do not count."""

    def __init__(self, alpha=None):
        self.alpha = alpha

    def fit(self, X, y, sample_weight=None):
        self.alpha = self.alpha or 1.0
        self.n_ = len(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.n_)


def pairs(seed, number):
    """Which check of which learner a case is: all of them in a random order, again and again."""
    every = [(check, name) for check in CHECKS for name in CASES]
    if number < len(every) + len(ESTIMATORS):  # these draw no data: once is enough
        every += [(OWN, name) for name in ESTIMATORS]
    random.Random(f"{seed} {number // len(every)}").shuffle(every)
    return every[number % len(every)]


def checked(check, case, rng):
    """Why a check is broken; empty where it holds. Skipped goes through."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CHECKS[check](case, rng)
    except Skipped:
        raise
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:400] or "wrong"
    return ""


def own_checks(name):
    """Results of scikit-learn's own checks of an estimator: passed, and (check, status, reason)."""
    expected = EXPECTED_FAILURES.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            clone(ESTIMATORS[name]), on_fail=None, expected_failed_checks=expected
        )
    passed = [one for one in results if one["status"] == "passed"]
    rest = [
        (one["check_name"], one["status"], expected.get(one["check_name"], str(one["exception"])))
        for one in results
        if one["status"] != "passed"
    ]
    missed = {check for check, status, _ in rest if status == "xfail"}
    rest += [(check, "failed", "no longer an exception") for check in expected.keys() - missed]
    return len(passed), rest


def planted_are_caught(seed):
    """The planted estimator must fail these two checks."""
    case = Case(Changes, "classes")
    return all(
        any(checked(check, case, np.random.default_rng([seed, i])) for i in range(5))
        for check in ("parameters", "weights are rows")
    )


def judge(tries, given):
    """All cases; counts of what was passed, listed and skipped."""
    skipped, listed, own, held = Counter(), Counter(), Counter(), Counter()
    for number in tries:
        number += given.first
        check, name = pairs(given.seed, number)
        again = f"--seed {given.seed} --first {number} --cases 1"
        if check == OWN:
            passed, rest = own_checks(name)
            own["passed"] += passed
            for what, status, reason in rest:
                own[status] += 1
                if status == "failed":
                    tries.fail(number, f"{name}, {what}: {reason}", again)
                else:
                    counted = listed if status == "xfail" else skipped
                    counted[f"{what}: {reason}"[:120]] += 1
            continue
        try:
            why = checked(check, CASES[name], np.random.default_rng([given.seed, number]))
        except Skipped as reason:
            skipped[f"{check}: {reason}"] += 1
            continue
        known = KNOWN.get((check, name))
        if known and not why:
            held[f"{check}: {name}"] += 1
        if why and known:
            listed[f"{check}: {known}"] += 1
        elif why:
            print(f"case {number}: {name}, {check}: {why}", file=sys.stderr, flush=True)
            tries.fail(number, f"{name}, {check}: {why}", again)
    counts = {"skipped": skipped, "listed": listed, "listed_but_held": held}
    return {**counts, "checks_of_scikit_learn": own}


def main():
    once = len(CHECKS) * len(CASES) + len(ESTIMATORS)
    first = ("--first", {"type": int, "default": 0, "help": "number of the first case"})
    given = arguments(__doc__, once, first)
    caught = planted_are_caught(given.seed)
    tries = Tries(given)
    counts = judge(tries, given)
    done = sum(counts["checks_of_scikit_learn"].values())
    more = {"tried": tries.tried + done, "checks": len(CHECKS)}
    more |= {"learners": len(CASES), "estimators": len(ESTIMATORS)}
    return finish("contract", tries.counts(planted_caught=caught, **more, **counts))


if __name__ == "__main__":
    sys.exit(main())
